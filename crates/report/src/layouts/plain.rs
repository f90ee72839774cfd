//! The plain table: a row per cell, in groups of cells that answer the same question.

use stats::digits::significant;
use stats::figures::rate::{Average, RUNS};
use stats::figures::summary;
use stats::judge::floor::P99_OPERATIONS;
use stats::{Cell, ClockKind, Document, Latency, LatencyKind, OperationFigures, ParameterValue};
use units::whole;
use units::{Bytes, Nanos};

use crate::cell_names::{CellNames, different, grouped};
use crate::display_names;
use crate::of_limit;
use crate::page::Page;
use crate::presentation::{Presentation, Question};
use crate::rate_format::{self, supported_digits, time_each};
use crate::table::{Column, Field, Grid, texts};

pub(crate) use crate::display_names::condition as state;

/// The plain table of a document. Built once for all rows, because a name depends on all results.
pub struct Rows<'a> {
    document: &'a Document,
    names: CellNames<'a>,
    times: Option<LatencyKind>,
}

/// A row of the plain table.
pub struct Row<'a> {
    /// The result.
    pub cell: &'a Cell,
    /// Its name in the first column.
    pub name: String,
    /// True if the heading does not name the kind of its latencies.
    is_mixed: bool,
    /// The kind of operation, if the row is about one of the result.
    pub operation: Option<&'a OperationFigures>,
}

impl<'a> Rows<'a> {
    /// Prepares the rows of a document.
    pub fn from_document(document: &'a Document) -> Rows<'a> {
        Rows { document, names: CellNames::from_cells(&document.cells), times: times(document) }
    }

    /// Returns the columns. A narrow page keeps the condition and the interval of a rate longer than its cost.
    pub fn columns(&self) -> Vec<Field<Row<'a>, Column>> {
        let latency = self.times.map_or("latency\np50/p99", display_names::latency);
        let mut columns: Vec<Field<Row, Column>> = vec![
            (Column::words(""), |row| row.name.clone()),
            (Column::words("target"), |row| row.of_cell(|cell| cell.target.clone())),
            (Column::words("condition"), |row| row.of_cell(|cell| state(cell).to_owned())),
            (Column::figures("rate"), Row::rate),
            (Column::figures("±95 %").left_out(0), Row::interval),
            (Column::figures("CPU +\nkthreads").left_out(1), |row| row.of_cell(cpu)),
            (Column::figures(latency).left_out(3), Row::latencies),
            (Column::words("bottleneck").left_out(2), |row| row.of_cell(limit)),
            (Column::figures("before\nsync").left_out(4), |row| row.of_cell(calls)),
        ];
        if of_limit::is_known(self.document) {
            columns.push((Column::words("of limit").left_out(3), |row| row.of_cell(of_limit::text)));
        }
        if self.leading() == 1 {
            columns.remove(1);
        }
        columns
    }

    /// Returns the number of columns that name a row: with several targets, the target is one of them.
    pub fn leading(&self) -> usize {
        if self.document.run.targets.len() > 1 { 2 } else { 1 }
    }

    /// Returns the row of a cell.
    pub fn row(&self, cell: &'a Cell) -> Row<'a> {
        Row { cell, name: self.names.name(cell), is_mixed: self.times.is_none(), operation: None }
    }

    /// Returns a row for each kind of operation of a cell, if it is a workload of the user with several kinds. Presets
    /// have fixed workloads, whose other calls hardly take time.
    pub fn parts(&self, cell: &'a Cell) -> impl Iterator<Item = Row<'a>> {
        let is_own = OWN_WORKLOADS.contains(&cell.preset.as_str()) && cell.operations.len() > 1;
        let times = self.times;
        let row = move |one: &'a OperationFigures| Row {
            cell,
            name: format!("  {}", one.operation.name()),
            // With a rate, the latencies of syncs are of another kind than those of reads and writes.
            is_mixed: one.latency_ns.is_some_and(|latency| times != Some(latency.kind)),
            operation: Some(one),
        };
        cell.operations.iter().filter(move |_| is_own).map(row)
    }

    /// Returns the row of each cell, in the order of the run, with the rows of its operations.
    pub fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        self.document.cells.iter().flat_map(|cell| std::iter::once(self.row(cell)).chain(self.parts(cell)))
    }
}

/// The presets of workloads of the user.
const OWN_WORKLOADS: [&str; 2] = ["io", "job"];

impl Row<'_> {
    /// Returns a text about the whole result; nothing in the row of one kind of operation.
    fn of_cell(&self, text: impl Fn(&Cell) -> String) -> String {
        if self.operation.is_some() { String::new() } else { text(self.cell) }
    }

    fn rate(&self) -> String {
        match self.operation {
            Some(operation) => operation.rate.as_ref().map_or("n.m.".to_owned(), rate_format::figure),
            None => rate(self.cell),
        }
    }

    fn interval(&self) -> String {
        match self.operation {
            Some(operation) => operation.rate.as_ref().and_then(rate_format::interval).unwrap_or_default(),
            None => interval(self.cell),
        }
    }

    fn latencies(&self) -> String {
        match self.operation {
            Some(operation) => {
                operation.latency_ns.map_or("n.m.".to_owned(), |latency| percentiles(latency, self.is_mixed, self.cell))
            }
            None => latencies(self.cell, self.is_mixed),
        }
    }
}

