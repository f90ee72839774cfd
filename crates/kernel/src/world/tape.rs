//! Plays tapes on a block device or a file, past the page cache.
//!
//! A tape of depth 1 makes plain system calls. A deeper one uses io_uring: each completion makes room for the next
//! request. The times are those of the monotonic clock.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use rustix::fs::OFlags;
use units::{Exit, Nanos};
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest};

use crate::errors::{Fault, hint_of, message};
use crate::observe::block_source::Storage;
use crate::provision::workspace::Workspace;
use crate::sys::clocks::now;
use crate::sys::name::Shown;
use crate::sys::payload::{Pages, fill};
use crate::sys::schedstat;
use crate::world::uring::ring;

/// Bytes of a write that fills a new file. Chosen: larger calls do not make it faster.
const FILLING_CALL: u64 = 1 << 20;

/// A pause sleeps until this long before its end, and then reads the clock until it is over: the kernel wakes a thread
/// up to 50 us late (timer slack, prctl(2)).
const SPIN: Nanos = Nanos::from_micros(200);

/// The longest sleep before the stop flag is checked again.
const NAP: Nanos = Nanos::from_millis(50);

/// The reason why a tape cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum TapeFault {
    /// A request failed.
    #[error("cannot {action} {path}: {}", message(source), path = .path.shown())]
    Request {
        /// The attempted action: a verb.
        action: &'static str,
        /// The device or file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The device returned fewer bytes than it was asked for.
    #[error("{} transferred fewer bytes than requested", .0.shown())]
    Short(PathBuf),
    /// The file system has no direct I/O.
    #[error("{} does not support O_DIRECT", .0.shown())]
    NotDirect(PathBuf),
    /// A signal asked to stop.
    #[error("interrupted")]
    Stopped,
    /// The world failed.
    #[error(transparent)]
    World(#[from] Fault),
}

impl TapeFault {
    /// The exit status of a command that met the fault.
    pub fn exit(&self) -> Exit {
        match self {
            TapeFault::Request { source, .. } if crate::errors::lacks_rights(source) => Exit::Refused,
            TapeFault::NotDirect(_) => Exit::Refused,
            TapeFault::Request { .. } | TapeFault::Short(_) => Exit::Failed,
            TapeFault::Stopped => Exit::Interrupted,
            TapeFault::World(fault) => fault.exit(),
        }
    }

    /// The hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            TapeFault::Request { source, .. } if crate::errors::lacks_rights(source) => {
                Some("run as a user who may read it".to_owned())
            }
            TapeFault::Request { source, .. } => hint_of(source).map(str::to_owned),
            TapeFault::NotDirect(_) => Some("name a device, or a directory on ext4, xfs or btrfs".to_owned()),
            TapeFault::World(fault) => fault.hint(),
            TapeFault::Short(_) | TapeFault::Stopped => None,
        }
    }
}

/// A device or file that performs tapes.
pub struct TapeFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    alignment: u32,
    stop: Arc<AtomicBool>,
    pages: Pages,
    /// Number of tapes with writes.
    written: u64,
    /// The start of the last tape that was played one request at a time, on the monotonic clock.
    began: Nanos,
    /// The folder of our own file, whose name was removed already.
    workspace: Option<Workspace>,
}

impl TapeFile {
    /// Opens a device or an existing file for reading only.
    pub fn to_read(path: &Path, storage: &Storage, stop: Arc<AtomicBool>) -> Result<TapeFile, TapeFault> {
        if !storage.direct {
            return Err(TapeFault::NotDirect(path.to_owned()));
        }
        let opened = OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(path);
        let file = opened.map_err(|source| TapeFault::Request { action: "open", path: path.to_owned(), source })?;
        let alignment = storage.block_bytes;
        let bytes = storage.bytes / u64::from(alignment) * u64::from(alignment);
        Ok(TapeFile {
            path: path.to_owned(),
            file,
            bytes,
            alignment,
            stop,
            pages: Pages::default(),
            written: 0,
            began: Nanos::ZERO,
            workspace: None,
        })
    }

