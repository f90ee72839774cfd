//! Duration of work while transfers slow the processor down, and the work done when the slowdown changes. Integer
//! arithmetic, rounded so that both functions agree: work that was given its duration is done.

use units::Nanos;

/// Returns how long the work takes.
#[expect(
    clippy::manual_div_ceil,
    reason = "div_ceil computes the remainder, too: eight instructions more for each event"
)]
pub(super) fn duration(work: Nanos, slow_down_permille: u32) -> Nanos {
    // Usually there is no slowdown; then avoid the division.
    if slow_down_permille == 0 {
        return work;
    }
    Nanos((work.0 * (1000 + u64::from(slow_down_permille)) + 999) / 1000)
}

/// Returns how much work is done in `time`.
pub(super) fn done(time: Nanos, slow_down_permille: u32) -> Nanos {
    if slow_down_permille == 0 {
        return time;
    }
    Nanos(time.0 * 1000 / (1000 + u64::from(slow_down_permille)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn work_is_done_after_its_duration(work in 0u64..1_000_000_000, slow in 0u32..3000) {
            let time = duration(Nanos(work), slow);
            prop_assert_eq!(done(time, slow), Nanos(work));
            prop_assert!(work == 0 || done(Nanos(time.0 - 1), slow) < Nanos(work));
        }

        #[test]
        fn no_work_is_lost_when_the_slowdown_changes(
            work in 0u64..1_000_000_000, first in 0u32..3000, second in 0u32..3000, part in 0u64..=1000,
        ) {
            let until = Nanos(duration(Nanos(work), first).0 * part / 1000);
            let left = Nanos(work) - done(until, first);
            let total = until + duration(left, second);
            let (least, most) = (first.min(second), first.max(second));
            prop_assert!(total >= duration(Nanos(work), least));
            // `done` rounds down by less than 1 ns of work, which takes 1 + slow / 1000 ns. `duration` rounds up by
            // less than 1 ns.
            prop_assert!(total <= duration(Nanos(work), most) + Nanos(2 + u64::from(most / 1000)));
        }
    }
}
