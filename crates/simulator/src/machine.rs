//! The kinds of simulated machines. An enum and not a trait object, so that the world's loop is compiled for each kind.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::sync::atomic::AtomicBool;

use units::Virtual;
use workload::{
    Cache, CacheState, Counters, DeviceBytes, Dirtiness, Quiescence, Recorder, Residency, Span, Steps, TreeCounts,
    World,
};

use crate::computer::Computer;
use crate::flat_machine::Flat;

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

    fn set_cache_state(&mut self, wanted: Cache) -> Result<CacheState, Infallible> {
        which!(self, machine => machine.set_cache_state(wanted))
    }

    fn quiesce(&mut self) -> Result<Quiescence, Infallible> {
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

    fn counters(&mut self) -> Result<Counters, Infallible> {
        which!(self, machine => machine.counters())
    }

    fn tree_counts(&mut self, index: usize) -> Result<TreeCounts, Infallible> {
        which!(self, machine => machine.tree_counts(index))
    }

    fn clear(&mut self) -> Result<(), Infallible> {
        which!(self, machine => machine.clear())
    }
}
