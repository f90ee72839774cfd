//! A load as a person says it: one key for each option of `diskperf io`, spelled alike in a job file. What it means, and
//! what of it makes no sense, is decided here.

pub mod words;

use std::fmt;

use clap::{Args, ValueEnum};
use kernel::{MOST_BYTES, MOST_DEPTH, NoRing, no_ring};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Bytes, Nanos};
use workload::programs::load::{Load, Pattern, Queue};
use workload::{Arrivals, FASTEST};

use crate::error::Error;
use words::{Size, Time};

/// A load.
#[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// What is done to the file.
    #[arg(value_enum, value_name = "PATTERN")]
    pub pattern: PatternName,
    /// Bytes of a read, a write, a record; 4KiB, or 128KiB for read and write.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub bs: Option<Size>,
    /// How many are under way at once; 1 where not given. More than one at a time is what io_uring is for.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub iodepth: Option<u32>,
    /// Go past the page cache (O_DIRECT).
    #[arg(long)]
    #[serde(default)]
    pub direct: bool,
    /// When a round ends, as in 10s; 2s where not given. read, write and commit end with the file.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub time: Option<Time>,
    /// Begin so many in a second, whatever has become of the ones before: an open loop, whose response times count
    /// from the intended starts. Without it the next begins when one has returned, and service times hide what a stall
    /// kept from beginning.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub rate: Option<u32>,
    /// How far apart the starts of --rate are; constant where not given.
    #[arg(long, value_enum)]
    pub arrivals: Option<ArrivalsName>,
    /// Of a hundred operations of randrw, so many are reads; 50 where not given.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub reads: Option<u32>,
    /// How they are issued: by plain calls, by io_uring, or not at all, which tells what this program costs. auto, where
    /// nothing is given, takes io_uring where more than one is to be under way, and goes without where it cannot be had.
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// The size of the file, as in 1GiB; 256MiB where not given.
    #[arg(long, allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub size: Option<Size>,
    /// How many rounds; five where not given.
    #[arg(long, allow_negative_numbers = true)]
    pub rounds: Option<u32>,
    /// The seed of every random order; 1 where not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Begin with all of the file in memory. Else what is read through the page cache begins with nothing of it there.
    #[arg(long)]
    #[serde(default)]
    pub warm: bool,
}

/// What can be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PatternName {
    /// Read blocks at random places.
    Randread,
    /// Write over blocks at random places.
    Randwrite,
    /// Both, mixed as --reads says.
    Randrw,
    /// Read from the beginning to the end.
    Read,
    /// Write anew from the beginning to the end.
    Write,
    /// Append records, each durable (fdatasync) before the next.
    Commit,
}

/// Who issues the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// io_uring where more than one is to be under way and it can be had; else plain calls.
    #[default]
    Auto,
    /// Plain calls, one after the other.
    Posix,
    /// io_uring, or none.
    Uring,
    /// Nobody: each counts as done at once.
    Null,
}

/// How far apart starts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalsName {
    /// Always as far.
    Constant,
    /// As chance has it.
    Poisson,
}

/// What of a load makes no sense: which key, what it was set to, why not, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFault {
    /// The key, as it is spelled in a job file.
    pub key: &'static str,
    /// Its value; nothing where it has none but being there.
    pub given: String,
    /// Other keys stand in it as options.
    pub why: String,
    /// What to try; as above.
    pub hint: String,
}

impl fmt::Display for LoadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadFault { key, given, why, .. } = self;
        let gap = if given.is_empty() { "" } else { " " };
        write!(f, "--{key}{gap}{given}: {why}")
    }
}

impl std::error::Error for LoadFault {}

/// The block where none is asked for: of a database, and of what is read and written in order.
const BLOCK: u32 = 4096;
const BLOCK_IN_ORDER: u32 = 128 * 1024;

/// The largest block: what one call of Linux moves at most is a page less than twice that.
const LARGEST_BLOCK: Bytes = Bytes(1 << 30);

/// Half of the operations of `randrw` are reads where nothing else is asked for.
const READS: u32 = 50;

/// How long a round is where nothing else is asked for.
const TIME: Nanos = Nanos::from_secs(2);

impl LoadSpec {
    /// This pattern, and nothing else said.
    pub fn of(pattern: PatternName) -> LoadSpec {
        LoadSpec {
            pattern,
            bs: None,
            iodepth: None,
            direct: false,
            time: None,
            rate: None,
            arrivals: None,
            reads: None,
            engine: None,
            size: None,
            rounds: None,
            seed: None,
            warm: false,
        }
    }

