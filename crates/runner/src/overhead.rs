//! The cost of measuring itself: our own share of a figure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kernel::{Posix, now};
use stats::{Calibration, OwnCost};
use units::{Host, Nanos};
use workload::{Handle, Issue, Op, OpKind, Phase, Recorder, Steps, Tally, Unit};

use crate::execution::{self, PhaseResult, ProgramResult};
use crate::recorder::Timed;

/// The number of operations that are timed to find the cost of timing: they take about a millisecond.
const OPERATIONS: u32 = 10_000;

/// The duration of a trial, in which a phase runs with the null engine, and the number of trials. The least disturbed
/// trial counts.
const TRIAL: Duration = Duration::from_millis(1);
const TRIALS: usize = 3;

/// The cost of one measurement, and our own share of the time and of the CPU time of phases that ran on real targets.
/// `clock_floor` is the clock floor; `timed` is true if single operations were timed.
pub fn calibration<'a>(
    clock_floor: Nanos,
    timed: bool,
    phases: impl Iterator<Item = (&'a Phase, Vec<&'a PhaseResult>)>,
) -> Calibration {
    let per_op_ns = timed.then(per_op_ns);
    let mut all = Sums::default();
    let mut known = Sums::default();
    for (phase, runs) in phases {
        let mut sums = Sums::default();
        runs.into_iter().flat_map(|run| &run.parts).for_each(|part| sums.add(part));
        all.join(&sums);
        let own = if sums.operations > 0 { own_ns(phase, timed) } else { None };
        if let Some(own) = own {
            known.join(&Sums { own: own * sums.operations as f64, ..sums });
        }
    }
    let share = |per_op: f64| 100.0 * per_op * all.operations as f64 / all.elapsed.0 as f64;
    let own =
        OwnCost { ns_per_op: known.own / known.operations as f64, cpu_percent: 100.0 * known.own / known.cpu.0 as f64 };
    Calibration {
        clock_ns: clock_floor.0,
        per_op_ns,
        tool_percent: per_op_ns.filter(|_| all.elapsed > Nanos::ZERO).map(share),
        own: (known.operations > 0 && known.cpu > Nanos::ZERO).then_some(own),
    }
}

/// Sums over some phases: operations, elapsed time, CPU time of their programs, and nanoseconds of it in our own code.
#[derive(Default)]
struct Sums {
    operations: u64,
    elapsed: Nanos,
    cpu: Nanos,
    own: f64,
}

impl Sums {
    fn add(&mut self, part: &ProgramResult) {
        self.operations += part.tally.ops.iter().sum::<u64>();
        self.elapsed += part.durable.unwrap_or(part.returned);
        self.cpu += part.cpu.total;
    }

    fn join(&mut self, other: &Sums) {
        self.operations += other.operations;
        self.elapsed += other.elapsed;
        self.cpu += other.cpu;
        self.own += other.own;
    }
}

/// The CPU time of our own code for one operation of a phase, in nanoseconds. The phase runs exactly as it is measured,
/// but without the calls. `None` for io_uring, because the kernel does part of that work, and for a schedule or pauses,
/// which wait.
pub fn own_ns(phase: &Phase, timed: bool) -> Option<f64> {
    if phase.steps.is_paced() || phase.steps.pauses() || matches!(phase.steps.issue(), Issue::Async(_)) {
        return None;
    }
    let steps = phase.steps.clone().issued(Issue::Null);
    let trials = (0..TRIALS).filter_map(|_| {
        let stop = Arc::new(AtomicBool::new(false));
        let mut world = Posix::on_given(Vec::new(), 0, Arc::clone(&stop)).ok()?;
        let (cpu, operations) = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(TRIAL);
                stop.store(true, Ordering::Relaxed);
            });
            execution::cpu_of(&mut world, &steps, phase, timed).ok()
        })?;
        (operations > 0).then(|| cpu.0 as f64 / operations as f64)
    });
    trials.min_by(f64::total_cmp)
}

/// The cost in nanoseconds of timing an operation that takes no time: two readings of the clock, and the histogram. The
/// cost of counting is subtracted, because counting is always necessary.
fn per_op_ns() -> f64 {
    let timed = record_calls(Timed::new(Unit::from_kind(OpKind::Read)));
    let counted = record_calls(Tally::default());
    timed.saturating_sub(counted).0 as f64 / f64::from(OPERATIONS)
}

fn record_calls<R: Recorder<Host>>(mut recorder: R) -> Nanos {
    let op = Op::Read { handle: Handle::new(0), length: 4096 };
    let began = now();
    for _ in 0..OPERATIONS {
        let moment = || if R::TIMED { now() } else { began };
        let issued = moment();
        recorder.record(&op, issued, moment(), Ok(std::hint::black_box(4096)));
    }
    std::hint::black_box(&recorder);
    now().since(began)
}

#[cfg(test)]
mod tests {
    use workload::Overlap;
    use workload::programs::classic1983::Classic;

    use super::*;

    #[test]
    fn our_overhead_grows_with_timing_and_is_unknown_for_rings() {
        let mut phase = Classic::Read8192.program(1 << 30).phases.remove(0);
        // On a busy machine, one attempt may be disturbed.
        let least = |timed| (0..10).filter_map(|_| own_ns(&phase, timed)).fold(f64::INFINITY, f64::min);
        let (counted, timed) = (least(false), least(true));
        assert!(0.0 < counted && counted < timed && timed < 100_000.0, "{counted} {timed}");
        let overlap = Overlap { depth: 2, largest: 8192, writes: false, polled: false };
        phase.steps = phase.steps.issued(Issue::Async(overlap));
        assert_eq!(own_ns(&phase, true), None);
        phase.steps = phase.steps.issued(Issue::Sync).thinking(Nanos::from_millis(1), 1, 1);
        assert_eq!(own_ns(&phase, true), None);
    }

    #[test]
    fn timing_an_operation_costs_less_than_100_us() {
        // On a busy machine, one attempt may be disturbed.
        let least = (0..10).map(|_| per_op_ns()).fold(f64::INFINITY, f64::min);
        assert!((0.0..100_000.0).contains(&least), "{least}");
    }
}
