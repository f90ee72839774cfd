//! What tests share. A development dependency only: nothing that is installed contains it.
//!
//! A test that cannot run here says so with [`skip!`] and returns. A skip is a third result: `cargo xtask
//! test` counts it, prints its reason, and fails where `CI=true` promises that everything can run.

pub mod browser;
pub mod calls;
pub mod computes;
pub mod disk;
pub mod documents;
pub mod fuse;
pub mod fuzz;
pub mod group;
pub mod power;
pub mod terminal;

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};

/// The environment variable that names the file to which skips are added, one line each: the test, a tab,
/// the reason.
pub const SKIPS: &str = "DISKPERF_SKIPS";

/// The environment variable that names the program under test, where it is not the one just built.
pub const PROGRAM: &str = "DISKPERF_BIN";

/// The environment variable that names the folder with what `cargo xtask dist` made.
pub const DIST: &str = "DISKPERF_DIST";

/// How the name of the program in that folder ends.
pub const PROGRAM_END: &str = "-linux-musl";

/// Why a test of what is in that folder is skipped.
pub const NOTHING_MADE: &str = "nothing was made to be handed out: cargo xtask dist";

/// Folders of tools for the administrator, which are not on the search path of every user.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Records that the test around it is skipped, and why: `skip!("needs root")`. The test then returns.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        fn here() {}
        $crate::skip($crate::function_around(&here), &format!($($reason)+))
    }};
}

/// Prints a skip and adds it to the file of skips; see [`skip!`]. A file that cannot be written fails the
/// test: a skip that nobody counts is a hole.
pub fn skip(test: &str, reason: &str) {
    println!("skipped: {test}: {reason}");
    let Some(path) = env::var_os(SKIPS) else { return };
    let line = format!("{test}\t{}\n", reason.replace(['\n', '\t'], " "));
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    // One write call of one line: tests of several processes append to the same file.
    opened.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file of skips can be written");
}

/// The path of the function that contains `inner`, as the compiler names it: `cli::a_test`.
#[doc(hidden)]
pub fn function_around<F>(_: &F) -> &'static str {
    let name = std::any::type_name::<F>();
    name.strip_suffix("::here").unwrap_or(name)
}

/// Whether this process may do everything.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Where a tool is: on the search path, or in a folder for the administrator.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from)).collect();
    tool_in(name, &folders)
}

/// Whether a tool can be run.
pub fn has_tool(name: &str) -> bool {
    tool(name).is_some()
}

fn tool_in(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &Path| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    folders.iter().map(|folder| folder.join(name)).find(|path| runs(path))
}

/// The program under test: the one that `DISKPERF_BIN` names, else the one just built, whose path only
/// the test itself can name: `program(env!("CARGO_BIN_EXE_diskperf"))`.
pub fn program(built: &str) -> PathBuf {
    env::var_os(PROGRAM).map_or_else(|| PathBuf::from(built), PathBuf::from)
}

/// The file that `cargo xtask dist` made for this version, by the end of its name. `None` if the environment names no
/// folder.
pub fn handed_out(end: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os(DIST)?);
    let version = env!("CARGO_PKG_VERSION");
    let name = names_in(&folder).into_iter().find(|name| name.contains(version) && name.ends_with(end));
    Some(folder.join(name.unwrap_or_else(|| panic!("no {end} of {version} in {}", folder.display()))))
}

/// How a program ended, and all it said.
#[derive(Debug)]
pub struct Ended {
    /// The exit status; none where a signal ended it.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

/// The environment variable that names the store of runs.
pub const STORE: &str = "DISKPERF_STORE";

/// Has programs hear the signals that whoever started the tests had ignored, as shells do for what they run in the
/// background: what is ignored stays so in every child. What this process hears itself is back to the usual in them.
fn hear_signals() {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("which are ignored");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a bit for each");
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 1) {
        signal_hook::flag::register(signal, Arc::default()).expect("it can be heard");
    }
}

/// A program that is to be run, that stores nothing, for the runs of tests are nobody's, and that hears every signal.
pub fn command(program: &Path) -> Command {
    computes::check_nothing_unseen();
    prepared(program)
}

fn prepared(program: &Path) -> Command {
    static HEARING: Once = Once::new();
    HEARING.call_once(hear_signals);
    let mut command = Command::new(program);
    command.env(STORE, "none");
    command
}

/// Waits until something holds that others bring about: the kernel takes a dead process's mounts away a moment after
/// its end, and a child that another test has just started holds what is ours until it runs its own program. Whoever
/// waits for two minutes waits for ever.
pub fn soon(what: &str, holds: impl Fn() -> bool) {
    assert!(holds_soon(holds), "not within 120 s: {what}");
}

/// The same, and returns whether it holds.
pub fn holds_soon(holds: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() >= Duration::from_secs(120) {
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Whether diskperf has registered all its signal handlers, of which SIGCONT is the last (`Stop::on_signals`). An
/// earlier signal ends the process or is lost: the first handler for Ctrl-C only decides whether it is the second one.
pub fn has_signal_handlers(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    caught.is_some_and(|bits| bits >> (SIGCONT - 1) & 1 == 1)
}

/// The mounts that a process sees (`self`, `thread-self` or a number); none once it is gone. Other tests mount folders
/// whose names are not UTF-8.
pub fn mounts(process: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{process}/mountinfo")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Copies a program that is to be run as that copy. Another process writes it: what a test has open for writing is open
/// in every child that another test starts in that moment too, and the kernel runs no file that somebody may write
/// (ETXTBSY).
pub fn copy_of_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("--").args([from, to]).stdin(Stdio::null()).status();
    assert!(copied.expect("cp can be started").success(), "{} is not copied to {}", from.display(), to.display());
}

/// Runs a program to its end, in a folder, with nothing on its standard input.
pub fn run(program: &Path, folder: &Path, arguments: &[&str]) -> Ended {
    computes::check(&program.to_string_lossy(), arguments);
    let output = prepared(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program can be started");
    Ended {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a tool that must do its work.
pub fn use_tool(name: &str, arguments: &[&str]) -> Ended {
    let path = tool(name).unwrap_or_else(|| panic!("{name} is not installed"));
    let ended = run(&path, Path::new("/"), arguments);
    assert_eq!(ended.status, Some(0), "{name} {arguments:?}: {}", ended.err);
    ended
}

/// A program that is running, and ended with this.
#[derive(Debug)]
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is no less gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a folder lies in a file system in memory, tmpfs, as statfs(2) names it.
pub fn is_in_memory(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|system| system.f_type as u64 == 0x0102_1994)
}

/// Whether a cell was not measured for this reason: a file system in memory has nothing to read past the page cache.
pub fn is_of_memory_only(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| reason.contains("file system in memory"))
}

/// The names of all that lies in a folder, sorted.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_names_the_test_around_it() {
        fn here() {}
        assert_eq!(function_around(&here), "testkit::tests::a_skip_names_the_test_around_it");
    }

    #[test]
    fn only_what_can_be_run_is_a_tool() {
        let folders = ["/etc", "/bin"].map(PathBuf::from);
        assert_eq!(tool_in("sh", &folders), Some(PathBuf::from("/bin/sh")));
        assert_eq!(tool_in("passwd", &folders[..1]), None);
        assert_eq!(tool_in("no-such-tool", &folders), None);
    }
}
