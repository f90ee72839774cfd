//! One call of `diskperf run` or `diskperf resume`: the description of the run, and its place in the results database.

use std::ffi::OsString;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use campaign::error::CampaignError;
use campaign::events::{Event, Remarks};
use campaign::executions::Executions;
use campaign::peers::Peers;
use campaign::plan::Plan;
use campaign::recording;
use campaign::request::planning::alternatives;
use campaign::request::resolved::Resolved;
use campaign::request::{RunRequest, Workload};
use campaign::results::{RunContext, all_cells};
use campaign::run_writer::{Command, Decided, RunWriter, finished_executions};
use campaign::targets::prepared_target;
use campaign::targets::{Site, Target};
use kernel::guard::GuardFault;
use kernel::observe::host::Host;
use kernel::sys::name::Shown;
use kernel::{ImageFault, PathFault, ProcessIdentity, Vacated, replaced_volumes_of};
use serde::{Deserialize, Serialize};
use stats::{Calibration, Cell, Choice, Document, Noise, Problem, RemarkKind, RunInfo, SCHEMA, TargetInfo};
use store::{Left, RunState, Store};

use crate::documents::store_arguments::RunStoreArguments;
use crate::error::{Error, RunsError};
use crate::leftovers;
use crate::ui::consent::Earlier;
use crate::ui::output_format::Output;

/// The results of a run, as far as it came.
#[derive(Debug, Default)]
pub struct Results {
    /// The targets as they were measured; empty if none was prepared.
    pub targets: Vec<TargetInfo>,
    pub cells: Vec<Cell>,
    pub problems: Vec<Problem>,
    /// Conclusions from the figures.
    pub findings: Vec<String>,
    /// The answer of a comparison.
    pub choice: Option<Box<Choice>>,
    /// The cost of measuring here.
    pub calibration: Option<Calibration>,
    /// Other load on the machine.
    pub noise: Option<Noise>,
    /// True if a signal ended the run.
    pub interrupted: bool,
}

/// A stored run to resume.
#[derive(Debug)]
pub struct Resumed {
    /// The database that has the run.
    pub store: Store,
    /// The id of the run.
    pub run: String,
    /// The stored state from which it is resumed.
    pub left: Left,
    /// The hosts that resume it.
    pub peers: Peers,
}

impl Resumed {
    /// Removes the leftovers of a run that is not resumed. Only the holder of the run may remove folders: another
    /// process may be resuming it. The run stays a killed one.
    pub fn abandon(mut self, notify: &mut dyn FnMut(Event)) {
        let Left { state, holder, info, folder, .. } = &self.left;
        if info.host != Host::this().name {
            return;
        }
        let this = ProcessIdentity::this().to_string();
        let removed = if *state != RunState::Running {
            leftovers::release(&self.run, notify).map(drop)
        } else if self.store.claim(&self.run, holder, &this).is_ok() {
            let directories = leftovers::paths(&info.targets, folder).filter(|path| path.is_dir());
            let removed = leftovers::remove(&self.run, directories, notify).map(drop);
            // The holder shows whether the machine was restarted since the run was killed.
            removed.and(self.store.claim(&self.run, &this, holder).map_err(Error::from))
        } else {
            Ok(())
        };
        if let Err(error) = removed {
            notify(Event::LeftoversStay(&error));
        }
    }
}

/// The stored part of a call, from which `resume` repeats it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The request of the run.
    pub request: RunRequest,
    /// Format and file of the results.
    pub output: Output,
}

impl Stored {
    /// The text for the database.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// Parses the stored text. `None` if another build stored it.
    pub fn of_text(text: &str) -> Option<Stored> {
        serde_json::from_slice(text.as_bytes()).ok()
    }
}

/// The words and options of a call that are not in its request.
#[derive(Debug)]
pub struct Call<'a> {
    /// The whole command line.
    pub words: &'a [OsString],
    /// The database options for a new run.
    pub store: &'a RunStoreArguments,
    /// Format and file of the results.
    pub output: Output,
    /// True if it only prints the plan.
    pub dry_run: bool,
    /// True if a terminal shows figures while a test runs.
    pub live: bool,
}

