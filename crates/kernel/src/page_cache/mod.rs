//! Sets the state of the page cache before a phase: evicts files or loads them, and proves the result.
//!
//! ```text
//!   set_cache_state ──> probed: the files, and a probe for each place   (probe.rs: tested before it is trusted)
//!     ├── cold ──> next_step ──> advise, remount, drop caches     (evict.rs: choosing a step is apart from doing it)
//!     ├── warm ──> read every file, and open it again, as the programs will
//!     ├── dropped ──> advise once, and prove nothing
//!     └── proof: the residency after the last step
//!   quiesce: wait until no write-back is due, and the devices are idle        (quiesce.rs)
//! ```
//!
//! Every file is checked, however many there are. The cost is opening it for the advice: 10,000 small files take
//! about 0.1 s on ext4. Probing adds a few hundred nanoseconds.

mod evict;
pub(crate) mod extents;
mod probe;
mod quiesce;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use workload::{Cache, CacheState, Residency, Unproven};

use crate::errors::Fault;
use crate::world::program::Program;
pub use evict::EvictionMethods;
use evict::{EvictionState, Step, next_step};
pub use extents::never_written;
pub use probe::{CacheProbe, Probe};
use probe::{FilePages, read_through, remove_from_memory};
pub(crate) use quiesce::{Patience, quiesce};

/// Writing a number to this file drops the caches of the machine (Documentation/admin-guide/sysctl/vm.rst).
pub(crate) const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Drops pages (1), and directories and inodes (2).
const DROP_ALL: &str = "3";

/// Pause before the advice is repeated. A program that only touched a page briefly has released it by then.
const BEFORE_AGAIN: Duration = Duration::from_millis(10);

/// Brings the programs' files into the wanted state as far as possible, and returns the proven state.
pub(crate) fn set_cache_state(
    programs: &mut [Program],
    wanted: Cache,
    methods: EvictionMethods,
    stop: &dyn Fn() -> bool,
) -> Result<CacheState, Fault> {
    if wanted == Cache::AsIs {
        return Ok(CacheState::Unknown(Unproven::NotAsked));
    }
    let (probed, left_alone) = probed(programs, wanted, methods)?;
    let sum = match wanted {
        Cache::Warm => sweep(&probed, FileAction::Warm, stop),
        Cache::Dropped => {
            write_out(programs, methods.given);
            sweep(&probed, FileAction::Advise, stop)
        }
        _ => evict(programs, &probed, methods, stop)?,
    };
    Ok(if left_alone { CacheState::Unknown(Unproven::NotOurs) } else { sum.proof(wanted) })
}

/// Pages of the programs' own files that are not yet on the device. Returns `None` if that is not visible.
pub(crate) fn unwritten(programs: &mut [Program]) -> Result<Option<Residency>, Fault> {
    let mut sum = Residency::default();
    for program in programs {
        let Some(workspace) = &program.workspace else { continue };
        let sees = match program.sees_unwritten {
            Some(sees) => sees,
            None => *program.sees_unwritten.insert(workspace.scratch().is_ok_and(probe::sees_unwritten)),
        };
        if !sees {
            return Ok(None);
        }
        for path in program.working_files()? {
            match open(&path).and_then(|file| Probe::Cachestat.count(&file)) {
                Ok(FilePages { of, unwritten: Some(pages), .. }) => sum.add(Residency { pages, of }),
                Ok(_) | Err(_) => return Ok(None),
            }
        }
    }
    Ok(Some(sum))
}

/// Returns an error if the eviction methods cannot be used here.
pub(crate) fn check(methods: EvictionMethods) -> Result<(), Fault> {
    if methods.drop_caches {
        OpenOptions::new().write(true).open(DROP_CACHES).map_err(Fault::DropCaches)?;
    }
    Ok(())
}

/// Files that are probed in the same way.
struct ProbedFiles {
    files: Vec<PathBuf>,
    probe: CacheProbe,
}

