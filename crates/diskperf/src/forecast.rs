//! How long a plan will take, and what is left out of it where that is too long: what its rows do, times
//! what a quick trial on the target says that costs. Decides only; the trials are run by whoever asks.

use std::cmp::Reverse;

use units::Nanos;
use workload::Program;
use workload::programs::book::{self, Sync};

use crate::plan::{Alternative, Plan};

/// Plans longer than this are announced with what makes them so long.
const LONG: Nanos = Nanos::from_secs(5 * 60);

/// Rows of each program on each target that a budget leaves in. Of the copies of `tlpi` the cheapest five
/// are three plain ones and two with fsync, and its fit takes three plain ones.
const FEWEST_ROWS: usize = 5;

/// Rounds that a budget leaves in: one alone has no spread.
const FEWEST_ROUNDS: u32 = 2;

/// How many of the dearest rows are named.
const NAMED: usize = 3;

/// What one execution of a program does, as far as it takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Reads and writes.
    pub calls: u64,
    /// Bytes of its file: prepared, moved, and made durable at the end.
    pub bytes: u64,
    /// Writes that wait for the disk, each by itself.
    pub sync_writes: u64,
}

/// What that costs on a target, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Of an execution that does next to nothing: making ready, counting, cleaning up.
    pub execution: f64,
    /// Of a read or a write, apart from the bytes it moves.
    pub call: f64,
    /// Of a byte.
    pub byte: f64,
    /// Of a write that waits for the disk.
    pub sync_write: f64,
}

impl Prices {
    /// A guess for `--dry-run`, which writes nothing: a disk of a few hundred MB/s that needs a millisecond
    /// for a synchronous write.
    pub const GUESSED: Prices = Prices { execution: 0.02, call: 0.4e-6, byte: 5e-9, sync_write: 1e-3 };

    /// What an execution costs.
    pub fn cost(&self, work: &Work) -> Nanos {
        let parts = [(work.calls, self.call), (work.bytes, self.byte), (work.sync_writes, self.sync_write)];
        let seconds: f64 = parts.iter().map(|(amount, price)| *amount as f64 * price).sum();
        Nanos(((self.execution + seconds) * 1e9) as u64)
    }
}

/// How long one execution took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// All of it.
    pub all: Nanos,
    /// Its measured calls alone.
    pub calls: Nanos,
}

/// The programs that find out prices: tens of thousands of small calls, a few million bytes, a few
/// synchronous writes. They need no more room than what they forecast.
#[derive(Clone, Debug)]
pub struct Trials {
    bytes: u64,
}

impl Trials {
    /// 10,000 bytes copied one by one: ten milliseconds at a microsecond a pair of calls.
    const PAIRS: u64 = 10_000;
    /// 4 million bytes, of which large files are expected to cost a multiple.
    const BYTES: u64 = 4_000_000;
    /// Synchronous writes: a tenth of a second where one waits for a turn of a disk.
    const SYNC_WRITES: u64 = 12;
    /// The quicker of two executions counts: other work on the machine only makes one slower.
    pub const EXECUTIONS: u32 = 2;

    /// The trials for these rows.
    pub fn of(rows: impl Iterator<Item = Work>) -> Trials {
        let largest = rows.map(|work| work.bytes).max().unwrap_or(0);
        Trials { bytes: largest.clamp(1, Trials::BYTES) }
    }

    /// Small calls, bytes, synchronous writes: in this order.
    pub fn programs(&self) -> [Program; 3] {
        [
            book::copy(Trials::PAIRS.min(self.bytes), 1, Sync::None),
            book::copy(self.bytes, 64 * 1024, Sync::None),
            book::write(Trials::SYNC_WRITES.min(self.bytes), 1, Sync::Osync),
        ]
    }

    /// Runs them by `perform`, which gives nothing where a program did not reach its end; then there are no
    /// prices.
    pub fn prices(&self, mut perform: impl FnMut(&Program) -> Option<Trial>) -> Option<Prices> {
        let mut quickest = [None; 3];
        for _ in 0..Trials::EXECUTIONS {
            for (quickest, program) in quickest.iter_mut().zip(self.programs()) {
                let trial = perform(&program)?;
                let before = quickest.unwrap_or(trial);
                *quickest = Some(Trial { all: trial.all.min(before.all), calls: trial.calls.min(before.calls) });
            }
        }
        let [Some(calls), Some(bytes), Some(sync_writes)] = quickest else { return None };
        Some(self.priced(calls, bytes, sync_writes))
    }

