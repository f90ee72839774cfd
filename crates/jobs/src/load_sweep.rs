//! A sweep of workloads: one workload, and keys with several values each. Every combination is a workload.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use units::sweep::{Growth, Part, RANGE, Range, parts};
use units::{Bytes, whole};

use workload::Rates;
use workload::programs::load::Load;

use crate::error::{JobError, LoadError};
use crate::load_spec::LoadSpec;
use crate::load_words::{Blocks, Rate, Size};
use crate::queue_depth::Host;

/// The most workloads of a sweep. Chosen: with the default times, they take about an hour, and a longer table is
/// unreadable.
pub const MOST_POINTS: usize = 256;

/// A key that can have several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are the keys of `LoadSpec`")]
pub enum SweptKey {
    Bs,
    Iodepth,
    Jobs,
    Rate,
    Reads,
    Fsync,
    Fdatasync,
}

impl SweptKey {
    /// All keys that can have several values.
    pub const ALL: [SweptKey; 7] = [
        SweptKey::Bs,
        SweptKey::Iodepth,
        SweptKey::Jobs,
        SweptKey::Rate,
        SweptKey::Reads,
        SweptKey::Fsync,
        SweptKey::Fdatasync,
    ];

    /// The name of the option.
    pub const fn name(self) -> &'static str {
        match self {
            SweptKey::Bs => "bs",
            SweptKey::Iodepth => "iodepth",
            SweptKey::Jobs => "jobs",
            SweptKey::Rate => "rate",
            SweptKey::Reads => "reads",
            SweptKey::Fsync => "fsync",
            SweptKey::Fdatasync => "fdatasync",
        }
    }

    /// The key with this name.
    pub fn named(name: &str) -> Option<SweptKey> {
        SweptKey::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Examples of several values.
    pub(crate) fn examples(self) -> [&'static str; 2] {
        match self {
            SweptKey::Bs => ["4k..1M*2", "4k,64k"],
            SweptKey::Reads => ["0..100+25", "50,70"],
            _ => ["1..128*2", "1,4"],
        }
    }

    /// True if this text has several values. Block sizes with percentages are one value.
    pub fn has_several(self, text: &str) -> bool {
        text.contains("..") || text.contains(',') && !text.contains(':')
    }

    /// Reads a number: bytes for block sizes.
    fn number(self, text: &str) -> Result<u64, String> {
        match self {
            SweptKey::Bs => text.parse::<Bytes>().map(|size| size.0).map_err(|error| error.to_string()),
            _ => text.parse::<u32>().map(u64::from).map_err(|_| format!("{text:?} is not a whole number")),
        }
    }

    /// True if a workload has a value for it.
    fn is_set(self, load: &LoadSpec) -> bool {
        match self {
            SweptKey::Bs => load.bs.is_some(),
            SweptKey::Iodepth => load.iodepth.is_some(),
            SweptKey::Jobs => load.jobs.is_some(),
            SweptKey::Rate => load.rate.is_some(),
            SweptKey::Reads => load.reads.is_some(),
            SweptKey::Fsync => load.fsync.is_some(),
            SweptKey::Fdatasync => load.fdatasync.is_some(),
        }
    }

    fn set(self, load: &mut LoadSpec, value: u64) {
        let number = u32::try_from(value).ok();
        match self {
            SweptKey::Bs => load.bs = Some(Blocks(vec![(Size(Bytes(value)), None)])),
            SweptKey::Iodepth => load.iodepth = number,
            SweptKey::Jobs => load.jobs = number,
            SweptKey::Rate => load.rate = number.map(|number| Rate(Rates::All(number))),
            SweptKey::Reads => load.reads = number,
            SweptKey::Fsync => load.fsync = number,
            SweptKey::Fdatasync => load.fdatasync = number,
        }
    }
}

/// A key with its values, in the order in which they were typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The key.
    pub key: SweptKey,
    /// Its values: bytes for block sizes.
    pub values: Vec<u64>,
}

impl Axis {
    /// Reads a list of values and ranges, as in `4k..1M*2` or `1,4`. A value that occurs again is left out.
    pub fn read(key: SweptKey, text: &str) -> Result<Axis, LoadError> {
        let [range, list] = key.examples();
        let bad =
            |why: String| LoadError::new(key.name(), text, why, format!("write --{} {range} or {list}", key.name()));
        let mut values = Vec::new();
        for part in parts(text) {
            match part {
                Part::Value(value) => values.push(key.number(value).map_err(bad)?),
                Part::Range(range) => add_range(key, range, &mut values).map_err(bad)?,
            }
            if values.len() > MOST_POINTS {
                return Err(bad(format!("more than {MOST_POINTS} values")));
            }
        }
        let mut seen = BTreeSet::new();
        values.retain(|value| seen.insert(*value));
        Ok(Axis { key, values })
    }
}

