//! Finds the false claims of a cell: converts the observations of the runner for `stats::judge::marks`.

pub mod blind;
pub mod ceiling;
pub mod consumption;
mod devices;
pub mod floor;
pub mod machine;
mod rates;
pub mod regimes;
mod window;

use kernel::observe::mount::Place;
use runner::execution::PhaseResult;
use stats::digits::significant;
use stats::figures::rate::RUNS;
use stats::figures::summary::{self, RateUnit};
use stats::inference::steady_state::Settling;
use stats::judge::marks::{Mark, MarkCode, rounds};
use stats::judge::regimes::TargetStep;
use stats::{ClockKind, RateBase, Regime, Round, TargetInfo, are_of_last_regime};
use units::{Nanos, whole};
use workload::{MachineSettings, Phase};

use crate::plan::Plan;

pub use devices::of_reads;

/// A cell to be judged: its claims, and the observations in the rounds that count.
pub struct CellFacts<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// The phase that ran.
    pub phase: &'a Phase,
    /// The number of files of the phase: one for each job, or one that all jobs share.
    pub files: u64,
    /// The clock that the cell claims.
    pub clock: ClockKind,
    /// The quantity that the rate counts.
    pub base: RateBase,
    /// The unit in which the rate is printed.
    pub unit: RateUnit,
    /// True if the cell claims that the files were not in the page cache.
    pub cold: bool,
    /// True if the program uses direct I/O.
    pub direct: bool,
    /// True if no real device was used: on a simulated machine, or with the null engine.
    pub simulated: bool,
    /// The file systems of the targets that diskperf did not create: type and mount options.
    pub places: Vec<&'a Place>,
    /// The reason if the program failed.
    pub failure: Option<String>,
    /// True if the cell has a figure.
    pub measured: bool,
    /// For targets measured at the same time: the shortest elapsed time divided by the longest.
    pub overlap: Option<f64>,
    /// True if several targets were measured at the same time.
    pub together: bool,
    /// The descriptions of the targets.
    pub infos: &'a [&'a TargetInfo],
    /// The clock floor: the elapsed time of an empty stream. `None` if the clock is exact.
    pub clock_floor: Option<Nanos>,
    /// The settings of the machine around the program, each with its round, in the order of time.
    pub settings: &'a [(u32, &'a MachineSettings)],
    /// The steadiness of the rounds, if the run continues until it is steady.
    pub settling: Option<Settling>,
    /// The regimes of the rate; none if it kept one level.
    pub regimes: &'a [Regime],
    /// The last round that is left out because its regime is not the last one.
    pub left_out: Option<u32>,
    /// The change of all results of the target, if it explains the regimes.
    pub target_step: Option<&'a TargetStep>,
    /// The rounds that count.
    pub rounds: &'a [&'a Round],
    /// The observations in these rounds.
    pub runs: &'a [&'a PhaseResult],
}

impl CellFacts<'_> {
    /// True if the cell claims that data are on a device: only then it claims another clock than the first one.
    fn is_durable(&self) -> bool {
        self.clock != ClockKind::Returned
    }

    /// True if the cell claims that its data were on a device.
    fn claims_device(&self) -> bool {
        self.is_durable() || self.cold || self.direct
    }
}

/// The marks of a cell. A failed cell has only the mark of its error, and one that was not measured has none.
pub fn marks(facts: &CellFacts) -> Vec<Mark> {
    if let Some(failure) = &facts.failure {
        return vec![Mark { code: MarkCode::Error, value: None, text: failure.clone() }];
    }
    if !facts.measured {
        return Vec::new();
    }
    let of_devices: Vec<Mark> = devices::marks(facts).collect();
    // A device's own counters are better evidence than those of the machine.
    let is_new = |mark: &Mark| of_devices.iter().all(|other| other.code != mark.code);
    let blind: Vec<Mark> = blind::marks(facts).filter(is_new).collect();
    of_devices
        .into_iter()
        .chain(blind)
        .chain(rates::marks(facts))
        .chain(of_rounds(facts))
        .chain(machine::marks(facts))
        .collect()
}

/// Marks about the rounds themselves.
fn of_rounds(facts: &CellFacts) -> impl Iterator<Item = Mark> {
    let rate = |round: &Round| summary::round_rate(round, facts.together, facts.base, facts.clock);
    let rates: Vec<(u32, f64)> = facts.rounds.iter().filter_map(|round| Some((round.round, rate(round)?))).collect();
    let schedule = &facts.plan.schedule;
    let all: Vec<f64> = rates.iter().map(|(_, rate)| *rate).collect();
    let few = rounds::few(&all, schedule.promised(), schedule.must_agree());
    // A lack of data says more than a lack of rounds.
    let few = floor::shortfall(facts).map(|lack| lack.mark()).or(few);
    // Rounds of several levels have no usual rate: the warning `step` names the levels.
    let is_judged = !facts.simulated && are_of_last_regime(facts.regimes, facts.rounds.iter().copied());
    let outlier = if is_judged { outlier(facts.unit, &rates) } else { None };
    few.into_iter().chain(outlier).chain(facts.overlap.and_then(rounds::uneven))
}

/// The mark of outlier rounds, in the words of the table: the rates, or the times of a command.
fn outlier(unit: RateUnit, rates: &[(u32, f64)]) -> Option<Mark> {
    if unit.name == RUNS {
        let times: Vec<(u32, f64)> = rates.iter().map(|(round, rate)| (*round, 1.0 / rate)).collect();
        return rounds::outlier(&times, |seconds| Nanos((1e9 * seconds) as u64).to_string(), "");
    }
    let figures: Vec<(u32, f64)> = rates.iter().map(|(round, rate)| (*round, rate / unit.size)).collect();
    let in_words = |figure: f64| if figure >= 1e3 { whole(figure.round() as u64) } else { significant(figure, 3) };
    rounds::outlier(&figures, in_words, &format!(" {}", report::unit(unit.name)))
}
