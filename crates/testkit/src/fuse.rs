//! A file system with one file, served by the test itself (FUSE), which imitates a bad disk: fsync calls that return
//! too early, late or with errors, a range that cannot be read or written, slow requests. Everything else goes to an
//! ordinary file below it, or into a write cache that can lose power. With a loop device on it, it is a private disk of
//! the test.
//!
//! Implements the part of the kernel's protocol (linux/fuse.h, version 7.31) that one file needs.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use units::Prng;

use crate::write_cache::{SECTOR, Settled, WriteCache};

/// The effect of an fsync call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// The file below is synced.
    #[default]
    Honest,
    /// The call succeeds without effect.
    Early,
    /// The call succeeds after this time, without effect.
    Sleep(Duration),
    /// The call fails with EIO.
    Fail,
}

/// The effect of a bad range on a read or write that touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// The request fails with this error.
    Fails(Errno),
    /// Only the first half of the request is done.
    Short,
    /// A write succeeds, but nothing is written.
    Lost,
}

/// The way in which reads and writes wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queue {
    /// Requests do not wait; up to four are served at once.
    #[default]
    None,
    /// Requests are served one after the other, as on a disk with one arm: a queue with a single server.
    OneArm,
    /// Requests are served one after the other, and the disk reads ahead: after a request the arm already serves the
    /// expected next one. A short pause between requests then costs nothing, as with a track buffer.
    ReadsAhead,
}

/// The faults of the disk.
#[derive(Clone, Debug, Default)]
pub struct Knobs {
    /// The effect of an fsync call.
    pub fsync: Fsync,
    /// The disk fails after this many fsync calls, as if its cable were pulled: every request returns EIO.
    pub pulled_after: Option<u64>,
    /// A bad range of bytes, and its effect.
    pub bad: Option<(Range<u64>, Bad)>,
    /// The service time of each read and each write.
    pub service: Duration,
    /// A random source that varies each service time from a half to one and a half times `service`.
    pub varying: Option<Prng>,
    /// The way in which requests wait for each other.
    pub queue: Queue,
}

impl Knobs {
    /// Draws the service time of the next read or write.
    pub fn next_service(&mut self) -> Duration {
        let share = self.varying.as_mut().map_or(1.0, |chance| 0.5 + chance.below(1001) as f64 / 1000.0);
        self.service.mul_f64(share)
    }
}

/// The mounted file system. Dropping it unmounts it. A loop device on its file must be detached before.
#[derive(Debug)]
pub struct OneFile {
    mount_point: PathBuf,
    disk: Arc<Disk>,
}

/// The file below, and the faults that imitate a bad disk.
#[derive(Debug)]
struct Disk {
    below: File,
    knobs: Mutex<Knobs>,
    /// The write cache, if there is one.
    cache: Mutex<Option<WriteCache>>,
    /// The time at which the last queued request is done, if requests are served one at a time. The next one begins
    /// then, even if a serving thread woke late, so that the timing of the queue stays exact.
    arm: Mutex<Instant>,
    fsyncs: AtomicU64,
}

/// Added to the size of a disk on such a file, so that no disk of another test has the same size. The guard cannot tell
/// what is below a loop device on FUSE, so it refuses all devices of that size.
pub const APART: u64 = 37 * 4096;

/// The name of the file.
const NAME: &str = "disk";

/// The most bytes of a request: the kernel's default of 32 pages.
const LARGEST: u32 = 128 * 1024;

/// Requests that are served at once: a sleeping fsync must not delay reads and writes.
const SERVERS: usize = 4;

