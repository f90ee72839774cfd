//! Errors of workloads: message, hint and exit status of each, and its place in the text.

use std::error::Error;
use std::fmt;

use units::{Bytes, Exit};

use crate::source_span::SourceSpan;

/// The reason why a workload cannot be used.
#[derive(Debug)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum JobError {
    Load(LoadError),
    NoRing(String),
    TooLarge { name: String, most: Bytes, is_for_import: bool },
    NotText { name: String, is_for_import: bool },
    FioJob { name: String, import: String },
    Syntax { at: SourceSpan, what: String },
    UnknownKey { at: SourceSpan, table: &'static str, key: String, known: Vec<String>, why: Option<&'static str> },
    BadValue { at: SourceSpan, key: String, why: String, hint: String },
    Missing { at: SourceSpan, key: String, hint: &'static str },
    SameName { at: SourceSpan, name: String, line: usize },
    OpenSection(SourceSpan),
    Include(SourceSpan),
    Variable(SourceSpan),
    OutsideSections(SourceSpan),
    TooMany { at: SourceSpan, what: &'static str, most: usize },
    Unsupported { at: SourceSpan, what: String, hint: &'static str },
    BadTrace { name: String, line: Option<u64>, why: &'static str },
    BadBlockTrace { name: String, line: Option<u64>, format: &'static str, why: String },
}

/// Options of a workload that contradict each other or make no sense. The words name options (--rate); a job file
/// shows them as keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The key.
    pub key: &'static str,
    /// Its value; empty for a flag.
    pub given: String,
    /// The reason.
    pub why: String,
    /// The hint.
    pub hint: String,
}

impl LoadError {
    /// An error in the value of a key.
    pub fn new(key: &'static str, given: impl ToString, why: impl Into<String>, hint: impl Into<String>) -> LoadError {
        LoadError { key, given: given.to_string(), why: why.into(), hint: hint.into() }
    }
}

/// The text of an error for the user, and the exit status.
struct Words {
    message: String,
    hint: String,
    exit: Exit,
}

/// An error that the user can correct in the text or on the command line.
fn usage(message: String, hint: impl Into<String>) -> Words {
    Words { message, hint: hint.into(), exit: Exit::Usage }
}

/// A workload that this machine cannot run.
fn refused(message: String, hint: impl Into<String>) -> Words {
    Words { message, hint: hint.into(), exit: Exit::Refused }
}

/// The hint if a file cannot be a job file, or the fio job of `import`.
fn no_job_file(is_for_import: bool) -> &'static str {
    match is_for_import {
        true => "name a fio job: a text file with sections, as in [job1]",
        false => "name a job file; `diskperf import JOB.fio` makes one from a fio job",
    }
}

impl JobError {
    /// The place in the text, if the error has one.
    pub fn span(&self) -> Option<&SourceSpan> {
        match self {
            JobError::Load(_)
            | JobError::NoRing(_)
            | JobError::TooLarge { .. }
            | JobError::NotText { .. }
            | JobError::FioJob { .. }
            | JobError::BadTrace { .. }
            | JobError::BadBlockTrace { .. } => None,
            JobError::Syntax { at, .. }
            | JobError::UnknownKey { at, .. }
            | JobError::BadValue { at, .. }
            | JobError::Missing { at, .. }
            | JobError::SameName { at, .. }
            | JobError::Unsupported { at, .. }
            | JobError::TooMany { at, .. }
            | JobError::OpenSection(at)
            | JobError::Include(at)
            | JobError::Variable(at)
            | JobError::OutsideSections(at) => Some(at),
        }
    }

    /// The exit status.
    pub fn exit(&self) -> Exit {
        self.words().exit
    }

    /// The hint.
    pub fn hint(&self) -> Option<String> {
        Some(self.words().hint)
    }

    fn words(&self) -> Words {
        match self {
            JobError::Load(LoadError { key, given, why, hint }) => {
                let gap = if given.is_empty() { "" } else { " " };
                usage(format!("--{key}{gap}{given}: {why}"), hint)
            }
            JobError::NoRing(why) => refused(why.clone(), "leave out --engine uring; the queue depth is then 1"),
            JobError::TooLarge { name, most, is_for_import } => {
                usage(format!("{name} is larger than {most}, the limit for job files"), no_job_file(*is_for_import))
            }
            JobError::NotText { name, is_for_import } => {
                usage(format!("{name} is not UTF-8 text"), no_job_file(*is_for_import))
            }
            JobError::FioJob { name, import } => {
                usage(format!("{name} is a fio job, not a job file of diskperf"), format!("convert it: {import}"))
            }
            JobError::Syntax { at, what } => usage(
                format!("{at}: {what}"),
                "the file is TOML: KEY = VALUE, text in quotes, and [[load]] above each workload",
            ),
            JobError::UnknownKey { at, table, key, known, why } => {
                usage(format!("{at}: {table} has no key {key}"), other_key(key, known, *why))
            }
            JobError::BadValue { at, key, why, hint } => usage(format!("{at}: {key}: {why}"), hint),
            JobError::Missing { at, key, hint } => usage(format!("{at}: {key} is missing"), *hint),
            JobError::SameName { at, name, line } => usage(
                format!("{at}: the workload in line {line} already has the name {name}"),
                "give one of them another name: name = \"...\"",
            ),
            JobError::OpenSection(at) => usage(format!("{at}: this section has no ]"), "write [NAME] on its own line"),
            JobError::Include(at) => usage(format!("{at}: include is not supported"), "copy the lines of that file"),
            JobError::Variable(at) => usage(
                format!("{at}: variables such as ${{NAME}} are not supported"),
                "write the value instead; envsubst < JOB.fio does it for ${...}",
            ),
            JobError::OutsideSections(at) => {
                usage(format!("{at}: an option before the first section"), "put [global] above it")
            }
            JobError::TooMany { at, what, most } => usage(format!("{at}: more than {most} {what}"), "split the file"),
            JobError::Unsupported { at, what, hint } => usage(format!("{at}: {what}"), *hint),
            JobError::BadTrace { name, line, why } => {
                let line = line.map_or_else(String::new, |line| format!(", line {line}"));
                let message = format!("{name} is not blkparse output{line}: {why}");
                usage(message, "create one: `blktrace -d DEVICE -o - | blkparse -i - -o FILE`")
            }
            JobError::BadBlockTrace { name, line, format, why } => {
                let line = line.map_or_else(String::new, |line| format!(", line {line}"));
                let hint = "use blkparse text, MSR CSV or ftrace text, sorted by time and complete";
                usage(format!("{name} is not a usable block trace ({format}){line}: {why}"), hint)
            }
        }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().message)
    }
}

impl Error for JobError {}

impl From<LoadError> for JobError {
    fn from(error: LoadError) -> JobError {
        JobError::Load(error)
    }
}

/// The reason why the key is not allowed, or a similar key, or all keys.
fn other_key(key: &str, known: &[String], why: Option<&'static str>) -> String {
    match (why, nearest(key, known)) {
        (Some(why), _) => why.to_owned(),
        (None, Some(near)) => format!("did you mean {near}?"),
        (None, None) => format!("known keys: {}", known.join(", ")),
    }
}

/// The most similar word, if at most two letters, or a third of them, differ.
fn nearest<'a>(word: &str, known: &'a [String]) -> Option<&'a str> {
    let near = known.iter().map(|other| (strsim::damerau_levenshtein(word, other), other.as_str())).min()?;
    (near.0 <= 2.max(word.len() / 3)).then_some(near.1)
}
