//! The layout of a command's results, and their file: arguments that commands share.

use std::fmt::Debug;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kernel::sys::name::{Shown, original};
use report::Page;
use report::sanitize::is_command;
use serde::{Deserialize, Serialize};
use stats::Document;
use units::name;

use crate::documents::document::{plain, presentation};
use crate::error::Error;
use crate::ui::output;

/// The layouts of a command. The default is printed if none is asked for.
pub trait Layout: ValueEnum + Clone + Copy + Debug + Default + Send + Sync + 'static {
    /// The layout for other programs.
    const JSON: Self;
}

/// Options for the format and the destination of results.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArguments<L: Layout = Format> {
    /// Format of the results.
    #[arg(long, value_enum)]
    format: Option<L>,
    /// Print JSON; the same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the results to FILE; - means standard output.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

impl<L: Layout> OutputArguments<L> {
    /// The layout of the results.
    pub fn layout(&self) -> L {
        if self.json { L::JSON } else { self.format.unwrap_or_default() }
    }

    /// The page for the results: as wide as the terminal, if they go to one.
    pub fn page(&self) -> Page {
        output::page_of(self.file.as_deref())
    }

    /// Refuses a file that could not be written later.
    pub fn check(&self) -> Result<(), Error> {
        output::check(self.file.as_deref())
    }

    /// Prints the text, or writes it to the file.
    pub fn deliver(&self, text: &str) -> Result<(), Error> {
        output::deliver(text, self.file.as_deref())
    }
}

impl OutputArguments<RunFormat> {
    /// The stored form of these arguments.
    pub fn output(&self) -> Output {
        Output { format: self.layout(), file: self.file.as_ref().map(|file| file.shown().into_owned()) }
    }

    /// The arguments of a stored form.
    pub fn stored(output: &Output) -> OutputArguments<RunFormat> {
        let file = output.file.as_ref().map(|file| original(file).into());
        OutputArguments { format: Some(output.format), json: false, file }
    }

    /// The text of a run's results, in the chosen layout.
    pub fn text(&self, document: &Document) -> String {
        let name = || {
            let stored = document.run.store.as_ref().map(|stored| stored.run.as_str());
            stored.or(document.run.preset.as_deref()).unwrap_or("run").to_owned()
        };
        match self.layout() {
            RunFormat::Json => json(document),
            RunFormat::Table => report::table(&plain(document), presentation(document), self.page()),
            RunFormat::Csv => report::csv::runs(&[(&name(), &*plain(document))]),
            RunFormat::Markdown => report::markdown(&name(), &plain(document), presentation(document)),
        }
    }
}

/// Layout and file of a run's results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub format: RunFormat,
    /// The file (the text of its bytes); standard output, if none.
    pub file: Option<String>,
}

/// Formats of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunFormat {
    /// Table for a terminal; without one, all columns
    #[default]
    Table,
    /// JSON for programs, as in `diskperf schema`
    Json,
    /// CSV, one line per result; an empty field means not measured
    Csv,
    /// Comment for a pull request: the verdict, a table, the rest folded
    Markdown,
}

impl Layout for RunFormat {
    const JSON: RunFormat = RunFormat::Json;
}

/// Formats of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Table for a terminal; without one, all columns
    #[default]
    Table,
    /// JSON for programs, as in `diskperf schema`
    Json,
}

impl Layout for Format {
    const JSON: Format = Format::Json;
}

/// Formats of tables about stored runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Tabular {
    /// Table for a terminal; without one, all columns
    #[default]
    Table,
    /// JSON for programs, as in `diskperf schema`
    Json,
    /// CSV, one line per row; an empty field means not measured
    Csv,
    /// Markdown, as for a pull request
    Markdown,
}

impl Layout for Tabular {
    const JSON: Tabular = Tabular::Json;
}

/// Plain data as JSON for other programs. Escapes the control characters of terminals, also those that JSON allows:
/// they occur only in strings.
pub fn json(data: &impl serde::Serialize) -> String {
    indented(&dense(data))
}

/// The JSON of `json` without white space.
pub fn dense(data: &impl serde::Serialize) -> String {
    escaped(&String::from_utf8_lossy(&serde_json::to_vec(data).expect("plain data")))
}

/// Indents JSON without white space, as serde_json does. With the indentation of serde_json, the program would need a
/// second copy of the code that writes each document.
pub fn indented(dense: &str) -> String {
    let mut text = String::with_capacity(2 * dense.len());
    let (mut depth, mut before, mut is_in_string, mut is_escaped): (usize, _, _, _) = (0, ' ', false, false);
    for character in dense.chars() {
        if is_in_string {
            is_in_string = character != '"' || is_escaped;
            is_escaped = character == '\\' && !is_escaped;
        } else {
            let (is_first, closes) = (matches!(before, '{' | '['), matches!(character, '}' | ']'));
            depth -= usize::from(closes);
            // An empty list has no lines.
            if before == ',' || is_first != closes {
                text.push('\n');
                text += &"  ".repeat(depth);
            } else if before == ':' {
                text.push(' ');
            }
            depth += usize::from(matches!(character, '{' | '['));
            is_in_string = character == '"';
        }
        text.push(character);
        before = character;
    }
    text + "\n"
}

fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_command(character) {
            text += &match name::byte(character) {
                // It is in a text, not in a name: names have their bytes.
                Some(byte) => format!("\\\\x{byte:02X}"),
                None => format!("\\u{:04x}", u32::from(character)),
            };
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_outside_of_strings() {
        for text in [
            r#"{}"#,
            r#"[]"#,
            r#"[{}]"#,
            r#"7"#,
            r#"{"a, [\"{":[1,[],{},[{"b":null},"\\"],"}"],"c":{"d:e":-1.5,"f":true}}"#,
        ] {
            let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
            let expected = serde_json::to_string_pretty(&value).expect("JSON") + "\n";
            assert_eq!((dense(&value).as_str(), indented(text)), (text, expected));
        }
    }

    #[test]
    fn control_characters_in_json_are_escaped() {
        let words = ["\u{1b}[2J\n", "\u{7f}\u{9b}31m\u{202e}", "größe"];
        let text = json(&words);
        assert!(!text.contains(|character| is_command(character) && character != '\n'), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).expect("JSON"), words);
    }
}
