//! A command of the user, once its program is found.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;

use kernel::Command;
use kernel::sys::name::{Shown, original, shell_word};
use report::sanitize;
use workload::programs::command;

use super::OwnWords;
use crate::error::CampaignError;
use crate::request::command_fault::CommandFault;

/// A command and its preparation, whose programs were found.
#[derive(Clone, Debug)]
pub struct OwnCommand {
    /// The command in words, for names and tables.
    pub program: command::Command,
    /// The commands to run, in the order of their numbers in a program.
    pub all: Arc<[Command]>,
}

impl OwnWords {
    /// The words of the command, then those of its preparation.
    pub fn lines(&self) -> Result<Vec<Vec<OsString>>, CampaignError> {
        let mut lines = vec![self.words.iter().map(|word| original(word)).collect()];
        if let Some(line) = &self.prepare {
            let line = original(line);
            let mut split = shlex::bytes::Shlex::new(line.as_bytes());
            let words: Vec<OsString> = split.by_ref().map(OsString::from_vec).collect();
            if split.had_error || words.is_empty() {
                return Err(CommandFault::NoLine(line.shown().into_owned()).into());
            }
            lines.push(words);
        }
        Ok(lines)
    }
}

impl OwnCommand {
    /// Finds the programs of a command and of its preparation. The words of each command are never freed.
    pub fn find(own: &OwnWords) -> Result<OwnCommand, CampaignError> {
        let lines = own.lines()?;
        let find = |words: &Vec<OsString>| Command::find(words).map(|command| command.within(own.timeout));
        let all: Vec<Command> = lines.iter().map(find).collect::<Result<_, _>>().map_err(CommandFault::from)?;
        let words = &lines[0];
        let program = command::Command {
            name: name_of(words.first().map_or(OsStr::new(""), |first| first)).leak(),
            line: words.iter().map(shell_word).collect::<Vec<_>>().join(" ").leak(),
            preparation: own.prepare.as_ref().map(|line| &*sanitize::line(line).into_owned().leak()),
        };
        Ok(OwnCommand { program, all: all.into() })
    }

    /// The paths of the programs that were found.
    pub fn programs(&self) -> Vec<String> {
        self.all.iter().map(|command| command.program().shown().into_owned()).collect()
    }
}

/// Longer names make a table too wide.
const LONGEST_NAME: usize = 32;

/// The name of a command's results: the name of its file, with only letters, digits, `-`, `_`, `+`, and dots behind the
/// first letter.
fn name_of(word: &OsStr) -> String {
    let name = Path::new(word).file_name().unwrap_or(word).to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
    let kept = |(place, letter): (usize, char)| match letter {
        '.' if place > 0 => letter,
        letter if is_plain(letter) => letter,
        _ => '_',
    };
    name.chars().take(LONGEST_NAME).enumerate().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_after_its_file() {
        for (word, name) in [
            ("cp", "cp"),
            ("/usr/bin/g++-12", "g++-12"),
            ("{}/bench", "bench"),
            ("./a b.sh", "a_b.sh"),
            ("./bench.sh", "bench.sh"),
            ("<b>\n", "_b__"),
            ("..", "_."),
        ] {
            assert_eq!(name_of(OsStr::new(word)), name);
        }
        assert_eq!(name_of(OsStr::new(&"x".repeat(100))).len(), LONGEST_NAME);
    }

    #[test]
    fn command_words_are_quoted_for_a_shell() {
        let own = OwnWords {
            words: ["ls", "a b", "{}"].map(str::to_owned).to_vec(),
            prepare: Some("cp 'a b' {}".to_owned()),
            timeout: None,
            found: Vec::new(),
        };
        let found = OwnCommand::find(&own).expect("both are there");
        let told = (found.program.name, found.program.line, found.program.preparation, found.all.len());
        assert_eq!(told, ("ls", "ls 'a b' '{}'", Some("cp 'a b' {}"), 2));
        assert!(found.programs().iter().zip(["/ls", "/cp"]).all(|(path, name)| path.ends_with(name)));
        let unclosed = OwnWords { prepare: Some("cp 'a".to_owned()), ..own };
        assert!(matches!(OwnCommand::find(&unclosed), Err(CampaignError::Command(_))));
    }
}
