//! Which claims of a cell are false: what the runner saw, in the words in which `stats::judge::marks` judges.

pub mod consumption;
mod devices;
pub mod machine;
mod rates;
mod window;

use kernel::observe::mount::Place;
use runner::execution::PhaseRun;
use stats::figures::summary;
use stats::inference::steady::Settling;
use stats::judge::marks::{Mark, MarkCode, rounds};
use stats::{ClockKind, RateBase, Round, TargetInfo};
use units::Nanos;
use workload::{Phase, Surroundings};

use crate::plan::Plan;

/// A cell to be judged: what it claims, and what was seen in the rounds that count.
pub struct Case<'a> {
    /// What was promised.
    pub plan: &'a Plan,
    /// What ran.
    pub phase: &'a Phase,
    /// The clock that is claimed.
    pub clock: ClockKind,
    /// What the rate counts.
    pub base: RateBase,
    /// Whether the files are claimed to have been out of memory.
    pub cold: bool,
    /// Whether the program is said to go past the page cache.
    pub direct: bool,
    /// Whether nothing real was measured.
    pub simulated: bool,
    /// What lies under the targets that were there before: type and mount options of their file systems.
    pub places: Vec<&'a Place>,
    /// Why the program failed, if it did.
    pub failure: Option<String>,
    /// Whether there is a figure at all.
    pub measured: bool,
    /// Of targets busy at once: the shortest elapsed time divided by the longest.
    pub overlap: Option<f64>,
    /// Whether several targets were busy at once.
    pub together: bool,
    /// What is known of the targets.
    pub infos: &'a [&'a TargetInfo],
    /// What the clock shows where nothing is done; nothing where it is exact.
    pub nothing: Option<Nanos>,
    /// The settings around it, with the round that they were read in, in the order of time.
    pub surroundings: &'a [(u32, &'a Surroundings)],
    /// What its rounds tell of how steady it is, where it is claimed to be.
    pub settling: Option<Settling>,
    /// Every round.
    pub all_rounds: &'a [Round],
    /// The rounds that count.
    pub rounds: &'a [&'a Round],
    /// What was seen in them.
    pub runs: &'a [&'a PhaseRun],
}

impl Case<'_> {
    /// Whether the cell claims that something is on a device: only then is another clock than the first one claimed.
    fn is_durable(&self) -> bool {
        self.clock != ClockKind::Returned
    }
}

/// The marks of a cell. One that failed or was not measured claims nothing else.
pub fn marks(case: &Case) -> Vec<Mark> {
    if let Some(failure) = &case.failure {
        return vec![Mark { code: MarkCode::Error, value: None, text: failure.clone() }];
    }
    if !case.measured {
        return Vec::new();
    }
    devices::marks(case).chain(rates::marks(case)).chain(of_rounds(case)).chain(machine::marks(case)).collect()
}

/// What the rounds themselves tell.
fn of_rounds(case: &Case) -> impl Iterator<Item = Mark> {
    let rates = case.rounds.iter().filter_map(|round| summary::round_rate(round, case.together, case.base, case.clock));
    let schedule = &case.plan.schedule;
    let few = rounds::few(&rates.collect::<Vec<f64>>(), schedule.promised(), schedule.must_agree());
    few.into_iter().chain(case.overlap.and_then(rounds::uneven))
}
