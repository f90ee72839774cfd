//! The note about a file system that was made on a device, in case its process cannot erase it. It has the UUIDs, so
//! that no other file system is mistaken for it, and the stored run that it was made for.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::guard::{Cleared, DiskMark, GuardFault, Inspected, Permission, Reason, Uuid, inspect, is_of};
use crate::leftovers::notes::Notes;
use crate::leftovers::tag::Owner;
use crate::provision::image_fault::ImageFault;
use crate::sys::process_identity::ProcessIdentity;

use super::{Vacated, other_files};

/// Prefix of the note names.
const PREFIX: &str = "made-";

/// Prefix of the names of the files that mkfs keeps open while it runs.
const MAKING: &str = "making-";

/// The longest wait for the kernel to remove the mounts of a killed process. Guess: it needs milliseconds, or seconds
/// on an overloaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pause between two checks. Guess.
const BETWEEN: Duration = Duration::from_millis(10);

/// The note of one file system.
#[derive(Debug)]
pub(super) struct Note {
    device: String,
    mark: Option<DiskMark>,
    file_system: String,
    run: Option<String>,
}

/// The stage of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// mkfs has not finished.
    Making,
    /// The file system exists.
    Made,
    /// The file system exists and is to stay.
    Kept,
}

impl Note {
    /// A note about a file system on this device, for the stored run `run` if there is one. Nothing is written yet.
    pub(super) fn about(cleared: &Cleared, file_system: &str, run: Option<&str>) -> Note {
        let (device, mark) = (cleared.device().name.clone(), cleared.mark());
        Note { device, mark, file_system: file_system.to_owned(), run: run.map(str::to_owned) }
    }

    pub(super) fn file_system(&self) -> &str {
        &self.file_system
    }

    /// Writes the note with the UUIDs that the device may have: that of the current file system, and that of the one
    /// about to be made. If the note cannot be written or there is no UUID, you must remove the file system yourself
    /// if this process is killed.
    pub(super) fn write(&self, uuids: &[Uuid], state: State) {
        let noted = Noted {
            device: self.device.clone(),
            mark: self.mark.clone(),
            file_system: self.file_system.clone(),
            run: self.run.clone(),
            uuids: uuids.to_vec(),
            state,
            owner: ProcessIdentity::this(),
        };
        if let Some(notes) = Notes::usual() {
            let _ = notes.lock().and_then(|lock| lock.write(&name(&noted.device), &noted.text()));
        }
    }

    /// Returns the file that mkfs keeps open while it runs. Killing this process does not end mkfs, and a process
    /// that erases its file system must wait for it. Returns `None` if there are no notes.
    pub(super) fn hold(&self) -> Option<File> {
        Notes::usual()?.hold(&making(&self.device)).ok()
    }

    /// Removes the note, because the file system was erased.
    pub(super) fn remove(&self) {
        forget(&self.device);
    }
}

/// A file system that a process made on a device and did not erase.
#[derive(Debug)]
pub struct LeftoverVolume {
    /// The name of the device, without `/dev/`.
    pub device: String,
    /// The type of the file system.
    pub file_system: String,
    /// The id of the process that made it.
    pub pid: i32,
    /// The state of that process.
    pub owner: Owner,
    /// True if the user asked to keep it.
    pub is_kept: bool,
    /// The UUID that proves that diskperf made it. `None` if the file system has none, or mkfs was killed before it
    /// wrote one.
    uuid: Option<Uuid>,
    /// True if mkfs never finished.
    is_unfinished: bool,
    /// The inspected device. `None` while mkfs still runs or the process lives.
    seen: Option<Inspected>,
}

/// Finds noted file systems that still exist: the named device holds the file system with the noted UUID. Needs the
/// right to read devices. For a device that cannot be inspected, returns its path and the error. Only wanted devices
/// are inspected, and none whose process still runs: an inspection holds the device exclusively for a moment, and
/// mkfs would fail in that moment.
pub fn left_volumes(
    is_wanted: impl Fn(&Path) -> bool,
) -> io::Result<Vec<Result<LeftoverVolume, (PathBuf, GuardFault)>>> {
    let noted = noted(|noted| is_wanted(&node_of(&noted.device)))?;
    Ok(noted.into_iter().filter_map(|noted| inspect_volume(noted).transpose()).collect())
}

