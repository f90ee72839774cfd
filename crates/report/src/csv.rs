//! Cells in CSV (RFC 4180) for other programs: a row per cell. An empty field is `n.m.`.

use std::collections::BTreeSet;

use stats::{CacheState, Cell, ClockKind, Document, Latency, LimitLayer, MarkCode, OperationKind, RateBase, RunInfo};

use crate::of_limit;
use crate::table::{Field, texts};

/// A row: a cell, and the name and the description of its run.
type Row<'a> = (&'a Cell, (&'a str, &'a RunInfo));

/// The columns of a kind of operation.
macro_rules! operations {
    ($name:literal, $kind:ident) => {{
        let columns: [Field<Row>; 6] = [
            (concat!($name, "_per_second"), |(cell, _)| {
                let operation = cell.operation(OperationKind::$kind);
                number(operation.and_then(|one| one.rate.as_ref()).map(|rate| rate.per_second))
            }),
            (concat!($name, "_p50_ns"), |(cell, _)| number(latency(cell, OperationKind::$kind).map(|all| all.p50))),
            (concat!($name, "_p90_ns"), |(cell, _)| {
                number(latency(cell, OperationKind::$kind).and_then(|all| all.p90))
            }),
            (concat!($name, "_p99_ns"), |(cell, _)| {
                number(latency(cell, OperationKind::$kind).and_then(|all| all.p99))
            }),
            (concat!($name, "_p999_ns"), |(cell, _)| {
                number(latency(cell, OperationKind::$kind).and_then(|all| all.p999))
            }),
            (concat!($name, "_max_ns"), |(cell, _)| number(latency(cell, OperationKind::$kind).map(|all| all.max))),
        ];
        columns
    }};
}
/// Returns the columns, in order.
fn columns<'a>() -> Vec<Field<Row<'a>>> {
    let of_run: [Field<Row>; 5] = [
        ("run", |(_, (name, _))| field(name)),
        ("started_unix_s", |(_, (_, run))| run.started_unix_s.to_string()),
        ("version", |(_, (_, run))| field(&run.version)),
        ("kernel", |(_, (_, run))| field(&run.kernel)),
        ("host", |(_, (_, run))| field(&run.host)),
    ];
    let of_cell: [Field<Row>; 31] = [
        ("together", |(cell, _)| cell.together.to_string()),
        ("measured", |(cell, _)| cell.measured.to_string()),
        ("reason", |(cell, _)| field(cell.reason.as_deref().unwrap_or_default())),
        ("per_second", |(cell, _)| number(cell.rate.as_ref().map(|rate| rate.per_second))),
        ("base", |(cell, _)| cell.rate.as_ref().map_or("", |rate| base(rate.base)).to_owned()),
        ("low", |(cell, _)| number(cell.rate.as_ref().and_then(|rate| rate.low))),
        ("high", |(cell, _)| number(cell.rate.as_ref().and_then(|rate| rate.high))),
        ("rounds", |(cell, _)| cell.kept().count().to_string()),
        ("cpu_process_percent", |(cell, _)| number(cell.cpu_percent.map(|cpu| cpu.process))),
        ("cpu_kernel_workers_percent", |(cell, _)| number(cell.cpu_percent.and_then(|cpu| cpu.kernel_workers))),
        ("cpu_machine_percent", |(cell, _)| number(cell.cpu_percent.and_then(|cpu| cpu.machine))),
        ("p50_ns", |(cell, _)| number(cell.latency_ns.map(|latency| latency.p50))),
        ("p90_ns", |(cell, _)| number(cell.latency_ns.and_then(|latency| latency.p90))),
        ("p99_ns", |(cell, _)| number(cell.latency_ns.and_then(|latency| latency.p99))),
        ("p999_ns", |(cell, _)| number(cell.latency_ns.and_then(|latency| latency.p999))),
        ("max_ns", |(cell, _)| number(cell.latency_ns.map(|latency| latency.max))),
        ("program_bytes", |(cell, _)| number(cell.io.and_then(|io| io.program_bytes))),
        ("device_read", |(cell, _)| number(cell.io.map(|io| io.device_read))),
        ("device_written", |(cell, _)| number(cell.io.map(|io| io.device_written))),
        ("flushes", |(cell, _)| number(cell.io.map(|io| io.flushes))),
        ("cache", |(cell, _)| cache(cell.state.cache).to_owned()),
        ("clock", |(cell, _)| clock(cell.state.clock).to_owned()),
        ("limited_by", |(cell, _)| field(cell.limited_by.as_ref().map_or("", |limit| limit.what.name()))),
        ("limit_layer", |(cell, _)| layer(cell).to_owned()),
        ("of_limit", |(cell, _)| number(of_limit::estimate(cell).and_then(|estimate| estimate.ratio))),
        ("of_limit_low", |(cell, _)| number(of_limit::estimate(cell).and_then(|estimate| estimate.low))),
        ("of_limit_high", |(cell, _)| number(of_limit::estimate(cell).and_then(|estimate| estimate.high))),
        ("marks", |(cell, _)| marks(cell.marks.iter().map(|mark| mark.code))),
        ("below_floor", |(cell, _)| field(&cell.below_floor.map_or_else(String::new, |lacks| lacks.to_string()))),
        ("effect", |(cell, _)| field(cell.effect.as_deref().unwrap_or_default())),
        ("unverified", |(cell, _)| field(cell.state.unverified.as_deref().unwrap_or_default())),
    ];
    let of_operations = [
        operations!("read", Read),
        operations!("write", Write),
        operations!("fsync", Fsync),
        operations!("fdatasync", Fdatasync),
    ];
    of_run.into_iter().chain(key()).chain(of_cell).chain(of_operations.into_iter().flatten()).collect()
}

