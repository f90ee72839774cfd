//! System calls that an older kernel lacks or a sandbox forbids: the program works without them, or refuses and says
//! how to get them. A filter answers each call, so the kernel does not matter. Also the calls that keep a queue full.

use std::collections::BTreeSet;

use rustix::io::Errno;
use serde_json::Value;
use testkit::ProgramOutput;
use testkit::syscall_filter::{
    AFTER_4_4, CACHESTAT, Calls, FDATASYNC, FSOPEN, INVALID, IO_URING, LOOP_CONFIGURE, MOUNT, NO_SUCH_CALL,
    NOT_PERMITTED, PAGE_CACHE, PWRITE, UNSHARE, run_answered,
};

use crate::common::{Cli, program};

fn json(ended: &ProgramOutput) -> Value {
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    serde_json::from_str(&ended.out).expect("JSON")
}

/// A short run with reads, writes, commits and small files.
const RUN: [&str; 7] = ["run", "smoke", "--only=read_8192", "--only=commit", "--only=smallfb", "--rounds=1", "--json"];

/// The name of each cell, whether it was measured, and its cache state.
fn cells(document: &Value) -> BTreeSet<String> {
    let cells = document["cells"].as_array().expect("cells").iter();
    let told = cells.map(|cell| {
        let name = ["program", "phase", "parameters"].map(|key| cell[key].to_string()).join(" ");
        format!("{name} {} {}", cell["measured"], cell["state"]["cache"])
    });
    told.collect()
}