/// As [`left_volumes`], for the file systems that killed processes made for this stored run. Returns those that were
/// not to be kept and whose UUID proves their origin. If mkfs still runs on a device, calls `notify` with its path
/// and waits. It also waits until the kernel has removed the mounts of the process.
pub fn left_volumes_of(
    run: &str,
    mut notify: impl FnMut(&Path),
) -> io::Result<Vec<Result<LeftoverVolume, (PathBuf, GuardFault)>>> {
    let is_left =
        |noted: &Noted| noted.run.as_deref() == Some(run) && noted.state != State::Kept && !noted.owner.lives();
    let mut left = Vec::new();
    for noted in noted(is_left)? {
        if is_being_made(&noted.device)
            && let Some(notes) = Notes::usual()
        {
            notify(&node_of(&noted.device));
            notes.wait(&making(&noted.device))?;
        }
        let began = Instant::now();
        loop {
            let volume = inspect_volume(noted.clone()).transpose();
            let is_in_use = matches!(&volume, Some(Ok(volume)) if volume.has_tag() && volume.is_in_use());
            if is_in_use && began.elapsed() < PATIENCE {
                thread::sleep(BETWEEN);
                continue;
            }
            left.extend(volume.filter(|volume| volume.as_ref().map_or(true, LeftoverVolume::has_tag)));
            break;
        }
    }
    Ok(left)
}

/// A device that does not hold the file system noted by a killed process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedVolume {
    /// The path of the device.
    pub node: PathBuf,
    /// True if mkfs never finished. Then the data may still be the run's own.
    pub is_unfinished: bool,
}

/// Returns the devices on which killed processes of this stored run noted a file system that no longer exists. Other
/// programs may have written to them since. Call it after [`left_volumes_of`], which waits for mkfs, and after those
/// file systems are erased.
pub fn replaced_volumes_of(run: &str) -> Result<Vec<ReplacedVolume>, GuardFault> {
    let is_left = |noted: &Noted| noted.run.as_deref() == Some(run) && !noted.owner.lives();
    let folder = || Notes::usual().map_or_else(PathBuf::new, |notes| notes.folder().to_owned());
    let unreadable = |source| GuardFault::Unreadable { device: folder(), source };
    let mut replaced = Vec::new();
    for noted in noted(is_left).map_err(unreadable)? {
        let node = node_of(&noted.device);
        let is_there = match inspect(&node) {
            Err(GuardFault::Missing(_) | GuardFault::NotADevice(_)) => continue,
            inspected => inspected.is_ok_and(|inspected| noted.is_on(&inspected)),
        };
        if !is_there {
            replaced.push(ReplacedVolume { node, is_unfinished: noted.state == State::Making });
        }
    }
    Ok(replaced)
}

impl LeftoverVolume {
    /// The path of the device.
    pub fn node(&self) -> PathBuf {
        node_of(&self.device)
    }

    /// True if its UUID proves that diskperf made it.
    pub fn has_tag(&self) -> bool {
        self.uuid.is_some()
    }

    /// The reason why it cannot be erased even with confirmation: it is in use, or the device holds other data too.
    pub fn obstacle(&self) -> Option<String> {
        let Some(inspected) = &self.seen else { return Some("mkfs is still running on it".to_owned()) };
        let mut reasons = inspected.reasons().iter();
        let obstacle = match self.uuid {
            Some(uuid) => reasons.find(|reason| !is_of(reason, uuid)),
            None => reasons.find(|reason| !reason.can_be_lifted()),
        };
        obstacle.map(ToString::to_string)
    }

    fn is_in_use(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| !seen.reasons().iter().all(Reason::can_be_lifted))
    }

    /// The device as it was inspected. `None` while mkfs or the process that made it still runs.
    pub fn inspected(&self) -> Option<&Inspected> {
        self.seen.as_ref()
    }

    /// Erases the file system if its UUID proves that diskperf made it, it has only files of diskperf, the device holds
    /// nothing else, and no program uses it. The device stays held: on a disk without discard, the next inspection
    /// finds our own data.
    pub fn erase(&self) -> Result<Vacated, ImageFault> {
        let Some(uuid) = self.uuid else {
            return Err(GuardFault::Changed(self.node(), "no UUID proves that diskperf made it").into());
        };
        let cleared = self.erase_with(&Permission::Made(uuid))?;
        cleared.discard_all();
        Ok(Vacated::from(cleared))
    }

    /// Erases a file system without proof that it is ours, after you typed the identity of the device
    /// ([`Inspected::identity`]). The other bytes of the device stay, because they may be yours.
    pub fn erase_confirmed(&self, typed: &str) -> Result<(), ImageFault> {
        self.erase_with(&Permission::Destroy(typed.to_owned())).map(drop)
    }

    fn erase_with(&self, permission: &Permission) -> Result<Cleared, ImageFault> {
        let Some(inspected) = self.seen.as_ref().filter(|_| self.owner == Owner::Ended) else {
            return Err(GuardFault::Changed(self.node(), "its process still runs").into());
        };
        let mut cleared = Cleared::acquire(inspected, permission)?;
        // The UUID proves who made the file system, but not who has used it since.
        if matches!(permission, Permission::Made(_))
            && other_files::exist(&mut cleared, &self.file_system, self.is_unfinished)?
        {
            let (device, reasons) = (inspected.described(), vec![Reason::OtherFiles]);
            return Err(GuardFault::Refused { device, reasons, identity: inspected.identity() }.into());
        }
        cleared.erase()?;
        forget(&self.device);
        Ok(cleared)
    }
}

