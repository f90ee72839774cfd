//! A workload as a job file: the output of `diskperf io --print-job`, and the input of `diskperf run JOB.toml`.

use std::fmt::Write;

use serde_json::Value;
use units::Nanos;

use crate::groups::{GROUP, NAME, START};
use crate::job_file::OF_THE_RUN;
use crate::load_spec::{KEYS, Key, LoadSpec};
use crate::load_words::Time;

/// The keys of a workload that are not options of `diskperf io`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heading<'a> {
    /// Its name.
    pub(crate) name: Option<&'a str>,
    /// Its group.
    pub(crate) group: Option<&'a str>,
    /// Its start in the group.
    pub(crate) start: Option<Nanos>,
    /// Keys with several values, and their texts.
    pub(crate) swept: &'a [(String, String)],
}

impl LoadSpec {
    /// The job file of this workload alone, with the keys that are set. `swept` are those with several values.
    pub fn job_file(
        &self,
        swept: &[(String, String)],
        targets: &[&str],
        budget: Option<Nanos>,
        sustained: Option<Nanos>,
    ) -> String {
        let targets: Vec<String> = targets.iter().map(quoted).collect();
        let head = [
            ("targets", (!targets.is_empty()).then(|| format!("[{}]", targets.join(", "))), ""),
            ("rounds", self.rounds.map(|rounds| rounds.to_string()), ""),
            ("budget", budget.map(|budget| quoted(Time(budget))), "start no round that would end later"),
            ("sustained", sustained.map(|time| quoted(Time(time))), "load each target before the first round"),
            ("seed", self.seed.map(|seed| seed.to_string()), ""),
        ];
        let mut text = "# diskperf run JOB.toml; `diskperf help io` explains the keys.\n".to_owned();
        lines(&mut text, &head);
        text + "\n" + &self.table(&Heading { swept, ..Heading::default() })
    }

    /// The table of a job file, with the keys that are set. Rounds and seed are keys of the whole file.
    pub(crate) fn table(&self, heading: &Heading) -> String {
        let values = serde_json::to_value(self).expect("names, texts, numbers and flags");
        // These texts, numbers and flags are the same in JSON and in TOML.
        let Heading { name, group, start, swept } = heading;
        let value = |key: &Key| match (swept.iter().find(|(name, _)| name == key.name), &values[key.name]) {
            (Some((_, text)), _) => Some(quoted(text)),
            (None, Value::Null | Value::Bool(false)) => None,
            (None, value) => Some(value.to_string()),
        };
        let keys = KEYS.all().filter(|key| !OF_THE_RUN.contains(&key.name));
        let start = start.filter(|start| *start > Nanos::ZERO).map(|start| quoted(Time(start)));
        let heading = [
            (NAME, name.map(quoted), "name of the test in the tables"),
            (GROUP, group.map(quoted), "workloads of the same group run at the same time"),
            (START, start, "time from the start of the group"),
        ];
        let load: Vec<_> = heading.into_iter().chain(keys.map(|key| (key.name, value(key), key.about))).collect();
        let mut text = "[[load]]\n".to_owned();
        lines(&mut text, &load);
        text
    }
}

/// A line for each key that has a value, with a comment.
fn lines(text: &mut String, keys: &[(&str, Option<String>, &str)]) {
    for (key, value, about) in keys {
        let Some(value) = value else { continue };
        let line = format!("{key} = {value}");
        let _ = match about.is_empty() {
            true => writeln!(text, "{line}"),
            false => writeln!(text, "{line:28} # {about}"),
        };
    }
}

