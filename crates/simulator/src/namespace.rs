//! Effects of an operation on names, sizes and open files, by the rules of POSIX. No time passes here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::mem;

use workload::{Access, Directory, HANDLES, Handle, Name, Op, Reason, TreeCounts};

/// Identifies a file's contents, even after its name was removed.
pub(crate) type FileId = u64;

/// The bit that the number of every directory has, and that of no file.
const DIRECTORIES: FileId = 1 << 63;

/// The directory of one program, and its open files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Namespace {
    directories: BTreeSet<Directory>,
    names: BTreeMap<Name, FileId>,
    sizes: BTreeMap<FileId, u64>,
    open: [Option<OpenFile>; HANDLES],
    last_id: FileId,
    /// Files without a name that are still open.
    nameless: BTreeSet<FileId>,
    /// Files whose contents were deleted since the last call of `take_released`.
    released: Vec<FileId>,
}

#[derive(Clone, Copy, Debug)]
struct OpenFile {
    file: FileId,
    access: Access,
    offset: u64,
}

/// Bytes that an operation moves between the program and a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) file: FileId,
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
}

impl Namespace {
    /// Creates an empty directory. Files of different programs have different numbers, so that they are apart on the
    /// disk.
    pub(crate) fn of_program(index: usize) -> Namespace {
        Namespace { last_id: (index as FileId) << 32, ..Namespace::default() }
    }

