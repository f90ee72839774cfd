//! A load as a job file: what `diskperf io --print-job` prints, and `diskperf run JOB.toml` takes.

use std::fmt::Write;

use clap::ValueEnum;
use units::{Bytes, Nanos};
use workload::Drawing;

use super::words::{Blocks, Order, Size, Time};
use super::{ArrivalsName, BLOCK, BLOCK_IN_ORDER, Engine, LoadSpec, PatternName, READS, ROUNDS, SEED, SIZE, TIME};
use crate::target::{TargetArgument, TargetKind};

impl LoadSpec {
    /// The same with everything said that would be taken where nothing is.
    pub fn explicit(&self) -> LoadSpec {
        let is_in_order = matches!(self.pattern, PatternName::Read | PatternName::Write);
        let is_random = matches!(self.pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw);
        let block = Size(Bytes(u64::from(if is_in_order { BLOCK_IN_ORDER } else { BLOCK })));
        let is_mix = self.pattern == PatternName::Randrw;
        LoadSpec {
            bs: self.bs.clone().or_else(|| Some(Blocks(vec![(block, None)]))),
            iodepth: self.iodepth.or(Some(1)),
            jobs: self.jobs.or(Some(1)),
            time: self.time.or(Some(Time(TIME))),
            arrivals: self.arrivals.or(self.rate.map(|_| ArrivalsName::Constant)),
            reads: self.reads.or(is_mix.then_some(READS)),
            order: self.order.or(is_random.then_some(Order(Drawing::Replacement))),
            engine: self.engine.or(Some(Engine::Auto)),
            size: self.size.or(Some(Size(SIZE))),
            rounds: self.rounds.or(Some(ROUNDS)),
            seed: self.seed.or(Some(SEED)),
            ..self.clone()
        }
    }

    /// The job file of this load alone, on these targets. Of a file that is given all is taken, whatever size it has: where
    /// one is, a size that was not said is not.
    pub fn job(&self, targets: &[&str], budget: Option<Nanos>) -> String {
        let mut explicit = self.explicit();
        if targets.iter().any(|target| is_given(target)) {
            explicit.size = self.size;
        }
        let targets: Vec<String> = targets.iter().map(quoted).collect();
        let head = [
            ("targets", (!targets.is_empty()).then(|| format!("[{}]", targets.join(", "))), ""),
            ("rounds", explicit.rounds.map(|rounds| rounds.to_string()), ""),
            ("budget", budget.map(|budget| quoted(Time(budget))), "start no round that would end later"),
            ("seed", explicit.seed.map(|seed| seed.to_string()), ""),
        ];
        let mut text = "# diskperf run JOB.toml; `diskperf help io` explains the keys.\n".to_owned();
        lines(&mut text, &head);
        text + "\n" + &explicit.table(None)
    }

    /// Its table in a job file, of that name, with what is said and nothing else. Rounds and seed are of the whole file.
    pub fn table(&self, named: Option<&str>) -> String {
        // Whoever adds a key is told by the compiler that it has a line here.
        let LoadSpec {
            pattern,
            bs,
            iodepth,
            jobs,
            direct,
            time,
            rate,
            arrivals,
            reads,
            order,
            stride,
            think,
            fsync,
            sync,
            engine,
            size,
            rounds: _,
            seed: _,
            warm,
        } = self.clone();
        let yes = |flag: bool| flag.then(|| "true".to_owned());
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let load = [
            ("name", named.map(quoted), "name of the test in the tables"),
            ("pattern", name(Some(pattern)), "randread, randwrite, randrw, read, write or commit"),
            ("bs", bs.map(quoted), "block size, or sizes with percentages: 4KiB:60,64KiB:40"),
            ("iodepth", number(iodepth), "queue depth"),
            ("jobs", number(jobs), "number of threads, each with its own file"),
            ("direct", yes(direct), "bypass the page cache (O_DIRECT)"),
            ("time", time.map(quoted), "time of a round"),
            ("rate", number(rate), "operations per second, by all threads together"),
            ("arrivals", name(arrivals), "time between operations: constant or poisson"),
            ("reads", number(reads), "percentage of reads"),
            ("order", order.map(quoted), "order of random blocks: replacement, permutation or zipf:0.99"),
            ("stride", stride.map(quoted), "distance between the starts of blocks"),
            ("think", think.map(quoted), "pause between two operations"),
            ("fsync", number(fsync), "call fsync after this many writes"),
            ("sync", name(sync), "each write waits: dsync for its data, sync also for metadata"),
            ("engine", name(engine), "auto, posix, uring, sqpoll, mmap or null"),
            ("size", size.map(quoted), "file size of each thread"),
            ("warm", yes(warm), "start with the whole file in the page cache"),
        ];
        let mut text = "[[load]]\n".to_owned();
        lines(&mut text, &load);
        text
    }
}

