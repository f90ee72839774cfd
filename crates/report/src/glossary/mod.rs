//! The glossary: the meaning of every word of tables, JSON and command line, its place, and advice. It is the source of
//! `diskperf help WORD`, of the manual pages, and of short explanations elsewhere. The words are data; the glossary
//! does not depend on the command line.
//!
//! A word with several meanings (`memory` is a warning and a bottleneck) has an entry for each.

mod checks;
mod clocks;
mod costs;
mod device_constants;
mod exits;
mod hosts;
mod keys;
mod limit_terms;
mod limits;
mod machine_parts;
mod marks;
mod owners;
mod remarks;
mod states;
mod targets;
mod terms;
mod units;

use crate::page::Page;
use crate::wrap::{hanging, wrapped};

/// An explained word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The word as it is printed.
    pub word: &'static str,
    /// Other spellings of the word.
    pub also: &'static [&'static str],
    /// The meaning in one line.
    pub brief: &'static str,
    /// The meaning in sentences.
    pub says: &'static str,
    /// The place of the word, or the threshold of a warning.
    pub when: &'static str,
    /// Advice to the user.
    pub advice: &'static str,
}

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A warning: a claim of a result is false or doubtful.
    Mark,
    /// A unit of a rate, a size or a time.
    Unit,
    /// The end point of a measurement.
    Clock,
    /// A condition of a result.
    State,
    /// A bottleneck.
    Limit,
    /// A part of the elapsed time in the breakdown.
    Owner,
    /// A remark: an event of a run.
    Remark,
    /// A preset.
    Preset,
    /// A kind of target.
    Target,
    /// A key of a target.
    Key,
    /// A part of a simulated machine, or the source of a number.
    MachinePart,
    /// A part of the time on a simulated machine, or a word of the tables of 1983.
    Cost,
    /// A row or an answer of `diskperf doctor`.
    Check,
    /// An exit status.
    Exit,
    /// Another word of the tables.
    Term,
}

impl Topic {
    /// All topics, in the order of usefulness.
    pub const ALL: [Topic; 15] = [
        Topic::Mark,
        Topic::Unit,
        Topic::Clock,
        Topic::State,
        Topic::Limit,
        Topic::Owner,
        Topic::Remark,
        Topic::Term,
        Topic::Preset,
        Topic::Target,
        Topic::Key,
        Topic::MachinePart,
        Topic::Cost,
        Topic::Check,
        Topic::Exit,
    ];

