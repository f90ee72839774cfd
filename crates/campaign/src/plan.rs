//! The plan of a run: its tests, their targets, and the order of each round. It is made before anything is written.

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use jobs::Time;
use kernel::EvictionMethods;
use runner::execution::MeasureOptions;
use stats::figures::summary::RateUnit;
use units::{Bytes, Nanos, Prng};
use workload::{Issue, Member, Op, OpKind, Parameter, Phase, Program, RateBase, Step, Steps, Stream};

use crate::fit::limits::Limits;
use crate::fit::sizes::{SizeKind, Sizes};
use crate::fit::unit_costs::{Trials, Work};
use crate::request::schedule::Schedule;

#[cfg(test)]
mod tests;

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The preset's name.
    pub preset: &'static str,
    /// The requested rounds.
    pub schedule: Schedule,
    /// The maximum number of rounds, including the discarded one.
    pub rounds: u32,
    /// The memory limit of the run, if it has one.
    pub memory: Option<Bytes>,
    /// The step that precedes every execution on a file system of our own.
    pub before: Before,
    /// The claimed clock, and whether single operations are timed.
    pub options: MeasureOptions,
    /// The ways in which files may be evicted from the page cache before a cold phase.
    pub methods: EvictionMethods,
    /// The seed of the order and of the data.
    pub seed: u64,
    /// True if tests write zeros instead of incompressible data.
    pub zeros: bool,
    /// No round begins that would probably end later than this.
    pub budget: Option<Nanos>,
    /// True if results need enough data to decide anything.
    pub has_floor: bool,
    /// The way in which its sizes are chosen.
    pub sizing: PlannedSizing,
    /// The user's commands, in the order of their numbers.
    pub commands: Arc<[kernel::Command]>,
    /// True if the requests of the devices are recorded.
    pub records: bool,
    /// True if the devices rest before each execution, so that their burst credits are full.
    pub rests: bool,
    /// The alternatives. Each round runs every one once.
    pub alternatives: Vec<Alternative>,
}

/// The way in which the sizes of a plan are chosen.
#[derive(Clone, Debug)]
pub enum PlannedSizing {
    /// All sizes are given.
    Fixed,
    /// The sizes are as large as fits.
    FitTime(Box<Fit>),
    /// All sizes are given. Tests and rounds are left out.
    Thin,
}

/// Sizes that are chosen to fit.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// The time and the bytes that the sizes must fit into.
    pub limits: Limits,
    /// The sizes, once they are chosen.
    pub sizes: Option<Sizes>,
    /// Bytes that trials write to each target before the first round, at most.
    pub tried: u64,
    /// Bytes that the run writes to each target, at most, with its trials.
    pub most_written: Option<Bytes>,
    /// True if the user set that limit. Then a comparison keeps it even if it has more rounds than planned.
    pub is_strict: bool,
}

/// The step before an execution on a file system of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing is done.
    Nothing,
    /// The file system is remounted, so that nothing of it is cached.
    Mount,
    /// The file system is re-created, so that every program finds the same state.
    Make,
}

/// One program on one target, or on several at once.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The index of the target of each program. Several programs may have the same target.
    pub targets: Vec<usize>,
    /// The program that runs there.
    pub row: Row,
}

impl Alternative {
    /// A row on these targets, with the number of programs per target that the row has.
    pub fn for_targets(targets: &[usize], row: Row) -> Alternative {
        let jobs = row.jobs.max(1) as usize;
        Alternative { targets: targets.iter().flat_map(|&target| iter::repeat_n(target, jobs)).collect(), row }
    }

    /// The distinct targets.
    pub fn busy(&self) -> Vec<usize> {
        let mut busy = self.targets.clone();
        busy.dedup();
        busy
    }

