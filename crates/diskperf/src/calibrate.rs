//! What measuring itself costs: so that a person sees how much of a figure is ours.

use kernel::now;
use stats::Calibration;
use units::{Host, Nanos};
use workload::{Handle, Op, OpKind, Recorder, Tally, Unit};

use crate::cells::History;
use crate::plan::Plan;
use crate::recorder::Timed;
use crate::target::Target;

/// Operations that are timed to find out what that costs: a millisecond or so.
const OPERATIONS: u32 = 10_000;

/// What one measurement costs, and what share of the time that was measured on real targets the timing of
/// single operations was. `nothing` is what the clock shows where nothing is done.
pub fn calibration(nothing: Nanos, plan: &Plan, targets: &[Target], histories: &[History]) -> Calibration {
    let per_op_ns = plan.how.timed.then(per_op_ns);
    let (mut operations, mut elapsed) = (0, Nanos::ZERO);
    for (alternative, history) in plan.alternatives.iter().zip(histories) {
        if alternative.targets.iter().any(|&index| targets[index].is_simulated()) {
            continue;
        }
        for part in history.kept().flat_map(|(_, run)| &run.phases).flat_map(|phase| &phase.parts) {
            operations += part.tally.ops.iter().sum::<u64>();
            elapsed += part.durable.unwrap_or(part.returned);
        }
    }
    let share = |per_op: f64| 100.0 * per_op * operations as f64 / elapsed.0 as f64;
    Calibration { clock_ns: nothing.0, per_op_ns, tool_percent: per_op_ns.filter(|_| elapsed > Nanos::ZERO).map(share) }
}

/// What it costs to time an operation that takes no time: two looks at the clock, and the histogram; less what
/// counting it costs, which nobody can do without.
fn per_op_ns() -> f64 {
    let timed = listened_to(Timed::new(Unit::of(OpKind::Read)));
    let counted = listened_to(Tally::default());
    timed.saturating_sub(counted).0 as f64 / f64::from(OPERATIONS)
}

fn listened_to<R: Recorder<Host>>(mut recorder: R) -> Nanos {
    let op = Op::Read { handle: Handle(0), length: 4096 };
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
    use super::*;

    #[test]
    fn timing_costs_something_and_less_than_a_disk() {
        // On a machine that is busy one attempt may be disturbed.
        let least = (0..10).map(|_| per_op_ns()).fold(f64::INFINITY, f64::min);
        assert!((0.0..100_000.0).contains(&least), "{least}");
    }
}
