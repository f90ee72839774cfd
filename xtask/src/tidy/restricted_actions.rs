//! The code that runs other programs, deletes files, opens devices exclusively, or reads files of any size. Users run
//! this tool as root on disks that matter to them, so it does these things in few known places. The same holds for
//! reading the wall clock, which may be set during a measurement: no measurement uses it, and no wait, except for the
//! times of a file. No code runs a shell.

use super::Finding;
use super::source::{File, has_word};

/// An action that needs care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// Runs another program.
    Run,
    /// Deletes a file or a folder by its path.
    Delete,
    /// Creates a folder and deletes it with its contents when dropped.
    Scratch,
    /// Opens a device exclusively, as before writing to it.
    Hold,
    /// Reads a whole file, whatever its size and however long it takes.
    Read,
    /// Reads the wall clock.
    Date,
}

use Deed::{Date, Delete, Hold, Read, Run, Scratch};

/// The words that identify an action in the code. Unit tests create their scratch folders with the function
/// `tempfile::tempdir`, which is not in the list.
const WORDS: [(&str, Deed); 22] = [
    ("Command::new", Run),
    ("posix_spawn", Run),
    ("execve", Run),
    ("remove_file", Delete),
    ("remove_dir", Delete),
    ("remove_dir_all", Delete),
    ("fs::unlink", Delete),
    ("libc::unlink", Delete),
    ("unlinkat", Delete),
    ("TempDir", Scratch),
    ("OFlags::EXCL", Hold),
    ("O_EXCL", Hold),
    ("SystemTime::now", Date),
    ("gettimeofday", Date),
    ("libc::time", Date),
    ("CLOCK_REALTIME", Date),
    ("ClockId::Realtime", Date),
    ("fs::read", Read),
    ("read_to_end", Read),
    ("read_to_string", Read),
    ("from_file", Read),
    ("io::copy", Read),
];

/// Names and calls of shells. A shell would execute commands in file names.
const SHELLS: [&str; 9] =
    ["\"sh\"", "\"bash\"", "\"dash\"", "\"zsh\"", "\"/bin/sh", "\"/bin/bash", "libc::system", "popen", "\"-c\""];

/// The crates that a user runs. Only these read files of unknown origin, and only in these a shell is a danger.
const PRODUCT: [&str; 15] = [
    "units",
    "workload",
    "simulator",
    "machines",
    "classic1983",
    "kernel",
    "powercut",
    "runner",
    "campaign",
    "jobs",
    "stats",
    "report",
    "store",
    "diskperf",
    "overhead",
];

