//! The latencies of a phase over time, with fewer digits than its histogram: for the heat map of the report page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::results::latency::Latencies;

/// The most columns of a phase. Longer phases have wider columns. Chosen: a chart is a few hundred pixels wide.
const MOST_COLUMNS: usize = 256;

/// Bits of a time that are distinguished below its highest one: four buckets for each power of two.
const BITS: u32 = 2;

/// Latencies over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeatMap {
    /// Time of a column in milliseconds.
    pub column_ms: u64,
    /// The columns: for each bucket of latencies that is not empty, its longest latency in nanoseconds and its number
    /// of units of work. Four buckets make a doubling.
    pub columns: Vec<Vec<(u64, u64)>>,
}

/// The longest time of the bucket that contains this time.
fn longest(time: u64) -> u64 {
    let shift = (u64::BITS - time.leading_zeros()).saturating_sub(BITS + 1);
    time | ((1 << shift) - 1)
}

/// Latencies with fewer digits.
pub fn coarse(latencies: &Latencies) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    latencies.filled().for_each(|pair| add(&mut all, pair));
    all
}

/// Adds a pair that is not before the last one.
fn add(all: &mut Vec<(u64, u64)>, (time, count): (u64, u64)) {
    let time = longest(time);
    match all.last_mut() {
        Some(last) if last.0 == time => last.1 = last.1.saturating_add(count),
        _ => all.push((time, count)),
    }
}

/// One column with the units of work of all these columns.
pub fn merged_columns<'a>(columns: impl IntoIterator<Item = &'a Vec<(u64, u64)>>) -> Vec<(u64, u64)> {
    let mut pairs: Vec<(u64, u64)> = columns.into_iter().flatten().copied().collect();
    pairs.sort_unstable();
    let mut all = Vec::new();
    pairs.into_iter().for_each(|pair| add(&mut all, pair));
    all
}

impl HeatMap {
    /// The map of programs that ran at the same time, each with a column for each interval. Columns become wider until
    /// they are few enough.
    pub fn of_programs(programs: &[Vec<Vec<(u64, u64)>>], interval: Nanos) -> HeatMap {
        let longest = programs.iter().map(Vec::len).max().unwrap_or(0);
        let mut columns: Vec<Vec<(u64, u64)>> = (0..longest)
            .map(|index| merged_columns(programs.iter().filter_map(|program| program.get(index))))
            .collect();
        let mut column_ms = interval.0 / 1_000_000;
        while columns.len() > MOST_COLUMNS {
            columns = columns.chunks(2).map(merged_columns).collect();
            column_ms *= 2;
        }
        HeatMap { column_ms, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubling_has_four_buckets() {
        let ends: Vec<u64> = (1024..2048).map(longest).collect();
        let mut different = ends.clone();
        different.dedup();
        assert_eq!(different, [1279, 1535, 1791, 2047]);
        assert_eq!((longest(0), longest(1), longest(5), longest(u64::MAX)), (0, 1, 5, u64::MAX));
    }

    #[test]
    fn programs_add_up_and_long_phases_have_wide_columns() {
        let interval = Nanos::from_millis(250);
        let one = vec![vec![(1279, 2)], vec![(1279, 1), (2047, 1)]];
        let two = vec![vec![(1279, 3)]];
        let map = HeatMap::of_programs(&[one, two], interval);
        assert_eq!(map, HeatMap { column_ms: 250, columns: vec![vec![(1279, 5)], vec![(1279, 1), (2047, 1)]] });
        let long = vec![vec![(1279, 1)]; 1000];
        let map = HeatMap::of_programs(&[long], interval);
        assert_eq!((map.column_ms, map.columns.len(), map.columns[0].clone()), (1000, 250, vec![(1279, 4)]));
    }
}
