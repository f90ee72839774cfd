//! Changes queue attributes of a device temporarily.
//!
//!   1. The old values are noted where the next process finds them if this one is killed.
//!   2. The attributes are written; at the first refusal everything is restored.
//!   3. They are restored when [`Tuned`] is dropped, or by [`restore_left`] in a later process.
//!   4. The note is removed.
//!
//! A new scheduler changes its own settings and the number of requests. So if the scheduler is changed, these are
//! noted too, and restored after it. If another program has changed the scheduler since, they stay.

mod fault;
mod notes;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

pub use fault::TuningFault;
use notes::{Note, Notes};

use crate::observe::block_device::Device;
use crate::observe::sysfs_attribute::{Value, parse};
use crate::sys::read_limited;

/// The attribute that changes others, and the others; also all attributes in the folder `iosched`.
const SCHEDULER: &str = "scheduler";
const BY_SCHEDULER: [&str; 2] = ["nr_requests", "wbt_lat_usec"];
const SCHEDULERS_OWN: &str = "iosched";

/// A queue attribute and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `scheduler`, `read_ahead_kb`, ...: a file in the folder `queue` of the disk under /sys/block.
    pub attribute: String,
    /// The new value.
    pub value: String,
}

/// Settings for the queue of one disk.
#[derive(Clone, Debug)]
pub struct Tuning {
    queue: Queue,
    settings: Vec<Setting>,
    notes: Notes,
    run: Option<String>,
}

impl Tuning {
    /// Plans settings for the queue of the device; for a partition, its disk's. Returns an error if a setting cannot
    /// work, as far as that is known without writing.
    pub fn plan(device: &Device, settings: &[Setting]) -> Result<Tuning, TuningFault> {
        let queue =
            device.queue().and_then(Queue::from_folder).ok_or_else(|| TuningFault::NoQueue(device.name.clone()))?;
        Tuning::plan_with(queue, settings, Notes::usual()?)
    }

    fn plan_with(queue: Queue, settings: &[Setting], notes: Notes) -> Result<Tuning, TuningFault> {
        let known = queue.writable().map_err(|_| TuningFault::NoQueue(queue.disk.clone()))?;
        for Setting { attribute, .. } in settings {
            if !known.contains(attribute) {
                return Err(TuningFault::Unknown { attribute: attribute.clone(), disk: queue.disk, known });
            }
        }
        let mut settings = settings.to_vec();
        settings.sort_by_key(|setting| setting.attribute != SCHEDULER);
        Ok(Tuning { queue, settings, notes, run: None })
    }

    /// Adds the stored run that the queue is changed for to the note.
    pub fn labelled(self, run: Option<&str>) -> Tuning {
        Tuning { run: run.map(str::to_owned), ..self }
    }

    /// Changes the queue until the returned value is dropped.
    pub fn apply(&self) -> Result<Tuned, TuningFault> {
        let lock = self.notes.lock()?;
        if let Some(note) = lock.note_of(&self.queue)? {
            if let Some(pid) = note.living_owner() {
                let disk = self.queue.disk.clone();
                let is_own = pid as u32 == std::process::id();
                return Err(if is_own { TuningFault::Twice(disk) } else { TuningFault::InUse { disk, pid } });
            }
            note.restore()?;
            lock.remove(&note)?;
        }
        let note = self.note()?;
        lock.add(&note)?;
        drop(lock);
        let tuned = Tuned { note, notes: self.notes.clone(), is_restored: false };
        for setting in &self.settings {
            self.queue.change(setting)?;
        }
        Ok(tuned)
    }

    /// Creates the note with the values to restore.
    fn note(&self) -> Result<Note, TuningFault> {
        let read = |attribute: &str| {
            self.queue.read(attribute).map_err(|source| TuningFault::Read {
                attribute: attribute.to_owned(),
                disk: self.queue.disk.clone(),
                source,
            })
        };
        let mut note = Note::of_this_process(self.queue.clone(), self.run.clone());
        for Setting { attribute, value } in &self.settings {
            let old = read(attribute)?.current;
            if old != *value {
                note.changes.push(Change { attribute: attribute.clone(), old, new: Some(value.clone()) });
            }
        }
        if note.changes.iter().any(|change| change.attribute == SCHEDULER) {
            for attribute in self.queue.changed_by_scheduler() {
                if note.changes.iter().all(|change| change.attribute != attribute) {
                    let old = read(&attribute)?.current;
                    note.changes.push(Change { attribute, old, new: None });
                }
            }
        }
        Ok(note)
    }
}

/// A changed queue, restored when this is dropped.
#[derive(Debug)]
pub struct Tuned {
    note: Note,
    notes: Notes,
    is_restored: bool,
}

impl Tuned {
    /// Restores the queue, and returns an error if that fails.
    pub fn restore(mut self) -> Result<(), TuningFault> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), TuningFault> {
        self.is_restored = true;
        self.note.restore()?;
        self.notes.lock()?.remove(&self.note)
    }
}

impl Drop for Tuned {
    fn drop(&mut self) {
        if !self.is_restored {
            // A setting that cannot be restored is still noted, for the next process.
            let _ = self.undo();
        }
    }
}

/// The changes that an ended process left behind, and the outcome of restoring them.
#[derive(Debug)]
pub struct Restored {
    /// The disk.
    pub disk: String,
    /// The id of the process.
    pub pid: i32,
    /// An error if restoring failed.
    pub outcome: Result<(), TuningFault>,
}