impl OneFile {
    /// Mounts the file system on the folder, in the mount namespace of the calling thread. The file `below` must
    /// already have its size. Needs root.
    pub fn mount(mount_point: &Path, below: File, knobs: Knobs) -> io::Result<OneFile> {
        let connection = OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={LARGEST}\0",
            connection.as_raw_fd()
        );
        let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).expect("one zero, at the end");
        rustix::mount::mount("diskperf-test", mount_point, "fuse", MountFlags::NOSUID | MountFlags::NODEV, options)?;
        let disk = Arc::new(Disk {
            below,
            knobs: Mutex::new(knobs),
            cache: Mutex::new(None),
            arm: Mutex::new(Instant::now()),
            fsyncs: AtomicU64::new(0),
        });
        let connection = Arc::new(connection);
        for _ in 0..SERVERS {
            let (connection, disk) = (Arc::clone(&connection), Arc::clone(&disk));
            thread::spawn(move || serve(&connection, &disk));
        }
        Ok(OneFile { mount_point: mount_point.to_owned(), disk })
    }

    /// Returns the path of the file.
    pub fn file(&self) -> PathBuf {
        self.mount_point.join(NAME)
    }

    /// Changes the faults of the disk while it is in use.
    pub fn turn(&self, knobs: Knobs) {
        *self.disk.knobs() = knobs;
    }

    /// Adds a write cache, or replaces it.
    pub fn put(&self, cache: WriteCache) {
        *self.disk.cache() = Some(cache);
    }

    /// Cuts the power of the write cache, unless it was cut before.
    pub fn cut(&self) -> io::Result<()> {
        let mut cache = self.disk.cache();
        let settled = cache.as_mut().map(WriteCache::cut).unwrap_or_default();
        self.disk.settle(&settled)
    }

    /// Returns whether the power was cut, and the number of flushes since the write cache was added.
    pub fn power(&self) -> (bool, u64) {
        self.disk.cache().as_ref().map_or((false, 0), |cache| (cache.is_cut(), cache.flushes()))
    }

    /// Returns the newest contents of the sectors that lost them when the power was cut.
    pub fn dropped(&self) -> Vec<Vec<u8>> {
        let cache = self.disk.cache();
        cache.iter().flat_map(WriteCache::dropped).map(|sector| sector.to_vec()).collect()
    }

    /// Returns the number of fsync calls so far.
    pub fn fsyncs(&self) -> u64 {
        self.disk.fsyncs.load(Ordering::Relaxed)
    }
}

impl Drop for OneFile {
    fn drop(&mut self) {
        // An error is ignored: the mount ends with the process in any case.
        let _ = rustix::mount::unmount(&self.mount_point, UnmountFlags::DETACH);
    }
}

/// Answers requests until the file system is unmounted.
fn serve(connection: &File, disk: &Disk) {
    // Wakes threads when a request is done. By default the kernel may wake them up to 50 us later (prctl(2),
    // PR_SET_TIMERSLACK).
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // Space for the header and the fields of a write, in addition to its bytes.
    let mut buffer = vec![0; LARGEST as usize + 4096];
    loop {
        let length = match (&mut &*connection).read(&mut buffer) {
            Ok(length) => length,
            // The request was interrupted before it was read.
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::NotFound) => continue,
            Err(_) => return,
        };
        let request = Request(&buffer[..length]);
        let Some(answer) = disk.answer(&request) else { continue };
        // The kernel refuses an answer to an interrupted request. That is fine.
        let _ = (&mut &*connection).write(&message(request.unique(), answer));
    }
}

/// Returns an answer with its header: length, error, and the ID of the request.
fn message(unique: u64, answer: Result<Vec<u8>, Errno>) -> Vec<u8> {
    let (error, body) = match answer {
        Ok(body) => (0, body),
        Err(errno) => (-errno.raw_os_error(), Vec::new()),
    };
    let mut message = Vec::with_capacity(16 + body.len());
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(error.to_ne_bytes());
    message.extend(unique.to_ne_bytes());
    message.extend(body);
    message
}

/// A request as the kernel sends it: a header of forty bytes, then its fields.
struct Request<'a>(&'a [u8]);

