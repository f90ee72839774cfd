//! A folder, served by the test itself (FUSE), that lies about its storage. It imitates fsync calls without effect, a
//! server that keeps a page cache or keeps written data in its memory only, and a page cache of the kernel that
//! outlives an open file. It also imitates a server that needs all of a processor, and a mount that looks like an
//! ordinary one. All else passes through to a folder below.
//!
//! Policy:
//!   1. files and folders only; owners and times that a program sets are ignored;
//!   2. the memory of the server is emptied when the lies are changed to some that keep nothing, as if the server had
//!      crashed: data that it kept in memory only are lost;
//!   3. the processor time of a request is burned by one thread at a time, so a slow server can use one processor.

mod nodes;
mod pages;

use std::ffi::{CStr, OsStr};
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, RenameFlags, SeekFrom};
use rustix::io::Errno;
use rustix::time::ClockId;

use self::nodes::Nodes;
use self::pages::Pages;
use crate::fuse::Fsync;
use crate::fuse::protocol::{
    Answer, BATCH_FORGET, CREATE, FORGET, FSYNC, FSYNCDIR, GETATTR, LOOKUP, MKDIR, Mount, OPEN, READ, READDIR, RENAME,
    RENAME2, RMDIR, Request, SETATTR, STATFS, Server, UNLINK, WRITE, errno, longs, words,
};

/// The data that a server keeps in its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerMemory {
    /// Nothing: each read and each write goes to the file below.
    #[default]
    Nothing,
    /// Copies of all data that were read or written: a page cache of the server, which no client can drop.
    Copies,
    /// Copies of all data that were read, and the only copy of all data that were written. The file below gets the
    /// length only.
    Writes,
}

/// The use of the kernel's page cache that a server asks for when a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelCache {
    /// The page cache of the file is dropped at each open.
    #[default]
    PerOpen,
    /// The page cache of the file outlives it (`FOPEN_KEEP_CACHE`).
    Kept,
    /// Reads and writes bypass it, even if the program does not ask for that (`FOPEN_DIRECT_IO`).
    Bypassed,
}

/// The lies of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lies {
    /// The effect of an fsync call on a file or a folder.
    pub fsync: Fsync,
    /// The data that the server keeps in its memory.
    pub memory: ServerMemory,
    /// The use of the kernel's page cache.
    pub cache: KernelCache,
    /// The processor time of each request.
    pub burn: Duration,
}

/// The look of a mount. The type that statfs(2) returns is always that of FUSE: the kernel sets it.
#[derive(Clone, Copy, Debug, Default)]
pub enum MountAppearance<'a> {
    /// An ordinary FUSE mount.
    #[default]
    Fuse,
    /// A mount with the subtype and the source of a local file system: `fuse.ext4` on `/dev/sda1`.
    Named(&'a str, &'a str),
    /// A mount of type `fuseblk` on this device. All its files have the device's number, but the server may never use
    /// the device.
    Device(&'a Path),
}

/// The requests that a server has answered so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Reads of files.
    pub reads: u64,
    /// Writes to files.
    pub writes: u64,
    /// Fsync calls on files and folders.
    pub fsyncs: u64,
}

/// The mounted folder. Dropping it unmounts it.
#[derive(Debug)]
pub struct LyingFolder {
    mount: Mount,
    served: Arc<Served>,
}

impl LyingFolder {
    /// Serves the folder `below` at a mount point, in the mount namespace of the calling thread. Needs root.
    pub fn mount(at: &Path, below: &Path, appearance: MountAppearance, lies: Lies) -> io::Result<LyingFolder> {
        let served = Arc::new(Served {
            nodes: Nodes::new(File::open(below)?),
            lies: Mutex::new(lies),
            pages: Mutex::default(),
            processor: Mutex::default(),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            fsyncs: AtomicU64::new(0),
        });
        let (source, kind) = match appearance {
            MountAppearance::Fuse => (OsStr::new("diskperf-test"), "fuse".to_owned()),
            MountAppearance::Named(kind, source) => (OsStr::new(source), format!("fuse.{kind}")),
            MountAppearance::Device(node) => (node.as_os_str(), "fuseblk".to_owned()),
        };
        let mount = Mount::new(at, source, &kind, Arc::clone(&served))?;
        Ok(LyingFolder { mount, served })
    }

    /// Returns the path of a name in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.mount.path().join(name)
    }

    /// Changes the lies while the folder is in use.
    pub fn turn(&self, lies: Lies) {
        *locked(&self.served.lies) = lies;
        // 2
        if lies.memory == ServerMemory::Nothing {
            *self.served.pages() = Pages::default();
        }
    }

    /// Returns the requests so far.
    pub fn counts(&self) -> Counts {
        let Served { reads, writes, fsyncs, .. } = &*self.served;
        let [reads, writes, fsyncs] = [reads, writes, fsyncs].map(|count| count.load(Ordering::Relaxed));
        Counts { reads, writes, fsyncs }
    }
}

