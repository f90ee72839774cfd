//! The records that power cuts lost, as text.

use stats::{Kept, PowerCut, Verification};
use units::Bytes;

use crate::markdown_escape::escaped;
use crate::page::Page;
use crate::table::{Column, Field, Grid};
use crate::wrap::wrapped;

/// The most power cuts with losses that are listed one by one.
const TOLD: usize = 5;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The condition holds.
    Pass,
    /// The condition does not hold.
    Fail,
    /// The test cannot tell.
    NotKnown,
}

/// A check and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The condition to check, as words: `acknowledged records are intact`.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in numbers: `2 of 40 lost`.
    pub found: String,
}

/// Returns the checks in this order:
///   1. acknowledged records are intact; not known if there were none, or if a control shows that losses cannot be
///      found;
///   2. the same condition for each kind of record, kinds with losses first;
///   3. the file system can be mounted after each power cut;
///   4. the test can find losses: power cuts that lost records show it, or else the control.
pub fn checks(verification: &Verification) -> Vec<Check> {
    let Verification { cuts, control, .. } = verification;
    let (acknowledged, lost) = verification.totals();
    let is_blind = control.as_ref().is_some_and(|control| control.lost() == 0) && lost == 0;
    let records = |name: String, acknowledged: u64, lost: u64| {
        let outcome = match (acknowledged, lost) {
            (_, 1..) => Outcome::Fail,
            (0, _) => Outcome::NotKnown,
            _ if is_blind => Outcome::NotKnown,
            _ => Outcome::Pass,
        };
        Check { name, outcome, found: format!("{lost} of {acknowledged} lost") }
    };
    // 1
    let mut checks = vec![records("acknowledged records are intact".to_owned(), acknowledged, lost)];
    // 2
    let mut kinds = verification.kinds();
    kinds.sort_by_key(|kept| std::cmp::Reverse(kept.lost()));
    checks
        .extend(kinds.iter().map(|kept| records(format!("records of {}", kept.kind), kept.acknowledged, kept.lost())));
    // 3
    let dead = cuts.iter().filter(|cut| cut.unmountable.is_some()).count();
    let outcome = match (cuts.len(), dead) {
        (0, _) => Outcome::NotKnown,
        (_, 0) => Outcome::Pass,
        _ => Outcome::Fail,
    };
    let found = format!("{} of {} mounted", cuts.len() - dead, counted_in_figures(cuts));
    checks.push(Check { name: "the file system can be mounted".to_owned(), outcome, found });
    // 4
    let (outcome, found) = match control {
        _ if lost > 0 => (Outcome::Pass, "power cuts lost records".to_owned()),
        None => (Outcome::NotKnown, "no control was run".to_owned()),
        Some(control) => {
            let outcome = if control.lost() > 0 { Outcome::Pass } else { Outcome::Fail };
            (outcome, format!("control: {} of {} lost", control.lost(), control.acknowledged()))
        }
    };
    checks.push(Check { name: "the test can find losses".to_owned(), outcome, found });
    checks
}

fn counted_in_figures(cuts: &[PowerCut]) -> String {
    if let [_] = cuts { "1 power cut".to_owned() } else { format!("{} power cuts", cuts.len()) }
}

/// Returns a table with a row for each kind of record. `heading` is the heading of the column of kinds.
pub(crate) fn grid(verification: &Verification, heading: &str) -> Grid {
    let columns: [Field<Kept, Column>; 6] = [
        (Column::words(heading), |kept| kept.kind.clone()),
        (Column::figures("acknowledged"), |kept| kept.acknowledged.to_string()),
        (Column::figures("intact"), |kept| kept.intact.to_string()),
        (Column::figures("missing"), |kept| kept.missing.to_string()),
        (Column::figures("torn"), |kept| kept.torn.to_string()),
        (Column::figures("stale"), |kept| kept.stale.to_string()),
    ];
    Grid::filled(&columns, verification.kinds())
}

/// Returns a table with a row for each power cut that lost records; `None` if none did.
pub(crate) fn cuts_grid(verification: &Verification) -> Option<Grid> {
    let columns: [Field<&PowerCut, Column>; 5] = [
        (Column::figures("power cut"), |cut| cut.round.to_string()),
        (Column::figures("lost"), |cut| cut.lost().to_string()),
        (Column::figures("acknowledged"), |cut| cut.acknowledged().to_string()),
        (Column::words("records"), |cut| lost_kinds(cut)),
        (Column::words("cannot be mounted"), |cut| cut.unmountable.clone().unwrap_or_default()),
    ];
    let bad: Vec<&PowerCut> = verification.cuts.iter().filter(|cut| cut.lost() > 0).collect();
    (!bad.is_empty()).then(|| Grid::filled(&columns, bad))
}

