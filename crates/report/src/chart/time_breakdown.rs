//! Time breakdowns: for each program and target a bar of its whole time, divided by owner. The owners have the same
//! order in all bars; the largest are named in words.

use std::collections::BTreeMap;

use stats::{Cell, Document, Provenance};

use super::cell_text;
use super::frame::{AXIS, Frame, Heading, LINE, both_sides, x_axis};
use super::labels::Anchor;
use super::labels::{BOLD, fitted, shared, width};
use super::rates::MOST_BARS;
use super::svg::{Along, Svg};
use super::{Chart, NARROW, Subject};
use crate::cell_names::{CellNames, grouped};

/// The height of a bar, which contains words, in pixels.
const HIGH: f64 = 17.0;
/// From a bar to the next text, in pixels.
const GAP: f64 = 6.0;
/// From a program to the next, in pixels.
const BETWEEN: f64 = 4.0;
/// The most owners with their own colour: one of the six colours is for all others.
const MOST_OWNERS: usize = 5;
/// The name of all other owners.
const OTHERS: &str = "all others";

/// The kinds of owners. Simulated machines have more owners than there are colours, so their charts show the kind of
/// thing that took the time. Tooltips have each owner.
const KINDS: [(&str, &[&str]); 6] = [
    ("calls and blocks", &["call", "block_read", "block_write", "allocate", "clear", "names", "start"]),
    ("copying", &["copy", "slowed"]),
    ("processor taken", &["ready", "switch", "interrupt", "interrupted", "clock", "pause"]),
    ("arm and platter", &["waiting_seek", "waiting_rotation", "waiting_lost_turn"]),
    ("transfer", &["waiting_transfer", "waiting_path"]),
    ("controller", &["waiting_controller", "waiting_host", "waiting_idle"]),
];
/// The colour of each owner, in the words of tables, and of each kind, the same in all charts. A kind of a simulated
/// machine has the colour of the owner that it corresponds to on a real one.
const COLOURS: [(&str, &str); 16] = [
    ("user", "t0"),
    ("copying", "t0"),
    ("system", "t1"),
    ("calls and blocks", "t1"),
    ("kernel threads", "t2"),
    ("device service", "t3"),
    ("arm and platter", "t3"),
    ("device queue", "t4"),
    ("transfer", "t4"),
    ("flush", "t5"),
    ("controller", "t5"),
    ("dirty throttling", "t6"),
    ("runnable", "t7"),
    ("processor taken", "t7"),
    ("cgroup limit", "t8"),
    ("unattributed", "t9"),
];

/// Returns the class of an owner's colour, or of all others if it has none.
pub(super) fn class(owner: &str) -> &'static str {
    COLOURS.iter().find(|(known, _)| *known == owner).map_or("t10", |(_, class)| class)
}

/// The narrowest part that is visible, as a share of the bar.
const LEAST_SHARE: f64 = 0.0005;

/// A cell with its parts: `shares` by owner or kind, as shares of the whole; `details` are each owner's times in words.
struct Bar<'a> {
    cell: &'a Cell,
    shares: BTreeMap<String, f64>,
    details: BTreeMap<String, Vec<String>>,
}

/// Returns a chart of the breakdowns measured on the kernel, and one of the simulated machines, which are known more
/// exactly.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let (mut seen, mut simulated) = (Vec::new(), Vec::new());
    for cell in &document.cells {
        match (&cell.breakdown, &cell.time) {
            (Some(breakdown), _) => simulated.extend(bar(cell, &breakdown.owners(), kind)),
            // A published breakdown of a sweep belongs to the chart of that sweep.
            (None, Some(time)) if cell.provenance != Provenance::Published => seen.extend(bar(cell, time, spoken)),
            _ => {}
        }
    }
    let kinds = KINDS.iter().map(|(kind, _)| *kind).chain([OTHERS]);
    let kinds: Vec<String> = kinds
        .filter(|kind| *kind != OTHERS || simulated.iter().any(|bar: &Bar| bar.shares.contains_key(OTHERS)))
        .map(str::to_owned)
        .collect();
    let owners = owners(&seen);
    let titled = [("Shares of the elapsed time", seen, owners), ("Shares of the simulated time", simulated, kinds)];
    let made = titled.into_iter().filter(|(_, bars, _)| !bars.is_empty());
    made.map(|(title, bars, owners)| chart(document, title, &bars, owners)).collect()
}

fn spoken(owner: &str) -> String {
    crate::sanitize::line(&crate::display_names::owner(owner)).into_owned()
}

fn kind(owner: &str) -> String {
    let kind = KINDS.iter().find(|(_, owners)| owners.contains(&owner));
    kind.map_or(OTHERS, |(kind, _)| kind).to_owned()
}

fn bar<'a>(cell: &'a Cell, times: &BTreeMap<String, u64>, drawn_as: fn(&str) -> String) -> Option<Bar<'a>> {
    let all: f64 = times.values().map(|nanos| *nanos as f64).sum();
    let mut bar = Bar { cell, shares: BTreeMap::new(), details: BTreeMap::new() };
    for (owner, nanos) in times.iter().filter(|(_, nanos)| **nanos > 0) {
        let share = *nanos as f64 / all;
        let drawn_as = drawn_as(owner);
        *bar.shares.entry(drawn_as.clone()).or_default() += share;
        bar.details.entry(drawn_as).or_default().push(format!("{} {}", spoken(owner), percent(share)));
    }
    (all > 0.0).then_some(bar)
}

