//! A request as this machine can run it: its commands are found, its job file is read, its engine is chosen.

use std::sync::Arc;

use jobs::{Job, JobError, LoadSpec, Source};
use units::Nanos;
use workload::Mix;
use workload::programs::load::Load;

use super::command::OwnCommand;
use super::{RunRequest, Workload};
use crate::error::CampaignError;
use crate::plan::Row;
use crate::presets::{self, Preset, Settings};
use crate::request::host;
use crate::targets::Target;

/// A request, and the tests that it means here.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The request.
    pub request: RunRequest,
    /// Its tests.
    pub tests: Tests,
}

/// The tests of a workload.
#[derive(Clone, Debug)]
pub enum Tests {
    /// Those of a preset.
    Preset(&'static Preset),
    /// Those of vaxmix with another mix.
    Mix(Mix),
    /// Those of device, for this time in a round.
    Device(Option<Nanos>),
    /// One workload.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Load { load: Load, warning: Option<String> },
    /// The workloads of a job file.
    Job(Box<Job>),
    /// A command.
    Command(OwnCommand),
}

impl RunRequest {
    /// The request as this machine can run it.
    pub fn resolve(self) -> Result<Resolved, CampaignError> {
        let tests = match &self.workload {
            Workload::Preset(preset) => Tests::Preset(preset),
            Workload::Mix { mix, .. } => Tests::Mix(*mix),
            Workload::Device { time, .. } => Tests::Device(*time),
            Workload::Load(load) => Tests::of_load(load)?,
            Workload::Job { name, text } => {
                let mut job = host::read(&Source::new(name, text))?;
                // Targets of the command line replace those of the file, which then has no place for their errors.
                if presets::job::targets(&job) != self.targets {
                    job.targets.clear();
                }
                Tests::Job(Box::new(job))
            }
            Workload::Command(command) => Tests::Command(OwnCommand::find(command)?),
        };
        Ok(Resolved { request: self, tests })
    }
}

impl Tests {
    /// One workload, as this machine can run it.
    pub fn of_load(load: &LoadSpec) -> Result<Tests, JobError> {
        let (load, warning) = load.load(&host::host())?;
        Ok(Tests::Load { load, warning })
    }

    /// The reasons why this machine cannot run a workload as it is written.
    pub fn warnings(&self) -> &[String] {
        match self {
            Tests::Load { warning, .. } => warning.as_slice(),
            Tests::Job(job) => &job.warnings,
            _ => &[],
        }
    }

    /// The tests as rows on a target.
    pub fn rows(&self, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
        match self {
            Tests::Preset(preset) => preset.rows(settings, target),
            Tests::Mix(mix) => presets::vaxmix::rows_of(Some(*mix), settings, target),
            Tests::Device(time) => presets::device::rows_of(*time, settings, target),
            Tests::Load { load, .. } => presets::io::rows(load, settings, target),
            Tests::Job(job) => presets::job::rows(job, settings, target),
            Tests::Command(command) => presets::command::rows(command.program, settings, target),
        }
    }

    /// The commands that they run.
    pub fn commands(&self) -> Arc<[kernel::Command]> {
        match self {
            Tests::Command(command) => Arc::clone(&command.all),
            _ => Arc::default(),
        }
    }
}