/// The known places: a file, its actions, and the reason.
const PLACES: [(&str, &[Deed], &str); 55] = [
    ("bridge/src/child.rs", &[Run], "diskperf, and itself to begin a session"),
    ("crates/calibration/src/machine_writer.rs", &[Date], "the day of a fit, in its log"),
    ("crates/diskperf/src/commands/programs/bw.rs", &[Date], "a random seed, if none is given"),
    ("crates/diskperf/src/commands/programs/copy.rs", &[Delete], "an unfinished copy that this call made"),
    ("crates/diskperf/src/session.rs", &[Date], "when a run began, as it is listed"),
    ("crates/diskperf/src/commands/predict.rs", &[Date], "when a check was made, as it is listed"),
    ("crates/diskperf/src/commands/probe.rs", &[Date], "the day of a probe, in its file"),
    ("crates/diskperf/src/commands/simulate.rs", &[Date], "when a run began, as it is listed"),
    ("crates/campaign/src/peers/wire.rs", &[Read], "a message of limited length"),
    ("crates/campaign/src/run_writer.rs", &[Date], "when a run ended, as it is listed"),
    ("crates/diskperf/src/verification/manual_power_cut.rs", &[Date], "a random seed, if none is given"),
    ("crates/powercut/src/writers.rs", &[Delete], "records that it wrote in a folder of its own, and takes back"),
    ("crates/diskperf/benches/elsewhere/jobs.rs", &[Delete], "the file with the number of a daemon that it has ended"),
    ("crates/diskperf/tests/devices/output/mod.rs", &[Delete], "a name in the test's own folder"),
    ("crates/diskperf/tests/devices/output/races.rs", &[Delete], "names in the test's own folder"),
    ("crates/diskperf/tests/devices/output/files.rs", &[Delete], "names in the test's own folder"),
    ("crates/diskperf/tests/cli/run.rs", &[Delete], "a link in the test's own folder"),
    ("crates/diskperf/tests/throttle/mod.rs", &[Delete], "the control group that a test made, empty again"),
    ("crates/kernel/src/world/command.rs", &[Run], "the user's own command"),
    ("crates/kernel/src/guard/cleared.rs", &[Hold], "a device that was looked at and may be overwritten"),
    ("crates/kernel/src/guard/user_file.rs", &[Hold], "a new file, so that one that is there is not emptied"),
    ("crates/kernel/src/guard/write_detection.rs", &[Date], "the age of a file, whose times are of that clock"),
    (
        "crates/kernel/src/guard/mod.rs",
        &[Hold],
        "whether another program holds a device; opened for reading, closed at once",
    ),
    ("crates/kernel/src/observe/tracefs.rs", &[Delete], "an instance of the tracer that diskperf made"),
    ("crates/kernel/src/sys/read_limited.rs", &[Read], "a limited part of a file"),
    ("crates/kernel/src/provision/image_file.rs", &[Read], "its unit tests, what they have made"),
    ("crates/kernel/src/provision/mkfs.rs", &[Run], "mkfs, on a device that is cleared"),
    (
        "crates/kernel/src/leftovers/scan.rs",
        &[Delete, Read],
        "an image of ours that was kept, told by its tag; what its unit tests made",
    ),
    ("crates/kernel/src/provision/memory_limit.rs", &[Delete], "the control group that it made, empty again"),
    ("crates/kernel/src/leftovers/notes.rs", &[Delete], "a note of what to undo, when that is done"),
    ("crates/kernel/src/world/process.rs", &[Delete], "the ops unlink and rmdir, below the program's own folder"),
    ("crates/kernel/src/provision/queue_tuning/tests.rs", &[Read, Scratch], "a queue of plain files"),
    ("crates/kernel/src/provision/workspace.rs", &[Delete], "the private folder that programs stand in"),
    ("crates/kernel/tests/user_files.rs", &[Delete], "names in the test's own folder"),
    ("crates/kernel/tests/counters.rs", &[Delete], "the control group that a test made, empty again"),
    ("crates/overhead/benches/loops.rs", &[Delete], "the bare loop's own small files"),
    ("crates/store/src/open.rs", &[Read], "the first hundred bytes of a store"),
    ("crates/store/src/default_path.rs", &[Read], "the first megabyte of the list of users"),
    ("crates/testkit/src/control_group.rs", &[Delete], "the control group that a test made, empty again"),
    ("crates/testkit/src/lying_folder.rs", &[Delete], "names in a folder that it serves, as asked by the kernel"),
    ("crates/testkit/tests/lying_folder.rs", &[Delete], "names in the test's own folder"),
    ("xtask/src/deny.rs", &[Run], "cargo-deny"),
    ("xtask/src/dist.rs", &[Run], "the program that was built"),
    (
        "xtask/src/dist/deb.rs",
        &[Run, Delete, Scratch],
        "that program, cargo-deb, gzip, git and dpkg-deb; deletes what it printed for the package before",
    ),
    ("xtask/src/guests.rs", &[Run, Scratch], "apt-get and dpkg, into target/guests"),
    ("xtask/src/test_jobs.rs", &[Run], "shells, in its own tests"),
    ("xtask/src/packages.rs", &[Run], "apt-get, and sudo where it asks for no password"),
    ("xtask/src/picture.rs", &[Scratch], "the page that is drawn"),
    ("xtask/src/process.rs", &[Run], "cargo"),
    ("xtask/src/prove.rs", &[Run, Delete], "git, to name the commit; the state of an experiment that ended"),
    ("xtask/src/steady_tests.rs", &[Scratch], "files of skips"),
    ("xtask/src/steady_tests/condition.rs", &[Run], "this program again, under the condition"),
    ("xtask/src/test.rs", &[Scratch], "the file of skips"),
    ("xtask/src/rust_targets.rs", &[Run], "rustc and rustup, to ask for a target"),
    ("xtask/src/unprivileged.rs", &[Run, Scratch], "the command-line tests as another user"),
];