/// Returns the disks whose queues ended processes have left changed, with the ids of those processes.
pub fn leftovers() -> Result<Vec<(String, i32)>, TuningFault> {
    let Some(notes) = Notes::usual().ok().filter(Notes::exist) else { return Ok(Vec::new()) };
    let left = notes.lock()?.all().into_iter();
    let left = left.filter(|note| note.living_owner().is_none() && note.owner.is_of_this_boot());
    Ok(left.map(|note| (note.queue.disk, note.owner.pid)).collect())
}

/// Restores the changes that ended processes left on the wanted disks, as far as this user can see them.
pub fn restore_left(is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Restored>, TuningFault> {
    let is_wanted = |note: &Note| is_wanted(&note.queue.disk);
    Notes::usual().map_or_else(|_| Ok(Vec::new()), |notes| restore_left_in(&notes, is_wanted))
}

/// Restores the changes that ended processes made for this stored run.
pub fn restore_left_of(run: &str) -> Result<Vec<Restored>, TuningFault> {
    let is_wanted = |note: &Note| note.run.as_deref() == Some(run);
    Notes::usual().map_or_else(|_| Ok(Vec::new()), |notes| restore_left_in(&notes, is_wanted))
}

fn restore_left_in(notes: &Notes, is_wanted: impl Fn(&Note) -> bool) -> Result<Vec<Restored>, TuningFault> {
    if !notes.exist() {
        return Ok(Vec::new());
    }
    let lock = notes.lock()?;
    let left = lock.all().into_iter().filter(|note| note.living_owner().is_none() && is_wanted(note));
    let restored = left.map(|note| {
        let outcome = note.restore().and_then(|()| lock.remove(&note));
        Restored { disk: note.queue.disk.clone(), pid: note.owner.pid, outcome }
    });
    Ok(restored.collect())
}

/// The old and new value of an attribute. `new` is `None` if the attribute changes together with another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    attribute: String,
    old: String,
    new: Option<String>,
}

/// The queue of a disk, as /sys shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Queue {
    folder: PathBuf,
    disk: String,
}

impl Queue {
    /// The queue in this folder, which is called `queue` and is inside the folder of its disk.
    fn from_folder(folder: PathBuf) -> Option<Queue> {
        let folder = folder.canonicalize().ok()?;
        let disk = folder.parent()?.file_name()?.to_str()?.to_owned();
        Some(Queue { folder, disk })
    }

    /// The names of all writable attributes, sorted.
    fn writable(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file() && metadata.permissions().mode() & 0o200 != 0 {
                names.extend(entry.file_name().into_string());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The attributes that a new scheduler changes and that can be written back.
    fn changed_by_scheduler(&self) -> Vec<String> {
        let own = Queue { folder: self.folder.join(SCHEDULERS_OWN), disk: self.disk.clone() };
        let own = own.writable().unwrap_or_default().into_iter().map(|name| format!("{SCHEDULERS_OWN}/{name}"));
        let shared = BY_SCHEDULER.into_iter().filter(|name| self.read(name).is_ok()).map(str::to_owned);
        shared.chain(own).collect()
    }

    fn read(&self, attribute: &str) -> io::Result<Value> {
        Ok(parse(&read_limited::of_the_kernel(self.folder.join(attribute))?))
    }

    /// Writes to an attribute that exists. Never creates a file.
    fn write(&self, attribute: &str, value: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).truncate(true).open(self.folder.join(attribute))?;
        file.write_all(value.as_bytes())
    }

    /// Changes one attribute. The kernel rounds some values; then the change is undone. A rounded value would look
    /// like another program's change and not be restored.
    fn change(&self, Setting { attribute, value }: &Setting) -> Result<(), TuningFault> {
        let current = || self.read(attribute).map_or_else(|_| String::new(), |value| value.current);
        let before = current();
        if before == *value {
            return Ok(());
        }
        let (setting, disk) = (format!("{attribute}:{value}"), self.disk.clone());
        match self.write(attribute, value) {
            Err(error) if is_denied(&error) => return Err(TuningFault::NoRights { setting, disk, source: error }),
            Err(source) => {
                let choices = self.read(attribute).map_or_else(|_| Vec::new(), |value| value.choices);
                return Err(TuningFault::Refused { setting, disk, choices, source });
            }
            Ok(()) => {}
        }
        let became = current();
        if became == *value {
            return Ok(());
        }
        let undone = self.write(attribute, &before);
        undone.map_err(|source| TuningFault::Restore { setting: setting.clone(), disk: disk.clone(), source })?;
        Err(TuningFault::Rounded { setting, disk, became })
    }

    /// Undoes a change, unless another program has changed the attribute since.
    fn restore(&self, Change { attribute, old, new }: &Change) -> Result<(), TuningFault> {
        let restored = self.read(attribute).and_then(|value| {
            let is_ours = new.as_ref().is_none_or(|new| *new == value.current);
            if value.current == *old || !is_ours { Ok(()) } else { self.write(attribute, old) }
        });
        match restored {
            // A disk that was removed has no queue to restore.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => {
                let setting = format!("{attribute}:{old}");
                Err(TuningFault::Restore { setting, disk: self.disk.clone(), source })
            }
            Ok(()) => Ok(()),
        }
    }
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests;
