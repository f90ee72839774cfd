use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A disk with a queue, and a folder for notes; both consist of plain files.
struct Bench {
    scratch: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { scratch: tempfile::tempdir().expect("a scratch folder") };
        fs::create_dir_all(bench.folder().join(SCHEDULERS_OWN)).expect("folders");
        for (attribute, value) in [
            ("scheduler", "none [mq-deadline] bfq\n"),
            ("read_ahead_kb", "128\n"),
            ("nr_requests", "99\n"),
            ("rotational", "1\n"),
            ("iosched/fifo_batch", "17\n"),
        ] {
            fs::write(bench.folder().join(attribute), value).expect("an attribute");
        }
        let read_only = fs::Permissions::from_mode(0o444);
        fs::set_permissions(bench.folder().join("rotational"), read_only).expect("rights");
        bench
    }

    fn folder(&self) -> PathBuf {
        self.scratch.path().join("disk0/queue")
    }

    fn queue(&self) -> Queue {
        Queue::from_folder(self.folder()).expect("a queue")
    }

    fn notes(&self) -> Notes {
        Notes::in_folder(self.scratch.path().join("notes"))
    }

    fn tuning(&self, settings: &[(&str, &str)]) -> Result<Tuning, TuningFault> {
        let settings = settings
            .iter()
            .map(|(attribute, value)| Setting { attribute: (*attribute).to_owned(), value: (*value).to_owned() });
        Tuning::plan_with(self.queue(), &settings.collect::<Vec<_>>(), self.notes())
    }

    fn value(&self, attribute: &str) -> String {
        self.queue().read(attribute).expect("an attribute").current
    }

    fn set(&self, attribute: &str, value: &str) {
        fs::write(self.folder().join(attribute), value).expect("an attribute");
    }

    /// The text of the note about the disk, if there is one.
    fn note(&self) -> Option<String> {
        fs::read_to_string(self.scratch.path().join("notes/tuned-disk0")).ok()
    }
}

/// A process id that cannot exist: the kernel assigns none above 4194304.
const DEAD: i32 = i32::MAX;

#[test]
fn a_queue_is_changed_and_restored() {
    let bench = Bench::new();
    let tuning = bench.tuning(&[("read_ahead_kb", "4096"), ("scheduler", "none")]).expect("a plan");
    assert_eq!(bench.value("scheduler"), "mq-deadline", "a plan writes nothing");
    let tuned = tuning.apply().expect("tuned");
    assert_eq!((bench.value("scheduler"), bench.value("read_ahead_kb")), ("none".to_owned(), "4096".to_owned()));
    assert!(bench.note().is_some());
    drop(tuned);
    assert_eq!((bench.value("scheduler"), bench.value("read_ahead_kb")), ("mq-deadline".to_owned(), "128".to_owned()));
    assert_eq!(bench.note(), None);
    tuning.apply().and_then(Tuned::restore).expect("tuned and restored again");
    assert_eq!(bench.value("scheduler"), "mq-deadline");
}

#[test]
fn attributes_reset_by_a_new_scheduler_are_restored() {
    let bench = Bench::new();
    let tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply()).expect("tuned");
    bench.set("nr_requests", "256");
    bench.set("iosched/fifo_batch", "16");
    tuned.restore().expect("restored");
    assert_eq!((bench.value("nr_requests"), bench.value("iosched/fifo_batch")), ("99".to_owned(), "17".to_owned()));
    let tuned = bench.tuning(&[("read_ahead_kb", "1")]).and_then(|tuning| tuning.apply()).expect("tuned");
    bench.set("nr_requests", "256");
    tuned.restore().expect("restored");
    assert_eq!(bench.value("nr_requests"), "256", "none of our business where the scheduler stays");
}

#[test]
fn changes_by_other_programs_stay() {
    let bench = Bench::new();
    let tuned = bench.tuning(&[("read_ahead_kb", "4096")]).and_then(|tuning| tuning.apply()).expect("tuned");
    bench.set("read_ahead_kb", "512");
    tuned.restore().expect("restored");
    assert_eq!(bench.value("read_ahead_kb"), "512");
    // Another scheduler, and an attribute that changes together with it.
    let tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply()).expect("tuned");
    bench.set("scheduler", "bfq");
    bench.set("nr_requests", "512");
    tuned.restore().expect("restored");
    assert_eq!((bench.value("scheduler"), bench.value("nr_requests")), ("bfq".to_owned(), "512".to_owned()));
}

