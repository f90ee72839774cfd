//! A workload as the user describes it: one key for each option of `diskperf io`, with the same name in a job file. This
//! module checks it and decides what to run.

mod fault;
pub mod names;
mod print;
pub mod words;

use std::num::NonZero;

use clap::Args;
use kernel::{MOST_BYTES, MOST_DEPTH, NoRing, no_ring, ring_memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};
use workload::programs::load::{Load, Pattern, Queue};
use workload::{Arrivals, Drawing, Durability, FASTEST, LONGEST_SCHEDULE, MOST_SIZES, Overlap, Sizes, Thousandths};

use crate::cli::values::MOST_ROUNDS;
use crate::error::Error;
pub use fault::LoadFault;
pub use names::{ArrivalsName, Engine, PatternName, SyncName};
use words::{Blocks, Order, Size, Time};

/// A workload.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// Pattern of reads and writes.
    #[arg(value_enum, value_name = "PATTERN")]
    pub pattern: PatternName,
    /// Block size: bytes of a read, a write or a record [default: 4KiB; 128KiB for read and write]. Mix several sizes by
    /// percentage, as in 4k:60,64k:40; each starts at a multiple of its size. k, M, G and KiB, MiB, GiB are powers of 1024;
    /// kB, MB, GB are powers of 1000.
    #[arg(long, value_name = "SIZE[:PERCENT],...", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub bs: Option<Blocks>,
    /// Queue depth: operations in flight at once [default: 1]. Depths above 1 use io_uring.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub iodepth: Option<u32>,
    /// Number of threads that run the workload at once [default: 1]. Each has its own file of --size and its own random
    /// places; with file:PATH, all read that file. Rates and CPU times are sums; latencies are over all threads.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub jobs: Option<u32>,
    /// Bypass the page cache (O_DIRECT).
    #[arg(long)]
    #[serde(default)]
    pub direct: bool,
    /// Time of a round, as in 10s [default: 2s]. read, write and commit end earlier, if they reach the end of the file.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub time: Option<Time>,
    /// Issue N operations per second, by all threads together, whether or not earlier ones have finished (open loop). Latency
    /// then counts from the intended start. Without --rate, a new operation starts when one has returned, and latency does
    /// not include operations delayed by a stall (coordinated omission).
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub rate: Option<u32>,
    /// Time between the starts of --rate [default: constant].
    #[arg(long, value_enum)]
    pub arrivals: Option<ArrivalsName>,
    /// Percentage of reads in randrw [default: 50].
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub reads: Option<u32>,
    /// Order of random blocks: replacement, permutation, or zipf:THETA as in zipf:0.99 [default: replacement]. replacement
    /// draws each block from all blocks. permutation touches each block once, then each again in another order. zipf:THETA
    /// has hot blocks, spread over the file: the n-th hottest block is drawn in proportion to 1/n^THETA.
    #[arg(long, value_name = "ORDER")]
    #[schemars(with = "Option<String>")]
    pub order: Option<Order>,
    /// Distance between the starts of blocks for read and write, as in 1MiB [default: --bs]. At the end of the file, the
    /// next pass starts one block later, until every block was touched once. write then overwrites an existing file.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub stride: Option<Size>,
    /// Pause between two operations, as in 1ms [default: none]. It lowers the rate; latencies do not include it.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub think: Option<Time>,
    /// Call fsync after every N writes, with no other operation in flight [default: never]. It lowers the rate. Latencies do not include
    /// it, except those of operations that --rate delayed for it.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub fsync: Option<u32>,
    /// Open the file so that each write returns when it is durable: dsync (O_DSYNC) or sync (O_SYNC) [default: neither].
    #[arg(long, value_enum)]
    pub sync: Option<SyncName>,
    /// Way to issue operations [default: auto].
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// Size of the file, as in 1GiB [default: 256MiB].
    #[arg(long, allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub size: Option<Size>,
    /// Number of rounds [default: 5].
    #[arg(long, allow_negative_numbers = true)]
    pub rounds: Option<u32>,
    /// Seed of every random order [default: 1].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Start with the whole file in the page cache [default: cold for reads through the page cache; file:PATH stays as it
    /// is].
    #[arg(long)]
    #[serde(default)]
    pub warm: bool,
}

