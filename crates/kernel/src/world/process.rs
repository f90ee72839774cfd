//! One program on the real kernel: its open files, its names, its buffers, and the system call for each op.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode as Rights, OFlags};
use rustix::io::Errno;
use workload::{Access, Directory, Durability, HANDLES, Handle, Mode, Name, Op, PositionedIo, Reason};

use crate::errno::{self, reason};
use crate::errors::Fault;
use crate::guard::{Found, Given};
use crate::provision::raw_device::RawDevice;
use crate::sys::payload::{self, Pages, PayloadRing};
use crate::world::command::Commands;

/// The rights of `creat(path, 0666)`, less the umask.
const FILE_RIGHTS: Rights = Rights::from_bits_retain(0o666);

/// The state of a program between runs of streams. On its own cache lines, as with [`workload::CachePadded`].
#[repr(align(128))]
pub(crate) struct Process {
    names: Names,
    files: [Option<OpenFile>; HANDLES],
    ring: PayloadRing,
    scratch: Pages,
    seed: u64,
    writes_zeros: bool,
    device: GivenDevice,
    commands: Option<Box<Commands>>,
}

/// The permitted access to a device behind the given names.
#[derive(Default)]
pub(crate) enum GivenDevice {
    /// No device is given.
    #[default]
    None,
    /// The device may only be read.
    OnlyRead,
    /// The device may also be written: the guard gave permission.
    Cleared(Arc<RawDevice>),
}

struct OpenFile {
    descriptor: OwnedFd,
    /// The kernel's file offset of the descriptor, needed for the stamps.
    offset: u64,
    identity: u64,
}

impl Process {
    /// Creates a program that runs in `root`, or in no folder of ours. `given` are the user's files, each with the
    /// path to open. Prepares incompressible data that repeat after `ring_bytes`, and a buffer for calls of
    /// `largest_call` bytes.
    pub(crate) fn new(
        root: Option<OwnedFd>,
        given: Vec<(CString, Given)>,
        ring_bytes: u32,
        largest_call: u32,
        seed: u64,
    ) -> Result<Process, Fault> {
        Ok(Process {
            names: Names { root, directories: Vec::new(), given },
            files: [const { None }; HANDLES],
            ring: PayloadRing::new(ring_bytes, largest_call, seed)?,
            scratch: Pages::zeroed(largest_call as usize)?,
            seed,
            writes_zeros: false,
            device: GivenDevice::None,
            commands: None,
        })
    }

    /// Sets the access to a given device. A permission to write is not withdrawn.
    pub(crate) fn give_device(&mut self, device: GivenDevice) {
        if !matches!(self.device, GivenDevice::Cleared(_)) {
            self.device = device;
        }
    }

    /// Sets the user's commands that this program can run.
    pub(crate) fn give_commands(&mut self, commands: Commands) {
        self.commands = Some(Box::new(commands));
    }

    /// Its commands, if it has any.
    pub(crate) fn commands(&mut self) -> Option<&mut Commands> {
        self.commands.as_deref_mut()
    }

    /// From now on writes zeros, which are compressible, instead of incompressible data.
    pub(crate) fn write_zeros(&mut self) {
        self.ring.wipe();
        self.writes_zeros = true;
    }

