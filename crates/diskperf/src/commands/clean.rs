//! `diskperf clean [PATH]...`: finds and removes leftovers of runs that were killed or used --keep.
//!
//! Policy:
//!   1. clean finds only things with our mark: folders and images by their tag, file systems on devices by the number
//!      that was noted when they were made, queues by the note of their former settings;
//!   2. a thing stays if a running process or another machine made it, if it belongs to another user or is in use, or
//!      if only its name is ours. clean reports these things, and those that it could not look at;
//!   3. if you name paths, clean looks only at these: directories, kept images, and devices. Otherwise it looks at the
//!      current directory, those of stored runs that were killed or kept something, and everything noted;
//!   4. things that were kept on purpose are removed only if you name them. Records of `verify --write` are removed
//!      only if you name them or their directory;
//!   5. clean shows the list, and you say yes, before anything is removed;
//!   6. things that may be ours but have no tag are listed. They are removed only after a yes on a terminal; --yes is
//!      not enough. They occur on file systems without extended attributes, after a copy, and if mkfs was killed before
//!      it wrote its number;
//!   7. a device with a possibly unfinished file system of ours is erased only after you typed its identity, one by
//!      one.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use clap::Args;
use kernel::guard::shown_by;
use kernel::leftovers::scan::{self, Kind, Leftover, Owner, Untagged};
use kernel::provision::queue_tuning::{self, restore_left};
use kernel::sys::name::{Shown, original};
use kernel::{LeftoverVolume, PathFault, left_volumes, message};
use store::{RunState, Store};
use units::Exit;

use crate::documents::store_arguments::{StoreArguments, is_alive};
use crate::documents::user_files;
use crate::error::{ConsentError, Error, RunsError};
use crate::leftovers;
use crate::ui::consent;
use crate::ui::output;
use crate::ui::shell;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  diskperf clean --dry-run            list leftovers
  diskperf clean /mnt/disk --yes      remove leftovers in one directory
  sudo diskperf clean /dev/sdb        erase a file system that a killed run made")]