/// The default block sizes: of random patterns and commit, and of the sequential patterns.
const BLOCK: u32 = 4096;
const BLOCK_IN_ORDER: u32 = 128 * 1024;

/// The largest block: one call of Linux moves at most a page less than twice that.
const LARGEST_BLOCK: Bytes = Bytes(1 << 30);

/// The most threads. Chosen: each needs a megabyte of data and half a megabyte of histograms, and few machines have more
/// processors.
const MOST_JOBS: u32 = 512;

/// The largest exponent of Zipf's law, in thousandths. Chosen: with 5, one block gets 96 % of the operations.
const STEEPEST: u32 = 5_000;

/// The default percentage of reads in `randrw`.
const READS: u32 = 50;

/// The default time of a round.
pub const TIME: Nanos = Nanos::from_secs(2);

/// The default size of the file: written in a second or so, and larger than the cache of a drive.
pub const SIZE: Bytes = Bytes::mib(256);

/// The default number of rounds, and the default seed.
pub const ROUNDS: u32 = 5;
pub const SEED: u64 = 1;

impl LoadSpec {
    /// This pattern, with all defaults.
    pub fn of(pattern: PatternName) -> LoadSpec {
        LoadSpec {
            pattern,
            bs: None,
            iodepth: None,
            jobs: None,
            direct: false,
            time: None,
            rate: None,
            arrivals: None,
            reads: None,
            order: None,
            stride: None,
            think: None,
            fsync: None,
            sync: None,
            engine: None,
            size: None,
            rounds: None,
            seed: None,
            warm: false,
        }
    }

    /// The workload, as this machine can run it.
    pub fn load(&self) -> Result<Load, Error> {
        self.decide(no_ring())
    }

    /// Refuses a workload that makes no sense on any machine.
    pub fn check(&self) -> Result<(), Error> {
        self.decide(None).map(|_| ())
    }

    /// Whether its file exists before the round.
    pub fn has_file(&self) -> bool {
        !matches!(self.pattern, PatternName::Write | PatternName::Commit) || self.stride.is_some()
    }

    fn decide(&self, missing: Option<NoRing>) -> Result<Load, Error> {
        let pattern = self.pattern()?;
        let sizes = self.sizes(pattern)?;
        if self.warm && self.direct {
            let why = "--direct bypasses the page cache, so nothing of the file can be in it";
            return Err(fault("warm", "", why, "leave out --warm or --direct"));
        }
        if self.warm && !self.has_file() {
            let why = format!("{} starts without a file, so the page cache cannot hold it", pattern.name());
            return Err(fault("warm", "", why, "leave it out, or use randwrite, or write with --stride"));
        }
        if self.rounds == Some(0) {
            return Err(fault("rounds", 0, "nothing would be measured", "use 1 or more"));
        }
        if let Some(rounds) = self.rounds.filter(|rounds| *rounds > MOST_ROUNDS) {
            return Err(fault(
                "rounds",
                rounds,
                format!("at most {} rounds", units::whole(u64::from(MOST_ROUNDS))),
                "use fewer",
            ));
        }
        let (sync, fsync) = self.waits(pattern)?;
        Ok(Load {
            sizes,
            drawing: self.drawing(pattern, sizes)?,
            stride: self.stride(pattern, sizes)?,
            direct: self.direct,
            sync,
            fsync,
            think: self.thinking()?,
            queue: self.queue(pattern, sizes.largest(), missing)?,
            jobs: self.jobs()?,
            rate: self.rate()?,
            size: self.size.map(|Size(size)| size),
            warm: self.warm,
            ..Load::new(pattern, sizes, self.ends_after())
        })
    }

