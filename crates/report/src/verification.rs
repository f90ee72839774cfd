//! What power cuts left of what was acknowledged, as a person reads it.

use stats::{Kept, PowerCut, Verification};
use units::Bytes;

use crate::grid::{Column, Grid, Page};
use crate::wrap::wrapped;

/// So many power cuts that lost something are told one by one.
const TOLD: usize = 5;

/// A row for each kind of record, and what follows from all of them.
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

/// What follows.
fn sentences(verification: &Verification) -> Vec<String> {
    let Verification { cuts, control, .. } = verification;
    let (acknowledged, lost) = verification.totals();
    let bad: Vec<&PowerCut> = cuts.iter().filter(|cut| cut.lost() > 0).collect();
    let mut said = vec![match (acknowledged, lost) {
        (0, _) => "Nothing was acknowledged before the power went, so nothing is shown.".to_owned(),
        (_, 0) => format!("{}: all {acknowledged} records that were acknowledged as durable are there.", counted(cuts)),
        _ => format!(
            "{}: {lost} of {acknowledged} records that were acknowledged as durable are lost, in {} of {}.",
            counted(cuts),
            bad.len(),
            cuts.len()
        ),
    }];
    said.extend(unflushed(cuts));
    said.extend(bad.iter().take(TOLD).map(|cut| told(cut)));
    if let Some(more) = bad.len().checked_sub(TOLD + 1) {
        said.push(format!("  and in {} more", more + 1));
    }
    said.extend(control.as_ref().map(|control| match (control.acknowledged(), control.lost()) {
        (all, 0) => format!(
            "Control: of {all} records on a device that nobody flushes none is lost. Losses are not found here, and what \
             stands above shows nothing."
        ),
        (all, lost) => format!(
            "Control: {lost} of {all} records are lost on the same device when nobody flushes it, so losses would have \
             been found."
        ),
    }));
    said
}

/// How many there were.
fn counted(cuts: &[PowerCut]) -> String {
    if let [_] = cuts { "One power cut".to_owned() } else { format!("{} power cuts", cuts.len()) }
}

/// What the write cache held, where it could be seen.
fn unflushed(cuts: &[PowerCut]) -> Option<String> {
    let held: Option<Vec<u64>> = cuts.iter().map(|cut| cut.unflushed_bytes).collect();
    let mut held = held.filter(|held| !held.is_empty())?;
    held.sort_unstable();
    let (least, median, most) = (held[0], held[held.len() / 2], held[held.len() - 1]);
    Some(format!(
        "Written and not flushed when the power went: {} (median; {} to {}).",
        Bytes(median),
        Bytes(least),
        Bytes(most)
    ))
}

/// One that lost something.
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
    fn where_nothing_is_lost_the_control_says_what_that_is_worth() {
        let text = printed(vec![cut(1, 0), cut(2, 0), cut(3, 0)], Some(cut(4, 7)));
        for words in [
            "3 power cuts: all 60 records that were acknowledged as durable are there.",
            "2 MiB (median; 1 MiB to 3 MiB)",
            "Control: 7 of 20 records are lost",
        ] {
            assert!(text.contains(words), "{text}");
        }
        assert!(printed(vec![cut(1, 0)], Some(cut(2, 0))).contains("shows nothing"));
        assert!(printed(Vec::new(), None).contains("Nothing was acknowledged"));
    }

    #[test]
    fn losses_are_told_cut_by_cut_and_the_many_are_counted() {
        let text = printed((1..=8).map(|round| cut(round, u64::from(round > 1))).collect(), None);
        assert!(text.contains("8 power cuts: 7 of 160 records"), "{text}");
        assert!(text.contains("in 7 of 8."), "{text}");
        assert!(text.contains("  cut 2: append 1 missing of 10\n"), "{text}");
        assert!(text.contains("  and in 2 more"), "{text}");
        let mut dead = cut(1, 10);
        dead.unmountable = Some("bad superblock".to_owned());
        assert!(printed(vec![dead], None).contains("append 10 missing of 10; cannot be mounted: bad superblock"));
    }
}
