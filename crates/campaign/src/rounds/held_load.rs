//! The load that keeps credits used up while several targets take turns. A credit comes back while its target rests, so
//! a target that rests for most of the time shows its burst in every round. Before each execution, the same program
//! therefore runs on the target for a share of the time that it rested.

use std::collections::BTreeMap;

use units::Nanos;

/// The part of the time of a run that goes into this load: a half. A burst of at least three times the sustained rate
/// is then over when an execution begins.
const PART: u64 = 2;

/// The rest of every target.
#[derive(Clone, Debug, Default)]
pub struct HeldLoad {
    /// The number of targets that take turns; 0 if no load is held.
    targets: u64,
    /// The end of the last execution on each target.
    ended: BTreeMap<usize, Nanos>,
}

impl HeldLoad {
    /// Holds the load from now on, if several targets take turns. Returns true if it was not held before.
    pub fn begin(&mut self, targets: usize) -> bool {
        let is_new = self.targets == 0 && targets > 1;
        if is_new {
            self.targets = targets as u64;
        }
        is_new
    }

    /// Notes the end of an execution on a target.
    pub fn ends(&mut self, target: usize, now: Nanos) {
        self.ended.insert(target, now);
    }

    /// Returns the time since the last execution on a target; `None` if no load is held or the target did not run.
    pub fn rest(&self, target: usize, now: Nanos) -> Option<Nanos> {
        let ended = self.ended.get(&target).filter(|_| self.targets > 0);
        ended.map(|ended| now.saturating_sub(*ended))
    }

    /// Returns the time for which a target is loaded before its next execution. While one target is loaded all others
    /// rest, so the share is divided by their number.
    pub fn due(&self, target: usize, now: Nanos) -> Nanos {
        let others = self.targets.saturating_sub(1);
        let rest = self.rest(target, now).unwrap_or_default();
        Nanos(rest.0.checked_div(PART * others).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    #[test]
    fn half_of_a_rest_is_due_for_two_targets_and_less_for_more() {
        let mut load = HeldLoad::default();
        load.ends(0, S(10));
        assert_eq!(load.due(0, S(20)), S(0), "not held yet");
        assert!(!load.begin(1), "a single target never rests");
        assert!(load.begin(2) && !load.begin(2));
        assert_eq!((load.due(0, S(20)), load.due(1, S(20))), (S(5), S(0)), "the other has not run yet");
        assert_eq!((load.rest(0, S(20)), load.rest(1, S(20))), (Some(S(10)), None));
        let mut four = load.clone();
        four.targets = 4;
        assert_eq!(four.due(0, S(22)), S(2));
    }

    /// The load takes half of the time, whatever the number of targets: it does not grow from turn to turn.
    #[test]
    fn turns_do_not_become_longer_and_longer() {
        for targets in 2..5 {
            let (mut load, mut now, mut turn) = (HeldLoad::default(), S(0), S(0));
            load.begin(targets);
            for index in 0..100 * targets {
                let target = index % targets;
                turn = load.due(target, now) + S(1);
                now += turn;
                load.ends(target, now);
            }
            assert!(turn > Nanos::from_millis(1900) && turn <= S(2), "{targets} targets: {turn}");
        }
    }
}
