//! Code shared by tests. A development dependency only: no installed program contains it.
//!
//! A test that cannot run here reports that with [`skip!`] and returns. A skip is a third result: `cargo xtask test`
//! counts it, prints its reason, and fails if `CI=true` promises that everything can run.

pub mod browser;
pub mod busy;
pub mod compute_only;
pub mod control_group;
pub mod fuse;
pub mod fuzz;
pub mod guest;
pub mod large_documents;
pub mod loop_disk;
pub mod lying_folder;
pub mod memory_disk;
pub mod one_processor;
pub mod syscall_filter;
pub mod terminal;
pub mod token_bucket;
pub mod turns;
pub mod write_cache;

use std::cell::RefCell;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use tempfile::TempDir;

/// The environment variable with the file to which skips are appended, one line each: the test, a tab, the reason.
pub const SKIPS: &str = "DISKPERF_SKIPS";

/// The environment variable with the program under test, if it is not the one just built.
pub const PROGRAM: &str = "DISKPERF_BIN";

/// The environment variable with the folder of the program that `cargo xtask dist` built, or that `cargo xtask test`
/// stripped of its symbols.
pub const DIST: &str = "DISKPERF_DIST";

/// The folder in `target` with the program that `cargo xtask test` stripped.
pub const STRIPPED: &str = "stripped";

/// The reason to skip a test of the program in that folder.
pub const NOTHING_MADE: &str = "DISKPERF_DIST does not name a folder with the program: cargo xtask sets it";

/// Folders of administration tools, which are not on the search path of every user.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Records that the test is skipped, with the reason: `skip!("needs root")`. The test then returns.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        fn here() {}
        $crate::skip($crate::function_around(&here), &format!($($reason)+))
    }};
}

/// Prints a skip and appends it to the file of skips; see [`skip!`]. Panics if that file cannot be written: an
/// uncounted skip would hide a gap.
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

/// True if this process runs as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the path of a tool on the search path, or in a folder of administration tools.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from)).collect();
    tool_in(name, &folders)
}

/// True if the tool is installed.
pub fn has_tool(name: &str) -> bool {
    tool(name).is_some()
}

fn tool_in(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &Path| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    folders.iter().map(|folder| folder.join(name)).find(|path| runs(path))
}

/// Returns the program under test: the value of `DISKPERF_BIN`, else the one just built, whose path only the test
/// itself knows: `program(env!("CARGO_BIN_EXE_diskperf"))`.
pub fn program(built: &str) -> PathBuf {
    env::var_os(PROGRAM).map_or_else(|| PathBuf::from(built), PathBuf::from)
}

/// Returns the program of this version in the folder that the environment names; `None` if it names none.
pub fn dist_program() -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os(DIST)?);
    let begin = format!("diskperf-{}-", env!("CARGO_PKG_VERSION"));
    let name = names_in(&folder).into_iter().find(|name| name.starts_with(&begin));
    Some(folder.join(name.unwrap_or_else(|| panic!("no {begin} in {}", folder.display()))))
}

/// The folder in `target` with the bridge for each MPI library.
const BRIDGE: &str = "bridge";

/// The variable that names another such folder.
const BRIDGE_VARIABLE: &str = "DISKPERF_BRIDGE";

/// Returns `diskperf-mpi` for this MPI library; `None` if `cargo xtask test` has not built it.
pub fn bridge(library: &str) -> Option<PathBuf> {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(BRIDGE);
    let folder = env::var_os(BRIDGE_VARIABLE).map_or_else(built, PathBuf::from);
    Some(folder.join(library).join("diskperf-mpi")).filter(|program| program.is_file())
}

/// The exit status and the output of a program.
#[derive(Debug)]
pub struct ProgramOutput {
    /// The exit status; `None` if a signal ended the program.
    pub status: Option<i32>,
    /// The text on standard output.
    pub out: String,
    /// The text on standard error.
    pub err: String,
}

/// The environment variable with the path of the results database.
pub const STORE: &str = "DISKPERF_STORE";

/// Makes ignored signals effective in child processes. Shells ignore signals in background programs, and children
/// inherit that. A signal with a handler in this process gets its default action in children.
fn hear_signals() {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("which are ignored");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a bit for each");
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 1) {
        signal_hook::flag::register(signal, Arc::default()).expect("it can be heard");
    }
}

