//! The progress of a run and the rest of its time, computed only from its events and their times.
//!
//! Policy for the rest of the time:
//!   1. an execution takes as long as the last one of the same program on the same targets;
//!   2. a program without an execution takes the mean of the others. If executions run in parallel, it takes the time
//!      so far divided by the number of finished executions;
//!   3. the running execution has taken some of its time already;
//!   4. a run with a time limit ends with it.

use units::Nanos;

use campaign::plan::Plan;

/// The progress of a run. Times are counted from its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Remaining executions of each alternative, with the running one.
    to_come: Vec<u32>,
    /// Duration of the last execution of each alternative.
    lasted: Vec<Option<Nanos>>,
    /// The running alternative, and its start.
    running: Option<(usize, Nanos)>,
    /// Executions that have ended.
    ended: u64,
    /// The latest end of the run.
    latest: Option<Nanos>,
}

impl Progress {
    /// The progress at the beginning of the rounds.
    pub fn new(plan: &Plan) -> Progress {
        let times = |omitted: bool| if omitted { 0 } else { plan.rounds };
        Progress {
            to_come: plan.alternatives.iter().map(|alternative| times(alternative.row.omitted.is_some())).collect(),
            lasted: vec![None; plan.alternatives.len()],
            latest: plan.budget.or(plan.limits().and_then(|limits| limits.time)),
            ..Progress::default()
        }
    }

    /// A round begins. `rounds` are left, with this one, for every alternative that still runs.
    pub fn expects(&mut self, rounds: u32) {
        self.to_come.iter_mut().filter(|count| **count > 0).for_each(|count| *count = rounds);
    }

    /// Notes the start of an execution.
    pub fn started(&mut self, index: usize, now: Nanos) {
        self.running = Some((index, now));
    }

    /// An execution is over, or will not run: an earlier process performed it, its program failed, or it is left out.
    pub fn ended(&mut self, index: usize, now: Nanos) {
        if let Some((_, began)) = self.running.take_if(|(running, _)| *running == index) {
            self.lasted[index] = Some(now.saturating_sub(began));
        }
        self.to_come[index] = self.to_come[index].saturating_sub(1);
        self.ended += 1;
    }

    /// The numbers of finished executions and of all executions.
    pub fn counted(&self) -> (u64, u64) {
        (self.ended, self.ended + self.to_come.iter().map(|count| u64::from(*count)).sum::<u64>())
    }

    /// The time until the end; `None` as long as nothing is known.
    pub fn rest(&self, now: Nanos) -> Option<Nanos> {
        let known: Vec<Nanos> = self.lasted.iter().copied().flatten().collect();
        // 2.
        let usual = match known.len() as u64 {
            0 if self.ended == 0 => return self.latest.map(|latest| latest.saturating_sub(now)),
            0 => now.0 / self.ended,
            count => known.iter().copied().sum::<Nanos>().0 / count,
        };
        // 1.
        let each = |index: usize| self.lasted[index].map_or(usual, |lasted| lasted.0);
        let rest: u64 = self.to_come.iter().enumerate().map(|(index, count)| u64::from(*count) * each(index)).sum();
        // 3.
        let spent = self.running.map_or(0, |(index, began)| now.saturating_sub(began).0.min(each(index)));
        let rest = Nanos(rest.saturating_sub(spent));
        // 4.
        Some(self.latest.map_or(rest, |latest| rest.min(latest.saturating_sub(now))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    fn progress(to_come: &[u32], latest: Option<u64>) -> Progress {
        Progress {
            to_come: to_come.to_vec(),
            lasted: vec![None; to_come.len()],
            latest: latest.map(S),
            ..Progress::default()
        }
    }

    #[test]
    fn the_remaining_time_follows_from_earlier_executions() {
        let mut progress = progress(&[2, 2, 0], None);
        assert_eq!((progress.rest(S(0)), progress.counted()), (None, (0, 4)));
        progress.started(0, S(0));
        assert_eq!(progress.rest(S(5)), None);
        progress.ended(0, S(10));
        assert_eq!(progress.rest(S(10)), Some(S(30)));
        progress.started(1, S(10));
        assert_eq!(progress.rest(S(14)), Some(S(26)));
        progress.ended(1, S(12));
        // 10 s and 2 s, as before.
        assert_eq!((progress.rest(S(12)), progress.counted()), (Some(S(12)), (2, 4)));
        // It takes longer than before; the executions after it are still to come.
        progress.started(1, S(12));
        assert_eq!(progress.rest(S(40)), Some(S(10)));
    }

    #[test]
    fn the_remaining_time_of_a_timed_run_is_its_budget() {
        let mut progress = progress(&[10], Some(60));
        assert_eq!(progress.rest(S(1)), Some(S(59)));
        progress.started(0, S(0));
        progress.ended(0, S(20));
        assert_eq!(progress.rest(S(20)), Some(S(40)));
        assert_eq!(progress.rest(S(90)), Some(S(0)));
    }

    #[test]
    fn the_number_of_rounds_may_change_during_the_run() {
        let mut progress = progress(&[200, 0], None);
        progress.started(0, S(0));
        progress.ended(0, S(10));
        progress.expects(3);
        assert_eq!((progress.rest(S(10)), progress.counted()), (Some(S(30)), (1, 4)));
    }

    #[test]
    fn concurrent_executions_share_the_elapsed_time() {
        let mut progress = progress(&[3, 1], None);
        progress.ended(0, S(4));
        progress.ended(1, S(4));
        assert_eq!(progress.rest(S(4)), Some(S(4)));
        // An earlier process did it, so it took no time of this one.
        progress.ended(0, S(4));
        progress.ended(0, S(4));
        assert_eq!((progress.rest(S(4)), progress.counted()), (Some(S(0)), (4, 4)));
    }
}