    /// Fills memory with the data that this program writes.
    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        if !self.writes_zeros {
            payload::fill(bytes, self.seed);
        }
    }

    /// The descriptor of an open file, and the identity in its stamps.
    #[inline]
    pub(crate) fn descriptor(&self, handle: Handle) -> Result<(RawFd, u64), Reason> {
        let file = self.files[handle.index()].as_ref().ok_or(Reason::BadHandle)?;
        Ok((file.descriptor.as_raw_fd(), file.identity))
    }

    /// True if `file` is the one open under the handle.
    pub(crate) fn has_open(&self, handle: Handle, file: &Found) -> bool {
        self.files[handle.index()].as_ref().is_some_and(|open| file.is(&open.descriptor))
    }

    /// The seed, which the stamps of its files contain besides the file names.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Closes every file and forgets every directory.
    pub(crate) fn close_all(&mut self) {
        self.files = [const { None }; HANDLES];
        self.names.directories.clear();
    }

    /// Closes every file and every folder, so that the file system can be unmounted.
    pub(crate) fn leave(&mut self) {
        self.close_all();
        self.names.root = None;
    }

    /// True if it has a folder open.
    pub(crate) fn stands(&self) -> bool {
        self.names.root.is_some()
    }

    /// Closes every file, and returns the descriptor of its folder.
    pub(crate) fn give_up_root(&mut self) -> Option<OwnedFd> {
        self.close_all();
        self.names.root.take()
    }

    /// Uses `root` as its folder from now on.
    pub(crate) fn enter(&mut self, root: OwnedFd) {
        self.names.root = Some(root);
    }

    /// Returns the call that reads the next `length` bytes; it can be repeated.
    #[inline]
    pub(crate) fn reading(
        &mut self,
        handle: Handle,
        length: u32,
    ) -> Result<impl FnMut() -> Result<u32, Reason>, Reason> {
        let file = open_file(&mut self.files, handle)?;
        let room = room(&mut self.scratch, length);
        Ok(
            // Forced into the measured loop: as the code grows, the compiler would stop inlining it.
            #[inline(always)]
            move || {
                let moved = rustix::io::read(&file.descriptor, &mut *room)
                    .map_err(|errno| errno::of_transfer(errno, &file.descriptor, None, length))?;
                file.offset += moved as u64;
                whole(moved, length)
            },
        )
    }

    /// Returns the call that writes the next `length` bytes; it can be repeated.
    #[inline]
    pub(crate) fn writing(
        &mut self,
        handle: Handle,
        length: u32,
    ) -> Result<impl FnMut() -> Result<u32, Reason>, Reason> {
        let OpenFile { descriptor, offset, identity } = open_file(&mut self.files, handle)?;
        let (descriptor, identity): (&OwnedFd, u64) = (descriptor, *identity);
        let mut draw = self.ring.draw(length);
        Ok(
            // As above.
            #[inline(always)]
            move || {
                let moved = rustix::io::write(descriptor, draw.next(identity, *offset))
                    .map_err(|errno| errno::of_transfer(errno, descriptor, None, length))?;
                *offset += moved as u64;
                whole(moved, length)
            },
        )
    }

    /// Reads at an offset. Part of the measured loop, like the next function.
    #[inline(always)]
    pub(crate) fn read_at(&mut self, handle: Handle, length: u32, offset: u64) -> Result<u32, Reason> {
        let file = open_file(&mut self.files, handle)?;
        let room = room(&mut self.scratch, length);
        let moved = rustix::io::pread(&file.descriptor, room, offset)
            .map_err(|errno| errno::of_transfer(errno, &file.descriptor, Some(offset), length))?;
        whole(moved, length)
    }

    /// Writes at an offset.
    #[inline(always)]
    pub(crate) fn write_at(&mut self, handle: Handle, length: u32, offset: u64) -> Result<u32, Reason> {
        let file = open_file(&mut self.files, handle)?;
        let mut draw = self.ring.draw(length);
        let data = draw.next(file.identity, offset);
        let moved = rustix::io::pwrite(&file.descriptor, data, offset)
            .map_err(|errno| errno::of_transfer(errno, &file.descriptor, Some(offset), length))?;
        whole(moved, length)
    }

    /// The read buffer for `length` bytes.
    #[inline(always)]
    pub(crate) fn room(&mut self, length: u32) -> &mut [u8] {
        room(&mut self.scratch, length)
    }

    /// Passes the next payload for `io` to `bring`, which writes it.
    #[inline(always)]
    pub(crate) fn with_data(&mut self, io: PositionedIo, bring: impl FnOnce(&[u8])) -> Result<(), Reason> {
        let file = open_file(&mut self.files, io.handle)?;
        let mut draw = self.ring.draw(io.length);
        bring(draw.next(file.identity, io.offset));
        Ok(())
    }

    /// The size of an open file in bytes.
    pub(crate) fn bytes(&self, handle: Handle) -> Result<u64, Reason> {
        let file = self.files[handle.index()].as_ref().ok_or(Reason::BadHandle)?;
        rustix::fs::fstat(&file.descriptor).map(|status| status.st_size as u64).map_err(reason)
    }

    /// Executes the op, and returns the number of bytes moved.
    #[inline]
    pub(crate) fn execute(&mut self, op: &Op) -> Result<u32, Reason> {
        match *op {
            Op::Read { handle, length } => self.reading(handle, length)?(),
            Op::Write { handle, length } => self.writing(handle, length)?(),
            Op::ReadAt { handle, length, offset } => self.read_at(handle, length, offset),
            Op::WriteAt { handle, length, offset } => self.write_at(handle, length, offset),
            Op::ReadTail { handle, length, expect } => {
                let file = open_file(&mut self.files, handle)?;
                let moved = rustix::io::read(&file.descriptor, room(&mut self.scratch, length))
                    .map_err(|errno| errno::of_transfer(errno, &file.descriptor, None, length))?;
                file.offset += moved as u64;
                whole(moved, expect)
            }
            Op::WriteLast { handle, length } => {
                let file = open_file(&mut self.files, handle)?;
                let data = &self.scratch.bytes()[..length as usize];
                let moved = rustix::io::write(&file.descriptor, data)
                    .map_err(|errno| errno::of_transfer(errno, &file.descriptor, None, length))?;
                file.offset += moved as u64;
                whole(moved, length)
            }
            Op::Create { name, handle, mode } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | mode_flags(mode);
                self.open(name, handle, flags)
            }
            Op::Open { name, handle, access, mode } => {
                let access = match access {
                    Access::Read => OFlags::RDONLY,
                    Access::Write => OFlags::WRONLY,
                    Access::ReadWrite => OFlags::RDWR,
                };
                self.open(name, handle, access | mode_flags(mode))
            }
            Op::Close { handle } => close(slot(&mut self.files, handle).take().ok_or(Reason::BadHandle)?.descriptor),
            Op::Unlink { name } => {
                let mut buffer = NameBuffer::default();
                let (directory, path) = self.names.resolve(name, &mut buffer)?;
                done(rustix::fs::unlinkat(directory, path, AtFlags::empty()))
            }
            Op::Fdatasync { handle } => done(rustix::fs::fdatasync(&open_file(&mut self.files, handle)?.descriptor)),
            Op::Fsync { handle } => done(rustix::fs::fsync(&open_file(&mut self.files, handle)?.descriptor)),
            Op::FsyncDirectory { directory } => done(rustix::fs::fsync(self.names.directory(directory)?)),
            Op::Syncfs => done(rustix::fs::syncfs(self.names.directory(Directory::ROOT)?)),
            Op::Mkdir { directory } => {
                let mut buffer = NameBuffer::default();
                let path = buffer.write(b'd', u32::from(directory.0));
                done(rustix::fs::mkdirat(self.names.directory(Directory::ROOT)?, path, Rights::RWXU))
            }
            Op::Run { command } => self.run(command),
            Op::Rmdir { directory } => {
                self.names.forget(directory);
                let mut buffer = NameBuffer::default();
                let path = buffer.write(b'd', u32::from(directory.0));
                done(rustix::fs::unlinkat(self.names.directory(Directory::ROOT)?, path, AtFlags::REMOVEDIR))
            }
        }
    }

    /// Runs a command of the user in the folder, wherever that is by now.
    #[cold]
    #[inline(never)]
    fn run(&mut self, command: u8) -> Result<u32, Reason> {
        let root = self.names.directory(Directory::ROOT)?.as_raw_fd();
        let folder = std::fs::read_link(format!("/proc/self/fd/{root}")).map_err(|_| Reason::NotFound)?;
        self.commands.as_mut().ok_or(Reason::NotFound)?.run(command, &folder)
    }

    /// Opens a file. Sets no O_CLOEXEC: the children of programs of 1983 inherited their descriptors. A child exists
    /// only if the program is a command, and such a program opens no files here.
    fn open(&mut self, name: Name, handle: Handle, flags: OFlags) -> Result<u32, Reason> {
        let is_given = name.directory == Directory::GIVEN;
        let descriptor = match &self.device {
            GivenDevice::Cleared(raw) if is_given => raw.open(flags).map_err(|errno| errno::of_open(errno, flags))?,
            GivenDevice::OnlyRead if is_given && flags.intersects(OFlags::WRONLY | OFlags::RDWR) => {
                return Err(Reason::Denied);
            }
            _ => {
                let flags =
                    if is_given { self.names.given(name)?.1.flags(flags).ok_or(Reason::Denied)? } else { flags };
                let mut buffer = NameBuffer::default();
                let (directory, path) = self.names.resolve(name, &mut buffer)?;
                rustix::fs::openat(directory, path, flags, FILE_RIGHTS).map_err(|errno| errno::of_open(errno, flags))?
            }
        };
        let identity = identity(self.seed, name);
        *slot(&mut self.files, handle) = Some(OpenFile { descriptor, offset: 0, identity });
        Ok(0)
    }
}