/// Returns the table of kinds of records and the conclusions, as plain text.
pub fn table(verification: &Verification, page: Page) -> String {
    let mut text = format!("{}  {}\n\n", verification.target, verification.kernel);
    if verification.cuts.iter().any(|cut| !cut.kinds.is_empty()) {
        text += &(grid(verification, "").lines(page).join("\n") + "\n\n");
    }
    text + &wrapped(&(sentences(verification).join("\n") + "\n"), page)
}

/// Returns the verification in Markdown: the errors of the test, the conclusions, then the table of kinds.
pub fn markdown(verification: &Verification) -> String {
    let Verification { target, cuts, interrupted, errors, .. } = verification;
    let mut text = format!("## {}\n\n", escaped(target));
    if *interrupted {
        text += &format!("**Interrupted after {}.**\n\n", counted_in_figures(cuts));
    }
    for problem in errors {
        text += &format!("**Error: {}**\n\n", escaped(&problem.message));
    }
    for (place, line) in sentences(verification).iter().enumerate() {
        let words = escaped(line.trim_start());
        text += &if place == 0 { format!("**{words}**\n\n") } else { format!("- {words}\n") };
    }
    text + "\n" + &grid(verification, "records").markdown()
}

/// Returns the conclusions, one sentence or line each.
pub(crate) fn sentences(verification: &Verification) -> Vec<String> {
    let Verification { cuts, control, .. } = verification;
    let (acknowledged, lost) = verification.totals();
    let bad: Vec<&PowerCut> = cuts.iter().filter(|cut| cut.lost() > 0).collect();
    let mut said = vec![match (acknowledged, lost) {
        (0, _) => "No record was acknowledged before the power cut, so this proves nothing.".to_owned(),
        (_, 0) => format!("{}: all {acknowledged} records acknowledged as durable are intact.", counted(cuts)),
        _ => format!(
            "{}: {lost} of {acknowledged} records acknowledged as durable are lost, in {} of {} cuts.",
            counted(cuts),
            bad.len(),
            cuts.len()
        ),
    }];
    said.extend(unflushed(cuts));
    said.extend(bad.iter().take(TOLD).map(|cut| describe_cut(cut)));
    if let Some(more) = bad.len().checked_sub(TOLD + 1) {
        said.push(format!("  and {} more cuts", more + 1));
    }
    said.extend(control.as_ref().map(|control| match (control.acknowledged(), control.lost()) {
        (all, 0) => format!(
            "Control: none of {all} records is lost on a device that is never flushed. Losses cannot be found here, so \
             the result above proves nothing."
        ),
        (all, lost) => format!(
            "Control: {lost} of {all} records are lost on the same device if it is never flushed, so losses would have \
             been found."
        ),
    }));
    said
}

/// Returns the number of power cuts in words, at the beginning of a sentence.
fn counted(cuts: &[PowerCut]) -> String {
    if let [_] = cuts { "One power cut".to_owned() } else { format!("{} power cuts", cuts.len()) }
}

/// Returns a sentence about the bytes in the write cache at the power cut; `None` if they could not be counted.
fn unflushed(cuts: &[PowerCut]) -> Option<String> {
    let held: Option<Vec<u64>> = cuts.iter().map(|cut| cut.unflushed_bytes).collect();
    let mut held = held.filter(|held| !held.is_empty())?;
    held.sort_unstable();
    let (least, median, most) = (held[0], held[held.len() / 2], held[held.len() - 1]);
    Some(format!("Not flushed at the power cut: {} (median; {} to {}).", Bytes(median), Bytes(least), Bytes(most)))
}

/// Returns the line about a power cut that lost records.
fn describe_cut(cut: &PowerCut) -> String {
    let why = cut.unmountable.as_ref().map_or_else(String::new, |why| format!("; cannot be mounted: {why}"));
    format!("  cut {}: {}{why}", cut.round, lost_kinds(cut))
}

/// The kinds of records with losses: `create 2 missing of 40; append 1 torn of 12`
fn lost_kinds(cut: &PowerCut) -> String {
    let counts = cut.kinds.iter().filter(|kept| kept.lost() > 0).map(|kept| {
        let parts = [(kept.missing, "missing"), (kept.torn, "torn"), (kept.stale, "stale")];
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{} {} of {}", kept.kind, parts.join(", "), kept.acknowledged)
    });
    counts.collect::<Vec<String>>().join("; ")
}

#[cfg(test)]
mod tests {
    use stats::Problem;

    use super::*;

