//! The longest continuous load of a run. Longer loads were not tested: a burst credit may last until then.

use std::collections::BTreeMap;

use crate::results::cell::Cell;
use crate::results::document::Document;

/// An amount of load without a pause for another target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContinuousLoad {
    /// Bytes that moved between programs and files.
    pub bytes: u64,
    /// Measured seconds.
    pub seconds: f64,
}

impl ContinuousLoad {
    fn add(&mut self, other: ContinuousLoad) {
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }

    /// Takes the larger bytes and the larger seconds. They may belong to different loads.
    fn raise(&mut self, other: ContinuousLoad) {
        self.bytes = self.bytes.max(other.bytes);
        self.seconds = self.seconds.max(other.seconds);
    }

    fn lower(self, other: ContinuousLoad) -> ContinuousLoad {
        ContinuousLoad { bytes: self.bytes.min(other.bytes), seconds: self.seconds.min(other.seconds) }
    }
}

/// Returns the load of each execution in these cells, by round and position. Phases of one program follow each other,
/// and workloads of a group run at the same time. Reads of cached data are no load for a device. If several targets
/// were busy together, each is assumed to have done an equal share.
pub fn executions<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> BTreeMap<(u32, u32), ContinuousLoad> {
    let mut all: BTreeMap<(u32, u32), ContinuousLoad> = BTreeMap::new();
    for cell in cells.into_iter().filter(|cell| cell.loads_device() && !cell.is_sum()) {
        let targets = if cell.together { cell.target.split('+').count() as u64 } else { 1 };
        for round in &cell.rounds {
            let load = ContinuousLoad { bytes: round.bytes / targets, seconds: round.elapsed_s(cell.state.clock) };
            let known = all.entry((round.round, round.position)).or_default();
            match cell.is_in_group() {
                true => {
                    known.bytes += load.bytes;
                    known.seconds = known.seconds.max(load.seconds);
                }
                false => known.add(load),
            }
        }
    }
    all
}

/// Returns the largest continuous load that every real target of a run had, or `None` if none had any. Programs on one
/// target that follow each other are one load; a program on another target ends it. The time between programs, which
/// is short, does not count.
pub fn continuous_load(document: &Document) -> Option<ContinuousLoad> {
    let all = executions(&document.cells);
    let mut of_targets: Vec<ContinuousLoad> = Vec::new();
    for info in &document.run.targets {
        let is_on = |cell: &&Cell| {
            cell.target == info.name || (cell.together && cell.target.split('+').any(|name| name == info.name))
        };
        let here = executions(document.cells.iter().filter(is_on));
        let before = info.loaded.as_ref().map(|loaded| ContinuousLoad { bytes: loaded.bytes, seconds: loaded.seconds });
        let mut longest = before.unwrap_or_default();
        let mut open = ContinuousLoad::default();
        for execution in all.keys() {
            match here.get(execution) {
                Some(load) => open.add(*load),
                None => open = ContinuousLoad::default(),
            }
            longest.raise(open);
        }
        if longest.seconds > 0.0 {
            of_targets.push(longest);
        }
    }
    of_targets.into_iter().reduce(ContinuousLoad::lower)
}

#[cfg(test)]
mod tests {
    use workload::ParameterValue;

    use super::*;
    use crate::compare::fixtures;
    use crate::results::cell::{CacheState, Provenance};
    use crate::results::document::{Loaded, RunInfo, SCHEMA, TargetInfo};

    /// The program runs at these positions of its rounds, a second each.
    fn cell(target: &str, program: &str, positions: &[u32]) -> Cell {
        let mut cell = fixtures::cell(target, program, &vec![1000; positions.len()]);
        cell.rounds.iter_mut().zip(positions).for_each(|(round, position)| round.position = *position);
        cell
    }

    fn document(targets: &[&str], cells: Vec<Cell>) -> Document {
        let info = |name: &&str| TargetInfo { name: (*name).to_owned(), ..TargetInfo::default() };
        let run = RunInfo { targets: targets.iter().map(info).collect(), ..RunInfo::default() };
        Document { schema: SCHEMA.to_owned(), run, cells, errors: Vec::new() }
    }

    fn load(seconds: u64) -> Option<ContinuousLoad> {
        Some(ContinuousLoad { bytes: seconds * 4_096_000, seconds: seconds as f64 })
    }

    #[test]
    fn all_programs_of_a_single_target_are_one_load() {
        let cells = vec![cell("a", "read", &[1, 2, 1]), cell("a", "write", &[2, 1, 2])];
        assert_eq!(continuous_load(&document(&["a"], cells)), load(6));
        assert_eq!(continuous_load(&document(&["a"], Vec::new())), None);
    }

    #[test]
    fn another_target_ends_a_load() {
        // a a b b | b a a b: a has two in a row, and b three over the end of the round.
        let cells = vec![
            cell("a", "read", &[1, 2]),
            cell("a", "write", &[2, 3]),
            cell("b", "read", &[3, 1]),
            cell("b", "write", &[4, 4]),
        ];
        assert_eq!(continuous_load(&document(&["a", "b"], cells.clone())), load(2));
        assert_eq!(continuous_load(&document(&["b"], cells)), load(3));
    }

    #[test]
    fn both_targets_have_a_common_load_and_simulated_ones_have_none() {
        let both = Cell { together: true, ..cell("a+b", "read", &[1, 1]) };
        let half = ContinuousLoad { bytes: 4_096_000, seconds: 2.0 };
        assert_eq!(continuous_load(&document(&["a", "b"], vec![both])), Some(half));
        let simulated = Cell { provenance: Provenance::Simulated, ..cell("a", "read", &[1]) };
        assert_eq!(continuous_load(&document(&["a"], vec![simulated])), None);
    }

    #[test]
    fn workloads_of_a_group_run_at_the_same_time() {
        let with = |key: &str, program| {
            let parameters = [(key.to_owned(), ParameterValue::Word("db".to_owned()))].into();
            Cell { parameters, ..cell("a", program, &[1]) }
        };
        let cells = vec![with("group", "wal"), with("group", "data"), with("sum_of", "db")];
        let expected = ContinuousLoad { bytes: 8_192_000, seconds: 1.0 };
        assert_eq!(continuous_load(&document(&["a"], cells)), Some(expected));
    }

    #[test]
    fn cached_reads_are_no_load() {
        let mut warm = cell("a", "read", &[2, 1, 2]);
        warm.state.cache = CacheState::Warm;
        let written = cell("a", "write", &[1, 2, 1]);
        assert_eq!(continuous_load(&document(&["a"], vec![written, warm.clone()])), load(3));
        assert_eq!(continuous_load(&document(&["a"], vec![warm])), None);
    }

    #[test]
    fn the_load_before_the_first_round_counts() {
        let mut document = document(&["a"], vec![cell("a", "read", &[1, 1])]);
        document.run.targets[0].loaded = Some(Loaded { program: "write".to_owned(), bytes: 1, seconds: 60.0 });
        let expected = ContinuousLoad { bytes: 8_192_000, seconds: 60.0 };
        assert_eq!(continuous_load(&document), Some(expected));
    }
}
