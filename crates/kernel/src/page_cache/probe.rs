//! Probes: the part of an open file that is in memory, and how much of that is not yet on the device.
//!
//! A probe is trusted only after a test on a file of known state. A file that was just read must appear fully resident.
//! After its eviction, no page may appear resident. Three failures are known: cachestat sees no pages of a fully warm
//! file on overlayfs. mincore reports every page as resident to users without the right to look. tmpfs evicts nothing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use crate::observe::mount::through;

/// System call number of cachestat(2), the same on all architectures that diskperf is built for. Since Linux 6.5.
const CACHESTAT: libc::c_long = 451;

/// Bytes per mincore call: 64 Ki pages, with one byte of result each.
const MINCORE_BYTES: u64 = 256 << 20;

/// File systems on which only mincore works: both read the data through another file's cache.
const MINCORE_ONLY: [u64; 2] = [OVERLAYFS, FUSE];

/// File systems that are only page cache: tmpfs and ramfs.
const MEMORY_ONLY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

// Magic numbers from statfs(2).
const OVERLAYFS: u64 = 0x794c_7630;
const FUSE: u64 = 0x6573_5546;

/// Bytes of a file that are used to test a probe.
const TEST_BYTES: u64 = 256 * 1024;

/// A system call that shows the resident pages of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// cachestat(2); also reports unwritten pages.
    Cachestat,
    /// mincore(2) on a mapping of the file.
    Mincore,
}

/// The reliable way to probe files at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheProbe {
    /// This probe passed the test here.
    Through(Probe),
    /// No probe is needed: files here are always fully resident.
    MemoryOnly,
    /// No probe passed the test.
    Blind,
}

/// Page counts of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePages {
    /// All pages.
    pub(crate) of: u64,
    /// Pages in memory.
    pub(crate) resident: u64,
    /// Pages in memory that are not yet on the device. `None` if the probe does not report it.
    pub(crate) unwritten: Option<u64>,
}

impl Probe {
    /// Probes an open file.
    pub(crate) fn count(self, file: &File) -> io::Result<FilePages> {
        self.count_first(u64::MAX, file)
    }

    /// The page counts of a file that is always fully resident.
    pub(crate) fn all_of(file: &File) -> io::Result<FilePages> {
        let of = length(file)?.div_ceil(page_size());
        Ok(FilePages { of, resident: of, unwritten: None })
    }

