//! Stages of one setup, as table 5 of Kridle & McKusick 1983 has those of a controller: which two are compared.
//!
//! Policy:
//!   1. each stage is compared with the one before: what changed at it is then all that differs;
//!   2. the last of three or more is compared with the first too: that tells what all of them came to;
//!   3. and no others, so that Holm's procedure corrects for these alone, and measuring ends when these are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The target that it is.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// What is other than at the stage before, as one would type it: `mount=noatime`. Empty for the first, and where
    /// nothing changed.
    pub changed: Vec<String>,
}

/// What a comparison of two stages is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What changed at the stage of this place, from 1.
    At(usize),
    /// All that changed, of three or more.
    All,
}

/// The two that are compared of so many stages, by their places, each with what it is about.
pub fn steps(count: usize) -> impl Iterator<Item = (Step, (usize, usize))> {
    // 1
    let each = (1..count).map(|place| (Step::At(place), (place - 1, place)));
    // 2
    each.chain((count > 2).then(|| (Step::All, (0, count - 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_compared_with_the_one_before_and_the_last_with_the_first() {
        let of = |count| steps(count).collect::<Vec<_>>();
        assert_eq!(of(4), [(Step::At(1), (0, 1)), (Step::At(2), (1, 2)), (Step::At(3), (2, 3)), (Step::All, (0, 3))]);
        // Of two, the one step is all there is.
        assert_eq!(of(2), [(Step::At(1), (0, 1))]);
        assert_eq!((of(1), of(0)), (Vec::new(), Vec::new()));
    }
}
