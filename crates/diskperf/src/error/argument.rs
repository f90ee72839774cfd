//! Errors of words, options and targets on the command line.

use std::path::PathBuf;

use kernel::sys::name::Shown;

use super::outcome::{Outcome, usage};
use crate::ui::shell;

/// The reason why a command makes no sense as it was typed.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    // Words.
    #[error("{word} is neither a command nor a help topic")]
    UnknownWord { word: String, near: Vec<String>, mentions: Vec<String> },
    #[error("{word} is not a command, and no directory or device here has that name")]
    NoCommand { word: String, near: Vec<String> },
    #[error("{0} is a command; put its options after it")]
    OptionsFirst(String),
    #[error("{0} is not a part of the paper")]
    NoSuchPart(String),
    #[error("`diskperf io` takes options of fio")]
    FioCall(String),
    #[error("{0} is neither an option of fio nor the value of one")]
    NoFioOption(String),
    #[error("{option} is an option of fio: {why}")]
    FioOption { option: String, why: &'static str },
    #[error("--rate={0} has no unit: fio reads it as bytes per second, and diskperf as operations per second")]
    RateWithoutUnit(String),
    #[error("{option}={rate} is the rate of each job in fio, and --jobs has several values")]
    RatePerJob { option: &'static str, rate: String },
    #[error("{option}={rate} limits only the reads or only the writes of a mix")]
    RateOfOne { option: &'static str, rate: String },
    #[error("these are {0} fio jobs, each with a --name; diskperf runs one job per call")]
    SeveralJobs(usize),
    #[error("--filename={0}: there is no such device")]
    NoSuchDevice(String),
    #[error("there is no option {0}")]
    OtherSpelling(&'static str, &'static str),

    // Targets of a preset.
    #[error("{option} does not apply to {preset}")]
    OnlyOfDevices { option: &'static str, preset: &'static str },
    #[error("--max-write does not apply to {0}: its sizes are given")]
    GivenSizes(&'static str),
    #[error("--record stores block traces, and this run is not stored")]
    RecordsNowhere,
    #[error("--keep needs a target that gets a file system, such as image:ext4")]
    NothingToKeep,

    // `choose`.
    #[error("`choose` needs at least two targets")]
    NoChoice,
    #[error("--price {target}: no target has that name")]
    UnknownPrice { target: String, known: Vec<String> },
    #[error("--price {0} is given twice")]
    PriceTwice(String),

    // Simulations.
    #[error("{0} does not use a mix")]
    NoMix(&'static str),
    #[error("{}: unknown file type for a timeline", .0.shown())]
    UnknownDrawing(PathBuf),
    #[error("no test of the preset can run on this machine, so there is nothing to draw")]
    NothingToDraw,
    #[error("this sweep has more than {0} rows")]
    TooManyRows(usize),
    #[error("--set {0}: no part of the sweep has this field")]
    LostSetting(String),
    #[error("--part needs --sweep")]
    PartOfNoSweep,
    #[error("--part needs --format csv")]
    PartWithoutCsv,
    #[error("a sweep in CSV is not stored in a results database")]
    StoresNoCsvSweep,
    #[error("--phases {phases}: {rows} rows with {phases} runs each are {all} simulations; the limit is {most}")]
    TooManySimulations { phases: String, rows: String, all: String, most: String },
    #[error("--phases {0} applies only to vaxmix; other parts always use 10")]
    OnlyVaxmixHasPhases(u32),
    #[error("--phases {phases}: a ranking needs more than one value")]
    FewPhases { phases: u32, least: u32 },
    #[error("--certainty applies only to the claims")]
    OnlyClaimsAreJudgedAgain,
}

impl ArgumentError {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            ArgumentError::UnknownWord { near, mentions, .. } => usage(unknown_word(near, mentions)),
            ArgumentError::NoCommand { near, .. } if near.is_empty() => {
                usage("diskperf help lists the commands; diskperf PATH measures a directory")
            }
            ArgumentError::NoCommand { near, .. } => {
                usage(format!("did you mean: diskperf {}", near.join(", diskperf ")))
            }
            ArgumentError::OptionsFirst(command) => {
                usage(format!("diskperf {command} [OPTIONS]; the directory of that name is ./{command}"))
            }
            ArgumentError::NoSuchPart(_) => {
                usage("the parts are T1 to T5, D1, D2, questions, Q1 to Q8, claims, assumptions, vaxmix and lfs")
            }
            ArgumentError::FioCall(call) => usage(format!("write io in front: {call}")),
            ArgumentError::NoFioOption(word) => {
                usage(format!("if it is a fio job, import it alone: diskperf import {}", shell::word(word)))
            }
            ArgumentError::FioOption { option, .. } => {
                usage(format!("leave {option} out; `diskperf import -- fio ...` lists all options that diskperf lacks"))
            }
            ArgumentError::RateWithoutUnit(rate) => {
                usage(format!("use --rate_iops={rate} for operations, or a unit for bytes, as in --rate=1m"))
            }
            ArgumentError::RatePerJob { .. } => {
                usage("use --rate N, which is the number of operations per second of all jobs together")
            }
            // A rate of bytes needs a unit.
            ArgumentError::RateOfOne { option: "--rate", .. } => usage("give both rates, as in --rate=20m,10m"),
            ArgumentError::RateOfOne { option, .. } => usage(format!("give both rates, as in {option}=700,300")),
            ArgumentError::SeveralJobs(_) => {
                usage("convert them to a job file: diskperf import -o JOB.toml -- fio --name=...")
            }
            ArgumentError::NoSuchDevice(_) => usage("lsblk lists the devices"),
            ArgumentError::OtherSpelling(_, instead) => usage(format!("use {instead}")),

            ArgumentError::OnlyOfDevices { .. } => {
                usage("leave it out, or use the preset device: diskperf run device DEVICE")
            }
            ArgumentError::GivenSizes(_) => usage("leave --max-write out; --size sets the size of large files"),
            ArgumentError::RecordsNowhere => usage("leave --no-store out, or name a results database: --store PATH"),
            ArgumentError::NothingToKeep => usage("leave --keep out, or name a target like image:ext4"),

            ArgumentError::NoChoice => usage(
                "name two or more, as in diskperf choose . /mnt; for two settings of one place, a=. \
                    b=.,tune=scheduler:none",
            ),
            ArgumentError::UnknownPrice { known, .. } => usage(format!("the targets are: {}", known.join(", "))),
            ArgumentError::PriceTwice(_) => usage("give each target one price"),

            ArgumentError::NoMix(_) => usage("--mix and --from-trace belong to the preset vaxmix"),
            ArgumentError::UnknownDrawing(_) => usage("use a name that ends in .json (trace) or .svg (picture)"),
            ArgumentError::NothingToDraw => usage("use another preset, such as classic1983"),
            ArgumentError::TooManyRows(_) => {
                usage("sweep fewer fields, or use a larger step; --format csv takes a million rows")
            }
            ArgumentError::LostSetting(_) => usage("leave it out, or sweep a part that has the field"),
            ArgumentError::PartOfNoSweep => usage("name what is swept: --sweep FIELD=VALUES"),
            ArgumentError::PartWithoutCsv => usage("add --format csv"),
            ArgumentError::StoresNoCsvSweep => usage("leave --store and --name out, or leave --format csv out"),
            ArgumentError::TooManySimulations { .. } => usage("use a smaller --phases, or sweep fewer fields"),
            ArgumentError::OnlyVaxmixHasPhases(_) => usage("name the part: diskperf paper vaxmix --phases 20"),
            ArgumentError::OnlyClaimsAreJudgedAgain => usage("name the part: diskperf paper claims --certainty"),
            ArgumentError::FewPhases { least, .. } => usage(format!("use --phases {least} or more")),
        }
    }
}

/// Similar words and the first place that mentions the word; without similar words, all places.
fn unknown_word(near: &[String], mentions: &[String]) -> String {
    let near = (!near.is_empty()).then(|| format!("did you mean: {}", near.join(", ")));
    let most = if near.is_some() { 1 } else { mentions.len() };
    let mentions = (!mentions.is_empty()).then(|| format!("see {}", mentions[..most.min(mentions.len())].join(", ")));
    let hints: Vec<String> = near.into_iter().chain(mentions).collect();
    if hints.is_empty() { "diskperf help lists the commands and topics".to_owned() } else { hints.join("; ") }
}