/// Adds the values of a range, up to one more than the limit.
fn add_range(key: SweptKey, Range { first, last, growth }: Range, values: &mut Vec<u64>) -> Result<(), String> {
    let form = || format!("a range is {RANGE}");
    let (first, last) = (key.number(first)?, key.number(last)?);
    let (factor, step) = match growth {
        Some(Growth::Times(factor)) => (factor.parse::<u64>().map_err(|_| form())?, 0),
        Some(Growth::Plus(step)) => (1, key.number(step)?),
        None if key == SweptKey::Bs => return Err("a range of sizes needs a factor or a step".to_owned()),
        None => (1, 1),
    };
    let grows = step > 0 || factor >= 2 && first > 0;
    if !grows || first > last {
        return Err(form());
    }
    let mut value = Some(first);
    while let Some(now) = value.filter(|now| *now <= last && values.len() <= MOST_POINTS) {
        values.push(now);
        value = now.checked_mul(factor).and_then(|product| product.checked_add(step));
    }
    Ok(())
}

impl Axis {
    /// A value as a key of a job file writes it: `64KiB`, `8`.
    fn word(&self, value: u64) -> String {
        if self.key == SweptKey::Bs { Bytes(value).to_string().replace(' ', "") } else { value.to_string() }
    }
}

/// A workload of a sweep.
#[derive(Clone, Debug)]
pub struct PointLoad {
    /// The swept values, as in `bs4KiB-iodepth8`. Empty if no key is swept.
    pub name: String,
    /// Its keys.
    pub spec: LoadSpec,
    /// The workload as this machine runs it.
    pub load: Load,
    /// A warning if this machine cannot run it as it is written.
    pub warning: Option<String>,
}

/// A workload with swept keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSweep {
    /// The workload, without the swept keys.
    pub load: LoadSpec,
    /// The swept keys.
    pub axes: Vec<Axis>,
}

