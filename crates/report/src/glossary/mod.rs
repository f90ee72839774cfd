//! Every word that a table, a document or a command line of this program uses, explained: what it says, when it is
//! used, and what to do. The one source of `diskperf help WORD`, of the manual pages, and of whatever else explains a
//! figure. Knows no command line: the words are data.
//!
//! A word can have several meanings (`memory` is a mark, and what limits a rate): then each is an entry.

mod clocks;
mod exits;
mod keys;
mod limits;
mod machine_parts;
mod marks;
mod owners;
mod presets;
mod states;
mod targets;
mod terms;
mod units;

use crate::grid::Page;
use crate::wrap::{hanging, wrapped};

/// A word, explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As it is printed.
    pub word: &'static str,
    /// Other spellings of it.
    pub also: &'static [&'static str],
    /// What it is, in a line.
    pub brief: &'static str,
    /// What it says.
    pub says: &'static str,
    /// When it is given, or where it stands.
    pub when: &'static str,
    /// What to do about it or with it.
    pub advice: &'static str,
}

/// What kind of word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A reason why a claim of a cell is false.
    Mark,
    /// What a rate or a time is printed in.
    Unit,
    /// When the clock of a cell stops.
    Clock,
    /// What a figure claims about its circumstances.
    State,
    /// What kept a rate from being higher.
    Limit,
    /// Who had a part of the time.
    Owner,
    /// A named list of programs.
    Preset,
    /// Where programs run.
    Target,
    /// What follows a target.
    Key,
    /// A part of a simulated machine.
    MachinePart,
    /// How a command ended.
    Exit,
    /// A word of the tables.
    Term,
}

impl Topic {
    /// All of them, in the order in which a person asks.
    pub const ALL: [Topic; 12] = [
        Topic::Mark,
        Topic::Unit,
        Topic::Clock,
        Topic::State,
        Topic::Limit,
        Topic::Owner,
        Topic::Term,
        Topic::Preset,
        Topic::Target,
        Topic::Key,
        Topic::MachinePart,
        Topic::Exit,
    ];

    /// The word that stands for all its words: `diskperf help marks`.
    pub const fn plural(self) -> &'static str {
        match self {
            Topic::Mark => "marks",
            Topic::Unit => "units",
            Topic::Clock => "clocks",
            Topic::State => "states",
            Topic::Limit => "limits",
            Topic::Owner => "owners",
            Topic::Preset => "presets",
            Topic::Target => "targets",
            Topic::Key => "keys",
            Topic::MachinePart => "parts",
            Topic::Exit => "exit",
            Topic::Term => "terms",
        }
    }

    /// What one of its words is.
    pub const fn singular(self) -> &'static str {
        match self {
            Topic::Mark => "mark",
            Topic::Unit => "unit",
            Topic::Clock => "clock",
            Topic::State => "state",
            Topic::Limit => "limited by",
            Topic::Owner => "owner of time",
            Topic::Preset => "preset",
            Topic::Target => "target",
            Topic::Key => "key of a target",
            Topic::MachinePart => "part of a simulated machine",
            Topic::Exit => "exit status",
            Topic::Term => "word of the tables",
        }
    }

    /// What these words are, as a heading.
    pub const fn about(self) -> &'static str {
        match self {
            Topic::Mark => "marks: a * says that a claim of the cell is false; the reason is one of",
            Topic::Unit => "units of rates, sizes and times",
            Topic::Clock => "clocks: when the time of a cell ends",
            Topic::State => "states: what a figure claims about its circumstances",
            Topic::Limit => "what kept a rate from being higher",
            Topic::Owner => "owners of time: where each millisecond went",
            Topic::Preset => "presets: named lists of programs",
            Topic::Target => "targets: where programs run",
            Topic::Key => "keys that follow a target, as in image:ext4,size=1GiB",
            Topic::MachinePart => "parts of a simulated machine",
            Topic::Exit => "exit statuses: how a command ended, for scripts",
            Topic::Term => "words of the tables",
        }
    }

    /// Its words.
    pub const fn entries(self) -> &'static [Entry] {
        match self {
            Topic::Mark => marks::ENTRIES,
            Topic::Unit => units::ENTRIES,
            Topic::Clock => clocks::ENTRIES,
            Topic::State => states::ENTRIES,
            Topic::Limit => limits::ENTRIES,
            Topic::Owner => owners::ENTRIES,
            Topic::Preset => presets::ENTRIES,
            Topic::Target => targets::ENTRIES,
            Topic::Key => keys::ENTRIES,
            Topic::MachinePart => machine_parts::ENTRIES,
            Topic::Exit => exits::ENTRIES,
            Topic::Term => terms::ENTRIES,
        }
    }

    /// The entry of one of its words, spelled as it is printed.
    pub fn entry(self, word: &str) -> Option<&'static Entry> {
        self.entries().iter().find(|entry| entry.word == word)
    }

    /// The topic whose words this word stands for.
    pub fn named(word: &str) -> Option<Topic> {
        let word = plain(word);
        Topic::ALL.into_iter().find(|topic| word == topic.plural())
    }
}