/// The file that a stamp belongs to: the program's seed combined with the directory and number of the name.
pub(crate) fn identity(seed: u64, name: Name) -> u64 {
    seed.rotate_left(48) ^ u64::from(name.directory.0) << 32 ^ u64::from(name.number)
}

/// Converts the ops' names into paths.
struct Names {
    root: Option<OwnedFd>,
    /// Entry `n` is directory `n` of the tree, opened at its first use.
    directories: Vec<Option<OwnedFd>>,
    given: Vec<(CString, Given)>,
}

impl Names {
    #[inline]
    fn resolve<'a>(&'a mut self, name: Name, buffer: &'a mut NameBuffer) -> Result<(BorrowedFd<'a>, &'a CStr), Reason> {
        if name.directory == Directory::GIVEN {
            return Ok((CWD, &self.given(name)?.0));
        }
        let path = buffer.write(b'f', name.number);
        Ok((self.directory(name.directory)?, path))
    }

    fn given(&self, name: Name) -> Result<&(CString, Given), Reason> {
        self.given.get(name.number as usize).ok_or(Reason::NotFound)
    }

    #[inline]
    fn directory(&mut self, directory: Directory) -> Result<BorrowedFd<'_>, Reason> {
        let root = self.root.as_ref().ok_or(Reason::NotFound)?;
        if directory == Directory::ROOT {
            return Ok(root.as_fd());
        }
        let index = usize::from(directory.0);
        if self.directories.len() <= index {
            self.directories.resize_with(index + 1, || None);
        }
        let entry = &mut self.directories[index];
        if entry.is_none() {
            let mut buffer = NameBuffer::default();
            let path = buffer.write(b'd', u32::from(directory.0));
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            *entry = Some(rustix::fs::openat(root, path, flags, Rights::empty()).map_err(reason)?);
        }
        entry.as_ref().map(AsFd::as_fd).ok_or(Reason::NotFound)
    }

    fn forget(&mut self, directory: Directory) {
        if let Some(entry) = self.directories.get_mut(usize::from(directory.0)) {
            *entry = None;
        }
    }
}