/// One call of the command.
pub struct Session<'a> {
    /// The request of the run, resolved on this machine.
    pub resolved: &'a Resolved,
    /// The words and options of this call.
    pub call: &'a Call<'a>,
    started: (SystemTime, Instant),
    /// The stored state of a resumed run, with its finished executions.
    left: Option<Left>,
    /// Writes the run to the database, if it is stored.
    pub writer: Option<RunWriter>,
    /// Devices on which an earlier process of the run left a file system, held until they are used.
    pub vacated: Vec<Vacated>,
    /// Doubts about the run's devices, because of an earlier process of the run.
    pub earlier: Earlier,
    /// The remarks so far, with those of earlier processes.
    pub remarks: Remarks,
    /// The other hosts of the run.
    pub peers: Peers,
}

impl<'a> Session<'a> {
    /// A call that begins now.
    pub fn new(resolved: &'a Resolved, call: &'a Call) -> Session<'a> {
        let (vacated, earlier, remarks) = (Vec::new(), Earlier::default(), Remarks::default());
        let peers = Peers::Alone;
        Session { resolved, call, started: now(), left: None, writer: None, vacated, earlier, remarks, peers }
    }

    /// The description of the run, as far as it is known.
    pub fn info(&self, plan: Option<&Plan>, targets: &[Target], results: &Results) -> RunInfo {
        let mut info = info(self.call.words, self.started, plan, targets, results);
        info.name = self.call.store.name();
        match &self.resolved.request.workload {
            Workload::Job { text, .. } => info.job = Some(text.clone()),
            Workload::Mix { mix, is_derived: true } => info.mix = Some(mix.to_string()),
            _ => {}
        }
        if let Some(Left { info: before, .. }) = &self.left {
            info.started_unix_s = before.started_unix_s;
            info.name.clone_from(&before.name);
            if plan.is_none() {
                info.preset.clone_from(&before.preset);
                (info.seed, info.rounds) = (before.seed, before.rounds);
            }
            // This process measured nothing, so the stored results stay, with their calibration, noise and findings.
            if results.cells.is_empty() {
                info.calibration = before.calibration;
                info.noise.clone_from(&before.noise);
                info.findings.clone_from(&before.findings);
            }
        }
        info.remarks = self.remarks.all();
        (info.hosts, info.shared) = (self.peers.infos(), self.peers.shared());
        info.read_others = self.resolved.request.read_others;
        if let Some(writer) = &self.writer {
            // If the traces cannot be read, the run ends with the error of the database.
            info.traces = recording::infos(&writer.traces().unwrap_or_default());
            info.elapsed_s = writer.elapsed_s();
            info.store = Some(writer.info().clone());
        }
        info
    }

    /// Takes over a resumed run, and removes the leftovers of its process. Devices are inspected again afterwards.
    pub fn claim(
        &mut self,
        Resumed { store, run, left, .. }: Resumed,
        targets: &mut [Target],
        notify: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        // Tests that were left out may run now.
        let kept = left.info.remarks.iter().filter(|remark| remark.kind != RemarkKind::LeftOut);
        kept.for_each(|remark| self.remarks.add(remark.clone()));
        self.writer = Some(RunWriter::resume(store, run.clone(), &left, targets)?.with_remarks(&self.remarks));
        self.earlier.is_resumed = true;
        self.earlier.is_restarted = began_before_restart(&left);
        self.left = Some(left);
        let directories = targets.iter().filter_map(|target| match &target.site {
            Site::Directory { path, .. } => Some(path.clone()),
            _ => None,
        });
        let mut vacated = leftovers::remove(&run, directories, notify)?;
        vacated.retain(|vacated| targets.iter().any(|target| target.is_made_on(&vacated.node())));
        for target in targets.iter_mut() {
            if let Site::Volume(volume) = &mut target.site {
                let held = vacated.iter().find(|vacated| vacated.node() == volume.inspected.node());
                **volume = prepared_target::looked_at_again(volume, held)?;
            }
        }
        self.vacated = vacated;
        if targets.iter().any(|target| matches!(target.site, Site::Volume(_))) {
            self.earlier.replaced = replaced_volumes_of(&run)?;
        }
        Ok(())
    }

    /// The error of a resumed run. `resume` takes none of the options of `run`, so the hint names the whole command.
    pub fn on_resuming(&self, error: Error, targets: &[Target]) -> Error {
        match (&self.left, error) {
            (
                Some(left),
                Error::Campaign(
                    CampaignError::Guard(refused @ GuardFault::Refused { .. })
                    | CampaignError::Image(ImageFault::Guard(refused @ GuardFault::Refused { .. })),
                ),
            ) => {
                let (folder, command) = (left.folder.clone(), self.call.words.to_vec());
                let doubt = self.earlier.doubt_of(&refused, targets);
                RunsError::Occupied { refused: Box::new(refused), doubt, folder, command }.into()
            }
            (_, error) => error,
        }
    }

    /// Skips the conditioning of devices that an earlier process conditioned and wrote to in some rounds. If it
    /// finished no round, they are conditioned again.
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

    /// Copies the description of an earlier process's conditioning of the devices.
    pub fn conditioned_before(&self, infos: &mut [TargetInfo]) {
        let Some(left) = &self.left else { return };
        for info in infos.iter_mut().filter(|info| info.conditioned.is_none()) {
            let before = left.info.targets.iter().find(|before| before.name == info.name);
            info.conditioned = before.and_then(|before| before.conditioned.clone());
        }
    }

    /// Stores a new run before anything is made for it.
    pub fn keep(&mut self, plan: &Plan, targets: &[Target]) -> Result<(), Error> {
        if self.writer.is_some() {
            return Ok(());
        }
        let Some(store) = self.call.store.to_write()? else { return Ok(()) };
        let here = std::env::current_dir().map_err(|_| PathFault::Missing(".".into()))?;
        let info = self.info(Some(plan), targets, &Results::default());
        // The description of the test directory follows once that is created.
        let context = RunContext { plan, targets, infos: &[], clock_floor: None, hosts: &[] };
        let cells = all_cells(context, &vec![Executions::default(); plan.alternatives.len()]);
        let stored = Stored { request: self.resolved.request.clone(), output: self.call.output.clone() };
        let request = stored.to_text();
        let command = Command { words: self.call.words, folder: &here, request: Some(&request) };
        self.writer = Some(RunWriter::begin(store, command, targets, info, &cells)?.with_remarks(&self.remarks));
        Ok(())
    }

    /// The part of private folders' names that identifies the run.
    pub fn label(&self) -> Option<&str> {
        self.writer.as_ref().map(RunWriter::run)
    }

    /// The decisions of a resumed run; `None` if it was ended before them.
    pub fn decided(&self) -> Result<Option<Decided>, Error> {
        let Some(left) = self.left.as_ref().filter(|left| !left.plan.is_empty()) else { return Ok(None) };
        serde_json::from_slice(left.plan.as_bytes()).map(Some).map_err(|_| self.elsewhere())
    }

    /// Applies the same decisions to this plan.
    pub fn decide_again(&self, decided: &Decided, plan: &mut Plan, targets: &[Target]) -> Result<(), Error> {
        if let Some(sizes) = decided.sizes {
            plan.alternatives = alternatives(self.resolved, targets, sizes)?;
            plan.set_sizes(sizes);
        }
        if decided.apply(plan) { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// The finished executions of earlier processes, for each alternative.
    pub fn load(&self, plan: &Plan) -> Result<Vec<Executions>, Error> {
        let mut executions = vec![Executions::default(); plan.alternatives.len()];
        let Some(left) = &self.left else { return Ok(executions) };
        for (turn, performance) in finished_executions(left).ok_or_else(|| self.elsewhere())? {
            let executions = executions.get_mut(turn.alternative).ok_or_else(|| self.elsewhere())?;
            executions.add(turn, plan.discards(turn.round), performance);
        }
        Ok(executions)
    }

    /// The error for a plan and results that cannot be resumed here.
    fn elsewhere(&self) -> Error {
        RunsError::Elsewhere {
            run: self.label().unwrap_or_default().to_owned(),
            elsewhere: "by another build of diskperf, or its plan has other tests here".to_owned(),
            hosts: self.left.as_ref().map_or(0, |left| left.info.hosts.len()),
            folder: self.left.as_ref().map(|left| left.folder.clone()).unwrap_or_default(),
            command: self.call.words.to_vec(),
        }
        .into()
    }

    /// Stores the final state of the run. If that fails, the failure is added to the run's problems. A killed run stays
    /// killed if its devices are refused: its holder shows whether the machine was restarted since.
    pub fn end(&mut self, document: &mut Document, ended: &Result<(), Error>) -> Result<(), Error> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let killed = self.left.as_ref().filter(|left| left.state == RunState::Running);
        if let (Some(left), Err(Error::Runs(RunsError::Occupied { .. }))) = (killed, ended) {
            return Ok(writer.give_back(&left.holder)?);
        }
        let state = match document {
            Document { run: RunInfo { interrupted: true, .. }, .. } => RunState::Interrupted,
            Document { errors, .. } if !errors.is_empty() => RunState::Failed,
            _ => RunState::Finished,
        };
        writer.end(state, document).map_err(|error| {
            let error = Error::from(error);
            document.errors.push(problem(&error));
            error
        })
    }
}