    /// The name of the topic's list: `diskperf help warnings`.
    pub const fn plural(self) -> &'static str {
        match self {
            Topic::Mark => "warnings",
            Topic::Unit => "units",
            Topic::Clock => "clocks",
            Topic::State => "states",
            Topic::Limit => "bottlenecks",
            Topic::Owner => "breakdown",
            Topic::Remark => "remarks",
            Topic::Preset => "presets",
            Topic::Target => "targets",
            Topic::Key => "keys",
            Topic::MachinePart => "parts",
            Topic::Cost => "costs",
            Topic::Check => "checks",
            Topic::Exit => "exit",
            Topic::Term => "terms",
        }
    }

    /// The name of one word of the topic.
    pub const fn singular(self) -> &'static str {
        match self {
            Topic::Mark => "warning",
            Topic::Unit => "unit",
            Topic::Clock => "end point of a time",
            Topic::State => "state",
            Topic::Limit => "bottleneck",
            Topic::Owner => "part of the time breakdown",
            Topic::Remark => "remark on a run",
            Topic::Preset => "preset",
            Topic::Target => "target",
            Topic::Key => "key of a target",
            Topic::MachinePart => "part of a simulated machine",
            Topic::Cost => "word of a simulated result",
            Topic::Check => "word of diskperf doctor",
            Topic::Exit => "exit status",
            Topic::Term => "word of the tables",
        }
    }

    /// The heading of the topic's list.
    pub const fn about(self) -> &'static str {
        match self {
            Topic::Mark => "warnings: * means that you should not trust a figure as labelled; the reasons",
            Topic::Unit => "units of rates, sizes and times",
            Topic::Clock => "clocks: the end points of a time",
            Topic::State => "states: the conditions of a result",
            Topic::Limit => "bottlenecks: the resource that limits a rate",
            Topic::Owner => "breakdown: the parts of the elapsed time",
            Topic::Remark => "remarks: what happened during a run that the figures do not show",
            Topic::Preset => "presets: named lists of tests",
            Topic::Target => "targets: the storage to test",
            Topic::Key => "keys after a target, as in image:ext4,size=1GiB",
            Topic::MachinePart => "parts of a simulated machine",
            Topic::Cost => "costs: the parts of the time on a simulated machine, and words of 1983",
            Topic::Check => "checks: the rows of diskperf doctor",
            Topic::Exit => "exit statuses, for scripts",
            Topic::Term => "other words of the tables",
        }
    }

    /// The entries of the topic that this crate has: all but those of presets.
    const fn own_entries(self) -> &'static [Entry] {
        match self {
            Topic::Mark => marks::ENTRIES,
            Topic::Unit => units::ENTRIES,
            Topic::Clock => clocks::ENTRIES,
            Topic::State => states::ENTRIES,
            Topic::Limit => limits::ENTRIES,
            Topic::Owner => owners::ENTRIES,
            Topic::Remark => remarks::ENTRIES,
            Topic::Preset => &[],
            Topic::Target => targets::ENTRIES,
            Topic::Key => keys::ENTRIES,
            Topic::MachinePart => machine_parts::ENTRIES,
            Topic::Cost => costs::ENTRIES,
            Topic::Check => checks::ENTRIES,
            Topic::Exit => exits::ENTRIES,
            Topic::Term => TERMS,
        }
    }

    /// Returns the entry of a word of the topic, spelled as it is printed. It does not know presets.
    pub fn entry(self, word: &str) -> Option<&'static Entry> {
        self.own_entries().iter().find(|entry| entry.word == word)
    }

    /// Other names of the topic's list: the JSON keys.
    const fn also(self) -> &'static [&'static str] {
        match self {
            Topic::Mark => &["marks"],
            Topic::Limit => &["limits"],
            Topic::Owner => &["owners"],
            Topic::Clock => &["end points"],
            Topic::State => &["conditions"],
            Topic::Exit => &["exit status", "exit statuses"],
            _ => &[],
        }
    }

    /// Returns the topic whose list has this name, in singular or plural; `preset` and `presets` both work.
    pub fn named(word: &str) -> Option<Topic> {
        let word = plain(word);
        let is_of = |topic: &Topic| [word.clone(), format!("{word}s")].iter().any(|word| word == topic.plural());
        Topic::ALL.into_iter().find(|topic| is_of(topic) || topic.also().contains(&&*word))
    }
}

/// The words of the topic `terms`, which four files hold.
const TERMS: &[Entry] = &joined();

/// The files of the topic `terms`, in their order.
const TERM_FILES: [&[Entry]; 4] = [limit_terms::ENTRIES, hosts::ENTRIES, terms::ENTRIES, device_constants::ENTRIES];

/// The number of their words.
const TERM_COUNT: usize = TERM_FILES[0].len() + TERM_FILES[1].len() + TERM_FILES[2].len() + TERM_FILES[3].len();

const fn joined() -> [Entry; TERM_COUNT] {
    let mut all = [terms::ENTRIES[0]; TERM_COUNT];
    let (mut index, mut file) = (0, 0);
    while file < TERM_FILES.len() {
        let mut entry = 0;
        while entry < TERM_FILES[file].len() {
            all[index] = TERM_FILES[file][entry];
            (index, entry) = (index + 1, entry + 1);
        }
        file += 1;
    }
    all
}

/// All entries: those of this crate, and those of the presets, which their own files have.
#[derive(Clone, Copy, Debug)]
pub struct Glossary {
    presets: &'static [Entry],
}

