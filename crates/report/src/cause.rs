//! The reason why one target is faster than another in a test, in the words of the tables.

use stats::compare::target_comparison::why_of;
use stats::{Cell, Comparison};

/// The reason if neither the bottlenecks nor the work of the devices explain the difference.
pub(crate) const NO_CAUSE: &str = "no single cause found";

/// Returns why one target is faster, or why the comparison is undecided. Older versions stored fewer reasons; the
/// missing ones are computed from the results.
pub(crate) fn reason(pair: &Comparison, names: &[&str], cells: &[Option<&Cell>]) -> Option<String> {
    if pair.why.is_some() || pair.winner().is_none() {
        return pair.why.clone();
    }
    let cell = |name: &str| cells[names.iter().position(|other| *other == name)?];
    let both = cell(&pair.first).zip(cell(&pair.second));
    let found = both.and_then(|(first, second)| why_of([&pair.first, &pair.second], first, second));
    Some(found.unwrap_or_else(|| NO_CAUSE.to_owned()))
}

/// Returns the comparison with labels in place of the names of its targets, in the reason too.
pub(crate) fn labelled(pair: &Comparison, names: &[&str], labels: &[impl AsRef<str>]) -> Comparison {
    let label = |name: &str| match names.iter().position(|other| *other == name) {
        Some(place) => labels[place].as_ref().to_owned(),
        None => name.to_owned(),
    };
    let (first, second) = (label(&pair.first), label(&pair.second));
    let why = pair.why.as_ref().map(|why| {
        let why = why.replacen(&format!("{}: ", pair.first), &format!("{first}: "), 1);
        let why = why.replacen(&format!(", {}: ", pair.second), &format!(", {second}: "), 1);
        let listed = |why: String, name: &str, label: &str| {
            why.replace(&format!("({name})"), &format!("({label})"))
                .replace(&format!("({name}, "), &format!("({label}, "))
                .replace(&format!(", {name})"), &format!(", {label})"))
        };
        listed(listed(why, &pair.first, &first), &pair.second, &second)
    });
    Comparison { faster: pair.faster.as_deref().map(label), first, second, why, ..pair.clone() }
}

#[cfg(test)]
mod tests {
    use stats::Verdict;

    use super::*;
    use crate::compare::fixtures::pair;

    fn recorded() -> stats::Document {
        serde_json::from_str(include_str!("../../../docs/choice.json")).expect("a document")
    }

    /// The recorded run stored no reason for two of its tests.
    #[test]
    fn every_proven_difference_has_a_reason() {
        let document = recorded();
        let choice = document.run.choice.as_ref().expect("a choice");
        let without: Vec<&Comparison> = choice.comparisons.iter().filter(|pair| pair.why.is_none()).collect();
        assert_eq!(without.len(), 2);
        let names = ["ext4", "btrfs"];
        for (pair, unit) in without.iter().zip(["call", "file"]) {
            let program = pair.program.split(' ').next().expect("a name");
            let phase = pair.program.split(' ').nth(1);
            let cell = |name: &&str| {
                let is_meant = |cell: &&Cell| cell.program == program && phase.is_none_or(|phase| cell.phase == phase);
                document.cells.iter().filter(is_meant).find(|cell| cell.target == **name)
            };
            let cells: Vec<Option<&Cell>> = names.iter().map(cell).collect();
            let why = reason(pair, &names, &cells).expect("a reason");
            assert!(why.contains(&format!("CPU per {unit}")), "{why}");
        }
    }

    #[test]
    fn a_difference_without_a_cause_says_so() {
        let faster = pair(Verdict::Faster, [1.1, 1.2, 1.3]);
        assert_eq!(reason(&faster, &["ext4", "xfs"], &[None, None]).as_deref(), Some(NO_CAUSE));
        let open = pair(Verdict::Undecided, [0.9, 1.0, 1.1]);
        assert_eq!(reason(&open, &["ext4", "xfs"], &[None, None]), None);
    }

    #[test]
    fn the_reason_without_a_cause_is_a_word_of_the_glossary() {
        assert!(crate::glossary::Topic::Term.entry(NO_CAUSE).is_some());
    }
}