    /// Creates a file of `bytes` bytes in a private folder of the directory, and writes all of it. Its name is removed
    /// before the first write, so the kernel removes the file even if this process is killed. `progress` gets the
    /// written bytes.
    pub fn create(
        directory: &Path,
        bytes: u64,
        stop: Arc<AtomicBool>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TapeFile, TapeFault> {
        let workspace = Workspace::inside(directory)?;
        let file = workspace.scratch()?;
        let path = directory.to_owned();
        let fault = |action, source| TapeFault::Request { action, path: path.clone(), source };
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|errno| fault("look at", errno.into()))?;
        rustix::fs::fcntl_setfl(&file, flags | OFlags::DIRECT).map_err(|_| TapeFault::NotDirect(path.clone()))?;
        let alignment = alignment(&file).ok_or_else(|| TapeFault::NotDirect(path.clone()))?;
        let bytes = bytes / FILLING_CALL * FILLING_CALL;
        let mut pages = Pages::zeroed(FILLING_CALL as usize)?;
        for offset in (0..bytes).step_by(FILLING_CALL as usize) {
            stop_if_told(&stop)?;
            // No two blocks are equal: a device that stores equal blocks once would look faster than it is.
            fill(pages.bytes_mut(), offset);
            file.write_all_at(pages.bytes(), offset).map_err(|source| fault("write to", source))?;
            progress(offset + FILLING_CALL);
        }
        file.sync_all().map_err(|source| fault("sync", source))?;
        Ok(TapeFile {
            path,
            file,
            bytes,
            alignment,
            stop,
            pages,
            written: 0,
            began: Nanos::ZERO,
            workspace: Some(workspace),
        })
    }

    /// True if the file is ours, so that tapes may write.
    pub fn may_write(&self) -> bool {
        self.workspace.is_some()
    }

    /// The start of the last tape of depth 1: the zero of its times, on the monotonic clock.
    pub fn began(&self) -> Nanos {
        self.began
    }

    /// Makes the memory as large as the tape needs. Returns the bytes of a slot.
    fn prepare(&mut self, tape: &Tape) -> Result<usize, TapeFault> {
        let largest = tape.requests.iter().map(|request| request.bytes).max().unwrap_or(0) as usize;
        let slot = largest.next_multiple_of(4096).max(4096);
        let needed = slot * tape.depth.max(1) as usize;
        if self.pages.bytes().len() < needed {
            self.pages = Pages::zeroed(needed)?;
        }
        if tape.requests.iter().any(|request| request.kind == TapeKind::Write) {
            self.written += 1;
            // Each tape writes data that differ from those of the file and of earlier tapes.
            fill(&mut self.pages.bytes_mut()[..needed], self.bytes + self.written);
        }
        Ok(slot)
    }

    fn play_in_turn(&mut self, tape: &Tape) -> Result<Vec<Served>, TapeFault> {
        let mut times = Vec::with_capacity(tape.requests.len());
        let began = now();
        self.began = began.since_zero();
        let since = || now().since(began);
        for request in &tape.requests {
            stop_if_told(&self.stop)?;
            self.wait_until(since, since() + request.pause)?;
            let issued = since();
            if issued > tape.limit {
                break;
            }
            let TapeRequest { kind, offset, bytes, .. } = *request;
            let memory = &mut self.pages.bytes_mut()[..bytes as usize];
            let done = match kind {
                TapeKind::Read => self.file.read_at(memory, offset),
                TapeKind::Write => self.file.write_at(memory, offset),
                TapeKind::Flush => self.file.sync_data().map(|()| 0),
            };
            times.push(Served { issued, completed: since() });
            self.check(kind, bytes, done)?;
        }
        Ok(times)
    }

