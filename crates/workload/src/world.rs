//! The seam. A world is a computer on which programs run: the real kernel, or a simulated machine.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use units::{Moment, Nanos};

use crate::cache::{Cache, CacheState, Calm, Laid, Residency};
use crate::failure::Failure;
use crate::recorder::Recorder;
use crate::step::Steps;
use crate::witness::{DeviceBytes, Dirtiness, Witness};

/// A computer with one or more programs on it, each standing in a folder of its own. A program keeps its
/// open files from one `run` to the next.
///
/// The world pulls: it asks a stream for the next step when the program would have issued it, and stops a
/// stream at its first failed op, of which the recorder hears.
pub trait World {
    /// The clock that this world's moments are read on.
    type Clock;
    /// What can go wrong with the world itself, apart from an op's failure. A simulated machine cannot
    /// fail, and says so here.
    type Fault;

    /// How many programs there are.
    fn programs(&self) -> usize;

    /// Runs one stream per program, all at once from one barrier, until all have ended. Panics unless there
    /// is one recorder and one program for each stream.
    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<Self::Clock>>, Self::Fault>
    where
        S: Steps + Send,
        R: Recorder<Self::Clock> + Send;

    /// Brings the data of all files that the programs have into the state that is wanted, as far as it can,
    /// and says what was proven.
    fn reach(&mut self, wanted: Cache) -> Result<CacheState, Self::Fault>;

    /// Waits for a bounded time until nothing is left to be written and the devices are at rest.
    fn quiesce(&mut self) -> Result<Calm, Self::Fault>;

    /// How much of the programs' files is in memory only. Nothing where it cannot be seen.
    fn unwritten(&mut self) -> Result<Option<Residency>, Self::Fault>;

    /// What lies behind the bytes of all files that the programs have. Nothing where it cannot be seen, as in a world
    /// that keeps no content.
    fn laid(&mut self) -> Result<Option<Laid>, Self::Fault> {
        Ok(None)
    }

    /// What the devices under the programs have moved so far, for everybody; cheap enough to be read
    /// between two clocks. Nothing where it cannot be seen.
    fn device_bytes(&mut self) -> Option<DeviceBytes>;

    /// How close the machine is to holding back who writes; as cheap. Nothing where it cannot be seen.
    fn dirtiness(&mut self) -> Option<Dirtiness>;

    /// Begins to watch the programs and the machine around them.
    fn watch(&mut self) -> Result<(), Self::Fault>;

    /// What was seen since `watch`. May be asked more than once.
    fn watched(&mut self) -> Result<Witness, Self::Fault>;

    /// What must not change from one execution to the next, by name: settings of the devices under the
    /// programs, of the file systems, of the machine. Only what can be seen; in a world of its own nothing changes.
    fn surroundings(&mut self) -> Surroundings {
        Surroundings::new()
    }

    /// Whether all programs were held still for a while since this was asked last, as a shell holds a job (SIGSTOP,
    /// SIGCONT): what was timed meanwhile is not their time alone. Nobody holds a machine of its own.
    fn was_held(&mut self) -> bool {
        false
    }

    /// Looks at samples of the files in the folder of program `index`, past the page cache where that can be:
    /// the first that does not hold what was written there. `cuts` are the lengths of the calls that wrote
    /// them; nothing is looked at where those left no trace to be known again, or where no content is kept.
    fn altered(&mut self, index: usize, cuts: &[u32]) -> Result<Option<Failure>, Self::Fault> {
        let _ = (index, cuts);
        Ok(None)
    }

    /// What program `index` left in its folder.
    fn census(&mut self, index: usize) -> Result<Census, Self::Fault>;

    /// Closes every program's files and removes all that it left in its folder.
    fn clear(&mut self) -> Result<(), Self::Fault>;
}

/// Settings by name.
pub type Surroundings = BTreeMap<String, String>;

/// When one program ran its stream, and the CPU time it used.
#[derive(Clone, Copy, Debug)]
pub struct Span<C> {
    /// Before the first step.
    pub began: Moment<C>,
    /// After the last op returned.
    pub ended: Moment<C>,
    /// CPU time of the program between the two.
    pub cpu: CpuTime,
    /// Time in which the program could have run and no processor was free for it. Nothing where nobody
    /// watches, or where it cannot be seen.
    pub ready: Option<Nanos>,
}

impl<C> Span<C> {
    /// How long the program ran.
    pub fn elapsed(&self) -> Nanos {
        self.ended.since(self.began)
    }

    /// Time in which the program neither ran nor could have run: it waited for something else than a
    /// processor. Nothing where that cannot be seen.
    pub fn blocked(&self) -> Option<Nanos> {
        Some(self.elapsed().saturating_sub(self.cpu.total).saturating_sub(self.ready?))
    }
}

/// CPU time that was charged to a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// In the program itself and in the kernel on its behalf.
    pub total: Nanos,
    /// The part in the program itself. On a real kernel the split is sampled by the clock tick, the total
    /// is exact.
    pub user: Nanos,
}

impl CpuTime {
    /// The part spent in the kernel.
    pub fn system(&self) -> Nanos {
        self.total.saturating_sub(self.user)
    }
}

/// What a program left behind: part of its effect, which must be the same in both worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Directories below the program's folder.
    pub directories: u64,
    /// Files in all of them.
    pub files: u64,
    /// The sum of the files' sizes.
    pub bytes: u64,
}

impl Census {
    /// Adds what another program left.
    pub fn add(&mut self, other: Census) {
        self.directories += other.directories;
        self.files += other.files;
        self.bytes += other.bytes;
    }
}