    /// The block sizes:
    ///   1. each is from one byte to the largest;
    ///   2. a single size has no percentage; several have one each, and these sum to 100;
    ///   3. each is a multiple of the smallest, so that they fill a file and none has two alignments;
    ///   4. commit, a permutation and a stride need a single size.
    fn sizes(&self, pattern: Pattern) -> Result<Sizes, Error> {
        let Some(Blocks(blocks)) = &self.bs else {
            let is_in_order = matches!(pattern, Pattern::Read | Pattern::Write);
            return Ok(Sizes::all(if is_in_order { BLOCK_IN_ORDER } else { BLOCK }));
        };
        let bad = |why: String, hint: &str| fault("bs", Blocks(blocks.clone()), why, hint);
        // 1
        if blocks.iter().any(|(Size(size), _)| size.0 == 0) {
            return Err(bad("a block has at least one byte".to_owned(), "use a larger one"));
        }
        if blocks.iter().any(|(Size(size), _)| *size > LARGEST_BLOCK) {
            return Err(bad(format!("a block has at most {LARGEST_BLOCK}"), "use a smaller one"));
        }
        // 2
        let example = "write one size without a percentage, or several as in --bs 4KiB:60,64KiB:40";
        let shares = blocks.iter().map(|(Size(size), percent)| Some((size.0 as u32, u8::try_from((*percent)?).ok()?)));
        let shares = match &blocks[..] {
            [(Size(size), None)] => return Ok(Sizes::all(size.0 as u32)),
            _ if blocks.len() > MOST_SIZES => {
                return Err(bad(format!("{} sizes are more than the {MOST_SIZES} allowed", blocks.len()), example));
            }
            _ => match shares.collect::<Option<Vec<(u32, u8)>>>() {
                Some(shares) => shares,
                None => return Err(bad("each of several sizes needs a percentage from 0 to 100".to_owned(), example)),
            },
        };
        let sum: u32 = shares.iter().map(|(_, percent)| u32::from(*percent)).sum();
        if sum != 100 {
            return Err(bad(format!("the percentages sum to {sum}, not to 100"), "change one so that they sum to 100"));
        }
        // 3
        let Some(sizes) = Sizes::shared(&shares) else {
            let smallest = Bytes(shares.iter().map(|(bytes, _)| u64::from(*bytes)).min().unwrap_or_default());
            let why = format!("not all sizes are multiples of the smallest, {smallest}");
            return Err(bad(why, "use multiples of the smallest, as in 4KiB and 64KiB"));
        };
        // 4
        let needs_one = match self.order {
            _ if pattern == Pattern::Commit => Some("commit needs one record size"),
            Some(Order(Drawing::Permutation)) => Some("--order permutation needs one block size"),
            _ if self.stride.is_some() => Some("--stride needs one block size"),
            _ => None,
        };
        match needs_one {
            Some(why) if sizes.only().is_none() => Err(bad(why.to_owned(), "give one size")),
            _ => Ok(sizes),
        }
    }

    fn drawing(&self, pattern: Pattern, sizes: Sizes) -> Result<Drawing, Error> {
        let Some(Order(drawing)) = self.order else { return Ok(Drawing::default()) };
        let bad = |why: String, hint: &str| Err(fault("order", Order(drawing), why, hint));
        if !matches!(pattern, Pattern::RandomRead | Pattern::RandomWrite | Pattern::RandomMix { .. }) {
            let hint = "leave out --order, or use randread, randwrite or randrw";
            return bad(format!("{} is sequential", pattern.name()), hint);
        }
        match drawing {
            Drawing::Zipf { thousandths } if !(1..=STEEPEST).contains(&thousandths) => {
                let why = format!("the exponent must be above 0 and at most {}", Thousandths(STEEPEST));
                bad(why, "use zipf:0.99, as many key-value benchmarks do; with a larger one, fewer blocks are hot")
            }
            Drawing::Permutation if sizes.only().is_none() => bad("--bs has several sizes".to_owned(), "give one size"),
            _ => Ok(drawing),
        }
    }

