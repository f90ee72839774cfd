//! `diskperf clean [PATH]...`: finds and removes what runs that are no more have left behind.
//!
//! Policy:
//!   1. only what carries our mark is found: folders and images by their tag (`kernel::left`), file systems on devices by
//!      the number that was noted when they were made, queues by the note of what they were;
//!   2. what a process that still runs has made stays, what another machine has made, and what belongs to another user,
//!      and that is said;
//!   3. where paths are named, only these are looked at: directories, and devices. Else the directory one stands in, those
//!      of stored runs that were killed or kept something, and all that was noted;
//!   4. nothing is removed before somebody who saw the list has said yes.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use clap::Args;
use kernel::left::{self, Holder, Kind, Left};
use kernel::tuning::{self, restore_left};
use kernel::{LeftVolume, left_volumes};
use store::{RunState, Store};

use super::given;
use crate::consent;
use crate::error::Error;
use crate::exit::Exit;
use crate::output;
use crate::runs::{StoreArguments, is_alive};
use crate::target::{TargetArgument, TargetKind};

/// What `diskperf clean` takes.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  diskperf clean --dry-run            what is left, and what would stay
  diskperf clean /mnt/disk --yes      only what is left there
  sudo diskperf clean /dev/sdb        a file system that a killed run made there")]
