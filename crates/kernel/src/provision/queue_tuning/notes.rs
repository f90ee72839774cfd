//! Notes with the old queue settings to restore: one note per disk.

use std::path::{Path, PathBuf};

use super::{BY_SCHEDULER, Change, Queue, SCHEDULER, TuningFault};
use crate::leftovers::notes;
use crate::sys::name::Shown;
use crate::sys::process_identity::ProcessIdentity;

/// Prefix of the note names.
const PREFIX: &str = "tuned-";

/// The folder of the notes.
#[derive(Clone, Debug)]
pub(super) struct Notes(notes::Notes);

/// The locked notes: no other process reads or changes them.
pub(super) struct Locked<'a> {
    notes: &'a Notes,
    locked: notes::Locked<'a>,
}

/// The changes that one process made to one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) queue: Queue,
    pub(super) changes: Vec<Change>,
    /// The process that made the changes. A reboot resets all queues.
    pub(super) owner: ProcessIdentity,
    /// The stored run that the queue was changed for, if there is one.
    pub(super) run: Option<String>,
}

impl Notes {
    /// The notes of this user.
    pub(super) fn usual() -> Result<Notes, TuningFault> {
        notes::Notes::usual().map(Notes).ok_or(TuningFault::NoNotes)
    }

    #[cfg(test)]
    pub(super) fn in_folder(folder: PathBuf) -> Notes {
        Notes(notes::Notes::in_folder(folder))
    }

    /// True if notes were ever written.
    pub(super) fn exist(&self) -> bool {
        self.0.exist()
    }

    /// Waits until no other process holds the lock.
    pub(super) fn lock(&self) -> Result<Locked<'_>, TuningFault> {
        Ok(Locked { notes: self, locked: self.0.lock().map_err(|source| self.fault(source))? })
    }

    fn fault(&self, source: std::io::Error) -> TuningFault {
        TuningFault::Notes { folder: self.0.folder().to_owned(), source }
    }
}

impl Locked<'_> {
    /// Reads the note about this queue. Returns `None` if there is none.
    pub(super) fn note_of(&self, queue: &Queue) -> Result<Option<Note>, TuningFault> {
        let text = self.locked.read(&name(queue)).map_err(|source| self.notes.fault(source))?;
        // An incomplete note belongs to a process that was killed before it changed anything.
        Ok(text.and_then(|text| Note::parse(&text)))
    }

    /// All notes that can be read.
    pub(super) fn all(&self) -> Vec<Note> {
        self.locked.all(PREFIX).iter().filter_map(|text| Note::parse(text)).collect()
    }

    pub(super) fn add(&self, note: &Note) -> Result<(), TuningFault> {
        self.locked.write(&name(&note.queue), &note.text()).map_err(|source| self.notes.fault(source))
    }

    pub(super) fn remove(&self, note: &Note) -> Result<(), TuningFault> {
        self.locked.remove(&name(&note.queue)).map_err(|source| self.notes.fault(source))
    }
}

fn name(queue: &Queue) -> String {
    format!("{PREFIX}{}", queue.disk)
}

impl Note {
    /// A note without changes.
    pub(super) fn of_this_process(queue: Queue, run: Option<String>) -> Note {
        Note { queue, changes: Vec::new(), owner: ProcessIdentity::this(), run }
    }

    /// The id of the process that wrote it. Returns `None` if that process has ended.
    pub(super) fn living_owner(&self) -> Option<i32> {
        self.owner.lives().then_some(self.owner.pid)
    }

    /// Undoes the changes, in the order in which they were made. Attributes that change together with the scheduler are
    /// undone only if the old scheduler is back: with another one, their values are not ours. After a reboot there is
    /// nothing to undo.
    pub(super) fn restore(&self) -> Result<(), TuningFault> {
        if !self.owner.is_of_this_boot() {
            return Ok(());
        }
        let mut is_back = false;
        let restore = |change: &Change| -> Result<(), TuningFault> {
            // The kernel changed these again when the scheduler came back.
            let is_reset = is_back && BY_SCHEDULER.contains(&change.attribute.as_str());
            let new = change.new.clone().filter(|_| !is_reset);
            if new.is_some() || is_back {
                self.queue.restore(&Change { new, ..change.clone() })?;
            }
            if change.attribute == SCHEDULER {
                is_back = self.queue.read(SCHEDULER).is_ok_and(|now| now.current == change.old);
            }
            Ok(())
        };
        // One failure does not keep the other changes from being restored.
        let outcomes: Vec<_> = self.changes.iter().map(restore).collect();
        outcomes.into_iter().collect()
    }

