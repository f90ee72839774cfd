//! Cells in CSV (RFC 4180) for other programs: a row per cell. An empty field is `n.m.`.

use stats::{CacheState, Cell, ClockKind, Document, Provenance, RateBase};

/// The columns, in order.
pub const COLUMNS: [&str; 36] = [
    "run",
    "started_unix_s",
    "version",
    "kernel",
    "host",
    "provenance",
    "preset",
    "program",
    "phase",
    "target",
    "parameters",
    "together",
    "measured",
    "reason",
    "per_second",
    "base",
    "low",
    "high",
    "rounds",
    "cpu_process_percent",
    "cpu_kernel_workers_percent",
    "cpu_machine_percent",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "program_bytes",
    "device_read",
    "device_written",
    "flushes",
    "cache",
    "clock",
    "limited_by",
    "marks",
    "effect",
];

/// Returns the line of column names.
pub fn heading() -> String {
    COLUMNS.join(",") + "\n"
}

/// Returns a line for every cell of the run `name`.
pub fn lines(name: &str, document: &Document) -> String {
    document.cells.iter().map(|cell| line(name, document, cell)).collect()
}

fn line(name: &str, document: &Document, cell: &Cell) -> String {
    let run = &document.run;
    let rate = cell.rate.as_ref();
    let latency = cell.latency_ns;
    let cpu = cell.cpu_percent;
    let marks: Vec<&str> = cell.marks.iter().map(|mark| mark.code.name()).collect();
    let fields = [
        field(name),
        run.started_unix_s.to_string(),
        field(&run.version),
        field(&run.kernel),
        field(&run.host),
        key(cell),
        cell.together.to_string(),
        cell.measured.to_string(),
        field(cell.reason.as_deref().unwrap_or_default()),
        number(rate.map(|rate| rate.per_second)),
        rate.map_or("", |rate| base(rate.base)).to_owned(),
        number(rate.and_then(|rate| rate.low)),
        number(rate.and_then(|rate| rate.high)),
        cell.kept().count().to_string(),
        number(cpu.map(|cpu| cpu.process)),
        number(cpu.and_then(|cpu| cpu.kernel_workers)),
        number(cpu.and_then(|cpu| cpu.machine)),
        number(latency.map(|latency| latency.p50)),
        number(latency.and_then(|latency| latency.p90)),
        number(latency.and_then(|latency| latency.p99)),
        number(latency.and_then(|latency| latency.p999)),
        number(latency.map(|latency| latency.max)),
        number(cell.io.and_then(|io| io.program_bytes)),
        number(cell.io.map(|io| io.device_read)),
        number(cell.io.map(|io| io.device_written)),
        number(cell.io.map(|io| io.flushes)),
        cache(cell.state.cache).to_owned(),
        clock(cell.state.clock).to_owned(),
        field(cell.limited_by.as_ref().map_or("", |limit| &limit.what)),
        marks.join(" "),
        field(cell.effect.as_deref().unwrap_or_default()),
    ];
    fields.join(",") + "\n"
}

/// Returns the six fields that identify a cell in its run: provenance, preset, program, phase, target and parameters.
pub(crate) fn key(cell: &Cell) -> String {
    let provenance = match cell.provenance {
        Provenance::Measured => "measured",
        Provenance::Simulated => "simulated",
        Provenance::Published => "published",
    };
    let parameters: Vec<String> = cell.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let fields = [provenance, &cell.preset, &cell.program, &cell.phase, &cell.target, &parameters.join(" ")];
    fields.map(field).join(",")
}

/// Returns a text field, quoted if necessary. A spreadsheet would compute a text that begins like a formula, so that
/// text gets an apostrophe in front, as a user would type it.
pub(crate) fn field(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let text = &format!("{formula}{text}");
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
}

fn number<N: ToString>(number: Option<N>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
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
}