    fn stride(&self, pattern: Pattern, sizes: Sizes) -> Result<Option<u64>, Error> {
        let Some(Size(stride)) = self.stride else { return Ok(None) };
        let block = Bytes(sizes.largest().into());
        let bad = |why: String, hint: &str| Err(fault("stride", Size(stride), why, hint));
        if !matches!(pattern, Pattern::Read | Pattern::Write) {
            let hint = "leave out --stride, or use read or write";
            return bad(format!("{} is not sequential", pattern.name()), hint);
        }
        if stride < block {
            return bad(format!("blocks of {block} (--bs) would overlap"), "use a stride of at least one block");
        }
        if !stride.0.is_multiple_of(block.0) {
            return bad(format!("it is not a multiple of the block size (--bs), {block}"), "use a multiple of --bs");
        }
        Ok(Some(stride.0))
    }

    /// The durability of each write, and the number of writes between two calls of fsync. Only patterns that write have them;
    /// commit has its own.
    fn waits(&self, pattern: Pattern) -> Result<(Durability, Option<u32>), Error> {
        let (key, given) = match (self.sync, self.fsync) {
            (Some(sync), _) => ("sync", sync.name().to_owned()),
            (None, Some(every)) => ("fsync", every.to_string()),
            (None, None) => return Ok((Durability::None, None)),
        };
        if pattern == Pattern::Commit {
            let why = "commit already calls fdatasync after each record";
            return Err(fault(key, given, why, "leave it out, or use write or randwrite"));
        }
        if !pattern.writes() {
            let why = format!("{} does not write", pattern.name());
            return Err(fault(key, given, why, "leave it out, or use write, randwrite or randrw"));
        }
        if self.fsync == Some(0) {
            return Err(fault(
                "fsync",
                0,
                "the least is one write between two calls",
                "leave it out, or use 1 or more",
            ));
        }
        let sync = match self.sync {
            None => Durability::None,
            Some(SyncName::Dsync) => Durability::Data,
            Some(SyncName::Sync) => Durability::File,
        };
        Ok((sync, self.fsync))
    }

    /// The time of a round.
    fn ends_after(&self) -> Nanos {
        self.time.map_or(TIME, |Time(time)| time)
    }

    fn thinking(&self) -> Result<Option<Nanos>, Error> {
        let Some(Time(span)) = self.think else { return Ok(None) };
        let bad = |why: &str, hint: &str| Err(fault("think", Time(span), why, hint));
        if let Some(depth) = self.iodepth.filter(|depth| *depth > 1) {
            let why = format!("a pause between operations allows only one in flight, not --iodepth {depth}");
            return bad(&why, "leave out --iodepth; use --jobs for several threads that pause");
        }
        if let Some(rate) = self.rate {
            return bad(&format!("--rate {rate} already sets the time of each start"), "leave out --think or --rate");
        }
        let time = self.ends_after();
        if span >= time {
            let why = format!("the pause is not shorter than a round (--time {})", Time(time));
            return bad(&why, "use a shorter pause or a longer --time");
        }
        Ok(Some(span))
    }

    fn jobs(&self) -> Result<u32, Error> {
        match self.jobs.unwrap_or(1) {
            jobs if (1..=MOST_JOBS).contains(&jobs) => Ok(jobs),
            jobs => {
                let why = format!("it must be from 1 to {MOST_JOBS}");
                Err(fault("jobs", jobs, why, "each job is a thread; --iodepth sets the operations in flight of each"))
            }
        }
    }

