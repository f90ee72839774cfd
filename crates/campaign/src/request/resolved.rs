//! A request as this machine can run it: with its programs found, its job file read and its engine chosen.

use std::sync::Arc;

use jobs::{Job, JobError, LoadSpec, LoadSweep, PointLoad, Source};
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

/// A request, with its tests on this machine.
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
    /// The tests of a preset.
    Preset(&'static Preset),
    /// The tests of vaxmix with another mix.
    Mix(Mix),
    /// The tests of device, with this time in a round.
    Device(Option<Nanos>),
    /// One workload, or those of a sweep.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Loads { loads: Vec<Load>, warnings: Vec<String> },
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
            Workload::Sweep(sweep) => Tests::of_sweep(sweep)?,
            Workload::Job { name, text } => {
                let mut job = host::read(&Source::new(name, text))?;
                // Targets of the command line replace those of the file. Errors about them then need no place in the
                // file.
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

impl Resolved {
    /// The first program of a command that is another one on this machine: the one in the request, and the one found.
    pub fn other_program(&self) -> Option<(&str, String)> {
        let (Workload::Command(stored), Tests::Command(command)) = (&self.request.workload, &self.tests) else {
            return None;
        };
        let found = stored.found.iter().zip(command.programs());
        found.into_iter().find(|(then, now)| *then != now).map(|(then, now)| (then.as_str(), now))
    }
}

impl Tests {
    /// The test of one workload, as this machine can run it.
    pub fn of_load(load: &LoadSpec) -> Result<Tests, JobError> {
        let (load, warning) = load.load(&host::host())?;
        Ok(Tests::Loads { loads: vec![load], warnings: warning.into_iter().collect() })
    }

    /// The tests of a sweep, as this machine can run them. A warning about several of them is given once.
    pub fn of_sweep(sweep: &LoadSweep) -> Result<Tests, JobError> {
        let (mut loads, mut warnings) = (Vec::new(), Vec::new());
        for PointLoad { load, warning, .. } in sweep.loads(&host::host())? {
            loads.push(load);
            warnings.extend(warning.filter(|warning| !warnings.contains(warning)));
        }
        Ok(Tests::Loads { loads, warnings })
    }

    /// The reasons why this machine cannot run a workload as it is written.
    pub fn warnings(&self) -> &[String] {
        match self {
            Tests::Loads { warnings, .. } => warnings,
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
            Tests::Loads { loads, .. } => loads.iter().map(|load| presets::io::row(load, settings, target)).collect(),
            Tests::Job(job) => presets::job::rows(job, settings, target),
            Tests::Command(command) => presets::command::rows(command.program, settings, target),
        }
    }

    /// The commands that the tests run.
    pub fn commands(&self) -> Arc<[kernel::Command]> {
        match self {
            Tests::Command(command) => Arc::clone(&command.all),
            _ => Arc::default(),
        }
    }
}
