//! `diskperf simulate [MACHINE [PRESET]]`: runs the same programs on a simulated machine, into the same table.

use std::env;
use std::ffi::OsString;
use std::time::{Instant, SystemTime};

use campaign::error::CampaignError;
use campaign::events::Event;
use campaign::fit::sizes::Sizes;
use campaign::plan::{Alternative, Plan, Row};
use campaign::presets::Settings;
use campaign::request::resolved::Tests;
use campaign::run_writer::{Command, RunWriter};
use campaign::signals::Stop;
use campaign::targets::{Described, Simulated, Site, Target};
use kernel::PathFault;
use kernel::sys::name::Shown;
use machines::{Kind, Machine, Sweep};
use stats::{Document, RunInfo};
use units::Exit;

use crate::cli::simulate::SimulateArguments;
use crate::error::{ArgumentError, Error};
use crate::session::Results;
use crate::session::{document, info, problem};
use crate::simulation::{draw, infos, of_machines, parts, perform_all, timeline};
use crate::ui::output;
use crate::ui::progress_display::Display;
use crate::ui::run_results::print_results;

/// The most rows of a sweep. A sweep of several fields has a row for every combination; more rows are not readable.
const MOST_ROWS: usize = 10_000;

/// The preset that measures operations on names.
const LFS: &str = "lfs";

/// Settings for that preset, unless `--set` replaces them: names take time, and the update daemon runs. The machines of
/// 1983 were fitted without either.
const TIMED_NAMES: [&str; 2] = ["file_system.names=timed", "kernel.update=30s"];

/// The most simulations of a command. Ours: each result has about a kilobyte, and stays in memory until the last
/// simulation has ended.
const MOST_RUNS: usize = 1_000_000;

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
    let started = (SystemTime::now(), Instant::now());
    let (mut plan, mut targets) = (None, Vec::new());
    let mut results = Results::default();
    let ended = carry_out(arguments, name, &mut plan, &mut targets, &mut results);
    let info = RunInfo { name: arguments.store.name(), ..info(words, started, plan.as_ref(), &targets, &results) };
    let mut document = document(info, results, &ended);
    let ended = ended.and_then(|()| keep(arguments, words, &targets, &mut document));
    print_results(&arguments.output, &document, ended)
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

/// The machine of that name with its settings: those of the preset, and then those of `--set`.
fn machine(name: &str, arguments: &SimulateArguments) -> Result<(Machine, Vec<String>), Error> {
    let mut machine = Machine::load(name)?;
    let preset = if arguments.preset.name == LFS { TIMED_NAMES.as_slice() } else { &[] };
    // A part that does not know the setting has only names that take time, or no daemon.
    let known = |setting: &&&str| machine.names().iter().any(|name| setting.split('=').next() == Some(name));
    let preset = preset.iter().filter(known).map(|&setting| setting.to_owned()).collect::<Vec<String>>();
    let settings: Vec<String> = preset.into_iter().chain(arguments.settings.iter().cloned()).collect();
    settings.iter().try_for_each(|setting| machine.set(setting))?;
    Ok((machine, settings))
}

