//! The time overhead of the runner's path: runs the same program through the runner and as a bare loop of the same
//! system calls, alternating in one process.
//!
//! ```text
//!   cargo bench --bench loops -- tmpfs      8 MiB in calls of 4 and 8 KiB
//!   cargo bench --bench loops -- smallfb    10,000 files of 1 KiB in one directory
//! ```
//!
//! Prints one line of JSON for each phase: the medians of both sides, and the median of the ratio runner / bare over
//! all pairs. On tmpfs, where calls are cheapest and the difference is largest. Without an argument, as under `cargo
//! test`, it runs at smoke size and checks only that both sides do the same work.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use kernel::{Posix, Station, Workspace};
use runner::execution::{ClaimedClock, MeasureOptions, PhaseResult, perform};
use rustix::fs::{AtFlags, Mode, OFlags};
use units::Nanos;
use workload::programs::classic1983::{BYTES_1983, Classic};
use workload::programs::lfs::{SmallFiles, SmallSync};
use workload::{Layout, Program, Tally, TreeCounts, World};

/// Pairs in a real measurement: an odd number, so that the median is one of them.
const PAIRS: usize = 41;

/// Runs of each side per pair: an even number, so that each side goes first equally often.
const BEST_OF: usize = 4;

/// Sizes of a smoke run: large enough to check that both sides do the same work.
const SMOKE: Sizes = Sizes { pairs: 2, file: 64 * 1024, files: 20 };

/// Sizes of a real measurement: those of the paper and of the lab.
const REAL: Sizes = Sizes { pairs: PAIRS, file: BYTES_1983, files: 10_000 };

/// Bytes in a small file.
const SMALL: u32 = 1024;

/// The options with which `classic1983` measures.
const HOW: MeasureOptions = MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None };

struct Sizes {
    pairs: usize,
    file: u64,
    files: u32,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = words.iter().any(|word| word == "--bench");
    let named = |name: &str| is_bench && words.iter().any(|word| word == name);
    match (named("tmpfs"), named("smallfb")) {
        (false, false) => {
            let folder = std::env::temp_dir();
            tmpfs(&folder, &SMOKE);
            smallfb(&folder, &SMOKE);
        }
        (tmpfs_too, smallfb_too) => {
            let memory = Path::new("/dev/shm");
            if tmpfs_too {
                tmpfs(memory, &REAL);
            }
            if smallfb_too {
                smallfb(memory, &REAL);
            }
        }
    }
}

/// One phase, run once on one side.
#[derive(Debug)]
struct Side {
    elapsed: Nanos,
    moved: u64,
    left: TreeCounts,
}

fn tmpfs(parent: &Path, sizes: &Sizes) {
    for classic in Classic::ALL {
        let program = classic.program(sizes.file);
        let calls = sizes.file / u64::from(classic.call_bytes());
        compare(parent, "tmpfs", &program, sizes.pairs, |folder, _| bare_classic(classic, calls, folder));
    }
}

fn smallfb(parent: &Path, sizes: &Sizes) {
    let small =
        SmallFiles { layout: Layout::One, sync: SmallSync::None, ..SmallFiles::new(sizes.files, SMALL) }.program();
    // Names are created in advance, which favours the bare loop.
    let names: Vec<CString> =
        (0..sizes.files).map(|number| CString::new(format!("f{number}")).expect("a name")).collect();
    compare(parent, "smallfb", &small, sizes.pairs, |folder, phase| bare_smallfb(&names, phase, folder));
}

/// Runs both sides alternately, with changing order, and prints the results. The best of several runs counts on each
/// side of a pair, because other programs only ever add time.
fn compare(
    parent: &Path,
    bench: &str,
    program: &Program,
    pairs: usize,
    bare: impl Fn(&OwnedFd, usize) -> (Nanos, u64),
) {
    let mut mine = Arm::new(parent, program);
    let mut theirs = Arm::new(parent, program);
    let mut measured: Vec<Vec<(Nanos, Nanos)>> = vec![Vec::new(); program.phases.len()];
    for _ in 0..pairs {
        let mut best = vec![(Nanos(u64::MAX), Nanos(u64::MAX)); program.phases.len()];
        for run in 0..BEST_OF {
            let (with_runner, without) = if run % 2 == 0 {
                let with_runner = mine.with_runner(program);
                (with_runner, theirs.without(program, &bare))
            } else {
                let without = theirs.without(program, &bare);
                (mine.with_runner(program), without)
            };
            assert_eq!((with_runner.len(), without.len()), (best.len(), best.len()), "phases");
            for (best, (mine, theirs)) in best.iter_mut().zip(with_runner.iter().zip(&without)) {
                assert_eq!((mine.moved, mine.left), (theirs.moved, theirs.left), "{}", program.name);
                *best = (best.0.min(mine.elapsed), best.1.min(theirs.elapsed));
            }
        }
        for (measured, best) in measured.iter_mut().zip(best) {
            measured.push(best);
        }
    }
    for (phase, pairs) in program.phases.iter().zip(measured) {
        print(bench, program.name, phase.name, &pairs);
    }
}

/// A world and its folder. Both sides have one, so that they differ only in the loop: preparation, observation and
/// removal of files are the same.
struct Arm {
    world: Posix,
    folder: OwnedFd,
}

