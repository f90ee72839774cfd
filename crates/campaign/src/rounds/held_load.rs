//! The load that keeps credits used up while several targets take turns. A credit comes back while its target rests, so
//! a target that rests for most of the time shows its burst in every round. Before each execution, the same program
//! therefore runs on the target for a share of the time that it rested.
//!
//! Policy:
//!   1. the load is held in four cases: after the first change of a rate in a comparison; with `--sustained`; if the
//!      rates of a test are of two kinds; and if targets wait for calm longer than they work. Credits that come back
//!      change a rate from turn to turn, which makes two kinds. Long waits on a busy machine are rests that hide the
//!      end of a burst;
//!   2. the first load of a target is long, because a burst may still have begun nowhere near its end;
//!   3. if the rate of a test has dropped before, the load ends when the rate is low again, and may take longer;
//!   4. the rate at the end of the first load is the one that lasts. If a later load ends with a much higher rate, it
//!      did not use up the credits: with N targets in turn, a burst of less than N times the lasting rate comes back
//!      faster than it is used. The round then counts as one after the whole rest.

use std::collections::{BTreeMap, BTreeSet};

use stats::figures::summary::median;
use units::Nanos;

/// The part of the time of a run that goes into this load: a half. With two targets, a burst of at least three times
/// the lasting rate is then over when an execution begins.
const PART: u64 = 2;

/// The longest first load of a target. A burst credit of 2 GB lasts for that long, if the burst is 100 MB/s faster than
/// the credit comes back. Chosen.
const FIRST: Nanos = Nanos::from_secs(20);

/// A test's rate has dropped if its highest is 1.5 times its lowest. A rate is low up to 1.25 times the lowest. Chosen:
/// above the usual noise of rounds.
const DROP: f64 = 1.5;
const LOW: f64 = 1.25;

/// Rates are of two kinds (1) if three are at most half of the highest rate, and three at least 80 % of it. Chosen: a
/// single stall or a single fast round is an outlier.
const OF_A_KIND: usize = 3;
const LOW_KIND: f64 = 0.5;
const HIGH_KIND: f64 = 0.8;

/// Waits for calm begin the load (1) if those of more than 100 ms add up to more than 5 s. Chosen: a calm machine waits
/// for 20 ms (`kernel`'s window), and a burst credit of a few seconds is back after 5 s.
const LONG_WAITS: Nanos = Nanos::from_secs(5);
const LONG_WAIT: Nanos = Nanos::from_millis(100);

/// The rate that lasts is the median of the last quarter of a load, and of at least this many executions. Chosen: a
/// single stall does not count.
const LAST: usize = 3;

/// The rest of every target.
#[derive(Clone, Debug, Default)]
pub struct HeldLoad {
    /// The number of targets that take turns; 0 if no load is held.
    targets: u64,
    /// The end of the last execution on each target.
    ended: BTreeMap<usize, Nanos>,
    /// Targets that had their first load.
    loaded: BTreeSet<usize>,
    /// The rates of each alternative.
    rates: BTreeMap<usize, Vec<f64>>,
    /// The lasting rates (4).
    lasting: BTreeMap<usize, f64>,
    /// The sum of long waits for calm, and of the measured times.
    waited: Nanos,
    worked: Nanos,
}

