//! The reasons why a comparison decides nothing, and why a condition cannot be checked. Documents have them in words.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::judge::marks::MarkCode;

/// A reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Results are not what their labels say: the targets with each warning.
    Warned(BTreeMap<MarkCode, Vec<String>>),
    /// Only these targets have results that cannot be verified: the targets with each cause.
    Unverified(BTreeMap<String, Vec<String>>),
    /// Only this run has a result that cannot be verified, and the cause.
    UnverifiedIn(&'static str, String),
    /// Tests with this share of a use's weight, in percent, have no verdict.
    NoMajority {
        /// The share.
        percent: f64,
        /// The tests that were not measured on all targets.
        missing: Vec<String>,
        /// The tests that are undecided.
        undecided: Vec<String>,
    },
    /// One of both did no work in this number of rounds.
    Idle(usize),
    /// A run was interrupted.
    Interrupted(&'static str),
    /// The rate in a run is not what its label says.
    WarnedIn(&'static str, MarkCode),
    /// A setting differs, in words: another amount, cache state or clock.
    Differs(&'static str),
    /// A run has rounds without any work: their number, and the number of all rounds.
    IdleIn(&'static str, usize, usize),
    /// Rounds are missing: their number, and the number that is needed.
    FewRounds(usize, usize),
    /// A run has no rate.
    NotMeasured(&'static str),
    /// A run was stored without the latencies of its rounds, or has no such operations.
    NoLatencies(&'static str),
    /// A round of this run has too few operations for the percentile.
    FewOperations(&'static str),
    /// A rate changed its level, so the spread of the rounds forecasts nothing.
    Step,
    /// Burst credits may have come back while a target rested, and raised its rate by more than the verdict allows.
    Credits,
}

impl Reason {
    /// Returns the reason that one of both did no work in this number of rounds, if there are any.
    pub fn idle(rounds: usize) -> Option<Reason> {
        (rounds > 0).then_some(Reason::Idle(rounds))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reason::Warned(warnings) => {
                let one = |(code, targets): (&MarkCode, &Vec<String>)| {
                    format!("warning {} ({})", code.name(), targets.join(", "))
                };
                out.write_str(&warnings.iter().map(one).collect::<Vec<String>>().join(", "))
            }
            Reason::Unverified(causes) => {
                let one = |(cause, targets): (&String, &Vec<String>)| {
                    format!("unverified on {}: {cause}", targets.join(", "))
                };
                out.write_str(&causes.iter().map(one).collect::<Vec<String>>().join("; "))
            }
            Reason::UnverifiedIn(run, cause) => write!(out, "unverified in {run}: {cause}"),
            Reason::NoMajority { percent, missing, undecided } => {
                let groups = [("missing", missing), ("undecided", undecided)];
                let groups = groups.into_iter().filter(|(_, tests)| !tests.is_empty());
                let groups: Vec<String> =
                    groups.map(|(words, tests)| format!("{words} ({})", tests.join(", "))).collect();
                write!(out, "tests with {percent:.0} % of the weight are {}", groups.join(" or "))
            }
            Reason::Idle(1) => out.write_str("no operation in 1 round"),
            Reason::Idle(rounds) => write!(out, "no operation in {rounds} rounds"),
            Reason::Interrupted(run) => write!(out, "{run} was interrupted"),
            Reason::WarnedIn(run, code) => write!(out, "its rate in {run} has the warning {}", code.name()),
            Reason::Differs(setting) => write!(out, "{setting} differs"),
            Reason::IdleIn(run, rounds, all) => write!(out, "no operation in {rounds} of {all} rounds of {run}"),
            Reason::FewRounds(missing, needed) => write!(out, "{missing} of {needed} rounds missing"),
            Reason::NotMeasured(run) => write!(out, "not measured in {run}"),
            Reason::NoLatencies(run) => write!(out, "{run} has no such latencies of its rounds"),
            Reason::FewOperations(run) => write!(out, "a round of {run} has too few operations for the percentile"),
            Reason::Step => out.write_str("a rate changed its level"),
            Reason::Credits => out.write_str("burst credits may have come back"),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
