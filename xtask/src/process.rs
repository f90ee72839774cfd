//! Runs other programs. Errors are sentences for the user, because no task can handle them.

use std::env;
use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, WaitId, WaitIdOptions};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// A command for the cargo that started this program, in the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end. It inherits our output streams.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| cannot_run(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", shown(command))) }
}

/// Runs a command to its end. Returns whether it succeeded, and its standard output.
pub fn answer(command: &mut Command) -> Result<(bool, String), String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_run(command, &error))?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Runs a command to its end and returns its standard output, or an error if it failed.
pub fn output(command: &mut Command) -> Result<String, String> {
    match answer(command)? {
        (true, text) => Ok(text),
        (false, _) => Err(format!("{} failed", shown(command))),
    }
}

/// The time limit of a test file in seconds: ten times the longest.
pub const LONGEST: u32 = 1200;

/// A command that `timeout` ends after this time, in case it hangs.
pub fn bounded(program: &Path, seconds: u32) -> Command {
    let mut command = Command::new("timeout");
    // In the foreground, so that Ctrl-C reaches it too.
    command.args(["--foreground", "--kill-after=10", &seconds.to_string()]).arg(program);
    command
}

/// Returns whether a bounded command exceeded its time: the exit statuses of timeout(1) if it ended the command, and if
/// it had to kill it.
pub fn is_timeout(status: ExitStatus) -> bool {
    matches!(status.code(), Some(124 | 137))
}

/// The result of a command.
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its output on both streams.
    pub output: String,
    /// CPU time of the command and its children, in seconds; `None` if the kernel does not report it.
    pub cpu_s: Option<f64>,
}

/// Runs a command to its end. It writes to a file, so that we do not wait for a child that outlives it.
pub fn all_of(command: &mut Command) -> Result<Ended, String> {
    let failed = |error| format!("no file for what it prints: {error}");
    let mut file = tempfile::tempfile().map_err(failed)?;
    let [out, err] = [file.try_clone().map_err(failed)?, file.try_clone().map_err(failed)?];
    let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
    let mut child = child.map_err(|error| cannot_run(command, &error))?;
    let cpu_s = cpu_at_the_end(&child);
    let status = child.wait().map_err(|error| cannot_run(command, &error))?;
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut text)).map_err(failed)?;
    Ok(Ended { status, output: String::from_utf8_lossy(&text).into_owned(), cpu_s })
}

/// Waits for the end of a child without reaping it, because /proc shows its CPU time until then. Returns seconds.
fn cpu_at_the_end(child: &Child) -> Option<f64> {
    let process = Pid::from_child(child);
    loop {
        match rustix::process::waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
            Ok(_) => break,
        }
    }
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    Some(ticks(&stat)? as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Ticks of a process and of its reaped children: fields 14 to 17 of /proc/PID/stat (proc_pid_stat(5)), after the name
/// in parentheses.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<u64>().ok());
    ticks.collect::<Option<Vec<u64>>>().map(|ticks| ticks.iter().sum())
}

fn cannot_run(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run {}: {error}", shown(command))
}

/// The command as the user would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_includes_reaped_children() {
        assert_eq!(ticks("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 9 9"), Some(127));
        assert_eq!(ticks("7 (a"), None);
        // Computes until the inner shell has used a tick of CPU time, on a processor of any speed.
        let computes = "i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done";
        let inner = format!("until [ $(cut -d ' ' -f 14 /proc/$$/stat) -gt 0 ]; do {computes}; done");
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c \"$0\"; echo ended", &inner]);
        let ended = all_of(&mut command).expect("it runs");
        assert_eq!((ended.status.success(), ended.output.as_str()), (true, "ended\n"));
        assert!(ended.cpu_s.is_some_and(|seconds| seconds > 0.0), "{:?}", ended.cpu_s);
    }
}
