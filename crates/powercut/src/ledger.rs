//! The acknowledged records: in memory, and as lines of text that survive the computer if they are kept on another one.
//!
//! ```text
//!   diskperf-verify 1 9 512 FOLDER     the first line: the format, the seed of the records, the number of appended
//!                                      records in a file, and the folder of the records
//!   create 17 1                        a record and its version are durable
//!   retired create 400                 records below that number are no longer promised: they are about to be removed
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::record::Kind;
use crate::record_paths::{Bounds, RecordPaths};

/// The beginning of the first line.
const FORMAT: &str = "diskperf-verify 1";

/// The first word of a line that retires records.
const RETIRED: &str = "retired";

/// An event of the writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// This version of a record is durable.
    Acknowledged {
        /// The kind of the record.
        kind: Kind,
        /// The number of the record among those of its kind.
        number: u64,
        /// The version of the record, from 1.
        version: u64,
    },
    /// Records below this number are no longer promised.
    Retired {
        /// The kind of the records.
        kind: Kind,
        /// The first number that is still promised.
        below: u64,
    },
}

/// The promised records, each with its latest version. A record is promised if it is acknowledged and not retired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    versions: BTreeMap<(Kind, u64), u64>,
}

/// The promises of one run of the writers, as text that was kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The seed, which distinguishes its records from those of other runs.
    pub seed: u64,
    /// The number of records that bounds each kind; also the number of appended records in a file.
    pub records: u64,
    /// The name of the folder of the records.
    pub folder: String,
    /// The promised records.
    pub ledger: Ledger,
}

/// The reason why a text is not a log.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFault {
    /// The first line is not a heading.
    #[error("it does not begin like the output of `diskperf verify --write`")]
    NotALog,
    /// The text has more bytes than diskperf reads.
    #[error("it is larger than 1 GB")]
    TooLong,
    /// The line with this number, from 1, is not an event.
    #[error("line {0} is not from diskperf verify")]
    BadLine(usize),
}

impl Ledger {
    /// Records an event.
    pub fn note(&mut self, note: Note) {
        match note {
            Note::Acknowledged { kind, number, version } => {
                let latest = self.versions.entry((kind, number)).or_default();
                *latest = version.max(*latest);
            }
            Note::Retired { kind, below } => self.versions.retain(|(of, number), _| *of != kind || *number >= below),
        }
    }

    /// Removes records that `then` no longer promises: their files may have been removed.
    pub fn still_promised(&mut self, then: &Ledger) {
        self.versions.retain(|record, _| then.versions.contains_key(record));
    }

    /// Returns the promised records, kind by kind: kind, number and version.
    pub fn promises(&self) -> impl Iterator<Item = (Kind, u64, u64)> {
        self.versions.iter().map(|((kind, number), version)| (*kind, *number, *version))
    }
}

impl Note {
    /// Returns the events that retire all records of every kind.
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
    /// Returns the first line of a log.
    pub fn heading(seed: u64, records: u64, folder: &str) -> String {
        format!("{FORMAT} {seed} {records} {folder}")
    }

    /// Parses the lines of a log. A last line without a line end is ignored: the power was cut while it was written.
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
        // Other names and numbers are never printed by diskperf.
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
            RecordPaths::may_hold(kind, number).then_some(Note::Acknowledged { kind, number, version })
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
    fn printed_notes_are_read_back() {
        let log = Log::parse(&text(&NOTES)).expect("a log");
        assert_eq!((log.seed, log.records, log.folder.as_str()), (9, 4, "folder"));
        let promises: Vec<_> = log.ledger.promises().collect();
        assert_eq!(promises, [(Kind::Create, 2, 1), (Kind::Overwrite, 1, 7)]);
        let mut ledger = Ledger::default();
        NOTES.into_iter().for_each(|note| ledger.note(note));
        assert_eq!(ledger, log.ledger);
    }

    #[test]
    fn promises_retired_later_are_not_checked() {
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
    fn all_promises_can_be_retired() {
        let text = text(&[&NOTES[..3], &Note::all_retired()].concat());
        assert_eq!(Log::parse(&text).expect("a log").ledger.promises().count(), 0);
    }

    #[test]
    fn incomplete_last_lines_are_ignored() {
        let whole = text(&NOTES[..2]);
        for cut in 0..whole.len() {
            let read = Log::parse(&whole[..cut]).map(|log| log.ledger.promises().count());
            let lines = whole[..cut].matches('\n').count();
            let expected = lines.checked_sub(1).ok_or(LedgerFault::NotALog);
            assert_eq!(read, expected, "{cut} bytes");
        }
    }

    #[test]
    fn invalid_logs_are_refused() {
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
            // Numbers of records that cannot exist.
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