/// Returns the files to evict or load, and whether some were left out because they are not ours.
fn probed(
    programs: &mut [Program],
    wanted: Cache,
    methods: EvictionMethods,
) -> Result<(Vec<ProbedFiles>, bool), Fault> {
    let mut probed = Vec::new();
    let mut left_alone = false;
    for program in programs {
        if let Some(workspace) = &program.workspace {
            let probe = match program.probe {
                Some(probe) => probe,
                None => {
                    *program.probe.insert(workspace.scratch().map_or(CacheProbe::Blind, CacheProbe::tested_on_scratch))
                }
            };
            probed.push(ProbedFiles { files: program.working_files()?, probe });
        }
        for path in &program.given {
            if wanted != Cache::Warm && !methods.given {
                left_alone = true;
            } else {
                let probe = open(path).map_or(CacheProbe::Blind, |file| CacheProbe::tested_on_given(&file));
                probed.push(ProbedFiles { files: vec![path.clone()], probe });
            }
        }
    }
    Ok((probed, left_alone))
}

/// Evicts the files from memory, step by step.
fn evict(
    programs: &mut [Program],
    probed: &[ProbedFiles],
    methods: EvictionMethods,
    stop: &dyn Fn() -> bool,
) -> Result<Sum, Fault> {
    let may_remount = programs.iter().any(|program| program.remount.is_some());
    let mut state = EvictionState { may_remount, may_drop: methods.drop_caches, ..EvictionState::default() };
    // Nothing has been probed before the first sweep.
    let mut sum = Sum { is_blind: true, ..Sum::default() };
    let mut seen = None;
    while !stop() {
        let look_again = seen != Some(0);
        match next_step(&state, seen.map(|pages| Residency { pages, ..sum.residency })) {
            Step::Advise => {
                if state.advised > 0 {
                    thread::sleep(BEFORE_AGAIN);
                }
                state.advised += 1;
                write_out(programs, methods.given);
                sum = sweep(probed, FileAction::Advise, stop);
            }
            Step::Remount => {
                state.remounted = true;
                programs.iter_mut().try_for_each(Program::remount)?;
                if look_again {
                    sum = sweep(probed, FileAction::Look, stop);
                }
            }
            Step::DropCaches => {
                state.dropped = true;
                rustix::fs::sync();
                fs::write(DROP_CACHES, DROP_ALL).map_err(Fault::DropCaches)?;
                if look_again {
                    sum = sweep(probed, FileAction::Look, stop);
                }
            }
            Step::Settle => break,
        }
        seen = (!sum.is_blind).then_some(sum.residency.pages);
    }
    Ok(sum)
}

/// Writes back the programs' data, because the kernel does not evict dirty pages. Also writes back the user's files if
/// they are to be evicted. Errors are ignored here, because they show when the files are probed.
fn write_out(programs: &[Program], given: bool) {
    for program in programs {
        if let Some(folder) = program.workspace.as_ref().and_then(|workspace| workspace.open().ok()) {
            let _ = rustix::fs::syncfs(folder);
        }
        for file in program.given.iter().filter(|_| given).filter_map(|path| open(path).ok()) {
            let _ = file.sync_data();
        }
    }
}

/// The action on each file before it is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileAction {
    Look,
    Advise,
    Warm,
}

/// The probe results of all files together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    residency: Residency,
    /// Some files exist only in memory.
    is_memory: bool,
    /// Some files could not be opened or probed.
    is_denied: bool,
    /// Some files are in a place where no probe is reliable.
    is_blind: bool,
}

impl Sum {
    /// The cache state that these results prove.
    fn proof(&self, wanted: Cache) -> CacheState {
        let Residency { pages, of } = self.residency;
        let unproven = match wanted {
            Cache::AsIs | Cache::Dropped => Unproven::NotAsked,
            _ if self.is_blind => Unproven::Blind,
            _ if self.is_denied => Unproven::Denied,
            Cache::Cold if self.is_memory => Unproven::NeverEvicts,
            // Empty files are neither cold nor warm.
            _ if of == 0 => Unproven::NoFiles,
            Cache::Cold if pages == 0 => return CacheState::Cold,
            Cache::Warm if pages == of => return CacheState::Warm,
            Cache::Cold | Cache::Warm => Unproven::Partly(self.residency),
        };
        CacheState::Unknown(unproven)
    }

