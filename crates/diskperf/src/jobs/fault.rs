//! What can be wrong with a job file, of ours or of fio: at which place, and what to try.

use std::path::PathBuf;

use kernel::name::Shown;

use super::text::Spot;
use crate::ui::shell;

/// Why a job file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JobFault {
    #[error("{name} is larger than {most}, the limit for job files")]
    TooLarge { name: String, most: units::Bytes },
    #[error("{0} is not UTF-8 text")]
    NoText(String),
    #[error("{} is a fio job, not a job file of diskperf", .0.shown())]
    OfFio(PathBuf),
    #[error("{at}: {what}")]
    Syntax { at: Spot, what: String },
    #[error("{at}: {table} has no key {key}")]
    UnknownKey { at: Spot, table: &'static str, key: String, known: Vec<String>, why: Option<&'static str> },
    #[error("{at}: {key}: {why}")]
    BadValue { at: Spot, key: String, why: String, hint: String },
    #[error("{at}: {key} is missing")]
    Missing { at: Spot, key: String, hint: &'static str },
    #[error("{at}: the load in line {line} already has the name {name}")]
    SameName { at: Spot, name: String, line: usize },
    #[error("{0}: this section has no ]")]
    NoSection(Spot),
    #[error("{0}: include is not supported")]
    Includes(Spot),
    #[error("{0}: variables such as ${{NAME}} are not supported")]
    Variable(Spot),
    #[error("{0}: an option before the first section")]
    OutsideSections(Spot),
    #[error("{at}: more than {most} {what}")]
    TooMany { at: Spot, what: &'static str, most: usize },
    #[error("{at}: {what}")]
    NoMeaning { at: Spot, what: String, hint: &'static str },
}

impl JobFault {
    /// Where in the file.
    pub fn spot(&self) -> Option<&Spot> {
        match self {
            JobFault::TooLarge { .. } | JobFault::NoText(_) | JobFault::OfFio(_) => None,
            JobFault::Syntax { at, .. }
            | JobFault::UnknownKey { at, .. }
            | JobFault::BadValue { at, .. }
            | JobFault::Missing { at, .. }
            | JobFault::SameName { at, .. }
            | JobFault::NoMeaning { at, .. }
            | JobFault::TooMany { at, .. }
            | JobFault::NoSection(at)
            | JobFault::Includes(at)
            | JobFault::Variable(at)
            | JobFault::OutsideSections(at) => Some(at),
        }
    }

    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            JobFault::TooLarge { .. } | JobFault::NoText(_) => {
                "name a job file; diskperf import makes one of a job of fio".to_owned()
            }
            JobFault::OfFio(path) => {
                let is_named_so = path.extension().is_some_and(|extension| extension == "fio");
                let name = if is_named_so { path.file_stem() } else { path.file_name() };
                let mut to = name.unwrap_or_default().to_owned();
                to.push(".toml");
                format!("convert it: diskperf import {} -o {}", shell::word(path), shell::word(to))
            }
            JobFault::Syntax { .. } => {
                "the file is TOML: KEY = VALUE, words in quotes, a [[load]] for each load".to_owned()
            }
            JobFault::UnknownKey { why: Some(why), .. } => (*why).to_owned(),
            JobFault::UnknownKey { key, known, .. } => match nearest(key, known) {
                Some(near) => format!("perhaps {near}"),
                None => format!("there are: {}", known.join(", ")),
            },
            JobFault::BadValue { hint, .. } => hint.clone(),
            JobFault::Missing { hint, .. } | JobFault::NoMeaning { hint, .. } => (*hint).to_owned(),
            JobFault::SameName { .. } => "give one of them another: name = \"...\"".to_owned(),
            JobFault::TooMany { .. } => "split the file".to_owned(),
            JobFault::NoSection(_) => "a section is [NAME] on a line of its own".to_owned(),
            JobFault::Includes(_) => "put the lines of that file here".to_owned(),
            JobFault::Variable(_) => "write its value here; envsubst < JOB.fio does it for ${...}".to_owned(),
            JobFault::OutsideSections(_) => "put [global] above it".to_owned(),
        }
    }
}

/// The word that was probably meant: at most two letters, or a third of them, are different.
fn nearest<'a>(word: &str, known: &'a [String]) -> Option<&'a str> {
    let near = known.iter().map(|other| (strsim::damerau_levenshtein(word, other), other.as_str())).min()?;
    (near.0 <= 2.max(word.len() / 3)).then_some(near.1)
}