    fn cut(round: u32, lost: u64) -> PowerCut {
        let kept = |kind: &str, missing| Kept {
            kind: kind.to_owned(),
            acknowledged: 10,
            intact: 10 - missing,
            missing,
            ..Kept::default()
        };
        let kinds = vec![kept("create", 0), kept("append", lost)];
        PowerCut { round, unflushed_bytes: Some(u64::from(round) << 20), unmountable: None, kinds }
    }

    fn printed(cuts: Vec<PowerCut>, control: Option<PowerCut>) -> String {
        table(&found(cuts, control), Page::ENDLESS)
    }

    fn found(cuts: Vec<PowerCut>, control: Option<PowerCut>) -> Verification {
        Verification {
            schema: String::new(),
            version: String::new(),
            kernel: "Linux 6".to_owned(),
            target: "image:ext4".to_owned(),
            seed: 1,
            cuts,
            control,
            interrupted: false,
            errors: Vec::new(),
        }
    }

    #[test]
    fn a_control_without_losses_makes_a_clean_result_worthless() {
        let text = printed(vec![cut(1, 0), cut(2, 0), cut(3, 0)], Some(cut(4, 7)));
        for words in [
            "3 power cuts: all 60 records acknowledged as durable are intact.",
            "2 MiB (median; 1 MiB to 3 MiB)",
            "Control: 7 of 20 records are lost",
        ] {
            assert!(text.contains(words), "{text}");
        }
        assert!(printed(vec![cut(1, 0)], Some(cut(2, 0))).contains("proves nothing"));
        assert!(printed(Vec::new(), None).contains("No record was acknowledged"));
    }

    #[test]
    fn a_check_passes_fails_or_is_not_known() {
        use Outcome::{Fail, NotKnown, Pass};
        let outcomes = |cuts: Vec<PowerCut>, control: Option<PowerCut>| {
            let all = checks(&found(cuts, control));
            all.into_iter().map(|check| (check.name, check.outcome)).collect::<Vec<_>>()
        };
        let of = |all: &[(String, Outcome)]| all.iter().map(|(_, outcome)| *outcome).collect::<Vec<_>>();
        let lost = outcomes(vec![cut(1, 0), cut(2, 3)], None);
        assert_eq!(of(&lost), [Fail, Fail, Pass, Pass, Pass]);
        assert_eq!((lost[1].0.as_str(), lost[2].0.as_str()), ("records of append", "records of create"));
        assert_eq!(of(&outcomes(vec![cut(1, 0)], Some(cut(2, 4)))), [Pass; 5]);
        assert_eq!(of(&outcomes(vec![cut(1, 0)], Some(cut(2, 0)))), [NotKnown, NotKnown, NotKnown, Pass, Fail]);
        assert_eq!(of(&outcomes(vec![cut(1, 0)], None)), [Pass, Pass, Pass, Pass, NotKnown]);
        assert_eq!(of(&outcomes(Vec::new(), None)), [NotKnown; 3]);
        let dead = PowerCut { unmountable: Some("bad superblock".to_owned()), ..cut(1, 10) };
        assert_eq!(of(&outcomes(vec![dead], None))[3], Fail);
    }

    #[test]
    fn markdown_says_what_went_wrong_with_the_test() {
        let complete = found(vec![cut(1, 0), cut(2, 0)], None);
        let text = markdown(&complete);
        assert!(!text.contains("Interrupted") && !text.contains("Error"), "{text}");
        let message = "mkfs <failed>".to_owned();
        let problem = Problem { target: None, program: None, phase: None, message, hint: None };
        let text = markdown(&Verification { interrupted: true, errors: vec![problem], ..complete });
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines[1], "**Interrupted after 2 power cuts.**", "{text}");
        assert_eq!(lines[2], format!("**Error: {}**", escaped("mkfs <failed>")), "{text}");
        assert!(!text.contains("<failed>"), "{text}");
    }

    #[test]
    fn the_first_losses_are_listed_and_the_others_are_counted() {
        let text = printed((1..=8).map(|round| cut(round, u64::from(round > 1))).collect(), None);
        assert!(text.contains("8 power cuts: 7 of 160 records"), "{text}");
        assert!(text.contains("in 7 of 8 cuts."), "{text}");
        assert!(text.contains("  cut 2: append 1 missing of 10\n"), "{text}");
        assert!(text.contains("  and 2 more cuts"), "{text}");
        let mut dead = cut(1, 10);
        dead.unmountable = Some("bad superblock".to_owned());
        assert!(printed(vec![dead], None).contains("append 10 missing of 10; cannot be mounted: bad superblock"));
    }
}
