//! The plain table: a row per cell, under what people ask for together.

use stats::{CacheState, Cell, ClockKind, Document, LatencyKind, Rate, summary};
use units::{Bytes, Nanos};

use crate::grid::{Column, Grid, Page};
use crate::names::{CellNames, grouped};
use crate::numbers::{RUNS, figure, significant, supported_digits, time_each, whole};

/// The plain table of a document: its columns, and its results in their words. Made once for all rows, since a name
/// depends on all results.
pub struct Rows<'a> {
    document: &'a Document,
    names: CellNames<'a>,
    times: Option<LatencyKind>,
}

impl<'a> Rows<'a> {
    /// The rows of a document.
    pub fn of(document: &'a Document) -> Rows<'a> {
        Rows { document, names: CellNames::of(&document.cells), times: times(document) }
    }

    /// What the columns hold. Where the page is too narrow, a person misses what a figure claims and how sure it is more
    /// than what it cost.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::words("")];
        if self.document.run.targets.len() > 1 {
            columns.push(Column::words("target"));
        }
        columns.extend([
            Column::words("state"),
            Column::figures("rate"),
            Column::figures("+-").left_out(0),
            Column::figures("CPU").left_out(1),
            Column::figures("kernel").left_out(5),
            Column::figures(self.times.map_or("p50 / p99", LatencyKind::heading)).left_out(3),
            Column::words("limited by").left_out(2),
            Column::figures("calls alone").left_out(4),
        ]);
        columns
    }

    /// A cell, in the words of the columns.
    pub fn row(&self, cell: &Cell) -> Vec<String> {
        let mut row = vec![self.names.name(cell)];
        if self.document.run.targets.len() > 1 {
            row.push(cell.target.clone());
        }
        let latencies = latencies(cell, self.times.is_none());
        let figures = [rate(cell), interval(cell), cpu(cell), workers(cell), latencies, limit(cell), calls(cell)];
        row.push(state(cell).to_owned());
        row.extend(figures);
        row
    }
}

/// A row per cell. What is asked for together stands together, in the order of the run, and what several targets did
/// at the same stands below each other.
pub fn table(document: &Document, page: Page) -> String {
    let rows = Rows::of(document);
    let leading = if document.run.targets.len() > 1 { 2 } else { 1 };
    let mut grid = Grid::new(rows.columns()).leading(leading);
    let questions = questions(&document.cells);
    for (question, cells) in &questions {
        if questions.len() > 1 {
            grid.title(title(*question, cells));
        }
        let mut before = String::new();
        for cell in cells {
            let mut row = rows.row(cell);
            // A name stands once for all targets below each other.
            if row[0] == before {
                row[0].clear();
            } else {
                before.clone_from(&row[0]);
            }
            grid.row(row);
        }
    }
    grid.lines(page).join("\n") + "\n"
}

/// The cells in the order of the table, in groups with a title each.
pub(crate) fn groups(cells: &[Cell]) -> Vec<(String, Vec<&Cell>)> {
    questions(cells).into_iter().map(|(question, cells)| (title(question, &cells), cells)).collect()
}

/// What a person asks of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Question<'a> {
    /// How fast large files are read and written in order.
    InOrder,
    /// How long one block takes.
    OneBlock,
    /// How fast small files come and go.
    SmallFiles,
    /// What one large file gives, in order and at random.
    LargeFile,
    /// What the size of a buffer does to copying.
    Copying,
    /// The same of writing.
    Writing,
    /// How many accesses of a mix there are in a second.
    Mix,
    /// Whatever else this program answers.
    Other(&'a str),
}

impl Question<'_> {
    fn of(cell: &Cell) -> Question<'_> {
        match cell.program.as_str() {
            // Whatever a command of a person's own is called.
            own if cell.preset == "command" => Question::Other(own),
            "read_8192" | "write_4096" | "write_8192" | "rewrite_8192" => Question::InOrder,
            "randread" | "commit" => Question::OneBlock,
            "smallfb" => Question::SmallFiles,
            "largefb" => Question::LargeFile,
            "copy" => Question::Copying,
            "write" => Question::Writing,
            "uniform_mix" | "local_mix" | "given_mix" | "paced_mix" => Question::Mix,
            other => Question::Other(other),
        }
    }
}

/// The cells by what they answer, in the order of the first of each; in it, cells of one name below each other.
fn questions(cells: &[Cell]) -> Vec<(Question<'_>, Vec<&Cell>)> {
    let names = CellNames::of(cells);
    let mut questions = grouped(cells.iter().map(|cell| (Question::of(cell), cell)));
    for (_, cells) in &mut questions {
        let by_name = grouped(cells.iter().map(|cell| (names.name(cell), *cell)));
        *cells = by_name.into_iter().flat_map(|(_, cells)| cells).collect();
    }
    questions
}