    fn pattern(&self) -> Result<Pattern, Error> {
        let reads = self.reads.unwrap_or(READS);
        if reads > 100 {
            return Err(fault("reads", reads, "it is a percentage", "use 0 to 100"));
        }
        if self.reads.is_some() && self.pattern != PatternName::Randrw {
            let why = "only randrw mixes reads and writes";
            return Err(fault("reads", reads, why, "leave out --reads, or use randrw"));
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
                let why = format!("it must be from 1 to {FASTEST}");
                Err(fault("rate", rate, why, "the unit is operations per second"))
            }
            Some(_) if self.ends_after() > LONGEST_SCHEDULE => {
                let why = format!("with --rate, a round takes at most {}", Time(LONGEST_SCHEDULE));
                Err(fault("time", Time(self.ends_after()), why, "use a shorter one, and more --rounds"))
            }
            Some(rate) => Ok(Some((rate, arrivals))),
            None if self.arrivals.is_some() => {
                let why = "it needs --rate";
                Err(fault("arrivals", arrivals.name(), why, "add --rate, as in --rate 1000"))
            }
            None => Ok(None),
        }
    }

    /// Refuses a polling thread on a single processor, and warns if there are too few processors for all threads.
    fn has_room_to_poll(&self, processors: usize) -> Result<(), Error> {
        let jobs = self.jobs.unwrap_or(1) as usize;
        if processors < 2 {
            let why = "the polling thread needs a processor of its own, and this machine has one";
            return Err(fault("engine", "sqpoll", why, "use --engine uring"));
        }
        if 2 * jobs > processors {
            crate::ui::output::remark(&format!(
                "{jobs} polling threads and {jobs} jobs share {processors} processors; a polling thread without a processor \
                 of its own slows down its job"
            ));
        }
        Ok(())
    }

    /// Refuses options that mapped memory cannot do.
    fn can_be_mapped(&self, pattern: Pattern) -> Result<(), Error> {
        let bad = |why: &str, hint: &str| Err(fault("engine", "mmap", why, hint));
        if self.direct {
            return bad("mmap maps the page cache, which --direct bypasses", "leave out --direct");
        }
        if self.sync.is_some() {
            return bad(
                "a copy to mapped memory does not wait, even with --sync",
                "use --fsync N, or leave out --engine",
            );
        }
        if pattern == Pattern::Commit || (pattern == Pattern::Write && self.stride.is_none()) {
            return bad("the pattern starts without a file to map", "use randwrite, or write with --stride");
        }
        Ok(())
    }

    /// The engine and the queue depth:
    ///   1. refuse a depth above 1 with plain calls or commits, and more memory than a ring can have;
    ///   2. use the engine that was asked for, or refuse it if it is io_uring and this machine has none;
    ///   3. with auto, use io_uring for depths above 1; without io_uring, use depth 1 and remark it.
    fn queue(&self, pattern: Pattern, block: u32, missing: Option<NoRing>) -> Result<Queue, Error> {
        let depth = self.iodepth.unwrap_or(1);
        let engine = self.engine.unwrap_or_default();
        // 1
        let bad = |why: &str, hint: &str| Err(fault("iodepth", depth, why, hint));
        // A polled ring needs two entries for each operation.
        let most = if engine == Engine::Sqpoll { MOST_DEPTH / 2 } else { MOST_DEPTH };
        if !(1..=most).contains(&depth) {
            let why = format!("it must be from 1 to {most}");
            return bad(&why, "1 means one operation at a time");
        }
        if pattern == Pattern::Commit && depth > 1 {
            return bad("commit writes one record at a time", "leave out --iodepth");
        }
        if pattern == Pattern::Commit && matches!(engine, Engine::Uring | Engine::Sqpoll) {
            let why = "commit writes one record at a time, with plain calls";
            return Err(fault("engine", engine.name(), why, "leave out --engine"));
        }
        if depth > 1 && matches!(engine, Engine::Posix | Engine::Mmap | Engine::Null) {
            let why = format!("--engine {} has one operation in flight", engine.name());
            return bad(&why, "leave out --engine, or use --engine uring");
        }
        let needed = ring_memory(Overlap { depth, largest: block, writes: pattern.writes(), polled: false });
        if (depth > 1 || engine == Engine::Uring) && needed.0 > MOST_BYTES {
            let (block, most) = (Bytes(block.into()), Bytes(MOST_BYTES));
            let why = format!("the buffers for this depth and blocks of {block} need more than the {most} of a ring");
            return bad(&why, "use a smaller --iodepth or a smaller --bs");
        }
        if engine == Engine::Mmap {
            self.can_be_mapped(pattern)?;
        }
        match (engine, missing) {
            // 2
            (Engine::Posix, _) => Ok(Queue::InTurn),
            (Engine::Mmap, _) => Ok(Queue::Mapped),
            (Engine::Null, _) => Ok(Queue::Nowhere),
            (Engine::Uring | Engine::Sqpoll, Some(missing)) => Err(Error::NoRing(missing)),
            (Engine::Uring, None) => Ok(Queue::Deep(depth)),
            (Engine::Sqpoll, None) => {
                self.has_room_to_poll(std::thread::available_parallelism().map_or(1, NonZero::get))?;
                Ok(Queue::Polled(depth))
            }
            // 3
            (Engine::Auto, _) if depth == 1 => Ok(Queue::InTurn),
            (Engine::Auto, None) => Ok(Queue::Deep(depth)),
            (Engine::Auto, Some(missing)) => {
                crate::ui::output::remark(&format!("{missing}; using plain calls, with one operation in flight"));
                Ok(Queue::InTurn)
            }
        }
    }
}

