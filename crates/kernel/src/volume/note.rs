//! What is noted of a file system that was made on a device, for the case that its process cannot erase it: the number
//! that was chosen for it, by which it is known again and nothing else is taken for it.

use std::io;
use std::path::{Path, PathBuf};

use crate::devices::Device;
use crate::guard::{Cleared, GuardFault, Inspected, Leave, Uuid, inspect, is_of};
use crate::image::ImageFault;
use crate::incarnation::Incarnation;
use crate::left::Holder;
use crate::notes::Notes;

/// How the notes' names begin.
const PREFIX: &str = "made-";

/// The note of one file system.
#[derive(Debug)]
pub(super) struct Note {
    device: Device,
    file_system: String,
}

impl Note {
    /// Of a file system on this device; nothing is written yet.
    pub(super) fn about(device: &Device, file_system: &str) -> Note {
        Note { device: device.clone(), file_system: file_system.to_owned() }
    }

    /// Notes the numbers of which the device has one: that of the file system that is there, that of the one that is about
    /// to be made. Where that cannot be noted, or there is no number, it is left to a person if this process is killed.
    pub(super) fn write(&self, uuids: &[Uuid], is_kept: bool) {
        if uuids.is_empty() {
            return;
        }
        let (device, file_system) = (self.device.name.clone(), self.file_system.clone());
        let noted = Noted { device, file_system, uuids: uuids.to_vec(), is_kept, owner: Incarnation::this() };
        if let Some(notes) = Notes::usual() {
            let _ = notes.lock().and_then(|lock| lock.write(&name(&noted.device), &noted.text()));
        }
    }

    /// It is erased.
    pub(super) fn remove(&self) {
        forget(&self.device.name);
    }
}

/// A file system that a process has made on a device and not erased.
#[derive(Debug)]
pub struct LeftVolume {
    /// The name of the device.
    pub device: String,
    /// The file system.
    pub file_system: String,
    /// The process that made it.
    pub pid: i32,
    /// Whose it is.
    pub holder: Holder,
    /// Whether somebody wanted it to stay.
    pub is_kept: bool,
    /// Its number, and what the device was when it was looked at.
    seen: Option<(Uuid, Inspected)>,
}

/// File systems that are noted, and still there: the device of that name holds the file system of that number. Needs the
/// right to read devices; of one that cannot be looked at, its path and why. Only those that are wanted are looked at, and
/// none whose process still runs: who looks has the device exclusively for a moment, and mkfs would fail meanwhile.
pub fn left_volumes(is_wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<Result<LeftVolume, (PathBuf, GuardFault)>>> {
    let Some(notes) = Notes::usual().filter(Notes::exist) else { return Ok(Vec::new()) };
    let mut noted: Vec<Noted> = notes.lock()?.all(PREFIX).iter().filter_map(|text| Noted::parse(text)).collect();
    noted.retain(|noted| is_wanted(&node_of(&noted.device)));
    noted.sort_by(|a, b| a.device.cmp(&b.device));
    Ok(noted.into_iter().filter_map(|noted| look(noted).transpose()).collect())
}

impl LeftVolume {
    /// The path of the device.
    pub fn node(&self) -> PathBuf {
        node_of(&self.device)
    }

    /// What would keep it from being erased, whoever agrees: somebody uses it, or the device holds something else too.
    pub fn obstacle(&self) -> Option<String> {
        let (uuid, inspected) = self.seen.as_ref()?;
        inspected.reasons().iter().find(|reason| !is_of(reason, *uuid)).map(ToString::to_string)
    }

    /// Erases it, where the device holds it and nothing else, and nobody uses it.
    pub fn erase(&self) -> Result<(), ImageFault> {
        let Some((uuid, inspected)) = self.seen.as_ref().filter(|_| self.holder == Holder::Nobody) else {
            return Err(GuardFault::Changed(self.node(), "its process still runs").into());
        };
        let mut cleared = Cleared::over(inspected, &Leave::Made(*uuid))?;
        cleared.erase()?;
        cleared.discard_all();
        forget(&self.device);
        Ok(())
    }
}

fn node_of(device: &str) -> PathBuf {
    Path::new("/dev").join(device)
}

fn look(noted: Noted) -> Result<Option<LeftVolume>, (PathBuf, GuardFault)> {
    let Noted { device, file_system, uuids, is_kept, owner } = noted;
    let pid = owner.pid;
    if owner.lives() {
        let holder = Holder::Process(pid);
        return Ok(Some(LeftVolume { device, file_system, pid, holder, is_kept, seen: None }));
    }
    let node = node_of(&device);
    let inspected = match inspect(&node) {
        Err(GuardFault::Missing(_) | GuardFault::NotADevice(_)) => return Ok(None),
        inspected => inspected.map_err(|fault| (node, fault))?,
    };
    let Some(uuid) = uuids.into_iter().find(|uuid| inspected.holds(*uuid)) else { return Ok(None) };
    let seen = Some((uuid, inspected));
    Ok(Some(LeftVolume { device, file_system, pid, holder: Holder::Nobody, is_kept, seen }))
}

fn forget(device: &str) {
    if let Some(notes) = Notes::usual() {
        let _ = notes.lock().and_then(|lock| lock.remove(&name(device)));
    }
}

/// Devices below a folder of /dev have a `/` in their names (`cciss/c0d0`).
fn name(device: &str) -> String {
    format!("{PREFIX}{}", device.replace('/', "!"))
}

/// What a note says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Noted {
    device: String,
    file_system: String,
    /// The device has one of these, or what is on it is none of ours.
    uuids: Vec<Uuid>,
    is_kept: bool,
    owner: Incarnation,
}

