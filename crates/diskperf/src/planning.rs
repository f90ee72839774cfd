//! The plan of a run: its tests on its targets, as large as they are to be. Nothing is written yet.

use std::sync::Arc;

use units::Bytes;

use crate::budget::{Limits, Sizes};
use crate::choose;
use crate::cli::run::RunArguments;
use crate::cli::values::Data;
use crate::error::Error;
use crate::plan::{Alternative, Before, Fit, Plan, PlannedSizing, Row};
use crate::presets::{Preset, Settings, Sizing};
use crate::sizing::{self, Wishes};
use crate::target::{Site, Target};

/// The plan of a run on these targets.
pub fn plan(arguments: &RunArguments, targets: &[Target]) -> Result<Plan, Error> {
    let (preset, schedule) = (arguments.preset(), arguments.schedule());
    let goal = arguments.goal.as_ref();
    let mut plan = Plan {
        preset: preset.name,
        rounds: schedule.rounds(),
        schedule,
        memory: memory(arguments, targets),
        // What is chosen from is to be the same each time.
        before: match if goal.is_some() { Before::Make } else { preset.before } {
            // Whoever fills it anew each time does little else.
            Before::Make if arguments.wear().is_some() => Before::Mount,
            before => before,
        },
        how: preset.how,
        means: arguments.means(),
        seed: arguments.seed(),
        zeros: arguments.data == Data::Zeros,
        budget: arguments.budget,
        sizing: PlannedSizing::Fixed,
        commands: arguments.own.as_ref().map(|own| Arc::clone(&own.all)).unwrap_or_default(),
        alternatives: Vec::new(),
    };
    let Sizing::FitTime { usual } = preset.sizing else {
        if preset.sizing == Sizing::Thin {
            plan.sizing = PlannedSizing::Thin;
        }
        plan.alternatives = alternatives(arguments, targets, Sizes::LARGEST)?;
        goal.map_or(Ok(()), |goal| goal.check(&plan))?;
        return Ok(plan);
    };
    // A choice has a time of its own, for which its limits on what is written stay.
    let usual = if goal.is_some() { usual.max(choose::USUAL) } else { usual };
    let large = |size| settings(arguments, targets, Sizes::LARGEST).size_in_calls(size, 8192);
    let large = arguments.size.map(large).transpose()?;
    let wishes = Wishes { large, budget: arguments.budget, usual, rounds: plan.rounds };
    let mut limits = sizing::limits(&wishes, targets);
    let mut tried_bytes = 0;
    // Trials write too. The same rows run on every target.
    for sizes in sizing::trials(&limits) {
        let all = alternatives(arguments, targets, sizes)?;
        let tried = |target| sizing::tried(all.iter().filter(|row| row.targets == [target]).map(|row| &row.row));
        tried_bytes += (0..targets.len()).map(tried).max().unwrap_or(0);
    }
    limits.written = limits.written.map(|written| written.saturating_sub(tried_bytes));
    // What it costs is not known yet, only what it writes.
    let untimed = Limits { time: None, ..limits };
    let rows = |sizes| alternatives(arguments, targets, sizes);
    let (fitting, fitted) = sizing::fitted(&untimed, targets, &Vec::new(), &rows)?;
    plan.alternatives = fitting;
    let limits = Limits { largest: fitted.sizes, ..limits };
    plan.sizing = PlannedSizing::FitTime(Fit { limits, sizes: None, tried: tried_bytes });
    goal.map_or(Ok(()), |goal| goal.check(&plan))?;
    Ok(plan)
}

fn settings(arguments: &RunArguments, targets: &[Target], sizes: Sizes) -> Settings {
    arguments.settings(memory(arguments, targets), sizes)
}

/// How much memory the run may have; a simulated machine has a memory of its own.
fn memory(arguments: &RunArguments, targets: &[Target]) -> Option<Bytes> {
    arguments.memory().filter(|_| targets.iter().any(|target| !target.is_simulated()))
}

/// Every row of the preset on each target, and where that was asked for on all at once.
pub fn alternatives(arguments: &RunArguments, targets: &[Target], sizes: Sizes) -> Result<Vec<Alternative>, Error> {
    let preset = arguments.preset();
    let settings = settings(arguments, targets, sizes);
    let all_rows = |site| match &arguments.job {
        Some(job) => job.rows(&settings, site),
        None => (preset.rows)(&settings, site),
    };
    let mut alternatives = Vec::new();
    for (target, site) in targets.iter().enumerate() {
        let mut rows = only(all_rows(site)?, &arguments.only, preset)?;
        if let Some(reason) = site.refuses_writes() {
            rows.iter_mut().filter(|row| row.writes()).for_each(|row| row.omitted = Some(reason.clone()));
        }
        if let (Site::File { path, .. }, true) = (&site.site, rows.iter().all(Row::writes)) {
            return Err(Error::OnlyRead { path: path.clone(), preset: preset.name });
        }
        for row in &mut rows {
            row.omitted = row.omitted.take().or_else(|| site.simulated()?.lacks(&row.program));
        }
        if let Some(cache) = arguments.cache() {
            // A device is left alone: to have it in memory would be to read all of it. What goes nowhere meets no file, and
            // what goes past memory nothing that lies there.
            let is_device = matches!(site.site, Site::Device(_));
            let is_meant = |row: &&mut Row| {
                row.raw.is_none() && !is_device && !row.goes_nowhere() && (arguments.cold || !row.is_direct())
            };
            let files = rows.iter_mut().filter(is_meant);
            files.flat_map(|row| &mut row.program.phases).for_each(|phase| phase.cache = cache);
        }
        alternatives.extend(rows.into_iter().map(|row| Alternative::on(&[target], row)));
    }
    if arguments.together(targets) {
        let all: Vec<usize> = (0..targets.len()).collect();
        let alone = alternatives.iter().filter(|alternative| alternative.row.raw.is_none());
        let mut together: Vec<Row> = Vec::new();
        for Alternative { targets, row } in alone {
            // What one of them cannot do, all cannot do at once.
            match together.iter_mut().find(|other| targets[0] != 0 && other.label() == row.label()) {
                Some(other) => other.omitted = other.omitted.take().or_else(|| row.omitted.clone()),
                None => together.push(row.clone()),
            }
        }
        alternatives.extend(together.into_iter().map(|row| Alternative::on(&all, row)));
    }
    Ok(alternatives)
}

/// The rows of the programs that were asked for; all, where none was.
fn only(rows: Vec<Row>, programs: &[String], preset: &Preset) -> Result<Vec<Row>, Error> {
    if let Some(typed) = programs.iter().find(|program| rows.iter().all(|row| row.program.name != **program)) {
        let mut there: Vec<&'static str> = rows.iter().map(|row| row.program.name).collect();
        there.dedup();
        return Err(Error::UnknownProgram { name: typed.clone(), preset: preset.name, known: there });
    }
    let is_wanted = |row: &Row| programs.is_empty() || programs.iter().any(|program| program == row.program.name);
    Ok(rows.into_iter().filter(is_wanted).collect())
}