    /// Applies the operation. Returns the data transfer, if there is one.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<Option<Transfer>, Reason> {
        match *op {
            Op::Mkdir { directory } => self.directories.insert(directory).then_some(None).ok_or(Reason::Exists),
            Op::Rmdir { directory } => self.rmdir(directory).map(|()| None),
            Op::Create { name, handle, .. } => self.create(name, handle).map(|()| None),
            Op::Open { name, handle, access, .. } => self.open(name, handle, access).map(|()| None),
            Op::Close { handle } => self.close(handle).map(|()| None),
            Op::Read { handle, length } => self.read(handle, length, length).map(Some),
            Op::ReadTail { handle, length, expect } => self.read(handle, length, expect).map(Some),
            Op::Write { handle, length } | Op::WriteLast { handle, length } => self.write(handle, length).map(Some),
            Op::ReadAt { handle, length, offset } => {
                let file = self.opened(handle, Access::Write)?.file;
                self.read_at(file, offset, length, length).map(Some)
            }
            Op::WriteAt { handle, length, offset } => {
                let file = self.opened(handle, Access::Read)?.file;
                Ok(Some(self.write_at(file, offset, length)))
            }
            Op::Fdatasync { handle } | Op::Fsync { handle } => self.slot(handle).map(|_| None).ok_or(Reason::BadHandle),
            Op::FsyncDirectory { directory } => self.directory(directory).map(|()| None),
            Op::Syncfs => Ok(None),
            Op::Unlink { name } => self.unlink(name).map(|()| None),
            // A simulated machine has no commands.
            Op::Run { .. } => Err(Reason::NotFound),
        }
    }

    /// The file of the operation's name or handle, or the directory; `None` if there is none (yet).
    pub(crate) fn subject(&self, op: &Op) -> Option<FileId> {
        match *op {
            Op::Mkdir { directory } | Op::Rmdir { directory } => Some(self.directory_id(directory)),
            Op::Create { name, .. } | Op::Open { name, .. } | Op::Unlink { name } => self.names.get(&name).copied(),
            Op::Close { handle } => self.open[handle.index()].map(|open| open.file),
            _ => None,
        }
    }

    /// Returns the number that identifies a directory. No file has this number.
    pub(crate) fn directory_id(&self, directory: Directory) -> FileId {
        let program = self.last_id & !u64::from(u32::MAX);
        DIRECTORIES | program | u64::from(directory.0)
    }

    pub(crate) fn tree_counts(&self) -> TreeCounts {
        TreeCounts {
            directories: self.directories.len() as u64,
            files: self.names.len() as u64,
            bytes: self.names.values().map(|file| self.sizes[file]).sum(),
        }
    }

    fn rmdir(&mut self, directory: Directory) -> Result<(), Reason> {
        if self.names.keys().any(|name| name.directory == directory) {
            return Err(Reason::NotEmpty);
        }
        self.directories.remove(&directory).then_some(()).ok_or(Reason::NotFound)
    }

    fn create(&mut self, name: Name, handle: Handle) -> Result<(), Reason> {
        self.directory(name.directory)?;
        let file = *self.names.entry(name).or_insert_with(|| {
            self.last_id += 1;
            self.last_id
        });
        if self.sizes.insert(file, 0).is_some() {
            self.released.push(file);
        }
        self.keep_open(handle, OpenFile { file, access: Access::Write, offset: 0 });
        Ok(())
    }

    fn open(&mut self, name: Name, handle: Handle, access: Access) -> Result<(), Reason> {
        let file = *self.names.get(&name).ok_or(Reason::NotFound)?;
        self.keep_open(handle, OpenFile { file, access, offset: 0 });
        Ok(())
    }

    /// Opening with a handle that is in use closes its previous file.
    fn keep_open(&mut self, handle: Handle, file: OpenFile) {
        let before = self.slot(handle).replace(file);
        self.let_go(before);
    }

    fn close(&mut self, handle: Handle) -> Result<(), Reason> {
        let open = self.slot(handle).take();
        self.let_go(open);
        open.map(|_| ()).ok_or(Reason::BadHandle)
    }

    fn unlink(&mut self, name: Name) -> Result<(), Reason> {
        let file = self.names.remove(&name).ok_or(Reason::NotFound)?;
        self.nameless.insert(file);
        self.release_unless_open(file);
        Ok(())
    }

    fn let_go(&mut self, closed: Option<OpenFile>) {
        if let Some(OpenFile { file, .. }) = closed.filter(|closed| self.nameless.contains(&closed.file)) {
            self.release_unless_open(file);
        }
    }

    /// Releases a file that has neither a name nor a handle.
    fn release_unless_open(&mut self, file: FileId) {
        if self.open.iter().flatten().all(|open| open.file != file) {
            self.nameless.remove(&file);
            self.sizes.remove(&file);
            self.released.push(file);
        }
    }

    /// Returns the files whose contents were deleted since the last call.
    pub(crate) fn take_released(&mut self) -> Vec<FileId> {
        mem::take(&mut self.released)
    }

    /// All existing files.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileId> {
        self.sizes.keys().copied()
    }

    /// A short read still advances the offset by the bytes read.
    fn read(&mut self, handle: Handle, length: u32, expect: u32) -> Result<Transfer, Reason> {
        let OpenFile { file, offset, .. } = *self.opened(handle, Access::Write)?;
        let outcome = self.read_at(file, offset, length, expect);
        let moved = match outcome {
            Ok(Transfer { bytes, .. }) | Err(Reason::Short(bytes)) => bytes,
            Err(_) => 0,
        };
        self.opened(handle, Access::Write)?.offset += u64::from(moved);
        outcome
    }

    fn write(&mut self, handle: Handle, length: u32) -> Result<Transfer, Reason> {
        let open = self.opened(handle, Access::Read)?;
        let OpenFile { file, offset, .. } = *open;
        open.offset += u64::from(length);
        Ok(self.write_at(file, offset, length))
    }

    fn read_at(&self, file: FileId, offset: u64, length: u32, expect: u32) -> Result<Transfer, Reason> {
        let left = self.sizes[&file].saturating_sub(offset);
        let bytes = left.min(u64::from(length)) as u32;
        if bytes == expect { Ok(Transfer { file, offset, bytes }) } else { Err(Reason::Short(bytes)) }
    }

    fn write_at(&mut self, file: FileId, offset: u64, length: u32) -> Transfer {
        let size = self.sizes.entry(file).or_default();
        *size = (*size).max(offset + u64::from(length));
        Transfer { file, offset, bytes: length }
    }

    fn directory(&self, directory: Directory) -> Result<(), Reason> {
        let known = directory == Directory::ROOT || self.directories.contains(&directory);
        known.then_some(()).ok_or(Reason::NotFound)
    }

    /// Returns the open file; an error if it was opened only for `wrong`.
    fn opened(&mut self, handle: Handle, wrong: Access) -> Result<&mut OpenFile, Reason> {
        self.slot(handle).as_mut().filter(|open| open.access != wrong).ok_or(Reason::BadHandle)
    }

    fn slot(&mut self, handle: Handle) -> &mut Option<OpenFile> {
        &mut self.open[handle.index()]
    }
}
