//! The writers: one thread for each kind of record. Each writes as fast as it can, until it is stopped or a call fails.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use units::Prng;

use crate::ledger::Note;
use crate::record::{Kind, Records};
use crate::record_paths::{Bounds, REPLACED, RecordPaths, SLOTS};

/// The running writers.
pub struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

impl Writers {
    /// Creates the records that will be overwritten or replaced, durable, in an empty folder.
    pub fn prepare(folder: &Path, records: Records) -> io::Result<()> {
        let paths = RecordPaths(folder);
        for kind in Kind::ALL {
            fs::create_dir(paths.folder(kind))?;
            prepare(&paths, kind, records)?;
            sync_folder(&paths.folder(kind))?;
        }
        sync_folder(folder)
    }

    /// Starts the writers in a prepared folder. `say` receives every acknowledged record, the prepared ones first. If
    /// it fails, its writer ends.
    pub fn start(
        folder: &Path,
        records: Records,
        bounds: Bounds,
        say: impl Fn(Note) -> io::Result<()> + Clone + Send + 'static,
    ) -> io::Result<Writers> {
        for (kind, count) in [(Kind::Overwrite, SLOTS), (Kind::Replace, REPLACED)] {
            (0..count).try_for_each(|number| say(Note::Acknowledged { kind, number, version: 1 }))?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let threads = Kind::ALL.into_iter().map(|kind| {
            let (stop, say, folder) = (Arc::clone(&stop), say.clone(), folder.to_owned());
            thread::spawn(move || {
                let writer = Writer { paths: RecordPaths(&folder), records, bounds, stop: &stop, say: &say };
                match kind {
                    Kind::Create => writer.create(),
                    Kind::Append => writer.append(),
                    Kind::Overwrite => writer.overwrite(),
                    Kind::Replace => writer.replace(),
                }
            })
        });
        let threads = threads.collect();
        Ok(Writers { stop, threads })
    }

    /// True if a writer has ended. Before [`Writers::stop`], that happens only if it failed.
    pub fn has_one_ended(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Stops the writers and waits for their end. Returns the error of the first that failed.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let panicked = |_| Err(io::Error::other("a writer panicked"));
        self.threads.drain(..).map(|thread| thread.join().unwrap_or_else(panicked)).fold(Ok(()), Result::and)
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Creates the records of a kind that exist before the first acknowledgement.
fn prepare(paths: &RecordPaths, kind: Kind, records: Records) -> io::Result<()> {
    match kind {
        Kind::Create | Kind::Append => Ok(()),
        Kind::Overwrite => {
            let mut file = File::create_new(paths.record(kind, 0, 1).0)?;
            (0..SLOTS).try_for_each(|number| file.write_all(&records.bytes(kind, number, 1)))?;
            file.sync_all()
        }
        Kind::Replace => (0..REPLACED).try_for_each(|number| {
            let mut file = File::create_new(paths.record(kind, number, 1).0)?;
            file.write_all(&records.bytes(kind, number, 1))?;
            file.sync_all()
        }),
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

struct Writer<'a, Say> {
    paths: RecordPaths<'a>,
    records: Records,
    bounds: Bounds,
    stop: &'a AtomicBool,
    say: &'a Say,
}

impl<Say: Fn(Note) -> io::Result<()>> Writer<'_, Say> {
    fn is_told_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn acknowledge(&self, kind: Kind, number: u64, version: u64) -> io::Result<()> {
        (self.say)(Note::Acknowledged { kind, number, version })
    }

    fn path(&self, kind: Kind, number: u64) -> (PathBuf, u64) {
        self.paths.record(kind, number, self.bounds.records)
    }

    /// Creates new files. When there are enough, the older half is retired, and the files retired before are removed.
    /// The delay gives a slow listener of `say` time to learn that they are retired.
    fn create(&self) -> io::Result<()> {
        let folder = File::open(self.paths.folder(Kind::Create))?;
        let (mut oldest, mut promised) = (0, 0);
        for number in 0.. {
            if self.is_told_to_stop() {
                break;
            }
            let mut file = File::create_new(self.path(Kind::Create, number).0)?;
            file.write_all(&self.records.bytes(Kind::Create, number, 1))?;
            file.sync_all()?;
            folder.sync_all()?;
            self.acknowledge(Kind::Create, number, 1)?;
            if number + 1 - promised == 2 * self.bounds.records {
                (oldest..promised).try_for_each(|number| fs::remove_file(self.path(Kind::Create, number).0))?;
                (oldest, promised) = (promised, promised + self.bounds.records);
                (self.say)(Note::Retired { kind: Kind::Create, below: promised })?;
            }
        }
        Ok(())
    }

    /// Appends records to a file. When it is full, the next file begins and the previous one is retired. The file
    /// retired before that is removed.
    fn append(&self) -> io::Result<()> {
        let in_log = self.bounds.records;
        let folder = File::open(self.paths.folder(Kind::Append))?;
        for first in (0..).step_by(in_log as usize) {
            let path = self.path(Kind::Append, first).0;
            let mut file = OpenOptions::new().append(true).create_new(true).open(path)?;
            // The new name is made durable once; the calls below sync only data.
            file.sync_all()?;
            folder.sync_all()?;
            for number in first..first + in_log {
                if self.is_told_to_stop() {
                    return Ok(());
                }
                file.write_all(&self.records.bytes(Kind::Append, number, 1))?;
                file.sync_data()?;
                self.acknowledge(Kind::Append, number, 1)?;
            }
            if let Some(earlier) = first.checked_sub(2 * in_log) {
                fs::remove_file(self.path(Kind::Append, earlier).0)?;
            }
            if first > 0 {
                (self.say)(Note::Retired { kind: Kind::Append, below: first })?;
            }
        }
        Ok(())
    }

    /// Overwrites records in one file, in random order.
    fn overwrite(&self) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(self.path(Kind::Overwrite, 0).0)?;
        let mut versions = [1; SLOTS as usize];
        let mut random = Prng::new(self.records.seed);
        while !self.is_told_to_stop() {
            let number = random.below(SLOTS);
            let version = &mut versions[number as usize];
            *version += 1;
            let (_, offset) = self.path(Kind::Overwrite, number);
            file.write_all_at(&self.records.bytes(Kind::Overwrite, number, *version), offset)?;
            file.sync_data()?;
            self.acknowledge(Kind::Overwrite, number, *version)?;
        }
        Ok(())
    }

    /// Writes new files and renames them over the old ones, in turn.
    fn replace(&self) -> io::Result<()> {
        let folder = self.paths.folder(Kind::Replace);
        let opened = File::open(&folder)?;
        for turn in 0.. {
            if self.is_told_to_stop() {
                break;
            }
            let (number, version) = (turn % REPLACED, turn / REPLACED + 2);
            let beside = folder.join("new");
            // Truncates the file of an earlier attempt, if there is one: no other program uses this name.
            let mut file = File::create(&beside)?;
            file.write_all(&self.records.bytes(Kind::Replace, number, version))?;
            file.sync_all()?;
            fs::rename(&beside, self.path(Kind::Replace, number).0)?;
            opened.sync_all()?;
            self.acknowledge(Kind::Replace, number, version)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::check::check;
    use crate::ledger::Ledger;
    use crate::record::Verdict;

    #[test]
    fn acknowledged_records_exist_and_stay_within_bounds() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (records, bounds) = (Records { seed: 3 }, Bounds { records: 4 });
        let ledger = Arc::new(Mutex::new((Ledger::default(), 0)));
        let heard = Arc::clone(&ledger);
        Writers::prepare(folder.path(), records).expect("it is prepared");
        let writers = Writers::start(folder.path(), records, bounds, move |note| {
            let mut heard = heard.lock().expect("nobody panicked");
            heard.0.note(note);
            heard.1 += 1;
            Ok(())
        })
        .expect("they begin");
        // Waits for all prepared records, some records of the other kinds, and some retirements. The scheduler chooses
        // which writer comes first.
        let count = |ledger: &Ledger, kind| ledger.promises().filter(|(of, ..)| *of == kind).count() as u64;
        let has_all = |(ledger, notes): &(Ledger, i32)| {
            let least = [(Kind::Overwrite, SLOTS), (Kind::Replace, REPLACED), (Kind::Create, 1), (Kind::Append, 1)];
            *notes >= 400 && least.iter().all(|(kind, least)| count(ledger, *kind) >= *least)
        };
        while !has_all(&ledger.lock().expect("nobody panicked")) {
            assert!(!writers.has_one_ended());
            thread::sleep(Duration::from_millis(1));
        }
        writers.stop().expect("none failed");
        let ledger = ledger.lock().expect("nobody panicked").0.clone();
        let count = |kind| count(&ledger, kind);
        assert_eq!((count(Kind::Overwrite), count(Kind::Replace)), (SLOTS, REPLACED));
        for kind in [Kind::Create, Kind::Append] {
            assert!((1..=2 * bounds.records).contains(&count(kind)), "{kind:?}: {}", count(kind));
        }
        let judged = check(folder.path(), records, bounds, &ledger).expect("it can be read");
        assert_eq!(judged.len(), ledger.promises().count());
        assert!(judged.iter().all(|(_, verdict)| *verdict == Verdict::Intact), "{judged:?}");
    }

    /// A listener that learns late of the retirement must not report the records as missing.
    #[test]
    fn retired_records_stay_for_a_while() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (records, bounds) = (Records { seed: 3 }, Bounds { records: 4 });
        Writers::prepare(folder.path(), records).expect("it is prepared");
        // The checks of each kind; and the checks in which a file was missing, or there were too many.
        let seen = Arc::new(Mutex::new(([0, 0], 0)));
        let (heard, path) = (Arc::clone(&seen), folder.path().to_owned());
        let newest = Arc::new(Mutex::new([None, None]));
        let writers = Writers::start(folder.path(), records, bounds, move |note| {
            let paths = RecordPaths(&path);
            let index = |kind| [Kind::Create, Kind::Append].iter().position(|of| *of == kind);
            let mut newest = newest.lock().expect("nobody panicked");
            match note {
                Note::Retired { kind, below } => newest[index(kind).expect("others stay")] = Some(below - 1),
                Note::Acknowledged { kind, .. } => {
                    let Some(index) = index(kind) else { return Ok(()) };
                    let Some(number) = newest[index] else { return Ok(()) };
                    let files = fs::read_dir(paths.folder(kind))?.count() as u64;
                    let most = if kind == Kind::Create { 3 * bounds.records } else { 3 };
                    let is_bad = !paths.record(kind, number, bounds.records).0.exists() || files > most;
                    let mut heard = heard.lock().expect("nobody panicked");
                    heard.0[index] += 1;
                    heard.1 += i32::from(is_bad);
                }
            }
            Ok(())
        })
        .expect("they begin");
        // Several retirements of both kinds.
        while seen.lock().expect("nobody panicked").0.iter().any(|looks| *looks < 40) {
            assert!(!writers.has_one_ended());
            thread::sleep(Duration::from_millis(1));
        }
        writers.stop().expect("none failed");
        assert_eq!(seen.lock().expect("nobody panicked").1, 0);
    }

    #[test]
    fn writers_end_if_their_listener_fails() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let deaf = |_| Err(io::ErrorKind::BrokenPipe.into());
        let started = Writers::start(folder.path(), Records { seed: 3 }, Bounds { records: 4 }, deaf);
        assert_eq!(started.err().map(|error| error.kind()), Some(io::ErrorKind::BrokenPipe));
    }
}
