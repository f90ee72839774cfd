//! Stages of one setup, like those of a controller in table 5 of Kridle & McKusick 1983, and the pairs of stages to
//! compare.
//!
//! Policy:
//!   1. Each stage is compared with the one before, so that only the change of the stage differs.
//!   2. The last of three or more is compared with the first, too, to show the sum of all changes.
//!   3. No other pairs are compared. So Holm's procedure corrects for these only, and measuring ends when these are
//!      decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Target of this stage.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// Changes since the stage before, as you would type them: `mount=noatime`. Empty for the first stage, and if
    /// nothing changed.
    pub changed: Vec<String>,
}

/// The changes that a comparison of two stages covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The changes of the stage with this index, from 1.
    At(usize),
    /// All changes of three or more stages.
    All,
}

/// Returns the pairs to compare among `count` stages, as indices, each with the changes that it covers.
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
        // Two stages have only one step.
        assert_eq!(of(2), [(Step::At(1), (0, 1))]);
        assert_eq!((of(1), of(0)), (Vec::new(), Vec::new()));
    }
}
