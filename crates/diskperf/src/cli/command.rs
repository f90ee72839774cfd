//! `-- COMMAND` and `--prepare`: a command of the user instead of a preset.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use kernel::Command;
use kernel::name::Shown;
use report::plain;
use units::Nanos;
use workload::programs::command;

use super::values::parse_time;
use crate::error::{CommandFault, Error};
use crate::ui::shell;

/// The options of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct CommandArguments {
    /// Run this before each execution of the COMMAND, in the same folder, as in 'cp -r /usr/include include'. It is not
    /// measured. diskperf syncs its files before the measurement, and ends processes that it leaves running. Quote it as one
    /// word; diskperf splits it like a shell.
    #[arg(long, value_name = "COMMAND", requires = "command")]
    prepare: Option<OsString>,
    /// End the COMMAND, or that of --prepare, after this time, as in 30s; it counts as failed [default: no limit].
    #[arg(long, value_name = "TIME", requires = "command", allow_hyphen_values = true, value_parser = parse_timeout)]
    timeout: Option<Nanos>,
    /// Measure this command instead of a preset.
    ///
    /// It starts in a private folder of the target, which is empty except for files of --prepare. {} in any of its words is
    /// the path of that folder; write {{}} for {} itself. diskperf does not start a shell; sh -c 'LINE' is a command too.
    ///
    /// diskperf measures the time until the command returned and until all data are durable, the CPU time of all its
    /// processes, and the work of the device. syncfs(2) makes data durable: it syncs the whole file system, with dirty data
    /// of other programs.
    ///
    /// A command that fails has no figure. diskperf ends processes that the command leaves running. If diskperf itself is
    /// killed (kill -9), background processes go on.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A command that was found, with its preparation.
#[derive(Clone, Debug)]
pub struct OwnCommand {
    /// In words.
    pub program: command::Command,
    /// As they are run, in the order in which a program numbers them.
    pub all: Arc<[Command]>,
}

impl OwnCommand {
    /// Warns that --cold has no effect if there is no --prepare: the folder is then empty.
    pub fn say_of_cold(&self, is_cold: bool) {
        if is_cold && self.program.preparation.is_none() {
            remark!("--cold has no effect in an empty folder; --prepare COMMAND creates files to read");
        }
    }
}

impl CommandArguments {
    /// Finds the command, if there is one. The words of each command line that is read are never freed.
    pub fn find(&self) -> Result<Option<OwnCommand>, Error> {
        let Some(first) = self.command.first() else { return Ok(None) };
        let found = |words: &[OsString]| Command::find(words).map_err(CommandFault::from);
        let find = |words: &[OsString]| found(words).map(|command| command.within(self.timeout));
        let mut all = vec![find(&self.command)?];
        say_of_braces(&self.command);
        if let Some(line) = &self.prepare {
            let mut split = shlex::bytes::Shlex::new(line.as_bytes());
            let words: Vec<OsString> = split.by_ref().map(OsString::from_vec).collect();
            if split.had_error || words.is_empty() {
                return Err(CommandFault::NoLine(line.shown().into_owned()).into());
            }
            all.push(find(&words)?);
            say_of_braces(&words);
        }
        let program = command::Command {
            name: name_of(first).leak(),
            line: shell::line(&self.command).leak(),
            preparation: self.prepare.as_ref().map(|line| &*plain::line(&line.shown()).into_owned().leak()),
        };
        Ok(Some(OwnCommand { program, all: all.into() }))
    }
}

/// Reads the value of --timeout.
fn parse_timeout(text: &str) -> Result<Nanos, String> {
    if text.starts_with('-') {
        return Err("a time cannot be negative".to_owned());
    }
    if text == "0" {
        return Err("0 is not a timeout; leave out --timeout for no limit".to_owned());
    }
    parse_time(text).map_err(|error| error.to_string())
}

/// Warns that {} is the folder, if it may have been meant for find or xargs.
fn say_of_braces(words: &[OsString]) {
    if let Some(word) = braces_of_another(words) {
        remark!("{{}} after {word} is replaced by the folder too; write {{{{}}}} for {{}} itself");
    }
}

/// The option of find or xargs that uses {}, if {} is there unescaped.
fn braces_of_another(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let word = words.find(|word| ["-exec", "-execdir", "-ok", "-okdir", "-I", "-I{}", "-i"].contains(word))?;
    (word == "-I{}" || words.any(|word| word.replace("{{}}", "").contains("{}"))).then_some(word)
}

/// Longer names make a table wide.
const LONGEST_NAME: usize = 32;

/// The name of a command's results: the name of its file, with only letters, digits, `-`, `_` and `+`.
fn name_of(word: &OsStr) -> String {
    let name = Path::new(word).file_name().unwrap_or(word).to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
    let plain = name.chars().take(LONGEST_NAME).map(|letter| if is_plain(letter) { letter } else { '_' });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_after_its_file() {
        for (word, name) in [
            ("cp", "cp"),
            ("/usr/bin/g++-12", "g++-12"),
            ("{}/bench", "bench"),
            ("./a b.sh", "a_b_sh"),
            ("<b>\n", "_b__"),
            ("..", "__"),
        ] {
            assert_eq!(name_of(OsStr::new(word)), name);
        }
        assert_eq!(name_of(OsStr::new(&"x".repeat(100))).len(), LONGEST_NAME);
    }

    #[test]
    fn braces_for_another_command_are_noticed() {
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

    #[test]
    fn words_are_kept_as_they_can_be_typed() {
        let arguments = CommandArguments {
            prepare: Some("cp 'a b' {}".into()),
            command: ["ls", "a b", "{}"].map(OsString::from).to_vec(),
            timeout: None,
        };
        let found = arguments.find().expect("both are there").expect("a command");
        let told = (found.program.name, found.program.line, found.program.preparation, found.all.len());
        assert_eq!(told, ("ls", "ls 'a b' '{}'", Some("cp 'a b' {}"), 2));
        let unclosed = CommandArguments { prepare: Some("cp 'a".into()), ..arguments };
        assert!(matches!(unclosed.find(), Err(Error::Command(_))));
    }
}
