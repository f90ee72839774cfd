//! `-- COMMAND` and `--prepare`: a command of a person's own in the place of a preset.

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
use crate::shell;

/// What tells of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct CommandArguments {
    /// Run this before each execution of the COMMAND, in the same folder. It is not measured, and durable before what is
    /// measured begins; what it leaves running is ended. One word, split as a shell splits words, as in
    /// 'cp -r /usr/include include'.
    #[arg(long, value_name = "COMMAND", requires = "command")]
    prepare: Option<OsString>,
    /// End the COMMAND, or what --prepare runs, that takes longer than this; it has failed then.
    #[arg(long, value_name = "TIME", requires = "command", allow_hyphen_values = true, value_parser = parse_timeout)]
    timeout: Option<Nanos>,
    /// Measure this command of your own in the place of a preset.
    ///
    /// It stands in a private folder of the target, empty but for what --prepare made, and {} in any of its words is the
    /// path of that, {{}} is {} itself. No shell is run; sh -c 'LINE' is a command too. Of each run the time, until it
    /// returned and until all is durable, the CPU time of all its processes, and what the device did are measured. Durable
    /// is what syncfs(2) makes so: the whole file system, with what others left unwritten there. A command that fails has
    /// no figure. What it leaves running is ended; where diskperf itself is killed (kill -9), what runs in the background
    /// goes on.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A command that there is, and what makes ready for it.
#[derive(Clone, Debug)]
pub struct OwnCommand {
    /// In words.
    pub program: command::Command,
    /// As they are run, in the order in which a program numbers them.
    pub all: Arc<[Command]>,
}

impl OwnCommand {
    /// Says what is missing where only files of its folder are to leave memory, and nothing makes one.
    pub fn say_of_cold(&self, is_cold: bool) {
        if is_cold && self.program.preparation.is_none() {
            remark!("--cold finds no file in an empty folder: --prepare is missing, which makes those that are read");
        }
    }
}

impl CommandArguments {
    /// Finds what was named, where something was. Of each command line that is read, its words stay for good.
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

/// How long a command may take.
fn parse_timeout(text: &str) -> Result<Nanos, String> {
    if text.starts_with('-') {
        return Err("a time cannot be negative".to_owned());
    }
    if text == "0" {
        return Err("0 is not a timeout; leave out --timeout for no limit".to_owned());
    }
    parse_time(text).map_err(|error| error.to_string())
}

/// Says what {} is, where another command may have been meant to see it.
fn say_of_braces(words: &[OsString]) {
    if let Some(word) = braces_of_another(words) {
        remark!("{{}} is the folder here, behind {word} too: write {{{{}}}} for {{}} itself");
    }
}

/// The word by which find or xargs is told of {}, where {} stands unescaped.
fn braces_of_another(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let word = words.find(|word| ["-exec", "-execdir", "-ok", "-okdir", "-I", "-I{}", "-i"].contains(word))?;
    (word == "-I{}" || words.any(|word| word.replace("{{}}", "").contains("{}"))).then_some(word)
}

/// Longer names make a table wide.
const LONGEST_NAME: usize = 32;

/// What the cells of a command are called: its file's name, with nothing in it that a table or a document could trip over.
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