    /// The load that is asked for, as it can be had here; says what cannot.
    pub fn load(&self) -> Result<Load, Error> {
        self.decide(no_ring())
    }

    fn decide(&self, missing: Option<NoRing>) -> Result<Load, Error> {
        let pattern = self.pattern()?;
        let is_in_order = matches!(pattern, Pattern::Read | Pattern::Write);
        let block = match self.bs {
            Some(Size(bs)) if bs > LARGEST_BLOCK => {
                return Err(fault(
                    "bs",
                    Size(bs),
                    format!("a block has at most {LARGEST_BLOCK}"),
                    "take a smaller one",
                ));
            }
            Some(Size(bs)) => bs.0 as u32,
            None if is_in_order => BLOCK_IN_ORDER,
            None => BLOCK,
        };
        if self.warm && self.direct {
            let why = "what goes past the page cache (--direct) meets nothing in memory";
            return Err(fault("warm", "", why, "leave out --warm or --direct"));
        }
        if self.rounds == Some(0) {
            return Err(fault("rounds", 0, "nothing would be measured", "take 1 or more"));
        }
        Ok(Load {
            pattern,
            block,
            direct: self.direct,
            queue: self.queue(pattern, block, missing)?,
            rate: self.rate()?,
            time: self.time.map_or(TIME, |Time(time)| time),
        })
    }

    fn pattern(&self) -> Result<Pattern, Error> {
        let reads = self.reads.unwrap_or(READS);
        if reads > 100 {
            return Err(fault("reads", reads, "it is a percentage", "take 0 to 100"));
        }
        if self.reads.is_some() && self.pattern != PatternName::Randrw {
            let why = "only randrw does both; the others only read or only write";
            return Err(fault("reads", reads, why, "leave out --reads, or take randrw"));
        }
        Ok(match self.pattern {
            PatternName::Randread => Pattern::RandomRead,
            PatternName::Randwrite => Pattern::RandomWrite,
            PatternName::Randrw => Pattern::RandomMix { reads: reads as u8 },
            PatternName::Read => Pattern::Read,
            PatternName::Write => Pattern::Write,
            PatternName::Commit => Pattern::Commit,
        })
    }

    fn rate(&self) -> Result<Option<(u32, Arrivals)>, Error> {
        let arrivals = match self.arrivals {
            Some(ArrivalsName::Poisson) => Arrivals::Poisson,
            Some(ArrivalsName::Constant) | None => Arrivals::Constant,
        };
        match self.rate {
            Some(rate) if !(1..=FASTEST).contains(&rate) => {
                let why = format!("{rate} is not in 1..={FASTEST}");
                Err(fault("rate", rate, why, "a rate is operations in a second"))
            }
            Some(rate) => Ok(Some((rate, arrivals))),
            None if self.arrivals.is_some() => {
                let why = "without --rate the next begins when one has returned";
                Err(fault("arrivals", arrivals.name(), why, "say --rate too, as in --rate 1000"))
            }
            None => Ok(None),
        }
    }

    /// Who issues them, and how many at once:
    ///   1. what cannot be is refused: more than one at once by plain calls, or of commits, each of which waits; more
    ///      memory than a ring has;
    ///   2. as asked; io_uring that was asked for and is not to be had is refused;
    ///   3. of itself, io_uring where more than one is to be under way; where that is not to be had, one at a time, and
    ///      that is said.
    fn queue(&self, pattern: Pattern, block: u32, missing: Option<NoRing>) -> Result<Queue, Error> {
        let depth = self.iodepth.unwrap_or(1);
        let engine = self.engine.unwrap_or_default();
        // 1
        let bad = |why: &str, hint: &str| Err(fault("iodepth", depth, why, hint));
        if !(1..=MOST_DEPTH).contains(&depth) {
            let why = format!("{depth} is not in 1..={MOST_DEPTH}");
            return bad(&why, "1 is one after the other, and no ring is deeper than the last of these");
        }
        if pattern == Pattern::Commit && depth > 1 {
            return bad("each commit waits for the one before it", "leave out --iodepth");
        }
        if pattern == Pattern::Commit && engine == Engine::Uring {
            let why = "each commit waits for the one before it, which is what plain calls do";
            return Err(fault("engine", "uring", why, "leave out --engine"));
        }
        if depth > 1 && matches!(engine, Engine::Posix | Engine::Null) {
            let why = format!("plain calls (--engine {}) come one after the other", engine.name());
            return bad(&why, "leave out --engine, or take --engine uring");
        }
        if u64::from(depth) * u64::from(block) > MOST_BYTES {
            let (block, most) = (Bytes(block.into()), Bytes(MOST_BYTES));
            let why = format!("so many of {block} are more than the {most} of a ring");
            return bad(&why, "take fewer at once, or a smaller --bs");
        }
        match (engine, missing) {
            // 2
            (Engine::Posix, _) => Ok(Queue::InTurn),
            (Engine::Null, _) => Ok(Queue::Nowhere),
            (Engine::Uring, Some(missing)) => Err(Error::NoRing(missing)),
            (Engine::Uring, None) => Ok(Queue::Deep(depth)),
            // 3
            (Engine::Auto, _) if depth == 1 => Ok(Queue::InTurn),
            (Engine::Auto, None) => Ok(Queue::Deep(depth)),
            (Engine::Auto, Some(missing)) => {
                remark!("{missing}; one operation is under way at a time, by plain calls");
                Ok(Queue::InTurn)
            }
        }
    }
}