fn carry_out(
    arguments: &SimulateArguments,
    name: &str,
    planned: &mut Option<Plan>,
    targets: &mut Vec<Target>,
    results: &mut Results,
) -> Result<(), Error> {
    let tests = match arguments.mixing.mix(arguments.preset)? {
        Some((mix, _)) => Tests::Mix(mix),
        None => Tests::Preset(arguments.preset),
    };
    let (machine, settings) = machine(name, arguments)?;
    let settings = last_of_each(settings.iter().filter_map(|typed| pair(typed)));
    let drives = arguments.drives();
    let most_drives = drives.iter().copied().max().unwrap_or(1);
    let mut alternatives = Vec::new();
    for (machine, swept) in variants(&machine, &arguments.sweeps)? {
        let settings: Vec<(String, String)> = last_of_each(settings.iter().cloned().chain(swept));
        // Only the table of 1983 has a half for each file system; other tables use the first file system.
        let file_systems = if arguments.preset.together { machine.parts(Kind::FileSystem).count() } else { 1 };
        for file_system in 0..file_systems {
            let described = Described { machine: machine.with_file_system(file_system), settings: settings.clone() };
            let simulated = Simulated::Described(Box::new(described));
            let site = Site::Simulated(simulated.clone());
            let target =
                Target { name: machine.name.clone(), typed: name.to_owned(), site, tuning: Vec::new(), aging: None };
            let first = targets.len();
            for row in rows(arguments, &tests, &target)? {
                if row.omitted.is_none() {
                    simulated.check(most_drives, row.program.space)?;
                }
                alternatives.extend(drives.iter().map(|&drives| {
                    let targets = (first..first + drives).collect();
                    Alternative { targets, row: row.clone() }
                }));
            }
            targets.extend((0..most_drives).map(|_| target.clone()));
        }
    }
    // Each file system by itself: all its programs on one drive, then on two.
    let preset = arguments.preset;
    let runs = alternatives.len().saturating_mul(arguments.phases.get() as usize);
    if runs > MOST_RUNS {
        let [rows, phases, all, most] = [alternatives.len(), arguments.phases.get() as usize, runs, MOST_RUNS]
            .map(|number| units::whole(number as u64));
        return Err(ArgumentError::TooManySimulations { phases, rows, all, most }.into());
    }
    let plan = planned.insert(of_machines(preset, arguments.phases.get(), arguments.seed, alternatives));
    let stop = Stop::on_signals()?;
    results.targets = infos(targets)?;
    let mut display = Display::new();
    let (targets, notify) = ((&targets[..], &results.targets[..]), &mut |event: Event| display.show(&event));
    (results.cells, results.problems) = perform_all(plan, targets, arguments.threads, &stop, notify);
    results.interrupted = stop.requested();
    if let (Some(path), false) = (&arguments.timeline, results.interrupted) {
        let title = draw(path, plan, targets.0, &stop)?;
        output::remark(&format!("drew {title}, into {}", path.shown()));
    }
    results.cells.extend((preset.published)());
    results.findings = (preset.findings)(&results.cells);
    Ok(())
}

/// The settings without those that a later one replaces.
fn last_of_each(settings: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut last: Vec<(String, String)> = Vec::new();
    for (key, value) in settings {
        last.retain(|(known, _)| *known != key);
        last.push((key, value));
    }
    last
}

/// Splits `drive.rpm=3600`. `None` for a setting that chooses a file system: that is another parameter of a cell.
fn pair(typed: &str) -> Option<(String, String)> {
    let (key, value) = typed.split_once('=')?;
    let chooses = ["file_system", "file_systems"].contains(&key.trim());
    (!chooses).then(|| (key.trim().to_owned(), value.trim().to_owned()))
}

/// The preset's programs, or those that `--program` names.
fn rows(arguments: &SimulateArguments, tests: &Tests, target: &Target) -> Result<Vec<Row>, Error> {
    let sizes = Sizes { large: arguments.size.map_or(Sizes::SIMULATED.large, |size| size.0), ..Sizes::SIMULATED };
    let settings = Settings { size: arguments.size, memory: None, seed: arguments.seed, sizes };
    let mut rows = tests.rows(&settings, target)?;
    let known: Vec<&'static str> = rows.iter().map(|row| row.program.name).collect();
    if let Some(unknown) = arguments.programs.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(
            CampaignError::UnknownProgram { name: unknown.clone(), preset: arguments.preset.name, known }.into()
        );
    }
    rows.retain(|row| arguments.programs.is_empty() || arguments.programs.iter().any(|name| name == row.program.name));
    for row in &mut rows {
        row.omitted = row.omitted.take().or_else(|| target.simulated()?.lacks(&row.program));
    }
    Ok(rows)
}

/// A machine, and its values of the swept fields.
type Variant = (Machine, Vec<(String, String)>);

/// The machine with every combination of the swept values.
fn variants(machine: &Machine, sweeps: &[Sweep]) -> Result<Vec<Variant>, Error> {
    let count = sweeps.iter().try_fold(1usize, |count, sweep| count.checked_mul(sweep.values.len()));
    if count.is_none_or(|count| count > MOST_ROWS) {
        return Err(ArgumentError::TooManyRows(MOST_ROWS).into());
    }
    let mut variants: Vec<Variant> = vec![(machine.clone(), Vec::new())];
    for Sweep { key, values } in sweeps {
        let mut next = Vec::with_capacity(variants.len() * values.len());
        for (machine, swept) in &variants {
            for value in values {
                let mut machine = machine.clone();
                machine.set(&format!("{key}={value}"))?;
                let swept = swept.iter().cloned().chain([(key.clone(), value.clone())]).collect();
                next.push((machine, swept));
            }
        }
        variants = next;
    }
    Ok(variants)
}
