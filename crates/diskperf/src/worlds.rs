//! The worlds of a run: one for each set of targets that are busy at once, made when first needed.

use std::path::Path;
use std::time::Instant;

use kernel::{Posix, Station, Workspace};
use simulator::Machine;
use units::Nanos;
use workload::Program;

use crate::error::Error;
use crate::forecast::Trial;
use crate::plan::Plan;
use crate::runner::{self, Claim, How, Performance, PhaseRun};
use crate::signals::Stop;
use crate::target::{Site, Target};

/// A world of either kind.
pub enum AnyWorld {
    /// Directories of the real kernel.
    Real(Box<Posix>),
    /// Programs on one simulated machine.
    Simulated(Box<Machine>),
}

/// All worlds of a run, each under the targets that are busy in it.
#[derive(Default)]
pub struct Worlds(Vec<(Vec<usize>, AnyWorld)>);

impl Worlds {
    /// The world in which these targets are busy.
    pub fn open(
        &mut self,
        plan: &Plan,
        busy: &[usize],
        targets: &[Target],
        stop: &Stop,
    ) -> Result<&mut AnyWorld, Error> {
        let known = self.0.iter().position(|(those, _)| those == busy);
        let index = match known {
            Some(index) => index,
            None => {
                self.0.push((busy.to_vec(), AnyWorld::open(plan, busy, targets, stop)?));
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[index].1)
    }
}

impl AnyWorld {
    /// Makes the world in which these targets are busy. Refuses where some are real and some are not, or on
    /// different machines: they cannot be busy at once.
    pub fn open(plan: &Plan, busy: &[usize], targets: &[Target], stop: &Stop) -> Result<AnyWorld, Error> {
        if !Target::share_a_world(busy.iter().map(|&index| &targets[index])) {
            return Err(Error::NotAtOnce);
        }
        let sites: Vec<&Site> = busy.iter().map(|&index| &targets[index].site).collect();
        if let Some(Site::Simulated { machine }) = sites.first() {
            let world = Machine::named(machine, busy.len()).ok_or_else(|| Error::UnknownMachine(machine.clone()))?;
            return Ok(AnyWorld::Simulated(Box::new(world)));
        }
        let stations = sites.into_iter().map(|site| match site {
            Site::Directory { path, .. } => {
                Ok(Station { workspace: Some(Workspace::inside(path)?), given: Vec::new() })
            }
            Site::Simulated { .. } => Err(Error::NotAtOnce),
        });
        let stations = stations.collect::<Result<Vec<Station>, Error>>()?;
        let largest_call = busy.iter().map(|&index| plan.largest_call(index)).max().unwrap_or(0);
        let mut world = Posix::new(stations, largest_call, plan.seed, stop.flag())?;
        world.allow(plan.means)?;
        Ok(AnyWorld::Real(Box::new(world)))
    }

    /// The world of one program that reads a device. It stands apart from the target's: the target's files
    /// are brought into memory and out of it, a device is left alone.
    pub fn on_device(plan: &Plan, program: &Program, device: &Path, stop: &Stop) -> Result<AnyWorld, Error> {
        let station = Station { workspace: None, given: vec![device.to_owned()] };
        let world = Posix::new(vec![station], program.largest_call, plan.seed, stop.flag())?;
        Ok(AnyWorld::Real(Box::new(world)))
    }

    /// Runs the program once.
    pub fn perform(&mut self, program: &Program, how: How) -> Result<Performance, Error> {
        match self {
            AnyWorld::Real(world) => Ok(runner::perform(&mut **world, program, how)?),
            AnyWorld::Simulated(world) => {
                let Ok(performance) = runner::perform(&mut **world, program, how);
                Ok(performance)
            }
        }
    }

    /// Runs the program and looks at the clock on the wall; nothing where it did not reach its end. What a
    /// simulated program takes is virtual: there the time to simulate it counts.
    pub fn time(&mut self, program: &Program) -> Result<Option<Trial>, Error> {
        let began = Instant::now();
        let performance = self.perform(program, How { claim: Claim::Returned, timed: false })?;
        let all = Nanos(began.elapsed().as_nanos() as u64);
        let finished = performance.phases.first().filter(|_| performance.stopped.is_none());
        let calls = |phase: &PhaseRun| match self {
            AnyWorld::Real(_) => phase.returned(),
            AnyWorld::Simulated(_) => all,
        };
        Ok(finished.map(calls).map(|calls| Trial { all, calls }))
    }
}