fn latency(cell: &Cell, kind: OperationKind) -> Option<Latency> {
    cell.operation(kind)?.latency_ns
}

/// Returns the columns that identify a cell in its run.
pub(crate) fn key<'a, T>() -> [Field<(&'a Cell, T)>; 6] {
    [
        ("provenance", |(cell, _)| cell.provenance.name().to_owned()),
        ("preset", |(cell, _)| field(&cell.preset)),
        ("program", |(cell, _)| field(&cell.program)),
        ("phase", |(cell, _)| field(&cell.phase)),
        ("target", |(cell, _)| field(&cell.target)),
        ("parameters", |(cell, _)| {
            let parameters: Vec<String> = cell.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
            field(&parameters.join(" "))
        }),
    ]
}

/// Returns a line for every cell of these runs, below the line of column names. Each setting of a cell has a column of
/// its own, too: `parameter.iodepth`.
pub fn runs(runs: &[(&str, &Document)]) -> String {
    let columns = columns();
    let cells = || runs.iter().flat_map(|(name, run)| run.cells.iter().map(move |cell| (cell, (*name, &run.run))));
    let settings: BTreeSet<&str> = cells().flat_map(|(cell, _)| settings_of(cell)).collect();
    let rows: String = cells().map(|row| row_of(&columns, settings.iter().copied(), &row)).collect();
    names_of(&columns, settings.iter().copied()) + &rows
}

/// The names of a cell's settings.
pub fn settings_of(cell: &Cell) -> impl Iterator<Item = &str> {
    cell.parameters.keys().map(String::as_str)
}

/// The lines of a sweep that is written in steps. They have no columns of the run and the computer, so that they are
/// the same on each computer.
pub struct SweepLines {
    /// The settings of all its cells.
    pub settings: BTreeSet<String>,
}

impl SweepLines {
    /// The line of column names.
    pub fn names(&self) -> String {
        names_of(&sweep_columns(), self.settings.iter().map(String::as_str))
    }

    /// A line for every cell of the document.
    pub fn rows(&self, document: &Document) -> String {
        let (columns, settings) = (sweep_columns(), || self.settings.iter().map(String::as_str));
        document.cells.iter().map(|cell| row_of(&columns, settings(), &(cell, ("", &document.run)))).collect()
    }
}

fn sweep_columns<'a>() -> Vec<Field<Row<'a>>> {
    let mut columns = columns();
    columns.retain(|(name, _)| !["run", "started_unix_s", "kernel", "host"].contains(name));
    columns
}

fn names_of<'s>(columns: &[Field<Row>], settings: impl Iterator<Item = &'s str>) -> String {
    let names = columns.iter().map(|(name, _)| (*name).to_owned());
    let names = names.chain(settings.map(|setting| field(&format!("parameter.{setting}"))));
    names.collect::<Vec<String>>().join(",") + "\n"
}

