//! What a condition says of a cell in two runs: that it is surely slower, that it is gone, or that it cannot be
//! guarded.
//!
//! Policy:
//!   1. what was measured and is not now, or does nothing now, fails;
//!   2. a cell of which the condition could never fail is not guarded, and that fails too: too few rounds, rounds in
//!      which nothing was done, a run that was interrupted, a rate that a mark calls false, another amount, another
//!      claim;
//!   3. a cell that was not measured then has nothing to be held against. Where that is so of all that a condition
//!      names, the condition guards nothing; one beside others is new;
//!   4. one that is surely slower - its interval leaves out 1 - and by as much in the middle of the interval fails;
//!   5. one that may be slower by as much, and may not be slower at all, does neither.

use schemars::JsonSchema;
use serde::Serialize;

use super::{AMOUNTS, ComparedCell, Found};
use crate::inference::comparison::{LEAST_APART, Series};
use crate::results::cell::Cell;

/// What was to fail, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guarded {
    /// As it was typed.
    pub condition: String,
    /// The cells that it is about.
    pub cells: Vec<String>,
    /// Whether it fails.
    pub failed: bool,
    /// Cells that are surely slower, and by as much.
    pub slower: Vec<String>,
    /// Cells that are measured no more, or not any more: what is gone cannot be guarded.
    pub missing: Vec<String>,
    /// Cells of which it could not have failed.
    pub unguarded: Vec<Unguarded>,
    /// Cells of which it is not decided.
    pub undecided: Vec<String>,
}

/// A cell that cannot be guarded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unguarded {
    /// The cell.
    pub cell: String,
    /// Why not.
    pub why: String,
}

/// What a condition says of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is wrong with it.
    Well,
    /// It is surely slower, and by as much.
    Slower,
    /// It was measured, and is not now.
    Missing,
    /// It was not measured then.
    New,
    /// It could not have failed, for this reason.
    Unguarded(String),
    /// It may be slower by as much, and may not be slower at all.
    Undecided,
}

impl Guarded {
    /// What came of a condition, of cells each with its name, what is told of it, and what the condition says of it.
    pub fn of(condition: &str, cells: &[(String, String, Outcome)]) -> Guarded {
        let of = |wanted: Outcome| {
            let of_all = cells.iter().filter(|(.., outcome)| *outcome == wanted);
            of_all.map(|(_, told, _)| told.clone()).collect::<Vec<String>>()
        };
        let (slower, missing, undecided) = (of(Outcome::Slower), of(Outcome::Missing), of(Outcome::Undecided));
        // 3
        let is_new = cells.iter().all(|(.., outcome)| *outcome == Outcome::New);
        let reason = |outcome: &Outcome| match outcome {
            Outcome::Unguarded(why) => Some(why.clone()),
            Outcome::New if is_new => Some("not measured in base".to_owned()),
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
    /// Whether it is surely slower (its interval leaves out 1), and by such a part in the middle of it.
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

/// Why no condition could fail by a cell of which this was found; nothing where one could.
pub(super) fn obstacle(then: &Cell, now: &Cell, found: Option<&Found>, is_interrupted: bool) -> Option<String> {
    let found = found?;
    if is_interrupted {
        return Some("new was interrupted".to_owned());
    }
    for (when, cell) in [("base", then), ("new", now)] {
        if let Some(mark) = cell.marks.iter().find(|mark| mark.code.decides_nothing()) {
            return Some(format!("its rate in {when} has the warning {}", mark.code.name()));
        }
    }
    let differs = |key: &&&str| then.parameters.get(**key) != now.parameters.get(**key);
    if let Some(amount) = AMOUNTS.iter().filter(|key| **key != "seed").find(differs) {
        return Some(format!("{amount} differs"));
    }
    if then.state.cache != now.state.cache {
        return Some("the cache state differs".to_owned());
    }
    if then.state.clock != now.state.clock {
        return Some("the end point of the measurement differs".to_owned());
    }
    for (when, series) in ["base", "new"].into_iter().zip(&found.series) {
        if series.idle() > 0 {
            return Some(format!("no operation in {} of {} rounds of {when}", series.idle(), series.count()));
        }
    }
    let fewest = found.series.iter().map(Series::count).min().filter(|_| !found.is_exact)?;
    (fewest < LEAST_APART).then(|| format!("{} of {LEAST_APART} rounds missing", LEAST_APART - fewest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(outcomes: &[Outcome]) -> Guarded {
        let cell = |outcome: &Outcome| ("commit".to_owned(), "commit 0.5x".to_owned(), outcome.clone());
        Guarded::of("slower:5%", &outcomes.iter().map(cell).collect::<Vec<_>>())
    }

    #[test]
    fn what_could_not_fail_fails_and_what_is_new_beside_others_does_not() {
        let why = |outcomes: &[Outcome]| {
            let guarded = all(outcomes);
            assert_eq!(guarded.cells.len(), outcomes.len());
            (guarded.failed, guarded.unguarded.into_iter().map(|one| one.why).collect::<Vec<_>>())
        };
        assert_eq!(why(&[Outcome::Well, Outcome::Undecided, Outcome::New]), (false, vec![]));
        assert_eq!(why(&[Outcome::New]), (true, vec!["not measured in base".to_owned()]));
        assert_eq!(why(&[Outcome::Well, Outcome::Unguarded("x".to_owned())]), (true, vec!["x".to_owned()]));
        assert_eq!(all(&[Outcome::Slower, Outcome::Missing]).slower, ["commit 0.5x"]);
    }
}
