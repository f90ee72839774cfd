//! `diskperf simulate [MACHINE [PRESET]]`: runs the same programs on a simulated machine, into the same table.

use std::env;
use std::ffi::OsString;
use std::time::{Instant, SystemTime};

use campaign::events::Event;
use campaign::plan::Plan;
use campaign::results::all_cells;
use campaign::run_writer::{Command, RunWriter};
use campaign::signals::Stop;
use campaign::targets::Target;
use kernel::PathFault;
use kernel::sys::name::Shown;
use machines::Machine;
use stats::{Document, RunInfo};
use units::Exit;

use crate::cli::simulate::SimulateArguments;
use crate::error::{ArgumentError, Error};
use crate::session::Results;
use crate::session::{document, info, problem};
use crate::simulation::request::{Request, machine};
use crate::simulation::{csv_sweep, draw, infos, parts, perform_all, timeline};
use crate::ui::output;
use crate::ui::output_format::RunFormat;
use crate::ui::progress_display::Display;
use crate::ui::run_results::print_results;

/// The most rows of a sweep. A sweep of several fields has a row for every combination; more rows are not readable.
const MOST_ROWS: usize = 10_000;

/// The most points of a sweep in CSV. Chosen: every part of the sweep checks all of them, which takes a minute.
const MOST_POINTS: usize = 1_000_000;

pub fn run(arguments: &SimulateArguments, words: &[OsString]) -> Result<Exit, Error> {
    arguments.output.check()?;
    let Some(name) = &arguments.machine else {
        arguments.output.deliver(&parts::list(Machine::all()))?;
        return Ok(Exit::Done);
    };
    if arguments.parts {
        let (machine, _) = machine(name, arguments)?;
        machine.describe(1, 0)?;
        arguments.output.deliver(&parts::parts(&machine))?;
        return Ok(Exit::Done);
    }
    if let Some(path) = &arguments.timeline {
        timeline::Format::from_path(path)?;
        output::check(Some(path))?;
    }
    if arguments.part.is_some() {
        check_part(arguments)?;
    }
    if arguments.output.layout() == RunFormat::Csv && !arguments.sweeps.is_empty() {
        if arguments.store.is_named() {
            return Err(ArgumentError::StoresNoCsvSweep.into());
        }
        return csv_sweep::print(&Request::new(arguments, name, MOST_POINTS)?, arguments);
    }
    let started = (SystemTime::now(), Instant::now());
    let (mut plan, mut targets) = (None, Vec::new());
    let mut results = Results::default();
    let ended = carry_out(arguments, name, &mut plan, &mut targets, &mut results);
    let info = RunInfo { name: arguments.store.name(), ..info(words, started, plan.as_ref(), &targets, &results) };
    let mut document = document(info, results, &ended);
    let ended = ended.and_then(|()| keep(arguments, words, &targets, &mut document));
    print_results(&arguments.output, &document, ended)
}

/// Refuses a part of something that cannot be divided, or not be joined again.
fn check_part(arguments: &SimulateArguments) -> Result<(), ArgumentError> {
    match arguments.output.layout() {
        _ if arguments.sweeps.is_empty() => Err(ArgumentError::PartOfNoSweep),
        RunFormat::Csv => Ok(()),
        _ => Err(ArgumentError::PartWithoutCsv),
    }
}

/// Stores a finished run. If that fails, the failure is added to its problems.
fn keep(
    arguments: &SimulateArguments,
    words: &[OsString],
    targets: &[Target],
    document: &mut Document,
) -> Result<(), Error> {
    if document.run.interrupted {
        return Ok(());
    }
    let stored = || match arguments.store.to_write()? {
        Some(store) => {
            let here = env::current_dir().map_err(|_| PathFault::Missing(".".into()))?;
            let command = Command { words, folder: &here, request: None };
            Ok(RunWriter::store(store, command, targets, document)?)
        }
        None => Ok(()),
    };
    stored().inspect_err(|error| document.errors.push(problem(error)))
}

fn carry_out(
    arguments: &SimulateArguments,
    name: &str,
    planned: &mut Option<Plan>,
    targets: &mut Vec<Target>,
    results: &mut Results,
) -> Result<(), Error> {
    let request = Request::new(arguments, name, MOST_ROWS)?;
    let (alternatives, all) = request.lay_out(request.points.all())?;
    *targets = all;
    let plan = planned.insert(request.plan(alternatives)?);
    let stop = Stop::on_signals()?;
    results.targets = infos(targets)?;
    let mut display = Display::new();
    let (targets, notify) = ((&targets[..], &results.targets[..]), &mut |event: Event| display.show(&event));
    (results.cells, results.problems) = perform_all(plan, targets, all_cells, arguments.threads, &stop, notify);
    results.interrupted = stop.requested();
    if let (Some(path), false) = (&arguments.timeline, results.interrupted) {
        let title = draw(path, plan, targets.0, &stop)?;
        output::remark(&format!("wrote {}: timeline of {title}", path.shown()));
    }
    results.cells.extend((arguments.preset.published)());
    results.findings = (arguments.preset.findings)(&results.cells);
    Ok(())
}
