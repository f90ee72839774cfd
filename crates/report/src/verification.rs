//! The records that power cuts lost, as text.

use stats::{Kept, PowerCut, Verification};
use units::Bytes;

use crate::grid::{Column, Grid, Page};
use crate::wrap::wrapped;

/// The most power cuts with losses that are listed one by one.
const TOLD: usize = 5;

/// A row for each kind of record, and the conclusions.
pub fn table(verification: &Verification, page: Page) -> String {
    let mut grid = Grid::new(vec![
        Column::words(""),
        Column::figures("acknowledged"),
        Column::figures("intact"),
        Column::figures("missing"),
        Column::figures("torn"),
        Column::figures("stale"),
    ]);
    let kinds = verification.kinds();
    for Kept { kind, acknowledged, intact, missing, torn, stale } in &kinds {
        let counts = [acknowledged, intact, missing, torn, stale].map(ToString::to_string);
        grid.row([kind.clone()].into_iter().chain(counts));
    }
    let mut text = format!("{}  {}\n\n", verification.target, verification.kernel);
    if !kinds.is_empty() {
        text += &(grid.lines(page).join("\n") + "\n\n");
    }
    text + &wrapped(&(sentences(verification).join("\n") + "\n"), page)
}

/// The conclusions.
fn sentences(verification: &Verification) -> Vec<String> {
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
    said.extend(bad.iter().take(TOLD).map(|cut| told(cut)));
    if let Some(more) = bad.len().checked_sub(TOLD + 1) {
        said.push(format!("  and {} more cuts", more + 1));
    }
    said.extend(control.as_ref().map(|control| match (control.acknowledged(), control.lost()) {
        (all, 0) => format!(
            "Control: none of {all} records is lost on a device that is never flushed. Losses cannot be found here, so the \
             result above proves nothing."
        ),
        (all, lost) => format!(
            "Control: {lost} of {all} records are lost on the same device if it is never flushed, so losses would have \
             been found."
        ),
    }));
    said
}

/// The number of power cuts.
fn counted(cuts: &[PowerCut]) -> String {
    if let [_] = cuts { "One power cut".to_owned() } else { format!("{} power cuts", cuts.len()) }
}

/// The bytes in the write cache, if they could be counted.
fn unflushed(cuts: &[PowerCut]) -> Option<String> {
    let held: Option<Vec<u64>> = cuts.iter().map(|cut| cut.unflushed_bytes).collect();
    let mut held = held.filter(|held| !held.is_empty())?;
    held.sort_unstable();
    let (least, median, most) = (held[0], held[held.len() / 2], held[held.len() - 1]);
    Some(format!("Not flushed at the power cut: {} (median; {} to {}).", Bytes(median), Bytes(least), Bytes(most)))
}

/// A power cut that lost records.
fn told(cut: &PowerCut) -> String {
    let counts = cut.kinds.iter().filter(|kept| kept.lost() > 0).map(|kept| {
        let parts = [(kept.missing, "missing"), (kept.torn, "torn"), (kept.stale, "stale")];
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{} {} of {}", kept.kind, parts.join(", "), kept.acknowledged)
    });
    let counts: Vec<String> = counts.collect();
    let why = cut.unmountable.as_ref().map_or_else(String::new, |why| format!("; cannot be mounted: {why}"));
    format!("  cut {}: {}{why}", cut.round, counts.join("; "))
}

#[cfg(test)]
mod tests {
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
        let verification = Verification {
            schema: String::new(),
            version: String::new(),
            kernel: "Linux 6".to_owned(),
            target: "image:ext4".to_owned(),
            seed: 1,
            cuts,
            control,
            interrupted: false,
            errors: Vec::new(),
        };
        table(&verification, Page::ENDLESS)
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
