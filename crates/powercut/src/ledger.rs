//! What was acknowledged: in memory, and as lines of text that outlive the computer where they are kept on another one.
//!
//! ```text
//!   diskperf-verify 1 9 512 FOLDER     the first line: the format, whose records these are, how many appended ones to
//!                                      a file, and the folder that they are in
//!   create 17 1                        a record and its version are durable
//!   retired create 400                 records below that number are promised no more: they are about to be removed
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::places::{Bounds, Places};
use crate::record::Kind;

/// How the first line begins.
const FORMAT: &str = "diskperf-verify 1";

/// What a line begins with that takes promises back.
const RETIRED: &str = "retired";

/// One thing that is said about records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// This version of a record is durable.
    Acknowledged {
        /// How it was written.
        kind: Kind,
        /// Its number among the records of its kind.
        number: u64,
        /// Its version, from 1.
        version: u64,
    },
    /// Records below this number are promised no more.
    Retired {
        /// Their kind.
        kind: Kind,
        /// The first number that is still promised.
        below: u64,
    },
}

/// Every record that is promised, and the latest version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    versions: BTreeMap<(Kind, u64), u64>,
}

/// What one call of the writers promised, as it was kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// What tells its records from those of others.
    pub seed: u64,
    /// How many there are of a kind: appended ones to a file.
    pub records: u64,
    /// The name of the folder that they are in.
    pub folder: String,
    /// What is promised.
    pub ledger: Ledger,
}

/// Why lines are no log.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFault {
    /// The first line is another.
    #[error("it does not begin like the output of `diskperf verify --write`")]
    NotALog,
    /// It has more bytes than are read.
    #[error("it is larger than 1 GB")]
    TooLong,
    /// A line says nothing that could be meant.
    #[error("line {0} is not from diskperf verify")]
    BadLine(usize),
}

impl Ledger {
    /// Takes notice.
    pub fn note(&mut self, note: Note) {
        match note {
            Note::Acknowledged { kind, number, version } => {
                let latest = self.versions.entry((kind, number)).or_default();
                *latest = version.max(*latest);
            }
            Note::Retired { kind, below } => self.versions.retain(|(of, number), _| *of != kind || *number >= below),
        }
    }

    /// Leaves out what is promised no more by then: it may have been removed.
    pub fn still_promised(&mut self, then: &Ledger) {
        self.versions.retain(|record, _| then.versions.contains_key(record));
    }

    /// All that is promised, kind by kind: number and version.
    pub fn promises(&self) -> impl Iterator<Item = (Kind, u64, u64)> {
        self.versions.iter().map(|((kind, number), version)| (*kind, *number, *version))
    }
}

impl Note {
    /// Takes all records back, of every kind.
    pub fn all_retired() -> [Note; 4] {
        Kind::ALL.map(|kind| Note::Retired { kind, below: u64::MAX })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Acknowledged { kind, number, version } => write!(f, "{} {number} {version}", kind.name()),
            Note::Retired { kind, below } => write!(f, "{RETIRED} {} {below}", kind.name()),
        }
    }
}

impl Log {
    /// The first line.
    pub fn heading(seed: u64, records: u64, folder: &str) -> String {
        format!("{FORMAT} {seed} {records} {folder}")
    }

    /// Reads the lines. The last one is left out where it does not end: the power went while it was written.
    pub fn parse(text: &str) -> Result<Log, LedgerFault> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.split('\n').enumerate();
        let heading = lines.next().and_then(|(_, line)| Log::parse_heading(line));
        let mut log = heading.ok_or(LedgerFault::NotALog)?;
        for (index, line) in lines {
            log.ledger.note(parse_note(line).ok_or(LedgerFault::BadLine(index + 1))?);
        }
        Ok(log)
    }

    fn parse_heading(line: &str) -> Option<Log> {
        let mut words = line.strip_prefix(FORMAT)?.strip_prefix(' ')?.splitn(3, ' ');
        let (seed, records, folder) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?);
        let is_name = !["", ".", ".."].contains(&folder) && !folder.contains(['/', '\0']);
        // Others were never printed, and have no place.
        (is_name && (1..=Bounds::MOST).contains(&records)).then(|| Log {
            seed,
            records,
            folder: folder.to_owned(),
            ledger: Ledger::default(),
        })
    }
}

