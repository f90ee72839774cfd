//! Operations that a program can ask of a file system. An [`Op`] is plain data of sixteen bytes: printable, hashable,
//! storable, replayable.

use core::fmt;

/// An index below `HANDLES` into a program's table of open files. Opening onto a handle in use closes its file, as
/// `dup2` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(u8);

impl Handle {
    /// The handle with this number. Panics if a program has no such handle.
    pub const fn new(number: u8) -> Handle {
        assert!((number as usize) < HANDLES, "a program has HANDLES handles");
        Handle(number)
    }

    /// Its index in the table. The remainder changes nothing, but tells the compiler that the index is below `HANDLES`.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize % HANDLES
    }
}

/// Bytes per call when a file is prepared, outside any clock.
pub(crate) const PREPARING_CALL: u32 = 64 * 1024;

/// The maximum number of files that a program can hold open.
pub const HANDLES: usize = 8;

/// A directory in a program's tree, by number: zero is the program's folder, `n` is `dn` inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Directory(pub u16);

impl Directory {
    /// The program's folder.
    pub const ROOT: Directory = Directory(0);
    /// Not in the program's tree: a name in it is a path that the user gave, by number.
    pub const GIVEN: Directory = Directory(u16::MAX);
}

/// The name of a file in an op: a directory and a number. The world makes the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The directory of the file.
    pub directory: Directory,
    /// The number of the file in that directory.
    pub number: u32,
}

impl Name {
    /// File `number` in the program's folder.
    pub const fn root(number: u32) -> Name {
        Name { directory: Directory::ROOT, number }
    }

    /// The path that the user gave as argument `number`.
    pub const fn given(number: u32) -> Name {
        Name { directory: Directory::GIVEN, number }
    }
}

/// The access mode of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// `O_RDONLY`
    Read,
    /// `O_WRONLY`
    Write,
    /// `O_RDWR`
    ReadWrite,
}

/// The condition for which each write to an open file waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Nothing: the data may stay in memory.
    #[default]
    None,
    /// `O_DSYNC`: the data and what is needed to read them back.
    Data,
    /// `O_SYNC`: the data and everything about the file.
    File,
}

/// Flags for opening a file, apart from the access mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The condition for which each write waits.
    pub durability: Durability,
    /// `O_DIRECT`: past the page cache.
    pub direct: bool,
}

/// An operation that a program asks of a file system. `Read` and `Write` use the handle's offset and advance it;
/// `ReadAt` and `WriteAt` do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Makes a directory of the tree.
    Mkdir {
        /// The directory to make.
        directory: Directory,
    },
    /// Removes an empty directory of the tree.
    Rmdir {
        /// The directory to remove.
        directory: Directory,
    },
    /// `creat`: opens a file for writing and empties it; creates it if it is missing (mode 0666 less the umask).
    Create {
        /// The file.
        name: Name,
        /// The handle for the open file.
        handle: Handle,
        /// Flags.
        mode: Mode,
    },
    /// Opens an existing file without changing it.
    Open {
        /// The file.
        name: Name,
        /// The handle for the open file.
        handle: Handle,
        /// The access mode.
        access: Access,
        /// Flags.
        mode: Mode,
    },
    /// Closes a file.
    Close {
        /// The file.
        handle: Handle,
    },
    /// Reads `length` bytes; a shorter read is a failure.
    Read {
        /// The file.
        handle: Handle,
        /// Bytes to read, all of which must arrive.
        length: u32,
    },
    /// Reads at the end of a file, where a short read of `expect` bytes is right.
    ReadTail {
        /// The file.
        handle: Handle,
        /// Bytes in the request.
        length: u32,
        /// Bytes that must arrive.
        expect: u32,
    },
    /// Writes `length` bytes of test data; a shorter write is a failure.
    Write {
        /// The file.
        handle: Handle,
        /// Bytes to write.
        length: u32,
    },
    /// Writes the first `length` bytes of the program's last read: the second half of a copy.
    WriteLast {
        /// The file.
        handle: Handle,
        /// Bytes to write.
        length: u32,
    },
    /// Reads `length` bytes at `offset`.
    ReadAt {
        /// The file.
        handle: Handle,
        /// Bytes to read, all of which must arrive.
        length: u32,
        /// The position in the file, in bytes.
        offset: u64,
    },
    /// Writes `length` bytes of test data at `offset`.
    WriteAt {
        /// The file.
        handle: Handle,
        /// Bytes to write.
        length: u32,
        /// The position in the file, in bytes.
        offset: u64,
    },
    /// Waits until the file's data can be read back after a crash.
    Fdatasync {
        /// The file.
        handle: Handle,
    },
    /// Waits until the file's data and metadata are durable.
    Fsync {
        /// The file.
        handle: Handle,
    },
    /// Waits until the entries of a directory are durable.
    FsyncDirectory {
        /// The directory.
        directory: Directory,
    },
    /// Waits until the whole file system that holds the tree is durable.
    Syncfs,
    /// Removes a file's name.
    Unlink {
        /// The file.
        name: Name,
    },
    /// Runs a command of the user to its end, in the program's folder. The bytes that the command reads and writes are
    /// not counted here.
    Run {
        /// The index of the command in the world's list.
        command: u8,
    },
}

impl Op {
    /// The same op as a write or as a read, if it is a positioned read or write. Other ops stay as they are.
    pub(crate) fn directed(self, write: bool) -> Op {
        match self {
            Op::ReadAt { handle, length, offset } | Op::WriteAt { handle, length, offset } => {
                PositionedIo { handle, length, offset, write }.into()
            }
            other => other,
        }
    }