fn row_of<'a, 's>(columns: &[Field<Row<'a>>], settings: impl Iterator<Item = &'s str>, row: &Row<'a>) -> String {
    let value = |setting| row.0.parameters.get(setting).map_or_else(String::new, |value| field(&value.to_string()));
    texts(columns, row).chain(settings.map(value)).collect::<Vec<String>>().join(",") + "\n"
}

/// Returns rows in CSV, below the line of column names.
pub(crate) fn table<T>(rows: impl Iterator<Item = T>, columns: &[Field<T>]) -> String {
    head(columns) + &rows.map(|row| line(columns, &row)).collect::<String>()
}

fn head<T>(columns: &[Field<T>]) -> String {
    columns.iter().map(|(name, _)| *name).collect::<Vec<&str>>().join(",") + "\n"
}

fn line<T>(columns: &[Field<T>], row: &T) -> String {
    texts(columns, row).collect::<Vec<String>>().join(",") + "\n"
}

/// Returns a text field, quoted if necessary. A spreadsheet would compute a text that begins like a formula, so that
/// text gets an apostrophe in front, as a user would type it.
pub(crate) fn field(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let text = &format!("{formula}{text}");
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
}

/// Returns a number, or an empty field.
pub(crate) fn number<N: ToString>(number: Option<N>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Returns the codes of warnings, separated by spaces.
pub(crate) fn marks(codes: impl Iterator<Item = MarkCode>) -> String {
    codes.map(MarkCode::name).collect::<Vec<&str>>().join(" ")
}

fn layer(cell: &Cell) -> &'static str {
    cell.of_limit.as_ref().and_then(|of_limit| of_limit.layer).map_or("", LimitLayer::name)
}

fn base(base: RateBase) -> &'static str {
    match base {
        RateBase::Bytes => "bytes",
        RateBase::Files => "files",
        RateBase::Ops => "ops",
    }
}

fn cache(cache: CacheState) -> &'static str {
    match cache {
        CacheState::Cold => "cold",
        CacheState::Unverified => "unverified",
        CacheState::Warm => "warm",
        CacheState::Unknown => "unknown",
    }
}

fn clock(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Returned => "returned",
        ClockKind::DataDurable => "data_durable",
        ClockKind::Durable => "durable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_quoted_where_it_must_be() {
        assert_eq!(field("plain text"), "plain text");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(["+1", "-1", "@a", "a=1"].map(field), ["'+1", "'-1", "'@a", "a=1"]);
    }

    #[test]
    fn each_setting_has_a_column() {
        use stats::ParameterValue;
        let cell = |settings: &[(&str, u64)]| {
            let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), ParameterValue::Number(*value)));
            let cell = Cell::named(stats::Provenance::Measured, "io", "randread", "randread", "a");
            Cell { parameters: settings.collect(), ..cell }
        };
        let cells = vec![cell(&[("iodepth", 8)]), cell(&[("jobs", 2)])];
        let run = Document { schema: String::new(), run: RunInfo::default(), cells, errors: Vec::new() };
        let text = runs(&[("k3", &run)]);
        let ends: Vec<&str> =
            text.lines().map(|line| line.rsplitn(3, ',').last().map_or("", |rest| &line[rest.len()..])).collect();
        assert_eq!(ends, [",parameter.iodepth,parameter.jobs", ",8,", ",,2"]);
    }

    #[test]
    fn what_a_result_lacks_has_a_column() {
        use stats::judge::floor::{Quantity, Shortfall};
        let lacks = Shortfall { quantity: Quantity::Operations, is: 200, least: 1000 };
        let plain = Cell::named(stats::Provenance::Measured, "quick", "commit", "commit", "a");
        let text = |below_floor| {
            let cell = Cell { below_floor, ..plain.clone() };
            line(&columns(), &(&cell, ("run", &RunInfo::default())))
        };
        let heading = runs(&[]);
        let place = heading.trim_end().split(',').position(|column| column == "below_floor").expect("a column");
        assert_eq!(text(None).split(',').nth(place), Some(""));
        assert!(text(Some(lacks)).contains(",\"200 operations, fewer than 1,000\","), "{}", text(Some(lacks)));
    }
}
