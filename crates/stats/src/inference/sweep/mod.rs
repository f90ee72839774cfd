//! Measured sweeps: results of one workload that differ only in settings, as curves over each setting.

pub mod knee;

use std::collections::{BTreeMap, BTreeSet};

use units::Bytes;
use workload::RateBase;

use crate::results::cell::{Cell, Rate};
use knee::{Knee, Point, knee};

/// The presets of workloads of the user, the only ones that are swept.
const PRESETS: [&str; 2] = ["io", "job"];

/// The parameters of results that a sweep can vary, each with its option.
const SETTINGS: [(&str, &str); 7] = [
    (BLOCK, "bs"),
    ("iodepth", "iodepth"),
    ("jobs", "jobs"),
    ("rate", "rate"),
    ("reads_percent", "reads"),
    ("fsync", "fsync"),
    ("fdatasync", "fdatasync"),
];

/// The parameter for the block size.
const BLOCK: &str = "buffer_bytes";

/// A swept setting.
#[derive(Clone, Debug)]
pub struct Axis<'a> {
    /// The workload.
    pub program: &'a str,
    /// The parameter of the results.
    pub parameter: &'static str,
    /// The name of its option.
    pub option: &'static str,
    /// The curves, in the order of the results.
    pub curves: Vec<Curve<'a>>,
}

/// The results of one target that differ only in the swept setting.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// The target.
    pub target: &'a str,
    /// The values of the other swept settings, as in `iodepth 8, jobs 4`. Empty if only one setting is swept.
    pub others: String,
    /// The results with a rate, in ascending order of the setting.
    pub cells: Vec<&'a Cell>,
    /// True if a value has no rate. The curve then has no knee: it may be at that value.
    pub has_gaps: bool,
}

/// The swept settings of a run, each with its curves.
pub fn axes(cells: &[Cell]) -> Vec<Axis<'_>> {
    let mut programs: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| is_of_user(cell)) {
        programs.entry(&cell.program).or_default().push(cell);
    }
    programs.into_iter().flat_map(|(program, cells)| of_program(program, &cells)).collect()
}

/// True if a workload of the user ran alone.
fn is_of_user(cell: &Cell) -> bool {
    PRESETS.contains(&cell.preset.as_str()) && !cell.together
}

/// True if the parameters of these results make a sweep.
pub fn is_swept(cells: &[Cell]) -> bool {
    !axes(cells).is_empty()
}

fn of_program<'a>(program: &'a str, cells: &[&'a Cell]) -> Vec<Axis<'a>> {
    // The file of one target may be smaller, but not its other settings.
    let values = |parameter: &str| cells.iter().filter_map(|cell| cell.number(parameter)).collect::<BTreeSet<u64>>();
    let swept: Vec<(&'static str, &'static str)> =
        SETTINGS.into_iter().filter(|(parameter, _)| values(parameter).len() > 1).collect();
    let axis = |&(parameter, option): &(&'static str, &'static str)| {
        let mut curves: Vec<Curve> = Vec::new();
        for cell in cells.iter().copied().filter(|cell| cell.number(parameter).is_some()) {
            let others = swept.iter().filter(|(other, _)| *other != parameter);
            let others: Vec<String> = others
                .filter_map(|(other, option)| Some(format!("{option} {}", value_in_words(other, cell.number(other)?))))
                .collect();
            let others = others.join(", ");
            let known = curves.iter().position(|curve| curve.target == cell.target && curve.others == others);
            let place = known.unwrap_or(curves.len());
            if known.is_none() {
                curves.push(Curve { target: &cell.target, others, cells: Vec::new(), has_gaps: false });
            }
            match &cell.rate {
                Some(_) => curves[place].cells.push(cell),
                None => curves[place].has_gaps = true,
            }
        }
        curves.retain(|curve| !curve.cells.is_empty());
        curves.iter_mut().for_each(|curve| curve.cells.sort_by_key(|cell| cell.number(parameter)));
        Axis { program, parameter, option, curves }
    };
    swept.iter().map(axis).collect()
}

impl Axis<'_> {
    /// The value of the setting in words, as in `32` or `64 KiB`.
    pub fn words(&self, value: u64) -> String {
        value_in_words(self.parameter, value)
    }

    /// True if the rates of its curves are bytes per second: over block sizes, fewer operations move more.
    pub fn is_in_bytes(&self) -> bool {
        let mut cells = self.curves.iter().flat_map(|curve| &curve.cells);
        self.parameter == BLOCK || cells.any(|cell| cell.rate.as_ref().is_some_and(|rate| rate.base == RateBase::Bytes))
    }

    /// True if the result is of its workload.
    pub fn shows(&self, cell: &Cell) -> bool {
        is_of_user(cell) && cell.program == self.program
    }

    /// The points of one of its curves.
    pub fn points(&self, curve: &Curve) -> Vec<Point> {
        curve.cells.iter().filter_map(|cell| self.point(cell)).collect()
    }

    /// The point of a result. `None` without a rate.
    pub fn point(&self, cell: &Cell) -> Option<Point> {
        let rate @ Rate { per_second, low, high, .. } = cell.rate.as_ref()?;
        let is_in_ops = rate.base == RateBase::Ops && self.is_in_bytes();
        let size = if is_in_ops { cell.number(BLOCK)? as f64 } else { 1.0 };
        let ends = low.zip(*high).filter(|_| cell.undeciding().next().is_none());
        let ends = ends.map(|(low, high)| (size * low, size * high));
        Some(Point { value: cell.number(self.parameter)?, rate: size * per_second, ends })
    }

    /// The knee of one of its curves.
    pub fn knee(&self, curve: &Curve) -> Knee {
        if curve.has_gaps { Knee::NoInterval } else { knee(&self.points(curve)) }
    }

    /// The knees of all curves in one sentence, as in `randread over iodepth: knee at 32 (5 of 6 curves); knee not
    /// decided: the intervals are too wide (1)`.
    pub fn sentence(&self) -> String {
        let mut counts: BTreeMap<Knee, usize> = BTreeMap::new();
        self.curves.iter().for_each(|curve| *counts.entry(self.knee(curve)).or_default() += 1);
        let all = self.curves.len();
        let words = counts.iter().enumerate().map(|(place, (knee, count))| {
            let of = match place {
                _ if all == 1 => String::new(),
                0 => format!(" ({count} of {all} curves)"),
                _ => format!(" ({count})"),
            };
            knee.words(|value| self.words(value)) + &of
        });
        let words: Vec<String> = words.collect();
        format!("{} over {}: {}", self.program, self.option, words.join("; "))
    }
}