pub struct CleanArguments {
    /// A directory in which something was left, or a device on which a file system or a queue was: only these are looked at. The
    /// directory you stand in, those of stored runs, and all that was noted, where none is named.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Say what is left, and remove nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Remove it without asking.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// All that was found.
#[derive(Debug, Default)]
struct Found {
    files: Vec<Left>,
    volumes: Vec<LeftVolume>,
    /// Queues by their disks, and the processes that tuned them.
    queues: Vec<(String, i32)>,
}

/// Runs the command.
pub fn run(arguments: &CleanArguments) -> Result<Exit, Error> {
    let found = find(arguments)?;
    let (mut lines, stays) = (found.lines(), found.stays());
    lines.sort();
    output::print(&lines.iter().map(|line| line.clone() + "\n").collect::<String>())?;
    stays.iter().for_each(|line| remark!("{line}"));
    if lines.is_empty() {
        remark!("{}", if stays.is_empty() { "nothing is left" } else { "nothing else is left" });
        return Ok(Exit::Done);
    }
    if arguments.dry_run {
        return Ok(Exit::Done);
    }
    // 4
    if !arguments.yes && !consent::agrees(&format!("remove {}? [y/N] ", counted(lines.len()))) {
        return Err(Error::NotAgreed(counted(lines.len())));
    }
    Ok(found.remove())
}

fn counted(things: usize) -> String {
    if things == 1 { "this".to_owned() } else { format!("these {things}") }
}

fn find(arguments: &CleanArguments) -> Result<Found, Error> {
    let (mut folders, mut devices, mut images) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let is_all = arguments.paths.is_empty();
    for path in &arguments.paths {
        let metadata = given::existing(path)?;
        let canonical = path.canonicalize().map_err(|source| Error::Unreadable { path: path.clone(), source })?;
        match metadata.file_type() {
            kind if kind.is_block_device() => devices.insert(canonical),
            kind if kind.is_dir() => folders.insert(canonical),
            _ => return Err(Error::NotADirectory(path.clone())),
        };
    }
    // 3
    if is_all {
        let here = [PathBuf::from(".")];
        let stored = stored(&arguments.store)?;
        images = stored.images;
        folders.extend(here.iter().chain(&stored.folders).filter_map(|path| path.canonicalize().ok()));
    }
    let mut found = Found::default();
    for folder in &folders {
        let unreadable = |source| Error::Unreadable { path: folder.clone(), source };
        match left::find(folder) {
            Ok(left) => found.files.extend(left),
            // Of a run long ago it may be anybody's by now.
            Err(_) if is_all => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    let is_known = |left: &Left, found: &Found| found.files.iter().any(|known| known.path == left.path);
    for image in images.iter().filter_map(|path| left::at(&path.canonicalize().ok()?)) {
        if !is_known(&image, &found) {
            found.files.push(image);
        }
    }
    let is_wanted = |volume: &LeftVolume| is_all || devices.contains(&volume.node());
    found.volumes = left_volumes().into_iter().filter(is_wanted).collect();
    let is_wanted = |disk: &str| is_all || devices.contains(&Path::new("/dev").join(disk));
    found.queues = tuning::left().into_iter().filter(|(disk, _)| is_wanted(disk)).collect();
    Ok(found)
}

/// Where stored runs may have left something.
#[derive(Default)]
struct Stored {
    folders: Vec<PathBuf>,
    images: Vec<PathBuf>,
}

fn stored(store: &StoreArguments) -> Result<Stored, Error> {
    let store = match store.to_read() {
        Ok(Some(store)) => store,
        Ok(None) | Err(Error::NowhereToStore | Error::NothingIsStored(_)) => return Ok(Stored::default()),
        Err(error) => return Err(error),
    };
    let mut stored = Stored::default();
    for run in store.list()? {
        let was_killed = run.state == RunState::Running && !is_alive(&run.holder);
        let kept: Vec<&str> =
            run.info.targets.iter().filter_map(|target| target.image.as_ref()?.kept_as.as_deref()).collect();
        if was_killed || !kept.is_empty() {
            let folder = folder_of(&store, &run.id)?;
            stored.images.extend(kept.iter().map(|path| folder.join(path)));
            let arguments = run.info.targets.iter().filter(|_| was_killed).map(|target| target.argument.parse());
            stored.folders.extend(arguments.filter_map(
                |Ok(argument): Result<TargetArgument, _>| match argument.kind {
                    TargetKind::Directory(path) => Some(folder.join(path)),
                    _ => None,
                },
            ));
        }
    }
    Ok(stored)
}

/// The folder that a run was begun in.
fn folder_of(store: &Store, run: &str) -> Result<PathBuf, Error> {
    Ok(store.left(run)?.folder)
}

impl Found {
    fn is_nobodys(left: &&Left) -> bool {
        left.holder == Holder::Nobody
    }

    /// What may go, a line each.
    fn lines(&self) -> Vec<String> {
        let files = self.files.iter().filter(Found::is_nobodys).map(|left| {
            let what = match left.kind {
                Kind::Image => "image",
                Kind::Folder if is_of_verify(&left.path) => "records for verify --check",
                Kind::Folder => "folder",
            };
            format!("{}  {what}, of process {}", left.path.display(), left.pid)
        });
        let volumes = self.volumes.iter().filter(|volume| volume.holder == Holder::Nobody).map(|volume| {
            format!("{}  {} made by process {}", volume.node().display(), volume.file_system, volume.pid)
        });
        let queues = self.queues.iter().map(|(disk, pid)| format!("/sys/block/{disk}/queue  tuned by process {pid}"));
        files.chain(volumes).chain(queues).collect()
    }

    /// What is ours and stays, and why.
    fn stays(&self) -> Vec<String> {
        let files = self.files.iter().map(|left| (left.path.as_path().to_owned(), &left.holder));
        let volumes = self.volumes.iter().map(|volume| (volume.node(), &volume.holder));
        files
            .chain(volumes)
            .filter_map(|(path, holder)| match holder {
                Holder::Nobody => None,
                Holder::Process(pid) => Some(format!("{} stays: process {pid} still runs", path.display())),
                Holder::Machine(name) => Some(format!("{} stays: it was made on {name}", path.display())),
                Holder::User(uid) => Some(format!("{} stays: it belongs to user {uid}", path.display())),
            })
            .collect()
    }

    /// Removes what may go. One that fails does not keep the others.
    fn remove(&self) -> Exit {
        let mut exit = Exit::Done;
        let mut failed = |what: &Path, why: String| {
            remark!("error: {} stays: {why}", what.display());
            exit = Exit::Failed;
        };
        for left in self.files.iter().filter(Found::is_nobodys) {
            if let Err(error) = left.remove() {
                failed(&left.path, error.to_string());
            }
        }
        for volume in self.volumes.iter().filter(|volume| volume.holder == Holder::Nobody) {
            if let Err(fault) = volume.erase() {
                failed(&volume.node(), fault.to_string());
            }
        }
        for left in if self.queues.is_empty() { Vec::new() } else { restore_left() } {
            if let Err(fault) = left.outcome {
                failed(&Path::new("/sys/block").join(&left.disk), fault.to_string());
            }
        }
        exit
    }
}

/// Whether a folder holds what `verify --write` wrote, which somebody may still want to hold against its log.
fn is_of_verify(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".diskperf-verify-"))
}