/// Returns a command for a program that does not store its runs, and does not ignore signals.
pub fn command(program: &Path) -> Command {
    compute_only::check_nothing_unseen();
    prepared(program)
}

fn prepared(program: &Path) -> Command {
    static HEARING: Once = Once::new();
    HEARING.call_once(hear_signals);
    let mut command = Command::new(program);
    command.env(STORE, "none");
    command
}

/// Waits until a condition holds that other processes cause. The kernel removes a dead process's mounts a moment after
/// its end. A child that another test has just started has our files open until it executes its own program. Panics
/// after two minutes.
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    assert!(becomes_true(holds), "not within 120 s: {what}");
}

/// Waits like [`wait_until`], and returns whether the condition holds.
pub fn becomes_true(holds: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() >= Duration::from_secs(120) {
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
    true
}

/// True if diskperf has registered all its signal handlers, of which SIGCONT is the last (`Stop::on_signals`). An
/// earlier signal ends the process or is lost: the first handler for Ctrl-C only decides whether it is the second one.
pub fn has_signal_handlers(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    caught.is_some_and(|bits| bits >> (SIGCONT - 1) & 1 == 1)
}

/// Returns the mounts that a process sees (`self`, `thread-self` or a number); `None` if it has ended. Invalid UTF-8 is
/// replaced, because other tests mount folders with such names.
pub fn mounts(process: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{process}/mountinfo")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Copies a program that is to be executed. Another process writes the copy: a file that this test has open for writing
/// is also open in every child that another test starts at that moment. The kernel does not execute a file that is open
/// for writing (ETXTBSY).
pub fn copy_of_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("--").args([from, to]).stdin(Stdio::null()).status();
    assert!(copied.expect("cp can be started").success(), "{} is not copied to {}", from.display(), to.display());
}

/// Runs a program to its end in a folder, with empty standard input.
pub fn run(program: &Path, folder: &Path, arguments: &[&str]) -> ProgramOutput {
    compute_only::check(&program.to_string_lossy(), arguments);
    let output = prepared(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program can be started");
    ProgramOutput {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a tool to its end. Panics if it fails.
pub fn run_tool(name: &str, arguments: &[&str]) -> ProgramOutput {
    let path = tool(name).unwrap_or_else(|| panic!("{name} is not installed"));
    let ended = run(&path, Path::new("/"), arguments);
    assert_eq!(ended.status, Some(0), "{name} {arguments:?}: {}", ended.err);
    ended
}

/// Runs a tool again until it succeeds. A child that another test has just started has copies of our descriptors until
/// it executes its program, so a device or file system is busy for a moment. Panics if the tool still fails after
/// 120 s.
pub fn run_tool_when_free(name: &str, arguments: &[&str]) {
    let path = tool(name).unwrap_or_else(|| panic!("{name} is not installed"));
    let error = RefCell::new(String::new());
    let succeeds = || {
        let ended = run(&path, Path::new("/"), arguments);
        *error.borrow_mut() = ended.err;
        ended.status == Some(0)
    };
    assert!(becomes_true(succeeds), "{name} {arguments:?}: {}", error.borrow());
}

/// A running program, killed when this is dropped.
#[derive(Debug)]
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // An error means that the program has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program to its end, and reads the JSON that it prints, behind other lines. Panics if it fails.
pub fn json_of(command: &mut Command) -> serde_json::Value {
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let begin = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or(0);
    serde_json::from_slice(&output.stdout[begin..]).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// True if a folder is in a tmpfs, according to statfs(2).
pub fn is_in_memory(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|system| system.f_type as u64 == 0x0102_1994)
}

/// True if a cell was not measured because a file system in memory cannot bypass the page cache.
pub fn is_of_memory_only(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| reason.contains("file system in memory"))
}

/// Creates a scratch folder in /dev/shm if that is a tmpfs. Syncs there do not wait for writes of other programs.
pub fn folder_in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if is_in_memory(memory) { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a scratch folder")
}

/// Returns the names of all entries of a folder, sorted.
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
    fn only_executable_files_are_tools() {
        let folders = ["/etc", "/bin"].map(PathBuf::from);
        assert_eq!(tool_in("sh", &folders), Some(PathBuf::from("/bin/sh")));
        assert_eq!(tool_in("passwd", &folders[..1]), None);
        assert_eq!(tool_in("no-such-tool", &folders), None);
    }
}