/// Returns a row per cell, under a title per question, in the order of the run. Targets of the same test are adjacent.
pub(crate) fn table(document: &Document, presentation: Presentation, page: Page) -> String {
    let rows = Rows::from_document(document);
    let columns = rows.columns();
    let mut grid = Grid::filled(&columns, []).leading(rows.leading());
    let groups = by_subject(&document.cells, presentation);
    for (subject, cells) in &groups {
        if groups.len() > 1 {
            grid.title(title(*subject, cells));
        }
        let mut before = String::new();
        for cell in cells {
            let mut row = rows.row(cell);
            // The name is printed once for all targets of a test.
            if row.name == before {
                row.name.clear();
            } else {
                before.clone_from(&row.name);
            }
            grid.row(texts(&columns, &row));
            rows.parts(cell).for_each(|part| grid.row(texts(&columns, &part)));
        }
    }
    grid.lines(page).join("\n") + "\n"
}

/// `randread: 4 KiB, O_DIRECT, queue depth 1 and 32, file of 256 MiB; commit: 4 KiB append + fdatasync`, in its own
/// line; empty if the names are complete.
pub(crate) fn legend(cells: &[Cell]) -> String {
    let programs = different(cells.iter().map(|cell| cell.program.as_str()));
    let said: Vec<String> = programs.into_iter().filter_map(|program| explained(program, cells)).collect();
    if said.is_empty() { String::new() } else { format!("{}\n", said.join("; ")) }
}

/// Returns block size, O_DIRECT, queue depths, file size and jobs of a program that accesses single blocks. Sizes that
/// differ are in the names.
fn explained(program: &str, cells: &[Cell]) -> Option<String> {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.program == program).collect();
    let numbers = |key: &str| different(cells.iter().filter_map(|cell| cell.number(key)));
    if let ([bytes], Some(sync)) = (&numbers("record_bytes")[..], cells.first()?.word("sync")) {
        return Some(format!("{program}: {} append + {sync}", Bytes(*bytes)));
    }
    let direct = different(cells.iter().filter_map(|cell| cell.parameters.get("direct")));
    let ([direct], depths) = (&direct[..], numbers("iodepth")) else { return None };
    let block = match &numbers("buffer_bytes")[..] {
        [bytes] => format!("{}, ", Bytes(*bytes)),
        _ => String::new(),
    };
    let through = if **direct == ParameterValue::Flag(true) { "O_DIRECT" } else { "page cache" };
    let depths: Vec<String> = depths.iter().map(u64::to_string).collect();
    let depths = if depths.is_empty() { String::new() } else { format!(", queue depth {}", depths.join(" and ")) };
    let span = match &numbers("file_bytes")[..] {
        [bytes] => format!(", file of {}", Bytes(*bytes)),
        _ => String::new(),
    };
    let jobs = match &numbers("jobs")[..] {
        [] | [1] => String::new(),
        jobs => format!(", {} jobs", jobs.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ")),
    };
    Some(format!("{program}: {block}{through}{depths}{span}{jobs}"))
}

/// Returns the cells in the order of the table, in groups with a title each.
pub(crate) fn groups(cells: &[Cell], presentation: Presentation) -> Vec<(String, Vec<&Cell>)> {
    let groups = by_subject(cells, presentation).into_iter();
    groups.map(|(subject, cells)| (title(subject, &cells), cells)).collect()
}

/// The subject of a group of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject<'a> {
    /// Programs that answer the same question.
    Question(Question),
    /// One program, under its own name.
    Program(&'a str),
}

/// Groups the cells by subject, in the order of first appearance. Cells of the same name are adjacent in a group.
fn by_subject(cells: &[Cell], presentation: Presentation) -> Vec<(Subject<'_>, Vec<&Cell>)> {
    let names = CellNames::from_cells(cells);
    let subject = |cell: &'_ Cell| presentation.question(&cell.program).map(Subject::Question);
    let mut groups = grouped(cells.iter().map(|cell| (subject(cell).unwrap_or(Subject::Program(&cell.program)), cell)));
    for (_, cells) in &mut groups {
        let by_name = grouped(cells.iter().map(|cell| (names.name(cell), *cell)));
        *cells = by_name.into_iter().flat_map(|(_, cells)| cells).collect();
    }
    groups
}