    /// The prices that these trials tell.
    fn priced(&self, calls: Trial, bytes: Trial, sync_writes: Trial) -> Prices {
        let per = |time: Nanos, amount: u64| time.as_secs_f64() / amount as f64;
        let execution = calls.all.saturating_sub(calls.calls);
        Prices {
            execution: execution.as_secs_f64(),
            call: per(calls.calls, 2 * (Trials::PAIRS.min(self.bytes) + 1)),
            byte: per(bytes.all.saturating_sub(execution).max(bytes.calls), self.bytes),
            sync_write: per(sync_writes.calls, Trials::SYNC_WRITES.min(self.bytes)),
        }
    }
}

/// What a plan costs, row by row.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// One execution of each of the plan's alternatives.
    costs: Vec<Nanos>,
    /// Rounds that were asked for.
    rounds: u32,
}

impl Forecast {
    /// The forecast of the plan at each target's prices; nothing unless every row says what it does.
    pub fn of(plan: &Plan, prices: &[Prices]) -> Option<Forecast> {
        // Targets that are busy at once share the machine: at worst, each waits for the others.
        let cost = |alternative: &Alternative| {
            let work = alternative.row.work?;
            Some(alternative.targets.iter().map(|&target| prices[target].cost(&work)).sum())
        };
        let costs = plan.alternatives.iter().map(cost).collect::<Option<_>>()?;
        Some(Forecast { costs, rounds: plan.rounds })
    }

    /// How long all rounds take of what is not left out.
    pub fn total(&self, plan: &Plan) -> Nanos {
        times(self.round(plan), plan.rounds)
    }

    /// How long one round takes of it.
    fn round(&self, plan: &Plan) -> Nanos {
        plan.order(1).into_iter().map(|index| self.costs[index]).sum()
    }

    /// Makes the plan fit its budget:
    ///   1. the dearest row is left out, then the next, until the rest fits with all its rounds; five rows
    ///      of each program on each target stay. Of two that cost the same the later one goes first;
    ///   2. then rounds are left out, down to two.
    pub fn thin(&self, plan: &mut Plan) {
        let Some(budget) = plan.budget else { return };
        // 1.
        let mut dearest = plan.order(1);
        dearest.sort_unstable_by_key(|&index| (Reverse(self.costs[index]), Reverse(index)));
        for index in dearest {
            if self.total(plan) <= budget {
                return;
            }
            if peers(plan, index) > FEWEST_ROWS {
                let needs = about(times(self.costs[index], plan.rounds));
                let reason = format!("needs about {needs} of the budget of {}", about(budget));
                plan.alternatives[index].row.omitted = Some(reason);
            }
        }
        // 2.
        let fitting = budget.0.checked_div(self.round(plan).0).and_then(|rounds| rounds.try_into().ok());
        let fitting: u32 = fitting.unwrap_or(plan.rounds);
        plan.rounds = plan.rounds.min(fitting.max(FEWEST_ROUNDS));
    }

    /// The estimate before a run: `about 1 h 05 min: 40 tests, 20 rounds`. If that is long, also the longest tests and how
    /// to make it shorter.
    pub fn announcement(&self, plan: &Plan) -> String {
        let part = |is: usize, of: usize, what| {
            let s = if of == 1 { "" } else { "s" };
            if is == of { format!("{is} {what}{s}") } else { format!("{is} of {of} {what}{s}") }
        };
        let total = self.total(plan);
        let mut running = plan.order(1);
        let rows = part(running.len(), self.costs.len(), "test");
        let rounds = part(plan.rounds as usize, self.rounds as usize, "round");
        let mut text = format!("about {}: {rows}, {rounds}", about(total));
        if total <= LONG {
            return text;
        }
        if plan.budget.is_none() {
            text += if plan.rounds > 3 { "; --rounds 3 or --budget 5min make" } else { "; --budget 5min makes" };
            text += " it shorter";
        }
        running.sort_unstable_by_key(|&index| (Reverse(self.costs[index]), index));
        let named = running.iter().take(NAMED).map(|&index| {
            let alternative = &plan.alternatives[index];
            format!("{} ({})", alternative.row.label(), about(times(self.costs[index], plan.rounds)))
        });
        text + "\nlongest: " + &named.collect::<Vec<String>>().join(", ")
    }
}

