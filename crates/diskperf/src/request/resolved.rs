//! A request as this machine can run it: its commands are found, its job file is read, its engine is chosen.

use std::sync::Arc;

use units::Nanos;
use workload::Mix;
use workload::programs::load::Load;

use super::command::OwnCommand;
use super::{RunRequest, Workload};
use crate::error::Error;
use crate::jobs::{Job, Text};
use crate::plan::Row;
use crate::presets::{self, Preset, Settings};
use crate::target::Target;

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
    Load(Load),
    /// The workloads of a job file.
    Job(Box<Job>),
    /// A command.
    Command(OwnCommand),
}

impl RunRequest {
    /// The request as this machine can run it.
    pub fn resolve(self) -> Result<Resolved, Error> {
        let tests = match &self.workload {
            Workload::Preset(preset) => Tests::Preset(preset),
            Workload::Mix { mix, .. } => Tests::Mix(*mix),
            Workload::Device { time, .. } => Tests::Device(*time),
            Workload::Load(load) => Tests::Load(load.load()?),
            Workload::Job { name, text } => Tests::Job(Box::new(Job::read(&Text::new(name, text))?)),
            Workload::Command(command) => Tests::Command(OwnCommand::find(command)?),
        };
        Ok(Resolved { request: self, tests })
    }
}

impl Tests {
    /// The tests as rows on a target.
    pub fn rows(&self, settings: &Settings, target: &Target) -> Result<Vec<Row>, Error> {
        Ok(match self {
            Tests::Preset(preset) => preset.rows(settings, target)?,
            Tests::Mix(mix) => presets::vaxmix::rows_of(Some(*mix), settings, target)?,
            Tests::Device(time) => presets::device::rows_of(*time, settings, target)?,
            Tests::Load(load) => presets::io::rows(load, settings, target)?,
            Tests::Job(job) => job.rows(settings, target)?,
            Tests::Command(command) => presets::command::rows(command.program, settings, target)?,
        })
    }

    /// The commands that they run.
    pub fn commands(&self) -> Arc<[kernel::Command]> {
        match self {
            Tests::Command(command) => Arc::clone(&command.all),
            _ => Arc::default(),
        }
    }
}
