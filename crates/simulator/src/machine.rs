//! The kinds of simulated machines. An enum and not a trait object, so that the world's loop is compiled for each kind.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::sync::atomic::AtomicBool;

use units::Virtual;
use workload::{
    Cache, CacheState, Calm, Census, DeviceBytes, Dirtiness, Recorder, Residency, Span, Steps, Witness, World,
};

use crate::computer::Computer;
use crate::flat::Flat;

/// A simulated machine.
#[derive(Debug)]
pub enum Machine {
    /// The simplest machine, whose times can be checked by hand.
    Flat(Box<Flat>),
    /// A computer built from a description.
    Computer(Box<Computer>),
}

impl Machine {
    /// Names of the machines that need no description.
    pub const NAMES: [&str; 1] = ["flat"];

    /// Stops the simulation soon after the flag is set. The simplest machine ignores it, as it takes no real time.
    pub fn heed(&mut self, stop: Arc<AtomicBool>) {
        if let Machine::Computer(computer) = self {
            computer.heed(stop);
        }
    }

    /// Returns the machine with that name, for `programs` programs.
    pub fn named(name: &str, programs: usize) -> Option<Machine> {
        (name == "flat").then(|| Machine::Flat(Box::new(Flat::new(programs))))
    }
}

/// Forwards a call to the machine of either kind.
macro_rules! which {
    ($machine:expr, $inner:ident => $call:expr) => {
        match $machine {
            Machine::Flat($inner) => $call,
            Machine::Computer($inner) => $call,
        }
    };
}

impl World for Machine {
    type Clock = Virtual;
    type Fault = Infallible;

    fn programs(&self) -> usize {
        which!(self, machine => World::programs(&**machine))
    }

    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<Virtual>>, Infallible>
    where
        S: Steps + Send,
        R: Recorder<Virtual> + Send,
    {
        which!(self, machine => machine.run(streams, recorders))
    }

    fn reach(&mut self, wanted: Cache) -> Result<CacheState, Infallible> {
        which!(self, machine => machine.reach(wanted))
    }

    fn quiesce(&mut self) -> Result<Calm, Infallible> {
        which!(self, machine => machine.quiesce())
    }

    fn unwritten(&mut self) -> Result<Option<Residency>, Infallible> {
        which!(self, machine => machine.unwritten())
    }

    fn device_bytes(&mut self) -> Option<DeviceBytes> {
        which!(self, machine => machine.device_bytes())
    }

    fn dirtiness(&mut self) -> Option<Dirtiness> {
        which!(self, machine => machine.dirtiness())
    }

    fn watch(&mut self) -> Result<(), Infallible> {
        which!(self, machine => machine.watch())
    }

    fn watched(&mut self) -> Result<Witness, Infallible> {
        which!(self, machine => machine.watched())
    }

    fn census(&mut self, index: usize) -> Result<Census, Infallible> {
        which!(self, machine => machine.census(index))
    }

    fn clear(&mut self) -> Result<(), Infallible> {
        which!(self, machine => machine.clear())
    }
}