/// The first call may fail after the scheduler, or be killed.
#[test]
fn a_second_call_restores_what_changed_with_the_scheduler() {
    let bench = Bench::new();
    let before = bench.value("nr_requests");
    let tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply()).expect("tuned");
    bench.set("scheduler", "mq-deadline");
    bench.set("nr_requests", "77");
    tuned.restore().expect("restored");
    assert_eq!(bench.value("nr_requests"), before);
    // The kernel resets it when the old scheduler comes back.
    let both = [("scheduler", "none"), ("nr_requests", "64")];
    let tuned = bench.tuning(&both).and_then(|tuning| tuning.apply()).expect("tuned");
    bench.set("nr_requests", "256");
    tuned.restore().expect("restored");
    assert_eq!(bench.value("nr_requests"), before);
}

#[test]
fn unknown_attributes_are_refused_with_a_list_of_known_ones() {
    let bench = Bench::new();
    for attribute in ["rotational", "no_such", "../secret", "iosched", ""] {
        match bench.tuning(&[(attribute, "0")]) {
            Err(TuningFault::Unknown { known, .. }) => {
                assert_eq!(known, ["nr_requests", "read_ahead_kb", "scheduler"]);
            }
            other => panic!("{attribute}: {other:?}"),
        }
    }
}

#[test]
fn a_disk_cannot_be_tuned_twice() {
    let bench = Bench::new();
    let first = bench.tuning(&[("read_ahead_kb", "1")]).and_then(|tuning| tuning.apply()).expect("tuned");
    let second = bench.tuning(&[("read_ahead_kb", "2")]).and_then(|tuning| tuning.apply());
    assert!(matches!(second, Err(TuningFault::Twice(_))), "{second:?}");
    assert_eq!(bench.value("read_ahead_kb"), "1");
    drop(first);
    assert_eq!(bench.value("read_ahead_kb"), "128");
}

#[test]
fn settings_left_by_a_dead_process_are_restored() {
    let bench = Bench::new();
    let leave = || {
        let mut tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply()).expect("tuned");
        tuned.note.owner.pid = DEAD;
        bench.notes().lock().and_then(|lock| lock.add(&tuned.note)).expect("noted");
        tuned.is_restored = true;
    };
    leave();
    let none = restore_left_in(&bench.notes(), |note| note.queue.disk != "disk0").expect("notes");
    assert!(none.is_empty() && bench.note().is_some() && bench.value("scheduler") == "none", "only what is wanted");
    let left = restore_left_in(&bench.notes(), |note| note.queue.disk == "disk0").expect("notes");
    assert!(
        matches!(&left[..], [Restored { disk, pid: of, outcome: Ok(()) }] if disk == "disk0" && *of == DEAD),
        "{left:?}"
    );
    assert_eq!((bench.value("scheduler"), bench.note()), ("mq-deadline".to_owned(), None));

    leave();
    let tuned = bench.tuning(&[("scheduler", "bfq")]).and_then(|tuning| tuning.apply()).expect("tuned");
    assert_eq!(bench.value("scheduler"), "bfq");
    drop(tuned);
    assert_eq!(bench.value("scheduler"), "mq-deadline", "restored to what was before the dead one");
}

#[test]
fn settings_of_a_living_process_are_not_restored() {
    let bench = Bench::new();
    let tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply()).expect("tuned");
    assert!(restore_left_in(&bench.notes(), |_| true).expect("notes").is_empty());
    assert_eq!(bench.value("scheduler"), "none");
    drop(tuned);
}

#[test]
fn a_removed_disk_is_forgotten() {
    let bench = Bench::new();
    let tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply()).expect("tuned");
    fs::rename(bench.scratch.path().join("disk0"), bench.scratch.path().join("gone")).expect("taken away");
    tuned.restore().expect("nothing to restore");
    assert_eq!(bench.note(), None);
}

#[test]
fn notes_writable_by_others_are_refused() {
    let bench = Bench::new();
    let folder = bench.scratch.path().join("notes");
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("rights");
    assert!(matches!(restore_left_in(&bench.notes(), |_| true), Err(TuningFault::Notes { .. })), "and that is said");
    let tuned = bench.tuning(&[("scheduler", "none")]).and_then(|tuning| tuning.apply());
    assert!(matches!(tuned, Err(TuningFault::Notes { .. })), "{tuned:?}");
    assert_eq!(bench.value("scheduler"), "mq-deadline");

    let link = bench.scratch.path().join("link");
    symlink(&folder, &link).expect("a link");
    assert!(Notes::in_folder(link).lock().is_err());
}
