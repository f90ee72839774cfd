//! Programs on simulated machines that are switched on for each execution.

pub mod again;
mod jobs;
pub mod parts;
mod perform;
pub mod timeline;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use kernel::Means;
use simulator::Chance;
use stats::{Cell, Problem, TargetInfo};
use units::Nanos;
use workload::Reason;

use crate::budget::Sizes;
use crate::cells::{self, History, Scene};
use crate::error::Error;
use crate::events::Event;
use crate::ground;
use crate::plan::{Alternative, Before, Plan, PlannedSizing};
use crate::presets::Preset;
use crate::request::schedule::Schedule;
use crate::rounds::Turn;
use crate::signals::Stop;
use crate::target::{Simulated, Target};
use crate::ui::display::Display;

/// What a preset that fits itself to a disk runs where nothing is asked for: files as large as those of 1983, and the
/// rest in proportion.
pub const USUAL: Sizes =
    Sizes { large: 8 << 20, copied: 1 << 20, files: 128, records: 128, random: Nanos::from_millis(1000) };

/// A plan of machines that are switched on anew for each of so many ways in which the platters stand.
pub fn of_machines(preset: &'static Preset, phases: u32, seed: u64, alternatives: Vec<Alternative>) -> Plan {
    Plan {
        preset: preset.name,
        schedule: Schedule::Phases(phases),
        rounds: phases,
        memory: None,
        before: Before::Nothing,
        how: preset.how,
        means: Means::default(),
        seed,
        zeros: false,
        budget: None,
        sizing: PlannedSizing::Fixed,
        commands: Arc::default(),
        alternatives,
    }
}

/// What is to be said of the machine: once, whatever was swept of it, with all its file systems.
pub fn infos(targets: &[Target]) -> Result<Vec<TargetInfo>, Error> {
    let Some(first) = targets.first() else { return Ok(Vec::new()) };
    let mut file_systems: Vec<String> = Vec::new();
    for name in targets.iter().filter_map(Target::file_system) {
        if !file_systems.contains(&name) {
            file_systems.push(name);
        }
    }
    Ok(vec![TargetInfo { file_system: Some(file_systems.join(", ")), ..ground::info(first, None)? }])
}

/// Runs every program on every spindle phase, and makes their cells. Of a program that would not end the phases after
/// the first such are left out.
pub fn perform_all(
    plan: &Plan,
    (targets, infos): (&[Target], &[TargetInfo]),
    threads: Option<NonZeroUsize>,
    stop: &Stop,
) -> (Vec<Cell>, Vec<Problem>) {
    let mut display = Display::new();
    display.show(&Event::Started(plan));
    let (phases, order) = (plan.rounds, wanted(plan));
    // The first phase in which each would not end: all before it are run, whoever is the first to know.
    let hopeless: Vec<AtomicU32> = order.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
    let job = |job: usize| {
        let (place, phase) = (job / phases as usize, job as u32 % phases);
        if phase > hopeless[place].load(Ordering::Relaxed) {
            return None;
        }
        let Alternative { targets: busy, row } = &plan.alternatives[order[place]];
        let chance = Chance { seed: plan.seed, phase, phases };
        let performance = perform::once(&targets[busy[0]], busy.len(), &row.program, plan.how, chance, stop);
        if performance.stopped.is_some_and(|stopped| stopped.failure.reason == Reason::Unending) {
            hopeless[place].fetch_min(phase, Ordering::Relaxed);
        }
        Some(performance)
    };
    let threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let count = order.len() * phases as usize;
    let ended = |job: usize| display.show(&Event::ProgramEnded { index: order[job / phases as usize] });
    let performances = jobs::side_by_side(count, threads, &|| stop.requested(), &job, ended);
    display.show(&Event::Finished);
    let mut histories = vec![History::default(); plan.alternatives.len()];
    for (job, performance) in performances.into_iter().enumerate() {
        let Some(performance) = performance.flatten() else { continue };
        let (place, phase) = (job / phases as usize, job as u32 % phases);
        if phase <= hopeless[place].load(Ordering::Relaxed) {
            let turn = Turn { alternative: order[place], round: phase + 1, position: 1 };
            histories[order[place]].add(turn, false, performance);
        }
    }
    let scene = Scene { plan, targets, infos, nothing: None };
    let all = || plan.alternatives.iter().zip(&histories);
    let cells = all().flat_map(|(alternative, history)| cells::cells(scene, alternative, history)).collect();
    (cells, all().filter_map(|(alternative, history)| cells::problem(targets, alternative, history)).collect())
}

/// Draws the first run, and returns the title.
pub fn draw(path: &Path, plan: &Plan, targets: &[Target], stop: &Stop) -> Result<String, Error> {
    let Some(&first) = wanted(plan).first() else { return Err(Error::NothingToDraw) };
    let Alternative { targets: busy, row } = &plan.alternatives[first];
    let target = &targets[busy[0]];
    let chance = Chance { seed: plan.seed, phase: 0, phases: plan.rounds };
    let marks = perform::timeline(target, busy.len(), &row.program, plan.how, chance, stop);
    let drives = if busy.len() == 1 { "1 drive".to_owned() } else { format!("{} drives", busy.len()) };
    let file_system = target.file_system().unwrap_or_default();
    let turn =
        target.simulated().and_then(Simulated::turn).map_or_else(String::new, |turn| format!("; a turn takes {turn}"));
    let title = format!("{} on {target}, {file_system}, {drives}{turn}", row.program.name);
    timeline::write(path, &title, &marks)?;
    Ok(title)
}

/// What is not omitted, in the order of the plan: machines that are switched on anew know no order.
fn wanted(plan: &Plan) -> Vec<usize> {
    (0..plan.alternatives.len()).filter(|&index| plan.alternatives[index].row.omitted.is_none()).collect()
}
