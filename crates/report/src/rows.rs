//! The plain table: a row per cell.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, Table, TableStyle};
use stats::{CacheState, Cell, ClockKind, Document, ParameterValue, Rate, summary};
use units::{Bytes, Nanos};

use crate::numbers::significant;

/// A row per cell, in the order of the run. The target's name stands in each where there are several.
pub fn table(document: &Document) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(headings(document));
    for cell in &document.cells {
        table.add_row(row(document, cell));
    }
    for column in 1..=5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// What the columns hold.
pub fn headings(document: &Document) -> [&'static str; 8] {
    let timed = document.cells.iter().any(|cell| cell.latency_ns.is_some());
    let latency = if timed { "p50 / p99" } else { "" };
    ["", "rate", "+-", "CPU", "kernel", latency, "limited by", "until"]
}

/// A cell, in the words of the columns.
pub fn row(document: &Document, cell: &Cell) -> [String; 8] {
    let mut name = name(cell, &document.cells);
    if document.run.targets.len() > 1 {
        name = format!("{}: {name}", cell.target);
    }
    [name, rate(cell), interval(cell), cpu(cell), workers(cell), latencies(cell), limit(cell), until(cell)]
}

/// Program and phase, and whatever tells this cell from others of that name: `copy, buffer 64 B`.
pub fn name(cell: &Cell, all: &[Cell]) -> String {
    let mut name = cell.program.clone();
    if cell.phase != cell.program && !is_only_phase(cell, all) {
        name += &format!(" {}", cell.phase);
    }
    let same =
        |other: &&Cell| (&other.program, &other.phase, &other.target) == (&cell.program, &cell.phase, &cell.target);
    for (key, value) in &cell.parameters {
        let values: BTreeSet<Option<&ParameterValue>> =
            all.iter().filter(same).map(|other| other.parameters.get(key)).collect();
        if values.len() > 1 {
            name += &match (key.strip_suffix("_bytes"), value) {
                (Some(what), ParameterValue::Number(bytes)) => format!(", {what} {}", Bytes(*bytes)),
                _ => format!(", {key} {value}"),
            };
        }
    }
    name
}

/// What a person sees of a cell before the table: ` write_8192  734 MiB/s  4.36 us / 9.99 us`.
pub fn first_figure(cell: &Cell, all: &[Cell]) -> Option<String> {
    cell.rate.as_ref()?;
    Some(format!(" {:<28} {:>20}  {}", name(cell, all), rate(cell).trim_end_matches('*'), latencies(cell)))
}

fn is_only_phase(cell: &Cell, all: &[Cell]) -> bool {
    all.iter().filter(|other| other.program == cell.program).all(|other| other.phase == cell.phase)
}

fn rate(cell: &Cell) -> String {
    let Some(rate) = &cell.rate else { return "n.m.".to_owned() };
    let star = if cell.is_suspect() { "*" } else { "" };
    format!("{}{star}", in_unit(rate.value, rate))
}

fn in_unit(value: f64, rate: &Rate) -> String {
    format!("{} {}", significant(value, 3), rate.unit)
}

/// Half the width of the interval, in percent of the rate.
fn interval(cell: &Cell) -> String {
    let half = |rate: &Rate| Some((rate.high? - rate.per_second) / rate.per_second);
    cell.rate.as_ref().and_then(half).map_or_else(String::new, |half| format!("{:.0} %", 100.0 * half))
}

fn cpu(cell: &Cell) -> String {
    let missing = if cell.measured { "n.m." } else { "" };
    cell.cpu_percent.map_or_else(|| missing.to_owned(), |cpu| format!("{:.0}%", cpu.process))
}

fn workers(cell: &Cell) -> String {
    let workers = cell.cpu_percent.and_then(|cpu| cpu.kernel_workers);
    workers.map_or_else(String::new, |percent| format!("+{percent:.0}%"))
}

/// Half of the units of work took no longer than the first, 99 % no longer than the second.
fn latencies(cell: &Cell) -> String {
    let Some(latency) = cell.latency_ns else { return String::new() };
    let p99 = latency.p99.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string());
    format!("{} / {p99}", Nanos(latency.p50))
}

/// What kept the rate from being higher; nothing where nothing tells.
fn limit(cell: &Cell) -> String {
    cell.limited_by.as_ref().map_or_else(String::new, |limit| limit.what.clone())
}

/// Where the clock stopped; and the rate of the calls alone, where that is another.
fn until(cell: &Cell) -> String {
    let Some(rate) = &cell.rate else { return cell.reason.clone().unwrap_or_default() };
    if cell.state.clock == ClockKind::DataDurable {
        return "data durable".to_owned();
    }
    if cell.state.clock == ClockKind::Returned {
        return match cell.state.cache {
            CacheState::Cold => "returned; cold",
            CacheState::Warm => "returned; warm",
            CacheState::Unknown => "returned",
        }
        .to_owned();
    }
    let returned: Option<Vec<f64>> =
        cell.kept().map(|round| summary::round_rate(round, rate.base, ClockKind::Returned)).collect();
    match returned.filter(|rates| !rates.is_empty()) {
        Some(rates) => {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            format!("durable; calls alone {}", in_unit(mean * rate.value / rate.per_second, rate))
        }
        None => "durable".to_owned(),
    }
}
