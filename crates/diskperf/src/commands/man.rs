//! `diskperf man [--out DIR]`: the manual pages, generated from the help and the glossary.

use std::fs;
use std::path::{Path, PathBuf};

use campaign::presets::GLOSSARY;
use clap::Args;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use kernel::PathFault;
use report::glossary::Topic;
use units::Exit;

use crate::documents::user_files;
use crate::error::{Error, OutputError};
use crate::ui::output;

/// Arguments of `diskperf man`.
#[derive(Clone, Debug, Args)]
pub struct ManArguments {
    /// Write a page for each command, and one with all words, into this directory, which may be new; without it, print
    /// the page of diskperf itself.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The topics that a command's page explains, besides the exit status.
const SECTIONS: [(&str, &[Topic]); 5] = [
    ("diskperf", &[Topic::Preset, Topic::Target, Topic::Key, Topic::Mark]),
    (
        "run",
        &[Topic::Preset, Topic::Target, Topic::Key, Topic::Mark, Topic::Clock, Topic::State, Topic::Unit, Topic::Limit],
    ),
    ("explain", &[Topic::Owner, Topic::Limit]),
    ("schema", &[Topic::Mark, Topic::Clock, Topic::State]),
    ("help", &Topic::ALL),
];

/// The page that explains every word.
const WORDS: &str = "diskperf-words.7";

pub fn run(arguments: &ManArguments, mut command: clap::Command) -> Result<Exit, Error> {
    command.build();
    let Some(directory) = &arguments.out else {
        output::print(&page(&command, "diskperf"))?;
        return Ok(Exit::Done);
    };
    make(directory)?;
    write(directory, "diskperf.1", &page(&command, "diskperf"))?;
    for known in command.get_subcommands() {
        write(directory, &format!("diskperf-{}.1", known.get_name()), &page(known, known.get_name()))?;
    }
    write(directory, WORDS, &words())?;
    Ok(Exit::Done)
}

fn make(directory: &Path) -> Result<(), Error> {
    match user_files::existing(directory) {
        Ok(metadata) if !metadata.is_dir() => Err(PathFault::NotADirectory(directory.to_owned()).into()),
        Ok(_) => Ok(()),
        Err(PathFault::Missing(_)) => {
            let made = fs::create_dir_all(directory);
            Ok(made.map_err(|source| OutputError::Manual { to: directory.to_owned(), source })?)
        }
        Err(other) => Err(other.into()),
    }
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), Error> {
    let to = directory.join(name);
    output::deliver(text, Some(&to)).map_err(|error| match error {
        // Its hint is about -o, which `man` does not have.
        Error::Output(OutputError::Failed { source, .. }) => OutputError::Manual { to, source }.into(),
        other => other,
    })
}

/// The page of one command: its help, the words that belong to it, the exit status.
fn page(command: &clap::Command, name: &str) -> String {
    let mut text = Vec::new();
    let man = Man::new(command.clone()).manual("diskperf");
    man.render(&mut text).expect("a vector takes every byte");
    let mut roff = Roff::new();
    let topics = SECTIONS.iter().find(|(known, _)| *known == name).map_or(&[] as &[Topic], |(_, topics)| topics);
    for topic in topics.iter().filter(|topic| **topic != Topic::Exit) {
        section(&mut roff, *topic);
    }
    section(&mut roff, Topic::Exit);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold("diskperf"), roman("(1), "), bold("diskperf-words"), roman("(7)")]);
    String::from_utf8_lossy(&text).into_owned() + &roff.render()
}

/// The page with every word.
fn words() -> String {
    let mut roff = Roff::new();
    let title = ["diskperf-words", "7", "", concat!("diskperf ", env!("CARGO_PKG_VERSION")), "diskperf"];
    roff.control("TH", title);
    roff.control("SH", ["NAME"]);
    roff.text([roman("diskperf-words - every word of diskperf's tables, explained")]);
    for topic in Topic::ALL {
        section(&mut roff, topic);
    }
    roff.render()
}

/// A section with all words of a topic.
fn section(roff: &mut Roff, topic: Topic) {
    // The only one of these headings that man-pages(7) defines.
    let heading = if topic == Topic::Exit { topic.singular() } else { topic.plural() };
    roff.control("SH", [heading.to_uppercase().as_str()]);
    roff.text([roman(topic.about())]);
    for entry in GLOSSARY.entries(topic) {
        roff.control("TP", []);
        roff.text([bold(entry.word)]);
        roff.text([roman(format!("{}. {} ", capital(entry.brief), entry.says))]);
        roff.text([bold("When: "), roman(entry.when)]);
        roff.text([bold("Do: "), roman(entry.advice)]);
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
