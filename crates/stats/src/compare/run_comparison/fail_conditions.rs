//! Conditions on the cells of two runs (`--fail-if`): a cell is slower, is missing, or cannot be guarded.
//!
//! Policy:
//!   1. A cell that was measured in the first run fails if it is not measured in the second run, or does no work in it.
//!   2. A cell for which the condition could never fail is not guarded, and that is a failure, too. Reasons are too few
//!      rounds, rounds without any work, an interrupted run, a mark that makes the rate false, another amount, another
//!      cache state or clock, or a claim that only one run could check.
//!   3. A cell that was not measured in the first run has no base. If that applies to all cells of a condition, the
//!      condition guards nothing. If it applies to some of them, they are new.
//!   4. A cell fails if its confidence interval excludes 1 and the ratio, in the middle of the interval, is lower by at
//!      least the given share.
//!   5. A cell that may be that much slower, or not slower at all, is undecided. It does not fail.

use schemars::JsonSchema;
use serde::Serialize;

use super::{AMOUNTS, ComparedCell, Found, NAMES};
use crate::compare::reason::Reason;
use crate::inference::ratio_test::{LEAST_APART, Series};
use crate::results::cell::Cell;

/// A condition of `--fail-if`, and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guarded {
    /// The condition, as it was typed.
    pub condition: String,
    /// The cells that the condition covers.
    pub cells: Vec<String>,
    /// True if the condition failed.
    pub failed: bool,
    /// Cells that are significantly slower, by at least the share of the condition.
    pub slower: Vec<String>,
    /// Cells that were measured in the first run but not in the second.
    pub missing: Vec<String>,
    /// Cells for which the condition could never fail, with the reasons.
    pub unguarded: Vec<Unguarded>,
    /// Cells for which the condition is not decided. They fail only if `undecided` is a condition, too.
    pub undecided: Vec<String>,
}

/// A cell for which a condition could never fail.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unguarded {
    /// The cell.
    pub cell: String,
    /// The reason.
    #[schemars(with = "String")]
    pub why: Reason,
}

/// The result of a condition for one cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The condition is satisfied.
    Well,
    /// The cell is significantly slower, by at least the share of the condition.
    Slower,
    /// The cell was measured in the first run, but not in the second.
    Missing,
    /// The cell was not measured in the first run.
    New,
    /// The condition could never fail for the cell; the field is the reason.
    Unguarded(Reason),
    /// The cell may be that much slower, or not slower at all.
    Undecided,
}

impl Guarded {
    /// The same condition if undecided cells fail, too.
    pub fn strict(self) -> Guarded {
        Guarded { failed: self.failed || !self.undecided.is_empty(), ..self }
    }

    /// Summarises a condition. Each cell is given by its name, its text for the lists, and its outcome.
    pub fn from_outcomes(condition: &str, cells: &[(String, String, Outcome)]) -> Guarded {
        let of = |wanted: Outcome| {
            let of_all = cells.iter().filter(|(.., outcome)| *outcome == wanted);
            of_all.map(|(_, told, _)| told.clone()).collect::<Vec<String>>()
        };
        let (slower, missing, undecided) = (of(Outcome::Slower), of(Outcome::Missing), of(Outcome::Undecided));
        // 3
        let is_new = cells.iter().all(|(.., outcome)| *outcome == Outcome::New);
        let reason = |outcome: &Outcome| match outcome {
            Outcome::Unguarded(why) => Some(why.clone()),
            Outcome::New if is_new => Some(Reason::NotMeasured(NAMES[0])),
            _ => None,
        };
        let unguarded =
            cells.iter().filter_map(|(cell, _, outcome)| Some(Unguarded { cell: cell.clone(), why: reason(outcome)? }));
        let unguarded: Vec<Unguarded> = unguarded.collect();
        Guarded {
            condition: condition.to_owned(),
            cells: cells.iter().map(|(cell, ..)| cell.clone()).collect(),
            failed: !(slower.is_empty() && missing.is_empty() && unguarded.is_empty()),
            slower,
            missing,
            unguarded,
            undecided,
        }
    }
}

impl ComparedCell {
    /// Checks whether the cell is slower by at least `part`, with a confidence interval that excludes 1.
    pub fn is_slower_by(&self, part: f64) -> Outcome {
        let (Some(then), now) = (&self.then, &self.now) else { return Outcome::New };
        match (now, &self.unguarded, self.ratio, self.low, self.high) {
            // 1
            (None, ..) => Outcome::Missing,
            (Some(now), ..) if then.per_second > 0.0 && now.per_second == 0.0 => Outcome::Slower,
            // 2
            (_, Some(why), ..) => Outcome::Unguarded(why.clone()),
            // 4
            (.., Some(ratio), _, Some(high)) if high < 1.0 && ratio <= 1.0 - part => Outcome::Slower,
            // 5
            (.., Some(low), Some(high)) if high >= 1.0 && low <= 1.0 - part => Outcome::Undecided,
            (.., Some(_), Some(_), Some(_)) => Outcome::Well,
            _ => Outcome::Undecided,
        }
    }
}

/// Returns the reason why no condition could fail for the cell, or `None` if one could.
pub(super) fn obstacle(then: &Cell, now: &Cell, found: Option<&Found>, is_interrupted: bool) -> Option<Reason> {
    let found = found?;
    if is_interrupted {
        return Some(Reason::Interrupted(NAMES[1]));
    }
    if found.void.is_some() {
        return found.void.clone();
    }
    let differs = |key: &&&str| then.parameters.get(**key) != now.parameters.get(**key);
    if let Some(amount) = AMOUNTS.iter().filter(|key| **key != "seed").find(differs) {
        return Some(Reason::Differs(amount));
    }
    if then.state.cache != now.state.cache {
        return Some(Reason::Differs("the cache state"));
    }
    if then.state.clock != now.state.clock {
        return Some(Reason::Differs("the end point of the measurement"));
    }
    if let Some((when, series)) = NAMES.into_iter().zip(&found.series).find(|(_, series)| series.idle() > 0) {
        return Some(Reason::IdleIn(when, series.idle(), series.count()));
    }
    let fewest = found.series.iter().map(Series::count).min().filter(|_| !found.is_exact)?;
    (fewest < LEAST_APART).then(|| Reason::FewRounds(LEAST_APART - fewest, LEAST_APART))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(outcomes: &[Outcome]) -> Guarded {
        let cell = |outcome: &Outcome| ("commit".to_owned(), "commit 0.5x".to_owned(), outcome.clone());
        Guarded::from_outcomes("slower:5%", &outcomes.iter().map(cell).collect::<Vec<_>>())
    }

    #[test]
    fn what_could_not_fail_fails_and_what_is_new_beside_others_does_not() {
        let why = |outcomes: &[Outcome]| {
            let guarded = all(outcomes);
            assert_eq!(guarded.cells.len(), outcomes.len());
            (guarded.failed, guarded.unguarded.into_iter().map(|one| one.why.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(why(&[Outcome::Well, Outcome::Undecided, Outcome::New]), (false, vec![]));
        assert_eq!(why(&[Outcome::New]), (true, vec!["not measured in base".to_owned()]));
        assert_eq!(
            why(&[Outcome::Well, Outcome::Unguarded(Reason::Differs("x"))]),
            (true, vec!["x differs".to_owned()])
        );
        assert_eq!(all(&[Outcome::Slower, Outcome::Missing]).slower, ["commit 0.5x"]);
    }
}