impl Glossary {
    /// The glossary with these entries of presets.
    pub const fn new(presets: &'static [Entry]) -> Glossary {
        Glossary { presets }
    }

    /// The entries of a topic.
    pub const fn entries(self, topic: Topic) -> &'static [Entry] {
        match topic {
            Topic::Preset => self.presets,
            other => other.own_entries(),
        }
    }

    /// All entries, with their topics.
    pub fn all(self) -> impl Iterator<Item = (Topic, &'static Entry)> {
        Topic::ALL.into_iter().flat_map(move |topic| self.entries(topic).iter().map(move |entry| (topic, entry)))
    }

    /// Returns every meaning of a word, in any spelling.
    pub fn find(self, word: &str) -> Vec<(Topic, &'static Entry)> {
        let wanted = plain(word);
        self.all().filter(|(_, entry)| spellings(entry).any(|spelling| plain(spelling) == wanted)).collect()
    }

    /// Returns the words with the most similar spelling, the nearest first.
    pub fn near(self, word: &str) -> Vec<&'static str> {
        let mut near: Vec<(usize, &'static str)> = self
            .all()
            .filter_map(|(_, entry)| {
                let close = spellings(entry).filter(|spelling| is_close(spelling, word));
                Some((close.map(|spelling| distance(spelling, word)).min()?, entry.word))
            })
            .collect();
        near.sort_unstable();
        near.dedup_by_key(|(_, word)| *word);
        near.into_iter().map(|(_, word)| word).take(NEAR).collect()
    }

    /// Returns all words of a topic, one line each.
    pub fn list(self, topic: Topic, page: Page) -> String {
        let entries = self.entries(topic);
        let width = entries.iter().map(|entry| entry.word.chars().count()).max().unwrap_or(0);
        let line = |entry: &Entry| hanging(page, &format!("  {}", entry.word), width + 4, entry.brief);
        wrapped(&format!("{}\n", topic.about()), page) + &entries.iter().map(line).collect::<String>()
    }
}

/// True if `typed` may be a misspelling of `known`. Both begin with the same letter, and at most one letter in three is
/// wrong (a swap counts as one), or `known` begins with `typed`.
pub fn is_close(known: &str, typed: &str) -> bool {
    let letters = plain(typed).chars().count();
    if letters < LEAST || plain(known).chars().next() != plain(typed).chars().next() {
        return false;
    }
    plain(known).starts_with(&plain(typed)) || distance(known, typed) <= letters / LEAST
}

/// The number of wrong letters between two words in their plain spelling.
fn distance(known: &str, typed: &str) -> usize {
    strsim::damerau_levenshtein(&plain(known), &plain(typed))
}

/// A word needs at least this many letters for each wrong one. A guess: with 2, `noise` would match `noatime`.
const LEAST: usize = 3;

/// The most similar words that are offered.
const NEAR: usize = 4;

fn spellings(entry: &'static Entry) -> impl Iterator<Item = &'static str> {
    std::iter::once(entry.word).chain(entry.also.iter().copied())
}

/// Returns a word in its plain spelling: lower case, with spaces between its parts.
fn plain(word: &str) -> String {
    word.trim().trim_start_matches('*').trim_end_matches(':').to_lowercase().replace(['_', '-'], " ")
}

/// Returns one meaning of a word as text.
pub fn text(topic: Topic, entry: &Entry, page: Page) -> String {
    let also = if entry.also.is_empty() { String::new() } else { format!(" (also {})", entry.also.join(", ")) };
    let mut text = wrapped(&format!("{}{also}: {}\n", entry.word, topic.singular()), page);
    for (label, words) in [("means", entry.says), ("when", entry.when), ("do", entry.advice)] {
        text += &hanging(page, &format!("  {label}"), INDENT, words);
    }
    text
}

/// The column at which the text after a label begins.
const INDENT: usize = 8;