/// The question in words, with the sizes that all its rows have.
fn title(question: Question, cells: &[&Cell]) -> String {
    let common = |name: &str| {
        let mut numbers = cells.iter().map(|cell| cell.number(name));
        let first = numbers.next()??;
        numbers.all(|number| number == Some(first)).then_some(first)
    };
    let file = common("file_bytes").map(|bytes| Bytes(bytes).to_string());
    let with = |words: &str, detail: Option<String>| {
        let detail = detail.map_or_else(String::new, |detail| format!(", {detail}"));
        format!("{words}{detail}")
    };
    match question {
        Question::InOrder => with("files read and written in order", file.map(|bytes| format!("{bytes} each"))),
        Question::OneBlock => "single blocks".to_owned(),
        Question::SmallFiles => {
            let files = common("files").zip(file).map(|(files, bytes)| format!("{} of {bytes}", whole(files)));
            with("small files", files)
        }
        Question::LargeFile => with("one large file, in order and at random", file),
        Question::Copying => with("copying a file", file),
        Question::Writing => with("writing a file", file),
        Question::Mix => with("accesses drawn from a mix", file),
        Question::Other(program) => program.to_owned(),
    }
}

/// What a person sees of a cell before the table: ` write_8192  734 MiB/s  service 4.36 us / 9.99 us`.
pub fn first_figure(cell: &Cell, all: &[Cell]) -> Option<String> {
    cell.rate.as_ref()?;
    let mut name = CellNames::of(all).name(cell);
    if all.iter().any(|other| other.target != cell.target) {
        name += &format!(" on {}", cell.target);
    }
    let line = format!(" {name:<28} {:>20}  {}", rate(cell).trim_end_matches('*'), latencies(cell, true));
    Some(line.trim_end().to_owned())
}

pub(crate) fn rate(cell: &Cell) -> String {
    let Some(rate) = &cell.rate else { return "n.m.".to_owned() };
    let star = if cell.is_suspect() { "*" } else { "" };
    figure(rate) + star
}

/// Half the width of the interval, in percent of the rate.
pub(crate) fn interval(cell: &Cell) -> String {
    let half = |rate: &Rate| Some((rate.high? - rate.per_second) / rate.per_second);
    match cell.rate.as_ref().and_then(half) {
        // The interval reaches down to nothing.
        Some(half) if half > 1.0 => ">100 %".to_owned(),
        half => half.map_or_else(String::new, |half| format!("{:.0} %", 100.0 * half)),
    }
}

fn cpu(cell: &Cell) -> String {
    let missing = if cell.measured { "n.m." } else { "" };
    cell.cpu_percent.map_or_else(|| missing.to_owned(), |cpu| format!("{:.0}%", cpu.process))
}

fn workers(cell: &Cell) -> String {
    let workers = cell.cpu_percent.and_then(|cpu| cpu.kernel_workers);
    workers.map_or_else(String::new, |percent| format!("+{percent:.0}%"))
}

/// From when all times of a table count, where that is one; it then stands in the heading.
fn times(document: &Document) -> Option<LatencyKind> {
    let mut kinds = document.cells.iter().filter_map(|cell| Some(cell.latency_ns?.kind));
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

/// Half of the units of work took no longer than the first, 99 % no longer than the second. A unit that both have is
/// printed once. Where others count otherwise, it says from when these do.
fn latencies(cell: &Cell, is_mixed: bool) -> String {
    let Some(latency) = cell.latency_ns else { return String::new() };
    let kind = if is_mixed { format!("{} ", latency.kind.name()) } else { String::new() };
    let p50 = Nanos(latency.p50).to_string();
    let Some(p99) = latency.p99.map(|nanos| Nanos(nanos).to_string()) else { return format!("{kind}{p50} / n.m.") };
    match (p50.split_once(' '), p99.split_once(' ')) {
        (Some((half, unit)), Some((_, other))) if unit == other => format!("{kind}{half} / {p99}"),
        _ => format!("{kind}{p50} / {p99}"),
    }
}

/// What kept the rate from being higher; nothing where nothing tells.
fn limit(cell: &Cell) -> String {
    cell.limited_by.as_ref().map_or_else(String::new, |limit| limit.what.clone())
}

/// What the rate claims: where the clock stopped, or where the data came from.
pub(crate) fn state(cell: &Cell) -> &'static str {
    match (&cell.rate, cell.state.clock, cell.state.cache) {
        (None, ..) => "",
        (_, ClockKind::Durable, _) => "durable",
        (_, ClockKind::DataDurable, _) => "data durable",
        (_, ClockKind::Returned, CacheState::Cold) => "cold",
        (_, ClockKind::Returned, CacheState::Warm) => "warm",
        (_, ClockKind::Returned, CacheState::Unknown) => "returned",
    }
}

/// The rate until the last call returned, in the unit of the other, where the clock went on after it.
fn calls(cell: &Cell) -> String {
    let durable = cell.rate.as_ref().filter(|_| cell.state.clock == ClockKind::Durable);
    let Some(rate) = durable else { return String::new() };
    let returned: Option<Vec<f64>> =
        cell.kept().map(|round| summary::round_rate(round, cell.together, rate.base, ClockKind::Returned)).collect();
    match returned.filter(|rates| !rates.is_empty()) {
        Some(rates) => {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            match rate.unit.as_str() {
                RUNS => time_each(mean, supported_digits(rate)),
                _ => significant(mean * rate.value / rate.per_second, supported_digits(rate)),
            }
        }
        None => String::new(),
    }
}
