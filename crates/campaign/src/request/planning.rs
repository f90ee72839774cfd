//! Makes the plan of a run: its tests on its targets, with their sizes. Writes nothing.

use kernel::EvictionMethods;
use units::{Bytes, Nanos};

use super::resolved::Resolved;
use super::{RunRequest, Together};
use crate::choose;
use crate::error::CampaignError;
use crate::fit::limits::Limits;
use crate::fit::size_trials::{self, Wishes};
use crate::fit::sizes::Sizes;
use crate::plan::{Alternative, Before, Fit, Plan, PlannedSizing, Row};
use crate::presets::{Preset, Settings, Sizing};
use crate::targets::{Site, Target};

/// The plan of a run on these targets.
pub fn plan(resolved: &Resolved, targets: &[Target]) -> Result<Plan, CampaignError> {
    let Resolved { request, tests } = resolved;
    let RunRequest { schedule, environment, .. } = request;
    let (preset, goal) = (request.workload.preset(), schedule.goal());
    let given = || alternatives(resolved, targets, Sizes::LARGEST);
    let (alternatives, sizing) = match request.sizing() {
        Sizing::Fixed => (given()?, PlannedSizing::Fixed),
        Sizing::Thin => (given()?, PlannedSizing::Thin),
        Sizing::FitTime { usual } => {
            let (fitting, fit) = fit_time(resolved, targets, usual)?;
            (fitting, PlannedSizing::FitTime(Box::new(fit)))
        }
    };
    let plan = Plan {
        memory: memory(request, targets),
        // In a comparison, each target is in the same state before each test.
        before: match if goal.is_some() { Before::Make } else { preset.before } {
            // Filling an aged file system again would take too long.
            Before::Make if environment.aging.is_some() => Before::Mount,
            before => before,
        },
        methods: EvictionMethods { given: environment.is_cold(), drop_caches: environment.drop_caches },
        zeros: environment.zeros,
        budget: budget(request, targets),
        has_floor: !request.no_floor,
        sizing,
        commands: tests.commands(),
        records: request.record,
        rests: request.record || request.rest,
        ..Plan::fixed((preset.name, preset.options_on(targets)), schedule.clone(), environment.seed, alternatives)
    };
    goal.map_or(Ok(()), |goal| goal.check(&plan))?;
    Ok(plan)
}

/// Makes the tests as large as the space allows. Later, trials find out what the time allows.
fn fit_time(resolved: &Resolved, targets: &[Target], usual: Nanos) -> Result<(Vec<Alternative>, Fit), CampaignError> {
    let request = &resolved.request;
    let large = |size| settings(request, targets, Sizes::LARGEST).size_in_calls(size, 8192);
    let large = request.size.map(large).transpose()?;
    let wishes = Wishes {
        large,
        max_write: request.max_write,
        no_floor: request.no_floor,
        budget: budget(request, targets),
        usual,
        rounds: request.schedule.rounds(),
        fewest_rounds: request.schedule.fewest(),
    };
    let limits = size_trials::limits(&wishes, targets);
    let rows = |sizes| alternatives(resolved, targets, sizes);
    let mut tried = 0;
    // Trials write too. Every target runs the same rows.
    for sizes in size_trials::trials(&limits) {
        let all = rows(sizes)?;
        let on = |target| size_trials::tried(all.iter().filter(|row| row.targets == [target]).map(|row| &row.row));
        tried += (0..targets.len()).map(on).max().unwrap_or(0);
    }
    let most_written = limits.written.map(Bytes);
    // A ceiling writes a tenth of what its test writes.
    let has_ceiling = request.workload.preset().options_on(targets).ceiling;
    let for_tests = |written: u64| if has_ceiling { written - written / 11 } else { written };
    let written = limits.written.map(|written| for_tests(written.saturating_sub(tried)));
    let limits = Limits { written, ..limits };
    Ok((
        rows(limits.largest)?,
        Fit { limits, sizes: None, tried, most_written, is_strict: request.max_write.is_some() },
    ))
}

/// The time limit of a run. A comparison of simulated machines only has no default limit.
fn budget(request: &RunRequest, targets: &[Target]) -> Option<Nanos> {
    let is_real = !targets.iter().all(Target::is_simulated);
    request.budget.or(request.schedule.goal().filter(|_| is_real).map(|_| choose::USUAL))
}

/// The settings of a preset.
fn settings(request: &RunRequest, targets: &[Target], sizes: Sizes) -> Settings {
    Settings { size: request.size, memory: memory(request, targets), seed: request.environment.seed, sizes }
}