/// The state of a server.
#[derive(Debug)]
struct Served {
    nodes: Nodes,
    lies: Mutex<Lies>,
    pages: Mutex<Pages>,
    /// Held by the thread that burns processor time.
    processor: Mutex<()>,
    reads: AtomicU64,
    writes: AtomicU64,
    fsyncs: AtomicU64,
}

impl Server for Served {
    fn answer(&self, request: &Request) -> Option<Answer> {
        let node = request.node();
        match request.code() {
            FORGET => {
                self.forget(node, request.long(0));
                return None;
            }
            BATCH_FORGET => {
                let count = request.word(0) as usize;
                let fields = |index: usize| (request.long(8 + 16 * index), request.long(16 + 16 * index));
                (0..count).map(fields).for_each(|(node, lookups)| self.forget(node, lookups));
                return None;
            }
            _ => {}
        }
        let lies = *locked(&self.lies);
        self.burn(lies.burn);
        Some(match request.code() {
            STATFS => self.space(node),
            OPEN => Ok(opened(lies.cache)),
            READ => self.read(request, lies.memory),
            WRITE => self.write(request, lies.memory),
            FSYNC | FSYNCDIR => self.sync(node, lies.fsync),
            GETATTR => self.attributes(node, lies.memory),
            SETATTR => self.change(request).and_then(|()| self.attributes(node, lies.memory)),
            READDIR => self.list(request),
            _ => self.use_name(request, lies),
        })
    }
}

