//! Events of a run. The code that runs reports events and never prints. The progress line, the sentences on standard
//! error and the remarks of the document are made from the same events.

use std::cell::RefCell;
use std::error::Error;
use std::path::Path;
use std::rc::Rc;

use kernel::provision::queue_tuning;
use kernel::{Degradation, LeftoverVolume, LimitError};
use stats::{Aged, Cell, Conditioned, Remark, TargetInfo};
use store::StoreError;
use units::{Bytes, Nanos};

use crate::fit::size_choice::Fitted;
use crate::plan::Plan;
use crate::rounds::Convergence;

/// An event of a run.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are named after what they hold")]
pub enum Event<'a> {
    /// `bytes` of the `of` bytes of a target's image were written.
    ImageWritten { target: &'a str, bytes: u64, of: u64 },
    /// `bytes` of the `of` bytes that condition a device were written.
    DeviceWritten { target: &'a str, bytes: u64, of: u64 },
    /// The first `bytes` of a device that must be blank were read; all are zero.
    DeviceRead { target: &'a str, bytes: u64, of: u64 },
    /// Reading all of a device, to prove that it is blank, takes this much longer.
    DeviceReadTakes { device: &'a str, identity: &'a str, rest: Nanos },
    /// The run begins.
    Started(&'a Plan),
    /// A round begins. `rounds` is the expected number, and `convergence` the progress of a comparison.
    RoundStarted { round: u32, rounds: u32, convergence: Option<Convergence> },
    /// An alternative of the plan begins: a program, on a target.
    ProgramStarted { index: usize, program: &'static str, target: &'a str },
    /// An execution of an alternative ended, failed, or is left out.
    ProgramEnded { index: usize },
    /// The cells of a program after its first round, and all cells of the run, for their names.
    FirstFigures { cells: &'a [Cell], all: &'a [Cell] },
    /// The run has ended.
    Finished,
    /// The sizes, tests and rounds that fit into the time of the run, and its estimated duration.
    Fitted { fitted: &'a Fitted, plan: &'a Plan },
    /// The comparison begins; some of these targets may share a device.
    Comparing(&'a [TargetInfo]),
    /// Filling a file system of our own with `bytes`, and changing it, begins.
    Aging { target: &'a str, fill: u32, churns: u32, bytes: Bytes },
    /// A file system of our own is filled and changed.
    Aged { target: &'a str, aged: &'a Aged },
    /// Conditioning a device takes this much longer.
    ConditioningTakes { target: &'a str, rest: Nanos },
    /// A device is conditioned.
    Conditioned { target: &'a str, conditioned: &'a Conditioned },
    /// A program loads a target for this time, before the first round.
    LoadBegins { target: &'a str, program: &'a str, time: Nanos },
    /// A rate changed its level. From now on, targets are loaded before their executions.
    LoadHeld,
    /// Another round would write more than the user allows.
    AllWritten,
    /// The memory of the run cannot be limited.
    MemoryNotLimited { bytes: Bytes, why: &'a LimitError },
    /// The reason why this machine cannot run a workload as it is written.
    WorkloadLimited(&'a str),
    /// io_uring works without one of its features.
    IoUringLimited { target: &'a str, program: &'a str, lack: &'a Degradation },
    /// A signal suspended an execution, which is repeated.
    Repeated { target: &'a str, program: &'a str },
    /// A command left processes running, which were ended. Reported once per command by each process of diskperf.
    ProcessesEnded { target: &'a str, program: &'a str, command: u8, count: u32 },
    /// A command left processes running that diskperf may not end.
    ProcessesLeft { target: &'a str, program: &'a str, command: u8, count: u32 },
    /// The time was over after `ran` of the `planned` rounds.
    RoundsLeftOut { ran: u32, planned: u32 },
    /// There is no time for more executions of a program, which was executed before.
    ExecutionsLeftOut { target: &'a str, program: &'a str },
    /// Results could not be stored. diskperf tries again later.
    NotStored(&'a StoreError),
    /// The image or the file system of a target is kept (--keep).
    Kept { target: &'a str, path: &'a Path, is_image: bool },
    /// A folder that a killed process of the run left is removed.
    FolderRemoved { run: &'a str, path: &'a Path },
    /// A folder stays: no tag proves that the run made it.
    FolderStays { run: &'a str, path: &'a Path, within: &'a Path },
    /// A mkfs that a killed process of the run started is still running on a device. diskperf waits for it.
    MkfsRuns { run: &'a str, node: &'a Path },
    /// A file system that a killed process of the run left on a device is erased.
    VolumeErased { run: &'a str, volume: &'a LeftoverVolume },
    /// Leftovers of the run cannot be removed.
    LeftoversStay(&'a dyn Error),
    /// The queue settings that a killed process left are restored, or cannot be.
    QueueLeft(&'a queue_tuning::Restored),
}

/// The remarks on a run, in the order of the events. Clones share one list: events add to it while the description of
/// the run is stored.
#[derive(Clone, Debug, Default)]
pub struct Remarks(Rc<RefCell<Vec<Remark>>>);

impl Remarks {
    /// Adds a remark. One that is there already is not added again.
    pub fn add(&self, remark: Remark) {
        let mut remarks = self.0.borrow_mut();
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }

    /// All remarks so far.
    pub fn all(&self) -> Vec<Remark> {
        self.0.borrow().clone()
    }
}
