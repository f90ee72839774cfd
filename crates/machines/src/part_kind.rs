//! Kinds of parts, by their names in files and on the command line.

use std::fmt;

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The processor.
    Cpu,
    /// The operating system.
    Kernel,
    /// The bus between memory and controllers.
    Bus,
    /// The disk controller.
    Controller,
    /// The disk drive.
    Drive,
    /// A file system on the drives.
    FileSystem,
}

impl Kind {
    /// All kinds, from the processor to the file system.
    pub const ALL: [Kind; 6] = [Kind::Cpu, Kind::Kernel, Kind::Bus, Kind::Controller, Kind::Drive, Kind::FileSystem];

    /// The first component of the dotted names of its fields: `drive` in `drive.rpm`.
    pub const fn key(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
            Kind::Kernel => "kernel",
            Kind::Bus => "bus",
            Kind::Controller => "controller",
            Kind::Drive => "drive",
            Kind::FileSystem => "file_system",
        }
    }

    /// Returns the kind with that key; `None` if there is none.
    pub fn from_key(key: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.key() == key)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
