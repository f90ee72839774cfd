//! What is to be restored, written down for the case that this process cannot do it: one small file per disk,
//! in a folder that only its owner can enter, so that nobody else can have a queue "restored".

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use units::Bytes;

use super::{Change, Queue, TuningFault};
use crate::bounded;
use crate::incarnation::Incarnation;

/// The folder of the administrator, who alone may tune by default.
const SYSTEM: &str = "/run/diskperf";

/// The folder of anybody else, below `XDG_RUNTIME_DIR`.
const PERSONAL: &str = "diskperf";

/// How the files' names begin.
const PREFIX: &str = "tuned-";

/// Far more than a note of every attribute of a queue has.
const LARGEST: Bytes = Bytes::mib(1);

/// Where notes are.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    folder: PathBuf,
}

/// The notes, while no other process reads or changes them.
pub(super) struct Locked<'a> {
    notes: &'a Notes,
    _folder: File,
}

/// What one process has changed of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) queue: Queue,
    pub(super) changes: Vec<Change>,
    /// Who changed it. After another boot queues have forgotten everything.
    pub(super) owner: Incarnation,
}

impl Notes {
    /// Those of this user.
    pub(super) fn usual() -> Result<Notes, TuningFault> {
        if rustix::process::geteuid().is_root() {
            return Ok(Notes::in_folder(PathBuf::from(SYSTEM)));
        }
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        Ok(Notes::in_folder(runtime.ok_or(TuningFault::NoNotes)?.join(PERSONAL)))
    }

    pub(super) fn in_folder(folder: PathBuf) -> Notes {
        Notes { folder }
    }

    /// Whether there ever were any.
    pub(super) fn exist(&self) -> bool {
        self.folder.exists()
    }

    /// Waits until no other process has them. The folder is made where it is missing, and refused where others
    /// could write to it.
    pub(super) fn lock(&self) -> Result<Locked<'_>, TuningFault> {
        let locked = || {
            match DirBuilder::new().mode(0o700).create(&self.folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let folder =
                File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(&self.folder)?;
            let metadata = folder.metadata()?;
            if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others could change what is noted there"));
            }
            rustix::fs::flock(&folder, FlockOperation::LockExclusive)?;
            Ok(folder)
        };
        let folder = locked().map_err(|source| self.fault(source))?;
        Ok(Locked { notes: self, _folder: folder })
    }

    fn path(&self, queue: &Queue) -> PathBuf {
        self.folder.join(format!("{PREFIX}{}", queue.disk))
    }

    fn fault(&self, source: io::Error) -> TuningFault {
        TuningFault::Notes { folder: self.folder.clone(), source }
    }
}

impl Locked<'_> {
    /// What is noted about this queue.
    pub(super) fn note_of(&self, queue: &Queue) -> Result<Option<Note>, TuningFault> {
        match bounded::text(&self.notes.path(queue), LARGEST) {
            // Half a note is of a process that was killed before it had changed anything.
            Ok(text) => Ok(Note::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.notes.fault(error)),
        }
    }

    /// All that can be read.
    pub(super) fn all(&self) -> Vec<Note> {
        let files = fs::read_dir(&self.notes.folder).into_iter().flatten().flatten();
        let notes = files.filter(|file| file.file_name().to_string_lossy().starts_with(PREFIX));
        notes.filter_map(|file| Note::parse(&bounded::text(&file.path(), LARGEST).ok()?)).collect()
    }

    pub(super) fn add(&self, note: &Note) -> Result<(), TuningFault> {
        let path = self.notes.path(&note.queue);
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let written = options.open(path).and_then(|mut file| file.write_all(note.text().as_bytes()));
        written.map_err(|source| self.notes.fault(source))
    }

    pub(super) fn remove(&self, note: &Note) -> Result<(), TuningFault> {
        match fs::remove_file(self.notes.path(&note.queue)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.notes.fault(error)),
            _ => Ok(()),
        }
    }
}

impl Note {
    /// An empty one.
    pub(super) fn of_this_process(queue: Queue) -> Note {
        Note { queue, changes: Vec::new(), owner: Incarnation::this() }
    }

    /// The process that wrote it, where that still runs.
    pub(super) fn living_owner(&self) -> Option<i32> {
        self.owner.lives().then_some(self.owner.pid)
    }

    /// Undoes the changes, in the order in which they were made. After another boot there is nothing to undo.
    pub(super) fn restore(&self) -> Result<(), TuningFault> {
        if !self.owner.is_of_this_boot() {
            return Ok(());
        }
        // One that fails does not keep the others from being restored.
        let outcomes: Vec<_> = self.changes.iter().map(|change| self.queue.restore(change)).collect();
        outcomes.into_iter().collect()
    }

    /// Lines of fields with tabs between them; the last line says that it is whole.
    fn text(&self) -> String {
        let mut text = format!("process\t{}\n", self.owner);
        text += &format!("queue\t{}\n", self.queue.folder.display());
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
        let mut note = Note { queue: Queue { folder, disk }, changes: Vec::new(), owner: owner.parse().ok()? };
        for line in lines {
            let (attribute, old, new) = match line[..] {
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
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_only_whole() {
        let queue = Queue { folder: "/sys/devices/virtual/block/loop0/queue".into(), disk: "loop0".to_owned() };
        let change = |attribute: &str, old: &str, new: Option<&str>| Change {
            attribute: attribute.to_owned(),
            old: old.to_owned(),
            new: new.map(str::to_owned),
        };
        let mut note = Note::of_this_process(queue);
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
    fn after_another_boot_there_is_nothing_to_restore() {
        let queue = Queue { folder: "/no/such/queue".into(), disk: "q".to_owned() };
        let mut note = Note::of_this_process(queue);
        note.changes.push(Change { attribute: "a".to_owned(), old: "b".to_owned(), new: None });
        assert_eq!(note.living_owner(), Some(note.owner.pid));
        note.owner = "1 2 another-boot pid:[1]".parse().expect("a process");
        assert_eq!(note.living_owner(), None);
        assert!(note.restore().is_ok(), "queues have forgotten");
    }
}