impl Noted {
    /// Lines of fields with tabs between them; the last line says that it is whole.
    fn text(&self) -> String {
        let made = self.uuids.iter().map(|uuid| format!("made\t{}\t{uuid}\n", self.file_system));
        let kept = if self.is_kept { "kept\n" } else { "" };
        format!("process\t{}\ndevice\t{}\n{}{kept}end\n", self.owner, self.device, made.collect::<String>())
    }

    fn parse(text: &str) -> Option<Noted> {
        let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let ["process", owner] = lines.next()?[..] else { return None };
        let ["device", device] = lines.next()?[..] else { return None };
        let is_name = !device.is_empty() && !device.starts_with('/') && !device.split('/').any(|part| part == "..");
        is_name.then_some(())?;
        let (device, owner) = (device.to_owned(), owner.parse().ok()?);
        let mut noted = Noted { device, file_system: String::new(), uuids: Vec::new(), is_kept: false, owner };
        for line in lines {
            match line[..] {
                ["made", file_system, uuid] => {
                    file_system.clone_into(&mut noted.file_system);
                    noted.uuids.push(uuid.parse().ok()?);
                }
                ["kept"] => noted.is_kept = true,
                ["end"] => return Some(noted).filter(|noted| !noted.uuids.is_empty()),
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
    fn a_note_is_read_as_it_was_written_and_only_whole() {
        let number = || Uuid::random().expect("a number");
        let (device, file_system) = ("loop7".to_owned(), "ext4".to_owned());
        let once = Noted { device, file_system, uuids: vec![number()], is_kept: false, owner: Incarnation::this() };
        let again = Noted { uuids: vec![number(), number()], ..once.clone() };
        let kept = Noted { is_kept: true, ..once.clone() };
        for noted in [once, again, kept] {
            let text = noted.text();
            for length in 0..text.len() - 1 {
                assert!(Noted::parse(&text[..length]).is_none(), "{length} bytes");
            }
            for device in ["/dev/vda", "../vda", ""] {
                assert!(Noted::parse(&text.replace("loop7", device)).is_none(), "{device}");
            }
            assert_eq!(Noted::parse(&text), Some(noted));
        }
        let none = format!("process\t{}\ndevice\tloop7\nend\n", Incarnation::this());
        assert_eq!(Noted::parse(&none), None, "no number");
    }
}