/// The longest time of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Usually.
    pub usual: Nanos,
    /// If the rate has dropped before, and is high again.
    pub longest: Nanos,
    /// True if it is the first load of a target.
    pub is_first: bool,
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

    /// Notes the rate of an execution. Returns true if the rates of this alternative are of two kinds.
    pub fn saw(&mut self, alternative: usize, rate: f64) -> bool {
        let rates = self.rates.entry(alternative).or_default();
        rates.push(rate);
        // 1
        let highest = rates.iter().copied().fold(0.0, f64::max);
        let count = |is: fn(f64) -> bool| rates.iter().filter(|rate| is(**rate / highest)).count();
        count(|share| share <= LOW_KIND) >= OF_A_KIND && count(|share| share >= HIGH_KIND) >= OF_A_KIND
    }

    /// Notes the rate of an alternative at the end of the first load of its target. The load of `--sustained` was
    /// longer, so its rate stays.
    pub fn lasts(&mut self, alternative: usize, rate: f64) {
        self.lasting.entry(alternative).or_insert(rate);
    }

    /// True if a load that ended with this rate did not use up the credits (4).
    pub fn is_high(&self, alternative: usize, last: Option<f64>) -> bool {
        self.lasting.get(&alternative).zip(last).is_some_and(|(lasting, last)| last > DROP * lasting)
    }

    /// Notes the wait for calm and the measured time of an execution. Returns true if waits take most of the time.
    pub fn waits(&mut self, waited: Nanos, worked: Nanos) -> bool {
        self.waited += if waited > LONG_WAIT { waited } else { Nanos::ZERO };
        self.worked += worked;
        // 1
        self.waited > LONG_WAITS && self.waited > self.worked
    }

    /// Returns the time since the last execution on a target; `None` if no load is held or the target did not run.
    pub fn rest(&self, target: usize, now: Nanos) -> Option<Nanos> {
        let ended = self.ended.get(&target).filter(|_| self.targets > 0);
        ended.map(|ended| now.saturating_sub(*ended))
    }

    /// Returns the time for which a target is loaded before its next execution, and notes that it had its first load.
    /// While one target is loaded, all others rest, so the share is divided by their number. `left` is the time until
    /// the end of the run, if it has one.
    pub fn due(&mut self, target: usize, now: Nanos, left: Option<Nanos>) -> Due {
        let others = self.targets.saturating_sub(1);
        let Some(rest) = self.rest(target, now).filter(|_| others > 0) else {
            return Due { usual: Nanos::ZERO, longest: Nanos::ZERO, is_first: false };
        };
        let usual = Nanos(rest.0 / (PART * others));
        // 2
        if self.loaded.insert(target) {
            let share = left.map_or(FIRST, |left| Nanos(left.0 / (2 * self.targets)));
            let first = usual.max(FIRST.min(share));
            return Due { usual: first, longest: first, is_first: true };
        }
        // Loads as long as the whole rest would make the turns longer and longer.
        Due { usual, longest: Nanos(usual.0 + usual.0 / 2), is_first: false }
    }

    /// True if the load goes on after this time, when its last execution had this rate.
    pub fn goes_on(&self, alternative: usize, last: Option<f64>, loaded: Nanos, due: Due) -> bool {
        let rates = self.rates.get(&alternative).map_or(&[][..], Vec::as_slice);
        let [low, high] = [f64::min, f64::max].map(|end| rates.iter().copied().reduce(end).unwrap_or(0.0));
        // 3
        match last {
            Some(_) if self.is_high(alternative, last) => loaded < due.longest,
            Some(last) if high >= DROP * low => last > LOW * low && loaded < due.longest,
            _ => loaded < due.usual,
        }
    }
}

