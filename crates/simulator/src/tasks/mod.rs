//! Tasks of the system that run in addition to the programs. Each wakes by time, calls the kernel, and sleeps again.
//! Its processor time is charged to no program. They only decide; no time passes here.

mod update;

pub(crate) use update::Update;

use units::Nanos;

use crate::fs::Request;

/// The next thing that a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A call on the file system of a drive.
    Call { drive: usize, request: Request },
    /// Sleeps for that time.
    Sleep(Nanos),
}

/// A task. Each kind is a file here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    Update(Update),
}

impl Task {
    pub(crate) fn next(&mut self) -> Deed {
        match self {
            Task::Update(update) => update.next(),
        }
    }
}