fn parse_note(line: &str) -> Option<Note> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        [RETIRED, kind, below] => Some(Note::Retired { kind: Kind::named(kind)?, below: below.parse().ok()? }),
        [kind, number, version] => {
            let (kind, number) = (Kind::named(kind)?, number.parse().ok()?);
            let version = version.parse().ok()?;
            Places::may_hold(kind, number).then_some(Note::Acknowledged { kind, number, version })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: [Note; 4] = [
        Note::Acknowledged { kind: Kind::Create, number: 1, version: 1 },
        Note::Acknowledged { kind: Kind::Overwrite, number: 1, version: 7 },
        Note::Acknowledged { kind: Kind::Create, number: 2, version: 1 },
        Note::Retired { kind: Kind::Create, below: 2 },
    ];

    fn text(notes: &[Note]) -> String {
        let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
        format!("{}\n{notes}", Log::heading(9, 4, "folder"))
    }

    #[test]
    fn what_is_printed_is_read() {
        let log = Log::parse(&text(&NOTES)).expect("a log");
        assert_eq!((log.seed, log.records, log.folder.as_str()), (9, 4, "folder"));
        let promises: Vec<_> = log.ledger.promises().collect();
        assert_eq!(promises, [(Kind::Create, 2, 1), (Kind::Overwrite, 1, 7)]);
        let mut ledger = Ledger::default();
        NOTES.into_iter().for_each(|note| ledger.note(note));
        assert_eq!(ledger, log.ledger);
    }

    #[test]
    fn what_is_taken_back_later_is_not_asked_for() {
        let mut before = Ledger::default();
        NOTES[..3].iter().for_each(|note| before.note(*note));
        let mut after = before.clone();
        after.note(NOTES[3]);
        after.note(Note::Acknowledged { kind: Kind::Overwrite, number: 1, version: 8 });
        after.note(Note::Acknowledged { kind: Kind::Create, number: 3, version: 1 });
        before.still_promised(&after);
        let promises: Vec<_> = before.promises().collect();
        assert_eq!(promises, [(Kind::Create, 2, 1), (Kind::Overwrite, 1, 7)], "as promised before");
    }

    #[test]
    fn all_can_be_taken_back() {
        let text = text(&[&NOTES[..3], &Note::all_retired()].concat());
        assert_eq!(Log::parse(&text).expect("a log").ledger.promises().count(), 0);
    }

    #[test]
    fn a_line_that_does_not_end_is_none() {
        let whole = text(&NOTES[..2]);
        for cut in 0..whole.len() {
            let read = Log::parse(&whole[..cut]).map(|log| log.ledger.promises().count());
            let lines = whole[..cut].matches('\n').count();
            let expected = lines.checked_sub(1).ok_or(LedgerFault::NotALog);
            assert_eq!(read, expected, "{cut} bytes");
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            "\n",
            "diskperf-verify 2 9 4 f\n",
            "diskperf-verify 1 x 4 f\n",
            "diskperf-verify 1 9 0 f\n",
            "diskperf-verify 1 9 4 \n",
            "diskperf-verify 1 9 4097 f\n",
            "diskperf-verify 1 9 18446744073709551615 f\n",
        ] {
            assert_eq!(Log::parse(text), Err(LedgerFault::NotALog), "{text:?}");
        }
        for folder in ["..", "a/b", "."] {
            assert_eq!(Log::parse(&format!("{}\n", Log::heading(9, 4, folder))), Err(LedgerFault::NotALog), "{folder}");
        }
        for line in [
            "",
            "create 1",
            "create 1 x",
            "delete 1 1",
            "retired create",
            "create 1 1 1",
            " create 1 1",
            // Where no record has a place.
            "overwrite 9999999999999999999 1",
            "overwrite 32 1",
            "replace 8 1",
            "create 562949953421312 1",
            "append 9999999999999999999 1",
        ] {
            let text = format!("{}\ncreate 1 1\n{line}\n", Log::heading(9, 4, "f"));
            assert_eq!(Log::parse(&text), Err(LedgerFault::BadLine(3)), "{line:?}");
        }
    }
}