/// The state and the hint of a check of `doctor`, under a filter.
fn doctor(calls: Calls, errno: i32, cli: &Cli, name: &str) -> (String, String) {
    let checkup = json(&run_answered(calls, errno, &program(), cli.path(), &["doctor", "--json"]));
    let found = checkup["checks"].as_array().expect("checks").iter().find(|check| check["check"] == name).cloned();
    let check = found.unwrap_or_else(|| panic!("no check {name}"));
    (check["state"].as_str().expect("a state").to_owned(), check["how"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_directory_is_measured_without_optional_system_calls() {
    let cli = Cli::new();
    let whole = cells(&json(&cli.run(&RUN)));
    assert!(whole.len() >= 5, "{whole:?}");
    for (name, calls) in [
        ("cachestat", CACHESTAT),
        ("io_uring_setup", IO_URING),
        ("unshare", UNSHARE),
        ("mount", MOUNT),
        ("fsopen", FSOPEN),
    ] {
        for errno in [NO_SUCH_CALL, NOT_PERMITTED] {
            let document = json(&run_answered(calls, errno, &program(), cli.path(), &RUN));
            assert_eq!(cells(&document), whole, "{name}, {errno}");
            assert_eq!(cli.names(), [""; 0], "{name}");
        }
    }
}

#[test]
fn all_system_calls_newer_than_linux_4_4_may_be_missing() {
    let (cli, data) = (Cli::new(), Cli::new());
    let whole = cells(&json(&cli.run(&RUN)));
    let store = data.path().join("store.sqlite");
    let store = store.to_str().expect("a path in UTF-8");
    let old = |arguments: &[&str]| {
        run_answered(AFTER_4_4, NO_SUCH_CALL, &program(), cli.path(), &[arguments, &["--store", store]].concat())
    };
    let ran = old(&RUN);
    assert_eq!(cells(&json(&ran)), whole);
    assert_eq!(old(&["show", "last", "--json"]).out, ran.out);
    let (state, how) = doctor(AFTER_4_4, NO_SUCH_CALL, &cli, "private mounts");
    assert_eq!((state.as_str(), how.is_empty()), ("no", false));
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn unseen_cache_states_are_not_claimed() {
    let cli = Cli::new();
    let eyes = |calls| doctor(calls, NO_SUCH_CALL, &cli, "page cache seen");
    let (all, _) = eyes(IO_URING);
    let (without_cachestat, how) = eyes(CACHESTAT);
    if all == "yes" {
        assert_eq!(without_cachestat, "partly");
        assert!(how.contains("Linux 6.5"), "{how}");
    } else {
        // In an overlay or in memory, cachestat did not help before either.
        assert_eq!(without_cachestat, all);
    }
    for errno in [NO_SUCH_CALL, NOT_PERMITTED] {
        let (blind, how) = doctor(PAGE_CACHE, errno, &cli, "page cache seen");
        let document = json(&run_answered(PAGE_CACHE, errno, &program(), cli.path(), &RUN));
        let reads: Vec<&Value> =
            document["cells"].as_array().expect("cells").iter().filter(|cell| cell["program"] == "read_8192").collect();
        assert!(!reads.is_empty());
        if blind == "no" {
            assert!(how.contains("allow cachestat and mincore"), "{how}");
            assert!(reads.iter().all(|cell| cell["state"]["cache"] == "unknown"), "{reads:?}");
        } else {
            assert_eq!(blind, all, "in memory nothing need be seen");
        }
    }
}

#[test]
fn an_impossible_image_is_refused_with_a_hint() {
    let cli = Cli::new();
    for (name, calls, errno, way) in [
        ("unshare", UNSHARE, NO_SUCH_CALL, "Linux 5.8"),
        ("unshare", UNSHARE, NOT_PERMITTED, "--privileged"),
        ("mount", MOUNT, NO_SUCH_CALL, "Linux 5.8"),
        ("mount", MOUNT, NOT_PERMITTED, "--privileged"),
        ("fsopen", FSOPEN, NO_SUCH_CALL, "Linux 5.8"),
        ("fsopen", FSOPEN, NOT_PERMITTED, "--privileged"),
        ("LOOP_CONFIGURE", LOOP_CONFIGURE, INVALID, "Linux 5.8"),
        ("LOOP_CONFIGURE", LOOP_CONFIGURE, NOT_PERMITTED, "--privileged"),
    ] {
        let ended = run_answered(calls, errno, &program(), cli.path(), &["run", "smoke", "image:ext4", "--rounds=1"]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(3), ""), "{name}: {}", ended.err);
        let hint = ended.err.lines().find(|line| line.starts_with("hint: ")).unwrap_or_default();
        // Without rights or without the tool, another reason comes first.
        let way = match (testkit::is_root(), testkit::has_tool("mkfs.ext4")) {
            (true, true) => way,
            (true, false) => "apt-get install",
            (false, _) => "sudo",
        };
        assert!(ended.err.contains("error: ") && hint.contains(way), "{name}, {errno}: {}", ended.err);
        assert_eq!(cli.names(), [""; 0], "{name}");
    }
}

/// An error names its error number, the call, the program, its phase and the target; "invalid argument" is not mistaken
/// for a wrong alignment.
#[test]
fn kernel_errors_name_errno_call_program_phase_and_target() {
    let cli = Cli::new();
    for (calls, program_name, phase, call) in [
        (PWRITE, "largefb", "write random", "write 4096 bytes at "),
        (FDATASYNC, "commit", "commit", "fdatasync #0"),
        (Calls::Creating, "write_8192", "write", "create "),
    ] {
        for (errno, name) in [
            (Errno::NOSPC.raw_os_error(), "ENOSPC"),
            (Errno::DQUOT.raw_os_error(), "EDQUOT"),
            (Errno::IO.raw_os_error(), "EIO"),
            (Errno::ROFS.raw_os_error(), "EROFS"),
            (Errno::STALE.raw_os_error(), "ESTALE"),
            (Errno::UCLEAN.raw_os_error(), "EUCLEAN"),
            (Errno::NOLINK.raw_os_error(), "ENOLINK"),
            (Errno::TIMEDOUT.raw_os_error(), "ETIMEDOUT"),
            (Errno::REMOTEIO.raw_os_error(), "EREMOTEIO"),
            (Errno::INVAL.raw_os_error(), "EINVAL"),
            (Errno::PERM.raw_os_error(), "EPERM"),
            (Errno::ACCESS.raw_os_error(), "EACCES"),
            (Errno::BADMSG.raw_os_error(), "EBADMSG"),
            (Errno::KEYREJECTED.raw_os_error(), "EKEYREJECTED"),
            (524, "ENOTSUPP"),
        ] {
            let arguments = ["run", "smoke", "here=.", "--only", program_name, "--rounds=1", "--json"];
            let ended = run_answered(calls, errno, &program(), cli.path(), &arguments);
            assert_eq!(ended.status, Some(1), "{call}, {name}: {}", ended.err);
            let document: Value = serde_json::from_str(&ended.out).expect("JSON");
            let problem = &document["errors"][0];
            assert_eq!(
                (&problem["target"], &problem["program"]),
                (&"here".into(), &program_name.into()),
                "{problem:#}"
            );
            let message = problem["message"].as_str().expect("a message");
            assert!(message.starts_with(call) && message.ends_with(&format!("({name})")), "{name}: {message}");
            assert!(!message.contains("aligned"), "{message}");
            let said = format!("error: {program_name}, {phase} on here: {message}");
            assert!(ended.err.contains(&said), "{said}: {}", ended.err);
            assert_eq!(cli.names(), [""; 0]);
        }
    }
}

/// Reads of a file in the page cache all complete when they are submitted. If diskperf handled all of them before it
/// submits again, each submission would wait for a completion, and a device that returns a whole queue at once would be
/// idle meanwhile.
#[test]
fn the_queue_is_refilled_before_all_completions_are_handled() {
    if let Some(why) = kernel::no_ring() {
        return testkit::skip!("{why}");
    }
    let Some(strace) = testkit::tool("strace") else { return testkit::skip!("strace is not installed") };
    let cli = Cli::new();
    let traced = testkit::run(&strace, cli.path(), &["true"]);
    if traced.status != Some(0) {
        return testkit::skip!("strace may not trace here: {}", traced.err.trim());
    }
    // It was just written, so it is in the page cache.
    std::fs::write(cli.path().join("data"), vec![7; 1 << 20]).expect("a file");
    let program = program();
    let load = "io randread file:data --bs 4KiB --iodepth 32 --time 100ms --rounds 1";
    let words = ["-f", "-qq", "-o", "calls", "-e", "trace=io_uring_enter", program.to_str().expect("a plain path")];
    let words: Vec<&str> = words.into_iter().chain(load.split(' ')).collect();
    let ended = testkit::run(&strace, cli.path(), &words);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let calls = std::fs::read_to_string(cli.path().join("calls")).expect("the calls");
    // io_uring_enter(3, 8, 0, ...: the ring, the number submitted, the number to wait for.
    let of = |line: &str| -> Option<(u32, u32)> {
        let mut words = line.split_once("io_uring_enter(")?.1.split(", ").skip(1);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let calls: Vec<(u32, u32)> = calls.lines().filter_map(of).collect();
    assert!(calls.iter().any(|(_, waits_for)| *waits_for > 0), "{calls:?}");
    assert!(calls.iter().any(|(submitted, waits_for)| *submitted > 0 && *waits_for == 0), "{calls:?}");
}
