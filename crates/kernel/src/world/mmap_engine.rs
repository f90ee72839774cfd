//! Reads and writes as copies from and to a mapping of the file. The kernel is involved only if a page is not in
//! memory, or has not been written to yet.
//!
//! If the kernel cannot provide a page, no call fails. Instead it sends a signal (SIGBUS), which ends a program. So
//! this engine handles the signal. If the page belongs to one of our mappings, an anonymous page takes its place, and
//! the op that touched it fails.

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::io::Errno;
use units::Host;
use workload::{Handle, Op, PositionedIo, Reason, Recorder};

use crate::errno::reason;
use crate::world::process::{Process, whole};
use crate::world::sync_engine::{LoopControl, OpSink, SyncEngine, repeat};

/// Page size of the kernel, stored before the handler is installed.
static PAGE: AtomicUsize = AtomicUsize::new(0);

/// Maximum number of mappings, one for each program. By default, Linux allows a process 65,530 mappings
/// (vm.max_map_count). A program needs at least three: a stack, its guard page, and the file. Pages of the table that
/// are not used take no memory.
const MOST: usize = 1 << 15;

/// A mapping whose faults are handled. All entries are in a static array, which a signal handler can read without a
/// lock.
struct Watched {
    /// Start address. Zero if the entry is free, one while it is being taken.
    begin: AtomicUsize,
    bytes: AtomicUsize,
    /// True if the kernel could not provide a page of the mapping.
    has_failed: AtomicBool,
}

static WATCHED: [Watched; MOST] =
    [const { Watched { begin: AtomicUsize::new(0), bytes: AtomicUsize::new(0), has_failed: AtomicBool::new(false) } };
        MOST];

/// Executes reads and writes at places by copies, and other ops by system calls.
pub(crate) struct MmapEngine<'a> {
    process: &'a mut Process,
    /// The mapping of the file that was used last.
    mapping: Option<Mapping>,
}

/// A mapping of a whole file, unmapped on drop.
struct Mapping {
    handle: Handle,
    base: *mut u8,
    bytes: usize,
    /// True if the file was also opened for writing.
    is_writable: bool,
    watched: &'static Watched,
}

impl<'a> MmapEngine<'a> {
    pub(crate) fn new(process: &'a mut Process) -> MmapEngine<'a> {
        MmapEngine { process, mapping: None }
    }

    /// The mapping of the place's file, and the number of the place's bytes that are inside it.
    #[inline]
    fn mapping(&mut self, io: &PositionedIo) -> Result<(&Mapping, usize), Reason> {
        if self.mapping.as_ref().is_none_or(|mapping| mapping.handle != io.handle) {
            self.mapping = None;
            self.mapping = Some(Mapping::map_file(self.process, io.handle)?);
        }
        let mapping = self.mapping.as_ref().ok_or(Reason::BadHandle)?;
        let left = (mapping.bytes as u64).saturating_sub(io.offset);
        Ok((mapping, left.min(u64::from(io.length)) as usize))
    }

    fn copy(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        if io.write { self.write_at(io) } else { self.read_at(io) }
    }
}

impl SyncEngine for MmapEngine<'_> {
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, sink: &mut OpSink<R>) -> LoopControl {
        let io = match op {
            Op::ReadAt { handle, length, offset } => Some(PositionedIo { handle, length, offset, write: false }),
            Op::WriteAt { handle, length, offset } => Some(PositionedIo { handle, length, offset, write: true }),
            // The handle will refer to another file.
            Op::Open { .. } | Op::Create { .. } | Op::Close { .. } => {
                self.mapping = None;
                None
            }
            _ => None,
        };
        match io {
            Some(io) => repeat(times, &op, Ok(|| self.copy(io)), sink),
            None => repeat(times, &op, Ok(|| self.process.execute(&op)), sink),
        }
    }

    #[inline(always)]
    fn read_at(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        let (mapping, bytes) = self.mapping(&io)?;
        let (base, watched) = (mapping.base, mapping.watched);
        let room = self.process.room(io.length);
        // SAFETY: the mapping has this many bytes after the place, and so does the buffer. If another program writes
        // to the file meanwhile, the copied data change, as with a system call.
        unsafe { ptr::copy_nonoverlapping(base.add(io.offset as usize), room.as_mut_ptr(), bytes) };
        black_box(room);
        watched.outcome(bytes, io.length)
    }

    #[inline(always)]
    fn write_at(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        let (mapping, bytes) = self.mapping(&io)?;
        let (base, watched) = (mapping.base, mapping.watched);
        if !mapping.is_writable {
            return Err(reason(Errno::BADF));
        }
        self.process.with_data(io, |data| {
            // SAFETY: as above; the mapping is writable, and the data are not part of it.
            unsafe { ptr::copy_nonoverlapping(data.as_ptr(), base.add(io.offset as usize), bytes) };
        })?;
        watched.outcome(bytes, io.length)
    }
}

