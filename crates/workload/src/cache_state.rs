//! The state of the page cache before a phase: the state that the phase wants, and the state that a world can prove. A
//! world without a view of the cache reports that, and assumes nothing.

use core::fmt;

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::counters::Counters;

/// The cache state that a phase wants for its files before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Leave the cache as it is.
    #[default]
    AsIs,
    /// The kernel drops their pages if it can, as for fio (`invalidate`). Nothing is claimed about them.
    Dropped,
    /// No page of them is cached.
    Cold,
    /// All of them are cached.
    Warm,
}

/// The proven cache state of the files. It is about their data; metadata are a separate matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheState {
    /// No page of them is cached.
    Cold,
    /// All of them are cached.
    Warm,
    /// Neither state was proven.
    Unknown(Unproven),
}

/// The reason for which no cache state was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unproven {
    /// The phase wants no particular state.
    NotAsked,
    /// There was no file to inspect.
    NoFiles,
    /// The file system keeps its files only in memory.
    NeverEvicts,
    /// The machine has no cache.
    NeverCaches,
    /// No method of inspection was right about a file whose state was known.
    Blind,
    /// A file that the user gave is evicted only if the user asks for it.
    NotOurs,
    /// A file could not be opened, or inspecting it is not permitted.
    Denied,
    /// The phase ran for some time before it was measured.
    WarmedUp,
    /// Some pages were not evicted, or did not stay cached.
    Partly(Residency),
}

/// A number of pages out of all pages of some files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// The pages in question: cached, or dirty.
    pub pages: u64,
    /// All pages.
    pub of: u64,
}

impl Residency {
    /// Adds the pages of other files.
    pub fn add(&mut self, other: Residency) {
        self.pages += other.pages;
        self.of += other.of;
    }
}

/// The allocation of bytes in some files, as their file system reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// All bytes.
    pub bytes: u64,
    /// Holes: bytes that were never written. Reading them does not touch the device.
    pub empty: u64,
    /// Bytes that are compressed on the device.
    pub compressed: u64,
}

impl Allocation {
    /// Adds the bytes of other files.
    pub fn add(&mut self, other: Allocation) {
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
            Unproven::NotOurs => f.write_str("diskperf evicts an existing file only with --cold"),
            Unproven::Denied => f.write_str("no permission to inspect a file"),
            Unproven::WarmedUp => f.write_str("the workload ran before it was measured"),
            Unproven::Partly(residency) => write!(f, "{residency} were in the page cache"),
        }
    }
}

/// The observations of a wait for idle devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quiescence {
    /// True if the machine became idle within the time limit.
    pub reached: bool,
    /// The time waited, with or without success.
    pub waited: Nanos,
    /// Dirty bytes of the whole machine at the end.
    pub unwritten: Option<u64>,
    /// Bytes per second that the devices moved at the end, none of them for our programs.
    pub foreign: Option<u64>,
    /// Other observations of the machine at the end, while none of our programs ran. Kernel threads are not counted.
    #[serde(rename = "witness")]
    pub counters: Counters,
    /// The largest delay among many short sleeps. `None` if there were no sleeps.
    pub overslept: Option<Nanos>,
}
