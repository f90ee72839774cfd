//! The long middle of a stream, one variant per access pattern. An enum, not a trait object: the world's loop asks for
//! a step per operation, and the call is inlined there.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use units::Prng;

use crate::access::pattern::Accesses;
use crate::file_churn::{FileChurn, GRAIN};
use crate::op::{Access, Directory, Handle, Mode, Name, Op};

/// The repeated part of a stream.
#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing.
    Empty,
    /// The same call, `left` more times: sequential reading and writing.
    Calls {
        /// The call.
        call: Op,
        /// The number of calls left.
        left: u64,
    },
    /// Positioned accesses to one file.
    Accesses(Accesses),
    /// Many small files.
    Files(Files),
    /// Reading one file and writing the same bytes to another.
    Copy(Copying),
    /// Filling a file system with files, and changing them.
    Churn(Box<FileChurn>),
    /// Appending a record and waiting until its data are durable, alternately.
    Commits {
        /// The file.
        handle: Handle,
        /// Bytes in a record.
        length: u32,
        /// The number of ops left, two per commit.
        left: u64,
    },
}

impl From<Accesses> for Body {
    fn from(accesses: Accesses) -> Body {
        Body::Accesses(accesses)
    }
}

impl Iterator for Body {
    type Item = Op;

    #[inline]
    fn next(&mut self) -> Option<Op> {
        match self {
            Body::Empty => None,
            Body::Calls { call, left } => {
                *left = left.checked_sub(1)?;
                Some(*call)
            }
            Body::Accesses(accesses) => accesses.next().map(Op::from),
            Body::Files(files) => files.next(),
            Body::Copy(copying) => copying.next(),
            Body::Churn(churn) => churn.next(),
            Body::Commits { handle, length, left } => {
                *left = left.checked_sub(1)?;
                let (handle, length) = (*handle, *length);
                Some(if *left % 2 == 1 { Op::Write { handle, length } } else { Op::Fdatasync { handle } })
            }
        }
    }
}

impl Body {
    /// The length, in bytes, of the write calls on a file. `None` if the body does not generate the data that it
    /// writes, or writes each file in one call.
    pub(crate) fn cuts(&self) -> Option<u32> {
        match self {
            Body::Calls { call: Op::Write { length, .. }, .. } | Body::Commits { length, .. } => Some(*length),
            Body::Accesses(accesses) => accesses.cuts(),
            Body::Churn(_) => Some(GRAIN),
            Body::Empty | Body::Calls { .. } | Body::Files(_) | Body::Copy(_) => None,
        }
    }

    /// Returns whether the body reads or writes a file from its beginning on.
    pub(crate) fn is_sequential(&self) -> bool {
        match self {
            Body::Calls { .. } => true,
            Body::Accesses(accesses) => accesses.is_sequential(),
            Body::Empty | Body::Files(_) | Body::Copy(_) | Body::Churn(_) | Body::Commits { .. } => false,
        }
    }

    /// The bytes that it may reach in its file, if it may access some of them more than once; otherwise `None`.
    pub(crate) fn touches_again(&self) -> Option<u64> {
        match self {
            Body::Accesses(accesses) => accesses.touches_again(),
            Body::Empty
            | Body::Calls { .. }
            | Body::Files(_)
            | Body::Copy(_)
            | Body::Churn(_)
            | Body::Commits { .. } => None,
        }
    }

    /// The extent of the places in bytes, if they are random; otherwise `None`.
    pub(crate) fn span(&self) -> Option<u64> {
        if let Body::Accesses(accesses) = self { accesses.span() } else { None }
    }
}

/// The distribution of small files over directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All in the program's folder.
    One,
    /// In this many directories, consecutive files together.
    Consecutive(u16),
    /// In this many directories, file i in directory i modulo their number.
    Modulo(u16),
}

impl Layout {
    /// The directories that are needed, apart from the program's folder.
    pub fn directories(self) -> impl Iterator<Item = Directory> {
        let count = match self {
            Layout::One => 0,
            Layout::Consecutive(count) | Layout::Modulo(count) => count,
        };
        (1..=count).map(Directory)
    }

    /// The directories that hold at least one of `files` files.
    pub fn touched(self, files: u32) -> Vec<Directory> {
        let used = match self {
            Layout::One => return vec![Directory::ROOT],
            Layout::Consecutive(count) => files.div_ceil(files.div_ceil(u32::from(count)).max(1)),
            Layout::Modulo(count) => files.min(u32::from(count)),
        };
        self.directories().take(used as usize).collect()
    }

    #[inline]
    fn name(self, number: u32, files: u32) -> Name {
        let directory = match self {
            Layout::One => Directory::ROOT,
            Layout::Consecutive(count) => Directory((number / files.div_ceil(u32::from(count))) as u16 + 1),
            Layout::Modulo(count) => Directory((number % u32::from(count)) as u16 + 1),
        };
        Name { directory, number }
    }
}

/// The order in which files are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOrder {
    /// The order of their creation.
    Creation,
    /// Shuffled.
    Random,
}

/// The action on each small file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAction {
    /// create, write, close; with an fsync before the close.
    Make { fsync: bool },
    /// open, read, close.
    Take,
    /// unlink.
    Remove,
}

