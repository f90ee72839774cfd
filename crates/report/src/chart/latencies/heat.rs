//! Latencies over time (heat map): a column for each quarter of a second or longer, round after round, a row for each
//! bucket of latencies. The darker a block, the larger its share of the operations of its column.
//!
//! Policy:
//!   1. a result has a map if its rounds have at least [`LEAST_COLUMNS`] columns;
//!   2. more than [`MOST_COLUMNS`] columns are merged, each with its neighbours of the same round.

use stats::{Cell, Document, HeatMap, Provenance, Round, merged_columns};
use units::Nanos;

use super::super::frame::{AXIS, Frame, NARROW_GROUND, x_axis, y_axis};
use super::super::scale::{self, Scale};
use super::super::svg::{Path, Svg};
use super::super::{Chart, Subject};
use crate::cell_names::CellNames;

/// The most maps of a document, so that the page stays small.
const MOST_CHARTS: usize = 3;

/// The fewest columns that show anything.
const LEAST_COLUMNS: usize = 8;

/// The most columns: a phone has a few pixels for each.
const MOST_COLUMNS: usize = 64;

/// The height of the plot area, in pixels.
const GROUND: f64 = 150.0;

/// From the top of the drawing to the plot area, in pixels.
const TOP: f64 = 10.0;

/// The smallest share of a column that each class of colour shows.
const CLASSES: [(&str, f64); 4] = [("heat1", 0.0), ("heat2", 0.01), ("heat3", 0.1), ("heat4", 0.3)];

/// The ratio of the ends of a bucket: four make a doubling.
const BUCKET: f64 = 1.25;

/// A column: pairs of a longest latency in nanoseconds and a number of operations.
type Column = Vec<(u64, u64)>;

/// Returns a map for each result whose operations were timed long enough.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let names = CellNames::from_cells(&document.cells);
    let own = document.cells.iter().filter(|cell| cell.provenance != Provenance::Published && !cell.together);
    let has_targets = document.run.targets.len() > 1;
    let chart = |cell: &Cell| {
        let columns = columns(cell);
        let on = if has_targets { format!(" on {}", cell.target) } else { String::new() };
        // 1
        if columns.len() < LEAST_COLUMNS { None } else { chart(&format!("{}{on}", names.name(cell)), &columns) }
    };
    own.filter_map(chart).take(MOST_CHARTS).collect()
}

/// The columns of all kept rounds, each with the number of its round.
fn columns(cell: &Cell) -> Vec<(u32, Column)> {
    let of_round = |round: &Round| round.heat_map.clone().map(|map| (round.round, map));
    let rounds: Vec<(u32, HeatMap)> = cell.kept().filter_map(of_round).collect();
    let all: usize = rounds.iter().map(|(_, map)| map.columns.len()).sum();
    // 2
    let each = all.div_ceil(MOST_COLUMNS).max(1);
    let merged = |(round, map): &(u32, HeatMap)| -> Vec<(u32, Column)> {
        map.columns.chunks(each).map(|some| (*round, merged_columns(some))).collect()
    };
    rounds.iter().flat_map(merged).collect()
}

fn chart(name: &str, columns: &[(u32, Column)]) -> Option<Chart> {
    let all = || columns.iter().flat_map(|(_, column)| column.iter().copied());
    let ends = all().flat_map(|(time, _)| [time as f64 / BUCKET, time as f64]);
    let scale = Scale::log(ends)?;
    let foot = TOP + GROUND;
    let mut svg = Svg::default();
    let times = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), scale::time(tick).replace(' ', "")));
    y_axis(&mut svg, times, TOP, foot);
    let width = 1.0 / columns.len() as f64;
    let starts = columns.iter().enumerate().filter(|(place, (round, _))| *place == 0 || columns[place - 1].0 != *round);
    let labels: Vec<(f64, String)> =
        starts.map(|(place, (round, _))| (place as f64 * width, format!("round {round}"))).collect();
    x_axis(&mut svg, labels, NARROW_GROUND, TOP, foot);
    let mut paths = CLASSES.map(|_| Path::default());
    for (place, (_, column)) in columns.iter().enumerate() {
        let count: u64 = column.iter().map(|(_, count)| count).sum();
        for (time, number) in column {
            let share = *number as f64 / count.max(1) as f64;
            let class = CLASSES.iter().rposition(|(_, least)| share >= *least).unwrap_or(0);
            let y = |time: f64| GROUND * (1.0 - scale.share(time));
            let (top, bottom) = (y(*time as f64), y(*time as f64 / BUCKET));
            let path = std::mem::take(&mut paths[class]);
            paths[class] = path.block(place as f64 * width, top, width, bottom - top);
        }
    }
    let drawn: Vec<(&str, Path)> = CLASSES.iter().map(|(class, _)| *class).zip(paths).collect();
    svg.stretched(TOP, GROUND, &drawn);
    let longest = all().map(|(time, _)| time).max().unwrap_or_default();
    let frame = Frame {
        subject: Subject::Latency,
        title: format!("{name}: latencies over time, darker for more operations"),
        series: Vec::new(),
        told: format!("Heat map of {} columns; the longest latencies are about {}.", columns.len(), Nanos(longest)),
    };
    Some(frame.upright(svg, foot + AXIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_buckets_of_merged_columns_add_up() {
        let map = HeatMap { column_ms: 250, columns: vec![vec![(1279, 1), (2047, 3)]; 2 * MOST_COLUMNS] };
        let round = Round { round: 1, heat_map: Some(map), ..Round::default() };
        let cell = Cell { rounds: vec![round], ..Cell::named(Provenance::Measured, "io", "randread", "randread", "a") };
        assert_eq!(columns(&cell), vec![(1, vec![(1279, 2), (2047, 6)]); MOST_COLUMNS]);
    }
}