/// How many rows of the same program on the same target are not left out, this one included.
fn peers(plan: &Plan, index: usize) -> usize {
    let this = &plan.alternatives[index];
    let is_peer = |index: &usize| {
        let other = &plan.alternatives[*index];
        other.targets == this.targets && other.row.program.name == this.row.program.name
    };
    plan.order(1).iter().filter(|index| is_peer(index)).count()
}

fn times(span: Nanos, count: u32) -> Nanos {
    Nanos(span.0.saturating_mul(u64::from(count)))
}

/// A span in as many digits as a forecast deserves: `350 ms`, `42 s`, `13 min`, `1 h 05 min`, `112 h`.
pub fn about(span: Nanos) -> String {
    let seconds = span.as_secs_f64();
    let minutes = (seconds / 60.0).round() as u64;
    match seconds {
        s if s < 1.0 => span.to_string(),
        s if s < 89.5 => format!("{s:.0} s"),
        _ if minutes < 90 => format!("{minutes} min"),
        _ if minutes < 100 * 60 => format!("{} h {:02} min", minutes / 60, minutes % 60),
        _ => format!("{} h", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runner::execution::{Claim, How};

    use super::*;
    use crate::plan::{PlannedSizing, Row};
    use crate::presets::MIB_PER_SECOND;
    use crate::request::schedule::Schedule;

    /// Rows that cost so many seconds each, on one target.
    fn plan(seconds: &[u64], rounds: u32, budget: Option<Nanos>) -> (Plan, Forecast) {
        let row = |seconds: &u64| {
            let work = Work { calls: *seconds, ..Work::default() };
            let program = book::copy(*seconds, 1, Sync::None);
            Alternative { targets: vec![0], row: Row::new(program, MIB_PER_SECOND).doing(work) }
        };
        let plan = Plan {
            preset: "test",
            schedule: Schedule::fixed(rounds),
            rounds,
            memory: None,
            before: crate::plan::Before::Nothing,
            how: How { claim: Claim::Returned, timed: false },
            means: kernel::Means::default(),
            seed: 1,
            zeros: false,
            budget,
            sizing: PlannedSizing::Thin,
            commands: std::sync::Arc::default(),
            alternatives: seconds.iter().map(row).collect(),
        };
        let prices = Prices { execution: 0.0, call: 1.0, byte: 0.0, sync_write: 0.0 };
        let forecast = Forecast::of(&plan, &[prices]).expect("every row says what it does");
        (plan, forecast)
    }

    fn omitted(plan: &Plan) -> Vec<usize> {
        let is_omitted = |index: &usize| plan.alternatives[*index].row.omitted.is_some();
        (0..plan.alternatives.len()).filter(is_omitted).collect()
    }

    #[test]
    fn an_execution_costs_its_calls_its_bytes_and_its_waits() {
        let prices = Prices { execution: 0.5, call: 1e-6, byte: 1e-9, sync_write: 1e-3 };
        let work = Work { calls: 2_000_000, bytes: 100_000_000, sync_writes: 400 };
        assert_eq!(prices.cost(&work), Nanos::from_millis(500 + 2_000 + 100 + 400));
        assert_eq!(prices.cost(&Work::default()), Nanos::from_millis(500));
    }

    #[test]
    fn trials_tell_prices() {
        let trials = Trials { bytes: 1_000_000 };
        let trial = |all, calls| Trial { all: Nanos::from_millis(all), calls: Nanos::from_millis(calls) };
        let prices = trials.priced(trial(30, 20), trial(60, 2), trial(50, 24));
        assert!((prices.execution - 0.010).abs() < 1e-12);
        assert!((prices.call - 0.020 / 20_002.0).abs() < 1e-12);
        assert!((prices.byte - 50e-9).abs() < 1e-15);
        assert!((prices.sync_write - 0.002).abs() < 1e-12);
        // Where making ready took longer than the whole, the calls alone are what is known.
        assert!((trials.priced(trial(30, 20), trial(5, 2), trial(50, 24)).byte - 2e-9).abs() < 1e-15);
    }

    #[test]
    fn the_quicker_execution_counts_and_a_failed_one_ends_it() {
        let trials = Trials::of([Work { bytes: 100, ..Work::default() }].into_iter());
        let mut spans = [40, 50, 60, 30, 70, 40].into_iter();
        let prices = trials.prices(|program| {
            assert!(program.space <= 200, "no more room than what is forecast");
            let calls = Nanos::from_millis(spans.next().expect("two executions of three"));
            Some(Trial { all: calls, calls })
        });
        let prices = prices.expect("all ended");
        assert!((prices.call - 0.030 / 202.0).abs() < 1e-12, "{prices:?}");
        assert!((prices.byte - 0.050 / 100.0).abs() < 1e-12, "{prices:?}");
        assert!(trials.prices(|_| None).is_none());
    }

    #[test]
    fn the_dearest_rows_are_left_out_first_and_say_why() {
        let (mut plan, forecast) = plan(&[780, 60, 30, 20, 8, 2], 2, Some(Nanos::from_secs(300)));
        assert_eq!(forecast.total(&plan), Nanos::from_secs(1800));
        forecast.thin(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 2));
        let reason = plan.alternatives[0].row.omitted.as_deref();
        assert_eq!(reason, Some("needs about 26 min of the budget of 5 min"));
        assert_eq!(forecast.announcement(&plan), "about 4 min: 5 of 6 tests, 2 rounds");
    }

    #[test]
    fn of_two_that_cost_the_same_the_later_one_goes() {
        let (mut plan, forecast) = plan(&[5; 7], 2, Some(Nanos::from_secs(65)));
        forecast.thin(&mut plan);
        assert_eq!(omitted(&plan), [6]);
    }

    #[test]
    fn five_rows_stay_and_then_rounds_go() {
        let (mut plan, forecast) = plan(&[40, 30, 20, 7, 2, 1], 20, Some(Nanos::from_secs(250)));
        forecast.thin(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 4));
        assert_eq!(forecast.announcement(&plan), "about 4 min: 5 of 6 tests, 4 of 20 rounds");
        plan.budget = Some(Nanos::from_secs(1));
        forecast.thin(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 2));
    }

    #[test]
    fn without_a_budget_nothing_goes_and_what_is_long_is_announced() {
        let (mut plan, forecast) = plan(&[140, 30, 20, 5], 20, None);
        forecast.thin(&mut plan);
        let text = forecast.announcement(&plan);
        assert_eq!(
            text,
            "about 65 min: 4 tests, 20 rounds; --rounds 3 or --budget 5min make it shorter\n\
             longest: copy buffer_bytes=1 file_bytes=140 sync=none (47 min), \
             copy buffer_bytes=1 file_bytes=30 sync=none (10 min), \
             copy buffer_bytes=1 file_bytes=20 sync=none (7 min)"
        );
    }

    #[test]
    fn a_forecast_has_few_digits() {
        for (millis, text) in [
            (350, "350 ms"),
            (41_700, "42 s"),
            (100_000, "2 min"),
            (780_000, "13 min"),
            (5_640_000, "1 h 34 min"),
            (403_200_000, "112 h"),
        ] {
            assert_eq!(about(Nanos::from_millis(millis)), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_left_fits_unless_only_the_fewest_are_left(
            seconds in prop::collection::vec(1u64..1000, 1..12),
            rounds in 1u32..30,
            budget in 1u64..100_000,
        ) {
            let (mut plan, forecast) = plan(&seconds, rounds, Some(Nanos::from_secs(budget)));
            forecast.thin(&mut plan);
            let left = plan.order(1).len();
            let is_least = left <= FEWEST_ROWS && plan.rounds <= FEWEST_ROUNDS;
            prop_assert!(forecast.total(&plan) <= Nanos::from_secs(budget) || is_least);
            prop_assert!(left >= FEWEST_ROWS.min(seconds.len()) && plan.rounds >= FEWEST_ROUNDS.min(rounds));
        }
    }
}