/// The memory limit of the run. Simulated machines have their own memory.
fn memory(request: &RunRequest, targets: &[Target]) -> Option<Bytes> {
    request.environment.memory.filter(|_| targets.iter().any(|target| !target.is_simulated()))
}

/// True if every test also runs on all targets at the same time.
fn is_together(request: &RunRequest, targets: &[Target]) -> bool {
    let asked = match request.together {
        Together::Never => false,
        Together::IfShared => Target::share_a_world(targets),
        Together::Always => true,
    };
    targets.len() > 1 && asked
}

/// Every row of the preset on each target and, if requested, on all at the same time.
pub fn alternatives(resolved: &Resolved, targets: &[Target], sizes: Sizes) -> Result<Vec<Alternative>, CampaignError> {
    let Resolved { request, tests } = resolved;
    let preset = request.workload.preset();
    let settings = settings(request, targets, sizes);
    let mut alternatives = Vec::new();
    for (target, site) in targets.iter().enumerate() {
        let mut rows = only(tests.rows(&settings, site)?, &request.only, preset)?;
        if let Some(reason) = site.refuses_writes() {
            rows.iter_mut().filter(|row| row.writes()).for_each(|row| row.omitted = Some(reason.clone()));
        }
        if let (Site::File { path, .. }, true) = (&site.site, rows.iter().all(Row::writes)) {
            return Err(CampaignError::OnlyRead { path: path.clone(), preset: preset.name });
        }
        for row in &mut rows {
            row.omitted = row.omitted.take().or_else(|| site.simulated()?.lacks(&row.program));
        }
        if let Some(cache) = request.environment.cache() {
            // A device is left alone: caching it would mean reading all of it. The null engine uses no file, and direct
            // I/O bypasses the page cache.
            let is_device = matches!(site.site, Site::Device(_));
            let is_meant = |row: &&mut Row| {
                row.raw.is_none()
                    && !is_device
                    && !row.is_null_engine()
                    && (request.environment.is_cold() || !row.is_direct())
            };
            let files = rows.iter_mut().filter(is_meant);
            files.flat_map(|row| &mut row.program.phases).for_each(|phase| phase.cache = cache);
        }
        alternatives.extend(rows.into_iter().map(|row| Alternative::for_targets(&[target], row)));
    }
    if is_together(request, targets) {
        let all: Vec<usize> = (0..targets.len()).collect();
        let alone = alternatives.iter().filter(|alternative| alternative.row.raw.is_none());
        let mut together: Vec<Row> = Vec::new();
        for Alternative { targets, row } in alone {
            // A test that one target cannot run is left out for all of them together.
            match together.iter_mut().find(|other| targets[0] != 0 && other.label() == row.label()) {
                Some(other) => other.omitted = other.omitted.take().or_else(|| row.omitted.clone()),
                None => together.push(row.clone()),
            }
        }
        alternatives.extend(together.into_iter().map(|row| Alternative::for_targets(&all, row)));
    }
    Ok(alternatives)
}

/// The rows of the requested programs; all rows if no program is named.
fn only(rows: Vec<Row>, programs: &[String], preset: &Preset) -> Result<Vec<Row>, CampaignError> {
    if let Some(typed) = programs.iter().find(|program| rows.iter().all(|row| row.program.name != **program)) {
        // Rows of a preset may have the same name, also apart from each other.
        let mut known: Vec<&'static str> = Vec::new();
        for row in &rows {
            if !known.contains(&row.program.name) {
                known.push(row.program.name);
            }
        }
        return Err(CampaignError::UnknownProgram { name: typed.clone(), preset: preset.name, known });
    }
    let is_wanted = |row: &Row| programs.is_empty() || programs.iter().any(|program| program == row.program.name);
    Ok(rows.into_iter().filter(is_wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TargetArgument;

    #[test]
    fn devices_rest_before_recorded_and_checked_executions() {
        let folder = tempfile::tempdir().expect("a folder");
        let argument: TargetArgument = folder.path().to_str().expect("UTF-8").parse().expect("a directory");
        let targets = [Target::resolve(&argument).expect("a target")];
        for (record, rest, rests) in [(false, false, false), (true, false, true), (false, true, true)] {
            let resolved = RunRequest { record, rest, ..RunRequest::main_job() }.resolve().expect("the tests");
            let plan = plan(&resolved, &targets).expect("a plan");
            assert_eq!((plan.records, plan.rests), (record, rests));
        }
    }
}