    fn count_first(self, limit: u64, file: &File) -> io::Result<FilePages> {
        let bytes = length(file)?.min(limit);
        let of = bytes.div_ceil(page_size());
        if of == 0 {
            return Ok(FilePages { of, resident: 0, unwritten: Some(0) });
        }
        match self {
            Probe::Cachestat => {
                let seen = cachestat(file, of * page_size())?;
                Ok(FilePages { of, resident: seen.cached, unwritten: Some(seen.dirty + seen.under_writeback) })
            }
            Probe::Mincore => {
                if !may_ask_mincore(file)? {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                Ok(FilePages { of, resident: mincore(file, bytes)?, unwritten: None })
            }
        }
    }

    /// Tests this probe on the beginning of a file that is not empty and may be evicted. Returns whether it reported
    /// the truth.
    fn is_true_of(self, file: &File) -> io::Result<bool> {
        file.sync_all()?;
        read_through(file, TEST_BYTES, &|| false)?;
        let warm = self.count_first(TEST_BYTES, file)?;
        if warm.of == 0 || warm.resident < warm.of {
            return Ok(false);
        }
        // Twice: at the first advice, the kernel may still hold pages for a moment.
        for _ in 0..2 {
            remove_from_memory(file)?;
            if self.count_first(TEST_BYTES, file)?.resident == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl CacheProbe {
    /// Tests the probes on an empty file that no other program uses.
    pub(crate) fn tested_on_scratch(file: File) -> CacheProbe {
        match fill(&file) {
            Ok(()) => CacheProbe::tested_on(&file),
            Err(_) => CacheProbe::Blind,
        }
    }

    /// Tests the probes on a file that other programs may hold in memory. cachestat has never been seen to count too
    /// many pages. So if it saw the file warm, pages that remain after eviction are held by another program.
    pub(crate) fn tested_on_given(file: &File) -> CacheProbe {
        let is_warm = |probe: Probe| probe.count_first(TEST_BYTES, file).is_ok_and(|seen| seen.resident == seen.of);
        match CacheProbe::tested_on(file) {
            CacheProbe::Blind if read_through(file, TEST_BYTES, &|| false).is_ok() && is_warm(Probe::Cachestat) => {
                CacheProbe::Through(Probe::Cachestat)
            }
            probe => probe,
        }
    }

    /// Tests the probes on a file: reads its beginning, and evicts all of it.
    pub(crate) fn tested_on(file: &File) -> CacheProbe {
        let Ok(system) = rustix::fs::fstatfs(file) else { return CacheProbe::Blind };
        let system = system.f_type as u64;
        if MEMORY_ONLY.contains(&system) {
            return CacheProbe::MemoryOnly;
        }
        let probes: &[Probe] =
            if MINCORE_ONLY.contains(&system) { &[Probe::Mincore] } else { &[Probe::Cachestat, Probe::Mincore] };
        let mut probes = probes.iter().copied();
        // A probe that fails because the call or the rights are missing is not used.
        probes.find(|probe| probe.is_true_of(file).unwrap_or(false)).map_or(CacheProbe::Blind, CacheProbe::Through)
    }
}

/// Tests whether cachestat reports unwritten pages here. Pages just written to an empty file that no other program
/// uses must be reported as unwritten. This is separate from the residency test: if syncs do nothing, no page ever
/// leaves memory.
pub(crate) fn sees_unwritten(file: File) -> bool {
    let looked = fill(&file).and_then(|()| Probe::Cachestat.count(&file));
    looked.is_ok_and(|pages| pages.unwritten == Some(pages.of))
}

/// Fills an empty file. Not with zeros: some file systems store those as holes, whose pages need never be in memory.
/// The bytes are on the heap: a constant array of them would be 256 KiB of the program.
fn fill(mut file: &File) -> io::Result<()> {
    file.write_all(&vec![0x5a; TEST_BYTES as usize])
}

/// Evicts a file's clean pages, as far as possible. Pages that another program maps or locks stay.
pub(crate) fn remove_from_memory(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Reads a file from the beginning to its end, up to `limit` bytes, or until `stop` returns true.
pub(crate) fn read_through(mut file: &File, limit: u64, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let mut buffer = vec![0; length(file)?.min(limit).clamp(1, 1 << 20) as usize];
    file.seek(SeekFrom::Start(0))?;
    let mut file = file.take(limit);
    let mut broken_off = 0;
    while !stop() {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(_) => broken_off = 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && broken_off < PATIENCE => broken_off += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Consecutive retries of a read that a signal interrupted. Signals are never this frequent: only a FUSE server that
/// always answers `EINTR` reaches the limit.
const PATIENCE: u32 = 100;

/// The size of a file or a block device, in bytes.
fn length(mut file: &File) -> io::Result<u64> {
    file.seek(SeekFrom::End(0))
}

fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// `struct cachestat_range`.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat`.
#[derive(Default)]
#[repr(C)]
struct Seen {
    cached: u64,
    dirty: u64,
    under_writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Probes the first `length` bytes of a file with cachestat, in whole pages: a large folio may extend past the end of
/// the file.
fn cachestat(file: &File, length: u64) -> io::Result<Seen> {
    let range = Range { offset: 0, length };
    let mut seen = Seen::default();
    // SAFETY: both structures have the layout of cachestat(2), outlive the call, and the second is writable;
    // the descriptor is open.
    let returned = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut seen, 0_u32) };
    if returned == 0 { Ok(seen) } else { Err(io::Error::last_os_error()) }
}

/// Number of resident pages among a file's first `bytes` bytes.
fn mincore(file: &File, bytes: u64) -> io::Result<u64> {
    let mut pages = vec![0_u8; MINCORE_BYTES.min(bytes).div_ceil(page_size()) as usize];
    let mut resident = 0;
    let mut offset = 0;
    while offset < bytes {
        let length = MINCORE_BYTES.min(bytes - offset) as usize;
        // SAFETY: a new mapping at an address that the kernel chooses, never read, and unmapped at the end of this
        // block; `pages` has a byte for each of its pages.
        let looked = unsafe {
            let flags = (ProtFlags::READ, MapFlags::SHARED);
            let mapping = rustix::mm::mmap(std::ptr::null_mut(), length, flags.0, flags.1, file, offset)?;
            let looked = libc::mincore(mapping, length, pages.as_mut_ptr());
            let looked = if looked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
            rustix::mm::munmap(mapping, length)?;
            looked
        };
        looked?;
        let asked = length.div_ceil(page_size() as usize);
        resident += pages[..asked].iter().map(|page| u64::from(page & 1)).sum::<u64>();
        offset += length as u64;
    }
    Ok(resident)
}

/// True if mincore(2) is reliable for this user. It reports every page as resident if the user neither owns the file
/// nor may write to it.
fn may_ask_mincore(file: &File) -> io::Result<bool> {
    let user = rustix::process::geteuid();
    if user.is_root() || file.metadata()?.uid() == user.as_raw() {
        return Ok(true);
    }
    match rustix::fs::access(through(file), rustix::fs::Access::WRITE_OK) {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}
