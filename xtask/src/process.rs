//! Running other programs. What goes wrong is a sentence for a person: no task can do anything about it.

use std::env;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// The cargo that started this program, standing in the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs it to its end, its output going where ours goes.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| cannot_run(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", shown(command))) }
}

/// Runs it to its end and gives back what it wrote to standard output, whatever its status says.
pub fn answer(command: &mut Command) -> Result<(bool, String), String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_run(command, &error))?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Runs it to its end and gives back what it wrote to standard output; its failure is ours.
pub fn output(command: &mut Command) -> Result<String, String> {
    match answer(command)? {
        (true, text) => Ok(text),
        (false, _) => Err(format!("{} failed", shown(command))),
    }
}

/// How long a test file may take, in seconds: ten times the longest.
pub const LONGEST: u32 = 1200;

/// A command that `timeout` ends after these seconds, as it hangs.
pub fn bounded(program: &Path, seconds: u32) -> Command {
    let mut command = Command::new("timeout");
    // In the foreground: Ctrl-C reaches it, too.
    command.args(["--foreground", "--kill-after=10", &seconds.to_string()]).arg(program);
    command
}

/// Whether a bounded command took too long: the exit statuses of timeout(1) if it ended the command, and if it had to kill
/// it.
pub fn is_timeout(status: ExitStatus) -> bool {
    matches!(status.code(), Some(124 | 137))
}

/// Runs it to its end and gives back how it ended and all it wrote. It writes to a file: a child of its own that it has
/// left behind is not waited for.
pub fn all_of(command: &mut Command) -> Result<(ExitStatus, String), String> {
    let failed = |error| format!("no file for what it prints: {error}");
    let mut file = tempfile::tempfile().map_err(failed)?;
    let [out, err] = [file.try_clone().map_err(failed)?, file.try_clone().map_err(failed)?];
    let status = command.stdin(Stdio::null()).stdout(out).stderr(err).status();
    let status = status.map_err(|error| cannot_run(command, &error))?;
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut text)).map_err(failed)?;
    Ok((status, String::from_utf8_lossy(&text).into_owned()))
}

fn cannot_run(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run {}: {error}", shown(command))
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