/// Whether a target is a file that somebody has.
fn is_given(target: &str) -> bool {
    let Ok(target) = target.parse::<TargetArgument>();
    matches!(target.kind, TargetKind::File(_))
}

/// A line for each key that has a value, with what it is behind it.
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

fn name(value: Option<impl ValueEnum>) -> Option<String> {
    Some(quoted(value?.to_possible_value()?.get_name()))
}

/// A basic string of TOML: backslash, quotes and what cannot be seen are escaped.
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
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;
    use crate::load_spec::SyncName;

    /// What stands above the loads, and the loads.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Job {
        #[serde(default)]
        targets: Vec<String>,
        rounds: Option<u32>,
        budget: Option<Time>,
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
            (number(), number(), number(), number(), number(), number()),
            (time(), time(), proptest::option::of(0..i64::MAX as u64), any::<bool>(), any::<bool>()),
            (
                proptest::option::of(proptest::sample::select(ArrivalsName::value_variants())),
                proptest::option::of(proptest::sample::select(SyncName::value_variants())),
                proptest::option::of(proptest::sample::select(Engine::value_variants())),
            ),
        )
            .prop_map(
                |(pattern, (bs, order, stride, size), numbers, (time, think, seed, direct, warm), names)| {
                    let (iodepth, jobs, rate, reads, fsync, rounds) = numbers;
                    let (arrivals, sync, engine) = names;
                    LoadSpec {
                        pattern,
                        bs,
                        iodepth,
                        jobs,
                        direct,
                        time,
                        rate,
                        arrivals,
                        reads,
                        order,
                        stride,
                        think,
                        fsync,
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
        fn what_is_printed_is_the_same_load(spec in spec(), budget in 1u64..1 << 50, target in "[ -~\\t]{0,12}") {
            let spec = spec.explicit();
            prop_assert_eq!(&spec.explicit(), &spec);
            let text = spec.job(&[&target, "."], Some(Nanos(budget)));
            let Job { targets, rounds, budget: read, seed, load } = toml::from_str(&text).expect(&text);
            prop_assert_eq!((targets, read), (vec![target, ".".to_owned()], Some(Time(Nanos(budget)))));
            let [load] = &load[..] else { panic!("one load") };
            prop_assert_eq!(LoadSpec { rounds, seed, ..load.clone() }, spec);
        }
    }

    #[test]
    fn what_was_not_said_is_printed_as_it_is_taken() {
        let spec = LoadSpec { rate: Some(100), ..LoadSpec::of(PatternName::Randrw) };
        let text = spec.job(&[], None);
        for line in
            ["bs = \"4KiB\"", "arrivals = \"constant\"", "reads = 50", "size = \"256MiB\"", "rounds = 5", "seed = 1"]
        {
            assert!(text.lines().any(|other| other.split(" #").next().map(str::trim_end) == Some(line)), "{text}");
        }
        assert!(!text.contains("targets") && !text.contains("stride"), "{text}");
        // It means the same.
        assert_eq!(spec.load().expect("a load"), LoadSpec { size: None, ..spec.explicit() }.load().expect("a load"));
    }
}
