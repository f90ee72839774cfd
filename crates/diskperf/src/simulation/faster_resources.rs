//! The gain of a simulated cell from faster resources: simulates the cell again as it was, and then with each resource
//! of its machine a tenth faster.

use campaign::events::Event;
use campaign::fit::sizes::Sizes;
use campaign::plan::{Alternative, Row};
use campaign::presets::{self, Preset, Settings};
use campaign::request::resolved::Tests;
use campaign::results::all_cells;
use campaign::signals::Stop;
use campaign::targets::{Described, Simulated, Site, Target, TargetArgument, TargetKind};
use machines::{Kind, Machine, RESOURCES};
use stats::{Cell, Faster, RunInfo};
use units::Bytes;
use workload::Parameter;

use super::{of_machines, perform_all};
use crate::error::Error;

/// The most cells that are simulated again at once: a minute or so.
const MOST_CELLS: usize = 64;

/// Speed-up of a resource, as a factor.
const FACTOR: f64 = 1.1;

/// The rotational positions of a cell that does not give their number: those of a run, which is not a mean over
/// positions.
const USUAL_PHASES: u32 = 10;

/// Largest relative difference of two computations of the same figure, as it was printed and read.
const SAME: f64 = 1e-9;

/// A cell that can be simulated again.
struct Rebuilt {
    described: Described,
    preset: &'static Preset,
    row: Row,
    drives: usize,
}

/// Adds to each cell with a breakdown the gain from each faster resource, or the reason why it is unknown. Returns
/// false if it was told to stop.
pub fn speed_up(run: &RunInfo, cells: &mut [Cell], notify: &mut dyn FnMut(Event)) -> Result<bool, Error> {
    let has = |cell: &Cell| cell.measured && cell.breakdown.as_ref().is_some_and(|known| known.faster.is_none());
    let wanted: Vec<usize> = (0..cells.len()).filter(|&index| has(&cells[index])).collect();
    if wanted.len() > MOST_CELLS {
        let reason = format!("more than {MOST_CELLS} results: name some of them");
        wanted.iter().for_each(|&index| note(&mut cells[index], Err(reason.clone())));
        return Ok(true);
    }
    if wanted.is_empty() {
        return Ok(true);
    }
    let stop = Stop::on_signals()?;
    let mut targets = Vec::new();
    let mut alternatives = Vec::new();
    let mut asked: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut preset = presets::CLASSIC;
    for index in wanted {
        let rebuilt = match rebuild(run, &cells[index]) {
            Ok(rebuilt) => rebuilt,
            Err(reason) => {
                note(&mut cells[index], Err(reason));
                continue;
            }
        };
        preset = rebuilt.preset;
        let mut resources = vec![""];
        let mut variants = vec![rebuilt.described.clone()];
        for resource in &RESOURCES {
            let mut described = rebuilt.described.clone();
            let settings = described.machine.faster(resource, FACTOR);
            let can_be = settings.iter().all(|setting| described.machine.set(setting).is_ok())
                && Simulated::Described(Box::new(described.clone()))
                    .check(rebuilt.drives, rebuilt.row.program.space)
                    .is_ok();
            if can_be {
                resources.push(resource.name);
                variants.push(described);
            }
        }
        for described in variants {
            let first = targets.len();
            targets.extend(vec![target(described); rebuilt.drives]);
            alternatives.push(Alternative { targets: (first..targets.len()).collect(), row: rebuilt.row.clone() });
        }
        asked.push((index, resources));
    }
    let plan = of_machines(preset, run.phases.unwrap_or(USUAL_PHASES), run.seed, alternatives);
    let (computed, _) = perform_all(&plan, (&targets, &[]), all_cells, None, &stop, notify);
    if stop.requested() {
        return Ok(false);
    }
    let mut computed = computed.into_iter();
    let mut alternatives = plan.alternatives.iter();
    for (index, resources) in asked {
        let mut rates = Vec::new();
        for _ in &resources {
            let phases = alternatives.next().map_or(0, |alternative| alternative.row.program.phases.len());
            let of_all: Vec<Cell> = computed.by_ref().take(phases).collect();
            let own = of_all.into_iter().find(|cell| cell.phase == cells[index].phase);
            rates.push(own.and_then(|cell| Some(cell.rate?.per_second)));
        }
        let told = compare(run, &cells[index], &resources, &rates);
        note(&mut cells[index], told);
    }
    Ok(true)
}

