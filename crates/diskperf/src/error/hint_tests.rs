//! Tests that the command-line parser accepts every diskperf command in a hint.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use campaign::error::CampaignError;
use kernel::PathFault;
use kernel::guard::GuardFault;
use kernel::provision::queue_tuning::TuningFault;
use powercut::{LedgerFault, VerifyFault};
use store::StoreError;
use units::Bytes;

use super::{ArgumentError, CommandFault, ConsentError, Error, ProgramError, RunsError, VerifyError};
use crate::cli;
use crate::documents::document_error::DocumentFault;

/// The ends of a command in a hint, and words that may follow it.
const ENDS: [&str; 16] = [
    "`",
    ";",
    ",",
    " > ",
    " && ",
    " run until",
    " shows",
    " prints",
    " lists",
    " makes",
    " reads",
    " stores",
    " takes",
    " tells",
    " measures",
    "\n",
];

/// The diskperf commands in a hint. A sentence about the program is not a command.
fn commands(hint: &str) -> Vec<Vec<OsString>> {
    let named = hint.match_indices("diskperf ").filter_map(|(at, _)| {
        let rest = &hint[at..];
        let end = ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        let words = shlex::split(&rest[..end]).unwrap_or_else(|| panic!("no words: {hint}"));
        // A sentence about the program itself: "diskperf writes to files only", "the diskperf that wrote it".
        let is_sentence =
            words.get(1).is_none_or(|word| ["writes", "that", "cuts", "cannot", "searches"].contains(&word.as_str()));
        (!is_sentence).then(|| words.into_iter().map(OsString::from).collect())
    });
    named.collect()
}

/// Errors whose hints name commands, with names that a shell would split.
fn errors() -> Vec<Error> {
    let path = || PathBuf::from("/mnt/it's here/x");
    let io = || io::Error::from_raw_os_error(5);
    let words = |line: &str| shlex::split(line).expect("words").into_iter().map(OsString::from).collect::<Vec<_>>();
    let run = || "bzkv-261122".to_owned();
    let left = kernel::Fault::Left { path: path(), source: io() };
    let failed = GuardFault::Failed { action: "erase", device: "/dev/loop7".into(), source: io() };
    vec![
        CampaignError::IsADevice("/dev/sdb".into()).into(),
        CampaignError::NoDevice("x".to_owned()).into(),
        ArgumentError::OnlyOfDevices { option: "--write", preset: "quick" }.into(),
        PathFault::WouldOverwrite(path()).into(),
        PathFault::WouldOverwriteDatabase(path()).into(),
        ConsentError::RarelyMeant { path: "/".into(), why: "is" }.into(),
        ProgramError::TooShort { path: path(), program: "read_8192", holds: Bytes(0), needs: Bytes(1) }.into(),
        PathFault::NoRoom { path: path(), free: Bytes(0), needed: Bytes(1) }.into(),
        ArgumentError::NoChoice.into(),
        RunsError::NothingLeft(run()).into(),
        RunsError::AllFinished.into(),
        RunsError::SeveralJobs { first: path(), count: 2 }.into(),
        RunsError::Elsewhere {
            run: run(),
            elsewhere: String::new(),
            hosts: 0,
            folder: path(),
            command: words("diskperf run smoke 'a b'"),
        }
        .into(),
        RunsError::Occupied {
            refused: Box::new(GuardFault::Refused {
                device: "/dev/loop7".to_owned(),
                reasons: Vec::new(),
                identity: "64 MiB".to_owned(),
            }),
            doubt: None,
            folder: path(),
            command: words("diskperf run new:ext4@/dev/loop7 -- cp -r /usr copy"),
        }
        .into(),
        RunsError::NoJob(run()).into(),
        RunsError::NoHistory { word: "x".to_owned(), known: Vec::new() }.into(),
        ArgumentError::UnknownWord { word: "x".to_owned(), near: Vec::new(), mentions: Vec::new() }.into(),
        VerifyError::TwoSteps(path()).into(),
        VerifyError::LogIsLost(path()).into(),
        VerifyFault::BadLog { path: path(), fault: LedgerFault::NotALog }.into(),
        VerifyFault::NoControl(TuningFault::NoNotes).into(),
        CampaignError::NoSettings("flat".to_owned()).into(),
        left.into(),
        failed.into(),
        Error::Store(StoreError::Missing(path())),
        Error::Store(StoreError::Io { action: "read", path: path(), source: io() }),
        Error::Store(StoreError::UnknownRun { typed: "x".to_owned(), near: Vec::new() }),
        Error::Store(StoreError::Taken(run())),
        Error::Document(DocumentFault::Empty("x".to_owned())),
        Error::Document(DocumentFault::SeveralRuns { name: "x".to_owned(), count: 2 }),
        Error::Document(DocumentFault::NotJson { name: "x".to_owned(), why: String::new() }),
        CommandFault::NotFound(kernel::NoCommand::Nothing).into(),
        CommandFault::Preset("quick".to_owned()).into(),
    ]
}

#[test]
fn every_command_in_a_hint_is_valid() {
    let (mut count, mut refused) = (0, Vec::new());
    for error in errors() {
        let hint = error.hint().unwrap_or_else(|| panic!("no hint: {error}"));
        let commands = commands(&hint);
        let is_of_us = hint.contains("diskperf ") && !hint.contains("diskperf writes");
        assert_eq!(commands.is_empty(), !is_of_us, "{hint}");
        for words in commands {
            refused.extend(cli::refusal(&words).map(|refusal| format!("{hint}: {words:?}: {refusal}")));
            count += 1;
        }
    }
    assert_eq!(refused, [""; 0]);
    assert!(count >= 30, "{count}");
}