fn fault(key: &'static str, given: impl ToString, why: impl Into<String>, hint: &str) -> Error {
    let fault = LoadFault { key, given: given.to_string(), why: why.into(), hint: hint.to_owned() };
    Error::Load(Box::new(fault))
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
    fn depths_above_one_use_the_ring_and_depth_one_uses_calls() {
        assert_eq!(decided("randread", None), Ok(Queue::InTurn));
        assert_eq!(decided("randread --iodepth 32", None), Ok(Queue::Deep(32)));
        assert_eq!(decided("randread --engine uring", None), Ok(Queue::Deep(1)));
        assert_eq!(decided("randread --engine null", None), Ok(Queue::Nowhere));
        assert_eq!(decided("write --stride 256KiB --engine mmap", None), Ok(Queue::Mapped));
        assert_eq!(decided("write --stride 1MiB --warm", None), Ok(Queue::InTurn));
        for refused in [
            "randread --iodepth 0",
            "randread --iodepth 2 --engine posix",
            "randread --iodepth 2 --engine null",
            "commit --iodepth 2",
            "randread --engine mmap --direct",
            "randread --engine mmap --iodepth 2",
            "randwrite --engine mmap --sync dsync",
            "write --engine mmap",
            "commit --engine mmap",
            "commit --engine sqpoll",
            "commit --engine uring",
            "commit --warm",
            "write --warm",
            "randread --iodepth 32768 --bs 64KiB",
            "randwrite --iodepth 512 --bs 2MiB",
            "randread --reads 30",
            "randrw --reads 101",
        ] {
            assert!(decided(refused, None).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_polling_thread_needs_a_second_processor() {
        let line = Line::try_parse_from("io randread --engine sqpoll --iodepth 8".split(' ')).expect("a line");
        let refused = line.load.has_room_to_poll(1).expect_err("one processor");
        assert!(refused.to_string().contains("--engine sqpoll"), "{refused}");
        assert!(line.load.has_room_to_poll(2).is_ok());
    }

    #[test]
    fn without_a_ring_the_depth_is_one_unless_the_ring_was_asked_for() {
        let missing = Some(NoRing::Forbidden);
        assert_eq!(decided("randread --iodepth 32", missing), Ok(Queue::InTurn));
        assert_eq!(decided("randread --engine posix", missing), Ok(Queue::InTurn));
        let refused = decided("randread --iodepth 32 --engine uring", missing).expect_err("no ring");
        assert!(refused.contains("forbidden"), "{refused}");
    }

    #[test]
    fn a_command_line_and_a_job_file_mean_the_same() {
        let line = "io randrw --bs 8KiB --iodepth 4 --direct --time 10s --rate 100 --arrivals poisson --reads 70 \
                    --engine uring --size 1GiB --rounds 3 --seed 7";
        let file = "pattern = 'randrw'\nbs = '8KiB'\niodepth = 4\ndirect = true\ntime = '10s'\nrate = 100\n\
                    arrivals = 'poisson'\nreads = 70\nengine = 'uring'\nsize = '1GiB'\nrounds = 3\nseed = 7\n";
        let read: LoadSpec = toml::from_str(file).expect("a load");
        assert_eq!(read, Line::try_parse_from(line.split_whitespace()).expect("a line").load);
        assert_eq!(toml::from_str("pattern = 'read'"), Ok(LoadSpec::of(PatternName::Read)));
        for (bad, said) in [
            ("pattern = 'read'\nbs = '4kb'", "ambiguous unit kb"),
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
