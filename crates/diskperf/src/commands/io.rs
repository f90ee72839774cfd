//! `diskperf io PATTERN TARGET...`: one load of a person's own.

use clap::{Args, ValueEnum};
use kernel::{MOST_BYTES, MOST_DEPTH, NoRing, no_ring};
use units::{Bytes, Nanos};
use workload::programs::load::{Load, Pattern, Queue};
use workload::{Arrivals, FASTEST};

use crate::cli::values::{parse_bytes, parse_time};
use crate::consent::ConsentArguments;
use crate::error::Error;
use crate::layout::OutputArguments;
use crate::runs::KeepArguments;
use crate::target::TargetArgument;

/// What `diskperf io` takes.
#[derive(Clone, Debug, Args)]
pub struct IoArguments {
    /// What is done to the file.
    #[arg(value_enum, value_name = "PATTERN")]
    pattern: PatternName,
    /// Where, as of `diskperf run`; the directory you stand in, where none is named. Of several, each in turn.
    #[arg(value_name = "TARGET")]
    pub targets: Vec<TargetArgument>,
    /// Bytes of a read, a write, a record; 4KiB, or 128KiB for read and write.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_block)]
    bs: Option<u32>,
    /// How many are under way at once. More than one at a time is what io_uring is for.
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DEPTH)))]
    iodepth: u32,
    /// Go past the page cache (O_DIRECT).
    #[arg(long)]
    direct: bool,
    /// When a round ends, as in 10s; read, write and commit end with the file.
    #[arg(long, value_name = "TIME", default_value = "2s", allow_negative_numbers = true, value_parser = parse_time)]
    time: Nanos,
    /// Begin so many in a second, whatever has become of the ones before: an open loop, whose response times count
    /// from the intended starts. Without it the next begins when one has returned, and service times hide what a stall
    /// kept from beginning.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(FASTEST)))]
    rate: Option<u32>,
    /// How far apart their starts are: always as far, or as chance has it.
    #[arg(long, value_enum, default_value_t, requires = "rate")]
    arrivals: ArrivalsName,
    /// Of a hundred operations of randrw, so many are reads.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    reads: Option<u8>,
    /// How they are issued: by plain calls, by io_uring, or not at all, which tells what this program costs. auto takes
    /// io_uring where more than one is to be under way, and goes without where it cannot be had.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// The size of the file, as in 1GiB; 256MiB where not given.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    pub size: Option<Bytes>,
    /// How many rounds; five where not given.
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Begin no round that would probably end later than this, as in 2min.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    pub budget: Option<Nanos>,
    /// The seed of every random order.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Begin with all of the file in memory. Else what is read through the page cache begins with nothing of it there.
    #[arg(long, conflicts_with = "direct")]
    pub warm: bool,
    /// Say what would be run, and write nothing.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    pub consent: ConsentArguments,
    #[command(flatten)]
    pub store: KeepArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

/// What can be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PatternName {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Engine {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ArrivalsName {
    /// Always as far.
    #[default]
    Constant,
    /// As chance has it.
    Poisson,
}

/// The block where none is asked for: of a database, and of what is read and written in order.
const BLOCK: u32 = 4096;
const BLOCK_IN_ORDER: u32 = 128 * 1024;

/// Half of the operations of `randrw` are reads where nothing else is asked for.
const READS: u8 = 50;

impl IoArguments {
    /// The load that is asked for, as it can be had here; says what cannot.
    pub fn load(&self) -> Result<Load, Error> {
        self.decide(no_ring())
    }

