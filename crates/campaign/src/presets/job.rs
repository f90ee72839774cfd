//! The preset of a job file: a row for each of its workloads, as `io` runs them, and one for each of its groups.

use jobs::{Job, JobError, LoadError, NamedLoad};
use serde_json::json;
use units::{Exit, Nanos, fnv1a};
use workload::programs::load::Load;
use workload::{Parameter, Program};

use super::{MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings, io};
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

/// The rows of a job file on a target. Each has the name of its workload, or of its group.
pub fn rows(job: &Job, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let turn = |loads: Vec<usize>| match (&loads[..], job.loads[loads[0]].group) {
        ([load], _) | ([load, ..], None) => row(job, *load, settings, target),
        (_, Some(group)) => {
            check_target(job, &loads, target)?;
            let rows = loads.iter().map(|load| row(job, *load, settings, target));
            grouped(job, group, &loads, rows.collect::<Result<_, _>>()?)
        }
        ([], _) => unreachable!("a turn has a load"),
    };
    job.turns().into_iter().map(turn).collect()
}

/// The row of a workload.
fn row(job: &Job, index: usize, settings: &Settings, target: &Target) -> Result<Row, CampaignError> {
    let NamedLoad { name, load, .. } = &job.loads[index];
    let load = Load { size: settings.size.or(load.size), ..*load };
    let mut row = io::row(&load, settings, target).map_err(|error| at_load(job, index, error))?;
    row.program.name = name;
    row.program.parameters.push(Parameter::new("pattern", load.pattern.name()));
    row.program.phases.iter_mut().for_each(|phase| phase.name = name);
    Ok(row)
}

/// Refuses a target on which a group cannot run.
fn check_target(job: &Job, loads: &[usize], target: &Target) -> Result<(), CampaignError> {
    if target.is_simulated() {
        let why = "a simulated drive runs one workload at a time";
        let hint = "name a directory, or leave out together and group";
        let error = LoadError::new("group", "", why, hint);
        return Err(at_load(job, loads[0], error.into()));
    }
    Ok(())
}

/// The row of a group. The cells of its loads have the group and the other loads among their parameters: with other
/// loads beside it, a load is another test.
fn grouped(job: &Job, group: &'static str, loads: &[usize], rows: Vec<Row>) -> Result<Row, CampaignError> {
    let members = || loads.iter().map(|load| &job.loads[*load]);
    let all = checksum(&rows, members());
    let omitted = rows.iter().find_map(|row| Some(format!("{}: {}", row.program.name, row.omitted.as_ref()?)));
    let unit = rows.iter().map(|row| row.unit).find(|unit| *unit == MIB_PER_SECOND).unwrap_or(OPS_PER_SEC);
    let programs = rows.into_iter().zip(members()).map(|(row, load)| {
        let beside: Vec<&str> = members().map(|other| other.name).filter(|other| *other != load.name).collect();
        let mut program = row.program;
        program.parameters.push(Parameter::new("group", group));
        program.parameters.push(Parameter::new("beside", beside.join("+").as_str()));
        program.parameters.push(Parameter::new("group_settings", all.as_str()));
        if load.start > Nanos::ZERO {
            program.parameters.push(Parameter::new("start_ns", load.start.0));
        }
        (program, row.jobs.max(1), load.start)
    });
    let mut program = Program::grouped(group, programs.collect());
    program.parameters.push(Parameter::new("group_settings", all.as_str()));
    let jobs = program.group.iter().map(|member| member.jobs).sum();
    Ok(Row { omitted, jobs, ..Row::new(program, unit) })
}

/// A checksum of the settings of all loads of a group, as they run on this machine.
fn checksum<'a>(rows: &[Row], members: impl Iterator<Item = &'a NamedLoad>) -> String {
    let one = |(row, load): (&Row, &NamedLoad)| {
        let value = |one: &Parameter| format!("{}={}", one.name, json!(one.value));
        let mut settings: Vec<String> = row.program.parameters.iter().map(value).collect();
        settings.sort_unstable();
        let (space, jobs, start) = (row.program.space, row.jobs.max(1), load.start.0);
        format!("{} {space} {jobs} {start} {}", load.name, settings.join(" "))
    };
    let mut all: Vec<String> = rows.iter().zip(members).map(one).collect();
    all.sort_unstable();
    format!("{:08x}", fnv1a(all.join("\n").bytes()) as u32)
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
