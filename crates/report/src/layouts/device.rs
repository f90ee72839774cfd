//! The table of `device`: the steady rate, and next to it the rate of the first round.

use stats::digits::significant;
use stats::figures::summary::rate_of;
use stats::inference::steady_state;
use stats::{Cell, Conditioned, Document, Round, Steadiness};
use units::{Bytes, Nanos};

use crate::display_names::unit;
use crate::layouts::plain::{Row, Rows};
use crate::page::Page;
use crate::rate_format::in_unit_of;
use crate::table::{Column, Field, Grid};

/// A row per cell, in the order of the run. Next to the rate are the columns `fresh` and `steady`.
pub fn table(document: &Document, page: Page) -> String {
    let rows = Rows::from_document(document);
    let mut columns = rows.columns();
    let at = columns.iter().position(|(column, _)| column.heading() == "rate").map_or(columns.len(), |rate| rate + 1);
    let steadiness: [Field<Row, Column>; 2] =
        [(Column::figures("fresh"), |row| fresh(row.cell)), (Column::words("steady"), |row| settled(row.cell))];
    columns.splice(at..at, steadiness);
    Grid::filled(&columns, rows.rows()).leading(rows.leading()).lines(page).join("\n") + "\n"
}

/// Returns the rate of the first round, in the unit of the cell's rate.
fn fresh(cell: &Cell) -> String {
    let first = cell.rounds.first().zip(cell.rate.as_ref());
    let fresh = first.and_then(|(round, rate)| Some((per_second(cell, round)?, rate)));
    fresh.map_or_else(String::new, |(fresh, rate)| {
        format!("{} {}", significant(in_unit_of(rate, fresh), 3), unit(&rate.unit))
    })
}

fn per_second(cell: &Cell, round: &Round) -> Option<f64> {
    rate_of(cell, round, cell.rate.as_ref()?.base)
}

/// Returns the round from which the rate is steady.
fn settled(cell: &Cell) -> String {
    let rates: Vec<f64> = cell.rounds.iter().filter_map(|round| per_second(cell, round)).collect();
    match (cell.state.steadiness, steady_state::settling(&rates)) {
        _ if !cell.measured => String::new(),
        (Steadiness::Steady, steady_state::Settling::Since(index, _)) => {
            cell.rounds.get(index - 1).map_or_else(String::new, |round| format!("at round {}", round.round))
        }
        (Steadiness::NotMeasured, _) => "n.m.".to_owned(),
        _ => "no".to_owned(),
    }
}

/// Returns in words how a device was conditioned before its first round.
pub fn conditioned(conditioned: &Conditioned) -> String {
    let Conditioned { purge, purge_reason, purge_s, written_bytes, written_s } = conditioned;
    let time = |seconds: f64| Nanos((seconds * 1e9) as u64).to_string();
    let purge = match (purge, purge_reason) {
        (Some(way), _) => format!("purge: {way} in {}", time(*purge_s)),
        (None, reason) => format!("purge: n.m. ({})", reason.as_deref().unwrap_or("not asked for")),
    };
    match written_bytes {
        0 => format!("{purge}, not written before"),
        bytes => format!("{purge}, {} written sequentially in {}", Bytes(*bytes), time(*written_s)),
    }
}
