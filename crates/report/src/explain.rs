//! The time breakdown of a result and its bottleneck, as text, Markdown and CSV. `stats::judge::bottleneck` computes
//! both.

mod breakdown;

use std::collections::BTreeMap;

use stats::judge::bottleneck::OWNERS;
use stats::{Cell, ClockKind, Document, LimitedBy, Mark, MarkCode, Provenance};
use units::Nanos;
use units::whole;

use crate::cell_names::CellNames;
use crate::csv::{self, field, number};
use crate::display_names::owner as owner_in_words;
use crate::glossary::Topic;
use crate::markdown_escape::escaped;
use crate::page::Page;
use crate::presentation::Presentation;
use crate::rate_format::figure_of;
use crate::table::Field;
use crate::wrap::wrapped;
use crate::{header, sanitize};

/// The most results that are named with a part of the breakdown that was not visible.
const NAMED: usize = 4;

/// The longest bar, in characters. It stands for the whole time.
const BAR: usize = 30;

/// One part of a cell's elapsed time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    owner: String,
    nanos: u64,
}

/// Returns the parts of a cell's time in the order of `OWNERS`, parts unknown to this build last. `None` if the cell
/// has no breakdown.
fn parts(cell: &Cell) -> Option<Vec<Part>> {
    let time = cell.time.as_ref()?;
    let place = |owner: &str| OWNERS.iter().position(|known| *known == owner).unwrap_or(OWNERS.len());
    let mut parts: Vec<Part> = time.iter().map(|(owner, &nanos)| Part { owner: owner.clone(), nanos }).collect();
    parts.sort_by_key(|part| place(&part.owner));
    Some(parts)
}

/// Returns the owners that are missing in the breakdown because they were not visible. Many file systems have no
/// journal. Before it had the part `pacing`, diskperf did not look for servers.
fn unseen(parts: &[Part]) -> Vec<&'static str> {
    let has = |owner: &str| parts.iter().any(|part| part.owner == owner);
    let is_hidden = |owner: &str| match owner {
        "journal" | "pacing" => false,
        "server" => has("pacing"),
        _ => true,
    };
    OWNERS.into_iter().filter(|owner| !has(owner) && is_hidden(owner)).collect()
}

/// Returns a line for each part of the breakdown that was not visible, with the results concerned.
fn hidden(names: &CellNames, cells: &[&Cell]) -> String {
    let mut hidden: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let told: Vec<(&Cell, Vec<Part>)> =
        cells.iter().filter(|cell| cell.measured).filter_map(|cell| Some((*cell, parts(cell)?))).collect();
    for (cell, parts) in &told {
        for owner in unseen(parts) {
            hidden.entry(owner).or_default().push(name(names, cell));
        }
    }
    let line = |(owner, names): (&str, Vec<String>)| {
        let place = match names.len() {
            all if all == told.len() => String::new(),
            few if few <= NAMED => format!(" for {}", names.join(", ")),
            some => format!(" for {some} of {} results", told.len()),
        };
        format!("not visible{place}; any such time is in unattributed: {}\n", owner_in_words(owner))
    };
    let lines: String = hidden.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// True if the cell may have a time breakdown. Published figures have none.
pub fn can_be_explained(cell: &Cell) -> bool {
    cell.provenance != Provenance::Published
}

/// Returns the chosen cells of a document as text, one after the other.
pub fn table(document: &Document, presentation: Presentation, cells: &[&Cell], page: Page) -> String {
    let meanings = longest_meaning(cells);
    let widths = Widths::from_page(page, meanings);
    let names = CellNames::from_cells(&document.cells);
    let texts: Vec<String> = cells.iter().map(|cell| explained(&names, cell, widths)).collect();
    let mut text = header::lines(document, presentation.layout) + "\n" + &texts.join("\n") + &hidden(&names, cells);
    if let (Some(columns), false) = (page.columns, widths.has_meanings) {
        text += &format!("\n{columns} columns: left out: the meaning of each part. diskperf help owners lists them\n");
    }
    wrapped(&text, page)
}

/// The widths of a cell's explanation.
#[derive(Clone, Copy)]
struct Widths {
    /// The length of a bar for the whole time, in characters.
    bar: usize,
    /// True if each bar is followed by its meaning.
    has_meanings: bool,
}

impl Widths {
    /// Chooses the widths: bars become shorter so that the meanings fit. A terminal that is too narrow for that gets no
    /// meanings.
    fn from_page(page: Page, meanings: usize) -> Widths {
        let beside = page.width().saturating_sub(FIGURES);
        let bar = beside.saturating_sub(2 + meanings).min(BAR);
        if bar >= SHORTEST_BAR || page.columns.is_none() {
            Widths { bar: bar.max(SHORTEST_BAR), has_meanings: true }
        } else {
            Widths { bar: beside.min(BAR), has_meanings: meanings == 0 }
        }
    }
}

/// The shortest bar that is still readable, in characters.
const SHORTEST_BAR: usize = 10;

/// Columns to the left of the bars.
const FIGURES: usize = 47;

fn longest_meaning(cells: &[&Cell]) -> usize {
    let of_cell = |cell: &&Cell| match &cell.breakdown {
        Some(breakdown) => breakdown::longest_meaning(breakdown),
        None => {
            let owners = parts(cell).into_iter().flatten().filter(|part| part.nanos > 0);
            owners.map(|part| meaning(&part.owner).chars().count()).max().unwrap_or(0)
        }
    };
    cells.iter().map(of_cell).max().unwrap_or(0)
}

fn meaning(owner: &str) -> &'static str {
    Topic::Owner.entry(owner).map_or("", |entry| entry.brief)
}

