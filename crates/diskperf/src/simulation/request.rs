//! The simulations that the arguments of `simulate` choose: the tests of a preset, on each point of a sweep.

use std::ops::Range;

use campaign::error::CampaignError;
use campaign::fit::sizes::Sizes;
use campaign::plan::{Alternative, Plan, Row};
use campaign::presets::Settings;
use campaign::request::resolved::Tests;
use campaign::targets::{Described, Simulated, Site, Target};
use machines::{Kind, Machine};

use super::of_machines;
use super::points::Points;
use crate::cli::simulate::SimulateArguments;
use crate::documents::inputs;
use crate::error::{ArgumentError, Error};

/// The preset that measures operations on names.
const LFS: &str = "lfs";

/// Settings for that preset, unless `--set` replaces them: names take time, and the update daemon runs. The machines of
/// 1983 were fitted without either.
const TIMED_NAMES: [&str; 2] = ["file_system.names=timed", "kernel.update=30s"];

/// The most simulations that are planned at once. Chosen: each result has about a kilobyte, and stays in memory until
/// the last simulation has ended.
const MOST_RUNS: usize = 1_000_000;

/// Simulations of a machine.
pub struct Request<'a> {
    arguments: &'a SimulateArguments,
    /// The machine as typed.
    name: &'a str,
    tests: Tests,
    /// The numbers of drives, ascending.
    drives: Vec<usize>,
    /// The points of the sweep.
    pub points: Points,
}

impl<'a> Request<'a> {
    /// The simulations of at most `most` points.
    pub fn new(arguments: &'a SimulateArguments, name: &'a str, most: usize) -> Result<Request<'a>, Error> {
        let tests = match arguments.mixing.mix(arguments.preset)? {
            Some((mix, _)) => Tests::Mix(mix),
            None => Tests::Preset(arguments.preset),
        };
        let (machine, settings) = machine(name, arguments)?;
        let settings = settings.iter().filter_map(|typed| pair(typed)).collect();
        let points = Points::new(machine, settings, &arguments.sweeps, most).ok_or(ArgumentError::TooManyRows(most))?;
        // A machine may lack the preset's settings, but not yours.
        let is_typed =
            |key: &str| arguments.settings.iter().filter_map(|typed| pair(typed)).any(|(typed, _)| typed == key);
        if let Some(key) = points.lost()?.into_iter().find(|key| is_typed(key)) {
            return Err(ArgumentError::LostSetting(key.to_owned()).into());
        }
        Ok(Request { arguments, name, tests, drives: arguments.drives(), points })
    }

    /// The alternatives of these points, and their targets. An error if the machine of a point is impossible.
    pub fn lay_out(&self, points: Range<usize>) -> Result<(Vec<Alternative>, Vec<Target>), Error> {
        let (mut alternatives, mut targets) = (Vec::new(), Vec::new());
        let together = self.arguments.preset.together;
        let most_drives = self.drives.last().copied().unwrap_or(1);
        for point in points {
            let (machine, settings) = self.points.point(point)?;
            // Only the table of 1983 has a half for each file system; other tables use the first file system. A machine
            // without any is laid out once, so that the check refuses it.
            let file_systems = if together { machine.parts(Kind::FileSystem).count().max(1) } else { 1 };
            // Each file system by itself: all its programs on one drive, then on two.
            for file_system in 0..file_systems {
                let described =
                    Described { machine: machine.with_file_system(file_system), settings: settings.clone() };
                let simulated = Simulated::Described(Box::new(described));
                let site = Site::Simulated(simulated.clone());
                let (name, typed) = (machine.name.clone(), self.name.to_owned());
                let target = Target { name, typed, site, tuning: Vec::new(), aging: None };
                // Check the size before tests are made for it: the random order of a test is a list of all blocks.
                if let Some(size) = self.arguments.size {
                    simulated.check(most_drives, size.0)?;
                }
                let first = targets.len();
                for row in rows(self.arguments, &self.tests, &target)? {
                    if row.omitted.is_none() {
                        simulated.check(most_drives, row.program.space)?;
                    }
                    alternatives.extend(self.drives.iter().map(|&drives| {
                        let targets = (first..first + drives).collect();
                        Alternative { targets, row: row.clone() }
                    }));
                }
                targets.extend((0..most_drives).map(|_| target.clone()));
            }
        }
        Ok((alternatives, targets))
    }

    /// The plan of these alternatives.
    pub fn plan(&self, alternatives: Vec<Alternative>) -> Result<Plan, Error> {
        let SimulateArguments { preset, phases, seed, .. } = self.arguments;
        let runs = alternatives.len().saturating_mul(phases.get() as usize);
        if runs > MOST_RUNS {
            let [rows, phases, all, most] =
                [alternatives.len(), phases.get() as usize, runs, MOST_RUNS].map(|number| units::whole(number as u64));
            return Err(ArgumentError::TooManySimulations { phases, rows, all, most }.into());
        }
        Ok(of_machines(preset, phases.get(), *seed, alternatives))
    }
}

/// The machine of that name with its settings: those of the preset, and then those of `--set`.
pub fn machine(name: &str, arguments: &SimulateArguments) -> Result<(Machine, Vec<String>), Error> {
    inputs::will_read_machine(name)?;
    let mut machine = Machine::load(name)?;
    let preset = if arguments.preset.name == LFS { TIMED_NAMES.as_slice() } else { &[] };
    // Leave out a setting that the parts do not have: their names always take time, or they have no daemon.
    let known = |setting: &&&str| machine.names().iter().any(|name| setting.split('=').next() == Some(name));
    let preset = preset.iter().filter(known).map(|&setting| setting.to_owned()).collect::<Vec<String>>();
    let settings: Vec<String> = preset.into_iter().chain(arguments.settings.iter().cloned()).collect();
    settings.iter().try_for_each(|setting| machine.set(setting))?;
    Ok((machine, settings))
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
