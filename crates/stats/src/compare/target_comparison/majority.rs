//! Decides whether enough tests of a use have a verdict.

use std::collections::BTreeSet;

use super::{Compared, Row, Weighed};
use crate::compare::reason::Reason;
use crate::inference::verdict::Verdict;

/// Share of a use's weight that its decided tests need. Guess: a majority.
const LEAST: f64 = 0.5;

impl Weighed {
    /// Returns the tests without a verdict on two targets, and their weights.
    fn undecided(&self, rows: &[Row], is_decided: impl Fn(usize) -> bool) -> Vec<(String, f64)> {
        let weights = self.weights.iter().enumerate().filter(|(place, weight)| **weight > 0.0 && !is_decided(*place));
        weights.map(|(place, weight)| (rows[place].name(), *weight)).collect()
    }
}

/// Leaves a use undecided if tests with more than half of its weight have no verdict.
pub(super) fn ask_majority(all: &mut [Compared], rows: &[Row], purpose: &Weighed) {
    let is_decided = |one: &&Compared| one.judged.verdict != Verdict::Undecided;
    let decided: BTreeSet<((usize, usize), usize)> =
        all.iter().filter(is_decided).filter_map(|one| Some((one.targets, one.row?))).collect();
    for one in all.iter_mut().filter(|one| one.row.is_none()) {
        let undecided = purpose.undecided(rows, |row| decided.contains(&(one.targets, row)));
        if let Some(reason) = no_majority(&purpose.missing, &undecided) {
            one.reasons.push(reason);
            one.judged = one.judged.undecided();
        }
    }
}

/// Returns the reason why a use is not decided: tests with more than half of its weight are missing or undecided.
fn no_majority(missing: &[(String, f64)], undecided: &[(String, f64)]) -> Option<Reason> {
    let open: f64 = missing.iter().chain(undecided).map(|(_, weight)| weight).sum();
    // The weights of a use are parts of 1; their sum may have a rounding error.
    if open <= 1.0 - LEAST + 1e-9 {
        return None;
    }
    let names = |tests: &[(String, f64)]| tests.iter().map(|(name, _)| name.clone()).collect();
    Some(Reason::NoMajority { percent: 100.0 * open, missing: names(missing), undecided: names(undecided) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::cell;
    use crate::compare::target_comparison::{compare, every_two, rows};

    /// The second target is twice as fast in the only test that was measured.
    #[test]
    fn a_use_is_undecided_if_most_of_its_weight_is_missing() {
        let cells = [cell("a", "commit", &[100; 6]), cell("b", "commit", &[200; 6])];
        let rows = rows(&cells, &["a", "b"]);
        let verdicts = |weight: f64| {
            let missing = vec![("randread".to_owned(), 1.0 - weight)];
            let purpose = Weighed { name: "x".to_owned(), weights: vec![weight], missing };
            compare(&rows, every_two(2), Some(&purpose), 0.05)
        };
        let enough = verdicts(0.5);
        assert_eq!(enough.iter().map(|one| one.judged.verdict).collect::<Vec<_>>(), [Verdict::Faster; 2]);
        let all = verdicts(0.4);
        let of_use = all.last().expect("the use").comparison(&rows, &["a", "b"], "x".to_owned(), 0.05);
        assert_eq!((of_use.faster, of_use.matters, of_use.more_rounds), (None, false, None));
        assert!(of_use.why.is_some_and(|why| why.ends_with("missing (randread)")));
        assert!(of_use.ratio.is_some(), "the ratio stays");
        assert_eq!(all[0].judged.verdict, Verdict::Faster, "the test itself is decided");
    }

    #[test]
    fn a_use_needs_half_of_its_weight_decided() {
        let tests = |tests: &[(&str, f64)]| -> Vec<(String, f64)> {
            tests.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect()
        };
        let said = |missing: &[(&str, f64)], undecided: &[(&str, f64)]| {
            no_majority(&tests(missing), &tests(undecided)).map(|reason| reason.to_string())
        };
        assert_eq!(said(&[], &[]), None);
        assert_eq!(said(&[("commit", 0.4)], &[("read_8192", 0.1)]), None);
        // Exactly half.
        assert_eq!(said(&[("a", 0.1), ("b", 0.2), ("c", 0.2)], &[]), None);
        let missing = said(&[("commit", 0.4), ("randread", 0.4)], &[]).expect("a reason");
        assert!(missing.contains("80 %") && missing.ends_with("missing (commit, randread)"), "{missing}");
        let both = said(&[("commit", 0.4)], &[("copy", 0.2)]).expect("a reason");
        assert!(both.ends_with("missing (commit) or undecided (copy)"), "{both}");
        let open = said(&[], &[("copy", 0.51)]).expect("a reason");
        assert!(!open.contains("missing") && open.ends_with("undecided (copy)"), "{open}");
    }
}
