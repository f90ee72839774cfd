//! The rounds of a run: their number, which of them count, and when they end early.

use serde::{Deserialize, Serialize};
use stats::inference::ratio_test::LEAST_PAIRS;
use stats::inference::steady_state;

use crate::choose::Goal;

/// A comparison is sized for this number of rounds. Guess: with six, the fewest, few comparisons are decided; with
/// many, the files are small.
const FORESEEN: u32 = 10;

/// A run with chosen sizes has at least this number of rounds, unless the user wants fewer.
const FEWEST: u32 = 5;

/// The rounds of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Schedule {
    /// A number of rounds.
    Fixed {
        /// Rounds, the discarded one included.
        rounds: u32,
        /// Rounds that the preset promises to keep. Results of fewer rounds have a warning.
        promised: u32,
        /// True if the first round is discarded: "to clear out any useful data in the cache" (Kridle & McKusick 1983,
        /// section 4).
        discard_first: bool,
        /// True if results have a warning when the kept rounds differ by more than a tenth.
        must_agree: bool,
    },
    /// Until every rate is steady. The last rounds count.
    UntilSteady {
        /// The maximum number of rounds.
        rounds: u32,
    },
    /// Until every command has run often enough. The first round is discarded.
    UntilEnough {
        /// The maximum number of rounds, the discarded one included.
        rounds: u32,
        /// Rounds that the preset promises to keep.
        promised: u32,
    },
    /// Until every comparison is decided.
    UntilDecided {
        /// The maximum number of rounds, if the user set a limit.
        rounds: Option<u32>,
        /// True if the first round is discarded.
        discard_first: bool,
        /// The subject and the precision of the comparison.
        goal: Goal,
    },
    /// One simulation for each of N rotational positions of the platters. Only `simulate` uses it; a request never
    /// contains it.
    #[serde(skip)]
    Phases(u32),
}

impl Schedule {
    /// A schedule of this number of rounds, which all count.
    pub const fn fixed(rounds: u32) -> Schedule {
        Schedule::Fixed { rounds, promised: rounds, discard_first: false, must_agree: false }
    }

    /// The schedule with exactly this number of rounds, if one is given. The number that the preset promises stays.
    pub fn with_rounds(&self, given: Option<u32>) -> Schedule {
        let mut schedule = self.clone();
        match (&mut schedule, given) {
            (_, None) => {}
            (&mut Schedule::UntilEnough { promised, .. }, Some(rounds)) => {
                schedule = Schedule::Fixed { rounds, promised, discard_first: true, must_agree: false };
            }
            (
                Schedule::Fixed { rounds, .. } | Schedule::UntilSteady { rounds } | Schedule::Phases(rounds),
                Some(given),
            ) => *rounds = given,
            (Schedule::UntilDecided { rounds, .. }, Some(given)) => *rounds = Some(given),
        }
        schedule
    }

    /// The number of rounds that the sizes of the tests are computed for.
    pub fn rounds(&self) -> u32 {
        match self {
            Schedule::Fixed { rounds, .. }
            | Schedule::UntilSteady { rounds }
            | Schedule::UntilEnough { rounds, .. }
            | Schedule::Phases(rounds) => *rounds,
            Schedule::UntilDecided { rounds, .. } => rounds.unwrap_or(FORESEEN),
        }
    }

    /// The least number of rounds, for lack of time or bytes. Student's interval of four rounds is a sixth wider than
    /// that of five.
    pub fn fewest(&self) -> u32 {
        match self {
            Schedule::UntilDecided { .. } => self.least_to_decide(),
            _ => FEWEST.min(self.rounds()),
        }
    }

    /// The number of rounds below which results have a warning.
    pub fn promised(&self) -> u32 {
        match self {
            Schedule::Fixed { promised, .. } | Schedule::UntilEnough { promised, .. } => *promised,
            Schedule::UntilSteady { .. } => steady_state::WINDOW as u32,
            Schedule::UntilDecided { .. } => LEAST_PAIRS as u32,
            Schedule::Phases(_) => 1,
        }
    }

    /// The number of rounds below which no comparison is decided: the discarded round is not one of the pairs.
    pub fn least_to_decide(&self) -> u32 {
        LEAST_PAIRS as u32 + u32::from(self.discards_first())
    }

    /// True if the first of several rounds is discarded.
    pub fn discards_first(&self) -> bool {
        match self {
            Schedule::Fixed { discard_first, .. } | Schedule::UntilDecided { discard_first, .. } => *discard_first,
            Schedule::UntilEnough { .. } => true,
            Schedule::UntilSteady { .. } | Schedule::Phases(_) => false,
        }
    }

    /// True if results have a warning when the kept rounds differ by more than a tenth.
    pub fn must_agree(&self) -> bool {
        matches!(self, Schedule::Fixed { must_agree: true, .. })
    }

    /// True if the run ends when every rate is steady.
    pub fn is_until_steady(&self) -> bool {
        matches!(self, Schedule::UntilSteady { .. })
    }

    /// True if the run ends when every command has run often enough.
    pub fn is_until_enough(&self) -> bool {
        matches!(self, Schedule::UntilEnough { .. })
    }

    /// The maximum number of rounds of a comparison, if the user set a limit.
    pub fn asked_rounds(&self) -> Option<u32> {
        if let Schedule::UntilDecided { rounds, .. } = self { *rounds } else { None }
    }

    /// The goal of a comparison.
    pub fn goal(&self) -> Option<&Goal> {
        match self {
            Schedule::UntilDecided { goal, .. } => Some(goal),
            _ => None,
        }
    }

    /// The number of rotational positions of a simulation.
    pub fn phases(&self) -> Option<u32> {
        match self {
            Schedule::Phases(phases) => Some(*phases),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_rounds_do_not_change_the_promised_number() {
        let asked = Schedule::fixed(5).with_rounds(Some(2));
        assert_eq!((asked.rounds(), asked.promised()), (2, 5));
        assert_eq!(Schedule::fixed(5).with_rounds(None), Schedule::fixed(5));
        let steady = Schedule::UntilSteady { rounds: 25 }.with_rounds(Some(3));
        assert_eq!((steady.rounds(), steady.promised()), (3, steady_state::WINDOW as u32));
        let enough = Schedule::UntilEnough { rounds: 11, promised: 5 };
        let exact = Schedule::Fixed { rounds: 3, promised: 5, discard_first: true, must_agree: false };
        assert_eq!((enough.with_rounds(Some(3)), enough.with_rounds(None)), (exact, enough.clone()));
        assert_eq!((enough.rounds(), enough.promised(), enough.discards_first()), (11, 5, true));
    }

    #[test]
    fn a_discarded_round_does_not_count_as_a_pair() {
        let goal = Goal { margin: 0.05, purpose: None, needs: Vec::new(), prices: Vec::new(), in_stages: false };
        let until = |discard_first| Schedule::UntilDecided { rounds: None, discard_first, goal: goal.clone() };
        assert_eq!([until(false), until(true)].map(|one| one.least_to_decide()), [6, 7]);
        assert_eq!((until(true).rounds(), until(true).fewest()), (FORESEEN, 7));
        assert_eq!([2, 5, 20].map(|rounds| Schedule::fixed(rounds).fewest()), [2, 5, 5]);
    }
}
