//! One call of `diskperf run`, or of `resume`: what is to be said of the run, and its place in the store.

use std::ffi::OsString;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use kernel::guard::GuardFault;
use kernel::machine::Host;
use kernel::name::Shown;
use kernel::{Incarnation, Vacated};
use stats::{Document, Problem, RunInfo, SCHEMA, TargetInfo};
use store::{Left, RunState, Store};

use super::run::{Results, all_cells, alternatives};
use crate::cells::{History, Scene};
use crate::cli::run::RunArguments;
use crate::error::Error;
use crate::ground;
use crate::keeper::{Decided, Keeper, performances};
use crate::plan::Plan;
use crate::remains;
use crate::target::{Site, Target, TargetArgument, TargetKind};

/// A stored run to go on with.
#[derive(Debug)]
pub struct Resumed {
    /// Where it is stored.
    pub store: Store,
    /// How it is called there.
    pub run: String,
    /// What is needed to go on with it.
    pub left: Left,
}

impl Resumed {
    /// Removes what its process left behind here, of a run that is not gone on with. Only who holds the run may remove
    /// folders, so that nobody who does go on with it loses anything; it stays one that was killed.
    pub fn abandon(mut self) {
        let Left { state, holder, info, folder, .. } = &self.left;
        if info.host != Host::this().name {
            return;
        }
        let removed = if *state != RunState::Running {
            remains::release(&self.run).map(drop)
        } else if self.store.claim(&self.run, holder, &Incarnation::this().to_string()).is_ok() {
            let directories = info.targets.iter().filter_map(|target| {
                let Ok(argument) = target.argument.parse::<TargetArgument>();
                let TargetKind::Directory(path) = argument.kind else { return None };
                Some(folder.join(path)).filter(|path| path.is_dir())
            });
            remains::remove(&self.run, directories).map(drop)
        } else {
            Ok(())
        };
        if let Err(error) = removed {
            remark!("{error}");
        }
    }
}

/// One call of the command.
pub struct Session<'a> {
    /// What was asked for.
    pub arguments: &'a RunArguments,
    words: &'a [OsString],
    started: (SystemTime, Instant),
    /// What a run that is gone on with was, and had finished.
    left: Option<Left>,
    /// Who writes it down, if anybody does.
    pub keeper: Option<Keeper>,
    /// Devices that an earlier process of the run had left, held until they are used.
    pub vacated: Vec<Vacated>,
}

