//! A file system with one file, served by the test itself (FUSE), which imitates a bad disk: fsync calls that return
//! too early, late or with errors, a range that cannot be read or written, slow requests. Everything else goes to an
//! ordinary file below it, or into a write cache that can lose power. With a loop device on it, it is a private disk of
//! the test. A token bucket can limit its rate.

pub(crate) mod protocol;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use units::Prng;

use self::protocol::{
    Answer, BATCH_FORGET, FORGET, FSYNC, FSYNCDIR, GETATTR, LOOKUP, Mount, OPEN, READ, READDIR, ROOT, Request, SETATTR,
    STATFS, Server, WRITE, errno, longs, words,
};
use crate::token_bucket::Throttle;
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

impl Fsync {
    /// Takes effect. An honest call runs the given function, which syncs the files below.
    pub(crate) fn apply(self, sync: impl FnOnce() -> io::Result<()>) -> Answer {
        match self {
            Fsync::Honest => sync().map_err(|error| errno(&error))?,
            Fsync::Early => {}
            Fsync::Sleep(time) => thread::sleep(time),
            Fsync::Fail => return Err(Errno::IO),
        }
        Ok(Vec::new())
    }
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
    /// A limit on the bytes and on the number of reads and writes per second, in addition to the service time.
    pub throttle: Option<Throttle>,
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
    mount: Mount,
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
    /// The start of the clock of the throttle.
    began: Instant,
}

/// Added to the size of a disk on such a file, so that no disk of another test has the same size. The guard cannot tell
/// what is below a loop device on FUSE, so it refuses all devices of that size.
pub const APART: u64 = 37 * 4096;

/// The name of the file.
const NAME: &str = "disk";

/// The inode number of the file.
const FILE: u64 = 2;

impl OneFile {
    /// Mounts the file system on the folder, in the mount namespace of the calling thread. The file `below` must
    /// already have its size. Needs root.
    pub fn mount(mount_point: &Path, below: File, knobs: Knobs) -> io::Result<OneFile> {
        let disk = Arc::new(Disk {
            below,
            knobs: Mutex::new(knobs),
            cache: Mutex::new(None),
            arm: Mutex::new(Instant::now()),
            fsyncs: AtomicU64::new(0),
            began: Instant::now(),
        });
        let mount = Mount::new(mount_point, OsStr::new("diskperf-test"), "fuse", Arc::clone(&disk))?;
        Ok(OneFile { mount, disk })
    }

    /// Returns the path of the file.
    pub fn file(&self) -> PathBuf {
        self.mount.path().join(NAME)
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

    /// Ends the connection to the kernel, as if the server was killed. The file system stays mounted.
    pub fn abort(&self) -> io::Result<()> {
        self.mount.abort()
    }

    /// Returns the number of fsync calls so far.
    pub fn fsyncs(&self) -> u64 {
        self.disk.fsyncs.load(Ordering::Relaxed)
    }
}

impl Server for Disk {
    fn answer(&self, request: &Request) -> Option<Answer> {
        Some(match request.code() {
            FORGET | BATCH_FORGET => return None,
            LOOKUP => self.look_up(request),
            // A new size is ignored: a disk has a fixed size.
            GETATTR | SETATTR => self.attributes(request.node()).map(|attributes| longs(&[1, 0], &attributes)),
            OPEN => Ok(longs(&[0, 0], &[])),
            READ => self.read(request),
            WRITE => self.write(request),
            FSYNC => self.sync(),
            STATFS => Ok(longs(&[0, 0, 0, 1, 0], &words(&[4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0]))),
            FSYNCDIR | READDIR => Ok(Vec::new()),
            _ => Err(Errno::NOSYS),
        })
    }
}

impl Disk {
    fn look_up(&self, request: &Request) -> Answer {
        if request.node() != ROOT || request.name(0)?.to_bytes() != NAME.as_bytes() {
            return Err(Errno::NOENT);
        }
        // The inode number, its generation, and the seconds for which name and attributes stay valid.
        let attributes = self.attributes(FILE)?;
        Ok(longs(&[FILE, 0, 1, 1, 0], &attributes))
    }

    fn attributes(&self, node: u64) -> Answer {
        let (mode, bytes) = match node {
            ROOT => (0o040_755, 0),
            _ => (0o100_600, self.below.metadata().map_err(|error| errno(&error))?.len()),
        };
        // Inode number, size, blocks, three unused times; their nanoseconds, mode, links, owner, group, device, block
        // size, flags.
        Ok(longs(&[node, bytes, bytes / 512, 0, 0, 0], &words(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0])))
    }

    fn read(&self, request: &Request) -> Answer {
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

    fn write(&self, request: &Request) -> Answer {
        let range = request.range();
        let bad = self.check(&range)?;
        let mut bytes = request.data();
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

    fn sync(&self) -> Answer {
        self.fsyncs.fetch_add(1, Ordering::Relaxed);
        self.is_there()?;
        let fsync = self.knobs().fsync;
        fsync.apply(|| self.flush())
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

    /// Waits for the service time of a request and for the throttle, and fails if the range is bad. Returns the effect
    /// of another bad range.
    fn check(&self, range: &Range<u64>) -> Result<Option<Bad>, Errno> {
        let (bad, service, queue, throttled) = {
            let mut knobs = self.knobs();
            // The clock is read under the lock, so that the throttle never sees it go back.
            let (now, bytes) = (self.began.elapsed(), range.end - range.start);
            let throttled = knobs.throttle.as_mut().map_or(Duration::ZERO, |throttle| now + throttle.delay(now, bytes));
            (knobs.bad.clone(), knobs.next_service(), knobs.queue, self.began + throttled)
        };
        let now = Instant::now();
        let done = match queue {
            _ if service.is_zero() => now,
            Queue::None => now + service,
            Queue::OneArm => self.join(now, service),
            Queue::ReadsAhead => self.join(now - service, service),
        };
        thread::sleep(done.max(throttled).saturating_duration_since(Instant::now()));
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