impl Served {
    /// Answers a request that names a file in a folder.
    fn use_name(&self, request: &Request, lies: Lies) -> Answer {
        let folder = &*self.nodes.below(request.node())?;
        match request.code() {
            LOOKUP => self.enter(nodes::open(folder, request.name(0)?)?, lies.memory),
            MKDIR => {
                let name = request.name(8)?;
                rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(request.word(0)))?;
                self.enter(nodes::open(folder, name)?, lies.memory)
            }
            CREATE => {
                let asked = OFlags::from_bits_retain(request.word(0)) & (OFlags::EXCL | OFlags::TRUNC);
                let how = asked | OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(request.word(4));
                let file = File::from(rustix::fs::openat(folder, request.name(16)?, how, mode)?);
                Ok([self.enter(file, lies.memory)?, opened(lies.cache)].concat())
            }
            UNLINK => done(rustix::fs::unlinkat(folder, request.name(0)?, AtFlags::empty())),
            RMDIR => done(rustix::fs::unlinkat(folder, request.name(0)?, AtFlags::REMOVEDIR)),
            RENAME => self.rename(folder, request, 8, RenameFlags::empty()),
            RENAME2 => self.rename(folder, request, 16, RenameFlags::from_bits_retain(request.word(8))),
            _ => Err(Errno::NOSYS),
        }
    }

    /// Renames a file. Both names are at this offset of the request.
    fn rename(&self, folder: &File, request: &Request, at: usize, how: RenameFlags) -> Answer {
        let to_folder = self.nodes.below(request.long(0))?;
        let name = request.name(at)?;
        let to_name = request.name(at + name.to_bytes_with_nul().len())?;
        done(rustix::fs::renameat_with(folder, name, &*to_folder, to_name, how))
    }

    /// Counts a lookup, and describes the file: inode number, its generation, and the seconds for which name and
    /// attributes stay valid.
    fn enter(&self, file: File, memory: ServerMemory) -> Answer {
        let (number, metadata) = self.nodes.enter(file).map_err(|error| errno(&error))?;
        Ok(longs(&[number, 0, 1, 1, 0], &described(&metadata, memory)))
    }

    fn forget(&self, node: u64, lookups: u64) {
        let forgotten = self.nodes.forget(node, lookups);
        if forgotten.is_some_and(|file| file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)) {
            self.pages().forget(node);
        }
    }

    fn attributes(&self, node: u64, memory: ServerMemory) -> Answer {
        let metadata = self.nodes.below(node)?.metadata().map_err(|error| errno(&error))?;
        Ok(longs(&[1, 0], &described(&metadata, memory)))
    }

    /// Changes the length and the rights of a file.
    fn change(&self, request: &Request) -> Result<(), Errno> {
        // FATTR_MODE and FATTR_SIZE.
        const MODE: u32 = 1;
        const SIZE: u32 = 8;
        let (file, asked) = (self.nodes.below(request.node())?, request.word(0));
        if asked & SIZE != 0 {
            let (mut pages, length) = (self.pages(), request.long(16));
            pages.cut(request.node(), length);
            file.set_len(length).map_err(|error| errno(&error))?;
        }
        if asked & MODE != 0 {
            let mode = Permissions::from_mode(request.word(68));
            file.set_permissions(mode).map_err(|error| errno(&error))?;
        }
        Ok(())
    }

    fn read(&self, request: &Request, memory: ServerMemory) -> Answer {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let (file, range) = (self.nodes.below(request.node())?, request.range());
        if memory == ServerMemory::Nothing {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            let length = file.read_at(&mut bytes, range.start).map_err(|error| errno(&error))?;
            bytes.truncate(length);
            return Ok(bytes);
        }
        let mut pages = self.pages();
        let length = file.metadata().map_err(|error| errno(&error))?.len();
        pages.read(request.node(), range.start..range.end.min(length), |at, page| load(&file, at, page))
    }

    fn write(&self, request: &Request, memory: ServerMemory) -> Answer {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let (file, range, bytes) = (self.nodes.below(request.node())?, request.range(), request.data());
        let mut pages = (memory != ServerMemory::Nothing).then(|| self.pages());
        if memory != ServerMemory::Writes {
            file.write_all_at(bytes, range.start).map_err(|error| errno(&error))?;
        }
        if let Some(pages) = &mut pages {
            pages.write(request.node(), range.start, bytes, |at, page| load(&file, at, page))?;
        }
        // The lock on the pages is still held: no other write changes the length meanwhile.
        if memory == ServerMemory::Writes && file.metadata().is_ok_and(|metadata| metadata.len() < range.end) {
            file.set_len(range.end).map_err(|error| errno(&error))?;
        }
        Ok(words(&[bytes.len() as u32, 0]))
    }

    fn sync(&self, node: u64, fsync: Fsync) -> Answer {
        self.fsyncs.fetch_add(1, Ordering::Relaxed);
        let file = self.nodes.below(node)?;
        fsync.apply(|| file.sync_all())
    }

    /// Lists entries of a folder from a position on, which is that of the folder below.
    fn list(&self, request: &Request) -> Answer {
        let folder = self.nodes.below(request.node())?;
        // A description of its own: its position is not shared with other requests.
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&*folder, c".", how, Mode::empty())?;
        let (from, most) = (request.long(8), request.word(16) as usize);
        rustix::fs::seek(&folder, SeekFrom::Start(from))?;
        let mut buffer = Vec::with_capacity(most.max(1024));
        let mut entries = RawDir::new(&folder, buffer.spare_capacity_mut());
        let mut list = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let kind = entry.file_type().as_raw_mode() >> 12;
            let described = described_entry(entry.ino(), entry.next_entry_cookie(), kind, entry.file_name());
            if list.len() + described.len() > most {
                break;
            }
            list.extend(described);
        }
        Ok(list)
    }

    /// Returns the space of the file system below.
    fn space(&self, node: u64) -> Answer {
        let space = rustix::fs::fstatvfs(&*self.nodes.below(node)?)?;
        let counts = [space.f_blocks, space.f_bfree, space.f_bavail, space.f_files, space.f_ffree];
        let [block, name, fragment] = [space.f_bsize, space.f_namemax, space.f_frsize].map(|size| size as u32);
        Ok(longs(&counts, &words(&[block, name, fragment, 0, 0, 0, 0, 0, 0, 0])))
    }

    /// Uses this much processor time.
    fn burn(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        let used = || {
            let used = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
            Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
        };
        // 3
        let _processor = locked(&self.processor);
        let end = used() + time;
        while used() < end {
            std::hint::spin_loop();
        }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        locked(&self.pages)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a page of the file below. A part behind the end of the file stays zero.
fn load(file: &File, at: u64, page: &mut [u8]) -> Result<(), Errno> {
    file.read_at(page, at).map(|_| ()).map_err(|error| errno(&error))
}

/// The answer to a request that returns no data.
fn done(result: rustix::io::Result<()>) -> Answer {
    result.map(|()| Vec::new())
}

/// The answer to OPEN: no handle, the flags for the page cache, and an unused word.
fn opened(cache: KernelCache) -> Vec<u8> {
    let flags = match cache {
        KernelCache::PerOpen => 0,
        KernelCache::Bypassed => 1,
        KernelCache::Kept => 2,
    };
    longs(&[0], &words(&[flags, 0]))
}

/// The attributes of a file. A server that keeps the written data in its memory reports no hole where they should be.
fn described(metadata: &Metadata, memory: ServerMemory) -> Vec<u8> {
    let blocks = match memory {
        ServerMemory::Writes => metadata.blocks().max(metadata.size().div_ceil(512)),
        ServerMemory::Nothing | ServerMemory::Copies => metadata.blocks(),
    };
    let times = [metadata.atime(), metadata.mtime(), metadata.ctime()].map(|seconds| seconds as u64);
    let parts = [metadata.atime_nsec(), metadata.mtime_nsec(), metadata.ctime_nsec()].map(|part| part as u32);
    let others = [metadata.mode(), metadata.nlink() as u32, metadata.uid(), metadata.gid(), 0, 4096, 0];
    let numbers = [&[metadata.ino(), metadata.size(), blocks], &times[..]].concat();
    longs(&numbers, &words(&[&parts[..], &others].concat()))
}

/// An entry of a folder: inode number, position of the next entry, length of the name, type, and the name, filled up to
/// a multiple of eight bytes.
fn described_entry(number: u64, next: u64, kind: u32, name: &CStr) -> Vec<u8> {
    let name = name.to_bytes();
    let mut entry = longs(&[number, next], &words(&[name.len() as u32, kind]));
    entry.extend(name);
    entry.resize(entry.len().next_multiple_of(8), 0);
    entry
}