/// Returns the title of a group, with the sizes that all its rows share.
fn title(subject: Subject, cells: &[&Cell]) -> String {
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
    let question = match subject {
        Subject::Question(question) => question,
        Subject::Program(program) => return program.to_owned(),
    };
    match question {
        Question::Sequential => {
            with("sequential I/O", file.map(|bytes| format!("files of {bytes}, calls as named in bytes")))
        }
        Question::SingleBlocks => "random I/O and commits".to_owned(),
        Question::SmallFiles => {
            let files = common("files").zip(file).map(|(files, bytes)| format!("{} of {bytes}", whole(files)));
            with("small files", files)
        }
        Question::LargeFile => with("sequential and random I/O on one file", file),
        Question::Copying => with("copying a file", file),
        Question::Writing => with("writing a file", file),
        Question::Mix => with("accesses drawn from a mix", file),
    }
}

/// Returns the line of a cell that is printed before the table is complete: ` write_8192  734 MiB/s  latency 4.36/9.99
/// us`.
pub fn first_figure(cell: &Cell, all: &[Cell]) -> Option<String> {
    cell.rate.as_ref()?;
    let mut name = CellNames::from_cells(all).name(cell);
    if all.iter().any(|other| other.target != cell.target) {
        name += &format!(" on {}", cell.target);
    }
    let line = format!(" {name:<28} {:>20}  {}", rate(cell).trim_end_matches('*'), latencies(cell, true));
    Some(line.trim_end().to_owned())
}

pub(crate) fn rate(cell: &Cell) -> String {
    let Some(figure) = rate_format::figure_of(cell) else { return "n.m.".to_owned() };
    let star = if cell.is_suspect() { "*" } else { "" };
    figure + star
}

/// Returns half the width of the interval, in percent of the rate.
pub(crate) fn interval(cell: &Cell) -> String {
    cell.rate.as_ref().and_then(rate_format::interval).unwrap_or_default()
}

/// `53% +2%`: the program's own CPU time, and the CPU time of kernel threads.
fn cpu(cell: &Cell) -> String {
    let missing = if cell.measured { "n.m." } else { "" };
    let Some(cpu) = cell.cpu_percent else { return missing.to_owned() };
    let threads = cpu.kernel_workers.map_or_else(String::new, |percent| format!(" +{percent:.0}%"));
    format!("{:.0}%{threads}", cpu.process)
}

/// Returns the kind of all latencies of a table if there is only one; the heading names it then.
fn times(document: &Document) -> Option<LatencyKind> {
    let mut kinds = document.cells.iter().filter_map(|cell| Some(cell.latency_ns?.kind));
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

/// `90.7/163 us`: the median and the 99th percentile. A common unit is printed once. If a table has both kinds of
/// latency, each figure names its kind. A percentile of few operations is printed with their number: `of 3,210`.
fn latencies(cell: &Cell, is_mixed: bool) -> String {
    cell.latency_ns.map_or_else(String::new, |latency| percentiles(latency, is_mixed, cell))
}

fn percentiles(latency: Latency, is_mixed: bool, cell: &Cell) -> String {
    let kind = match (is_mixed, latency.kind) {
        (false, _) => "",
        (true, LatencyKind::Service) => "latency ",
        (true, LatencyKind::Response) => "response ",
    };
    let p50 = Nanos(latency.p50).to_string();
    let Some(p99) = latency.p99.map(|nanos| Nanos(nanos).to_string()) else { return format!("{kind}{p50}/n.m.") };
    let is_rare = latency.count < P99_OPERATIONS && !cell.is_simulated();
    let of = if is_rare { format!(" of {}", whole(latency.count)) } else { String::new() };
    match (p50.split_once(' '), p99.split_once(' ')) {
        (Some((half, unit)), Some((_, other))) if unit == other => format!("{kind}{half}/{p99}{of}"),
        _ => format!("{kind}{p50}/{p99}{of}"),
    }
}

/// Returns the bottleneck; empty if it is unknown.
fn limit(cell: &Cell) -> String {
    cell.limited_by.as_ref().map_or_else(String::new, |limit| limit.what.title().to_owned())
}

/// Returns the rate until the last call returned, in the unit of the rate that includes the sync.
fn calls(cell: &Cell) -> String {
    let durable = cell.rate.as_ref().filter(|_| cell.state.clock == ClockKind::Durable);
    let Some(rate) = durable else { return String::new() };
    let returned: Option<Vec<f64>> =
        cell.kept().map(|round| summary::round_rate(round, cell.together, rate.base, ClockKind::Returned)).collect();
    let Some(rates) = returned.filter(|rates| !rates.is_empty()) else { return String::new() };
    let (average, digits) = (Average::of_marks(&cell.marks), supported_digits(rate));
    if rate.unit == RUNS {
        let times: Vec<f64> = rates.iter().map(|rate| 1.0 / rate).collect();
        return time_each(1.0 / average.and_half_width(&times).0, digits);
    }
    significant(rate_format::in_unit_of(rate, average.and_half_width(&rates).0), digits)
}