fn explained(names: &CellNames, cell: &Cell, widths: Widths) -> String {
    let mut lines = vec![heading(names, cell)];
    match (&cell.breakdown, parts(cell).filter(|_| cell.measured)) {
        (Some(breakdown), Some(_)) => lines.extend(breakdown::lines(breakdown, widths)),
        (None, Some(parts)) => lines.extend(bars(&parts, widths, meaning)),
        (_, None) => {}
    }
    lines.extend(describe_time_outside_sum(cell).map(|text| format!("  {text}")));
    lines.push(format!("  {}", sentence(cell)));
    let star = |mark: &Mark| if mark.code == MarkCode::Nested { "" } else { "* " };
    lines.extend(cell.marks.iter().map(|mark| format!("  {}{}: {}", star(mark), mark.code.name(), mark.text)));
    lines.join("\n") + "\n"
}

/// Returns the name, the rate, the clock and the number of rounds.
fn heading(names: &CellNames, cell: &Cell) -> String {
    let mut text = name(names, cell);
    if cell.is_simulated() {
        text += ", simulated";
    }
    let Some(figure) = figure_of(cell) else { return text };
    let star = if cell.is_suspect() { "*" } else { "" };
    let unverified = if cell.is_unverified() { " (unverified)" } else { "" };
    text += &format!(": {figure}{star} until {}{unverified}", clock(cell.state.clock));
    let kept = cell.kept().count();
    let rounds = if kept == 1 { "1 round".to_owned() } else { format!("{kept} rounds") };
    let busy = cell.kept().map(|round| round.parts.len()).max().unwrap_or_default();
    let summed = if busy > 1 { format!(", times summed over {busy} programs") } else { String::new() };
    format!("{text}, {rounds}{summed}")
}

fn name(names: &CellNames, cell: &Cell) -> String {
    format!("{} on {}", names.name(cell), cell.target)
}

fn clock(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Returned => "the last call returned",
        ClockKind::DataDurable => "fdatasync returned",
        ClockKind::Durable => "everything was synced",
    }
}

