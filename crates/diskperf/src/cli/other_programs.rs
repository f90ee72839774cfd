//! Names and options of other programs in a call of diskperf, and what to write instead.

use std::ffi::OsString;

use jobs::fio;

use super::fio_words;
use crate::error::ArgumentError;

/// Other programs, and commands of diskperf for the same purpose.
const PROGRAMS: [(&str, &str); 4] = [
    ("fio", "import JOB.fio -o JOB.toml"),
    ("ioping", "io randread --rate 1 --time forever"),
    ("elbencho", "io randread --direct --iodepth 32 --jobs 4"),
    ("hyperfine", "choose A B -- COMMAND"),
];

/// Options of other programs, and options of diskperf for the same purpose.
const OPTIONS: [(&str, &str); 3] =
    [("--csv", "--format csv"), ("--terse", "--format csv"), ("--minimal", "--format csv")];

/// The diskperf command with the same purpose as this program.
pub fn command_instead_of(program: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(other, _)| *other == program).map(|(_, instead)| *instead)
}

/// The error for an unknown option of `io` or `choose` that fio or another program has.
pub fn option_fault(words: &[OsString], option: &str) -> Option<ArgumentError> {
    words.get(1).filter(|word| *word == "io" || *word == "choose")?;
    let option = option.split('=').next().unwrap_or_default();
    if let Some((other, instead)) = OPTIONS.iter().find(|(other, _)| *other == option) {
        return Some(ArgumentError::OtherSpelling(other, instead));
    }
    let name = option.strip_prefix("--")?;
    let has_fio_words = || fio_words::translated(words).is_some();
    let why = fio::reason(name).or_else(|| has_fio_words().then_some(fio::NO_SUCH_OPTION))?;
    Some(ArgumentError::FioOption { option: option.to_owned(), why })
}
