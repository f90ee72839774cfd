//! The CPU cost of timing every operation: 4 KiB reads at random places of a cached file, through the path of a run and
//! in bare loops, alternating in one process.
//!
//! ```text
//!   cargo bench --package overhead --bench timing_cost
//! ```
//!
//! Prints a line of JSON for each of two figures, as the median of pairs. The first is the path of a run over a bare
//! loop with the same clocks and histogram. The second is the overhead that diskperf reports for itself, next to the
//! measured overhead over a bare loop without clocks and histogram. Without `--bench`, as under `cargo test`, it runs
//! at smoke size.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use kernel::guard::Given;
use kernel::{Posix, now};
use runner::execution;
use runner::overhead::own_ns;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use stats::Latencies;
use stats::figures::summary::median;
use units::{Nanos, Prng};
use workload::programs::classic1983::Classic;
use workload::{Access, AccessPattern, Directory, Handle, Name, Op, OpKind, Phase, Stream, Unit};

/// Blocks of the file, and bytes per read. The file has one megabyte, which stays in a fast CPU cache, so that calls
/// are cheap.
const BLOCKS: u64 = 256;
const BLOCK: u32 = 4096;

/// Pairs in a real measurement (odd), and reads of each side per pair: a tenth of a second.
const REAL: (usize, u64) = (41, 100_000);
const SMOKE: (usize, u64) = (1, 1_000);

fn main() {
    let is_bench = std::env::args().any(|word| word == "--bench");
    let (pairs, reads) = if is_bench { REAL } else { SMOKE };
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let folder = folder.expect("a scratch folder");
    let measured = measure(&folder.path().join("file"), pairs, reads);
    let of = |each: &dyn Fn(&Sides) -> f64| median(&measured.iter().map(each).collect::<Vec<f64>>()).expect("a pair");
    println!(
        "{}",
        json!({
            "cpu": "cached reads of 4 KiB, each timed", "pairs": pairs,
            "run_ns": of(&|sides| sides.run), "bare_ns": of(&|sides| sides.timed),
            "ratio": of(&|sides| sides.run / sides.timed),
        })
    );
    println!(
        "{}",
        json!({
            "own": "cached reads of 4 KiB, each timed", "pairs": pairs,
            "said_ns": of(&|sides| sides.said), "above_bare_ns": of(&|sides| sides.run - sides.bare),
            "said_percent": of(&|sides| 100.0 * sides.said / sides.run),
            "above_bare_percent": of(&|sides| 100.0 * (sides.run - sides.bare) / sides.run),
        })
    );
}

/// Nanoseconds of CPU time per read.
struct Sides {
    /// The path of a run, and the part of it that diskperf reports as its own overhead.
    run: f64,
    said: f64,
    /// A bare loop with clocks and a histogram, and one without them.
    timed: f64,
    bare: f64,
}

fn measure(path: &Path, pairs: usize, reads: u64) -> Vec<Sides> {
    std::fs::write(path, vec![1; (BLOCKS * u64::from(BLOCK)) as usize]).expect("a file");
    let mut world = Posix::on_given(vec![Given::Read(path.to_owned())], BLOCK, Arc::default()).expect("a world");
    let phase = phase(reads);
    let file = OwnedFd::from(File::open(path).expect("the file"));
    let pair = |number: usize| {
        let mut run = || {
            let (cpu, operations) = execution::cpu_of(&mut world, &phase.steps, &phase, true).expect("a run");
            assert_eq!(operations, reads + 1, "the opening and every read");
            cpu.0 as f64 / reads as f64
        };
        let timed = || timed(&file, reads).0 as f64 / reads as f64;
        let bare = || bare(&file, reads).0 as f64 / reads as f64;
        // Each side goes first equally often.
        let (run, timed, bare) = match number % 3 {
            0 => {
                let (run, timed) = (run(), timed());
                (run, timed, bare())
            }
            1 => {
                let (timed, bare) = (timed(), bare());
                (run(), timed, bare)
            }
            _ => {
                let (bare, run) = (bare(), run());
                (run, timed(), bare)
            }
        };
        Sides { run, said: own_ns(&phase, true).expect("a cost"), timed, bare }
    };
    (0..pairs).map(pair).collect()
}

fn phase(reads: u64) -> Phase {
    let (name, handle) = (Name { directory: Directory::GIVEN, number: 0 }, Handle::new(0));
    let opening = Op::Open { name, handle, access: Access::Read, mode: Default::default() };
    let accesses = AccessPattern::uniform(BLOCK, false).accesses(handle, BLOCKS * u64::from(BLOCK), reads, 1);
    Phase {
        steps: Stream::open(vec![opening], accesses.into()),
        unit: Unit::from_kind(OpKind::ReadAt),
        ..Classic::Read8192.program(8192).phases.remove(0)
    }
}

/// The CPU time of the same reads in a loop with only clocks and a histogram.
fn timed(file: &OwnedFd, reads: u64) -> Nanos {
    let mut prng = Prng::new(1);
    let mut buffer = vec![0; BLOCK as usize];
    let mut latencies = Latencies::default();
    let before = thread_cpu();
    for _ in 0..reads {
        let offset = prng.below(BLOCKS) * u64::from(BLOCK);
        let began = now();
        let moved = rustix::io::pread(file, &mut buffer, offset);
        latencies.record(now().since(began));
        assert_eq!(moved, Ok(buffer.len()));
    }
    let took = thread_cpu() - before;
    assert_eq!(latencies.count(), reads);
    took
}

/// The CPU time of reads at precomputed places in a loop with nothing else.
fn bare(file: &OwnedFd, reads: u64) -> Nanos {
    let mut prng = Prng::new(1);
    let places: Vec<u64> = (0..1024).map(|_| prng.below(BLOCKS) * u64::from(BLOCK)).collect();
    let mut buffer = vec![0; BLOCK as usize];
    let before = thread_cpu();
    for &offset in places.iter().cycle().take(reads as usize) {
        assert_eq!(rustix::io::pread(file, &mut buffer, offset), Ok(buffer.len()));
    }
    thread_cpu() - before
}

fn thread_cpu() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
