//! What of a program's files is in memory before a phase begins: what the phase wants, and what a world
//! can prove. A world that cannot look says so; nothing is assumed.

use core::fmt;

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::witness::Witness;

/// What a phase wants of its files in memory before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Whatever is there stays there.
    #[default]
    AsIs,
    /// No page of them.
    Cold,
    /// All of them.
    Warm,
}

/// What was proven of the files in memory. It speaks of their data; names and directories are another
/// matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheState {
    /// No page of them is in memory.
    Cold,
    /// All of them are.
    Warm,
    /// Neither was proven.
    Unknown(Unproven),
}

/// Why a state of the cache was not proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unproven {
    /// The phase wants no state.
    NotAsked,
    /// There was no file to look at.
    NoFiles,
    /// The file system keeps its files nowhere but in memory.
    NeverEvicts,
    /// The machine keeps nothing in memory.
    NeverCaches,
    /// No way to look told the truth about a file whose state was known.
    Blind,
    /// A file that the user gave is not removed from memory unless the user asks for it.
    NotOurs,
    /// A file could not be opened, or may not be looked at.
    Denied,
    /// Some pages did not leave, or did not stay.
    Partly(Residency),
}

/// Pages out of all pages of some files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Those in question: in memory, or not yet written.
    pub pages: u64,
    /// All.
    pub of: u64,
}

impl Residency {
    /// Adds those of other files.
    pub fn add(&mut self, other: Residency) {
        self.pages += other.pages;
        self.of += other.of;
    }
}

/// What lies behind bytes of some files, as their file system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Laid {
    /// All bytes.
    pub bytes: u64,
    /// Those that nothing lies behind: they were never written, and reading them reads no device.
    pub empty: u64,
    /// Those that lie on the device compressed.
    pub compressed: u64,
}

impl Laid {
    /// Adds those of other files.
    pub fn add(&mut self, other: Laid) {
        self.bytes += other.bytes;
        self.empty += other.empty;
        self.compressed += other.compressed;
    }
}

impl fmt::Display for Residency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} pages", self.pages, self.of)
    }
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproven::NotAsked => f.write_str("no cache state was requested"),
            Unproven::NoFiles => f.write_str("there was no file yet"),
            Unproven::NeverEvicts => f.write_str("this file system keeps its files only in the page cache"),
            Unproven::NeverCaches => f.write_str("this machine keeps nothing in memory"),
            Unproven::Blind => f.write_str("the page cache is not visible here"),
            Unproven::NotOurs => f.write_str("a given file stays cached unless --cold is given"),
            Unproven::Denied => f.write_str("no permission to inspect a file"),
            Unproven::Partly(residency) => write!(f, "{residency} were in the page cache"),
        }
    }
}

/// What was seen when everything was to come to rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calm {
    /// Whether it came to rest in the time given.
    pub reached: bool,
    /// How long that took, or was waited in vain.
    pub waited: Nanos,
    /// Bytes of the whole machine that wait to be written, at the end.
    pub unwritten: Option<u64>,
    /// Bytes per second that the devices moved at the end, none of them for the programs.
    pub foreign: Option<u64>,
    /// What else was seen of the machine at the end, while nothing of ours ran. Kernel threads are not counted.
    pub witness: Witness,
    /// By how much the longest of many short sleeps was too long; nothing where nobody slept.
    pub overslept: Option<Nanos>,
}