/// A basic string of TOML: backslashes, quotes and control characters are escaped.
fn quoted(value: impl ToString) -> String {
    let mut text = "\"".to_owned();
    for letter in value.to_string().chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(text, "\\u{:04X}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use proptest::prelude::*;
    use serde::Deserialize;
    use units::Bytes;
    use workload::{Drawing, Rates};

    use super::*;
    use crate::load_words::{ArrivalsName, Blocks, Engine, Order, PatternName, Rate, Size, SyncName};
    use crate::queue_depth::sample;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Job {
        #[serde(default)]
        targets: Vec<String>,
        rounds: Option<u32>,
        budget: Option<Time>,
        sustained: Option<Time>,
        seed: Option<u64>,
        load: Vec<LoadSpec>,
    }

    fn spec() -> impl Strategy<Value = LoadSpec> {
        let number = || proptest::option::of(0u32..100_000);
        let time = || proptest::option::of((1u64..1 << 50).prop_map(|nanos| Time(Nanos(nanos))));
        let size = || proptest::option::of((1u64..1 << 50).prop_map(|bytes| Size(Bytes(bytes))));
        let blocks = proptest::collection::vec((1u64..1 << 30, proptest::option::of(0u32..100)), 1..4);
        let blocks =
            blocks.prop_map(|all| Blocks(all.into_iter().map(|(bytes, share)| (Size(Bytes(bytes)), share)).collect()));
        let order = prop_oneof![
            Just(Order(Drawing::Permutation)),
            (0u32..9_000).prop_map(|thousandths| Order(Drawing::Zipf { thousandths })),
        ];
        (
            proptest::sample::select(PatternName::value_variants()),
            (proptest::option::of(blocks), proptest::option::of(order), size(), size()),
            (number(), number(), number(), number(), number(), number(), number(), number()),
            (time(), time(), time(), proptest::option::of(0..i64::MAX as u64), any::<bool>(), any::<bool>()),
            (
                proptest::option::of(proptest::sample::select(ArrivalsName::value_variants())),
                proptest::option::of(proptest::sample::select(SyncName::value_variants())),
                proptest::option::of(proptest::sample::select(Engine::value_variants())),
            ),
        )
            .prop_map(
                |(pattern, (bs, order, stride, size), numbers, (time, warmup, think, seed, direct, warm), names)| {
                    let (iodepth, jobs, rate, reads, fsync, rounds, fdatasync, burst) = numbers;
                    let (arrivals, sync, engine) = names;
                    let rates = |rate: u32| match burst {
                        Some(writes) if rate.is_multiple_of(2) => Rates::Apart { reads: rate, writes },
                        _ => Rates::All(rate),
                    };
                    let rate = rate.map(|rate| Rate(rates(rate)));
                    LoadSpec {
                        pattern,
                        bs,
                        iodepth,
                        jobs,
                        direct,
                        time,
                        warmup,
                        rate,
                        arrivals,
                        reads,
                        order,
                        stride,
                        think,
                        burst,
                        fsync,
                        fdatasync,
                        sync,
                        engine,
                        size,
                        rounds,
                        seed,
                        warm,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn a_printed_workload_is_read_back(spec in spec(), budget in 1u64..1 << 50, target in "[ -~\\t]{0,12}") {
            let spec = spec.explicit();
            prop_assert_eq!(&spec.explicit(), &spec);
            let times = [budget, budget + 1].map(|nanos| Some(Nanos(nanos)));
            let text = spec.job_file(&[], &[&target, "."], times[0], times[1]);
            let Job { targets, rounds, budget, sustained, seed, load } = toml::from_str(&text).expect(&text);
            prop_assert_eq!(targets, vec![target, ".".to_owned()]);
            prop_assert_eq!([budget, sustained], times.map(|time| time.map(Time)));
            let [load] = &load[..] else { panic!("one load") };
            prop_assert_eq!(LoadSpec { rounds, seed, ..load.clone() }, spec);
        }
    }

    #[test]
    fn several_values_are_printed_as_typed() {
        let swept = [("bs".to_owned(), "4k..64k*4".to_owned())];
        let text = LoadSpec::new(PatternName::Randread).explicit().job_file(&swept, &[], None, None);
        assert!(text.contains("\nbs = \"4k..64k*4\" "), "{text}");
        let job = crate::Job::read(&crate::Source::new("x", text), &sample()).expect("a job");
        assert_eq!(job.loads.len(), 3);
    }

    #[test]
    fn defaults_are_printed() {
        let spec = LoadSpec { rate: Some(Rate(Rates::All(100))), ..LoadSpec::new(PatternName::Randrw) };
        let text = spec.explicit().job_file(&[], &[], None, None);
        for line in
            ["bs = \"4KiB\"", "arrivals = \"constant\"", "reads = 50", "size = \"256MiB\"", "rounds = 5", "seed = 1"]
        {
            assert!(text.lines().any(|other| other.split(" #").next().map(str::trim_end) == Some(line)), "{text}");
        }
        assert!(!text.contains("targets") && !text.contains("stride"), "{text}");
        let loads = [spec.clone(), LoadSpec { size: None, ..spec.explicit() }].map(|spec| spec.load(&sample()));
        let [typed, explicit] = loads.map(|load| load.expect("a load"));
        assert_eq!(typed, explicit);
    }
}