/// Actions permitted under `tests` and `benches`, and in the testkit, which exist to run the program in scratch
/// folders.
const IN_TESTS: [Deed; 5] = [Run, Scratch, Hold, Read, Date];

/// Finds places that are not on the list, and list entries that no code needs.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let listed = PLACES.iter().find(|(path, ..)| *path == file.path).map_or(&[] as &[Deed], |(_, deeds, _)| *deeds);
        let in_tests: &[Deed] = if file.is_test() { &IN_TESTS } else { &[] };
        let is_product = file.crate_name().is_some_and(|name| PRODUCT.contains(&name)) && !file.is_test();
        if let Some(shell) = SHELLS.iter().find(|shell| is_product && file.uncommented.contains(*shell)) {
            findings.push(Finding::new(&file.path, format!("{shell}: no shell is run, since it obeys what names say")));
        }
        for (word, deed) in WORDS {
            if deed == Read && !is_product {
                continue;
            }
            if !listed.contains(&deed) && !in_tests.contains(&deed) && has_word(&file.code, word) {
                let message =
                    format!("{word} is not expected here; a new place goes into xtask/src/tidy/restricted_actions.rs");
                findings.push(Finding::new(&file.path, message));
            }
        }
    }
    for (path, deeds, _) in PLACES {
        let done = |deed: &Deed, file: &File| WORDS.iter().any(|(word, of)| of == deed && has_word(&file.code, word));
        for deed in deeds {
            if !files.iter().any(|file| file.path == path && done(deed, file)) {
                findings.push(Finding::new(
                    path,
                    format!("{deed:?} in xtask/src/tidy/restricted_actions.rs is needed no more"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages about one file, which may be on the list.
    fn messages(path: &str, text: &str) -> Vec<String> {
        let findings = check(&[File::new(path, text)]);
        findings.into_iter().filter(|finding| finding.place == path).map(|finding| finding.message).collect()
    }

    #[test]
    fn new_places_must_be_added_by_hand() {
        for (word, _) in WORDS {
            assert_eq!(messages("crates/kernel/src/new.rs", &format!("fn a() {{ {word}(b); }}")).len(), 1, "{word}");
            assert_eq!(messages("crates/kernel/src/new.rs", &format!("/// See {word}.\nfn a() {{}}")).len(), 0);
        }
        assert_eq!(messages("crates/kernel/src/world/process.rs", "unlinkat(a); Command::new(b)").len(), 1);
    }

    #[test]
    fn removed_places_must_leave_the_list() {
        assert_eq!(messages("crates/kernel/src/world/process.rs", "unlinkat(a)"), Vec::<String>::new());
        assert_eq!(messages("crates/kernel/src/world/process.rs", "fn a() {}").len(), 1);
    }

    #[test]
    fn no_shell_is_run() {
        for shell in ["Command::new(\"sh\")", "Command::new(\"/bin/sh\")", "libc::system(a)", "a.arg(\"-c\")"] {
            let found = messages("crates/kernel/src/provision/mkfs.rs", &format!("fn a() {{ {shell} }}"));
            assert!(found.iter().any(|message| message.contains("no shell is run")), "{shell}: {found:?}");
        }
        assert_eq!(messages("crates/diskperf/tests/a.rs", "Command::new(\"sh\")"), Vec::<String>::new());
        assert_eq!(messages("crates/kernel/src/new.rs", "// Not \"sh\".\nfn a() { \"share\" }"), Vec::<String>::new());
    }

    #[test]
    fn tests_may_run_programs_but_not_delete_by_name() {
        assert_eq!(messages("crates/diskperf/tests/a.rs", "Command::new(a); TempDir::new()"), Vec::<String>::new());
        assert_eq!(messages("crates/diskperf/tests/a.rs", "remove_dir_all(a)").len(), 1);
    }
}