impl<'a> Session<'a> {
    /// Begins now.
    pub fn new(arguments: &'a RunArguments, words: &'a [OsString]) -> Session<'a> {
        Session { arguments, words, started: now(), left: None, keeper: None, vacated: Vec::new() }
    }

    /// What is to be said of the run, as far as it is known.
    pub fn info(&self, plan: Option<&Plan>, targets: &[Target], results: &Results) -> RunInfo {
        let mut info = info(self.words, self.started, plan, targets, results);
        info.job = self.arguments.job.as_ref().map(|job| job.text.text.clone());
        info.mix = self.arguments.mix.filter(|_| self.arguments.mixing.is_derived()).map(|mix| mix.to_string());
        if let Some(Left { info: before, .. }) = &self.left {
            info.started_unix_s = before.started_unix_s;
            if plan.is_none() {
                info.preset.clone_from(&before.preset);
                (info.seed, info.rounds) = (before.seed, before.rounds);
            }
            // The cells that are stored stay, and what was said of them with them.
            if results.cells.is_empty() {
                info.calibration = before.calibration;
                info.noise.clone_from(&before.noise);
                info.findings.clone_from(&before.findings);
            }
        }
        if let Some(keeper) = &self.keeper {
            info.elapsed_s = keeper.elapsed_s();
            info.store = Some(keeper.info().clone());
        }
        info
    }

    /// Makes a run ours that is gone on with, and removes what its process has left behind. Devices are looked at again
    /// afterwards.
    pub fn claim(&mut self, Resumed { store, run, left }: Resumed, targets: &mut [Target]) -> Result<(), Error> {
        self.keeper = Some(Keeper::go_on(store, run.clone(), &left, targets)?);
        self.left = Some(left);
        let directories = targets.iter().filter_map(|target| match &target.site {
            Site::Directory { path, .. } => Some(path.clone()),
            _ => None,
        });
        let mut vacated = remains::remove(&run, directories)?;
        vacated.retain(|vacated| targets.iter().any(|target| target.is_made_on(&vacated.node())));
        for target in targets {
            if let Site::Volume(volume) = &mut target.site {
                let held = vacated.iter().find(|vacated| vacated.node() == volume.inspected.node());
                **volume = ground::looked_at_again(volume, held)?;
            }
        }
        self.vacated = vacated;
        Ok(())
    }

    /// Whether an earlier process of the run came so far that it had overwritten its devices.
    pub fn has_overwritten(&self) -> bool {
        self.left.as_ref().is_some_and(|left| !left.plan.is_empty() || !left.executions.is_empty())
    }

    /// The error as `resume` says it: it takes no options of `run`, so that its hint names the whole command.
    pub fn on_resuming(&self, error: Error) -> Error {
        match (&self.left, error) {
            (Some(left), Error::Guard(refused @ GuardFault::Refused { .. })) => {
                let (folder, command) = (left.folder.clone(), self.words.to_vec());
                Error::Occupied { refused, folder, command }
            }
            (_, error) => error,
        }
    }

    /// Has devices stay as they are that an earlier process has conditioned and written to in some rounds. Where none was
    /// finished, they are conditioned anew.
    pub fn keep_conditioned(&self, targets: &mut [Target]) {
        if self.left.as_ref().is_none_or(|left| left.executions.is_empty()) {
            return;
        }
        for target in targets {
            if let Site::Device(device) = &mut target.site
                && let Some(overwriting) = &mut device.overwriting
            {
                overwriting.conditioning = None;
            }
        }
    }

    /// What an earlier process said of how it conditioned the devices.
    pub fn conditioned_before(&self, infos: &mut [TargetInfo]) {
        let Some(left) = &self.left else { return };
        for info in infos.iter_mut().filter(|info| info.conditioned.is_none()) {
            let before = left.info.targets.iter().find(|before| before.name == info.name);
            info.conditioned = before.and_then(|before| before.conditioned.clone());
        }
    }

    /// Writes a new run down before anything is made for it.
    pub fn keep(&mut self, plan: &Plan, targets: &[Target]) -> Result<(), Error> {
        if self.keeper.is_some() {
            return Ok(());
        }
        let Some(store) = self.arguments.store.to_write()? else { return Ok(()) };
        let here = std::env::current_dir().map_err(|_| Error::Missing(".".into()))?;
        let info = self.info(Some(plan), targets, &Results::default());
        // What is told of the ground alone is told once that is made.
        let scene = Scene { plan, targets, infos: &[], nothing: None };
        let cells = all_cells(scene, &vec![History::default(); plan.alternatives.len()]);
        self.keeper = Some(Keeper::begin(store, (self.words, &here), targets, info, &cells)?);
        Ok(())
    }

    /// What the names of private folders hold.
    pub fn label(&self) -> Option<&str> {
        self.keeper.as_ref().map(Keeper::run)
    }

    /// What was decided about a run that is gone on with; nothing where it did not come to that.
    pub fn decided(&self) -> Result<Option<Decided>, Error> {
        let Some(left) = self.left.as_ref().filter(|left| !left.plan.is_empty()) else { return Ok(None) };
        serde_json::from_slice(left.plan.as_bytes()).map(Some).map_err(|_| self.elsewhere())
    }

    /// Decides the same about this plan.
    pub fn decide_again(&self, decided: &Decided, plan: &mut Plan, targets: &[Target]) -> Result<(), Error> {
        if let Some(sizes) = decided.sizes {
            plan.alternatives = alternatives(self.arguments, targets, sizes)?;
            plan.sizes = Some(sizes);
        }
        if decided.apply(plan) { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// Takes over what an earlier process has finished.
    pub fn load(&mut self, plan: &Plan, histories: &mut [History]) -> Result<(), Error> {
        let Some(left) = &self.left else { return Ok(()) };
        for (alternative, round, position, performance) in performances(left).ok_or_else(|| self.elsewhere())? {
            let history = histories.get_mut(alternative).ok_or_else(|| self.elsewhere())?;
            history.add(plan, round, position, performance);
        }
        Ok(())
    }

    /// What was planned and measured cannot be gone on with here.
    fn elsewhere(&self) -> Error {
        Error::Elsewhere {
            run: self.label().unwrap_or_default().to_owned(),
            elsewhere: "by another build, or where other programs would be run".to_owned(),
            folder: self.left.as_ref().map(|left| left.folder.clone()).unwrap_or_default(),
            command: self.words.to_vec(),
        }
    }

    /// Writes down how the run ended. What cannot be stored is one more problem of it.
    pub fn end(&mut self, document: &mut Document) -> Result<(), Error> {
        let Some(keeper) = self.keeper.take() else { return Ok(()) };
        let state = match document {
            Document { run: RunInfo { interrupted: true, .. }, .. } => RunState::Interrupted,
            Document { errors, .. } if !errors.is_empty() => RunState::Failed,
            _ => RunState::Finished,
        };
        keeper.end(state, document).map_err(|error| {
            let error = Error::from(error);
            document.errors.push(problem(&error));
            error
        })
    }
}

/// By both clocks: when a run begins.
pub fn now() -> (SystemTime, Instant) {
    (SystemTime::now(), Instant::now())
}

/// What is to be said of a run that nobody stores and that is gone on with nowhere.
pub fn info(
    words: &[OsString],
    (clock, instant): (SystemTime, Instant),
    plan: Option<&Plan>,
    targets: &[Target],
    results: &Results,
) -> RunInfo {
    let of_targets = match &results.targets[..] {
        [] => targets.iter().filter_map(|target| ground::info(target, None).ok()).collect(),
        known => known.to_vec(),
    };
    let host = Host::this();
    RunInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: words.iter().map(|word| word.shown().into_owned()).collect(),
        preset: plan.map(|plan| plan.preset.to_owned()),
        started_unix_s: clock.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        elapsed_s: instant.elapsed().as_secs_f64(),
        seed: plan.map_or(0, |plan| plan.seed),
        rounds: plan.map_or(0, |plan| plan.rounds),
        kernel: host.kernel,
        host: host.name,
        cpus: host.cpus as u64,
        memory_bytes: host.memory_bytes,
        memory_limit_bytes: plan.and_then(|plan| plan.memory).map(|memory| memory.0),
        calibration: results.calibration,
        noise: results.noise.clone(),
        targets: of_targets,
        findings: results.findings.clone(),
        choice: results.choice.clone(),
        phases: plan.and_then(|plan| plan.phases),
        interrupted: results.interrupted,
        job: None,
        mix: None,
        store: None,
    }
}

/// All that a run left in hand, and the error that ended it.
pub fn document(info: RunInfo, results: Results, ended: &Result<(), Error>) -> Document {
    let mut errors = results.problems;
    errors.extend(ended.as_ref().err().map(problem));
    Document { schema: SCHEMA.to_owned(), run: info, cells: results.cells, errors }
}

/// What is to be said of a command that was refused before anything was planned.
pub fn of_nothing(words: &[OsString], problem: Problem) -> Document {
    let results = Results { problems: vec![problem], ..Results::default() };
    document(info(words, now(), None, &[], &results), results, &Ok(()))
}

/// An error, as a document has it.
pub fn problem(error: &Error) -> Problem {
    Problem { target: None, program: None, phase: None, message: error.to_string(), hint: error.hint() }
}