pub struct CleanArguments {
    /// Look only at these directories, kept images and devices [default: the current directory, those of stored runs,
    /// and all devices that runs used].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// List leftovers, and remove nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Remove leftovers without asking.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// A leftover that may be removed.
#[derive(Debug)]
enum Thing {
    File(Leftover),
    Untagged(Untagged),
    Volume(Box<LeftoverVolume>),
    /// The disk of a queue, and the process that tuned it.
    Queue(String, i32),
}

/// Everything that the search found.
#[derive(Debug, Default)]
struct Found {
    goes: Vec<Thing>,
    /// Leftovers that are removed only after a yes on a terminal.
    untagged: Vec<Thing>,
    /// Leftovers that stay, and places that could not be looked at: a line each, with the reason.
    stays: Vec<String>,
}

pub fn run(arguments: &CleanArguments) -> Result<Exit, Error> {
    let mut found = find(arguments)?;
    // 6
    if arguments.dry_run || !consent::can_ask() {
        let untagged = std::mem::take(&mut found.untagged);
        let stays = untagged.iter().map(|thing| {
            format!("{} stays: it has no diskperf tag; clean asks about it on a terminal", thing.path().shown())
        });
        found.stays.extend(stays);
    }
    list(&found.goes)?;
    found.stays.iter().for_each(|line| output::remark(line));
    if found.goes.is_empty() && found.untagged.is_empty() {
        output::remark(if found.stays.is_empty() { "no leftovers found" } else { "no other leftovers found" });
    }
    if arguments.dry_run {
        return Ok(Exit::Done);
    }
    let mut exit = Exit::Done;
    if !found.goes.is_empty() {
        // 5
        let count = found.goes.len();
        let things = if count == 1 { "this".to_owned() } else { format!("these {count}") };
        if !arguments.yes && !consent::agrees(&format!("remove {things}? [y/N] ")) {
            return Err(ConsentError::NotAgreed { things, count }.into());
        }
        exit = remove(&found.goes);
    }
    if !found.untagged.is_empty() {
        // 6
        list(&found.untagged)?;
        let (volumes, files): (Vec<Thing>, _) =
            found.untagged.into_iter().partition(|thing| matches!(thing, Thing::Volume(_)));
        let (these, them) = if files.len() == 1 { ("this", "it") } else { ("these", "them") };
        let question = format!("diskperf may not have made {these} (no tag). Remove {them} anyway? [y/N] ");
        if !files.is_empty() && consent::agrees(&question) {
            exit = if remove(&files) == Exit::Done { exit } else { Exit::Failed };
        }
        // 7
        for thing in volumes {
            if let Thing::Volume(volume) = thing
                && let Err(error) = erase_untagged(&volume)
            {
                output::remark(&format!("error: {} stays: {error}", volume.node().shown()));
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}

/// Prints one line per leftover, sorted.
fn list(things: &[Thing]) -> Result<(), Error> {
    let mut lines: Vec<String> = things.iter().map(|thing| thing.line() + "\n").collect();
    lines.sort();
    output::print(&lines.concat())
}

/// The paths on the command line; empty if there are none.
#[derive(Debug, Default)]
struct NamedPaths {
    folders: BTreeSet<PathBuf>,
    images: BTreeSet<PathBuf>,
    devices: BTreeSet<PathBuf>,
}

impl NamedPaths {
    fn inspect(paths: &[PathBuf]) -> Result<NamedPaths, Error> {
        let mut named = NamedPaths::default();
        for path in paths {
            let metadata = user_files::existing(path)?;
            let canonical =
                path.canonicalize().map_err(|source| PathFault::Unreadable { path: path.clone(), source })?;
            let is_image = || canonical.file_name().and_then(scan::kind_of) == Some(Kind::Image);
            match metadata.file_type() {
                kind if kind.is_block_device() => named.devices.insert(canonical),
                kind if kind.is_dir() => named.folders.insert(canonical),
                kind if kind.is_file() && is_image() => named.images.insert(canonical),
                _ => return Err(PathFault::NotADirectory(path.clone()).into()),
            };
        }
        Ok(named)
    }
}

fn find(arguments: &CleanArguments) -> Result<Found, Error> {
    let named = NamedPaths::inspect(&arguments.paths)?;
    let is_all = arguments.paths.is_empty();
    let mut found = Found::default();
    let (mut folders, mut images) = (named.folders.clone(), named.images.clone());
    // 3
    if is_all {
        let stored = stored(&arguments.store)?;
        folders.extend([PathBuf::from(".")].iter().chain(&stored.folders).filter_map(|path| found.reached(path)));
        images.extend(stored.images.iter().filter_map(|path| found.reached(path)));
    }
    for folder in &folders {
        let is_named = named.folders.contains(folder);
        if is_named && let Some(left) = scan::find_leftover(folder) {
            found.add_file(left, true);
            continue;
        }
        match scan::find(folder) {
            Ok(listed) => {
                // Images and private folders in a named directory may be named themselves: list them once.
                let is_new = |left: &Leftover| !images.contains(&left.path) && !named.folders.contains(&left.path);
                listed.leftovers.into_iter().filter(is_new).for_each(|left| {
                    // 4
                    let is_named = is_named && is_of_verify(&left.path);
                    found.add_file(left, is_named);
                });
                let is_new = |untagged: &Untagged| !images.contains(&untagged.path);
                listed.untagged.into_iter().filter(is_new).for_each(|untagged| found.add_untagged(untagged, false));
            }
            // The directory of an old run may belong to another user by now.
            Err(error) if is_all => {
                found.stays.push(format!("cannot inspect the folder {}: {}", folder.shown(), message(&error)))
            }
            Err(source) => return Err(PathFault::Unreadable { path: folder.clone(), source }.into()),
        }
    }
    for image in &images {
        match scan::find_leftover(image) {
            Some(left) => found.add_file(left, named.images.contains(image)),
            None => {
                let untagged = Untagged::inspect(image).into_iter();
                untagged.for_each(|untagged| found.add_untagged(untagged, named.images.contains(image)));
            }
        }
    }
    if is_all || !named.devices.is_empty() {
        found.add_noted(&named.devices, is_all);
    }
    Ok(found)
}

/// The paths where stored runs may have left something.
#[derive(Default)]
struct Stored {
    folders: Vec<PathBuf>,
    images: Vec<PathBuf>,
}

fn stored(store: &StoreArguments) -> Result<Stored, Error> {
    let store = match store.to_read() {
        Ok(Some(store)) => store,
        Ok(None) | Err(Error::Runs(RunsError::NowhereToStore | RunsError::NothingIsStored(_))) => {
            return Ok(Stored::default());
        }
        Err(error) => return Err(error),
    };
    let mut stored = Stored::default();
    for run in store.list()? {
        let was_killed = run.state == RunState::Running && !is_alive(&run.holder);
        let kept: Vec<&str> =
            run.info.targets.iter().filter_map(|target| target.image.as_ref()?.kept_as.as_deref()).collect();
        if was_killed || !kept.is_empty() {
            let folder = folder_of(&store, &run.id)?;
            stored.images.extend(kept.iter().map(|path| folder.join(original(path))));
            if was_killed {
                stored.folders.extend(leftovers::paths(&run.info.targets, &folder));
            }
        }
    }
    Ok(stored)
}

/// The folder in which a run was started.
fn folder_of(store: &Store, run: &str) -> Result<PathBuf, Error> {
    Ok(store.left(run)?.folder)
}

impl Found {
    /// The path without links. `None` if it does not exist any more, or cannot be looked at.
    fn reached(&mut self, path: &Path) -> Option<PathBuf> {
        match path.canonicalize() {
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                self.stays.push(format!("cannot inspect {}: {}", path.shown(), message(&error)));
                None
            }
            path => path.ok(),
        }
    }

    fn add_untagged(&mut self, untagged: Untagged, is_named: bool) {
        let kept = (untagged.kind == Kind::Image && !is_named).then(|| {
            let path = shell::word(&untagged.path);
            format!("it has no diskperf tag; run diskperf clean {path} on a terminal to remove it")
        });
        let records = || {
            is_of_verify(&untagged.path)
                .then(|| "it may hold records that verify --check needs; remove it yourself after the check".to_owned())
        };
        match kept.or_else(records).or_else(|| untagged.obstacle()) {
            Some(why) => self.stays.push(format!("{} stays: {why}", untagged.path.shown())),
            None => self.untagged.push(Thing::Untagged(untagged)),
        }
    }

    fn add_file(&mut self, left: Leftover, is_named: bool) {
        let kept = (left.kind == Kind::Image && !is_named).then_some("remove");
        let obstacle = || {
            if !is_named && is_of_verify(&left.path) {
                return Some("verify --check needs its records; name its directory to remove it".to_owned());
            }
            Some(format!("it is the backing file of {}", shown_by(&left.path).first()?))
        };
        match why_it_stays(&left.owner, kept, obstacle) {
            Some(why) => self.stays.push(format!("{} stays: {why}", left.path.shown())),
            None => self.goes.push(Thing::File(left)),
        }
    }

    fn add_volume(&mut self, volume: LeftoverVolume, is_named: bool) {
        let kept = (volume.is_kept && !is_named).then_some("erase");
        match why_it_stays(&volume.owner, kept, || volume.obstacle()) {
            Some(why) => self.stays.push(format!("{} stays: {why}", volume.node().shown())),
            None if volume.has_tag() => self.goes.push(Thing::Volume(Box::new(volume))),
            None => self.untagged.push(Thing::Volume(Box::new(volume))),
        }
    }

    /// Adds the file systems and queues that were noted for these devices, or for all devices.
    fn add_noted(&mut self, devices: &BTreeSet<PathBuf>, is_all: bool) {
        let is_wanted = |node: &Path| is_all || devices.contains(node);
        match left_volumes(is_wanted) {
            Ok(volumes) => {
                for volume in volumes {
                    match volume {
                        Ok(volume) => self.add_volume(volume, !is_all),
                        Err((node, fault)) => {
                            self.stays.push(format!("cannot inspect {}: {fault}", node.shown()));
                        }
                    }
                }
            }
            Err(error) => self.stays.push(format!("cannot list the devices of earlier runs: {}", message(&error))),
        }
        match queue_tuning::leftovers() {
            Ok(queues) => {
                let queues = queues.into_iter().filter(|(disk, _)| is_wanted(&node_of(disk)));
                self.goes.extend(queues.map(|(disk, pid)| Thing::Queue(disk, pid)));
            }
            Err(fault) => self.stays.push(format!("cannot list the queues of earlier runs: {fault}")),
        }
        if let Some(folder) = kernel::hidden_notes() {
            self.stays.push(format!("{}: only root can list the devices and queues of root's runs", folder.shown()));
        }
    }
}

/// Erases what may be ours on a device, after the user has typed the identity of the device.
fn erase_untagged(volume: &LeftoverVolume) -> Result<(), Error> {
    let Some(inspected) = volume.inspected() else { return Ok(()) };
    let typed = consent::confirmation(&mut Vec::new(), inspected)?;
    Ok(volume.erase_confirmed(&typed)?)
}

/// Removes these leftovers. If one fails, the others are still removed.
fn remove(things: &[Thing]) -> Exit {
    let mut exit = Exit::Done;
    let mut failed = |what: &Path, why: String| {
        output::remark(&format!("error: {} stays: {why}", what.shown()));
        exit = Exit::Failed;
    };
    let mut disks = Vec::new();
    for thing in things {
        let removed = match thing {
            Thing::File(left) => left.remove().map_err(|error| message(&error).to_string()),
            Thing::Untagged(untagged) => untagged.remove().map_err(|error| message(&error).to_string()),
            Thing::Volume(volume) => volume.erase().map(drop).map_err(|fault| fault.to_string()),
            Thing::Queue(disk, _) => {
                disks.push(disk.as_str());
                Ok(())
            }
        };
        if let Err(why) = removed {
            failed(&thing.path(), why);
        }
    }
    let queue = |disk: &str| Path::new(QUEUES).join(disk);
    match if disks.is_empty() { Ok(Vec::new()) } else { restore_left(|disk| disks.contains(&disk)) } {
        Ok(restored) => {
            for left in restored {
                if let Err(fault) = left.outcome {
                    failed(&queue(&left.disk), fault.to_string());
                }
            }
        }
        Err(fault) => disks.iter().for_each(|disk| failed(&queue(disk), fault.to_string())),
    }
    exit
}

impl Thing {
    fn path(&self) -> PathBuf {
        match self {
            Thing::File(left) => left.path.clone(),
            Thing::Untagged(untagged) => untagged.path.clone(),
            Thing::Volume(volume) => volume.node(),
            Thing::Queue(disk, _) => Path::new(QUEUES).join(disk).join("queue"),
        }
    }

    fn line(&self) -> String {
        let path = self.path();
        let what = match self {
            Thing::File(Leftover { kind: Kind::Image, pid, .. }) => format!("image, of process {pid}"),
            Thing::File(left) if is_of_verify(&path) => format!("records for verify --check, of process {}", left.pid),
            Thing::File(left) => format!("folder, of process {}", left.pid),
            Thing::Untagged(Untagged { kind: Kind::Image, .. }) => "image without a tag".to_owned(),
            Thing::Untagged(_) => "folder without a tag".to_owned(),
            Thing::Volume(volume) if !volume.has_tag() => {
                format!("possibly an unfinished {} of process {}", volume.file_system, volume.pid)
            }
            Thing::Volume(volume) => format!("{} made by process {}", volume.file_system, volume.pid),
            Thing::Queue(_, pid) => format!("tuned by process {pid}"),
        };
        format!("{}  {what}", path.shown())
    }
}

/// The folder in which the kernel lists disks and their queues.
const QUEUES: &str = "/sys/block";

/// The reason why a leftover stays; `None` if it can be removed. `kept` is set if it was kept on purpose and the user
/// did not name it. It is the verb for what clean would do if the user named it. `obstacle` is called last.
fn why_it_stays(owner: &Owner, kept: Option<&str>, obstacle: impl FnOnce() -> Option<String>) -> Option<String> {
    match owner {
        Owner::Process(pid) => Some(format!("process {pid} still runs")),
        Owner::Machine(name) => Some(format!("it was made on {name}")),
        Owner::User(uid) => Some(format!("it belongs to user {uid}")),
        // 4
        Owner::Ended => kept.map(|remove| format!("it was kept; name it to {remove} it")).or_else(obstacle),
    }
}

/// The device node of a disk in /sys. There, a `!` replaces the `/` of a node in a folder of /dev.
fn node_of(disk: &str) -> PathBuf {
    Path::new("/dev").join(disk.replace('!', "/"))
}

/// True if the folder has records of `verify --write`, which the user may still want to check against the log.
fn is_of_verify(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".diskperf-verify-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_with_a_slash_become_paths() {
        assert_eq!(node_of("cciss!c0d0"), Path::new("/dev/cciss/c0d0"));
        assert_eq!(node_of("sdb"), Path::new("/dev/sdb"));
    }

    #[test]
    fn the_holder_of_a_leftover_is_the_first_reason_to_keep_it() {
        let why = |owner: Owner, kept, obstacle: Option<&str>| {
            why_it_stays(&owner, kept, || obstacle.map(str::to_owned)).unwrap_or_default()
        };
        assert_eq!(why(Owner::Process(7), Some("erase"), Some("it is mounted")), "process 7 still runs");
        assert_eq!(why(Owner::User(7), None, None), "it belongs to user 7");
        assert_eq!(why(Owner::Machine("m".to_owned()), None, None), "it was made on m");
        let kept = "it was kept; name it to erase it";
        assert_eq!(why(Owner::Ended, Some("erase"), Some("it is mounted")), kept);
        assert_eq!(why(Owner::Ended, None, Some("it is mounted")), "it is mounted");
        assert_eq!(why(Owner::Ended, None, None), "");
    }
}
