//! Stores a run while it is measured: before anything is created for it, and between executions. Never during one.
//!
//! Policy:
//!   1. a finished execution is on the device before the next program begins. An execution that was stopped or failed
//!      is not finished: `resume` runs it again;
//!   2. a failing store does not end the run. The error is reported at once, and the data are kept in memory. They are
//!      tried again when there are twice as many, and at the end. Only an error at the end makes the run fail.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use kernel::ProcessIdentity;
use kernel::observe::host::written_by_this_process;
use kernel::observe::mount::Place;
use kernel::sys::name::Shown;
use runner::execution::ExecutionResult;
use serde::{Deserialize, Serialize};
use stats::{Cell, Document, ParameterValue, RunInfo, StoreInfo};
use store::{Ending, Execution, Left, NewRun, Progress, RunState, Store, StoreError, TraceRow};

use crate::events::{Event, Remarks};
use crate::executions::Executions;
use crate::fit::sizes::Sizes;
use crate::plan::Plan;
use crate::recording::new_trace;
use crate::rounds::Turn;
use crate::targets::{Site, Target};

/// Decisions made before the first round by trials and by fitting the budget, which the command alone would not repeat.
/// Empty before that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The number of rounds.
    pub rounds: u32,
    /// The chosen sizes, if trials were run.
    pub sizes: Option<Sizes>,
    /// The label of each alternative, and why it is not run (`None` if it is run).
    pub alternatives: Vec<(String, Option<String>)>,
}

impl Decided {
    /// Copies the decisions of this plan.
    pub fn from_plan(plan: &Plan) -> Decided {
        let alternatives = plan.alternatives.iter();
        Decided {
            rounds: plan.rounds,
            sizes: plan.sizes(),
            alternatives: alternatives
                .map(|alternative| (alternative.label(), alternative.row.omitted.clone()))
                .collect(),
        }
    }

    /// Applies the decisions to another plan of the same command. Returns false if the plan has other alternatives.
    pub fn apply(&self, plan: &mut Plan) -> bool {
        let labels = plan.alternatives.iter().map(|alternative| alternative.label());
        if !labels.eq(self.alternatives.iter().map(|(label, _)| label.clone())) {
            return false;
        }
        plan.rounds = self.rounds;
        for (alternative, (_, omitted)) in plan.alternatives.iter_mut().zip(&self.alternatives) {
            alternative.row.omitted.clone_from(omitted);
        }
        true
    }
}

/// The command that began a run.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The command line, word by word.
    pub words: &'a [OsString],
    /// The working directory of the command.
    pub folder: &'a Path,
    /// The request as JSON; `None` if the run cannot be resumed.
    pub request: Option<&'a str>,
}

/// Writes one run to a store.
#[derive(Debug)]
pub struct RunWriter {
    store: Store,
    holder: String,
    /// The description of the run, as far as known.
    info: RunInfo,
    stored: StoreInfo,
    /// The time when this process began, and the seconds that earlier processes spent on the run.
    began: (Instant, f64),
    /// Executions that are not stored yet.
    executions: Vec<Execution>,
    cells: Vec<(usize, Cell)>,
    decided: String,
    /// The number of executions at which the next attempt to store is made. Otherwise, each execution would send all of
    /// them to a full store again.
    patience: usize,
    /// Remarks of the run so far.
    remarks: Remarks,
}

impl RunWriter {
    /// Stores a new run.
    pub fn begin(
        mut store: Store,
        command: Command,
        targets: &[Target],
        info: RunInfo,
        cells: &[Cell],
    ) -> Result<RunWriter, StoreError> {
        let holder = ProcessIdentity::this().to_string();
        let before = written_by_this_process();
        let Command { words, folder, request } = command;
        let new = NewRun { command: words, folder, request, plan: "", info: &info, cells, holder: &holder };
        let run = store.begin(&new)?;
        Ok(RunWriter::new(store, run, holder, targets, info).counting(before))
    }

    /// Stores a finished run. A simulated run is stored this way, because simulating it again is faster than resuming
    /// it.
    pub fn store(store: Store, command: Command, targets: &[Target], document: &Document) -> Result<(), StoreError> {
        let writer = RunWriter::begin(store, command, targets, document.run.clone(), &document.cells)?;
        writer.end(RunState::Finished, document)
    }

    /// Takes over a run whose process is gone.
    pub fn resume(mut store: Store, run: String, left: &Left, targets: &[Target]) -> Result<RunWriter, StoreError> {
        let holder = ProcessIdentity::this().to_string();
        let before = written_by_this_process();
        store.claim(&run, &left.holder, &holder)?;
        let mut writer = RunWriter::new(store, run, holder, targets, left.info.clone()).counting(before);
        writer.began.1 = left.info.elapsed_s;
        writer.decided.clone_from(&left.plan);
        if let Some(stored) = &left.info.store {
            writer.stored.written_bytes =
                writer.stored.written_bytes.zip(stored.written_bytes).map(|(now, before)| now + before);
        }
        Ok(writer)
    }

    fn new(store: Store, run: String, holder: String, targets: &[Target], info: RunInfo) -> RunWriter {
        let path = store.path().shown().to_string();
        let under_test = under_test(store.path(), targets);
        RunWriter {
            store,
            holder,
            info,
            stored: StoreInfo { run, path, under_test, written_bytes: Some(0) },
            began: (Instant::now(), 0.0),
            executions: Vec::new(),
            cells: Vec::new(),
            decided: String::new(),
            patience: 0,
            remarks: Remarks::default(),
        }
    }

