//! Results that go to a file that is not regular, or to a descriptor that the shell opened: they are written as they
//! are, and nothing is replaced.

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use rustix::fs::{CWD, FileType, Mode};
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Running, need_disk, wait_until};

use super::{Decoy, OLD, SMOKE, shell, smoke_to};

use crate::common::{Cli, program, text};

#[test]
fn a_dash_means_standard_output() {
    let folder = Cli::new();
    let printed = folder.run(&["simulate"]);
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
        let ended = folder.run(&["simulate", "-o", name]);
        assert_eq!((ended.status, &ended.out), (Some(0), &printed.out), "{name}: {}", ended.err);
    }
    let ended = folder.run(&["simulate", "-o", "/dev/stderr"]);
    assert_eq!((ended.status, ended.out.as_str(), &ended.err), (Some(0), "", &printed.out));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn descriptors_of_a_shell_are_appended_to() {
    let folder = Cli::new();
    let printed = folder.run(&["simulate"]).out;
    let log = folder.path().join("log");
    std::os::unix::fs::symlink("/dev/fd/3", folder.path().join("link")).expect("a link");
    for script in [
        "exec \"$0\" simulate -o /dev/stdout >> log",
        "exec \"$0\" simulate -o - >> log",
        "exec \"$0\" simulate -o /dev/fd/3 3>> log",
        "exec \"$0\" simulate -o /proc/self/fd/3 3>> log",
        "exec \"$0\" simulate -o link 3>> log",
        "exec 3> log; echo old results >&3; exec \"$0\" simulate -o /dev/fd/3",
    ] {
        fs::write(&log, OLD).expect("a file");
        let ended = shell(folder.path(), script);
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{script}");
        assert_eq!(fs::read_to_string(&log).expect("the log"), format!("{OLD}{printed}"), "{script}");
    }
    assert_eq!(folder.names(), ["link", "log"]);
}