fn note(cell: &mut Cell, told: Result<Vec<Faster>, String>) {
    let Some(breakdown) = &mut cell.breakdown else { return };
    match told {
        Ok(faster) => (breakdown.faster, breakdown.faster_reason) = (Some(faster), None),
        Err(reason) => breakdown.faster_reason = Some(reason),
    }
}

/// The rates with each faster resource, against the first rate, which is that of the unchanged machine. The first must
/// be the cell's rate; otherwise the machine has changed.
fn compare(run: &RunInfo, cell: &Cell, resources: &[&str], rates: &[Option<f64>]) -> Result<Vec<Faster>, String> {
    let Some(own) = rates.first().copied().flatten() else { return Err("it can no longer be simulated".to_owned()) };
    let stored = cell.rate.as_ref().map_or(f64::NAN, |rate| rate.per_second);
    if run.phases.is_some() && (own / stored - 1.0).abs() > SAME {
        return Err("a new simulation gives another rate: the machine has changed".to_owned());
    }
    let faster = RESOURCES.iter().map(|resource| {
        let place = resources.iter().position(|name| *name == resource.name);
        let per_second = place.and_then(|place| rates[place]);
        let gain_percent = per_second.map(|rate| 100.0 * (rate / own - 1.0));
        Faster { resource: resource.name.to_owned(), per_second, gain_percent }
    });
    Ok(faster.collect())
}

/// Rebuilds the machine and the program of a cell from the cell and its run. An error says what is missing.
fn rebuild(run: &RunInfo, cell: &Cell) -> Result<Rebuilt, String> {
    let name = cell.target.split('+').next().unwrap_or_default();
    let info = run.targets.iter().find(|info| info.name == name).ok_or("its machine is not recorded")?;
    let Ok(argument) = info.argument.parse::<TargetArgument>();
    let typed = match argument.kind {
        TargetKind::Simulated(machine) => machine,
        _ => info.argument.clone(),
    };
    let mut machine = Machine::load(typed.split(',').next().unwrap_or_default()).map_err(|fault| fault.to_string())?;
    let is_setting = |key: &str| key.contains('.') || Kind::from_key(key).is_some_and(|kind| kind != Kind::FileSystem);
    let settings: Vec<(String, String)> = cell
        .parameters
        .iter()
        .filter(|(key, _)| is_setting(key))
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect();
    for (key, value) in &settings {
        machine.set(&format!("{key}={value}")).map_err(|fault| fault.to_string())?;
    }
    let wanted = cell.word("file_system").unwrap_or_default();
    let file_system = machine.parts(Kind::FileSystem).position(|part| part.is_called(wanted));
    let file_system = file_system.ok_or_else(|| format!("its machine has no file system {wanted}"))?;
    let machine = machine.with_file_system(file_system);
    let described = Described { machine, settings };
    let preset = presets::ALL.iter().copied().find(|preset| preset.name == cell.preset);
    let preset = preset.ok_or_else(|| format!("there is no preset {}", cell.preset))?;
    let target = target(described.clone());
    let sizes = [None, cell.number("file_bytes").map(Bytes)];
    // The preset's own mixes, or the mix of `--mix`.
    let mixes = [None, cell.word("mix").and_then(|words| words.parse().ok())];
    let row = sizes.into_iter().flat_map(|size| mixes.map(|mix| (size, mix))).find_map(|(size, mix)| {
        let settings = Settings { size, memory: None, seed: run.seed, sizes: Sizes::SIMULATED };
        let tests = mix.map_or(Tests::Preset(preset), Tests::Mix);
        tests.rows(&settings, &target).ok()?.into_iter().find(|row| is_of(cell, row))
    });
    let row = row.ok_or_else(|| format!("{} no longer has this test {}", preset.name, cell.program))?;
    Ok(Rebuilt { described, preset, row, drives: cell.targets as usize })
}

fn is_of(cell: &Cell, row: &Row) -> bool {
    let same = |parameter: &Parameter| cell.parameters.get(parameter.name) == Some(&parameter.value);
    row.program.name == cell.program && row.omitted.is_none() && row.program.parameters.iter().all(same)
}

fn target(described: Described) -> Target {
    let name = described.machine.name.clone();
    let site = Site::Simulated(Simulated::Described(Box::new(described)));
    Target { name: name.clone(), typed: name, site, tuning: Vec::new(), aging: None }
}
