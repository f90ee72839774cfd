//! What a run says while it goes on. The runner speaks in events and never prints; the progress line, and
//! whatever else follows a run, each consume the same stream.

use stats::Cell;

use crate::plan::Plan;
use crate::rounds::Standing;

/// One thing that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// So many bytes of the image for a target are written.
    ImageWritten { target: &'a str, bytes: u64, of: u64 },
    /// So many bytes of a device are written, of those that condition it.
    DeviceWritten { target: &'a str, bytes: u64, of: u64 },
    /// The first `bytes` of a device that must be blank were read; all are zero.
    DeviceRead { target: &'a str, bytes: u64, of: u64 },
    /// Something is to be told once, beside what goes on.
    Told(&'a str),
    /// The run begins.
    Started(&'a Plan),
    /// A round begins: which of how many, as far as that is known, and what rounds before it have decided.
    RoundStarted { round: u32, rounds: u32, standing: Option<Standing> },
    /// An alternative of the plan begins: a program, on a target.
    ProgramStarted { index: usize, program: &'static str, target: &'a str },
    /// One execution of an alternative is over, well or not, or will not be.
    ProgramEnded { index: usize },
    /// The first figures of a program, one round of which is done; and all cells there will be, for their
    /// names.
    FirstFigures { cells: &'a [Cell], all: &'a [Cell] },
    /// The run has ended.
    Finished,
}