    fn decide(&self, missing: Option<NoRing>) -> Result<Load, Error> {
        let pattern = self.pattern()?;
        let is_in_order = matches!(pattern, Pattern::Read | Pattern::Write);
        let block = self.bs.unwrap_or(if is_in_order { BLOCK_IN_ORDER } else { BLOCK });
        let arrivals = match self.arrivals {
            ArrivalsName::Constant => Arrivals::Constant,
            ArrivalsName::Poisson => Arrivals::Poisson,
        };
        Ok(Load {
            pattern,
            block,
            direct: self.direct,
            queue: self.queue(pattern, block, missing)?,
            rate: self.rate.map(|rate| (rate, arrivals)),
            time: self.time,
        })
    }

    fn pattern(&self) -> Result<Pattern, Error> {
        if let (Some(reads), false) = (self.reads, self.pattern == PatternName::Randrw) {
            let why = "only randrw does both; the others only read or only write".to_owned();
            return Err(Error::BadSize { what: "--reads", given: reads.to_string(), why });
        }
        Ok(match self.pattern {
            PatternName::Randread => Pattern::RandomRead,
            PatternName::Randwrite => Pattern::RandomWrite,
            PatternName::Randrw => Pattern::RandomMix { reads: self.reads.unwrap_or(READS) },
            PatternName::Read => Pattern::Read,
            PatternName::Write => Pattern::Write,
            PatternName::Commit => Pattern::Commit,
        })
    }

    /// Who issues them, and how many at once:
    ///   1. what cannot be is refused: more than one at once by plain calls, or of commits, each of which waits; more
    ///      memory than a ring has;
    ///   2. as asked; io_uring that was asked for and is not to be had is refused;
    ///   3. of itself, io_uring where more than one is to be under way; where that is not to be had, one at a time, and
    ///      that is said.
    fn queue(&self, pattern: Pattern, block: u32, missing: Option<NoRing>) -> Result<Queue, Error> {
        let depth = self.iodepth;
        // 1
        let bad = |why: &str| Error::BadSize { what: "--iodepth", given: depth.to_string(), why: why.to_owned() };
        if pattern == Pattern::Commit && (depth > 1 || self.engine == Engine::Uring) {
            return Err(bad("each commit waits for the one before it; leave out --iodepth and --engine uring"));
        }
        if depth > 1 && matches!(self.engine, Engine::Posix | Engine::Null) {
            return Err(bad("plain calls come one after the other; leave out --engine, or take --engine uring"));
        }
        if u64::from(depth) * u64::from(block) > MOST_BYTES {
            return Err(bad(&format!(
                "so many of {} are more than the {} of a ring",
                Bytes(block.into()),
                Bytes(MOST_BYTES)
            )));
        }
        match (self.engine, missing) {
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

/// The largest block: what one call of Linux moves at most is a page less than twice that.
const LARGEST_BLOCK: Bytes = Bytes(1 << 30);

fn parse_block(text: &str) -> Result<u32, String> {
    match text.parse::<Bytes>() {
        Ok(block) if block > LARGEST_BLOCK => Err(format!("a block has at most {LARGEST_BLOCK}")),
        Ok(block) => Ok(block.0 as u32),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        io: IoArguments,
    }

    fn decided(words: &str, missing: Option<NoRing>) -> Result<Queue, String> {
        let line = Line::try_parse_from(format!("io {words}").split(' ')).expect("a line");
        line.io.decide(missing).map(|load| load.queue).map_err(|error| error.to_string())
    }

    #[test]
    fn several_at_once_are_for_the_ring_and_one_at_a_time_is_for_calls() {
        assert_eq!(decided("randread", None), Ok(Queue::InTurn));
        assert_eq!(decided("randread --iodepth 32", None), Ok(Queue::Deep(32)));
        assert_eq!(decided("randread --engine uring", None), Ok(Queue::Deep(1)));
        assert_eq!(decided("randread --engine null", None), Ok(Queue::Nowhere));
        for refused in [
            "randread --iodepth 2 --engine posix",
            "randread --iodepth 2 --engine null",
            "commit --iodepth 2",
            "commit --engine uring",
            "randread --iodepth 32768 --bs 64KiB",
            "randread --reads 30",
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
}