#[test]
fn descriptors_that_were_not_inherited_are_refused() {
    let folder = Cli::new();
    fs::write(folder.path().join("old"), OLD).expect("a file");
    for script in ["exec \"$0\" simulate -o /dev/fd/3", "exec \"$0\" simulate -o /dev/fd/3 3< old"] {
        let ended = shell(folder.path(), script);
        assert_eq!(ended.status, Some(2), "{}", ended.err);
        assert!(ended.err.contains("/dev/fd/3 is not a descriptor that diskperf was started with"), "{}", ended.err);
        assert!(ended.err.contains("hint: open it in the shell"), "{}", ended.err);
    }
    // The files that diskperf opens have numbers too, such as its database.
    for number in 3..40 {
        let (store, name) = (folder.path().join("store.sqlite"), format!("/dev/fd/{number}"));
        let words = [&SMOKE[..], &["--store", text(&store), "-o", &name]].concat();
        assert_eq!(folder.run(&words).status, Some(2), "{number}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("old")).expect("the file"), OLD);
}

#[test]
fn descriptors_of_devices_and_shown_files_are_refused() {
    need_disk!();
    let decoy = Decoy::new();
    for way in 0..decoy.ways() {
        decoy.lead(way, "out");
        for script in ["exec \"$0\" simulate -o /dev/fd/3 3<> out", "exec \"$0\" simulate -o /dev/stdout 1<> out"] {
            let ended = shell(decoy.folder(), script);
            assert_eq!(ended.status, Some(3), "{script}: {}", ended.err);
            assert!(ended.err.contains(decoy.says(way)), "{}", ended.err);
        }
        decoy.assert_unchanged();
    }
}

#[test]
fn results_are_written_to_a_socket() {
    let folder = Cli::new();
    let (ours, mut theirs) = UnixStream::pair().expect("sockets");
    let mut command = testkit::command(&program());
    command.args(["simulate", "-o", "/dev/stdout"]).stdout(OwnedFd::from(ours)).current_dir(folder.path());
    assert!(command.status().expect("diskperf starts").success());
    drop(command);
    let mut read = String::new();
    theirs.read_to_string(&mut read).expect("all of it");
    assert_eq!(read, folder.run(&["simulate"]).out);
}

fn fifo(folder: &Path) {
    rustix::fs::mknodat(CWD, folder.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
}

#[test]
fn a_fifo_receives_all_results_and_stays() {
    let folder = Cli::new();
    fifo(folder.path());
    let path = folder.path().join("fifo");
    let reader = thread::spawn(move || fs::read_to_string(path).expect("results"));
    let ended = smoke_to(folder.path(), "fifo");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document: serde_json::Value = serde_json::from_str(&reader.join().expect("read")).expect("a document");
    assert!(document["cells"].is_array());
    assert_eq!(folder.names(), ["fifo"]);
}

#[test]
fn a_closed_fifo_is_not_an_error() {
    let folder = Cli::new();
    fifo(folder.path());
    let path = folder.path().join("fifo");
    // The reader takes only the first bytes. The results are larger than a pipe holds.
    let reader = thread::spawn(move || File::open(path).and_then(|mut fifo| fifo.read_exact(&mut [0; 10])));
    let ended = smoke_to(folder.path(), "fifo");
    assert_eq!((ended.status, ended.err.contains("error")), (Some(0), false), "{}", ended.err);
    reader.join().expect("it ends").expect("it reads");
}

/// Starts a command, and sends it the signal once it catches that signal and has the FIFO open.
fn told_to_stop(folder: &Path, arguments: &[&str], catches: bool, signal: Signal) -> (Option<i32>, Option<i32>) {
    let fifo = folder.canonicalize().expect("the folder").join("fifo");
    let has_fifo = |proc: &Path| {
        let mut open = fs::read_dir(proc.join("fd")).expect("it runs").flatten();
        open.any(|one| fs::read_link(one.path()).is_ok_and(|path| path == fifo))
    };
    stopped((folder, arguments), Stdio::null(), (catches, signal), has_fifo)
}

/// Starts a command, and sends it the signal once it catches that signal and its folder in /proc meets the condition.
fn stopped(
    (folder, arguments): (&Path, &[&str]),
    out: Stdio,
    (catches, signal): (bool, Signal),
    is_it: impl Fn(&Path) -> bool,
) -> (Option<i32>, Option<i32>) {
    let mut command = testkit::command(&program());
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(Stdio::null());
    let mut running = Running(command.spawn().expect("diskperf starts"));
    let process = Pid::from_child(&running.0);
    let proc = Path::new("/proc").join(process.to_string());
    let is_waiting = || {
        let status = fs::read_to_string(proc.join("status")).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("what it catches");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a bit for each");
        (!catches || caught >> (signal.as_raw() - 1) & 1 == 1) && is_it(&proc)
    };
    wait_until("it waits for a reader", is_waiting);
    kill_process(process, signal).expect("it runs");
    let ended = std::cell::Cell::new(None);
    let running = std::cell::RefCell::new(&mut running.0);
    wait_until("it ends", || {
        ended.set(running.borrow_mut().try_wait().expect("whether it ended"));
        ended.get().is_some()
    });
    let status = ended.get().expect("it ended");
    (status.code(), status.signal())
}

/// True if the process with this folder in /proc has registered its signal handlers.
fn handles_signals(proc: &Path) -> bool {
    let process = proc.file_name().and_then(|name| name.to_str()?.parse().ok());
    testkit::has_signal_handlers(process.expect("its number"))
}

#[test]
fn a_signal_ends_waiting_for_a_reader() {
    let folder = Cli::new();
    fifo(folder.path());
    let run = [&SMOKE[..], &["-o", "fifo"]].concat();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        assert_eq!(told_to_stop(folder.path(), &run, true, signal), (Some(4), None));
    }
    // The signal that ends a test without a time limit comes before its results. A second signal may never come.
    let endless = ["io", "randread", "--size=1MiB", "--time", "forever", "-o", "fifo"];
    let ended = stopped((folder.path(), &endless[..]), Stdio::null(), (true, Signal::TERM), handles_signals);
    assert_eq!(ended, (Some(4), None));
    // A command that has nothing to remove does not catch the signal.
    let list = ["simulate", "-o", "fifo"];
    assert_eq!(told_to_stop(folder.path(), &list, false, Signal::TERM), (None, Some(Signal::TERM.as_raw())));
}

#[test]
fn a_full_fifo_does_not_delay_signals() {
    let folder = Cli::new();
    fifo(folder.path());
    let mut full = File::options();
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut full =
        full.read(true).write(true).custom_flags(nonblocking).open(folder.path().join("fifo")).expect("open");
    while full.write(&[b'x'; 4096]).is_ok() {}
    let run = [&SMOKE[..], &["-o", "fifo"]].concat();
    assert_eq!(told_to_stop(folder.path(), &run, true, Signal::TERM), (Some(4), None));
}

/// Room for the beginning of the results, in bytes: the kernel makes room in a pipe by whole pages.
fn room() -> usize {
    rustix::param::page_size()
}

/// A pipe that is full but for [`room`].
fn nearly_full_pipe() -> (PipeReader, PipeWriter) {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).expect("a pipe");
    while writer.write(&[b'x'; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::empty()).expect("a pipe");
    reader.read_exact(&mut vec![0; room()]).expect("its bytes");
    (reader, writer)
}

/// A blocking descriptor, as a shell opens it: the call itself would wait, and a signal would restart it.
#[test]
fn a_full_pipe_does_not_delay_signals() {
    let folder = Cli::new();
    for words in [&[&SMOKE[..], &["-o", "-"]].concat()[..], &SMOKE] {
        let (reader, writer) = nearly_full_pipe();
        let held = || rustix::io::ioctl_fionread(&reader).expect("a pipe");
        let full = held() + room() as u64;
        let out = Stdio::from(OwnedFd::from(writer));
        let ended = stopped((folder.path(), words), out, (true, Signal::TERM), |_| held() == full);
        assert_eq!(ended, (Some(4), None), "{words:?}");
    }
}

/// The signal that ends a test comes before its results. Their reader may be slow, as `less` is.
#[test]
fn results_of_a_stopped_test_wait_for_their_reader() {
    let folder = Cli::new();
    let (mut reader, writer) = nearly_full_pipe();
    let mut command = testkit::command(&program());
    command.args(["io", "randread", "--size=1MiB", "--time", "forever", "--json"]).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(OwnedFd::from(writer)).stderr(Stdio::null());
    let mut running = Running(command.spawn().expect("diskperf starts"));
    // `command` still has a writing end open.
    drop(command);
    let process = Pid::from_child(&running.0);
    let proc = Path::new("/proc").join(process.to_string());
    wait_until("it can be stopped", || handles_signals(&proc));
    let held = || rustix::io::ioctl_fionread(&reader).expect("a pipe");
    let before = held();
    kill_process(process, Signal::INT).expect("it runs");
    wait_until("the results begin", || held() > before);
    // It looks for room again and again, until it ends.
    let status = || fs::read_to_string(proc.join("status")).expect("it was not waited for");
    let waits = || -> u64 {
        let status = status();
        let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        waits.and_then(|waits| waits.trim().parse().ok()).expect("a number")
    };
    let first = waits();
    wait_until("it has waited", || status().contains("State:\tZ") || waits() > first + 5);
    let mut read = Vec::new();
    reader.read_to_end(&mut read).expect("all of it");
    running.0.wait().expect("it ends");
    let begin = read.iter().position(|byte| *byte == b'{').expect("results");
    let document: serde_json::Value = serde_json::from_slice(&read[begin..]).expect("a whole document");
    assert!(document["run"].is_object());
}

#[test]
fn a_stopped_run_names_the_reader_it_waits_for() {
    let folder = Cli::new();
    fifo(folder.path());
    let store = folder.path().join("store.sqlite");
    // At most ten minutes, in case it ends by itself.
    let script = format!(
        "\"$0\" {} --store {} -o fifo 2> said & n=0; \
         until [ -e store.sqlite ] && ls -l /proc/$!/fd 2> /dev/null | grep -q fifo; \
         do n=$((n+1)); [ $n -lt 60000 ] || exit 9; sleep 0.01; done; kill -TERM $!; wait $!",
        SMOKE.join(" "),
        text(&store)
    );
    let ended = shell(folder.path(), &script);
    let said = fs::read_to_string(folder.path().join("said")).expect("what it said");
    assert_eq!(ended.status, Some(4), "{said}");
    assert!(said.contains("stopped before the reader of fifo"), "{said}");
    assert!(said.contains("hint: start the reader first, as in cat fifo"), "{said}");
}
