//! The errors of commands: message, hint and exit status.

mod command;
mod document;
mod failure;
mod guard;
#[cfg(test)]
mod hints;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use campaign::runner::Broken;
use kernel::name::Shown;
use machines::MachineFault;
use powercut::{PowerCutError, VerifyFault};
use units::{Bytes, Exit};

use crate::campaign_error::CampaignError;
use crate::documents::document::DocumentFault;
use crate::jobs::{JobFault, Spot};
use crate::load_spec::LoadFault;
use crate::signals::SignalFault;
use crate::ui::consent::Doubt;
use crate::ui::output;
use crate::ui::shell;
use kernel::guard::GuardFault;
use kernel::tuning::TuningFault;
use kernel::{ImageFault, PathFault, said};

pub use command::CommandFault;

/// The smallest stack that diskperf starts with. Ours: twice what any command needed in a build that is not optimised
/// (512 KiB; an optimised one ended well with 100 KiB). A stack that is too small would end it by a signal, in the middle of
/// a run.
pub const LEAST_STACK: Bytes = Bytes::mib(1);

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("diskperf must not be setuid, setgid or have file capabilities")]
    Elevated,
    #[error("the stack is limited to {0}, and diskperf needs {LEAST_STACK}")]
    SmallStack(Bytes),
    #[error("{0}")]
    Command(Box<CommandFault>),
    #[error("{} is a block device; this command measures file systems", .0.shown())]
    IsADevice(PathBuf),
    #[error("{0} is not a block device; the preset device measures only those")]
    NoDevice(String),
    #[error("this would overwrite all of {device}")]
    NotToBeOverwritten { device: String, identity: String },
    #[error("{option} does not apply to {preset}")]
    OnlyOfDevices { option: &'static str, preset: &'static str },
    #[error("{old} and {new} are the same file; the copy would empty it before reading it", old = .old.shown(), new = .new.shown())]
    SameFile { old: PathBuf, new: PathBuf },
    #[error("{path} changed during the copy; it had {} bytes at the start", .bytes.0, path = .path.shown())]
    Changed { path: PathBuf, bytes: Bytes },
    #[error("{path} {why}; nothing was written there", path = .path.shown())]
    RarelyMeant { path: PathBuf, why: &'static str },
    #[error("{path} has {holds}; {program} needs {needs}", path = .path.shown())]
    TooShort { path: PathBuf, program: &'static str, holds: Bytes, needs: Bytes },
    #[error("{path} has {holds} whole MiB; {needed} are needed", path = .path.shown())]
    TooSmall { path: PathBuf, holds: u64, needed: u64, most: u64 },
    #[error("{path} is only read, but every test of {preset} writes", path = .path.shown())]
    OnlyRead { path: PathBuf, preset: &'static str },
    #[error("--keep needs a target that gets a file system, such as image:ext4")]
    NothingToKeep,
    #[error("`choose` needs at least two targets")]
    NoChoice,
    #[error("{word} is neither a command nor a help topic")]
    UnknownWord { word: String, near: Vec<String>, mentions: Vec<String> },
    #[error("{word} is not a command, and no directory or device here has that name")]
    NoCommand { word: String, near: Vec<String> },
    #[error("{0} is a command; put its options after it")]
    OptionsFirst(String),
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    #[error(transparent)]
    Signals(#[from] SignalFault),
    #[error(transparent)]
    Document(#[from] DocumentFault),
    #[error(transparent)]
    Store(#[from] ::store::StoreError),
    #[error("the run {0} has no job file; only a job file can be exported for other tools")]
    NoJob(String),
    #[error("no stored run has the test {word}")]
    NoHistory { word: String, known: Vec<String> },
    #[error("there is no home directory for the results database")]
    NowhereToStore,
    #[error("the run {0} is finished")]
    NothingLeft(String),
    #[error("every stored run is finished")]
    AllFinished,
    #[error("process {pid} is still measuring the run {run}")]
    StillRuns { run: String, pid: i32, is_here: bool },
    #[error("process {pid} is still measuring the run {run}")]
    StillMeasured { run: String, pid: i32, is_here: bool },
    #[error("the run {run} was measured {elsewhere}")]
    Elsewhere { run: String, elsewhere: String, folder: PathBuf, command: Vec<OsString> },
    #[error("{refused}{}", doubt.map_or_else(String::new, |doubt| format!("; {doubt}")))]
    Occupied { refused: GuardFault, doubt: Option<Doubt>, folder: PathBuf, command: Vec<OsString> },
    #[error("{0}=none turns the results database off")]
    NothingIsStored(&'static str),
    #[error(transparent)]
    Job(Box<JobFault>),
    #[error("{}: unknown file type for a timeline", .0.shown())]
    UnknownDrawing(PathBuf),
    #[error("no test of the preset can run on this machine, so there is nothing to draw")]
    NothingToDraw,
    #[error("this sweep has more than {0} rows")]
    TooManyRows(usize),
    #[error("standard output is a terminal; an HTML page needs a file")]
    PageOnTerminal,
    #[error("{0} is not a part of the paper")]
    NoSuchPart(String),
    #[error("{what} of {given}: {why}")]
    BadSize { what: &'static str, given: String, why: String },
    #[error(transparent)]
    Load(Box<LoadFault>),
    #[error("{0}")]
    NoRing(kernel::NoRing),
    #[error("cannot write {to}: {}", said(source))]
    Output { to: String, source: io::Error },
    #[error("{} is not a descriptor that diskperf was started with and may write to", .0.shown())]
    NotOpen(PathBuf),
    #[error("stopped before the reader of {} had read everything", .0.shown())]
    NoReader(PathBuf),
    #[error("diskperf cannot cut the power of the disk under {}", .0.shown())]
    TwoSteps(PathBuf),
    #[error("{} is in memory; a power cut erases all of it", .0.shown())]
    NothingLasts(PathBuf),
    #[error("standard output is a file on the same file system as {}, so the power cut could destroy it", .0.shown())]
    LogIsLost(PathBuf),
    #[error("diskperf cannot verify {0}")]
    NotVerified(String),
    #[error(transparent)]
    PowerCut(#[from] PowerCutError),
    #[error("{0} does not use a mix")]
    NoMix(&'static str),
    #[error("{} is not blkparse output{}: {why}", path.shown(), at_line(*line))]
    BadTrace { path: PathBuf, line: Option<u64>, why: String },
    #[error("{things} {} not removed: not confirmed", if *count == 1 { "was" } else { "were" })]
    NotAgreed { things: String, count: usize },
}

impl Error {
    /// The exit status this stands for.
    pub fn exit(&self) -> Exit {
        match self {
            Error::NotOpen(_)
            | Error::IsADevice(_)
            | Error::NoDevice(_)
            | Error::OnlyOfDevices { .. }
            | Error::TooShort { .. }
            | Error::TooSmall { .. }
            | Error::Command(_)
            | Error::OnlyRead { .. }
            | Error::NothingToKeep
            | Error::NoChoice
            | Error::NoSuchPart(_)
            | Error::TwoSteps(_)
            | Error::NothingLasts(_)
            | Error::NotVerified(_)
            | Error::NoMix(_)
            | Error::BadTrace { .. }
            | Error::NowhereToStore
            | Error::NothingLeft(_)
            | Error::AllFinished
            | Error::NothingIsStored(_)
            | Error::TooManyRows(_)
            | Error::NothingToDraw
            | Error::PageOnTerminal
            | Error::UnknownDrawing(_)
            | Error::UnknownWord { .. }
            | Error::NoCommand { .. }
            | Error::OptionsFirst(_)
            | Error::Load(_)
            | Error::Job(_)
            | Error::NoJob(_)
            | Error::NoHistory { .. }
            | Error::BadSize { .. } => Exit::Usage,
            Error::Elevated
            | Error::SmallStack(_)
            | Error::RarelyMeant { .. }
            | Error::NotToBeOverwritten { .. }
            | Error::SameFile { .. }
            | Error::StillRuns { .. }
            | Error::StillMeasured { .. }
            | Error::Elsewhere { .. }
            | Error::LogIsLost(_)
            | Error::NotAgreed { .. }
            | Error::NoRing(_) => Exit::Refused,
            Error::NoReader(_) => Exit::Interrupted,
            Error::Campaign(error) => error.exit(),
            Error::Document(fault) => document::exit(fault),
            Error::Store(error) => error.exit(),
            Error::Occupied { refused, .. } => refused.exit(),
            Error::PowerCut(error) => error.exit(),
            Error::Changed { .. } | Error::Output { .. } | Error::Signals(_) => Exit::Failed,
        }
    }

    /// The hint.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Elevated => {
                "remove them (chmod ug-s FILE, setcap -r FILE) and use sudo".to_owned()
            }
            Error::SmallStack(_) => "set the limit in a new shell: ulimit -s 8192".to_owned(),
            Error::IsADevice(path) => {
                let device = shell::word(path);
                format!(
                    "name a directory on it; `diskperf run device {device}`, `diskperf bw -b {device}` and `-l {device}` \
                     read the device itself, and new:ext4@{device} makes a file system on a blank one"
                )
            }
            Error::NoDevice(_) => "name a device, as in diskperf run device /dev/sdb; lsblk lists them".to_owned(),
            Error::NotToBeOverwritten { identity, .. } => {
                format!("to erase its data: --destroy-data --confirm {}", shell::word(identity))
            }
            Error::OnlyOfDevices { .. } => "diskperf run device DEVICE takes it".to_owned(),
            Error::SameFile { .. } => "name another file for the copy".to_owned(),
            Error::Changed { .. } => "copy it again while no program writes to it".to_owned(),
            Error::RarelyMeant { .. } => {
                "name another directory, or confirm with --yes: diskperf run quick PATH --yes".to_owned()
            }
            Error::TooShort { path, .. } => format!("write it first: diskperf write_8192 {}", shell::word(path)),
            Error::TooSmall { most: 0, .. } => "name a larger file or device".to_owned(),
            Error::TooSmall { most, .. } => format!("ask for at most {most}"),
            Error::Command(fault) => command::hint(fault),
            Error::OnlyRead { .. } => "name a directory to write in".to_owned(),
            Error::NothingToKeep => "leave --keep out, or name a target like image:ext4".to_owned(),
            Error::NoChoice => "name two or more, as in diskperf choose . /mnt; for two settings of one place, a=. b=.,tune=scheduler:none".to_owned(),
            Error::Campaign(error) => return error.hint(),
            Error::Document(fault) => return document::hint(fault),
            Error::Store(error) => error.hint(&shell::store_option()),
            Error::NowhereToStore => "name a file for it: --store PATH or DISKPERF_STORE=PATH".to_owned(),
            Error::NothingLeft(run) => format!("{} prints it", shell::on_store(&format!("show {run}"))),
            Error::AllFinished => format!("{} shows them", shell::on_store("list")),
            Error::StillRuns { is_here: true, .. } | Error::StillMeasured { is_here: true, .. } => "wait until it ends, or press Ctrl-C there".to_owned(),
            Error::StillRuns { is_here: false, .. } => {
                "that process is in another container; resume it there".to_owned()
            }
            Error::StillMeasured { is_here: false, .. } => {
                "that process is in another container; wait until it ends".to_owned()
            }
            Error::Elsewhere { folder, command, .. } => {
                format!("start it again: cd {} && {}", shell::word(folder), shell::line(command))
            }
            Error::Occupied { refused, doubt, folder, command } => {
                return guard::hint_on_resuming(refused, *doubt, folder, command);
            }
            Error::NothingIsStored(_) => "name a results database: --store PATH".to_owned(),
            Error::PowerCut(error) => return error.hint(),
            Error::Job(fault) => fault.hint(),
            Error::NoJob(_) => "`diskperf io randread --print-job > JOB.toml` makes a job file".to_owned(),
            Error::NoHistory { known, .. } if known.is_empty() => "diskperf run quick stores a run".to_owned(),
            Error::NoHistory { known, .. } => format!("known tests: {}", known.join(", ")),
            Error::UnknownDrawing(_) => "use a name that ends in .json (trace) or .svg (picture)".to_owned(),
            Error::PageOnTerminal => "write it to a file: -o report.html".to_owned(),
            Error::NothingToDraw => "use another preset, such as classic1983".to_owned(),
            Error::TooManyRows(_) => "sweep fewer fields, or use a larger step".to_owned(),
            Error::NoSuchPart(_) => {
                "the parts are T1 to T5, D1, D2, questions, Q1 to Q8, claims and vaxmix".to_owned()
            }
            Error::UnknownWord { near, mentions, .. } => unknown_word(near, mentions),
            Error::NoCommand { near, .. } if near.is_empty() => {
                "diskperf help lists the commands; diskperf PATH measures a directory".to_owned()
            }
            Error::NoCommand { near, .. } => format!("did you mean: diskperf {}", near.join(", diskperf ")),
            Error::OptionsFirst(command) => format!("diskperf {command} [OPTIONS]; the directory of that name is ./{command}"),
            Error::TwoSteps(path) => {
                let path = shell::word(path);
                format!(
                    "run `ssh HOST diskperf verify {path} --write > log` until you cut the power, then `diskperf verify \
                     {path} --check log`; for image:ext4, diskperf cuts the power itself"
                )
            }
            Error::NotAgreed { .. } => "nothing was removed; --yes confirms without a question".to_owned(),
            Error::NothingLasts(_) => "name a directory on a disk".to_owned(),
            Error::LogIsLost(_) => "write the log on another machine: ssh HOST diskperf verify PATH --write > log".to_owned(),
            Error::NotVerified(_) => "name image:FSTYPE, or a directory with --write or --check".to_owned(),
            Error::NoMix(_) => "--mix and --from-trace belong to the preset vaxmix".to_owned(),
            Error::BadTrace { .. } => "create one: `blktrace -d DEVICE -o - | blkparse -i - -o FILE`".to_owned(),
            Error::Output { source, .. } => return failure::of_output(source).map(str::to_owned),
            Error::NotOpen(_) => "open it in the shell, as in diskperf list -o /dev/fd/3 3> FILE".to_owned(),
            Error::NoReader(path) if path == Path::new("-") => {
                "use a reader that reads to the end, or write to a file with -o".to_owned()
            }
            Error::NoReader(path) => format!("start the reader first, as in cat {}", shell::word(path)),
            Error::Load(fault) => fault.hint.clone(),
            Error::NoRing(_) => "leave out --engine uring; the queue depth is then 1".to_owned(),
            Error::BadSize { .. } | Error::Signals(_) => return None,
        })
    }

    /// Prints it on standard error.
    pub fn print(&self) {
        output::remark(&format!("error: {self}"));
        if let Error::Job(fault) = self {
            fault.spot().into_iter().flat_map(Spot::excerpt).for_each(|line| output::remark(&line));
        }
        if let Some(hint) = self.hint() {
            output::remark(&format!("hint: {hint}"));
        }
    }
}

impl From<JobFault> for Error {
    fn from(fault: JobFault) -> Error {
        Error::Job(Box::new(fault))
    }
}

/// Errors of lower crates that belong to another error first.
macro_rules! through {
    ($between:ty: $($fault:ty),+) => {
        $(impl From<$fault> for Error {
            fn from(fault: $fault) -> Error {
                <$between>::from(fault).into()
            }
        })+
    };
}

through!(PowerCutError: VerifyFault);
through!(CampaignError: PathFault, GuardFault, ImageFault, TuningFault, MachineFault, kernel::Fault, Broken<kernel::Fault>);

/// Where in a file, where that is known.
fn at_line(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// Similar words and the first place that mentions the word; without similar words, all places.
fn unknown_word(near: &[String], mentions: &[String]) -> String {
    let near = (!near.is_empty()).then(|| format!("did you mean: {}", near.join(", ")));
    let most = if near.is_some() { 1 } else { mentions.len() };
    let mentions = (!mentions.is_empty()).then(|| format!("see {}", mentions[..most.min(mentions.len())].join(", ")));
    let hints: Vec<String> = near.into_iter().chain(mentions).collect();
    if hints.is_empty() { "diskperf help lists the commands and topics".to_owned() } else { hints.join("; ") }
}