/// The rate that lasts: the median of the last executions of a load. `None` if they are too few.
pub(super) fn lasting_rate(rates: &[f64]) -> Option<f64> {
    let count = (rates.len() / 4).max(LAST);
    rates.len().checked_sub(count).and_then(|first| median(&rates[first..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    /// The usual time of a load after the first one.
    fn due(load: &mut HeldLoad, target: usize, now: Nanos) -> Nanos {
        load.loaded.insert(target);
        load.due(target, now, None).usual
    }

    #[test]
    fn half_of_a_rest_is_due_for_two_targets_and_less_for_more() {
        let mut load = HeldLoad::default();
        load.ends(0, S(10));
        assert_eq!(due(&mut load, 0, S(20)), S(0), "not held yet");
        assert!(!load.begin(1), "a single target never rests");
        assert!(load.begin(2) && !load.begin(2));
        assert_eq!((due(&mut load, 0, S(20)), due(&mut load, 1, S(20))), (S(5), S(0)), "the other has not run yet");
        assert_eq!((load.rest(0, S(20)), load.rest(1, S(20))), (Some(S(10)), None));
        let mut four = load.clone();
        four.targets = 4;
        assert_eq!(due(&mut four, 0, S(22)), S(2));
    }

    #[test]
    fn the_first_load_of_a_target_is_long_but_leaves_time() {
        let mut load = HeldLoad::default();
        load.ends(0, S(10));
        load.begin(2);
        let first = |left| load.clone().due(0, S(11), left).usual;
        assert_eq!((first(None), first(Some(S(200))), first(Some(S(40)))), (FIRST, FIRST, S(10)));
        load.due(0, S(11), None);
        assert_eq!(load.due(0, S(14), None), Due { usual: S(2), longest: S(3), is_first: false });
    }

    #[test]
    fn a_load_ends_when_the_rate_is_low_again() {
        let mut load = HeldLoad::default();
        let due = Due { usual: S(2), longest: S(3), is_first: false };
        let goes_on = |load: &HeldLoad, last, loaded| load.goes_on(7, last, loaded, due);
        load.saw(7, 300.0);
        assert!(goes_on(&load, None, S(0)) && goes_on(&load, Some(300.0), S(1)));
        assert!(!goes_on(&load, Some(300.0), S(2)), "the rate never dropped");
        load.saw(7, 20.0);
        assert!(goes_on(&load, Some(300.0), S(2)) && !goes_on(&load, Some(300.0), S(3)));
        assert!(!goes_on(&load, Some(24.0), S(1)) && goes_on(&load, None, S(0)));
    }

    #[test]
    fn a_load_that_ends_far_above_the_lasting_rate_did_not_use_up_the_credits() {
        let mut load = HeldLoad::default();
        let due = Due { usual: S(2), longest: S(3), is_first: false };
        assert!(!load.is_high(7, Some(170.0)), "the lasting rate is not known");
        load.saw(7, 100.0);
        load.lasts(7, 100.0);
        load.lasts(7, 170.0);
        assert!(load.is_high(7, Some(170.0)) && !load.is_high(7, Some(140.0)) && !load.is_high(7, None));
        assert!(!load.is_high(8, Some(170.0)), "another test");
        assert!(load.goes_on(7, Some(170.0), S(2), due) && !load.goes_on(7, Some(170.0), S(3), due));
        assert!(!load.goes_on(7, Some(140.0), S(2), due));
    }

    #[test]
    fn the_rate_that_lasts_is_at_the_end_of_a_load_and_no_stall() {
        let lasting = |rates: &[f64]| lasting_rate(rates);
        assert_eq!((lasting(&[300.0, 20.0]), lasting(&[300.0, 300.0, 20.0])), (None, Some(300.0)));
        assert_eq!(lasting(&[300.0, 300.0, 20.0, 20.0]), Some(20.0));
        let mut long = vec![100.0; 40];
        long[36..].fill(10.0);
        assert_eq!(lasting(&long), Some(100.0), "a short stall at the end");
    }

    #[test]
    fn rates_of_two_kinds_are_told_from_outliers() {
        let is_split = |rates: &[f64]| {
            let mut load = HeldLoad::default();
            rates.iter().map(|rate| load.saw(0, *rate)).last()
        };
        assert_eq!(is_split(&[190.0, 195.0, 25.0, 194.0, 72.0, 198.0, 49.0]), Some(true));
        assert_eq!(is_split(&[190.0, 195.0, 25.0, 194.0, 198.0, 49.0]), Some(false), "two slow ones");
        assert_eq!(is_split(&[195.0, 25.0, 25.0, 25.0, 25.0]), Some(false), "one fast one");
        assert_eq!(is_split(&[100.0, 120.0, 180.0, 190.0, 110.0, 150.0, 130.0]), Some(false), "noise");
    }

    #[test]
    fn waits_that_take_most_of_the_time_begin_the_load() {
        let mut load = HeldLoad::default();
        assert!((0..1000).all(|_| !load.waits(LONG_WAIT, Nanos::ZERO)), "calm");
        assert!(!load.waits(S(2), S(1)) && !load.waits(S(2), S(0)) && load.waits(S(2), S(1)));
        assert!(!load.waits(S(1), S(9)));
    }

    /// The load takes half of the time, whatever the number of targets: it does not grow from turn to turn.
    #[test]
    fn turns_do_not_become_longer_and_longer() {
        for targets in 2..5 {
            let (mut load, mut now, mut turn) = (HeldLoad::default(), S(0), S(0));
            load.begin(targets);
            for index in 0..100 * targets {
                let target = index % targets;
                turn = due(&mut load, target, now) + S(1);
                now += turn;
                load.ends(target, now);
            }
            assert!(turn > Nanos::from_millis(1900) && turn <= S(2), "{targets} targets: {turn}");
        }
    }
}