impl Request<'_> {
    const HEADER: usize = 40;

    fn word(&self, at: usize) -> u32 {
        self.0.get(at..at + 4).map_or(0, |bytes| u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
    }

    fn long(&self, at: usize) -> u64 {
        self.0.get(at..at + 8).map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn code(&self) -> u32 {
        self.word(4)
    }

    fn unique(&self) -> u64 {
        self.long(8)
    }

    fn node(&self) -> u64 {
        self.long(16)
    }

    fn body(&self) -> &[u8] {
        self.0.get(Request::HEADER..).unwrap_or_default()
    }

    /// Returns the range of bytes of a read or a write.
    fn range(&self) -> Range<u64> {
        let offset = self.long(Request::HEADER + 8);
        offset..offset + u64::from(self.word(Request::HEADER + 16))
    }
}

// The requests of linux/fuse.h that one file needs.
const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const SETATTR: u32 = 4;
const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FSYNC: u32 = 20;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const FSYNCDIR: u32 = 30;
const ACCESS: u32 = 34;
const INTERRUPT: u32 = 36;
const DESTROY: u32 = 38;
const BATCH_FORGET: u32 = 42;

/// The inode numbers of the root folder, which the protocol defines, and of the file.
const ROOT: u64 = 1;
const FILE: u64 = 2;

impl Disk {
    /// Returns the answer to a request; `None` if the kernel expects none.
    fn answer(&self, request: &Request) -> Option<Result<Vec<u8>, Errno>> {
        Some(match request.code() {
            FORGET | BATCH_FORGET | INTERRUPT => return None,
            INIT => Ok(agreement(request)),
            LOOKUP => self.look_up(request),
            // A new size is ignored: a disk has a fixed size.
            GETATTR | SETATTR => self.attributes(request.node()).map(|attributes| longs(&[1, 0], &attributes)),
            OPEN | OPENDIR => Ok(longs(&[0, 0], &[])),
            READ => self.read(request),
            WRITE => self.write(request),
            FSYNC => self.sync(),
            STATFS => Ok(longs(&[0, 0, 0, 1, 0], &words(&[4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0]))),
            FSYNCDIR | RELEASE | RELEASEDIR | FLUSH | READDIR | ACCESS | DESTROY => Ok(Vec::new()),
            _ => Err(Errno::NOSYS),
        })
    }

    fn look_up(&self, request: &Request) -> Result<Vec<u8>, Errno> {
        if request.node() != ROOT || request.body().strip_suffix(b"\0") != Some(NAME.as_bytes()) {
            return Err(Errno::NOENT);
        }
        // The inode number, its generation, and the seconds for which name and attributes stay valid.
        let attributes = self.attributes(FILE)?;
        Ok(longs(&[FILE, 0, 1, 1, 0], &attributes))
    }

    fn attributes(&self, node: u64) -> Result<Vec<u8>, Errno> {
        let (mode, bytes) = match node {
            ROOT => (0o040_755, 0),
            _ => (0o100_600, self.below.metadata().map_err(|error| errno(&error))?.len()),
        };
        // Inode number, size, blocks, three unused times; their nanoseconds, mode, links, owner, group, device, block
        // size, flags.
        Ok(longs(&[node, bytes, bytes / 512, 0, 0, 0], &words(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0])))
    }

    fn read(&self, request: &Request) -> Result<Vec<u8>, Errno> {
        let range = request.range();
        let length = match self.check(&range)? {
            Some(Bad::Short) => (range.end - range.start) / 2,
            _ => range.end - range.start,
        };
        let mut bytes = vec![0; length as usize];
        // The lock is held while the file is read: a flush may move sectors from the cache to the file.
        let cache = self.cache();
        let length = self.below.read_at(&mut bytes, range.start).map_err(|error| errno(&error))?;
        bytes.truncate(length);
        if let Some(cache) = &*cache {
            whole_sectors(&range)?;
            cache.overlay(range.start, &mut bytes);
        }
        Ok(bytes)
    }

    fn write(&self, request: &Request) -> Result<Vec<u8>, Errno> {
        let range = request.range();
        let bad = self.check(&range)?;
        // The data follow the fields of the request, which are as long as its header.
        let mut bytes = request.body().get(Request::HEADER..).unwrap_or_default();
        if bad == Some(Bad::Short) {
            bytes = &bytes[..bytes.len() / 2];
        }
        if bad == Some(Bad::Lost) {
            return Ok(words(&[bytes.len() as u32, 0]));
        }
        if let Some(cache) = &mut *self.cache() {
            whole_sectors(&range)?;
            let settled = cache.write(range.start, bytes);
            self.settle(&settled).map_err(|error| errno(&error))?;
        } else {
            self.below.write_all_at(bytes, range.start).map_err(|error| errno(&error))?;
        }
        Ok(words(&[bytes.len() as u32, 0]))
    }

    fn sync(&self) -> Result<Vec<u8>, Errno> {
        self.fsyncs.fetch_add(1, Ordering::Relaxed);
        self.is_there()?;
        let fsync = self.knobs().fsync;
        match fsync {
            Fsync::Honest => self.flush().map_err(|error| errno(&error))?,
            Fsync::Early => {}
            Fsync::Sleep(time) => thread::sleep(time),
            Fsync::Fail => return Err(Errno::IO),
        }
        Ok(Vec::new())
    }

    /// Writes the content of the write cache to the file below; without a write cache, syncs that file.
    fn flush(&self) -> io::Result<()> {
        let mut cache = self.cache();
        let Some(cache) = &mut *cache else { return self.below.sync_all() };
        let settled = cache.flush();
        self.settle(&settled)
    }

    /// Writes sectors to the file below.
    fn settle(&self, Settled(sectors): &Settled) -> io::Result<()> {
        sectors.iter().try_for_each(|(number, bytes)| self.below.write_all_at(bytes, number * SECTOR as u64))
    }

    fn knobs(&self) -> MutexGuard<'_, Knobs> {
        self.knobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> MutexGuard<'_, Option<WriteCache>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if the cable is pulled.
    fn is_there(&self) -> Result<(), Errno> {
        let fsyncs = self.fsyncs.load(Ordering::Relaxed);
        if self.knobs().pulled_after.is_some_and(|most| fsyncs > most) { Err(Errno::IO) } else { Ok(()) }
    }

    /// Queues a request for the arm, which cannot begin before `earliest`. Returns the time at which the request is
    /// done.
    fn join(&self, earliest: Instant, service: Duration) -> Instant {
        let mut free = self.arm.lock().unwrap_or_else(PoisonError::into_inner);
        *free = earliest.max(*free) + service;
        *free
    }

    /// Waits for the service time of a request, and fails if the range is bad. Returns the effect of another bad range.
    fn check(&self, range: &Range<u64>) -> Result<Option<Bad>, Errno> {
        let (bad, service, queue) = {
            let mut knobs = self.knobs();
            (knobs.bad.clone(), knobs.next_service(), knobs.queue)
        };
        if !service.is_zero() {
            let now = Instant::now();
            let done = match queue {
                Queue::None => now + service,
                Queue::OneArm => self.join(now, service),
                Queue::ReadsAhead => self.join(now - service, service),
            };
            thread::sleep(done.saturating_duration_since(Instant::now()));
        }
        self.is_there()?;
        match bad.filter(|(place, _)| range.start < place.end && place.start < range.end) {
            Some((_, Bad::Fails(errno))) => Err(errno),
            Some((_, bad)) => Ok(Some(bad)),
            None => Ok(None),
        }
    }
}

/// The write cache handles whole sectors only: a loop device without page cache sends no others.
fn whole_sectors(range: &Range<u64>) -> Result<(), Errno> {
    let is_whole = |offset: u64| offset.is_multiple_of(SECTOR as u64);
    if is_whole(range.start) && is_whole(range.end) { Ok(()) } else { Err(Errno::INVAL) }
}

/// The answer to INIT: version, read-ahead, features, then the most bytes of a request. The kernel takes the rest of
/// the 64 bytes as zero.
fn agreement(request: &Request) -> Vec<u8> {
    // FUSE_ASYNC_READ, FUSE_BIG_WRITES and FUSE_ASYNC_DIO: requests overlap, also those that bypass the page cache, and
    // writes may be larger than a page.
    const FEATURES: u32 = 1 | 1 << 5 | 1 << 15;
    let read_ahead = request.word(Request::HEADER + 8);
    let mut body = words(&[7, 31, read_ahead, FEATURES & request.word(Request::HEADER + 12), 0, LARGEST, 1]);
    body.resize(64, 0);
    body
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn longs(longs: &[u64], rest: &[u8]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).chain(rest.iter().copied()).collect()
}

fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
