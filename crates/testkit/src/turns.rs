//! Programs measured in turns. Each turn runs all of them once, one after the other, and the order rotates from turn to
//! turn. One of them runs twice in each turn: its two runs are the control.
//!
//! Policy:
//!   1. the ratio of two runs is the median over all turns, so that one disturbed turn does not move it;
//!   2. a comparison is decided after [`Bounds::least`] turns or more, if all controls are within [`Bounds::control`];
//!   3. a comparison that is not decided after [`Bounds::most`] turns says so. The variable `DISKPERF_TURNS` lowers
//!      that number, to try an experiment.

use std::env;

/// The variable with the turns after which a comparison is given up.
const TURNS: &str = "DISKPERF_TURNS";

/// The number of turns of a comparison, and its control.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Turns before it can be decided.
    pub least: usize,
    /// Turns after which it is given up.
    pub most: usize,
    /// The largest distance of a control from 1.
    pub control: f64,
}

impl Bounds {
    /// These bounds, or those of the environment if they are lower.
    pub fn or_fewer(self) -> Bounds {
        let given = env::var(TURNS).ok().and_then(|turns| turns.parse::<usize>().ok());
        Bounds { most: given.map_or(self.most, |turns| turns.clamp(1, self.most)), ..self }
    }

    /// The end of a comparison with these controls: whether it is decided. `None` if it needs another turn.
    pub fn end(&self, turns: usize, controls: &[f64]) -> Option<bool> {
        // 2. A control that is not a number is not within the bounds.
        let is_decided = turns >= self.least && controls.iter().all(|ratio| (ratio - 1.0).abs() <= self.control);
        // 3
        (is_decided || turns >= self.most).then_some(is_decided)
    }
}

/// The places of the runs of a turn, in its order.
pub fn order(runs: usize, turn: usize) -> impl Iterator<Item = usize> {
    (0..runs).map(move |index| (index + turn) % runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { least: 9, most: 40, control: 0.03 };

    #[test]
    fn only_close_controls_decide_and_only_after_the_least_turns() {
        assert_eq!(BOUNDS.end(8, &[1.0]), None);
        assert_eq!(BOUNDS.end(9, &[1.02, 0.98]), Some(true));
        assert_eq!(BOUNDS.end(9, &[1.02, 0.96]), None);
        assert_eq!(BOUNDS.end(40, &[1.0, 1.04]), Some(false));
        assert_eq!((BOUNDS.end(39, &[f64::NAN]), BOUNDS.end(40, &[f64::NAN])), (None, Some(false)));
    }

    #[test]
    fn every_run_is_first_in_turn() {
        assert_eq!(order(3, 0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(order(3, 4).collect::<Vec<_>>(), [1, 2, 0]);
    }
}