impl Arm {
    fn new(parent: &Path, program: &Program) -> Arm {
        let workspace = Workspace::inside(parent).expect("a private folder");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = rustix::fs::open(workspace.path(), flags, Mode::empty()).expect("the folder");
        let station = Station { workspace: Some(workspace), given: Vec::new() };
        let mut world = Posix::new(vec![station], program.largest_call, 1, Arc::default()).expect("a world");
        // Both sides alternate within milliseconds, so that interference affects both.
        world.wait_for_calm(Nanos::ZERO);
        Arm { world, folder }
    }

    fn with_runner(&mut self, program: &Program) -> Vec<Side> {
        let result = perform(&mut self.world, program, HOW).expect("a world that works");
        assert!(result.stopped.is_none(), "{:?}", result.stopped);
        let side = |phase: &PhaseResult| Side {
            elapsed: phase.returned(),
            moved: phase.tally().bytes_read + phase.tally().bytes_written,
            left: phase.tree_counts(),
        };
        result.phases.iter().map(side).collect()
    }

    fn without(&mut self, program: &Program, bare: impl Fn(&OwnedFd, usize) -> (Nanos, u64)) -> Vec<Side> {
        let world = &mut self.world;
        world.clear().expect("an empty folder");
        let mut tally = Tally::default();
        world.run(&mut [program.prepare.clone()], std::slice::from_mut(&mut tally)).expect("a prepared folder");
        assert_eq!(tally.failure, None);
        let sides = (0..program.phases.len()).map(|phase| {
            world.set_cache_state(program.phases[phase].cache).expect("files");
            world.quiesce().expect("counters");
            world.watch().expect("counters");
            let (elapsed, moved) = bare(&self.folder, phase);
            world.counters().expect("counters");
            Side { elapsed, moved, left: world.tree_counts(0).expect("a folder") }
        });
        let sides = sides.collect();
        world.clear().expect("an empty folder");
        sides
    }
}

fn print(bench: &str, program: &str, phase: &str, pairs: &[(Nanos, Nanos)]) {
    let median = |of: &dyn Fn(&(Nanos, Nanos)) -> f64| {
        let values: Vec<f64> = pairs.iter().map(of).collect();
        stats::figures::summary::median(&values).expect("a pair")
    };
    let line = serde_json::json!({
        "bench": bench,
        "program": program,
        "phase": phase,
        "pairs": pairs.len(),
        "runner_s": median(&|(mine, _)| mine.as_secs_f64()),
        "bare_s": median(&|(_, theirs)| theirs.as_secs_f64()),
        "ratio": median(&|(mine, theirs)| mine.as_secs_f64() / theirs.as_secs_f64()),
    });
    println!("{line}");
}

/// Size of the data that the bare loop writes. The runner writes from a ring of incompressible data of this size,
/// because a compressing file system would shrink a buffer that is written repeatedly. The bare loop uses the same
/// size: smaller data would stay in a faster CPU cache, which is not a property of the loop.
const DATA: usize = 1 << 20;

/// The runner's buffer is page-aligned, as direct I/O needs it. So is the bare loop's, because alignment affects how
/// fast the kernel copies.
const PAGE: usize = 4096;

fn on_page(memory: &[u8]) -> usize {
    memory.as_ptr().align_offset(PAGE)
}

const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::TRUNC);

fn open(folder: &OwnedFd, name: &CStr, flags: OFlags) -> OwnedFd {
    rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666)).expect("a file")
}

/// Runs a program of 1983. Returns its time and the bytes moved.
fn bare_classic(classic: Classic, calls: u64, folder: &OwnedFd) -> (Nanos, u64) {
    let length = classic.call_bytes() as usize;
    let mut memory = vec![1; length + PAGE];
    let start = on_page(&memory);
    let buffer = &mut memory[start..start + length];
    let data = vec![1; DATA + PAGE];
    let mut chunks = data[on_page(&data)..][..DATA].chunks_exact(length).cycle();
    let flags = match classic {
        Classic::Read8192 => OFlags::RDONLY,
        Classic::Rewrite8192 => OFlags::RDWR,
        Classic::Write4096 | Classic::Write8192 => NEW,
    };
    let mut moved = 0;
    let began = kernel::now();
    let file = open(folder, c"f0", flags);
    for _ in 0..calls {
        let done = match classic {
            Classic::Read8192 => rustix::io::read(&file, &mut *buffer),
            _ => rustix::io::write(&file, chunks.next().expect("it goes round and round")),
        };
        moved += done.expect("a call that works") as u64;
    }
    (kernel::now().since(began), moved)
}

/// Runs a phase of `smallfb` (create, read or delete) relative to a directory descriptor.
fn bare_smallfb(names: &[CString], phase: usize, folder: &OwnedFd) -> (Nanos, u64) {
    let mut buffer = vec![1; SMALL as usize];
    let mut moved = 0;
    let began = kernel::now();
    for name in names {
        moved += match phase {
            0 => rustix::io::write(open(folder, name, NEW), &buffer).expect("a write"),
            1 => rustix::io::read(open(folder, name, OFlags::RDONLY), &mut buffer).expect("a read"),
            _ => rustix::fs::unlinkat(folder, name, AtFlags::empty()).map(|()| 0).expect("a file"),
        } as u64;
    }
    (kernel::now().since(began), moved)
}