    /// Stores these remarks whenever it writes from now on.
    pub fn with_remarks(mut self, remarks: &Remarks) -> RunWriter {
        self.remarks = remarks.clone();
        self
    }

    /// The name of the run in the store.
    pub fn run(&self) -> &str {
        &self.stored.run
    }

    /// Seconds spent on the run, by this process and by earlier ones.
    pub fn elapsed_s(&self) -> f64 {
        self.began.1 + self.began.0.elapsed().as_secs_f64()
    }

    /// The stored traces of the run, without their requests.
    pub fn traces(&self) -> Result<Vec<TraceRow>, StoreError> {
        self.store.traces(&self.stored.run)
    }

    /// The store's path and the run's name in it, with the bytes written so far.
    pub fn info(&self) -> &StoreInfo {
        &self.stored
    }

    /// Stores the decisions, with the description of the targets.
    pub fn decide(&mut self, plan: &Plan, info: RunInfo, cells: Vec<Cell>, notify: &mut dyn FnMut(Event)) {
        self.info = info;
        self.decided = serde_json::to_string(&Decided::from_plan(plan)).expect("plain data");
        self.cells = cells.into_iter().enumerate().collect();
        self.save(notify);
    }

    /// Stores the last execution of an alternative if it was finished, with the cells that it changed. `first` is the
    /// index of the first of these cells in the document.
    pub fn keep(
        &mut self,
        (alternative, executions): (usize, &Executions),
        (first, cells): (usize, Vec<Cell>),
        notify: &mut dyn FnMut(Event),
    ) {
        let Some((round, position, performance)) = executions.last_finished() else { return };
        let performance = serde_json::to_string(performance).expect("plain data");
        let names = cells.first().map_or(("", ""), |cell| (test_of(cell), cell.target.as_str()));
        let recorded = executions.last_recorded();
        let trace = recorded.map(|(recorded, discarded)| new_trace(recorded, names.0, names.1, discarded));
        self.executions.push(Execution { alternative, round, position, performance, trace });
        // These cells replace those of an earlier execution that could not be stored.
        self.cells.retain(|(place, _)| !(first..first + cells.len()).contains(place));
        self.cells.extend(cells.into_iter().enumerate().map(|(index, cell)| (first + index, cell)));
        if self.executions.len() >= self.patience {
            self.save(notify);
        }
    }

    fn save(&mut self, notify: &mut dyn FnMut(Event)) {
        self.info.elapsed_s = self.elapsed_s();
        self.info.store = Some(self.stored.clone());
        self.info.remarks = self.remarks.all();
        let before = written_by_this_process();
        let progress =
            Progress { executions: &self.executions, cells: &self.cells, info: &self.info, plan: &self.decided };
        let saved = self.store.save(&self.stored.run, &self.holder, &progress);
        self.count(before);
        match saved {
            Ok(()) => {
                self.executions.clear();
                self.cells.clear();
                self.patience = 0;
            }
            Err(error) => {
                self.patience = 2 * self.executions.len().max(1);
                notify(Event::NotStored(&error));
            }
        }
    }

    /// Returns a killed run to its last holder, unchanged.
    pub fn give_back(mut self, before: &str) -> Result<(), StoreError> {
        self.store.claim(&self.stored.run, &self.holder, before)
    }

    /// Stores the state in which the run ended.
    pub fn end(mut self, state: RunState, document: &Document) -> Result<(), StoreError> {
        let run = &document.run;
        let ending = Ending {
            state,
            // Not the start plus the elapsed time: a resumed run was interrupted in between.
            ended_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            executions: &self.executions,
            cells: Some(&document.cells[..]).filter(|cells| !cells.is_empty()),
            info: run,
            errors: &document.errors,
        };
        self.store.end(&self.stored.run, &self.holder, &ending)
    }

    fn counting(mut self, before: Option<u64>) -> RunWriter {
        self.count(before);
        self
    }

    fn count(&mut self, before: Option<u64>) {
        let written = written_by_this_process().zip(before).map(|(now, before)| now.saturating_sub(before));
        self.stored.written_bytes = self.stored.written_bytes.zip(written).map(|(sum, written)| sum + written);
    }
}

/// The test of a cell: its program, or the group with which it ran.
fn test_of(cell: &Cell) -> &str {
    match cell.parameters.get("group") {
        Some(ParameterValue::Word(group)) => group,
        _ => &cell.program,
    }
}

/// The finished executions of earlier processes; `None` if this build cannot read them.
pub fn finished_executions(left: &Left) -> Option<Vec<(Turn, ExecutionResult)>> {
    let read = |execution: &Execution| {
        let performance = serde_json::from_slice(execution.performance.as_bytes()).ok()?;
        let Execution { alternative, round, position, .. } = *execution;
        Some((Turn { alternative, round, position }, performance))
    };
    left.executions.iter().map(read).collect()
}

/// The devices of these targets that also contain the store.
fn under_test(store: &Path, targets: &[Target]) -> Vec<String> {
    let Ok(place) = Place::under(store) else { return Vec::new() };
    let mut devices: Vec<String> = Vec::new();
    for target in targets {
        let under = match &target.site {
            Site::Image { host, .. } => host.device.as_ref(),
            Site::Volume(volume) => Some(volume.inspected.device()),
            _ => target.device(),
        };
        devices.extend(under.map(|under| place.shared_with(under)).unwrap_or_default());
    }
    devices.sort_unstable();
    devices.dedup();
    devices
}