/// Returns a line for each owner that has any time, the sum, and the owners that have none or were not visible.
fn bars(parts: &[Part], widths: Widths, meaning: impl Fn(&str) -> &'static str) -> Vec<String> {
    let width = widths.bar;
    let all = total(parts.iter().map(|part| part.nanos));
    let quantum = quantum(all);
    let nanos: Vec<u64> = parts.iter().map(|part| part.nanos).collect();
    let amounts = shared_out(&nanos, all.div_ceil(quantum.nanos).max(1));
    let shares = shared_out(&nanos, 1000);
    let mut lines = Vec::new();
    let mut idle = Vec::new();
    for ((part, amount), share) in parts.iter().zip(amounts).zip(shares) {
        if part.nanos == 0 {
            idle.push(owner_in_words(&part.owner));
            continue;
        }
        let bar = "#".repeat((share as usize * width).div_ceil(1000));
        let meaning = if widths.has_meanings { meaning(&part.owner) } else { "" };
        let (amount, share) = (quantum.text(amount), tenths(share));
        let line =
            format!("  {:<18} {amount:>12} ms {share:>6} %  {bar:<width$}  {meaning}", owner_in_words(&part.owner));
        lines.push(line.trim_end().to_owned());
    }
    let total = quantum.text(all.div_ceil(quantum.nanos));
    lines.push(format!("  {:<18} {total:>12} ms {:>6} %", "elapsed", "100.0"));
    if !idle.is_empty() {
        lines.push(format!("  none: {}", idle.join(", ")));
    }
    lines
}

/// The smallest time that a column of times shows.
#[derive(Clone, Copy)]
struct Quantum {
    nanos: u64,
    decimals: u32,
}

/// Returns 0.1 ms if the whole took a second or more, else 1 us. A whole of 1 ms or more then has at least four digits.
fn quantum(all: u64) -> Quantum {
    match all {
        1_000_000_000.. => Quantum { nanos: 100_000, decimals: 1 },
        _ => Quantum { nanos: 1_000, decimals: 3 },
    }
}

impl Quantum {
    /// Returns `count` quanta as text, in milliseconds.
    fn text(self, count: u64) -> String {
        let scale = 10u64.pow(self.decimals);
        format!("{}.{:0width$}", whole(count / scale), count % scale, width = self.decimals as usize)
    }
}

fn tenths(count: u64) -> String {
    format!("{}.{}", count / 10, count % 10)
}

/// Divides `units` in proportion to the parts, so that the shares add up to `units`. Each part gets its whole share,
/// rounded down; the remaining units go to the largest remainders (Hamilton's method).
fn shared_out(parts: &[u64], units: u64) -> Vec<u64> {
    let all: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    if all == 0 {
        return vec![0; parts.len()];
    }
    let exact = |part: &u64| u128::from(*part) * u128::from(units);
    let mut counts: Vec<u64> = parts.iter().map(|part| (exact(part) / all) as u64).collect();
    let mut largest: Vec<usize> = (0..parts.len()).collect();
    largest.sort_by_key(|&index| std::cmp::Reverse(exact(&parts[index]) % all));
    let left = units - counts.iter().sum::<u64>();
    largest.into_iter().take(left as usize).for_each(|index| counts[index] += 1);
    counts
}

/// Returns the sum, or the largest number if it overflows: a document written by others may contain any numbers.
fn total(times: impl Iterator<Item = u64>) -> u64 {
    times.fold(0, u64::saturating_add)
}

/// Returns the CPU time of kernel threads, which is not part of the sum; and a note if the sum differs from the time of
/// the rounds.
fn describe_time_outside_sum(cell: &Cell) -> impl Iterator<Item = String> {
    let workers: Option<f64> = cell.kept().map(|round| round.cpu_s.kernel_workers).sum();
    let workers = workers.filter(|seconds| *seconds > 0.0 && cell.measured).map(|seconds| {
        let time = Nanos((seconds * 1e9) as u64);
        format!("plus {time} CPU in kernel threads, system-wide")
    });
    workers.into_iter().chain(mismatch(cell))
}

/// Tolerance for rounding to nanoseconds, once for each time that is added.
const ROUNDING_S: f64 = 1e-6;

/// Returns the note on a breakdown whose sum is not the time of the rounds: the document was changed after the run.
fn mismatch(cell: &Cell) -> Option<String> {
    let owned = total(cell.time.as_ref()?.values().copied()) as f64 / 1e9;
    let rounds: f64 = cell.kept().map(|round| round.summed_elapsed_s(cell.state.clock)).sum();
    let differs = (owned - rounds).abs() > ROUNDING_S * (1 + cell.kept().count()) as f64;
    differs.then(|| {
        format!("the rounds took {rounds:.6} s, but all parts took {owned:.6} s: the file was changed after the run")
    })
}