fn node_of(device: &str) -> PathBuf {
    Path::new("/dev").join(device)
}

fn noted(is_wanted: impl Fn(&Noted) -> bool) -> io::Result<Vec<Noted>> {
    let Some(notes) = Notes::usual().filter(Notes::exist) else { return Ok(Vec::new()) };
    let mut noted: Vec<Noted> = notes.lock()?.all(PREFIX).iter().filter_map(|text| Noted::parse(text)).collect();
    noted.retain(is_wanted);
    noted.sort_by(|a, b| a.device.cmp(&b.device));
    Ok(noted)
}

fn inspect_volume(noted: Noted) -> Result<Option<LeftoverVolume>, (PathBuf, GuardFault)> {
    let Noted { device, mark, file_system, uuids, state, owner, .. } = noted;
    let (pid, is_kept, is_unfinished) = (owner.pid, state == State::Kept, state == State::Making);
    let lives = owner.lives();
    if lives || is_being_made(&device) {
        let owner = if lives { Owner::Process(pid) } else { Owner::Ended };
        return Ok(Some(LeftoverVolume {
            device,
            file_system,
            pid,
            owner,
            is_kept,
            uuid: None,
            is_unfinished,
            seen: None,
        }));
    }
    let node = node_of(&device);
    let inspected = match inspect(&node) {
        Err(GuardFault::Missing(_) | GuardFault::NotADevice(_)) => return Ok(None),
        inspected => inspected.map_err(|fault| (node, fault))?,
    };
    let uuid = uuids.iter().copied().find(|uuid| inspected.holds(*uuid));
    let is_it = match uuid {
        Some(_) => mark.is_none_or(|mark| is_same_disk(&mark, &inspected.mark())),
        None => mark.is_some_and(|mark| mark == inspected.mark()),
    };
    // Without a UUID, only an unfinished file system, or one whose format has no UUIDs, can be ours. Any other is not
    // ours.
    let may_be_ours = |reason: &Reason| match reason {
        Reason::Holds(signature) if signature.is_unknown() => state == State::Making,
        Reason::Holds(signature) => uuids.is_empty() && signature.format == file_system,
        _ => false,
    };
    let mut content = inspected.reasons().iter().filter(|reason| reason.can_be_lifted()).peekable();
    let is_ours = uuid.is_some() || (content.peek().is_some() && content.all(may_be_ours));
    if !is_it || !is_ours {
        return Ok(None);
    }
    let (owner, seen) = (Owner::Ended, Some(inspected));
    Ok(Some(LeftoverVolume { device, file_system, pid, owner, is_kept, uuid, is_unfinished, seen }))
}

/// True if a disk that holds the noted UUID can be the noted disk. A disk that was plugged in again has another
/// sequence number, but its file system is still ours.
fn is_same_disk(noted: &DiskMark, now: &DiskMark) -> bool {
    (noted.bytes, &noted.identity) == (now.bytes, &now.identity)
}

/// True if a mkfs that diskperf started still runs on this device.
fn is_being_made(device: &str) -> bool {
    Notes::usual().is_some_and(|notes| notes.is_held(&making(device)))
}

fn forget(device: &str) {
    if let Some(notes) = Notes::usual() {
        let _ = notes.lock().and_then(|lock| {
            lock.remove(&name(device))?;
            lock.remove(&making(device))
        });
    }
}

/// Devices in a subfolder of /dev have a `/` in their names (`cciss/c0d0`).
fn name(device: &str) -> String {
    format!("{PREFIX}{}", device.replace('/', "!"))
}

fn making(device: &str) -> String {
    format!("{MAKING}{}", device.replace('/', "!"))
}