fn fault(key: &'static str, given: impl ToString, why: impl Into<String>, hint: &str) -> Error {
    let fault = LoadFault { key, given: given.to_string(), why: why.into(), hint: hint.to_owned() };
    Error::Load(Box::new(fault))
}

impl Engine {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Posix => "posix",
            Engine::Uring => "uring",
            Engine::Null => "null",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        load: LoadSpec,
    }

    fn decided(words: &str, missing: Option<NoRing>) -> Result<Queue, String> {
        let line = Line::try_parse_from(format!("io {words}").split(' ')).expect("a line");
        line.load.decide(missing).map(|load| load.queue).map_err(|error| error.to_string())
    }

    #[test]
    fn several_at_once_are_for_the_ring_and_one_at_a_time_is_for_calls() {
        assert_eq!(decided("randread", None), Ok(Queue::InTurn));
        assert_eq!(decided("randread --iodepth 32", None), Ok(Queue::Deep(32)));
        assert_eq!(decided("randread --engine uring", None), Ok(Queue::Deep(1)));
        assert_eq!(decided("randread --engine null", None), Ok(Queue::Nowhere));
        for refused in [
            "randread --iodepth 0",
            "randread --iodepth 2 --engine posix",
            "randread --iodepth 2 --engine null",
            "commit --iodepth 2",
            "commit --engine uring",
            "randread --iodepth 32768 --bs 64KiB",
            "randread --reads 30",
            "randrw --reads 101",
        ] {
            assert!(decided(refused, None).is_err(), "{refused}");
        }
    }

    #[test]
    fn without_a_ring_one_is_under_way_unless_the_ring_was_asked_for() {
        let missing = Some(NoRing::Forbidden);
        assert_eq!(decided("randread --iodepth 32", missing), Ok(Queue::InTurn));
        assert_eq!(decided("randread --engine posix", missing), Ok(Queue::InTurn));
        let refused = decided("randread --iodepth 32 --engine uring", missing).expect_err("no ring");
        assert!(refused.contains("forbidden"), "{refused}");
    }

    #[test]
    fn a_line_and_a_job_file_say_the_same() {
        let line = "io randrw --bs 8KiB --iodepth 4 --direct --time 10s --rate 100 --arrivals poisson --reads 70 \
                    --engine uring --size 1GiB --rounds 3 --seed 7";
        let file = "pattern = 'randrw'\nbs = '8KiB'\niodepth = 4\ndirect = true\ntime = '10s'\nrate = 100\n\
                    arrivals = 'poisson'\nreads = 70\nengine = 'uring'\nsize = '1GiB'\nrounds = 3\nseed = 7\n";
        let read: LoadSpec = toml::from_str(file).expect("a load");
        assert_eq!(read, Line::try_parse_from(line.split_whitespace()).expect("a line").load);
        assert_eq!(toml::from_str("pattern = 'read'"), Ok(LoadSpec::of(PatternName::Read)));
        for (bad, said) in [
            ("pattern = 'read'\nbs = '4K'", "ambiguous unit K"),
            ("pattern = 'read'\ntime = '5'", "unknown or missing unit"),
            ("pattern = 'read'\ndepth = 4", "unknown field `depth`"),
            ("pattern = 'sideways'", "unknown variant `sideways`"),
            ("bs = '4KiB'", "missing field `pattern`"),
        ] {
            let fault = toml::from_str::<LoadSpec>(bad).expect_err(bad).to_string();
            assert!(fault.contains(said), "{fault}");
        }
    }
}