/// Many small files, one after the other.
#[derive(Clone, Debug)]
pub struct Files {
    action: FileAction,
    layout: Layout,
    files: u32,
    length: u32,
    numbers: vec::IntoIter<u32>,
    current: Name,
    stage: u8,
}

const HANDLE: Handle = Handle::new(0);

impl Files {
    pub(crate) fn new(
        action: FileAction,
        layout: Layout,
        files: u32,
        length: u32,
        order: FileOrder,
        seed: u64,
    ) -> Files {
        let mut numbers: Vec<u32> = (0..files).collect();
        if order == FileOrder::Random {
            Prng::new(seed).shuffle(&mut numbers);
        }
        Files { action, layout, files, length, numbers: numbers.into_iter(), current: Name::root(0), stage: 0 }
    }

    #[inline]
    fn next(&mut self) -> Option<Op> {
        if self.stage == 0 {
            self.current = self.layout.name(self.numbers.next()?, self.files);
        }
        let (name, handle, length, mode) = (self.current, HANDLE, self.length, Mode::default());
        let (op, last) = match (self.action, self.stage) {
            (FileAction::Make { .. }, 0) => (Op::Create { name, handle, mode }, false),
            (FileAction::Make { .. }, 1) => (Op::Write { handle, length }, false),
            (FileAction::Make { fsync: true }, 2) => (Op::Fsync { handle }, false),
            (FileAction::Take, 0) => (Op::Open { name, handle, access: Access::Read, mode }, false),
            (FileAction::Take, 1) => (Op::Read { handle, length }, false),
            (FileAction::Make { .. } | FileAction::Take, _) => (Op::Close { handle }, true),
            (FileAction::Remove, _) => (Op::Unlink { name }, true),
        };
        self.stage = if last { 0 } else { self.stage + 1 };
        Some(op)
    }
}

/// Reads `from` through a buffer and writes the bytes read to `to`, as `copy` does. The last read but one may return
/// less than a full buffer; the last returns nothing.
#[derive(Clone, Debug)]
pub struct Copying {
    from: Handle,
    to: Handle,
    buffer: u32,
    left: u64,
    just_read: u32,
    at_end: bool,
}

impl Copying {
    /// Copies all `bytes` bytes of `from`.
    pub fn new(from: Handle, to: Handle, buffer: u32, bytes: u64) -> Copying {
        Copying { from, to, buffer, left: bytes, just_read: 0, at_end: false }
    }

    #[inline]
    fn next(&mut self) -> Option<Op> {
        let length = self.buffer;
        if self.just_read > 0 {
            let length = core::mem::take(&mut self.just_read);
            return Some(Op::WriteLast { handle: self.to, length });
        }
        if self.left >= u64::from(length) {
            self.left -= u64::from(length);
            self.just_read = length;
            return Some(Op::Read { handle: self.from, length });
        }
        if self.at_end {
            return None;
        }
        self.at_end = self.left == 0;
        self.just_read = self.left as u32;
        self.left = 0;
        Some(Op::ReadTail { handle: self.from, length, expect: self.just_read })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_copy_moves_every_byte_and_reads_end_of_file(bytes in 0u64..10_000, buffer in 1u32..700) {
            let ops: Vec<Op> = Copying::new(Handle::new(0), Handle::new(1), buffer, bytes).into_ops().collect();
            let mut read = 0;
            let mut written = 0;
            for op in &ops {
                match *op {
                    Op::Read { length, .. } => read += u64::from(length),
                    Op::ReadTail { expect, length, .. } => {
                        prop_assert!(expect < length);
                        read += u64::from(expect);
                    }
                    Op::WriteLast { length, .. } => {
                        written += u64::from(length);
                        prop_assert_eq!(read, written);
                    }
                    other => panic!("not part of a copy: {other}"),
                }
            }
            prop_assert_eq!((read, written), (bytes, bytes));
            let end_of_file = Op::ReadTail { handle: Handle::new(0), length: buffer, expect: 0 };
            prop_assert_eq!(ops.last(), Some(&end_of_file));
        }
    }

    impl Copying {
        fn into_ops(self) -> Body {
            Body::Copy(self)
        }
    }

    #[test]
    fn files_are_in_one_or_several_directories() {
        let directories = |layout: Layout| -> Vec<u16> { (0..6).map(|n| layout.name(n, 6).directory.0).collect() };
        assert_eq!(directories(Layout::One), [0, 0, 0, 0, 0, 0]);
        assert_eq!(directories(Layout::Consecutive(3)), [1, 1, 2, 2, 3, 3]);
        assert_eq!(directories(Layout::Modulo(3)), [1, 2, 3, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn the_touched_directories_are_those_with_files(files in 0u32..500, count in 1u16..120) {
            for layout in [Layout::One, Layout::Consecutive(count), Layout::Modulo(count)] {
                let mut used: Vec<Directory> = (0..files).map(|n| layout.name(n, files).directory).collect();
                used.sort_unstable();
                used.dedup();
                if layout == Layout::One && files == 0 {
                    used.push(Directory::ROOT);
                }
                prop_assert_eq!(layout.touched(files), used);
            }
        }
    }
}
