//! The tables about several hosts: how even they were, and the figures of each.

use std::mem;

use stats::{Cell, Document, HostFigures};
use units::Nanos;

use crate::cell_names::CellNames;
use crate::page::Page;
use crate::rate_format::part_of;
use crate::table::{Column, Field, Grid};

/// A row: a result, its name, and one of its hosts if the row is about one.
struct Row<'a> {
    name: String,
    cell: &'a Cell,
    host: Option<&'a HostFigures>,
}

/// Returns a table with a row for each result: the rate while all hosts were busy, the slowest host, and the spread of
/// the starts. Empty if one host measured.
pub fn summary(document: &Document, page: Page) -> String {
    let count = document.run.hosts.len();
    let others = if document.run.read_others { "each host read the files that the next one wrote\n" } else { "" };
    let heading =
        format!("\n{count} hosts: together is the work of all, divided by the time until the last ended\n{others}");
    let columns: Vec<Field<Row, Column>> = vec![
        (Column::words(""), |row| row.name.clone()),
        (Column::figures("together"), |row| rate(row.cell, row.cell.rate.as_ref().map(|rate| rate.per_second))),
        (Column::figures("all busy"), |row| rate(row.cell, row.cell.all_busy_per_second)),
        (Column::words("slowest host"), |row| slowest(row.cell)),
        (Column::words("started"), |row| started(row.cell)),
    ];
    let grid = grid(&columns, document, |name, cell| vec![Row { name, cell, host: None }]);
    lines(heading, grid, page)
}

/// Returns a table with a row for each host of each result. Empty if one host measured.
pub fn each(document: &Document, page: Page) -> String {
    lines("\n".to_owned(), page_grid(document), page)
}

/// Returns the same table for a page.
pub(crate) fn page_grid(document: &Document) -> Option<Grid> {
    let columns: Vec<Field<Row, Column>> = vec![
        (Column::words(""), |row| row.name.clone()),
        (Column::words("host"), |row| row.of_host(|host| host.name.clone())),
        (Column::figures("rate"), |row| row.of_host(|host| rate(row.cell, host.per_second))),
        (Column::figures("of median"), |row| row.of_host(|host| share(host.of_median))),
        (Column::figures("CPU"), |row| row.of_host(cpu)),
        (Column::words("warnings"), |row| row.of_host(warnings)),
    ];
    grid(&columns, document, of_hosts)
}

/// Returns a row for each host of a result. The first one has the name of the result.
fn of_hosts(mut name: String, cell: &Cell) -> Vec<Row<'_>> {
    let row = |host| Row { name: mem::take(&mut name), cell, host: Some(host) };
    cell.hosts.iter().map(row).collect()
}

fn lines(heading: String, grid: Option<Grid>, page: Page) -> String {
    grid.map_or_else(String::new, |grid| heading + &grid.lines(page).join("\n") + "\n")
}

fn grid<'a>(
    columns: &[Field<Row<'a>, Column>],
    document: &'a Document,
    rows: impl Fn(String, &'a Cell) -> Vec<Row<'a>>,
) -> Option<Grid> {
    let cells = || document.cells.iter().filter(|cell| !cell.hosts.is_empty());
    cells().next()?;
    let names = CellNames::from_cells(&document.cells);
    Some(Grid::filled(columns, cells().flat_map(|cell| rows(names.name_on(cell, &document.run), cell))))
}

impl Row<'_> {
    fn of_host(&self, text: impl Fn(&HostFigures) -> String) -> String {
        self.host.map_or_else(String::new, text)
    }
}

/// Returns a rate in the unit of the result's rate.
fn rate(cell: &Cell, per_second: Option<f64>) -> String {
    match (&cell.rate, per_second) {
        (Some(rate), Some(per_second)) => part_of(rate, per_second),
        _ => "n.m.".to_owned(),
    }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "n.m.".to_owned(), |share| format!("{share:.2}"))
}

fn warnings(host: &HostFigures) -> String {
    host.warnings.join(", ")
}

fn cpu(host: &HostFigures) -> String {
    host.cpu_percent.map_or_else(|| "n.m.".to_owned(), |cpu| format!("{:.0}%", cpu.process))
}

/// `n03 0.71 of the median`.
fn slowest(cell: &Cell) -> String {
    let shares = cell.hosts.iter().filter_map(|host| Some((host.of_median?, host.name.as_str())));
    let slowest = shares.min_by(|one, other| one.0.total_cmp(&other.0)).filter(|_| cell.measured);
    slowest.map_or_else(|| "n.m.".to_owned(), |(share, name)| format!("{name} {share:.2} of the median"))
}

/// `within 0.2 ms`: the largest spread of the kept rounds, with the uncertainty of the clocks.
fn started(cell: &Cell) -> String {
    let spreads = cell.kept().filter_map(|round| round.start_spread);
    let widest = spreads.map(|spread| spread.nanos + spread.uncertainty_ns).max();
    widest.map_or_else(|| "n.m.".to_owned(), |nanos| format!("within {}", Nanos(nanos)))
}

#[cfg(test)]
mod tests {
    use stats::{CacheState, Provenance, Rate, RateBase, Round, RunInfo, StartSpread};

    use super::*;

    fn document() -> Document {
        let mut cell = Cell::named(Provenance::Measured, "io", "randread", "randread", "t");
        cell.measured = true;
        let unit = "ops/sec".to_owned();
        let (low, high) = (None, None);
        cell.rate = Some(Rate {
            per_second: 3000.0,
            base: RateBase::Ops,
            value: 3000.0,
            unit,
            low,
            high,
            confidence: 0.95,
            rounds: 1,
            range: None,
        });
        let host = |name: &str, per_second: f64, of_median| HostFigures {
            name: name.to_owned(),
            per_second: Some(per_second),
            of_median: Some(of_median),
            cpu_percent: None,
            cache: CacheState::Cold,
            warnings: vec!["noise".to_owned()],
        };
        cell.hosts = vec![host("n0", 2000.0, 1.33), host("n1", 1000.0, 0.67)];
        let start_spread = Some(StartSpread { nanos: 150_000, uncertainty_ns: 50_000 });
        cell.rounds = vec![Round { round: 1, start_spread, ..Round::default() }];
        let hosts = vec![stats::HostInfo::default(); 2];
        Document {
            schema: stats::SCHEMA.to_owned(),
            run: RunInfo { hosts, ..RunInfo::default() },
            cells: vec![cell],
            errors: Vec::new(),
        }
    }

    #[test]
    fn the_slowest_host_is_named() {
        let text = summary(&document(), Page::default());
        let row = text.lines().last().expect("a row");
        for word in ["3,000 ops/s", "n.m.", "n1 0.67 of the median", "within 200 us"] {
            assert!(row.contains(word), "{word}: {text}");
        }
        assert!(text.starts_with("\n2 hosts: ") && !text.contains("each host read"), "{text}");
        let mut others = document();
        others.run.read_others = true;
        assert!(summary(&others, Page::default()).contains("\neach host read the files that the next one wrote\n"));
    }

    #[test]
    fn each_host_has_a_row() {
        let text = each(&document(), Page::default());
        assert!(
            text.lines().any(|line| line.contains("n0") && line.contains("1.33") && line.contains("noise")),
            "{text}"
        );
        let alone = Document { cells: Vec::new(), ..document() };
        assert_eq!((each(&alone, Page::default()), summary(&alone, Page::default())), (String::new(), String::new()));
    }
}
