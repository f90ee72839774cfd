//! The cost of directories and inodes.

/// Cost of directories and inodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Names {
    /// Operations on names take no time but that of a call. Inodes are never written.
    Free,
    /// Directories are searched, and directories and inodes are read and written, as in 4.2BSD.
    Timed,
}

impl Names {
    /// All kinds with their names.
    pub const NAMES: [(&str, Names); 2] = [("free", Names::Free), ("timed", Names::Timed)];
}
