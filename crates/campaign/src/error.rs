//! Errors of planning and running a campaign: message, exit status and hint.

use std::convert::Infallible;
use std::path::PathBuf;

use jobs::{JobError, LoadError};
use kernel::guard::GuardFault;
use kernel::provision::queue_tuning::TuningFault;
use kernel::sys::name::{Shown, shell_word};
use kernel::{ImageFault, PathFault};
use machines::MachineFault;
use runner::execution::WorldFailure;
use units::{Bytes, Exit, Nanos};
use workload::{Failure, Reason};

use crate::fit::duration_words::about;
use crate::peers::fault::PeerFault;
use crate::request::command_fault::CommandFault;
use crate::signals::SignalFault;

/// The reason why a campaign cannot be planned, or ended early.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum CampaignError {
    #[error(transparent)]
    Path(#[from] PathFault),
    #[error(transparent)]
    Image(#[from] ImageFault),
    #[error(transparent)]
    Guard(#[from] GuardFault),
    #[error(transparent)]
    Tuning(#[from] TuningFault),
    #[error(transparent)]
    Machine(#[from] MachineFault),
    #[error(transparent)]
    World(#[from] kernel::Fault),
    #[error(transparent)]
    Tape(#[from] kernel::TapeFault),
    #[error(transparent)]
    Simulated(#[from] simulator::description::Invalid),
    #[error(transparent)]
    Job(Box<JobError>),
    #[error(transparent)]
    Command(#[from] CommandFault),
    #[error(transparent)]
    Peers(#[from] PeerFault),
    #[error(transparent)]
    Signals(#[from] SignalFault),

    // Targets.
    #[error("no path given")]
    NoPath,
    #[error("{0} is not a target")]
    UnknownTarget(String),
    #[error("{typed}: {why}")]
    BadKey { typed: String, why: String, keys: &'static str },
    #[error("{typed}: {why}")]
    BadTuning { typed: String, why: String },
    #[error("the machine {0} has no settings")]
    NoSettings(String),
    #[error("two targets have the name {0}")]
    SameName(String),
    #[error("{first} and {second} are the same device; each target needs its own")]
    SameDevice { first: String, second: String },
    #[error("{} is a block device; this command measures file systems", .0.shown())]
    IsADevice(PathBuf),
    #[error("{0} is not a block device; the preset device measures only those")]
    NoDevice(String),
    #[error("these targets cannot run at the same time: real and simulated ones, different machines, or a file")]
    NotAtOnce,
    #[error("{device} has {size}; the tests need {needed}", device = .device.shown())]
    SmallDevice { device: PathBuf, size: Bytes, needed: Bytes },
    #[error("the tests need {needed}; the image has {size}")]
    SmallImage { size: Bytes, needed: Bytes },
    #[error("{target} cannot be filled or aged: {why}")]
    NotAged { target: String, why: &'static str },
    #[error("filling {fill} % of {bytes} leaves {left}; the tests need {needed}")]
    TooFull { fill: u32, bytes: Bytes, left: Bytes, needed: Bytes, most: Option<u32> },

    // Tests.
    #[error("{path} is only read, but every test of {preset} writes", path = .path.shown())]
    OnlyRead { path: PathBuf, preset: &'static str },
    #[error("{preset} has no test {name}")]
    UnknownProgram { name: String, preset: &'static str, known: Vec<&'static str> },
    #[error("{name} is the sum of workloads that run at the same time, and not a test")]
    SumIsNoTest { name: String, known: Vec<&'static str> },
    #[error("--size {size}: the tests of this preset go up to {most}")]
    LargeSize { size: Bytes, most: Bytes },
    #[error("--size {size}: the tests of this preset need a whole number of calls of {call}")]
    UnevenSize { size: Bytes, call: Bytes },
    #[error("--size {size}: the mix has accesses of {access}")]
    SmallForMix { size: Bytes, access: Bytes },
    #[error("{target} is {what}; a command needs a folder to run in")]
    NoFolder { target: String, what: &'static str },
    #[error("--need {typed}: {program} does not count files")]
    NeedsFiles { typed: String, program: String },
    #[error("--need {typed}: {program} is a kind of operation here; its rate is in operations per second")]
    NeedsOperations { typed: String, program: String },

    // Probing.
    #[error("no latency of {0} is measured, so there is no law to write")]
    NoLaw(String),
    #[error("diskperf cannot probe {0}")]
    NotProbed(String),
    #[error("{path} has {size}; a probe needs {needed}", path = .path.shown())]
    SmallToProbe { path: PathBuf, size: Bytes, needed: Bytes },
    #[error("{path} has {free} free; a probe needs {needed}, of which it uses a tenth", path = .path.shown())]
    FullToProbe { path: PathBuf, free: Bytes, needed: Bytes },
    #[error("{} is in memory, so a probe would not measure a device", .0.shown())]
    MemoryToProbe(PathBuf),
    #[error("{holes} of {path} were never written, and reading holes does not reach the device", path = .path.shown())]
    HolesToProbe { path: PathBuf, holes: Bytes },

    // Running.
    #[error(
        "a budget of {} s is too short for {pairs} rounds, which take about {}",
        budget.as_secs_f64(),
        about(*needs)
    )]
    ShortBudget { budget: Nanos, needs: Nanos, pairs: usize },
    #[error("no test was tried: trials may take only a part of the budget of {}", about(*budget))]
    LateTrials { budget: Nanos },
    #[error("{path}: {failure}", path = .path.shown())]
    Op { path: PathBuf, failure: Failure },
    #[error("a signal paused the process during the measurement, so the time is wrong")]
    Held,
}

impl CampaignError {
    /// The exit status.
    pub fn exit(&self) -> Exit {
        self.outcome().0
    }

    /// The hint of the error, if there is one.
    pub fn hint(&self) -> Option<String> {
        self.outcome().1
    }

    fn outcome(&self) -> (Exit, Option<String>) {
        let usage = |hint: &str| (Exit::Usage, Some(hint.to_owned()));
        match self {
            CampaignError::Path(fault) => (fault.exit(), fault.hint()),
            CampaignError::Image(fault) => (fault.exit(), fault.hint()),
            CampaignError::Guard(fault) => (fault.exit(), fault.hint()),
            CampaignError::Tuning(fault) => (fault.exit(), fault.hint()),
            CampaignError::Machine(fault) => (fault.exit(), fault.hint()),
            CampaignError::World(fault) => (fault.exit(), fault.hint()),
            CampaignError::Tape(fault) => (fault.exit(), fault.hint()),
            CampaignError::Simulated(invalid) => usage(invalid.hint),
            CampaignError::Job(error) => (error.exit(), error.hint()),
            CampaignError::Command(fault) => (fault.exit(), Some(fault.hint())),
            CampaignError::Peers(fault) => (fault.exit(), fault.hint()),
            CampaignError::Signals(_) => (Exit::Failed, None),

            CampaignError::NoPath => usage("name the directory to measure, such as . for the current one"),
            CampaignError::UnknownTarget(_) => usage(
                "a target is a directory, image:FSTYPE, new:FSTYPE@DEVICE, file:PATH or sim:MACHINE, with an optional \
                 name= before it",
            ),
            CampaignError::BadKey { keys, .. } => {
                usage(&format!("the keys are {keys}; in a value, + stands for a comma"))
            }
            CampaignError::BadTuning { .. } => usage("write tune=scheduler:none+read_ahead_kb:4096"),
            CampaignError::NoSettings(_) => usage("use another machine; `diskperf simulate` lists them"),
            CampaignError::SameName(_) => usage("give each target its own name, as in a=PATH b=PATH"),
            CampaignError::SameDevice { .. } => usage("name another device, or measure it in two runs"),
            CampaignError::IsADevice(path) => {
                let device = shell_word(path);
                usage(&format!(
                    "name a directory on it; `diskperf run device {device}`, `diskperf bw -b {device}` and `-l \
                        {device}` \
                     read the device itself, and new:ext4@{device} makes a file system on a blank one"
                ))
            }
            CampaignError::NoDevice(_) => usage("name a device, as in diskperf run device /dev/sdb; lsblk lists them"),
            CampaignError::NotAtOnce => usage("run them in turn: --solo"),
            CampaignError::SmallDevice { .. } => {
                (Exit::Refused, Some("name a larger device, or ask for less with --size".to_owned()))
            }
            CampaignError::SmallImage { .. } => usage("use a larger size=, or leave it out"),
            CampaignError::NotAged { .. } => usage("--fill and --age are for image:FSTYPE and new:FSTYPE@DEVICE"),
            CampaignError::TooFull { most: Some(most), .. } => {
                usage(&format!("use --fill {most}% or less, a smaller --size, or a larger size="))
            }
            CampaignError::TooFull { most: None, .. } => usage("use a smaller --size, or a larger size="),

            CampaignError::OnlyRead { .. } => usage("name a directory to write in"),
            CampaignError::UnknownProgram { known, .. } => usage(&format!("its tests are: {}", known.join(", "))),
            CampaignError::SumIsNoTest { known, .. } => usage(&format!("name its workloads: {}", known.join(", "))),
            CampaignError::LargeSize { .. } => usage("use a smaller --size"),
            CampaignError::UnevenSize { call, .. } => {
                usage(&format!("use a --size that is a multiple of {}", call.to_string().replace(' ', "")))
            }
            CampaignError::SmallForMix { .. } => usage("use a larger --size, or smaller accesses"),
            CampaignError::NoFolder { .. } => usage("name a directory, image:FSTYPE or new:FSTYPE@DEVICE"),
            CampaignError::NeedsFiles { .. } => usage("use a rate such as 200MiB/s or 500/s"),
            CampaignError::NeedsOperations { .. } => usage("use a rate such as 500/s, or a time as in fsync.p99<=5ms"),

            CampaignError::NoLaw(_) => {
                let hint = "leave the machine idle and run it again; a rotating disk has no latency by size alone";
                (Exit::Failed, Some(hint.to_owned()))
            }
            CampaignError::NotProbed(_) => {
                usage("name a device, a file, a directory, or sim:NAME; `diskperf help probe` explains each")
            }
            CampaignError::SmallToProbe { .. } => usage("name a larger device, or a directory on it"),
            CampaignError::FullToProbe { .. } => {
                (Exit::Refused, Some("free some space, or name the device itself, which is only read".to_owned()))
            }
            CampaignError::MemoryToProbe(_) => usage("name a directory on a disk"),
            CampaignError::HolesToProbe { .. } => usage("name the directory of the file, or its device"),

            CampaignError::ShortBudget { needs, .. } => {
                // In units that a user would type.
                let seconds = needs.0.div_ceil(1_000_000_000);
                let budget = if seconds < 90 { format!("{seconds}s") } else { format!("{}min", seconds.div_ceil(60)) };
                usage(&format!("use --budget {budget} or more, or fewer tests with --only"))
            }
            CampaignError::LateTrials { .. } => usage("use a longer --budget, or fewer tests with --only"),
            CampaignError::Op { failure, .. } => (failure.exit(), hint_of_preparing(failure)),
            CampaignError::Held => (Exit::Failed, Some("run it again".to_owned())),
        }
    }
}

impl From<JobError> for CampaignError {
    fn from(error: JobError) -> CampaignError {
        CampaignError::Job(Box::new(error))
    }
}

/// A simulated device never fails.
impl From<Infallible> for CampaignError {
    fn from(never: Infallible) -> CampaignError {
        match never {}
    }
}

impl From<LoadError> for CampaignError {
    fn from(error: LoadError) -> CampaignError {
        JobError::from(error).into()
    }
}

/// The hint after an operation failed outside of the tests, where `--size` would not help.
fn hint_of_preparing(failure: &Failure) -> Option<String> {
    let hint = match failure.reason {
        Reason::Denied => "run as a user who may open it",
        Reason::NotPermitted => "lsattr shows whether it is immutable or append-only",
        Reason::NoSpace => "free some space and run it again",
        Reason::Short(_) if !failure.op.kind().reads() => "free some space and run it again",
        Reason::Short(_) => "use a longer file; this one ended before the last read",
        _ => failure.hint()?,
    };
    Some(hint.to_owned())
}

/// A fault of the world outside of the phases concerns the whole program.
impl From<WorldFailure<kernel::Fault>> for CampaignError {
    fn from(broken: WorldFailure<kernel::Fault>) -> CampaignError {
        broken.fault.into()
    }
}

/// An error before the first phase.
impl From<CampaignError> for WorldFailure<Box<CampaignError>> {
    fn from(error: CampaignError) -> WorldFailure<Box<CampaignError>> {
        WorldFailure::from(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_hint_uses_practical_units() {
        let hint = |seconds: u64| {
            let (budget, needs) = (Nanos(1), Nanos(seconds * 1_000_000_000));
            CampaignError::ShortBudget { budget, needs, pairs: 6 }.hint().expect("a hint")
        };
        assert!(hint(89).contains("--budget 89s "));
        assert!(hint(91).contains("--budget 2min "));
    }

    /// EPERM: even root may not write to an immutable file.
    #[test]
    fn files_that_even_root_may_not_open_have_a_hint_to_lsattr() {
        let hint = |reason| hint_of_preparing(&Failure { op: workload::Op::Syncfs, reason });
        assert!(hint(Reason::NotPermitted).is_some_and(|hint| hint.starts_with("lsattr ")));
        assert_eq!(hint(Reason::Denied).as_deref(), Some("run as a user who may open it"));
    }

    #[test]
    fn the_size_hint_is_a_valid_option_value() {
        let uneven = CampaignError::UnevenSize { size: Bytes(1), call: Bytes(8192) };
        assert_eq!(uneven.exit(), Exit::Usage);
        assert!(uneven.hint().is_some_and(|hint| hint.ends_with(" 8KiB")));
    }
}
