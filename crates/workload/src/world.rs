//! [`World`]: a computer on which programs run, either the real kernel or a simulated machine.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use serde::{Deserialize, Serialize};
use units::{Moment, Nanos};

use crate::cache_state::{Allocation, Cache, CacheState, Quiescence, Residency};
use crate::counters::{Counters, DeviceBytes, Dirtiness};
use crate::failure::Failure;
use crate::recorder::Recorder;
use crate::step::Steps;

/// A computer with one or more programs, each in its own folder. A program keeps its open files from one `run` to the
/// next.
///
/// The world pulls: it asks a stream for the next step when the program would issue it. It stops a stream at its first
/// failed op, after reporting the failure to the recorder.
pub trait World {
    /// The clock from which this world reads its moments.
    type Clock;
    /// An error of the world itself, apart from a failed op. A simulated machine cannot fail, so its type is empty.
    type Fault: Display;

    /// The number of programs.
    fn programs(&self) -> usize;

    /// Runs one stream per program, all started together from one barrier, until all have ended. Panics unless there is
    /// one recorder and one program for each stream.
    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<Self::Clock>>, Self::Fault>
    where
        S: Steps + Send,
        R: Recorder<Self::Clock> + Send;

    /// Brings the data of all files of the programs into the wanted cache state as far as possible. Returns the state
    /// that was proven.
    fn set_cache_state(&mut self, wanted: Cache) -> Result<CacheState, Self::Fault>;

    /// Waits, for a limited time, until no dirty data are left and the devices are idle.
    fn quiesce(&mut self) -> Result<Quiescence, Self::Fault>;

    /// The part of the programs' files that is dirty in the page cache. `None` if that is not visible.
    fn unwritten(&mut self) -> Result<Option<Residency>, Self::Fault>;

    /// The allocation of all bytes in the programs' files. `None` if it is not visible, as in a world that stores no
    /// content.
    fn allocation(&mut self) -> Result<Option<Allocation>, Self::Fault> {
        Ok(None)
    }

    /// The bytes that the devices under the programs have moved so far, for all processes. Cheap enough to be read
    /// between two clocks. `None` if that is not visible.
    fn device_bytes(&mut self) -> Option<DeviceBytes>;

    /// The amount of dirty data, compared with the level at which the machine throttles writers. As cheap as
    /// `device_bytes`. `None` if that is not visible.
    fn dirtiness(&mut self) -> Option<Dirtiness>;

    /// Starts to observe the programs and the machine around them.
    fn watch(&mut self) -> Result<(), Self::Fault>;

    /// The observations since `watch`. May be called several times.
    fn counters(&mut self) -> Result<Counters, Self::Fault>;

    /// The visible settings that must not change from one execution to the next, by name: those of the devices under
    /// the programs, the file systems and the machine. Nothing changes in a simulated world.
    fn settings(&mut self) -> MachineSettings {
        MachineSettings::new()
    }

    /// The largest I/O size that a device under the programs prefers, in bytes, such as the stripe of an array. `None`
    /// if none has a preference.
    fn optimal_io_bytes(&mut self) -> Option<u64> {
        None
    }

    /// Returns whether all programs were suspended since the last call of this function, as a shell suspends a job
    /// (SIGSTOP, SIGCONT). A time measured meanwhile includes the suspension. A simulated machine is never suspended.
    fn was_suspended(&mut self) -> bool {
        false
    }

    /// Verifies samples of the files in the folder of program `index`, past the page cache if possible. Returns the
    /// first failed check. `cuts` are the lengths of the calls that wrote the files. Verifies nothing if calls of these
    /// lengths leave no recognizable content, or if the world stores no content.
    fn verify_contents(&mut self, index: usize, cuts: &[u32]) -> Result<Option<Failure>, Self::Fault> {
        let _ = (index, cuts);
        Ok(None)
    }

    /// The files and directories that program `index` left in its folder.
    fn tree_counts(&mut self, index: usize) -> Result<TreeCounts, Self::Fault>;

    /// The folders of all programs, for another host that shares their directories. Empty in a world without such
    /// directories.
    fn folders_for_others(&mut self) -> Vec<FolderForOthers> {
        Vec::new()
    }

    /// Makes every program work in a folder of another host, next to its own one: until `clear`, its files are those
    /// that the program of that host wrote. Only for programs that do not change files.
    fn read_others(&mut self, folders: &[FolderForOthers]) -> Result<(), Self::Fault> {
        let _ = folders;
        unreachable!("a world without directories that hosts share")
    }

    /// Closes every program's files, and removes everything that the program left in its own folder. It works there
    /// from now on.
    fn clear(&mut self) -> Result<(), Self::Fault>;
}

/// The folder of a program on one of several hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderForOthers {
    /// Its name in the directory that the hosts share.
    pub name: String,
    /// The seed of the program. It shows whose data a file contains.
    pub seed: u64,
}

/// Settings by name.
pub type MachineSettings = BTreeMap<String, String>;

/// The time in which one program ran its stream, and the CPU time that it used.
#[derive(Clone, Copy, Debug)]
pub struct Span<C> {
    /// Before the first step.
    pub began: Moment<C>,
    /// After the last op returned.
    pub ended: Moment<C>,
    /// CPU time of the program between the two.
    pub cpu: CpuTime,
    /// Time in which the program was runnable and waited for a free processor. `None` if it was not observed or is not
    /// visible.
    pub ready: Option<Nanos>,
}

impl<C> Span<C> {
    /// The elapsed time of the program.
    pub fn elapsed(&self) -> Nanos {
        self.ended.since(self.began)
    }

    /// Time in which the program neither ran nor was runnable: it waited for something other than a processor. `None`
    /// if `ready` is unknown.
    pub fn blocked(&self) -> Option<Nanos> {
        Some(self.elapsed().saturating_sub(self.cpu.total).saturating_sub(self.ready?))
    }
}

/// CPU time that was charged to a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// In the program itself and in the kernel on its behalf.
    pub total: Nanos,
    /// The part in the program itself. On a real kernel the clock tick samples the split; the total is exact.
    pub user: Nanos,
}

impl CpuTime {
    /// The part spent in the kernel.
    pub fn system(&self) -> Nanos {
        self.total.saturating_sub(self.user)
    }
}

/// The files that a program left: a part of its effect, which must be the same in both worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeCounts {
    /// Directories below the program's folder.
    pub directories: u64,
    /// Files in all of them.
    pub files: u64,
    /// The sum of the files' sizes.
    pub bytes: u64,
}

impl TreeCounts {
    /// Adds the files that another program left.
    pub fn add(&mut self, other: TreeCounts) {
        self.directories += other.directories;
        self.files += other.files;
        self.bytes += other.bytes;
    }
}
