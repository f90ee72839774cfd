//! Faults in the description of a machine, with place, exit status and hint.

use std::fmt;
use std::io;
use std::path::PathBuf;

use kernel::sys::name::Shown;
use kernel::{lacks_rights, message};
use units::Exit;

use crate::part_kind::Kind;

/// The place of a value: a line of a file, or an option as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file.
    Line {
        /// Path of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
    },
    /// An option on the command line, as typed.
    Typed(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { file, line } => write!(f, "{file}:{line}"),
            Place::Typed(typed) => f.write_str(typed),
        }
    }
}

/// The reason why a machine cannot be built.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum MachineFault {
    #[error("there is no device {name}")]
    UnknownDevice { name: String, known: Vec<&'static str> },
    #[error("{place}: {field} is n.m.: {reason}")]
    Unmeasured { place: Place, field: String, reason: String },
    #[error("there is no simulated machine {name}")]
    UnknownMachine { name: String, known: Vec<&'static str> },
    #[error("{place}: {kind}: there is no part {name:?}")]
    UnknownPart { place: Place, kind: Kind, name: String, known: Vec<&'static str> },
    #[error("cannot read {path}: {}", message(source), path = .path.shown())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{place}: {what}")]
    Syntax { place: Place, what: String },
    #[error("{place}: {field} is missing")]
    Missing { place: Place, field: String },
    #[error("{place}: {field} is missing")]
    MissingFigure { place: Place, field: String },
    #[error("{place}: kind is {given:?}: requests can be replayed only on a device of the kind \"law\"")]
    NotALaw { place: Place, given: String },
    #[error("{place}: {field} is not a field here")]
    UnknownField { place: Place, field: String, known: Vec<String> },
    #[error("{place}: {field}: {what}")]
    BadForm { place: Place, field: String, what: &'static str },
    #[error("{place}: {field} is not text in quotes")]
    NotText { place: Place, field: String },
    #[error("{place}: {kind} is neither a name nor a table")]
    NotAPart { place: Place, kind: Kind },
    #[error("{place}: file_systems is not a list")]
    NotAList { place: Place },
    #[error("{place}: {field} is not a table of fields")]
    NotATable { place: Place, field: String },
    #[error("{place}: {field} has no unit")]
    NoUnit { place: Place, field: String, units: Vec<&'static str> },
    #[error("{place}: {field} cannot have the unit {unit}")]
    WrongUnit { place: Place, field: String, unit: String, units: Vec<&'static str> },
    #[error("{place}: {field} has no source")]
    NoSource { place: Place, field: String },
    #[error("{place}: {field}: {source_word:?} is not a kind of source")]
    UnknownSource { place: Place, field: String, source_word: String },
    #[error("{place}: {field} does not name its origin")]
    NoOrigin { place: Place, field: String },
    #[error("{place}: {field}: {given} {why}")]
    Uncountable { place: Place, field: String, given: String, why: &'static str },
    #[error("{place}: {field}: {given:?} is not one of the choices")]
    WrongWord { place: Place, field: String, given: String, words: Vec<&'static str> },
    #[error("{place}: {field}: {what}")]
    Impossible { place: Place, field: String, what: String, hint: &'static str },
    #[error("{place}: this part is based on itself")]
    Circle { place: Place },
    #[error("{typed}: {why}")]
    BadSetting { typed: String, why: &'static str },
    #[error("{typed}: {why}")]
    BadFigureSetting { typed: String, why: &'static str },
}

impl MachineFault {
    /// The exit status. `Usage` if the user must change the file or the setting.
    pub fn exit(&self) -> Exit {
        match self {
            MachineFault::Unreadable { source, .. } if lacks_rights(source) => Exit::Refused,
            _ => Exit::Usage,
        }
    }

    /// Returns the hint for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            MachineFault::UnknownDevice { name, known } => match nearest(name, known) {
                Some(near) => format!("did you mean {near}? Known: {}", known.join(", ")),
                None => format!("known: {}, or a file that `diskperf probe` wrote: ./disk.toml", known.join(", ")),
            },
            MachineFault::Unmeasured { .. } => "measure it: diskperf probe TARGET --output disk.toml".to_owned(),
            MachineFault::UnknownMachine { name, known } => match nearest(name, known) {
                Some(near) => format!("did you mean {near}? `diskperf simulate` lists all"),
                None => format!("known: {}, or a file of yours: ./mine.toml", known.join(", ")),
            },
            MachineFault::UnknownPart { name, known, .. } => match nearest(name, known) {
                Some(near) => format!("did you mean {near}? Known: {}", known.join(", ")),
                None => format!("known: {}, or a file of yours: ./mine.toml", known.join(", ")),
            },
            MachineFault::Unreadable { source, .. } if lacks_rights(source) => {
                "run as a user who may read it".to_owned()
            }
            MachineFault::Unreadable { source, .. } if is_of_another_form(source) => {
                "name the file of a machine or part; machines/README.md shows its form".to_owned()
            }
            MachineFault::Unreadable { .. } => "check the spelling; paths in a file begin at its folder".to_owned(),
            MachineFault::Syntax { .. } => "the file is TOML; machines/README.md shows its form".to_owned(),
            MachineFault::Missing { .. } => "give it, or begin with a part that has it: like = \"NAME\"".to_owned(),
            MachineFault::MissingFigure { field, .. } if field == "kind" => {
                "the file of a device begins with kind = \"law\", as `diskperf probe TARGET -o disk.toml` writes it"
                    .to_owned()
            }
            MachineFault::MissingFigure { field, .. } if ["capacity", "alignment"].contains(&field.as_str()) => {
                let value = if field == "capacity" { "100, unit = \"GiB\"" } else { "512, unit = \"bytes\"" };
                format!("write {field} = {{ value = {value}, source = \"inferred\", from = \"why\" }}")
            }
            MachineFault::MissingFigure { field, .. } => {
                let key = field.rsplit('.').next().unwrap_or(field);
                format!("if it is not known, write {key} = {{ value = \"n.m.\", reason = \"why\" }}")
            }
            MachineFault::NotALaw { .. } => {
                "write kind = \"law\", or let `diskperf probe TARGET -o disk.toml` write the file. A rotating disk has \
                 no law: its times depend on the place"
                    .to_owned()
            }
            MachineFault::UnknownField { field, known, .. } => match nearest(field, known) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known fields: {}", known.join(", ")),
            },
            MachineFault::BadForm { field, .. } => {
                let key = field.rsplit('.').next().unwrap_or(field);
                format!("write {key} = {{ value = 1, unit = \"ms\", source = \"inferred\", from = \"why\" }}")
            }
            MachineFault::NotText { field, .. } => {
                let key = field.rsplit('.').next().unwrap_or(field);
                format!("write {key} = \"TEXT\"")
            }
            MachineFault::NotAPart { kind: Kind::FileSystem, .. } | MachineFault::NotAList { .. } => {
                "write file_systems = [\"8k-1k\"]".to_owned()
            }
            MachineFault::NotAPart { kind, .. } => format!("write {kind} = \"NAME\", or its fields below [{kind}]"),
            MachineFault::NotATable { field, .. } => format!("write its fields below [{field}]"),
            MachineFault::NoUnit { units, .. } | MachineFault::WrongUnit { units, .. } => {
                format!("its units are: {}", units.join(", "))
            }
            MachineFault::NoSource { .. } | MachineFault::UnknownSource { .. } => {
                "write source = \"published\", \"inferred\", \"fitted\", or \"measured\" in the file of a device, and \
                 the publication, reason, fit or run as from"
                    .to_owned()
            }
            MachineFault::NoOrigin { .. } => "add the publication, reason or fit of the number as from".to_owned(),
            MachineFault::Uncountable { .. } => "write a plain decimal number, 0 or more".to_owned(),
            MachineFault::WrongWord { words, .. } => format!("choose from: {}", words.join(", ")),
            MachineFault::Impossible { hint, .. } => (*hint).to_owned(),
            MachineFault::Circle { .. } => "follow the `like` of these files: they come back to this one".to_owned(),
            MachineFault::BadSetting { .. } => {
                "write drive.rpm=3600, kernel.call=0.5ms, controller.attention=held or drive=ra81".to_owned()
            }
            MachineFault::BadFigureSetting { .. } => {
                "write read_latency=x0.5, flush.base=2ms or write_cache=none".to_owned()
            }
        })
    }
}

/// Returns true if the file exists, but cannot be the file of a machine: it is too large, or no text.
fn is_of_another_form(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidData, InvalidInput};
    matches!(error.kind(), FileTooLarge | InvalidData | InvalidInput)
}

/// Returns the known word that was probably meant: at most two letters, or a third of them, differ.
fn nearest<W: AsRef<str>>(word: &str, known: &[W]) -> Option<String> {
    let distance = |other: &str| strsim::damerau_levenshtein(word, other);
    let near = known.iter().map(|other| (distance(other.as_ref()), other.as_ref())).min()?;
    (near.0 <= 2.max(word.len() / 3)).then(|| near.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From errno.h: ENOENT, EPERM, EACCES.
    #[test]
    fn an_unreadable_file_has_the_hint_of_its_error() {
        let spelling = "check the spelling; paths in a file begin at its folder";
        let rights = "run as a user who may read it";
        let form = "name the file of a machine or part; machines/README.md shows its form";
        for (source, exit, hint) in [
            (io::Error::from_raw_os_error(2), Exit::Usage, spelling),
            (io::Error::from_raw_os_error(1), Exit::Refused, rights),
            (io::Error::from_raw_os_error(13), Exit::Refused, rights),
            (io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"), Exit::Usage, form),
        ] {
            let fault = MachineFault::Unreadable { path: "x".into(), source };
            assert_eq!((fault.exit(), fault.hint().as_deref()), (exit, Some(hint)), "{fault}");
        }
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let known = ["drive.rpm", "drive.heads"];
        assert_eq!(nearest("drive.rmp", &known).as_deref(), Some("drive.rpm"));
        assert_eq!(nearest("bus.width", &known), None);
    }
}