/// A buffer for a letter, ten digits and the final zero byte of a path.
#[derive(Default)]
struct NameBuffer([u8; 12]);

impl NameBuffer {
    #[inline]
    fn write(&mut self, prefix: u8, mut number: u32) -> &CStr {
        let mut start = self.0.len() - 1;
        self.0[start] = 0;
        loop {
            start -= 1;
            self.0[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        start -= 1;
        self.0[start] = prefix;
        CStr::from_bytes_with_nul(&self.0[start..]).expect("digits hold no zero byte")
    }
}

fn mode_flags(mode: Mode) -> OFlags {
    let durability = match mode.durability {
        Durability::None => OFlags::empty(),
        Durability::Data => OFlags::DSYNC,
        Durability::File => OFlags::SYNC,
    };
    if mode.direct { durability | OFlags::DIRECT } else { durability }
}

#[inline]
fn slot(files: &mut [Option<OpenFile>; HANDLES], handle: Handle) -> &mut Option<OpenFile> {
    &mut files[handle.index()]
}

#[inline]
fn open_file(files: &mut [Option<OpenFile>; HANDLES], handle: Handle) -> Result<&mut OpenFile, Reason> {
    slot(files, handle).as_mut().ok_or(Reason::BadHandle)
}

#[inline]
fn room(scratch: &mut Pages, length: u32) -> &mut [u8] {
    &mut scratch.bytes_mut()[..length as usize]
}

/// Returns an error if fewer bytes were moved than expected.
#[inline]
pub(crate) fn whole(moved: usize, expected: u32) -> Result<u32, Reason> {
    if moved == expected as usize { Ok(expected) } else { Err(Reason::Short(moved as u32)) }
}

/// Closes a file and checks the result: some file systems report a failed write only now.
fn close(descriptor: OwnedFd) -> Result<u32, Reason> {
    // SAFETY: the descriptor was owned here, and its number is not used again.
    let status = unsafe { libc::close(descriptor.into_raw_fd()) };
    if status == 0 { Ok(0) } else { Err(reason(last_errno())) }
}

#[cold]
fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn done(result: Result<(), Errno>) -> Result<u32, Reason> {
    result.map(|()| 0).map_err(reason)
}
