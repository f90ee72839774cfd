//! Names that change while diskperf runs: from its first look to the last byte, it writes to no device, and to no file
//! with a loop device on it.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::loop_disk::LoopDisk;
use testkit::{Running, names_in, need_disk, wait_until};

use super::{Decoy, OLD, SMOKE, replace};

use crate::common::{Cli, program};

/// The number of starts while a name changes; the 2,000 cheaper tries are in `crates/kernel/tests/user_files.rs`.
/// `DISKPERF_RACES` sets another number.
const TRIES: usize = 200;

/// Starts an import that has looked at its output file, and waits for its input.
fn import_to(folder: &Path, name: &str) -> (Running, std::process::ChildStdin) {
    let mut command = testkit::command(&program());
    command.args(["import", "-", "-o", name]).current_dir(folder);
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = streams.spawn().expect("diskperf starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"[global]\n").expect("the beginning of a job");
    // It reads its input only after it has looked.
    wait_until("it reads", || rustix::io::ioctl_fionread(&input).expect("a pipe") == 0);
    (Running(child), input)
}

/// Gives it the rest of its input. Returns its exit status and its standard error.
fn finish(mut running: Running, mut input: std::process::ChildStdin) -> (Option<i32>, String) {
    input.write_all(b"size=1mib\n[a]\nrw=write\nbs=4kib\n").expect("the rest of a job");
    drop(input);
    let child: &mut Child = &mut running.0;
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("a pipe"), &mut said).expect("what it says");
    (child.wait().expect("its end").code(), said)
}

#[test]
fn output_names_that_become_devices_are_refused_at_the_end() {
    need_disk!();
    let decoy = Decoy::new();
    for way in 0..decoy.ways() {
        fs::write(decoy.folder().join("old"), OLD).expect("a file");
        replace(&decoy.folder().join("old"), &decoy.folder().join("out"));
        let (running, input) = import_to(decoy.folder(), "out");
        decoy.lead(way, "out");
        let (status, said) = finish(running, input);
        assert_eq!(status, Some(3), "{way}: {said}");
        assert!(said.contains(decoy.says(way)), "{said}");
        decoy.assert_unchanged();
        assert!(names_in(decoy.folder()).iter().all(|name| !name.starts_with('.')));
    }
}

#[test]
fn output_files_that_become_loop_devices_are_refused_at_the_end() {
    need_disk!();
    let folder = Cli::new();
    let out = folder.path().join("out");
    fs::write(&out, [7; 8192]).expect("a file");
    let (running, input) = import_to(folder.path(), "out");
    let device = LoopDisk::attach(&out).expect("a loop device");
    let (status, said) = finish(running, input);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("is the backing file of "), "{said}");
    assert_eq!(fs::read(&out).expect("the file"), [7; 8192]);
    drop(device);
}

#[test]
fn folders_and_files_created_during_the_run_are_respected() {
    let folder = Cli::new();
    let out = folder.path().join("out");
    let (running, input) = import_to(folder.path(), "out");
    fs::create_dir(&out).expect("a folder in its place");
    let (status, said) = finish(running, input);
    assert_eq!((status, said.contains("out is a directory")), (Some(2), true), "{said}");
    fs::remove_dir(&out).expect("removed");
    // Another file is replaced, just as one that existed before.
    let (running, input) = import_to(folder.path(), "out");
    fs::write(&out, OLD).expect("another file");
    fs::hard_link(&out, folder.path().join("other")).expect("another name");
    let (status, said) = finish(running, input);
    assert_eq!(status, Some(0), "{said}");
    assert_ne!(fs::read_to_string(&out).expect("the job"), OLD);
    assert_eq!(fs::read_to_string(folder.path().join("other")).expect("the file"), OLD);
    assert_eq!(folder.names(), ["other", "out"]);
}

#[test]
fn only_the_unfinished_copy_itself_is_removed() {
    for is_replaced in [false, true] {
        let folder = Cli::new();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        // One-byte calls that take minutes.
        fs::File::create_new(old).and_then(|old| old.set_len(200_000_000)).expect("a sparse file");
        let mut command = testkit::command(&program());
        command.args(["copy", "old", "new", "--buffer", "1"]).current_dir(folder.path());
        let mut copying = Running(command.stderr(Stdio::piped()).spawn().expect("diskperf starts"));
        wait_until("it copies", || fs::metadata(&new).is_ok_and(|new| new.len() > 0));
        if is_replaced {
            fs::write(folder.path().join("mine"), OLD).expect("a file");
            replace(&folder.path().join("mine"), &new);
        }
        let process = rustix::process::Pid::from_child(&copying.0);
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
        let mut said = String::new();
        let mut stream = copying.0.stderr.take().expect("a pipe");
        std::io::Read::read_to_string(&mut stream, &mut said).expect("what it says");
        assert_eq!(copying.0.wait().expect("its end").code(), Some(4), "{said}");
        assert_eq!(fs::read_to_string(&new).ok().as_deref(), is_replaced.then_some(OLD), "{said}");
    }
}

/// Ends a thread, also if the test fails meanwhile.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn races_with_a_changing_name_do_not_change_the_decoy() {
    need_disk!();
    let decoy = Decoy::new();
    let path = |name: &str| decoy.folder().join(name);
    fs::write(path("old"), OLD).expect("a file");
    let tries = env::var("DISKPERF_RACES").map_or(TRIES, |number| number.parse().expect("a number of tries"));
    let ended = AtomicBool::new(false);
    let smoke = [&SMOKE[..], &["-o", "out"]].concat();
    let commands = [&["write_4096", "out"][..], &["copy", "old", "out"], &["simulate", "-o", "out"], &smoke];
    // Without a race, each command must write the file. Otherwise, a program that refuses all names would pass this
    // test.
    let write_undisturbed = || {
        for command in commands {
            fs::write(path("regular"), "another file").expect("a file");
            replace(&path("regular"), &path("out"));
            let ended = Cli::in_folder(decoy.folder()).run(command);
            assert_eq!(ended.status, Some(0), "{command:?}: {}", ended.err);
            assert_ne!(fs::read(path("out")).expect("the file"), b"another file", "{command:?}");
        }
    };
    write_undisturbed();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut way = 0;
            while !ended.load(Ordering::Relaxed) {
                // A new file each time, because diskperf may write to a regular file.
                fs::write(path("regular"), OLD).expect("a file");
                replace(&path("regular"), &path("out"));
                decoy.lead(way % decoy.ways(), "out");
                if way % 5 == 4 {
                    rustix::fs::unlink(path("out")).expect("the name is free");
                }
                way += 1;
            }
        });
        let _ending = Ending(&ended);
        for number in 0..tries {
            let ended = Cli::in_folder(decoy.folder()).run(commands[number % commands.len()]);
            assert!(ended.status.is_some(), "it was killed: {}", ended.err);
        }
    });
    write_undisturbed();
    decoy.assert_unchanged();
}