/// Returns the bottleneck with its evidence.
fn sentence(cell: &Cell) -> String {
    if !cell.measured {
        return format!("n.m.: {}", sanitize::brief(cell.reason.as_deref().unwrap_or("no reason recorded")));
    }
    match &cell.limited_by {
        Some(limit) => format!("bottleneck: {} ({})", limit.what.title(), limit.evidence) + &no_limit(cell),
        None => "bottleneck: n.m.".to_owned(),
    }
}

/// Returns the reason why the share of the limit is not known. The evidence of the bottleneck has a known one.
fn no_limit(cell: &Cell) -> String {
    let reason = cell.of_limit.as_ref().and_then(|of_limit| of_limit.reason.as_deref());
    reason.map_or_else(String::new, |reason| format!("; of limit: n.m. ({})", sanitize::brief(reason)))
}

/// Returns a table with a row for each cell and a column for each owner, for web pages.
pub fn markdown(document: &Document, cells: &[&Cell]) -> String {
    let owners = OWNERS.map(owner_in_words);
    let names = CellNames::from_cells(&document.cells);
    let mut text = format!("| | elapsed | {} | bottleneck |\n", owners.join(" | "));
    text += &format!("| --- | ---: |{} --- |\n", " ---: |".repeat(OWNERS.len()));
    for cell in cells {
        let parts = parts(cell).filter(|_| cell.measured);
        let all = total(parts.iter().flatten().map(|part| part.nanos));
        let nanos: Vec<u64> = parts.iter().flatten().map(|part| part.nanos).collect();
        let shares = shared_out(&nanos, 1000);
        let share = |owner: &str| {
            let index = parts.iter().flatten().position(|part| part.owner == owner);
            index.map_or_else(|| "n.m.".to_owned(), |index| format!("{} %", tenths(shares[index])))
        };
        let elapsed = if parts.is_some() { Nanos(all).to_string() } else { "n.m.".to_owned() };
        let columns = OWNERS.map(share).join(" | ");
        let words = [name(&names, cell), sentence(cell)].map(|words| escaped(&words));
        text += &format!("| {} | {elapsed} | {columns} | {} |\n", words[0], words[1]);
    }
    text
}

/// Returns a row for each cell and owner, in nanoseconds. An owner that was not visible has no row. A cell without
/// owners has one row with an empty owner.
pub fn csv(cells: &[&Cell]) -> String {
    let rows = cells.iter().flat_map(|cell| {
        let parts = parts(cell).filter(|_| cell.measured);
        let parts = parts.map_or_else(|| vec![None], |parts| parts.into_iter().map(Some).collect());
        parts.into_iter().map(|part| (*cell, part))
    });
    let own: [Field<(&Cell, Option<Part>)>; 4] = [
        ("owner", |(_, part)| field(part.as_ref().map_or("", |part| &part.owner))),
        ("nanoseconds", |(_, part)| number(part.as_ref().map(|part| part.nanos))),
        ("limited_by", |(cell, _)| limit(cell).map_or_else(|| "n.m.".to_owned(), |limit| limit.what.name().to_owned())),
        ("evidence", |(cell, _)| {
            field(limit(cell).map_or_else(|| cell.reason.as_deref().unwrap_or_default(), |limit| &limit.evidence))
        }),
    ];
    csv::table(rows, &csv::key().into_iter().chain(own).collect::<Vec<_>>())
}

/// Returns the bottleneck of a measured cell.
fn limit(cell: &Cell) -> Option<&LimitedBy> {
    cell.limited_by.as_ref().filter(|_| cell.measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_out_sums_to_the_whole() {
        assert_eq!(shared_out(&[1, 1, 1], 1000), [334, 333, 333]);
        assert_eq!(shared_out(&[999, 1, 0], 10), [10, 0, 0]);
        assert_eq!(shared_out(&[u64::MAX, u64::MAX], 5), [3, 2]);
        assert_eq!(shared_out(&[0, 0], 1000), [0, 0]);
        assert_eq!(shared_out(&[], 1000), [0; 0]);
    }

    #[test]
    fn times_are_shown_in_milliseconds() {
        assert_eq!(quantum(999_999_999).text(12_345), "12.345");
        assert_eq!(quantum(5_000_000_000).text(12_345_678), "1,234,567.8");
    }
}
