//! What is noted of a file system that was made on a device, for the case that its process cannot erase it: the number
//! that was chosen for it, by which it is known again and nothing else is taken for it.

use crate::devices::Device;
use crate::guard::{Cleared, GuardFault, Inspected, Leave, Uuid, inspect};
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

    /// Notes that it is about to be made with this number. Where that cannot be noted, or it has no number, it is left to
    /// a person if this process is killed.
    pub(super) fn write(&self, uuid: Option<Uuid>) {
        let Some(uuid) = uuid else { return };
        let text = text(&self.device.name, &self.file_system, uuid, &Incarnation::this());
        if let Some(notes) = Notes::usual() {
            let _ = notes.lock().and_then(|lock| lock.write(&name(&self.device.name), &text));
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
    uuid: Uuid,
    inspected: Inspected,
}

/// File systems that are noted, and still there: the device of that name holds the file system of that number. Needs the
/// right to read devices; what cannot be looked at is not found.
pub fn left_volumes() -> Vec<LeftVolume> {
    let Some(notes) = Notes::usual().filter(Notes::exist) else { return Vec::new() };
    let texts = notes.lock().map_or_else(|_| Vec::new(), |lock| lock.all(PREFIX));
    let mut found: Vec<LeftVolume> = texts.iter().filter_map(|text| look(text)).collect();
    found.sort_by(|a, b| a.device.cmp(&b.device));
    found
}

impl LeftVolume {
    /// The path of the device.
    pub fn node(&self) -> std::path::PathBuf {
        self.inspected.node()
    }

    /// Erases it, where the device holds it and nothing else, and nobody uses it.
    pub fn erase(&self) -> Result<(), ImageFault> {
        if self.holder != Holder::Nobody {
            return Err(GuardFault::Changed(self.node(), "its process still runs").into());
        }
        Cleared::over(&self.inspected, &Leave::Made(self.uuid))?.erase()?;
        forget(&self.device);
        Ok(())
    }
}

fn look(text: &str) -> Option<LeftVolume> {
    let (device, file_system, uuid, owner) = parse(text)?;
    let holder = if owner.lives() { Holder::Process(owner.pid) } else { Holder::Nobody };
    let node = std::path::Path::new("/dev").join(&device);
    let inspected = inspect(&node).ok()?;
    let is_there = inspected.holds(uuid);
    is_there.then_some(LeftVolume { device, file_system, pid: owner.pid, holder, uuid, inspected })
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

/// Lines of fields with tabs between them; the last line says that it is whole.
fn text(device: &str, file_system: &str, uuid: Uuid, owner: &Incarnation) -> String {
    format!("process\t{owner}\ndevice\t{device}\nmade\t{file_system}\t{uuid}\nend\n")
}

fn parse(text: &str) -> Option<(String, String, Uuid, Incarnation)> {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let [owner, device, made, end] = &lines[..] else { return None };
    let (["process", owner], ["device", device]) = (&owner[..], &device[..]) else { return None };
    let (["made", file_system, uuid], ["end"]) = (&made[..], &end[..]) else { return None };
    let is_name = !device.is_empty() && !device.starts_with('/') && !device.split('/').any(|part| part == "..");
    is_name.then_some(())?;
    Some(((*device).to_owned(), (*file_system).to_owned(), uuid.parse().ok()?, owner.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_only_whole() {
        let (uuid, owner) = (Uuid::random().expect("a number"), Incarnation::this());
        let text = text("loop7", "ext4", uuid, &owner);
        for length in 0..text.len() - 1 {
            assert!(parse(&text[..length]).is_none(), "{length} bytes");
        }
        assert_eq!(parse(&text), Some(("loop7".to_owned(), "ext4".to_owned(), uuid, owner)));
        for device in ["/dev/vda", "../vda", ""] {
            assert!(parse(&text.replace("loop7", device)).is_none(), "{device}");
        }
    }
}
