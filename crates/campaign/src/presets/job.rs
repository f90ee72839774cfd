//! The preset of a job file: a row for each of its workloads, as `io` runs them.

use jobs::{Job, JobError, NamedLoad};
use units::Exit;
use workload::Parameter;
use workload::programs::load::Load;

use super::{Preset, Settings, io};
use crate::error::CampaignError;
use crate::plan::Row;
use crate::targets::{Target, TargetArgument};

/// Runs the workloads of a job file.
pub static PRESET: Preset = io::preset("job", "The workloads of a job file");

/// The targets that a job file names.
pub fn targets(job: &Job) -> Vec<TargetArgument> {
    let parsed = job.targets.iter().map(|target| {
        let Ok(target) = target.parse();
        target
    });
    parsed.collect()
}

/// The error of a target that a job file names, at its place in the file.
pub fn at_targets(job: &Job, error: CampaignError) -> CampaignError {
    if error.exit() != Exit::Usage {
        return error;
    }
    let placed = job.at_targets(&error.to_string(), &error.hint().unwrap_or_default());
    placed.map_or(error, CampaignError::from)
}

/// The rows of a job file on a target. Each has the name of its workload.
pub fn rows(job: &Job, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let mut rows = Vec::new();
    for (index, NamedLoad { name, load, .. }) in job.loads.iter().enumerate() {
        let load = Load { size: settings.size.or(load.size), ..*load };
        for mut row in io::rows(&load, settings, target).map_err(|error| at_load(job, index, error))? {
            row.program.name = name;
            row.program.parameters.push(Parameter::new("pattern", load.pattern.name()));
            row.program.phases.iter_mut().for_each(|phase| phase.name = name);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The error of a workload on a target, at its place in the file.
fn at_load(job: &Job, index: usize, error: CampaignError) -> CampaignError {
    match error {
        CampaignError::Job(error) => match *error {
            JobError::Load(error) => job.at_load(index, error).into(),
            other => other.into(),
        },
        other => other,
    }
}
