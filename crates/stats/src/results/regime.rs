//! A regime: a stretch of a result's rounds in which its rate stayed at one level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::results::round::Round;

/// A stretch of the rounds at one level of the rate. The first regime begins with the first round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regime {
    /// The round in which it began.
    pub first_round: u32,
    /// Seconds from the beginning of that round until the regime began; 0 if all of the round belongs to it.
    pub from_s: f64,
    /// The round in which it ended.
    pub last_round: u32,
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Number of units of work.
    pub ops: u64,
    /// Duration in seconds, by the clock of the result.
    pub seconds: f64,
    /// Its rate, in the base of the result's rate.
    pub per_second: f64,
}

impl Regime {
    /// Returns the first round that belongs to the regime from its beginning.
    pub fn first_whole_round(&self) -> u32 {
        self.first_round + u32::from(self.from_s > 0.0)
    }
}

/// True if all these rounds belong to the last regime, or if there is only one level.
pub fn are_of_last_regime<'a>(regimes: &[Regime], rounds: impl IntoIterator<Item = &'a Round>) -> bool {
    let from = regimes.last().map(Regime::first_whole_round);
    from.is_none_or(|from| rounds.into_iter().all(|round| round.round >= from))
}