    /// The memory of the rings of all programs together.
    pub fn ring_memory(&self) -> Bytes {
        let issues = self.row.program.phases.iter().map(|phase| phase.steps.issue());
        let rings = issues.filter_map(|issue| if let Issue::Async(overlap) = issue { Some(overlap) } else { None });
        let largest = rings.map(kernel::ring_memory).max().unwrap_or_default();
        Bytes(largest.0 * self.targets.len() as u64)
    }
}

/// The device under a target.
#[derive(Clone, Debug)]
pub enum Raw {
    /// The device with this path.
    Node(PathBuf),
    /// The loop device of the image, which has a path once the image is made.
    OfImage,
}

/// A program as a preset lists it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The program.
    pub program: Program,
    /// The unit of its rates.
    pub unit: RateUnit,
    /// The reason if it is left out.
    pub omitted: Option<String>,
    /// The device that it reads, if it runs on a device and not in a directory.
    pub raw: Option<Raw>,
    /// Its work, if known. A plan is forecast if the work of all its rows is known.
    pub work: Option<Work>,
    /// The size that is chosen to fit, if one is.
    pub size_kind: Option<SizeKind>,
    /// The expected time of an execution, from its trials.
    pub forecast: Option<Nanos>,
    /// The number of copies that run on a target at the same time.
    pub jobs: u32,
    /// True if it has its own trials. Otherwise, its cost is estimated from the trials of other rows.
    pub is_tried: bool,
}

impl Row {
    /// A row for a program that is run.
    pub fn new(program: Program, unit: RateUnit) -> Row {
        Row {
            program,
            unit,
            omitted: None,
            raw: None,
            work: None,
            size_kind: None,
            forecast: None,
            jobs: 1,
            is_tried: true,
        }
    }

    /// This row with its work.
    pub fn doing(self, work: Work) -> Row {
        Row { work: Some(work), ..self }
    }

    /// This row with the size that is chosen to fit.
    pub fn going_by(self, size_kind: SizeKind) -> Row {
        Row { size_kind: Some(size_kind), ..self }
    }

    /// This row without trials.
    pub fn untried(self) -> Row {
        Row { is_tried: false, ..self }
    }

    /// The number of copies of its program on a target. A group contains the copies of its loads.
    fn copies(&self) -> u64 {
        if self.program.is_group() { 1 } else { self.jobs.into() }
    }

    /// True if the program writes anything, during the preparation or a phase.
    pub fn writes(&self) -> bool {
        let prepares = self.program.group.iter().map(|member| &member.prepare).chain([&self.program.prepare]);
        prepares.into_iter().any(|prepare| !prepare.is_empty()) || self.program.phases.iter().any(Phase::changes)
    }

    /// True if it uses direct I/O.
    pub fn is_direct(&self) -> bool {
        (0..self.program.phases.len()).all(|phase| self.is_direct_in(phase))
    }

    /// True if a phase uses direct I/O.
    pub fn is_direct_in(&self, phase: usize) -> bool {
        self.program.parameters_of(phase).contains(&Parameter::new("direct", true))
    }

    /// True if it uses the null engine.
    pub fn is_null_engine(&self) -> bool {
        self.program.phases.iter().all(|phase| phase.steps.issue() == Issue::Null)
    }

    /// The program with its settings: `copy buffer_bytes=1 file_bytes=100000000 sync=none`.
    pub fn label(&self) -> String {
        let settings =
            self.program.parameters.iter().map(|parameter| format!(" {}={}", parameter.name, parameter.value));
        self.program.name.to_owned() + &settings.collect::<String>()
    }
}

impl Alternative {
    /// The program with its settings and targets, which is unique in a plan.
    pub fn label(&self) -> String {
        format!("{} on {:?}", self.row.label(), self.targets)
    }
}