/// Every meaning of a word, however it is spelled.
pub fn find(word: &str) -> Vec<(Topic, &'static Entry)> {
    let wanted = plain(word);
    all().filter(|(_, entry)| spellings(entry).any(|spelling| plain(spelling) == wanted)).collect()
}

/// The words that somebody may have meant who wrote this one, the nearest first.
pub fn near(word: &str) -> Vec<&'static str> {
    let wanted = plain(word);
    let mut near: Vec<(f64, &'static str)> = all()
        .map(|(_, entry)| {
            let alike = spellings(entry).map(|spelling| strsim::jaro_winkler(&plain(spelling), &wanted));
            (alike.fold(0.0, f64::max), entry.word)
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    near.dedup_by_key(|(_, word)| *word);
    near.into_iter().map(|(_, word)| word).take(NEAR).collect()
}

/// From here on two words are alike (Jaro-Winkler; a letter too much in a word of five is 0.9). Chosen by trying.
const ALIKE: f64 = 0.8;

/// How many words are offered.
const NEAR: usize = 4;

fn all() -> impl Iterator<Item = (Topic, &'static Entry)> {
    Topic::ALL.into_iter().flat_map(|topic| topic.entries().iter().map(move |entry| (topic, entry)))
}

fn spellings(entry: &'static Entry) -> impl Iterator<Item = &'static str> {
    std::iter::once(entry.word).chain(entry.also.iter().copied())
}

/// A word without what people spell differently: capitals, and what stands between parts of it.
fn plain(word: &str) -> String {
    word.trim().trim_start_matches('*').trim_end_matches(':').to_lowercase().replace(['_', '-'], " ")
}

/// One meaning of a word, as it is read on a terminal.
pub fn text(topic: Topic, entry: &Entry, page: Page) -> String {
    let also = if entry.also.is_empty() { String::new() } else { format!(" (also {})", entry.also.join(", ")) };
    let mut text = format!("{}{also}: {}\n", entry.word, topic.singular());
    for (label, words) in [("says", entry.says), ("when", entry.when), ("do", entry.advice)] {
        text += &hanging(page, &format!("  {label}"), INDENT, words);
    }
    text
}

/// All words of a topic, a line each.
pub fn list(topic: Topic, page: Page) -> String {
    let width = topic.entries().iter().map(|entry| entry.word.chars().count()).max().unwrap_or(0);
    let line = |entry: &Entry| hanging(page, &format!("  {}", entry.word), width + 4, entry.brief);
    wrapped(&format!("{}\n", topic.about()), page) + &topic.entries().iter().map(line).collect::<String>()
}

/// Where the words begin that stand behind a label.
const INDENT: usize = 8;