    /// The kind of the op, without its arguments.
    #[inline]
    pub const fn kind(&self) -> OpKind {
        match self {
            Op::Mkdir { .. } => OpKind::Mkdir,
            Op::Rmdir { .. } => OpKind::Rmdir,
            Op::Create { .. } => OpKind::Create,
            Op::Open { .. } => OpKind::Open,
            Op::Close { .. } => OpKind::Close,
            Op::Read { .. } | Op::ReadTail { .. } => OpKind::Read,
            Op::Write { .. } | Op::WriteLast { .. } => OpKind::Write,
            Op::ReadAt { .. } => OpKind::ReadAt,
            Op::WriteAt { .. } => OpKind::WriteAt,
            Op::Fdatasync { .. } => OpKind::Fdatasync,
            Op::Fsync { .. } => OpKind::Fsync,
            Op::FsyncDirectory { .. } => OpKind::FsyncDirectory,
            Op::Syncfs => OpKind::Syncfs,
            Op::Unlink { .. } => OpKind::Unlink,
            Op::Run { .. } => OpKind::Run,
        }
    }

    /// The bytes that the op is to move.
    #[inline]
    pub const fn length(&self) -> u32 {
        match *self {
            Op::ReadTail { expect, .. } => expect,
            Op::Read { length, .. }
            | Op::Write { length, .. }
            | Op::WriteLast { length, .. }
            | Op::ReadAt { length, .. }
            | Op::WriteAt { length, .. } => length,
            _ => 0,
        }
    }
}

/// A positioned read or write: it neither uses nor moves the file's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PositionedIo {
    /// The open file.
    pub handle: Handle,
    /// The length in bytes.
    pub length: u32,
    /// The position in the file, in bytes.
    pub offset: u64,
    /// True for a write.
    pub write: bool,
}

impl From<PositionedIo> for Op {
    #[inline]
    fn from(PositionedIo { handle, length, offset, write }: PositionedIo) -> Op {
        if write { Op::WriteAt { handle, length, offset } } else { Op::ReadAt { handle, length, offset } }
    }
}

/// The kinds of op, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the op of the same name")]
pub enum OpKind {
    Mkdir,
    Rmdir,
    Create,
    Open,
    Close,
    Read,
    Write,
    ReadAt,
    WriteAt,
    Fdatasync,
    Fsync,
    FsyncDirectory,
    Syncfs,
    Unlink,
    Run,
}

impl OpKind {
    /// The number of kinds.
    pub const COUNT: usize = OpKind::Run as usize + 1;

    /// All kinds, in the order of their numbers.
    pub const ALL: [OpKind; OpKind::COUNT] = [
        OpKind::Mkdir,
        OpKind::Rmdir,
        OpKind::Create,
        OpKind::Open,
        OpKind::Close,
        OpKind::Read,
        OpKind::Write,
        OpKind::ReadAt,
        OpKind::WriteAt,
        OpKind::Fdatasync,
        OpKind::Fsync,
        OpKind::FsyncDirectory,
        OpKind::Syncfs,
        OpKind::Unlink,
        OpKind::Run,
    ];

    /// Returns whether the op moves bytes from the file to the program.
    #[inline]
    pub const fn reads(self) -> bool {
        matches!(self, OpKind::Read | OpKind::ReadAt)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.directory {
            Directory::ROOT => write!(f, "f{}", self.number),
            Directory::GIVEN => write!(f, "argument {}", self.number + 1),
            directory => write!(f, "{directory}/f{}", self.number),
        }
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Directory::ROOT => f.write_str("."),
            Directory::GIVEN => f.write_str("(given)"),
            Directory(number) => write!(f, "d{number}"),
        }
    }
}

/// One line, as in `write 8192 bytes to #0` and `open d3/f17`.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Op::Mkdir { directory } => write!(f, "mkdir {directory}"),
            Op::Rmdir { directory } => write!(f, "rmdir {directory}"),
            Op::Create { name, .. } => write!(f, "create {name}"),
            Op::Open { name, access: Access::Read, .. } => write!(f, "open {name} for reading"),
            Op::Open { name, access: Access::Write, .. } => write!(f, "open {name} for writing"),
            Op::Open { name, access: Access::ReadWrite, .. } => write!(f, "open {name} for reading and writing"),
            Op::Close { handle } => write!(f, "close #{}", handle.index()),
            Op::Read { handle, length } => write!(f, "read {length} bytes from #{}", handle.index()),
            Op::ReadTail { handle, length, expect } => {
                write!(f, "read {length} bytes from #{}, of which {expect} are left", handle.index())
            }
            Op::Write { handle, length } => write!(f, "write {length} bytes to #{}", handle.index()),
            Op::WriteLast { handle, length } => write!(f, "write the {length} bytes just read to #{}", handle.index()),
            Op::ReadAt { handle, length, offset } => {
                write!(f, "read {length} bytes at {offset} from #{}", handle.index())
            }
            Op::WriteAt { handle, length, offset } => {
                write!(f, "write {length} bytes at {offset} to #{}", handle.index())
            }
            Op::Fdatasync { handle } => write!(f, "fdatasync #{}", handle.index()),
            Op::Fsync { handle } => write!(f, "fsync #{}", handle.index()),
            Op::FsyncDirectory { directory } => write!(f, "fsync directory {directory}"),
            Op::Syncfs => f.write_str("syncfs"),
            Op::Unlink { name } => write!(f, "unlink {name}"),
            Op::Run { .. } => f.write_str("the command"),
        }
    }
}

const _: () = assert!(size_of::<Op>() == 16, "an op is copied at every step");