/// Returns the owners with the most time over all bars, the largest first, and one entry for the rest.
fn owners(bars: &[Bar]) -> Vec<String> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (owner, share) in bars.iter().flat_map(|bar| &bar.shares) {
        *sums.entry(owner).or_default() += share;
    }
    let mut owners: Vec<(&str, f64)> = sums.into_iter().filter(|(_, sum)| *sum > 0.0).collect();
    owners.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let has_others = owners.len() > MOST_OWNERS + 1;
    let most = if has_others { MOST_OWNERS } else { MOST_OWNERS + 1 };
    let first = owners.into_iter().take(most).map(|(owner, _)| owner.to_owned());
    first.chain(has_others.then(|| OTHERS.to_owned())).collect()
}

fn chart(document: &Document, title: &str, bars: &[Bar], owners: Vec<String>) -> Chart {
    let shown = &bars[..bars.len().min(MOST_BARS)];
    let is_one_target = bars.iter().all(|bar| bar.cell.target == bars[0].cell.target);
    let names = CellNames::from_cells(&document.cells);
    let mut rows = grouped(shown.iter().map(|bar| (names.name(bar.cell), bar)));
    let shared = shared(rows.iter_mut().map(|(name, _)| name));
    let lines = |name: &str, bars: &[&Bar]| {
        let heading = Heading::from_name(name);
        let is_single = is_one_target && bars.len() == 1 && heading.has_room_for(&largest(bars[0]));
        if is_single { 0.0 } else { heading.height() }
    };
    let height = |bars: &[&Bar]| bars.len() as f64 * (LINE + HIGH + GAP) + BETWEEN;
    let foot = rows.iter().map(|(name, bars)| lines(name, bars) + height(bars)).sum::<f64>();
    let mut svg = Svg::default();
    let labels = [0.0, 1.0, 0.5, 0.25, 0.75].map(|share| (share, format!("{:.0} %", 100.0 * share)));
    x_axis(&mut svg, labels, NARROW, 0.0, foot);
    let mut told: Vec<String> = Vec::new();
    let mut y = 0.0;
    for (name, bars) in &rows {
        let own_lines = lines(name, bars);
        let heading = Heading::from_name(name);
        if own_lines == 0.0 {
            heading.draw_as_label(&mut svg, y)
        } else {
            heading.draw(&mut svg, y)
        }
        y += own_lines;
        for bar in bars {
            let label = if is_one_target { "" } else { &fitted(&bar.cell.target, NARROW / 2.0) };
            let taken = if own_lines == 0.0 { BOLD * width(name) } else { width(label) };
            told.push(format!("{name} on {} {}", bar.cell.target, describe_largest_parts(bar, f64::INFINITY)));
            both_sides(&mut svg, y, label, &describe_largest_parts(bar, NARROW - taken - 10.0));
            y += LINE;
            parts(&mut svg, bar, &owners, y);
            y += HIGH + GAP;
        }
        y += BETWEEN;
    }
    let frame = Frame {
        subject: Subject::Time,
        title: format!("{title}{shared}{}", cell_text::left_out(bars.len(), MOST_BARS)),
        series: owners,
        told: cell_text::describe_figures("Shares of the time", &told),
    };
    frame.rows(svg, foot + AXIS)
}

/// Draws the parts of a bar in the order of the owners, with their names if there is room.
fn parts(svg: &mut Svg, bar: &Bar, owners: &[String], y: f64) {
    let mut from = 0.0;
    for owner in owners {
        let share = match owner.as_str() {
            OTHERS if !bar.shares.contains_key(OTHERS) => {
                let own = |owner: &String| bar.shares.get(owner).copied().unwrap_or(0.0);
                1.0 - owners.iter().map(own).sum::<f64>()
            }
            owner => bar.shares.get(owner).copied().unwrap_or(0.0),
        };
        if share < LEAST_SHARE {
            continue;
        }
        let details = match bar.details.get(owner).map(Vec::as_slice) {
            Some(several @ [_, _, ..]) => format!(" ({})", several.join(", ")),
            _ => String::new(),
        };
        let tip = format!("{owner} {}{details}", percent(share));
        svg.open_series(class(owner), owner, &tip);
        svg.rect("bar part", from, from + share, y, HIGH, "");
        if width(owner) + 8.0 <= share * NARROW {
            svg.text("inside", Along::Share(from + share / 2.0), y + 12.5, Anchor::Middle, owner);
        }
        svg.close("g");
        from += share;
    }
}

/// Returns the largest part in words.
fn largest(bar: &Bar) -> String {
    describe_largest_parts(bar, 0.0)
}

/// Returns the largest parts in words, the second only if there is room: `device service 69 %, system 31 %`.
fn describe_largest_parts(bar: &Bar, room: f64) -> String {
    let mut largest: Vec<(&String, f64)> = bar.shares.iter().map(|(owner, share)| (owner, *share)).collect();
    largest.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let figure = |(owner, share): &(&String, f64)| format!("{} {}", fitted(owner, MOST_WORDS), percent(*share));
    let first = largest.first().map_or_else(String::new, figure);
    match largest.get(1).filter(|(_, share)| *share >= LEAST_SAID) {
        Some(second) => {
            Some(format!("{first}, {}", figure(second))).filter(|both| width(both) <= room).unwrap_or(first)
        }
        None => first,
    }
}

/// The widest name of an owner, in pixels. Documents from others may have longer names.
const MOST_WORDS: f64 = 150.0;

/// The smallest second part that is named, as a share. A choice.
const LEAST_SAID: f64 = 0.05;

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