impl LoadSweep {
    /// Every combination of the values: those of the last key change fastest. An error if there are too many, or if a
    /// key is given once more.
    pub fn points(&self) -> Result<Vec<LoadSpec>, LoadError> {
        if let Some(axis) = self.axes.iter().find(|axis| axis.key.is_set(&self.load)) {
            return Err(LoadError::new(axis.key.name(), "", "it is given twice", "give it once, with all values"));
        }
        let count = self.axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len()));
        if count.is_none_or(|count| count > MOST_POINTS) {
            let counts: Vec<String> = self.axes.iter().map(|axis| whole(axis.values.len() as u64)).collect();
            let why = format!("{} combinations, more than the {MOST_POINTS} allowed", counts.join(" x "));
            let key = self.axes.last().map_or(SweptKey::Bs.name(), |axis| axis.key.name());
            return Err(LoadError::new(key, "", why, "sweep fewer options, or use a larger factor, as in 1..256*4"));
        }
        let mut points = vec![self.load.clone()];
        for Axis { key, values } in &self.axes {
            let with = |point: &LoadSpec, value: u64| {
                let mut point = point.clone();
                key.set(&mut point, value);
                point
            };
            points = points.iter().flat_map(|point| values.iter().map(move |value| with(point, *value))).collect();
        }
        Ok(points)
    }

    /// Every combination as this machine runs it. An error if two are the same there, as all depths are without
    /// io_uring.
    pub fn loads(&self, host: &Host) -> Result<Vec<PointLoad>, JobError> {
        let mut loads: Vec<PointLoad> = Vec::new();
        for (place, spec) in self.points()?.into_iter().enumerate() {
            let (load, warning) = spec.load(host)?;
            if loads.iter().any(|other| other.load == load) {
                let reason = warning.unwrap_or_else(|| "several values give the same test".to_owned());
                let depth = spec.iodepth.unwrap_or(1);
                return Err(LoadError::new("iodepth", depth, reason, "leave out the sweep of --iodepth").into());
            }
            loads.push(PointLoad { name: self.name(place), spec, load, warning });
        }
        Ok(loads)
    }

    /// The swept values of a combination.
    fn name(&self, place: usize) -> String {
        let mut rest = place;
        let mut words = Vec::new();
        for axis in self.axes.iter().rev() {
            let value = axis.values[rest % axis.values.len()];
            rest /= axis.values.len();
            words.push(axis.key.name().to_owned() + &axis.word(value));
        }
        words.reverse();
        words.join("-")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load_words::PatternName;
    use crate::queue_depth::sample;

    fn values(key: SweptKey, text: &str) -> Vec<u64> {
        Axis::read(key, text).expect(text).values
    }

    #[test]
    fn ranges_and_lists_are_values() {
        assert_eq!(values(SweptKey::Iodepth, "1..128*2"), [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(values(SweptKey::Jobs, "1,4"), [1, 4]);
        assert_eq!(values(SweptKey::Jobs, "4,1..3,4"), [4, 1, 2, 3]);
        assert_eq!(values(SweptKey::Reads, "0..100+50"), [0, 50, 100]);
        assert_eq!(values(SweptKey::Bs, "4k..20KiB*2"), [4096, 8192, 16384]);
        assert_eq!(values(SweptKey::Bs, "4k..12k+4k"), [4096, 8192, 12288]);
        assert_eq!(values(SweptKey::Bs, "512,1M"), [512, 1 << 20]);
        assert_eq!(values(SweptKey::Rate, "1..4294967295*65536"), [1, 65536]);
    }

    #[test]
    fn wrong_ranges_are_refused_with_a_reason_and_an_example() {
        for (key, text, said) in [
            (SweptKey::Iodepth, "1..128*1", "a range is"),
            (SweptKey::Iodepth, "0..128*2", "a range is"),
            (SweptKey::Iodepth, "128..1*2", "a range is"),
            (SweptKey::Iodepth, "1..128*1.5", "a range is"),
            (SweptKey::Iodepth, "1..x", "not a whole number"),
            (SweptKey::Iodepth, "1,,2", "not a whole number"),
            (SweptKey::Jobs, "1..99999", "more than 256 values"),
            (SweptKey::Bs, "4k..1M", "needs a factor or a step"),
            (SweptKey::Bs, "4k..1M+0", ""),
            (SweptKey::Jobs, "1..4+0", "a range is"),
            (SweptKey::Bs, "4kb,8k", "ambiguous"),
        ] {
            let LoadError { why, hint, .. } = Axis::read(key, text).expect_err(text);
            assert!(why.contains(said), "{text}: {why}");
            assert!(hint.starts_with(&format!("write --{} ", key.name())), "{hint}");
        }
    }

    #[test]
    fn every_example_is_accepted() {
        for key in SweptKey::ALL {
            for example in key.examples() {
                let axes = vec![Axis::read(key, example).expect(example)];
                let count = axes[0].values.len();
                let sweep = LoadSweep { load: LoadSpec::new(PatternName::Randrw), axes };
                let loads = sweep.loads(&sample()).unwrap_or_else(|error| panic!("{} {example}: {error}", key.name()));
                assert_eq!(loads.len(), count);
            }
        }
    }

    #[test]
    fn percentages_are_one_value() {
        assert!(!SweptKey::Bs.has_several("4k:60,64k:40") && !SweptKey::Bs.has_several("4k"));
        assert!(SweptKey::Bs.has_several("4k,64k") && SweptKey::Jobs.has_several("1..4"));
    }

    #[test]
    fn points_are_all_combinations() {
        let axes = vec![
            Axis { key: SweptKey::Bs, values: vec![4096, 8192] },
            Axis { key: SweptKey::Jobs, values: vec![1, 4] },
        ];
        let sweep = LoadSweep { load: LoadSpec::new(PatternName::Randread), axes };
        let points = sweep.points().expect("four");
        let of = |point: &LoadSpec| (point.bs.as_ref().expect("a size").to_string(), point.jobs);
        let expected = [("4KiB", 1), ("4KiB", 4), ("8KiB", 1), ("8KiB", 4)];
        assert_eq!(
            points.iter().map(of).collect::<Vec<_>>(),
            expected.map(|(size, jobs)| (size.to_owned(), Some(jobs)))
        );
    }

    #[test]
    fn each_point_has_a_name() {
        let axes = vec![
            Axis { key: SweptKey::Bs, values: vec![4096, 1 << 20] },
            Axis { key: SweptKey::Iodepth, values: vec![1, 8] },
        ];
        let sweep = LoadSweep { load: LoadSpec::new(PatternName::Randread), axes };
        let names =
            |host: &Host| sweep.loads(host).map(|loads| loads.into_iter().map(|load| load.name).collect::<Vec<_>>());
        let expected = ["bs4KiB-iodepth1", "bs4KiB-iodepth8", "bs1MiB-iodepth1", "bs1MiB-iodepth8"];
        assert_eq!(names(&sample()).expect("four"), expected);
        let without = Host { no_ring: Some("io_uring is forbidden".to_owned()), ..sample() };
        let error = names(&without).expect_err("all depths are one").to_string();
        assert!(error.starts_with("--iodepth 8: io_uring is forbidden"), "{error}");
        let alone = LoadSweep { load: LoadSpec::new(PatternName::Randread), axes: Vec::new() };
        assert_eq!(alone.loads(&sample()).expect("one")[0].name, "");
    }

    #[test]
    fn a_key_is_given_once() {
        let axes = vec![Axis { key: SweptKey::Jobs, values: vec![1, 4] }];
        let load = LoadSpec { jobs: Some(2), ..LoadSpec::new(PatternName::Randread) };
        assert_eq!(LoadSweep { load, axes }.points().expect_err("twice").why, "it is given twice");
    }

    #[test]
    fn too_many_points_are_refused_with_their_number() {
        let axis = |key, count: u64| Axis { key, values: (1..=count).collect() };
        let axes = vec![axis(SweptKey::Iodepth, 17), axis(SweptKey::Jobs, 16)];
        let sweep = LoadSweep { load: LoadSpec::new(PatternName::Randread), axes };
        let error = sweep.points().expect_err("too many");
        assert!(error.why.starts_with("17 x 16 combinations, more than the 256"), "{}", error.why);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9kM.,*+:]{0,24}") {
            for key in SweptKey::ALL {
                if let Ok(axis) = Axis::read(key, &text) {
                    prop_assert!(!axis.values.is_empty() && axis.values.len() <= MOST_POINTS);
                }
            }
        }
    }
}
