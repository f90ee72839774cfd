//! `-- COMMAND` and `--prepare`: a command of the user instead of a preset.

use std::ffi::OsString;

use campaign::request::OwnWords;
use campaign::request::command::OwnCommand;
use clap::Args;
use kernel::sys::name::Shown;
use units::Nanos;

use super::values::parse_time;
use crate::error::Error;
use crate::ui::output;

/// Options for a command of your own.
#[derive(Clone, Debug, Default, Args)]
pub struct CommandArguments {
    /// Run this before each execution of the COMMAND, in the same folder, as in 'cp -r /usr/include include'. It is not
    /// measured. diskperf syncs its files before the measurement, and ends processes that it leaves running. Quote it
    /// as one word; diskperf splits it like a shell.
    #[arg(long, value_name = "COMMAND", requires = "command")]
    prepare: Option<OsString>,
    /// End the COMMAND, or that of --prepare, after this time, as in 30s; it counts as failed [default: no limit].
    #[arg(long, value_name = "TIME", requires = "command", allow_hyphen_values = true, value_parser = parse_timeout)]
    timeout: Option<Nanos>,
    /// Measure this command instead of a preset.
    ///
    /// It starts in a private folder of the target, which is empty except for files of --prepare. {} in any of its
    /// words is the path of that folder; write {{}} for {} itself. diskperf does not start a shell; sh -c 'LINE' is a
    /// command too.
    ///
    /// diskperf measures the time until the command returned and until all data are durable, the CPU time of all its
    /// processes, and the work of the device. syncfs(2) makes data durable: it syncs the whole file system, with dirty
    /// data of other programs.
    ///
    /// A command that fails has no figure. diskperf ends processes that the command leaves running. If diskperf itself
    /// is killed (kill -9), background processes go on.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl CommandArguments {
    /// True if another command prepares the folder.
    pub fn has_preparation(&self) -> bool {
        self.prepare.is_some()
    }

    /// The words of the command, and the programs found for it. `None` without a command. Warns that `--cold` has no
    /// effect without `--prepare`: the folder is then empty.
    pub fn find(&self, is_cold: bool) -> Result<Option<(OwnWords, OwnCommand)>, Error> {
        if self.command.is_empty() {
            return Ok(None);
        }
        let words = self.command.iter().map(|word| word.shown().into_owned()).collect();
        let prepare = self.prepare.as_ref().map(|line| line.shown().into_owned());
        let mut own = OwnWords { words, prepare, timeout: self.timeout, found: Vec::new() };
        let found = OwnCommand::find(&own)?;
        own.found = found.programs();
        own.lines()?.iter().for_each(|words| say_of_braces(words));
        if is_cold && self.prepare.is_none() {
            output::remark("--cold has no effect in an empty folder; --prepare COMMAND creates files to read");
        }
        Ok(Some((own, found)))
    }
}

/// Reads the value of --timeout.
fn parse_timeout(text: &str) -> Result<Nanos, String> {
    if text == "0" {
        return Err("0 is not a timeout; leave out --timeout for no limit".to_owned());
    }
    parse_time(text).map_err(|error| error.to_string())
}

/// Warns that diskperf replaces {} by the folder, if find or xargs may have been meant to replace it.
fn say_of_braces(words: &[OsString]) {
    if let Some(word) = braces_of_another(words) {
        output::remark(&format!("{{}} after {word} is replaced by the folder too; write {{{{}}}} for {{}} itself"));
    }
}

/// The option of find or xargs that uses {}, if {} is there unescaped.
fn braces_of_another(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let word = words.find(|word| ["-exec", "-execdir", "-ok", "-okdir", "-I", "-I{}", "-i"].contains(word))?;
    (word == "-I{}" || words.any(|word| word.replace("{{}}", "").contains("{}"))).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_meant_for_another_command_are_noticed() {
        for (line, word) in [
            ("find . -exec cat {} ;", Some("-exec")),
            ("xargs -I{} cat {}", Some("-I{}")),
            ("xargs -I {} cat {}", Some("-I")),
            ("find . -exec cat {{}} ;", None),
            ("find {} -type f", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(braces_of_another(&words), word, "{line}");
        }
    }
}
