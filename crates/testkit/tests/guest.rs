//! Guests that boot, fail and end. The unit tests of `testkit::guest` cover the parts that need no QEMU.

use std::path::Path;
use std::time::Duration;

use testkit::guest::{Guest, Plan};
use testkit::need_guest;

/// Maximum silence in these tests: three times the interval between signs of life.
const SHORT: Duration = Duration::from_secs(12);

fn is_running(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Runs a command, checks its outputs and its status, and then lets the kernel panic. No process of QEMU is left.
#[test]
fn guests_run_commands_and_their_ends_leave_no_process() {
    let kernel = need_guest!("6.1");
    let plan = Plan { script: "greet() { echo \"hello $1\"; }\n".to_owned(), ..Plan::default() };
    let mut guest = Guest::boot(&kernel, &plan).expect("a guest");
    let ended = guest.run("greet guest; uname -r >&2; exit 7").expect("a guest that lives");
    assert_eq!((ended.status, ended.out.as_str()), (Some(7), "hello guest\n"));
    assert!(ended.err.starts_with("6.1."), "{}", ended.err);
    guest.run("echo kept > /dev/ttyS2").expect("a guest that lives");
    let pid = guest.pid();
    assert!(is_running(pid));
    // A kernel that panics ends its QEMU, and the error has the log.
    let error = guest.run("echo c > /proc/sysrq-trigger").expect_err("a guest that has ended");
    assert!(error.contains("the guest has ended") && error.contains("Kernel panic"), "{error}");
    assert!(!is_running(pid), "QEMU is left");
    assert_eq!(guest.cut().trim_end(), "kept");
}

/// Orphaned processes end while the next commands are sent to the guest. The commands arrive complete.
#[test]
fn commands_arrive_whole_while_orphans_end() {
    let kernel = need_guest!("6.1");
    let mut guest = Guest::boot(&kernel, &Plan::default()).expect("a guest");
    let words = "word ".repeat(40);
    let orphans = "(while [ ! -e /run/enough ]; do (sleep 0.01 &); done) & true";
    assert_eq!(guest.run(orphans).expect("a guest that lives").status, Some(0));
    for number in 0..20 {
        let ended = guest.run(&format!("echo {number} {words}")).expect("a guest that lives");
        assert_eq!((ended.out, ended.err), (format!("{number} {}\n", words.trim_end()), String::new()));
    }
    guest.run("touch /run/enough").expect("a guest that lives");
}

#[test]
fn guests_without_memory_end_with_their_log() {
    let kernel = need_guest!("6.1");
    let mut guest = Guest::boot(&kernel, &Plan { memory_mib: 192, ..Plan::default() }).expect("a guest");
    let error = guest.run("tail /dev/zero").expect_err("a guest that has ended");
    assert!(error.contains("Out of memory") || error.contains("out of memory"), "{error}");
    // With less memory than its first file system needs, a guest does not even boot.
    let error = Guest::boot(&kernel, &Plan { memory_mib: 32, ..Plan::default() }).expect_err("no guest");
    assert!(error.contains("it did not boot"), "{error}");
}

#[test]
fn hanging_guests_end_after_their_silence() {
    let kernel = need_guest!("6.1");
    let mut guest = Guest::boot(&kernel, &Plan::default()).expect("a guest");
    let pid = guest.pid();
    guest.endure(SHORT);
    // A command that only takes long does not count as silence: the guest still sends signs of life.
    assert_eq!(
        guest.run(&format!("sleep {}", SHORT.as_secs() + 4)).map(|ended| ended.status).expect("a guest that lives"),
        Some(0)
    );
    // SIGSTOP also stops the process that sends the signs of life.
    let error = guest.run("kill -STOP -1; kill -STOP $$").expect_err("a guest that hangs");
    assert!(error.contains(&format!("it was silent for {SHORT:?}")), "{error}");
    assert!(!is_running(pid), "QEMU is left");
    let error = Guest::boot_with(&kernel, &Plan::default(), Duration::from_millis(1)).expect_err("no guest");
    assert!(error.contains("it did not boot, and it was silent"), "{error}");
}