impl Watched {
    /// Returns the number of copied bytes, or an error if the kernel could not provide a page.
    #[inline]
    fn outcome(&self, bytes: usize, wanted: u32) -> Result<u32, Reason> {
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(reason(Errno::IO));
        }
        whole(bytes, wanted)
    }
}

impl Mapping {
    /// Maps the open file for reading and writing, or only for reading if it was opened that way.
    #[cold]
    fn map_file(process: &Process, handle: Handle) -> Result<Mapping, Reason> {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install_handler);
        let (descriptor, _) = process.descriptor(handle)?;
        let bytes = process.bytes(handle)? as usize;
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let map = |access| {
            // SAFETY: a new mapping at an address that the kernel chooses.
            unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, descriptor, 0) }
        };
        let mut base = map(both);
        let is_writable = base != libc::MAP_FAILED;
        if !is_writable && last_error() == Errno::ACCESS {
            base = map(libc::PROT_READ);
        }
        if base == libc::MAP_FAILED {
            return Err(reason(last_error()));
        }
        match watch(base as usize, bytes) {
            Some(watched) => Ok(Mapping { handle, base: base.cast(), bytes, is_writable, watched }),
            None => {
                // SAFETY: the mapping made above, to which no other reference exists.
                unsafe { libc::munmap(base, bytes) };
                Err(reason(Errno::NOMEM))
            }
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.watched.begin.store(0, Ordering::Release);
        // SAFETY: the mapping that `of` made; no pointer into it outlives this.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Registers a mapping for the handling of its faults. Returns `None` if the table is full.
fn watch(begin: usize, bytes: usize) -> Option<&'static Watched> {
    let taken = |watched: &&Watched| watched.begin.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
    let watched = WATCHED.iter().find(taken)?;
    watched.has_failed.store(false, Ordering::Relaxed);
    watched.bytes.store(bytes, Ordering::Relaxed);
    watched.begin.store(begin, Ordering::Release);
    Some(watched)
}

/// Installs the SIGBUS handler.
fn install_handler() {
    PAGE.store(rustix::param::page_size(), Ordering::Release);
    // SAFETY: all zeros is a valid value of this type.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_flags = libc::SA_SIGINFO;
    action.sa_sigaction = handle_fault as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
    // SAFETY: `handle_fault` is async-signal-safe: it reads and stores atomics, and maps a page.
    unsafe { libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) };
}

extern "C" fn handle_fault(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: with SA_SIGINFO, the kernel passes a valid pointer.
    let address = unsafe { (*info).si_addr() } as usize;
    let holds = |watched: &&Watched| {
        let begin = watched.begin.load(Ordering::Acquire);
        begin > 1 && (begin..begin + watched.bytes.load(Ordering::Relaxed)).contains(&address)
    };
    if let Some(watched) = WATCHED.iter().find(holds) {
        let (size, access) = (PAGE.load(Ordering::Acquire), libc::PROT_READ | libc::PROT_WRITE);
        let page = address & !(size - 1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page is part of one of our mappings, which contain only the data that ops copy.
        let replaced = unsafe { libc::mmap(page as *mut c_void, size, access, flags, -1, 0) };
        if replaced != libc::MAP_FAILED {
            watched.has_failed.store(true, Ordering::Relaxed);
            return;
        }
    }
    // The fault is not in our mappings: it occurs again after the return, and ends the program as it would have.
    // SAFETY: restores the default action.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_several_targets_have_an_entry_each() {
        // The most jobs on each of three targets.
        let entries: Vec<Option<&Watched>> = (0..3 * 512).map(|_| watch(2, 0)).collect();
        let watched = entries.iter().flatten().count();
        entries.iter().flatten().for_each(|entry| entry.begin.store(0, Ordering::Release));
        assert_eq!(watched, entries.len());
    }
}