fn value_in_words(parameter: &str, value: u64) -> String {
    if parameter == BLOCK { Bytes(value).to_string() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use workload::ParameterValue;

    use super::*;
    use crate::results::cell::Provenance;

    fn cell(target: &str, settings: &[(&str, u64)], per_second: f64) -> Cell {
        let rate = Rate {
            per_second,
            base: RateBase::Ops,
            value: per_second,
            unit: "ops/s".to_owned(),
            low: Some(0.99 * per_second),
            high: Some(1.01 * per_second),
            confidence: 0.95,
            rounds: 5,
            range: None,
        };
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), ParameterValue::Number(*value)));
        Cell {
            measured: true,
            rate: Some(rate),
            parameters: settings.collect(),
            ..Cell::named(Provenance::Measured, PRESETS[0], "randread", "randread", target)
        }
    }

    #[test]
    fn each_setting_has_a_curve_for_each_value_of_the_others() {
        let mut cells = Vec::new();
        for (depth, rate) in [(1, 10.0), (8, 80.0), (64, 81.0)] {
            for jobs in [1, 4] {
                cells.push(cell(".", &[("iodepth", depth), ("jobs", jobs), ("seed", 1)], rate * jobs as f64));
            }
        }
        let all = axes(&cells);
        assert_eq!(all.iter().map(|axis| axis.option).collect::<Vec<_>>(), ["iodepth", "jobs"]);
        let others = |axis: &Axis| axis.curves.iter().map(|curve| curve.others.clone()).collect::<Vec<_>>();
        assert_eq!(others(&all[0]), ["jobs 1", "jobs 4"]);
        assert_eq!(others(&all[1]), ["iodepth 1", "iodepth 8", "iodepth 64"]);
        assert_eq!(all[0].sentence(), "randread over iodepth: knee at 8 (2 of 2 curves)");
        assert_eq!(all[1].sentence(), "randread over jobs: knee not decided: fewer than 3 values (3 of 3 curves)");
    }

    #[test]
    fn rates_over_block_sizes_are_bytes() {
        let sizes = [(4096, 100.0), (8192, 99.0), (16384, 50.0), (32768, 25.0)];
        let cells = sizes.map(|(bytes, rate)| cell(".", &[(BLOCK, bytes)], rate));
        let all = axes(&cells);
        assert_eq!(all[0].points(&all[0].curves[0])[1].rate, 99.0 * 8192.0);
        assert_eq!(all[0].sentence(), "randread over bs: knee at 8 KiB");
    }

    #[test]
    fn a_rate_that_decides_nothing_has_no_interval() {
        let mut cells = [1u64, 2, 4].map(|depth| cell(".", &[("iodepth", depth)], 10.0 * depth as f64));
        assert_eq!(axes(&cells)[0].sentence(), "randread over iodepth: knee not decided: the rate still rises at 4");
        cells[1].rate.as_mut().expect("a rate").low = None;
        let [axis] = &axes(&cells)[..] else { panic!("one axis") };
        assert_eq!(axis.knee(&axis.curves[0]), Knee::NoInterval);
    }

    #[test]
    fn a_value_without_a_rate_makes_the_knee_undecided() {
        let rates = [(1, 10.0), (2, 20.0), (4, 40.0), (8, 40.0), (16, 40.0)];
        let mut cells = rates.map(|(depth, rate)| cell(".", &[("iodepth", depth)], rate));
        assert_eq!(axes(&cells)[0].sentence(), "randread over iodepth: knee at 4");
        cells[2].rate = None;
        let [axis] = &axes(&cells)[..] else { panic!("one axis") };
        assert_eq!((axis.knee(&axis.curves[0]), axis.curves[0].cells.len()), (Knee::NoInterval, 4));
    }

    #[test]
    fn one_workload_or_another_preset_is_not_swept() {
        let mut cells = [1, 2].map(|depth| cell(".", &[("iodepth", depth)], 1.0));
        assert!(is_swept(&cells) && !is_swept(&cells[..1]) && !is_swept(&[]));
        cells.iter_mut().for_each(|cell| cell.preset = "quick".to_owned());
        assert!(!is_swept(&cells));
    }
}