/// True if the machine was restarted since this run began. The holder of the run alone does not show that: it may be an
/// earlier `resume` that ran after the restart and ended early.
fn began_before_restart(left: &Left) -> bool {
    let is_of_earlier_boot = left.holder.parse::<ProcessIdentity>().is_ok_and(|holder| !holder.is_of_this_boot());
    let boot = SystemTime::now().checked_sub(kernel::observe::host::uptime());
    let boot = boot.and_then(|boot| boot.duration_since(UNIX_EPOCH).ok());
    is_of_earlier_boot || boot.is_none_or(|boot| left.info.started_unix_s < boot.as_secs_f64())
}

/// The present time of both clocks, for the beginning of a run.
pub fn now() -> (SystemTime, Instant) {
    (SystemTime::now(), Instant::now())
}

/// The description of a run that is neither stored nor resumed.
pub fn info(
    words: &[OsString],
    (clock, instant): (SystemTime, Instant),
    plan: Option<&Plan>,
    targets: &[Target],
    results: &Results,
) -> RunInfo {
    let of_targets = match &results.targets[..] {
        [] => targets.iter().filter_map(|target| prepared_target::info(target).ok()).collect(),
        known => known.to_vec(),
    };
    let host = Host::this();
    RunInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: words.iter().map(|word| word.shown().into_owned()).collect(),
        name: None,
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
        settings: host.settings,
        calibration: results.calibration,
        noise: results.noise.clone(),
        targets: of_targets,
        findings: results.findings.clone(),
        remarks: Vec::new(),
        choice: results.choice.clone(),
        phases: plan.and_then(|plan| plan.schedule.phases()),
        interrupted: results.interrupted,
        job: None,
        mix: None,
        traces: Vec::new(),
        checks: Vec::new(),
        hosts: Vec::new(),
        shared: Vec::new(),
        read_others: false,
        store: None,
    }
}

/// The document of a run: its results, and the error that ended it.
pub fn document(info: RunInfo, results: Results, ended: &Result<(), Error>) -> Document {
    let mut errors = results.problems;
    errors.extend(ended.as_ref().err().map(problem));
    Document { schema: SCHEMA.to_owned(), run: info, cells: results.cells, errors }
}

/// The document of a command that was refused before anything was planned.
pub fn of_nothing(words: &[OsString], problem: Problem) -> Document {
    let results = Results { problems: vec![problem], ..Results::default() };
    document(info(words, now(), None, &[], &results), results, &Ok(()))
}

/// Converts an error for a document.
pub fn problem(error: &Error) -> Problem {
    Problem { target: None, program: None, phase: None, message: error.to_string(), hint: error.hint() }
}