    fn play_together(&mut self, tape: &Tape, slot: usize) -> Result<Vec<Served>, TapeFault> {
        let ring = ring(tape.depth).map_err(Fault::Ring)?;
        let mut play = Play { ring, in_flight: 0, times: Vec::with_capacity(tape.requests.len()) };
        let played = self.fill_queue(&mut play, tape, slot);
        // Wait until all requests are complete, because the kernel may write to the memory until then.
        while play.in_flight > 0 {
            if play.ring.submit_and_wait(1).is_err_and(|error| error.raw_os_error() != Some(libc::EINTR)) {
                std::mem::forget(std::mem::take(&mut self.pages));
                break;
            }
            play.in_flight -= play.ring.completion().count().min(play.in_flight);
        }
        played?;
        Ok(play.times)
    }

    fn fill_queue(&mut self, play: &mut Play, tape: &Tape, slot: usize) -> Result<(), TapeFault> {
        let began = now();
        let since = || now().since(began);
        let mut free: Vec<usize> = (0..tape.depth as usize).collect();
        let mut slots = vec![0; tape.depth as usize];
        let mut next = 0;
        let mut is_over = false;
        loop {
            while let (Some(request), Some(&place), false) = (tape.requests.get(next), free.last(), is_over) {
                if request.pause > Nanos::ZERO {
                    self.wait_until(since, since() + request.pause)?;
                }
                let issued = since();
                if issued > tape.limit {
                    is_over = true;
                    break;
                }
                free.pop();
                slots[place] = next;
                let memory = &mut self.pages.bytes_mut()[place * slot..][..request.bytes as usize];
                let entry = entry(&self.file, request, memory).user_data(place as u64);
                // SAFETY: the slot has no other request in flight, and the memory lives until all are complete: see
                // `play_together`. The file is open for as long as `self`.
                let pushed = unsafe { play.ring.submission().push(&entry) };
                pushed.expect("a ring has as many entries as slots");
                play.in_flight += 1;
                play.times.push(Served { issued, completed: issued });
                next += 1;
            }
            if play.in_flight == 0 {
                return Ok(());
            }
            stop_if_told(&self.stop)?;
            match play.ring.submit_and_wait(1) {
                Err(error) if error.raw_os_error() != Some(libc::EINTR) => return Err(Fault::Issue(error).into()),
                _ => {}
            }
            let completed = since();
            let mut failed = Ok(());
            for completion in play.ring.completion() {
                play.in_flight -= 1;
                let place = completion.user_data() as usize;
                let TapeRequest { kind, bytes, .. } = tape.requests[slots[place]];
                play.times[slots[place]].completed = completed;
                free.push(place);
                let done = match completion.result() {
                    error @ ..0 => Err(io::Error::from_raw_os_error(-error)),
                    done => Ok(done as usize),
                };
                failed = failed.and(self.check(kind, bytes, done));
            }
            failed?;
        }
    }

    fn check(&self, kind: TapeKind, bytes: u32, done: io::Result<usize>) -> Result<(), TapeFault> {
        let action = match kind {
            TapeKind::Read => "read",
            TapeKind::Write => "write to",
            TapeKind::Flush => "flush",
        };
        match done {
            Err(source) => Err(TapeFault::Request { action, path: self.path.clone(), source }),
            Ok(done) if kind != TapeKind::Flush && done != bytes as usize => Err(TapeFault::Short(self.path.clone())),
            Ok(_) => Ok(()),
        }
    }