    fn add(&mut self, probe: CacheProbe, seen: io::Result<FilePages>) {
        match (probe, seen) {
            (CacheProbe::Blind, _) => self.is_blind = true,
            (_, Err(_)) => self.is_denied = true,
            (probe, Ok(pages)) => {
                self.is_memory |= probe == CacheProbe::MemoryOnly;
                self.residency.add(Residency { pages: pages.resident, of: pages.of });
            }
        }
    }
}

/// Does `action` to every file once, and probes it. If stopped, the result is blind.
fn sweep(probed: &[ProbedFiles], action: FileAction, stop: &dyn Fn() -> bool) -> Sum {
    let mut sum = Sum::default();
    for group in probed {
        for path in &group.files {
            if stop() {
                return Sum { is_blind: true, ..sum };
            }
            sum.add(group.probe, visit(path, group.probe, action, stop));
        }
    }
    sum
}

fn visit(path: &Path, probe: CacheProbe, action: FileAction, stop: &dyn Fn() -> bool) -> io::Result<FilePages> {
    let mut file = open(path)?;
    match action {
        FileAction::Look => {}
        FileAction::Advise => remove_from_memory(&file)?,
        FileAction::Warm => {
            read_through(&file, u64::MAX, stop)?;
            // The programs open the file again. On FUSE, that may drop its pages (no FOPEN_KEEP_CACHE).
            file = open(path)?;
        }
    }
    match probe {
        CacheProbe::Through(probe) => probe.count(&file),
        CacheProbe::MemoryOnly => Probe::all_of(&file),
        CacheProbe::Blind => Ok(FilePages::default()),
    }
}

/// Opens a file for reading without updating its access time, which would be one more write. Only its owner may use
/// `O_NOATIME`; others open it normally.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let traceless = OpenOptions::new().read(true).custom_flags(libc::O_NOATIME).open(path);
    traceless.or_else(|_| File::open(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THROUGH: CacheProbe = CacheProbe::Through(Probe::Cachestat);

    fn sum(seen: &[(CacheProbe, u64, u64)]) -> Sum {
        let mut sum = Sum::default();
        for &(probe, resident, of) in seen {
            sum.add(probe, Ok(FilePages { of, resident, unwritten: Some(0) }));
        }
        sum
    }

    #[test]
    fn only_observed_cache_states_are_proven() {
        let unknown = |unproven| CacheState::Unknown(unproven);
        let partly = unknown(Unproven::Partly(Residency { pages: 1, of: 8 }));
        for (seen, wanted, state) in [
            (sum(&[(THROUGH, 0, 4), (THROUGH, 0, 4)]), Cache::Cold, CacheState::Cold),
            (sum(&[(THROUGH, 0, 4), (THROUGH, 1, 4)]), Cache::Cold, partly),
            (sum(&[(THROUGH, 4, 4), (THROUGH, 4, 4)]), Cache::Warm, CacheState::Warm),
            (sum(&[(THROUGH, 0, 4), (THROUGH, 1, 4)]), Cache::Warm, partly),
            (sum(&[(THROUGH, 0, 4), (CacheProbe::Blind, 0, 0)]), Cache::Cold, unknown(Unproven::Blind)),
            (sum(&[(CacheProbe::MemoryOnly, 4, 4)]), Cache::Cold, unknown(Unproven::NeverEvicts)),
            (sum(&[(CacheProbe::MemoryOnly, 4, 4)]), Cache::Warm, CacheState::Warm),
            (sum(&[(THROUGH, 0, 0)]), Cache::Cold, unknown(Unproven::NoFiles)),
            (sum(&[]), Cache::Warm, unknown(Unproven::NoFiles)),
        ] {
            assert_eq!(seen.proof(wanted), state, "{seen:?}");
        }
    }

    #[test]
    fn a_file_without_permission_proves_no_cache_state() {
        let mut sum = sum(&[(THROUGH, 0, 4)]);
        sum.add(THROUGH, Err(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(sum.proof(Cache::Cold), CacheState::Unknown(Unproven::Denied));
    }
}
