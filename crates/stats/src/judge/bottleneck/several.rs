//! The limit of a command that had several processes or threads. Their times do not add up to the elapsed time: one may
//! compute while another waits. But no part of a command can be faster than a resource that is always busy.

use units::Nanos;

use super::consumption::{Consumption, ProcessWork};
use super::owners::is_used_up;
use super::shares::{LEAST_SHARE, SATURATED, of, percent, share_of};
use crate::results::bottleneck::Bottleneck;

/// Names the resource that was saturated, if it is the only one:
///   1. The CPU: one process computed all the time. Or all processes together computed all the time, and no task of the
///      machine waited for I/O or for a CPU quota: then they computed one after the other.
///   2. A server, the journal, flushes and the device each do one thing after the other. Those above a saturated server
///      wait for it. A device and its flushes are not named if most of its work was discards for which no program is
///      known to have waited.
///   3. A used-up quota. That of the CPU counts if it took a tenth of the CPU time that the processes wanted, and if
///      they computed or were throttled for nine tenths of the time.
pub(super) fn limit(used: &Consumption, work: &ProcessWork) -> (Bottleneck, String) {
    let share = |time: Nanos| of(time, used.window());
    let busiest = share(work.busiest.unwrap_or_default());
    let computing = share(used.user + used.system);
    let stalled = work.io_stall.map(share);
    let throttled = share(used.quota.unwrap_or_default());
    let is_in_turn = stalled.is_some_and(|stalled| stalled < LEAST_SHARE)
        && throttled < LEAST_SHARE
        && computing <= 1.0 + LEAST_SHARE;
    let cpu = if is_in_turn { busiest.max(computing) } else { busiest };
    let wanted = computing + throttled;
    let taken = if wanted >= SATURATED { throttled / wanted } else { 0.0 };
    let allowance = share_of(used.allowance);
    let serving = used.serving();
    // 2
    let above = |busy: f64| if serving >= SATURATED { 0.0 } else { busy };
    let resources = [
        (Bottleneck::Cpu, cpu, SATURATED, "computing"),
        (Bottleneck::Server, serving, SATURATED, "computing in the server"),
        (Bottleneck::Journal, above(used.committing()), SATURATED, "committing"),
        (Bottleneck::Flush, above(share(used.flushing())), SATURATED, "flushing"),
        (Bottleneck::Device, above(used.busy()), SATURATED, "busy"),
        // 3
        (
            Bottleneck::Quota,
            if is_used_up(used) { allowance } else { 0.0 },
            SATURATED,
            "of the device's cgroup limit used",
        ),
        (Bottleneck::Quota, taken, LEAST_SHARE, "of the wanted CPU time taken by the CPU quota"),
    ];
    let mut saturated = resources.into_iter().filter(|(_, busy, least, _)| busy >= least);
    match (saturated.next(), saturated.next()) {
        (Some((what, busy, _, words)), None) => {
            let unknown = used.mostly_discards_apart();
            let unknown = unknown.filter(|_| matches!(what, Bottleneck::Device | Bottleneck::Flush));
            let figure = || (what, format!("several processes, {} {words}", percent(busy)));
            unknown.map_or_else(figure, |why| (Bottleneck::NotMeasured, format!("several processes, {why}")))
        }
        (None, _) => (Bottleneck::NotMeasured, unknown(computing, busiest, stalled)),
        (Some(_), Some(_)) => {
            let all = resources.iter().filter(|(_, busy, least, _)| busy >= least);
            let all = all.map(|(what, busy, _, words)| format!("{} {} {words}", what.title(), percent(*busy)));
            let all = all.collect::<Vec<_>>().join(", ");
            (Bottleneck::NotMeasured, format!("several processes at once; {all}"))
        }
    }
}

/// Returns the figures of a command without a saturated resource.
fn unknown(computing: f64, busiest: f64, stalled: Option<f64>) -> String {
    let stalled = stalled.map_or_else(
        || "no pressure-stall data".to_owned(),
        |stalled| format!("I/O pressure {}", percent(stalled.min(1.0))),
    );
    let (computing, busiest) = (percent(computing), percent(busiest));
    format!("several processes at once: {computing} computing, the busiest {busiest}; {stalled}")
}