/// The content of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Noted {
    device: String,
    /// The disk that had this device name.
    mark: Option<DiskMark>,
    file_system: String,
    /// The stored run that it was made for, if there is one.
    run: Option<String>,
    /// The UUIDs of our file system. If the device has none of them, its contents are not ours.
    uuids: Vec<Uuid>,
    state: State,
    owner: ProcessIdentity,
}

impl Noted {
    /// True if the device holds the file system: one of its UUIDs, or its format if it has no UUID.
    fn is_on(&self, inspected: &Inspected) -> bool {
        let is_of_format =
            |reason: &Reason| matches!(reason, Reason::Holds(signature) if signature.format == self.file_system);
        self.uuids.iter().any(|uuid| inspected.holds(*uuid))
            || (self.uuids.is_empty() && inspected.reasons().iter().any(is_of_format))
    }

    /// Formats the note as lines of tab-separated fields. The last line shows that the note is complete.
    fn text(&self) -> String {
        let run = self.run.as_ref().map_or_else(String::new, |run| format!("run\t{run}\n"));
        let mark = self.mark.as_ref().map_or_else(String::new, |DiskMark { bytes, sequence, identity }| {
            let sequence = sequence.map_or_else(String::new, |sequence| format!("sequence\t{sequence}\n"));
            let identity = identity.as_ref().map_or_else(String::new, |identity| format!("identity\t{identity}\n"));
            format!("bytes\t{bytes}\n{sequence}{identity}")
        });
        let made: String = self.uuids.iter().map(|uuid| format!("made\t{}\t{uuid}\n", self.file_system)).collect();
        let state = match self.state {
            State::Making => "making\n",
            State::Made => "",
            State::Kept => "kept\n",
        };
        let (owner, device, file_system) = (&self.owner, &self.device, &self.file_system);
        format!("process\t{owner}\ndevice\t{device}\n{mark}{run}file system\t{file_system}\n{made}{state}end\n")
    }

    fn parse(text: &str) -> Option<Noted> {
        let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let ["process", owner] = lines.next()?[..] else { return None };
        let ["device", device] = lines.next()?[..] else { return None };
        let is_name = !device.is_empty() && !device.starts_with('/') && !device.split('/').any(|part| part == "..");
        is_name.then_some(())?;
        let (device, owner) = (device.to_owned(), owner.parse().ok()?);
        let (mark, file_system, run, uuids, state) = (None, String::new(), None, Vec::new(), State::Made);
        let mut noted = Noted { device, mark, file_system, run, uuids, state, owner };
        for line in lines {
            match line[..] {
                ["bytes", bytes] => {
                    noted.mark = Some(DiskMark { bytes: bytes.parse().ok()?, sequence: None, identity: None });
                }
                ["sequence", sequence] => noted.mark.as_mut()?.sequence = Some(sequence.parse().ok()?),
                ["identity", identity] => noted.mark.as_mut()?.identity = Some(identity.to_owned()),
                ["run", run] => noted.run = Some(run.to_owned()),
                ["file system", file_system] => file_system.clone_into(&mut noted.file_system),
                ["made", _, uuid] => noted.uuids.push(uuid.parse().ok()?),
                ["making"] => noted.state = State::Making,
                ["kept"] => noted.state = State::Kept,
                ["end"] => return Some(noted).filter(|noted| !noted.file_system.is_empty()),
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_back_unchanged_and_never_in_part() {
        let number = || Uuid::random().expect("a number");
        let (device, file_system) = ("loop7".to_owned(), "ext4".to_owned());
        let (uuids, state, owner) = (vec![number()], State::Made, ProcessIdentity::this());
        let mark = Some(DiskMark { bytes: 1 << 30, sequence: Some(7), identity: Some("WDC WX12".to_owned()) });
        let once = Noted { device, mark, file_system, run: None, uuids, state, owner };
        let again = Noted { uuids: vec![number(), number()], state: State::Making, ..once.clone() };
        let kept = Noted { state: State::Kept, run: Some("bzkv-261122".to_owned()), ..once.clone() };
        let none = Noted { uuids: Vec::new(), mark: None, ..kept.clone() };
        for noted in [once, again, kept, none] {
            let text = noted.text();
            for length in 0..text.len() - 1 {
                assert!(Noted::parse(&text[..length]).is_none(), "{length} bytes");
            }
            for device in ["/dev/vda", "../vda", ""] {
                assert!(Noted::parse(&text.replace("loop7", device)).is_none(), "{device}");
            }
            assert_eq!(Noted::parse(&text), Some(noted));
        }
        let none = format!("process\t{}\ndevice\tloop7\nend\n", ProcessIdentity::this());
        assert_eq!(Noted::parse(&none), None, "no file system");
    }
}
