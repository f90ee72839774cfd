//! What a command can fail of: what happened, to which thing, what to try, and the exit status.

mod command;
mod document;
mod failure;
mod guard;
#[cfg(test)]
mod hints;
mod image;
mod store;
mod tuning;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use kernel::name::Shown;
use units::{Bytes, Nanos};
use workload::{Failure, Reason};

use crate::document::DocumentFault;
use crate::exit::Exit;
use crate::forecast::about;
use crate::jobs::{JobFault, Spot};
use crate::load_spec::LoadFault;
use crate::machines::MachineFault;
use crate::output;
use crate::runner::Broken;
use crate::shell;
use crate::verify::LedgerFault;
use kernel::said;

pub use command::CommandFault;
pub use failure::hint;

/// The smallest stack that diskperf starts with. Ours: twice what any command needed in a build that is not optimised
/// (512 KiB; an optimised one ended well with 100 KiB). A stack that is too small would end it by a signal, in the middle of
/// a run.
pub const LEAST_STACK: Bytes = Bytes::mib(1);

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("diskperf runs with more rights than its user: by setuid, setgid or capabilities of its file")]
    Elevated,
    #[error("the stack is limited to {0}, and diskperf needs {LEAST_STACK}")]
    SmallStack(Bytes),
    #[error("there is no {}", .0.shown())]
    Missing(PathBuf),
    #[error("{0}")]
    Command(Box<CommandFault>),
    #[error("there is no device {}; nothing was created", .0.shown())]
    MissingDevice(PathBuf),
    #[error("{} is a file, and this needs a directory", .0.shown())]
    NotADirectory(PathBuf),
    #[error("{} is a block device, and this measures through a file system", .0.shown())]
    IsADevice(PathBuf),
    #[error("{0} is no block device, and the preset device measures those")]
    NoDevice(String),
    #[error("this would overwrite all of {device}")]
    NotToBeOverwritten { device: String, identity: String },
    #[error("{option} means nothing with {preset}")]
    OnlyOfDevices { option: &'static str, preset: &'static str },
    #[error("no path was named")]
    NoPath,
    #[error("{} is a directory, and this needs a file", .0.shown())]
    IsADirectory(PathBuf),
    #[error("{} is not a regular file", .0.shown())]
    NotAFile(PathBuf),
    #[error("{old} and {new} are one file, which would be emptied before it is read", old = .old.shown(), new = .new.shown())]
    SameFile { old: PathBuf, new: PathBuf },
    #[error("{path} changed while it was copied; it held {} bytes when the copy began", .bytes.0, path = .path.shown())]
    Changed { path: PathBuf, bytes: Bytes },
    #[error("{} is a device, and this would overwrite it", .0.shown())]
    WouldOverwrite(PathBuf),
    #[error("{path} is what {device} shows, and this would overwrite it", path = .path.shown())]
    WouldOverwriteLoop { path: PathBuf, device: String },
    #[error("{path} {why}; nothing was written there", path = .path.shown())]
    RarelyMeant { path: PathBuf, why: &'static str },
    #[error("{path} holds {holds}, and {program} needs {needs}", path = .path.shown())]
    TooShort { path: PathBuf, program: &'static str, holds: Bytes, needs: Bytes },
    #[error("{path} holds {holds} whole MiB, and {needed} would be read", path = .path.shown())]
    TooSmall { path: PathBuf, holds: u64, needed: u64, most: u64 },
    #[error("{} is neither a block device nor a file", .0.shown())]
    NotStorage(PathBuf),
    #[error("{device} has {size}, and the programs need {needed}", device = .device.shown())]
    SmallDevice { device: PathBuf, size: Bytes, needed: Bytes },
    #[error("{first} and {second} are one device, and each target needs one of its own")]
    SameDevice { first: String, second: String },
    #[error("{path} takes {free} more files, and this needs {needed}", path = .path.shown())]
    NoFiles { path: PathBuf, free: u64, needed: u64 },
    #[error("{path} has {free} left, and this needs {needed}", path = .path.shown())]
    NoRoom { path: PathBuf, free: Bytes, needed: Bytes },
    #[error("cannot look at {path}: {}", said(source), path = .path.shown())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{0}: not a target that this build knows")]
    UnknownTarget(String),
    #[error(
        "these targets cannot be busy at once: some are real and some simulated, or on different machines, or a file"
    )]
    NotAtOnce,
    #[error("{typed}: {why}")]
    BadKey { typed: String, why: String, keys: &'static str },
    #[error("{typed}: {why}")]
    BadTuning { typed: String, why: String },
    #[error("{path} is only read, and every program of {preset} writes", path = .path.shown())]
    OnlyRead { path: PathBuf, preset: &'static str },
    #[error("the programs need {needed}, and the image has {size}")]
    SmallImage { size: Bytes, needed: Bytes },
    #[error("{target} cannot be filled or aged: {why}")]
    NotAged { target: String, why: &'static str },
    #[error("{fill} % of {bytes} leave {left}, and the programs need {needed}")]
    TooFull { fill: u32, bytes: Bytes, left: Bytes, needed: Bytes, most: Option<u32> },
    #[error("no file system is made for any target, so there is nothing to keep")]
    NothingToKeep,
    #[error("one target alone leaves nothing to choose")]
    NoChoice,
    #[error("{} s are too short for {pairs} rounds, which take about {}", budget.as_secs_f64(), about(*needs))]
    ShortBudget { budget: Nanos, needs: Nanos, pairs: usize },
    #[error("{word} is neither a command nor a help topic")]
    UnknownWord { word: String, near: Vec<String> },
    #[error("there is no command {word}, and no directory or device of that name here")]
    NoCommand { word: String, near: Vec<String> },
    #[error("{0} is a command; put its options after it")]
    OptionsFirst(String),
    #[error(transparent)]
    Document(#[from] DocumentFault),
    #[error(transparent)]
    Store(#[from] ::store::StoreError),
    #[error("the run {0} is of no job file, and only a job file has loads for others")]
    NoJob(String),
    #[error("no stored run has {word}")]
    NoHistory { word: String, known: Vec<String> },
    #[error("there is no home, so there is no place for a store")]
    NowhereToStore,
    #[error("the run {0} is finished")]
    NothingLeft(String),
    #[error("every stored run is finished")]
    AllFinished,
    #[error("the run {run} is held by process {pid}")]
    StillRuns { run: String, pid: i32, is_here: bool },
    #[error("the run {run} is held by process {pid}")]
    StillMeasured { run: String, pid: i32, is_here: bool },
    #[error("the run {run} was measured {elsewhere}")]
    Elsewhere { run: String, elsewhere: String, folder: PathBuf, command: Vec<OsString> },
    #[error("{refused}")]
    Occupied { refused: kernel::guard::GuardFault, folder: PathBuf, command: Vec<OsString> },
    #[error("{0}=none: nothing is stored")]
    NothingIsStored(&'static str),
    #[error(transparent)]
    Image(#[from] kernel::ImageFault),
    #[error(transparent)]
    Guard(#[from] kernel::guard::GuardFault),
    #[error(transparent)]
    Tuning(#[from] kernel::tuning::TuningFault),
    #[error(transparent)]
    Machine(#[from] MachineFault),
    #[error(transparent)]
    Job(Box<JobFault>),
    #[error("{preset} has no program {name}")]
    UnknownProgram { name: String, preset: &'static str, known: Vec<&'static str> },
    #[error("{}: no kind of drawing that this build knows", .0.shown())]
    UnknownDrawing(PathBuf),
    #[error("no program of the preset can be run here, so there is nothing to draw")]
    NothingToDraw,
    #[error("a sweep of more than {0} rows")]
    TooManyRows(usize),
    #[error("a page of HTML is nothing to be read on a terminal")]
    PageOnTerminal,
    #[error("the paper has no part {0}")]
    NoSuchPart(String),
    #[error("two targets are called {0}")]
    SameName(String),
    #[error("{0}: this machine is made of nothing that could be set")]
    NoSettings(String),
    #[error("{what} of {given}: {why}")]
    BadSize { what: &'static str, given: String, why: String },
    #[error(transparent)]
    Load(Box<LoadFault>),
    #[error("{0}")]
    NoRing(kernel::NoRing),
    #[error("{path}: {failure}", path = .path.shown())]
    Op { path: PathBuf, failure: Failure },
    #[error(transparent)]
    World(#[from] kernel::Fault),
    #[error("cannot write {to}: {}", said(source))]
    Output { to: String, source: io::Error },
    #[error("{} is not a descriptor that diskperf was started with and may write to", .0.shown())]
    NotOpen(PathBuf),
    #[error("stopped before a program read all of {}", .0.shown())]
    NoReader(PathBuf),
    #[error("it was held still by a signal while it was measured, so that the time is not its own")]
    Held,
    #[error("cannot make records durable in {path}: {}", said(source), path = .path.shown())]
    Writers { path: PathBuf, source: io::Error },
    #[error("the power of the disk under {} cannot be cut from here", .0.shown())]
    TwoSteps(PathBuf),
    #[error("{} lies in memory, which no power cut leaves anything of", .0.shown())]
    NothingLasts(PathBuf),
    #[error("what is printed goes into a file on the file system of {}, and with its power", .0.shown())]
    LogIsLost(PathBuf),
    #[error("{0}: whether that loses anything cannot be tried")]
    NotVerified(String),
    #[error("{0} draws from no mix")]
    NoMix(&'static str),
    #[error("{} is no trace of blkparse{}: {why}", path.shown(), at_line(*line))]
    BadTrace { path: PathBuf, line: Option<u64>, why: String },
    #[error("{path} is no log of `diskperf verify --write`: {fault}", path = .path.shown())]
    BadLog { path: PathBuf, fault: LedgerFault },
    #[error("there is no {folder} in {path}", path = .path.shown())]
    NoRecords { path: PathBuf, folder: String },
    #[error("process {pid} still writes in {path}", path = .path.shown())]
    StillWriting { path: PathBuf, pid: i32 },
    #[error("no control, so that nothing shows whether losses are found: {0}")]
    NoControl(kernel::tuning::TuningFault),
    #[error("{things} {} not removed: not confirmed", if *count == 1 { "was" } else { "were" })]
    NotAgreed { things: String, count: usize },
    #[error("cannot prepare for signals: {}", said(.0))]
    Signals(io::Error),
}

impl Error {
    /// The exit status this stands for.
    pub fn exit(&self) -> Exit {
        match self {
            Error::Missing(_)
            | Error::MissingDevice(_)
            | Error::NotOpen(_)
            | Error::NotADirectory(_)
            | Error::IsADevice(_)
            | Error::NoDevice(_)
            | Error::OnlyOfDevices { .. }
            | Error::NoPath
            | Error::IsADirectory(_)
            | Error::NotAFile(_)
            | Error::TooShort { .. }
            | Error::TooSmall { .. }
            | Error::NotStorage(_)
            | Error::UnknownTarget(_)
            | Error::Command(_)
            | Error::BadKey { .. }
            | Error::BadTuning { .. }
            | Error::OnlyRead { .. }
            | Error::SmallImage { .. }
            | Error::SameDevice { .. }
            | Error::NothingToKeep
            | Error::NotAged { .. }
            | Error::TooFull { .. }
            | Error::NoChoice
            | Error::ShortBudget { .. }
            | Error::NoSuchPart(_)
            | Error::TwoSteps(_)
            | Error::NothingLasts(_)
            | Error::NotVerified(_)
            | Error::NoMix(_)
            | Error::BadTrace { .. }
            | Error::BadLog { .. }
            | Error::NoRecords { .. }
            | Error::NowhereToStore
            | Error::NothingLeft(_)
            | Error::AllFinished
            | Error::NothingIsStored(_)
            | Error::SameName(_)
            | Error::NotAtOnce
            | Error::NoSettings(_)
            | Error::Machine(_)
            | Error::UnknownProgram { .. }
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
            | Error::WouldOverwrite(_)
            | Error::WouldOverwriteLoop { .. }
            | Error::RarelyMeant { .. }
            | Error::NotToBeOverwritten { .. }
            | Error::SmallDevice { .. }
            | Error::SameFile { .. }
            | Error::StillRuns { .. }
            | Error::StillMeasured { .. }
            | Error::Elsewhere { .. }
            | Error::LogIsLost(_)
            | Error::StillWriting { .. }
            | Error::NotAgreed { .. }
            | Error::NoRoom { .. }
            | Error::NoFiles { .. }
            | Error::NoRing(_)
            | Error::Unreadable { .. } => Exit::Refused,
            Error::World(kernel::Fault::Folder { source, .. } | kernel::Fault::DropCaches(source))
                if lacks_rights(source) =>
            {
                Exit::Refused
            }
            Error::World(kernel::Fault::Memory(_)) => Exit::Refused,
            Error::NoReader(_) => Exit::Interrupted,
            Error::Document(fault) => document::exit(fault),
            Error::Store(error) => store::exit(error),
            Error::Image(fault) => image::exit(fault),
            Error::Guard(fault) | Error::Occupied { refused: fault, .. } => guard::exit(fault),
            Error::Tuning(fault) => tuning::exit(fault),
            Error::Op { failure, .. } if is_refusal(failure.reason) => Exit::Refused,
            Error::Op { failure, .. } if failure.reason == Reason::NotFound => Exit::Usage,
            Error::Writers { source, .. } if lacks_rights(source) => Exit::Refused,
            Error::Changed { .. }
            | Error::Held
            | Error::NoControl(_)
            | Error::World(_)
            | Error::Op { .. }
            | Error::Output { .. }
            | Error::Writers { .. }
            | Error::Signals(_) => Exit::Failed,
        }
    }

    /// What to try.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Elevated => {
                "take them from the file (chmod ug-s FILE, setcap -r FILE) and run it by sudo".to_owned()
            }
            Error::SmallStack(_) => "set the limit to the usual 8 MiB in a new shell: ulimit -s 8192".to_owned(),
            Error::Missing(path) => match path.parent().filter(|parent| parent.is_dir()) {
                Some(parent) if parent.as_os_str().is_empty() => "check the spelling".to_owned(),
                Some(parent) => format!("{} exists; check the spelling of the rest", parent.shown()),
                None => "check the spelling, or make it first".to_owned(),
            },
            Error::MissingDevice(_) => "lsblk lists the devices there are".to_owned(),
            Error::NotADirectory(path) => match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => format!("name the directory to measure, as in {}", parent.shown()),
                None => "name the directory to measure, as in . for the one you stand in".to_owned(),
            },
            Error::IsADevice(path) => {
                let device = shell::word(path);
                format!(
                    "name a directory on it; `diskperf run device {device}`, `diskperf bw -b {device}` and `-l {device}` \
                     read the device itself, and new:ext4@{device} makes a file system on one that holds nothing"
                )
            }
            Error::NoDevice(_) => "lsblk lists the devices there are, as in diskperf run device /dev/sdb".to_owned(),
            Error::NotToBeOverwritten { identity, .. } => {
                format!("to destroy what it holds: --destroy-data --confirm {}", shell::word(identity))
            }
            Error::OnlyOfDevices { .. } => "diskperf run device DEVICE takes it".to_owned(),
            Error::NoPath => "name the directory to measure, as in . for the one you stand in".to_owned(),
            Error::IsADirectory(path) => format!("name a file in it, as in {}", path.join("tst2").shown()),
            Error::NotAFile(_) => "a pipe, a socket or a device has no size; name a file".to_owned(),
            Error::SameFile { .. } => "name another file for the copy; nothing was touched".to_owned(),
            Error::Held => "run it again".to_owned(),
            Error::Changed { .. } => "copy it again when no program writes to it".to_owned(),
            Error::WouldOverwrite(_) => "diskperf writes to files only; name a file on that device".to_owned(),
            Error::WouldOverwriteLoop { device, .. } => {
                format!("name another file; losetup --detach /dev/{device} lets this one go")
            }
            Error::RarelyMeant { .. } => {
                "name another directory, or say --yes where it is meant: diskperf run quick PATH --yes".to_owned()
            }
            Error::TooShort { path, .. } => format!("write it first: diskperf write_8192 {}", shell::word(path)),
            Error::TooSmall { most: 0, .. } => "name a larger file or device".to_owned(),
            Error::TooSmall { most, .. } => format!("ask for at most {most}"),
            Error::NotStorage(_) => "lsblk lists the block devices there are".to_owned(),
            Error::NoFiles { .. } => "ask for fewer files, or use another file system".to_owned(),
            Error::NoRoom { .. } => "free some space, or ask for less: diskperf run quick PATH --size 16MiB".to_owned(),
            Error::Unreadable { source, .. } => match failure::of_system(source) {
                Some(hint) => hint.to_owned(),
                None => "run as a user who may read it".to_owned(),
            },
            Error::Command(fault) => command::hint(fault),
            Error::UnknownTarget(_) => {
                "a target is a directory, image:FSTYPE, new:FSTYPE@DEVICE, file:PATH or sim:MACHINE, with an optional \
                 name= before it"
                    .to_owned()
            }
            Error::NotAtOnce => "run them in turn: --solo".to_owned(),
            Error::BadKey { keys, .. } => format!("the keys are {keys}; in a value, + stands for a comma"),
            Error::BadTuning { .. } => "write tune=scheduler:none+read_ahead_kb:4096".to_owned(),
            Error::OnlyRead { .. } => "name a directory to write in".to_owned(),
            Error::SmallDevice { .. } => "name a larger device, or ask for less with --size".to_owned(),
            Error::SameDevice { .. } => "measure it in two runs, or name another device".to_owned(),
            Error::SmallImage { .. } => "ask for more with size=, or leave it out".to_owned(),
            Error::NotAged { .. } => "--fill and --age are for image:FSTYPE and new:FSTYPE@DEVICE".to_owned(),
            Error::TooFull { most, .. } => match most {
                Some(most) => format!("--fill {most}% at most, a smaller --size, or more with size="),
                None => "ask for a smaller --size, or for more with size=".to_owned(),
            },
            Error::NothingToKeep => "leave --keep out, or name a target like image:ext4".to_owned(),
            Error::NoChoice => "name two or more, as in diskperf choose . /mnt; one place with two settings is a=. b=.,tune=scheduler:none".to_owned(),
            Error::ShortBudget { needs, .. } => {
                // In units that a person would type.
                let seconds = needs.0.div_ceil(1_000_000_000);
                let budget = if seconds < 90 { format!("{seconds}s") } else { format!("{}min", seconds.div_ceil(60)) };
                format!("--budget {budget} or more, fewer programs with --only, or another --preset")
            }
            Error::Guard(fault) => return guard::hint(fault),
            Error::Document(fault) => return document::hint(fault),
            Error::Store(error) => store::hint(error),
            Error::NowhereToStore => "name one: --store PATH, or DISKPERF_STORE".to_owned(),
            Error::NothingLeft(run) => format!("{} prints it", shell::on_store(&format!("show {run}"))),
            Error::AllFinished => format!("{} shows them", shell::on_store("list")),
            Error::StillRuns { is_here: true, .. } | Error::StillMeasured { is_here: true, .. } => "wait until it ends; Ctrl-C there ends it early".to_owned(),
            Error::StillRuns { is_here: false, .. } => {
                "that process is in another container and cannot be seen from here; resume it there".to_owned()
            }
            Error::StillMeasured { is_here: false, .. } => {
                "that process is in another container; wait until it ends".to_owned()
            }
            Error::Elsewhere { folder, command, .. } => {
                format!("run it anew: cd {} && {}", shell::word(folder), shell::line(command))
            }
            Error::Occupied { refused, folder, command } => return guard::hint_on_resuming(refused, folder, command),
            Error::NothingIsStored(_) => "name a store: --store PATH".to_owned(),
            Error::Image(fault) => return image::hint(fault),
            Error::Tuning(fault) => return tuning::hint(fault),
            Error::Machine(fault) => return fault.hint(),
            Error::Job(fault) => fault.hint(),
            Error::NoJob(_) => "`diskperf io randread --print-job > JOB.toml` makes one of a load".to_owned(),
            Error::NoHistory { known, .. } if known.is_empty() => "diskperf run quick stores one".to_owned(),
            Error::NoHistory { known, .. } => format!("there are: {}", known.join(", ")),
            Error::UnknownProgram { known, .. } => format!("its programs are: {}", known.join(", ")),
            Error::UnknownDrawing(_) => "end its name in .json for a trace or in .svg for a picture".to_owned(),
            Error::PageOnTerminal => "name a file, and open it with a browser: -o report.html".to_owned(),
            Error::NothingToDraw => "take another preset, such as classic1983".to_owned(),
            Error::TooManyRows(_) => "sweep fewer fields, or with a larger step".to_owned(),
            Error::NoSuchPart(_) => {
                "its parts are T1 to T5, D1, D2, questions or Q1 to Q8, claims, and vaxmix".to_owned()
            }
            Error::UnknownWord { near, .. } if near.is_empty() => {
                "diskperf help lists the commands, and what is explained".to_owned()
            }
            Error::UnknownWord { near, .. } => format!("did you mean: {}", near.join(", ")),
            Error::NoCommand { near, .. } if near.is_empty() => {
                "diskperf help lists the commands; diskperf PATH measures a directory".to_owned()
            }
            Error::NoCommand { near, .. } => format!("did you mean: diskperf {}", near.join(", diskperf ")),
            Error::OptionsFirst(command) => format!("diskperf {command} [OPTIONS]; the directory of that name is ./{command}"),
            Error::TwoSteps(path) => {
                let path = shell::word(path);
                format!(
                    "let `ssh HOST diskperf verify {path} --write > log` run until you cut it, and then `diskperf verify \
                     {path} --check log`; the power of image:ext4 is cut by diskperf"
                )
            }
            Error::NotAgreed { .. } => "nothing was removed; use --yes to agree without being asked".to_owned(),
            Error::NothingLasts(_) => "name a directory on a disk".to_owned(),
            Error::LogIsLost(_) => "print to another machine: ssh HOST diskperf verify PATH --write > log".to_owned(),
            Error::NotVerified(_) => "name image:FSTYPE, or a directory with --write or --check".to_owned(),
            Error::NoMix(_) => "--mix and --from-trace are for the preset vaxmix".to_owned(),
            Error::BadTrace { .. } => "make one by `blktrace -d DEVICE -o - | blkparse -i - -o FILE`".to_owned(),
            Error::BadLog { .. } => "name what `diskperf verify PATH --write` printed".to_owned(),
            Error::NoRecords { .. } => {
                "is the disk mounted there? where it is, and the folder itself is lost, say --lost-folder".to_owned()
            }
            Error::StillWriting { .. } => "cut the power first; Ctrl-C there ends it without".to_owned(),
            Error::NoControl(_) => {
                "diskperf verify image:ext4,mount=barrier=0 shows whether losses are found on this machine".to_owned()
            }
            Error::SameName(_) => "give each a name of its own, as in a=PATH b=PATH".to_owned(),
            Error::NoSettings(_) => "take another machine; `diskperf simulate` lists them".to_owned(),
            Error::World(kernel::Fault::Folder { source, .. })
                if source.kind() == io::ErrorKind::ReadOnlyFilesystem =>
            {
                "name a directory that you may write to; where it could be written to before, dmesg says why".to_owned()
            }
            Error::World(kernel::Fault::Folder { source, .. }) if lacks_rights(source) => {
                "name a directory that you may write to".to_owned()
            }
            Error::World(kernel::Fault::DropCaches(_)) => {
                "run as root, or leave --drop-caches out: files are then cold, their names are not".to_owned()
            }
            Error::World(kernel::Fault::Folder { source, .. }) if is_gone(source) => failure::GONE.to_owned(),
            Error::World(kernel::Fault::Left { path, .. }) => {
                // Its tag proves whose it is, which a path does not.
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let folder = shell::word(folder.unwrap_or(Path::new(".")));
                format!("after the device is writable again, run: diskperf clean {folder}")
            }
            Error::World(kernel::Fault::Memory(_)) => {
                "ulimit -v, and the control groups of this process, say how much memory it may have".to_owned()
            }
            Error::World(kernel::Fault::Thread(_)) => {
                "ulimit -u, and the control groups of this process, say how many threads it may have".to_owned()
            }
            Error::Output { source, .. } => return failure::of_output(source).map(str::to_owned),
            Error::NotOpen(_) => "open one in the shell, as in diskperf list -o /dev/fd/3 3> FILE".to_owned(),
            Error::NoReader(path) if path == Path::new("-") => {
                "let the program that reads the output read on, or name a file by -o".to_owned()
            }
            Error::NoReader(path) => format!("start the reader first, as in cat {}", shell::word(path)),
            Error::World(kernel::Fault::Folder { source, .. } | kernel::Fault::Remount(source)) => {
                return failure::of_system(source).map(str::to_owned);
            }
            Error::Load(fault) => fault.hint.clone(),
            Error::NoRing(_) => "leave out --engine uring: then one operation is under way at a time".to_owned(),
            Error::Op { failure, .. } => match failure.reason {
                Reason::Denied | Reason::NotPermitted => "run as a user who may open it".to_owned(),
                Reason::NoSpace => "free some space and run it again".to_owned(),
                Reason::Short(_) if !failure.op.kind().reads() => "free some space and run it again".to_owned(),
                Reason::Short(_) => "the file ended early: it must hold every byte that is read".to_owned(),
                _ => return hint(failure).map(str::to_owned),
            },
            Error::BadSize { .. } | Error::World(_) | Error::Writers { .. } | Error::Signals(_) => return None,
        })
    }

    /// Says it on standard error.
    pub fn print(&self) {
        remark!("error: {self}");
        if let Error::Job(fault) = self {
            fault.spot().into_iter().flat_map(Spot::excerpt).for_each(|line| output::remark(&line));
        }
        if let Some(hint) = self.hint() {
            remark!("hint: {hint}");
        }
    }
}

impl From<JobFault> for Error {
    fn from(fault: JobFault) -> Error {
        Error::Job(Box::new(fault))
    }
}

/// What the world says outside the phases of a program concerns all of it.
impl From<Broken<kernel::Fault>> for Error {
    fn from(broken: Broken<kernel::Fault>) -> Error {
        broken.fault.into()
    }
}

/// Before the first phase.
impl From<Error> for Broken<Box<Error>> {
    fn from(error: Error) -> Broken<Box<Error>> {
        Broken::from(Box::new(error))
    }
}

/// Whether the folder is not there any more, or another one is.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle)
}

/// Where in a file, where that is known.
fn at_line(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

fn is_refusal(reason: Reason) -> bool {
    matches!(reason, Reason::Denied | Reason::NotPermitted | Reason::ReadOnly)
}

fn lacks_rights(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