    /// Formats the note as lines of tab-separated fields. The last line shows that the note is complete.
    fn text(&self) -> String {
        let mut text = format!("process\t{}\n", self.owner);
        text += &format!("queue\t{}\n", self.queue.folder.shown());
        text += &self.run.as_ref().map_or_else(String::new, |run| format!("run\t{run}\n"));
        for Change { attribute, old, new } in &self.changes {
            text += &match new {
                Some(new) => format!("changed\t{attribute}\t{old}\t{new}\n"),
                None => format!("with it\t{attribute}\t{old}\n"),
            };
        }
        text + "end\n"
    }

    fn parse(text: &str) -> Option<Note> {
        let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let [_, owner] = lines.next()?[..] else { return None };
        let ["queue", folder] = lines.next()?[..] else { return None };
        let folder = PathBuf::from(folder);
        let disk = folder.parent().and_then(Path::file_name)?.to_str()?.to_owned();
        let (queue, owner) = (Queue { folder, disk }, owner.parse().ok()?);
        let mut note = Note { queue, changes: Vec::new(), owner, run: None };
        for line in lines {
            let (attribute, old, new) = match line[..] {
                ["run", run] => {
                    note.run = Some(run.to_owned());
                    continue;
                }
                ["changed", attribute, old, new] => (attribute, old, Some(new.to_owned())),
                ["with it", attribute, old] => (attribute, old, None),
                ["end"] => return Some(note),
                _ => return None,
            };
            note.changes.push(Change { attribute: attribute.to_owned(), old: old.to_owned(), new });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;

    #[test]
    fn notes_are_read_back_unchanged_and_never_in_part() {
        let queue = Queue { folder: "/sys/devices/virtual/block/loop0/queue".into(), disk: "loop0".to_owned() };
        let change = |attribute: &str, old: &str, new: Option<&str>| Change {
            attribute: attribute.to_owned(),
            old: old.to_owned(),
            new: new.map(str::to_owned),
        };
        let mut note = Note::of_this_process(queue, Some("bzkv-261122".to_owned()));
        note.changes.push(change("scheduler", "none", Some("mq-deadline")));
        note.changes.push(change("write_cache", "write back", Some("write through")));
        note.changes.push(change("nr_requests", "128", None));
        let text = note.text();
        for length in 0..text.len() - 1 {
            assert_eq!(Note::parse(&text[..length]), None, "{length} bytes");
        }
        assert_eq!(Note::parse(&text), Some(note));
    }

    #[test]
    fn fuzz_notes() {
        let example = "process\t7 81 boot pid:[1]\nqueue\t/sys/block/sda/queue\nchanged\tscheduler\tnone\tkyber\n\
                       run\tbzkv-261122\nwith it\tnr_requests\t64\nend\n";
        let read = |input: &[u8]| {
            let text = String::from_utf8_lossy(input);
            let Some(note) = Note::parse(&text) else { return "none".to_owned() };
            assert_eq!(Note::parse(&note.text()).as_ref(), Some(&note));
            note.changes.iter().map(|change| if change.new.is_some() { "c" } else { "w" }).collect()
        };
        let words = &["process\t", "queue\t", "run\t", "changed\t", "with it\t", "end\n", "\t", "\n", "/", ".."];
        fuzz(&Subject::new("notes", [example], read).fast().with_words(words));
    }

    #[test]
    fn nothing_is_restored_after_a_reboot() {
        let queue = Queue { folder: "/no/such/queue".into(), disk: "q".to_owned() };
        let mut note = Note::of_this_process(queue, None);
        note.changes.push(Change { attribute: "a".to_owned(), old: "b".to_owned(), new: None });
        assert_eq!(note.living_owner(), Some(note.owner.pid));
        note.owner = "1 2 another-boot pid:[1]".parse().expect("a process");
        assert_eq!(note.living_owner(), None);
        assert!(note.restore().is_ok(), "queues have forgotten");
    }
}