    /// Waits until `clock` has reached `until`.
    fn wait_until(&self, clock: impl Fn() -> Nanos, until: Nanos) -> Result<(), TapeFault> {
        loop {
            let left = until.saturating_sub(clock());
            if left == Nanos::ZERO {
                return Ok(());
            }
            stop_if_told(&self.stop)?;
            if left > SPIN {
                thread::sleep(Duration::from_nanos((left - SPIN).min(NAP).0));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// A tape that is being played.
struct Play {
    ring: IoUring,
    in_flight: usize,
    times: Vec<Served>,
}

impl TapePlayer for TapeFile {
    type Fault = TapeFault;

    fn capacity(&self) -> u64 {
        self.bytes
    }

    fn alignment(&self) -> u32 {
        self.alignment
    }

    /// Panics if a tape writes to a device or file that is not ours.
    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, TapeFault> {
        let writes = tape.requests.iter().any(|request| request.kind != TapeKind::Read);
        assert!(!writes || self.may_write(), "a tape that writes to what is only read");
        let slot = self.prepare(tape)?;
        if tape.depth <= 1 { self.play_in_turn(tape) } else { self.play_together(tape, slot) }
    }

    fn rest(&mut self, time: Nanos) -> Result<(), TapeFault> {
        let began = now();
        self.wait_until(|| now().since(began), time)
    }
}

/// Time for which the calling thread was ready to run, but waited for a CPU. `None` if the kernel does not count it.
pub fn cpu_wait() -> Option<Nanos> {
    schedstat::read(Path::new("/proc/thread-self")).map(|times| times.waited)
}

fn entry(file: &File, request: &TapeRequest, memory: &mut [u8]) -> Entry {
    let file = types::Fd(file.as_raw_fd());
    let TapeRequest { kind, offset, bytes, .. } = *request;
    match kind {
        TapeKind::Read => opcode::Read::new(file, memory.as_mut_ptr(), bytes).offset(offset).build(),
        TapeKind::Write => opcode::Write::new(file, memory.as_ptr(), bytes).offset(offset).build(),
        TapeKind::Flush => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
    }
}

/// The alignment of direct I/O on an open file, in bytes. `None` if it has no direct I/O. A page if the kernel does not
/// report the alignment.
fn alignment(file: &File) -> Option<u32> {
    use rustix::fs::{AtFlags, StatxFlags};
    const UNSAID: u32 = 4096;
    let Ok(statx) = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) else {
        return Some(UNSAID);
    };
    if statx.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return Some(UNSAID);
    }
    Some(statx.stx_dio_offset_align).filter(|align| *align > 0)
}

fn stop_if_told(stop: &AtomicBool) -> Result<(), TapeFault> {
    if stop.load(Ordering::Relaxed) { Err(TapeFault::Stopped) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(kinds: &[TapeKind]) -> Vec<TapeRequest> {
        let request = |(index, kind): (usize, &TapeKind)| TapeRequest {
            kind: *kind,
            offset: index as u64 * 4096,
            bytes: if *kind == TapeKind::Flush { 0 } else { 4096 },
            pause: Nanos::ZERO,
        };
        kinds.iter().enumerate().map(request).collect()
    }

    #[test]
    fn tapes_are_played_in_order_and_leave_nothing() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a scratch folder");
        let stop = Arc::<AtomicBool>::default();
        let mut written = 0;
        let made = TapeFile::create(folder.path(), 2 << 20, Arc::clone(&stop), &mut |bytes| written = bytes);
        if matches!(made, Err(TapeFault::NotDirect(_))) {
            testkit::skip!("no direct I/O here");
        }
        let mut file = made.expect("room for a file");
        assert_eq!((written, file.capacity()), (2 << 20, 2 << 20));
        for depth in [1, 4] {
            if depth > 1 && crate::world::uring::no_ring().is_some() {
                testkit::skip!("no io_uring");
            }
            let kinds = [TapeKind::Write, TapeKind::Read, TapeKind::Write, TapeKind::Flush, TapeKind::Read];
            // A flush can take long if other programs write to the disk.
            let tape = Tape { requests: requests(&kinds), depth, limit: Nanos::from_secs(3600) };
            let times = file.play(&tape).expect("it reads and writes");
            assert_eq!(times.len(), kinds.len());
            // Equal times are possible if the clock is coarse.
            assert!(times.iter().all(|served| served.completed >= served.issued));
            assert!(times.iter().any(|served| served.completed > served.issued), "every request has equal times");
            assert!(times.windows(2).all(|pair| pair[0].issued <= pair[1].issued));
            let none = file.play(&Tape { requests: Vec::new(), ..tape }).expect("nothing to do");
            assert!(none.is_empty());
        }
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(file.rest(Nanos::from_secs(60)), Err(TapeFault::Stopped)));
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
