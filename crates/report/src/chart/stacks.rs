//! Where each millisecond went: of each program and target a bar as long as all of its time, in parts by owner. The parts
//! stand in the same order in all bars; the largest are named in words.

use std::collections::BTreeMap;

use stats::{Cell, Document, Provenance};

use super::bars::LINE;
use super::figures::{self, class};
use super::frame::{AXIS, Frame, along};
use super::rates::MOST_BARS;
use super::svg::{Along, Anchor, Svg};
use super::words::{BOLD, fitted, width};
use super::{Chart, NARROW, Subject};
use crate::rows;

/// A bar that words stand in.
const HIGH: f64 = 17.0;
/// From a bar to the next text.
const GAP: f64 = 6.0;
/// The most owners with a colour of their own: one of the six is for all others.
const MOST_OWNERS: usize = 5;
/// What all others are called.
const OTHERS: &str = "all others";
/// A part of the time that is narrower than this cannot be seen.
const LEAST_SHARE: f64 = 0.0005;

/// A cell, and its time by owner, as parts of all of it.
struct Bar<'a> {
    cell: &'a Cell,
    shares: BTreeMap<String, f64>,
}

/// A chart of what the kernel was seen to do, and one of what simulated machines did, which is known more exactly.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let (mut seen, mut simulated) = (Vec::new(), Vec::new());
    for cell in &document.cells {
        match (&cell.breakdown, &cell.time) {
            (Some(breakdown), _) => simulated.extend(bar(cell, &breakdown.all_programs().owners)),
            // What was published of a sweep is that sweep's.
            (None, Some(time)) if cell.provenance != Provenance::Published => seen.extend(bar(cell, time)),
            _ => {}
        }
    }
    let titled = [("Where each millisecond went", seen), ("Where each simulated millisecond went", simulated)];
    titled.into_iter().filter(|(_, bars)| !bars.is_empty()).map(|(title, bars)| chart(document, title, &bars)).collect()
}

fn bar<'a>(cell: &'a Cell, times: &BTreeMap<String, u64>) -> Option<Bar<'a>> {
    let all: f64 = times.values().map(|nanos| *nanos as f64).sum();
    let shares = times.iter().map(|(owner, nanos)| (owner.replace('_', " "), *nanos as f64 / all));
    (all > 0.0).then(|| Bar { cell, shares: shares.collect() })
}

/// The owners that have most of the time, over all bars, that one first; behind them the rest.
fn owners(bars: &[Bar]) -> Vec<String> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (owner, share) in bars.iter().flat_map(|bar| &bar.shares) {
        *sums.entry(owner).or_default() += share;
    }
    let mut owners: Vec<(&str, f64)> = sums.into_iter().filter(|(_, sum)| *sum > 0.0).collect();
    owners.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let has_others = owners.len() > MOST_OWNERS + 1;
    let most = if has_others { MOST_OWNERS } else { MOST_OWNERS + 1 };
    let first = owners.into_iter().take(most).map(|(owner, _)| crate::plain::line(owner).into_owned());
    first.chain(has_others.then(|| OTHERS.to_owned())).collect()
}

fn chart(document: &Document, title: &str, bars: &[Bar]) -> Chart {
    let owners = owners(bars);
    let shown = &bars[..bars.len().min(MOST_BARS)];
    let is_one_target = document.cells.iter().all(|cell| cell.target == document.cells[0].target);
    let mut rows: Vec<(String, Vec<&Bar>)> = Vec::new();
    for bar in shown {
        let name = rows::name(bar.cell, &document.cells);
        match rows.iter_mut().find(|(other, _)| *other == name) {
            Some((_, bars)) => bars.push(bar),
            None => rows.push((name, vec![bar])),
        }
    }
    let is_single = |bars: &[&Bar]| is_one_target && bars.len() == 1;
    let height = |bars: &[&Bar]| {
        let heading = if is_single(bars) { 0.0 } else { LINE };
        heading + bars.len() as f64 * (LINE + HIGH + GAP)
    };
    let foot = rows.iter().map(|(_, bars)| height(bars)).sum::<f64>();
    let mut svg = Svg::default();
    let labels = [0.0, 1.0, 0.5, 0.25, 0.75].map(|share| (share, format!("{:.0} %", 100.0 * share)));
    along(&mut svg, labels, NARROW, 0.0, foot);
    let mut told: Vec<String> = Vec::new();
    let mut y = 0.0;
    for (name, bars) in &rows {
        if !is_single(bars) {
            svg.text("name", Along::Share(0.0), y + 12.0, Anchor::Start, &fitted(name, NARROW / BOLD));
            y += LINE;
        }
        for bar in bars {
            let (label, class, wider) =
                if is_single(bars) { (name, "name", BOLD) } else { (&bar.cell.target, "label", 1.0) };
            let label = fitted(label, NARROW / 2.0 / wider);
            let said = said(bar, NARROW - wider * width(&label) - 10.0);
            told.push(format!("{name} on {} {}", bar.cell.target, self::said(bar, f64::INFINITY)));
            svg.text(class, Along::Share(0.0), y + 12.0, Anchor::Start, &label);
            svg.text("said", Along::Share(1.0), y + 12.0, Anchor::End, &said);
            y += LINE;
            parts(&mut svg, name, bar, &owners, y);
            y += HIGH + GAP;
        }
    }
    let left_out = match bars.len() - shown.len() {
        0 => String::new(),
        more => format!(" (the first {MOST_BARS}; {more} more in the table)"),
    };
    let frame = Frame {
        subject: Subject::Time,
        title: format!("{title}{left_out}"),
        series: owners,
        told: figures::told("Parts of the time by owner", &told),
    };
    frame.plain(svg, foot + AXIS)
}

/// The parts of a bar, in the order of the owners; each with its name in it where there is room.
fn parts(svg: &mut Svg, name: &str, bar: &Bar, owners: &[String], y: f64) {
    let mut from = 0.0;
    for (place, owner) in owners.iter().enumerate() {
        let share = match owner.as_str() {
            OTHERS => {
                let own = |owner: &String| bar.shares.get(owner).copied().unwrap_or(0.0);
                1.0 - owners.iter().map(own).sum::<f64>()
            }
            owner => bar.shares.get(owner).copied().unwrap_or(0.0),
        };
        if share < LEAST_SHARE {
            continue;
        }
        let tip = format!("{name} on {}: {owner} {}", bar.cell.target, percent(share));
        svg.open_series(&class(place), owner, &tip);
        svg.rect("bar part", from, from + share, y, HIGH, "");
        if width(owner) + 8.0 <= share * NARROW {
            svg.text("inside", Along::Share(from + share / 2.0), y + 12.5, Anchor::Middle, owner);
        }
        svg.close("g");
        from += share;
    }
}

/// The largest parts in words, as many of two as there is room for: `device service 69 %, system 31 %`.
fn said(bar: &Bar, room: f64) -> String {
    let mut largest: Vec<(&String, f64)> = bar.shares.iter().map(|(owner, share)| (owner, *share)).collect();
    largest.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let figure = |(owner, share): &(&String, f64)| format!("{owner} {}", percent(*share));
    let first = largest.first().map_or_else(String::new, figure);
    let both = match largest.get(1).filter(|(_, share)| *share >= LEAST_SAID) {
        Some(second) => format!("{first}, {}", figure(second)),
        None => first.clone(),
    };
    if width(&both) <= room { both } else { fitted(&first, room) }
}

/// A second part is worth its words from here on. Ours.
const LEAST_SAID: f64 = 0.05;

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