impl Plan {
    /// A plan of given sizes, without a limit of time or memory.
    pub fn fixed(
        (preset, options): (&'static str, MeasureOptions),
        schedule: Schedule,
        seed: u64,
        alternatives: Vec<Alternative>,
    ) -> Plan {
        Plan {
            preset,
            rounds: schedule.rounds(),
            schedule,
            memory: None,
            before: Before::Nothing,
            options,
            methods: EvictionMethods::default(),
            seed,
            zeros: false,
            budget: None,
            has_floor: true,
            sizing: PlannedSizing::Fixed,
            commands: Arc::default(),
            records: false,
            rests: false,
            alternatives,
        }
    }

    /// The order of a round. Each round has another random order, so that no alternative always follows the same one.
    pub fn order(&self, round: u32) -> Vec<usize> {
        let runs = |(index, alternative): (usize, &Alternative)| alternative.row.omitted.is_none().then_some(index);
        let mut order: Vec<usize> = self.alternatives.iter().enumerate().filter_map(runs).collect();
        Prng::new(self.seed.wrapping_add(u64::from(round))).shuffle(&mut order);
        order
    }

    /// The name of an alternative: its program, with the settings if other alternatives have the same program and
    /// targets, or with the loads of a group.
    pub fn name(&self, index: usize) -> String {
        let this = &self.alternatives[index];
        if this.row.program.is_group() {
            let loads: Vec<&str> = this.row.program.keys().map(|(load, _)| load).collect();
            return format!("{} ({})", this.row.program.name, loads.join(" and "));
        }
        let is_namesake =
            |other: &&Alternative| other.targets == this.targets && other.row.program.name == this.row.program.name;
        match self.alternatives.iter().filter(is_namesake).count() {
            1 => this.row.program.name.to_owned(),
            _ => this.row.label(),
        }
    }

    /// The index of an alternative's first cell among all cells. Each phase has one cell.
    pub fn first_cell(&self, index: usize) -> usize {
        self.alternatives[..index].iter().map(|alternative| alternative.row.program.phases.len()).sum()
    }

    /// True if the results of a round are discarded.
    pub fn discards(&self, round: u32) -> bool {
        self.schedule.discards_first() && round == 1 && self.rounds > 1
    }

    /// The time and the bytes that the sizes must fit into, if they are chosen to fit.
    pub fn limits(&self) -> Option<Limits> {
        self.fit().map(|fit| fit.limits)
    }

    /// The sizes that were chosen to fit.
    pub fn sizes(&self) -> Option<Sizes> {
        self.fit()?.sizes
    }

    /// Sets the sizes that were chosen to fit.
    pub fn set_sizes(&mut self, sizes: Sizes) {
        if let PlannedSizing::FitTime(fit) = &mut self.sizing {
            fit.sizes = Some(sizes);
        }
    }

    /// The extent of random places in bytes, if diskperf chose it, and not the user.
    pub fn chosen_span(&self) -> Option<u64> {
        let fit = self.fit().filter(|fit| !fit.limits.is_given(SizeKind::Spots))?;
        Some(fit.sizes?.spots)
    }

    fn fit(&self) -> Option<&Fit> {
        match &self.sizing {
            PlannedSizing::FitTime(fit) => Some(fit),
            PlannedSizing::Fixed | PlannedSizing::Thin => None,
        }
    }

    /// The trials for the forecast of a plan from which tests are left out. `None` unless the work of every row is
    /// known.
    pub fn trials(&self) -> Option<Trials> {
        if !matches!(self.sizing, PlannedSizing::Thin) {
            return None;
        }
        let works = self.alternatives.iter().map(|alternative| alternative.row.work);
        Some(Trials::from_rows(works.collect::<Option<Vec<Work>>>()?.into_iter()))
    }

    /// The maximum number of bytes on a target at one time. Programs run one after the other and remove their files.
    pub fn space(&self, target: usize) -> u64 {
        let here = self.alternatives.iter().filter(|alternative| alternative.targets.contains(&target));
        here.map(|Alternative { row, .. }| row.program.space.saturating_mul(row.copies())).max().unwrap_or(0)
    }

    /// The maximum number of bytes written to a target in a round, by the preparation and the tests.
    fn round_writes(&self, target: usize) -> u64 {
        let here = self.alternatives.iter().filter(|alternative| alternative.targets.contains(&target));
        here.filter(|alternative| alternative.row.omitted.is_none())
            .map(Alternative::writes)
            .fold(0, u64::saturating_add)
    }

    /// The maximum number of bytes written to a target: by trials, and in every round by the preparation and the tests.
    pub fn writes(&self, target: usize) -> u64 {
        self.writes_in(target, self.rounds)
    }

    /// The same for this number of rounds.
    fn writes_in(&self, target: usize, rounds: u32) -> u64 {
        let round = self.round_writes(target);
        let of_trials = |trials: Trials| trials.programs().iter().map(writes).fold(0, u64::saturating_add);
        let trials = self.trials().map_or(0, of_trials);
        let tried = self.fit().map_or(0, |fit| fit.tried);
        // A ceiling writes a tenth of what its program writes.
        let round = if self.options.ceiling { round.saturating_add(round / 10) } else { round };
        let rounds = round.saturating_mul(rounds.into());
        rounds.saturating_add(trials.saturating_mul(Trials::EXECUTIONS.into())).saturating_add(tried)
    }

    /// The most rounds of a comparison for which the bytes written stay within the limit of the user. `None` without
    /// such a limit.
    pub fn affordable_rounds(&self) -> Option<u32> {
        let fit = self.fit().filter(|fit| fit.is_strict)?;
        let written = fit.limits.written?;
        let targets = self.alternatives.iter().flat_map(|alternative| alternative.targets.iter().copied());
        let most = targets.map(|target| self.round_writes(target)).max().unwrap_or(0);
        written.checked_div(most).map(|rounds| rounds.try_into().unwrap_or(u32::MAX))
    }

    /// The maximum number of bytes that loads between the tests write to a target (`held_load`, `first_load`): the part
    /// of the user's limit that the necessary rounds leave; without such a limit, as much as the tests may write. A
    /// load that the user requested has a limit only if the user set one.
    pub fn load_limit(&self, target: usize, is_requested: bool) -> u64 {
        let Some((fit, most)) = self.fit().and_then(|fit| Some((fit, fit.most_written?.0))) else { return u64::MAX };
        if fit.is_strict {
            let rounds = if self.schedule.goal().is_some() { self.schedule.least_to_decide() } else { self.rounds };
            return most.saturating_sub(self.writes_in(target, rounds));
        }
        if is_requested { u64::MAX } else { most }
    }

    /// True if this number of rounds stays within the user's limit of bytes although loads have written this much.
    pub fn affords(&self, target: usize, rounds: u32, loaded: u64) -> bool {
        let most = self.fit().filter(|fit| fit.is_strict).and_then(|fit| fit.most_written);
        most.is_none_or(|most| loaded == 0 || self.writes_in(target, rounds).saturating_add(loaded) <= most.0)
    }

    /// The bytes written to a target, in words: `up to 1.5 GiB`, or the time during which tests write as much as they
    /// can, or as the rate allows.
    pub fn writes_in_words(&self, target: usize) -> String {
        if !self.commands.is_empty() {
            return "the files of the command".to_owned();
        }
        let here = self.alternatives.iter().filter(|alternative| alternative.targets.contains(&target));
        let phases = here.flat_map(|alternative| {
            let phases = &alternative.row.program.phases;
            // All loads of a group run for the longest warm-up.
            let warmup = phases.iter().filter_map(|phase| phase.warmup).max();
            phases.iter().map(move |phase| (phase, warmup))
        });
        let endless = phases.filter_map(|(phase, warmup)| {
            let over_and_over = phase.unit.first == OpKind::WriteAt || phase.unit.also == Some(OpKind::WriteAt);
            let is_random = phase.changes() && phase.base == RateBase::Ops && over_and_over;
            // At the end of its file, a warm-up starts over.
            let writes_again = warmup.is_some() && (phase.changes() || phase.unit.first == OpKind::Write);
            let time = phase.within.filter(|_| is_random || writes_again)?;
            Some((phase, (time, warmup.unwrap_or_default())))
        });
        // A test without a rate may write the most.
        let Some((phase, (time, warmup))) = endless.min_by_key(|(phase, _)| phase.steps.is_paced()) else {
            return self.most_writes_in_words(target);
        };
        let most = if phase.steps.is_paced() { "as much as the rate allows" } else { "as much as it can" };
        match time == Time::FOREVER.0 {
            true => format!("{most} until Ctrl-C"),
            false => format!("{most} in {} a round", time + warmup),
        }
    }

    /// `up to 1.5 GiB`; if more rounds follow until a comparison is decided, `up to 1.5 GiB a round`, and the bytes of
    /// the load that uses up credits.
    fn most_writes_in_words(&self, target: usize) -> String {
        let all = self.writes(target);
        let Some(fit) = self.fit() else { return format!("up to {}", Bytes(all)) };
        let most = fit.most_written.map_or(all, |most| most.0.min(all));
        if self.schedule.goal().is_some() && !fit.is_strict && most > 0 {
            let loads = match self.load_limit(target, false) {
                u64::MAX => "as much more as the time allows".to_owned(),
                most => format!("up to {} more", Bytes(most)),
            };
            let round = Bytes(most / u64::from(self.rounds.max(1)));
            return format!("up to {round} a round and, if a rate drops, {loads}");
        }
        format!("up to {}", Bytes(most))
    }

    /// True if no alternative uses the target together with others.
    pub fn is_always_alone(&self, target: usize) -> bool {
        self.alternatives
            .iter()
            .all(|alternative| alternative.targets.len() == 1 || !alternative.targets.contains(&target))
    }

    /// The largest single read or write of all programs on a target.
    pub fn largest_call(&self, target: usize) -> u32 {
        let here = self.alternatives.iter().filter(|alternative| alternative.targets.contains(&target));
        let rows = here.map(|alternative| alternative.row.program.largest_call).max().unwrap_or(0);
        let trials = self.trials().map(|trials| trials.programs().map(|program| program.largest_call));
        trials.into_iter().flatten().fold(rows, u32::max)
    }
}

impl Alternative {
    /// Bytes that one execution writes to each of its targets.
    pub fn writes(&self) -> u64 {
        writes(&self.row.program).saturating_mul(self.row.copies())
    }
}

/// Bytes that one execution of the program writes, with its preparation.
pub fn writes(program: &Program) -> u64 {
    if program.is_group() {
        let of_load = |(member, phase): (&Member, &Phase)| {
            let each = prepared(&member.prepare).saturating_add(worked(phase, member.space));
            each.saturating_mul(member.jobs.into())
        };
        return program.group.iter().zip(&program.phases).map(of_load).fold(0, u64::saturating_add);
    }
    prepared(&program.prepare) + program.phases.iter().map(|phase| worked(phase, program.space)).sum::<u64>()
}

/// Bytes that a preparation writes.
fn prepared(prepare: &Stream) -> u64 {
    // A preparation consists of few different calls, each repeated many times. `again` skips the repetitions.
    let mut prepare = prepare.clone();
    let mut prepared = 0;
    while let Some(step) = prepare.next() {
        if let Step::Op(op @ Op::Write { length, .. }) = step {
            prepared += u64::from(length) * (1 + prepare.take_repeats(&op));
        }
    }
    prepared
}

/// Bytes that a phase writes, if its program has this space.
fn worked(phase: &Phase, space: u64) -> u64 {
    // A warm-up may write everything, too. If it starts over, its time limits it, and not its bytes.
    let times = if phase.warmup.is_some() { 2 } else { 1 };
    let once = match (phase.base, phase.unit.first) {
        (RateBase::Bytes, _) if phase.changes() => phase.amount,
        // Phases that create files or append records write all of the program's space. Its other phases write next to
        // nothing.
        (RateBase::Files, OpKind::Create) | (RateBase::Ops, OpKind::Write) => space,
        _ => 0,
    };
    once.saturating_mul(times)
}
