//! Names of results: program and phase, and the settings that distinguish results of the same program and phase.

use std::collections::{BTreeMap, BTreeSet};

use stats::{Cell, ParameterValue, RunInfo};
use units::Bytes;

/// The names of a list of results. They are built once per document: a name depends on all results of the same program,
/// and a new search for each name took time cubic in the number of results.
pub(crate) struct CellNames<'a> {
    /// Programs with results of several phases.
    phased: BTreeSet<&'a str>,
    /// The settings that differ among the results of a program, phase and target.
    different: BTreeMap<[&'a str; 3], BTreeSet<&'a str>>,
}

impl<'a> CellNames<'a> {
    /// Collects the names for this list of results.
    pub(crate) fn from_cells(cells: &'a [Cell]) -> CellNames<'a> {
        let mut phases: BTreeMap<&str, &str> = BTreeMap::new();
        let mut phased = BTreeSet::new();
        let mut firsts: BTreeMap<[&str; 3], &Cell> = BTreeMap::new();
        let mut different: BTreeMap<[&str; 3], BTreeSet<&str>> = BTreeMap::new();
        for cell in cells {
            if *phases.entry(&cell.program).or_insert(&cell.phase) != cell.phase {
                phased.insert(cell.program.as_str());
            }
            // A setting differs if any result has another value than the first one.
            let first = *firsts.entry(group(cell)).or_insert(cell);
            if first.parameters == cell.parameters {
                continue;
            }
            let keys = first.parameters.keys().chain(cell.parameters.keys());
            let others = keys.filter(|key| first.parameters.get(*key) != cell.parameters.get(*key));
            different.entry(group(cell)).or_default().extend(others.map(String::as_str));
        }
        CellNames { phased, different }
    }

    /// Returns program and phase, and the settings that differ: `copy, buffer 64 B`.
    pub(crate) fn name(&self, cell: &Cell) -> String {
        let mut name = cell.program.clone();
        if cell.phase != cell.program && self.phased.contains(cell.program.as_str()) {
            name += &format!(" {}", cell.phase);
        }
        let Some(different) = self.different.get(&group(cell)) else { return name };
        // Queue depth 1 is the default; a deeper queue shows the engine.
        let goes_without_saying = |key: &str, value: &ParameterValue| match key {
            "iodepth" => *value == ParameterValue::Number(1),
            "engine" => different.contains("iodepth"),
            _ => false,
        };
        for (key, value) in &cell.parameters {
            if different.contains(key.as_str()) && !goes_without_saying(key, value) {
                name += &match (key.strip_suffix("_bytes"), value) {
                    (Some(what), ParameterValue::Number(bytes)) => format!(", {what} {}", Bytes(*bytes)),
                    _ => format!(", {key} {value}"),
                };
            }
        }
        name
    }

    /// Returns the name with the target, if the run has several: `copy on ext4`.
    pub(crate) fn name_on(&self, cell: &Cell, run: &RunInfo) -> String {
        let name = self.name(cell);
        if run.targets.len() > 1 { format!("{name} on {}", cell.target) } else { name }
    }
}

/// Returns a function that names the results of this list, for callers that name some of them.
pub fn cell_names(cells: &[Cell]) -> Box<dyn Fn(&Cell) -> String + '_> {
    let names = CellNames::from_cells(cells);
    Box::new(move |cell| names.name(cell))
}

/// The key of results that only their settings distinguish: program, phase and target.
fn group(cell: &Cell) -> [&str; 3] {
    [&cell.program, &cell.phase, &cell.target]
}

/// Returns each distinct item once, in the order of first appearance.
pub(crate) fn different<T: Ord + Clone>(things: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    things.into_iter().filter(|thing| seen.insert(thing.clone())).collect()
}

/// Groups items by their key, in the order in which the keys first appear.
pub(crate) fn grouped<K: Ord + Clone, T>(things: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, thing) in things {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(thing);
    }
    groups
}

#[cfg(test)]
mod tests {
    use stats::Provenance;

    use super::*;

    fn cell(program: &str, phase: &str, settings: &[(&str, u64)]) -> Cell {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), ParameterValue::Number(*value)));
        Cell { parameters: settings.collect(), ..Cell::named(Provenance::Measured, "io", program, phase, "t") }
    }

    #[test]
    fn a_name_has_the_settings_that_differ() {
        let cells = [
            cell("copy", "copy", &[("buffer_bytes", 64), ("size", 1)]),
            cell("copy", "copy", &[("buffer_bytes", 128), ("size", 1), ("sync", 3)]),
            cell("smallfb", "read", &[("size", 1)]),
            cell("smallfb", "write", &[("size", 2)]),
            cell("alone", "only", &[]),
        ];
        let names = CellNames::from_cells(&cells);
        let expected = ["copy, buffer 64 B", "copy, buffer 128 B, sync 3", "smallfb read", "smallfb write", "alone"];
        assert_eq!(cells.each_ref().map(|cell| names.name(cell)), expected);
    }

    #[test]
    fn an_engine_is_named_only_with_the_depth_of_its_queue() {
        let cells = [[("engine", 1), ("iodepth", 1)], [("engine", 2), ("iodepth", 8)]];
        let cells = cells.map(|settings| cell("read", "read", &settings));
        let names = CellNames::from_cells(&cells);
        assert_eq!(cells.each_ref().map(|cell| names.name(cell)), ["read", "read, iodepth 8"]);
    }

    #[test]
    fn groups_have_the_order_of_their_first() {
        let groups = grouped([("b", 1), ("a", 2), ("b", 3)]);
        assert_eq!(groups, [("b", vec![1, 3]), ("a", vec![2])]);
        assert_eq!(different(["b", "a", "b"]), ["b", "a"]);
    }
}
