//! A load as a person says it: one key for each option of `diskperf io`, spelled alike in a job file. What it means, and
//! what of it makes no sense, is decided here.

mod fault;
pub mod names;
mod print;
pub mod words;

use std::num::NonZero;

use clap::Args;
use kernel::{MOST_BYTES, MOST_DEPTH, NoRing, no_ring, ring_memory};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Bytes, Nanos};
use workload::programs::load::{Load, Pattern, Queue};
use workload::{Arrivals, Drawing, Durability, FASTEST, LONGEST_SCHEDULE, MOST_SIZES, Overlap, Sizes, Thousandths};

use crate::cli::values::MOST_ROUNDS;
use crate::error::Error;
pub use fault::LoadFault;
pub use names::{ArrivalsName, Engine, PatternName, SyncName};
use words::{Blocks, Order, Size, Time};

/// A load.
#[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// What is done to the file.
    #[arg(value_enum, value_name = "PATTERN")]
    pub pattern: PatternName,
    /// Bytes of a read, a write, a record; 4KiB, or 128KiB for read and write. Several sizes can be mixed by percentage, as
    /// in 4k:60,64k:40; each is read or written at a multiple of itself. k, M, G and KiB, MiB, GiB are powers of 1024; kB,
    /// MB, GB are powers of 1000.
    #[arg(long, value_name = "SIZE[:PERCENT],...", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub bs: Option<Blocks>,
    /// How many are under way at once; 1 where not given. More than one at a time is what io_uring is for.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub iodepth: Option<u32>,
    /// How many programs do it at once, each with a file of --size and random places of its own (all on one where
    /// file:PATH is read); 1 where not given. Rates and CPU time are sums, latencies those of all.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub jobs: Option<u32>,
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
    /// kept from beginning. With --jobs, so many of all together.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub rate: Option<u32>,
    /// How far apart the starts of --rate are; constant where not given.
    #[arg(long, value_enum)]
    pub arrivals: Option<ArrivalsName>,
    /// Of a hundred operations of randrw, so many are reads; 50 where not given.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub reads: Option<u32>,
    /// In which order the random patterns touch blocks; replacement where not given. replacement: each is drawn out of all.
    /// permutation: each once, then again in another order. zipf:THETA: few often and most hardly ever, the n-th most
    /// frequent as often as 1/n^THETA says, as in zipf:0.99; the frequent ones lie anywhere in the file.
    #[arg(long, value_name = "ORDER")]
    #[schemars(with = "Option<String>")]
    pub order: Option<Order>,
    /// How far apart the starts of blocks are that read and write touch in order, as in 1MiB; at the end of the file, again
    /// from the second block on, until each was touched once. write then writes over a file that is there.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub stride: Option<Size>,
    /// Do something else so long between two operations, as in 1ms. It is in the rate and in no latency.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    pub think: Option<Time>,
    /// Call fsync after every so many writes, with nothing else under way. It is in the rate and in no service time; in
    /// the response times of --rate is what waited for it.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub fsync: Option<u32>,
    /// Have each write wait until its data (dsync: O_DSYNC), or all of the file (sync: O_SYNC), are durable.
    #[arg(long, value_enum)]
    pub sync: Option<SyncName>,
    /// How they are issued: by plain calls, by io_uring, by io_uring with a kernel thread that polls (sqpoll), as copies from and to mapped memory (mmap), or not at all (null),
    /// which tells what this program costs. auto, where nothing is given, takes io_uring where more than one is to be under
    /// way, and goes without where it cannot be had.
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
    /// Begin with all of the file in memory. Else what is read through the page cache begins with nothing of it there;
    /// a file that was given (file:PATH) is then left as it is.
    #[arg(long)]
    #[serde(default)]
    pub warm: bool,
}

/// The block where none is asked for: of a database, and of what is read and written in order.
const BLOCK: u32 = 4096;
const BLOCK_IN_ORDER: u32 = 128 * 1024;

/// The largest block: what one call of Linux moves at most is a page less than twice that.
const LARGEST_BLOCK: Bytes = Bytes(1 << 30);

/// How many programs there can be at once. Chosen: so many have a megabyte of data and half a megabyte of histograms
/// each, and more than that has more threads than machines have processors.
const MOST_JOBS: u32 = 512;

/// The largest exponent of Zipf's law, in thousandths. Chosen: with 5, of all operations 96 in a hundred meet one block.
const STEEPEST: u32 = 5_000;

/// Half of the operations of `randrw` are reads where nothing else is asked for.
const READS: u32 = 50;

/// How long a round is where nothing else is asked for.
pub const TIME: Nanos = Nanos::from_secs(2);

/// Bytes of the file where nothing else is asked for: written in a second or so, and more than a drive keeps in its own
/// memory.
pub const SIZE: Bytes = Bytes::mib(256);

/// How many rounds there are, and the seed, where nothing else is asked for.
pub const ROUNDS: u32 = 5;
pub const SEED: u64 = 1;

impl LoadSpec {
    /// This pattern, and nothing else said.
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

    /// The load that is asked for, as it can be had here; says what cannot.
    pub fn load(&self) -> Result<Load, Error> {
        self.decide(no_ring())
    }

    /// Says what makes no sense on any machine.
    pub fn check(&self) -> Result<(), Error> {
        self.decide(None).map(|_| ())
    }

    /// Whether its file is there before it begins.
    pub fn has_file(&self) -> bool {
        !matches!(self.pattern, PatternName::Write | PatternName::Commit) || self.stride.is_some()
    }

    fn decide(&self, missing: Option<NoRing>) -> Result<Load, Error> {
        let pattern = self.pattern()?;
        let sizes = self.sizes(pattern)?;
        if self.warm && self.direct {
            let why = "what goes past the page cache (--direct) meets nothing in memory";
            return Err(fault("warm", "", why, "leave out --warm or --direct"));
        }
        if self.warm && !self.has_file() {
            let why = format!("{} begins with no file that could be in memory", pattern.name());
            return Err(fault("warm", "", why, "leave it out; randwrite, and write with --stride, write over a file"));
        }
        if self.rounds == Some(0) {
            return Err(fault("rounds", 0, "nothing would be measured", "take 1 or more"));
        }
        if let Some(rounds) = self.rounds.filter(|rounds| *rounds > MOST_ROUNDS) {
            return Err(fault(
                "rounds",
                rounds,
                format!("at most {} rounds", report::whole(u64::from(MOST_ROUNDS))),
                "take fewer",
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

    /// The sizes of its blocks:
    ///   1. each of a byte up to the largest;
    ///   2. of one no share is said, of several each has one, and together they are a hundred;
    ///   3. each is a multiple of the smallest, so that they fill a file and none has two alignments;
    ///   4. several are for what reads and writes anywhere or in order.
    fn sizes(&self, pattern: Pattern) -> Result<Sizes, Error> {
        let Some(Blocks(blocks)) = &self.bs else {
            let is_in_order = matches!(pattern, Pattern::Read | Pattern::Write);
            return Ok(Sizes::all(if is_in_order { BLOCK_IN_ORDER } else { BLOCK }));
        };
        let bad = |why: String, hint: &str| fault("bs", Blocks(blocks.clone()), why, hint);
        // 1
        if blocks.iter().any(|(Size(size), _)| size.0 == 0) {
            return Err(bad("a block has a byte at least".to_owned(), "take a larger one"));
        }
        if blocks.iter().any(|(Size(size), _)| *size > LARGEST_BLOCK) {
            return Err(bad(format!("a block has at most {LARGEST_BLOCK}"), "take a smaller one"));
        }
        // 2
        let example = "write the size alone, or several with percentages as in --bs 4KiB:60,64KiB:40";
        let shares = blocks.iter().map(|(Size(size), percent)| Some((size.0 as u32, u8::try_from((*percent)?).ok()?)));
        let shares = match &blocks[..] {
            [(Size(size), None)] => return Ok(Sizes::all(size.0 as u32)),
            _ if blocks.len() > MOST_SIZES => {
                return Err(bad(format!("there are {} sizes, and {MOST_SIZES} at most", blocks.len()), example));
            }
            _ => match shares.collect::<Option<Vec<(u32, u8)>>>() {
                Some(shares) => shares,
                None => return Err(bad("each of several sizes has a percentage of 0 to 100".to_owned(), example)),
            },
        };
        let sum: u32 = shares.iter().map(|(_, percent)| u32::from(*percent)).sum();
        if sum != 100 {
            return Err(bad(format!("the percentages are {sum} together, not 100"), "make them 100"));
        }
        // 3
        let Some(sizes) = Sizes::shared(&shares) else {
            let smallest = Bytes(shares.iter().map(|(bytes, _)| u64::from(*bytes)).min().unwrap_or_default());
            let why = format!("not all of them are multiples of the smallest, {smallest}");
            return Err(bad(why, "take sizes that are, as 4KiB and 64KiB"));
        };
        // 4
        let needs_one = match self.order {
            _ if pattern == Pattern::Commit => Some("the records of commit are all of one size"),
            Some(Order(Drawing::Permutation)) => Some("--order permutation touches blocks of one size"),
            _ if self.stride.is_some() => Some("--stride goes from block to block of one size"),
            _ => None,
        };
        match needs_one {
            Some(why) if sizes.only().is_none() => Err(bad(why.to_owned(), "name one size")),
            _ => Ok(sizes),
        }
    }

    fn drawing(&self, pattern: Pattern, sizes: Sizes) -> Result<Drawing, Error> {
        let Some(Order(drawing)) = self.order else { return Ok(Drawing::default()) };
        let bad = |why: String, hint: &str| Err(fault("order", Order(drawing), why, hint));
        if !matches!(pattern, Pattern::RandomRead | Pattern::RandomWrite | Pattern::RandomMix { .. }) {
            let hint = "leave out --order, or take randread, randwrite or randrw";
            return bad(format!("{} goes through its file from the beginning", pattern.name()), hint);
        }
        match drawing {
            Drawing::Zipf { thousandths } if !(1..=STEEPEST).contains(&thousandths) => {
                let why = format!("the exponent is more than 0 and at most {}", Thousandths(STEEPEST));
                bad(why, "0.99 is what many key-value loads are said to follow; the larger, the fewer blocks are hot")
            }
            Drawing::Permutation if sizes.only().is_none() => bad("there are several --bs".to_owned(), "name one size"),
            _ => Ok(drawing),
        }
    }

    fn stride(&self, pattern: Pattern, sizes: Sizes) -> Result<Option<u64>, Error> {
        let Some(Size(stride)) = self.stride else { return Ok(None) };
        let block = Bytes(sizes.largest().into());
        let bad = |why: String, hint: &str| Err(fault("stride", Size(stride), why, hint));
        if !matches!(pattern, Pattern::Read | Pattern::Write) {
            let hint = "leave out --stride, or take read or write";
            return bad(format!("{} does not go from block to block in order", pattern.name()), hint);
        }
        if stride < block {
            return bad(format!("blocks of {block} (--bs) would overlap"), "take a stride of at least a block");
        }
        if !stride.0.is_multiple_of(block.0) {
            return bad(format!("it is no multiple of the {block} of a block (--bs)"), "take a multiple of --bs");
        }
        Ok(Some(stride.0))
    }

    /// What its writes wait for, and after how many an fsync comes. What does not write waits for nothing, and a commit
    /// has its own.
    fn waits(&self, pattern: Pattern) -> Result<(Durability, Option<u32>), Error> {
        let (key, given) = match (self.sync, self.fsync) {
            (Some(sync), _) => ("sync", sync.name().to_owned()),
            (None, Some(every)) => ("fsync", every.to_string()),
            (None, None) => return Ok((Durability::None, None)),
        };
        if pattern == Pattern::Commit {
            let why = "each record of commit is durable (fdatasync) before the next";
            return Err(fault(key, given, why, "leave it out, or take write or randwrite"));
        }
        if !pattern.writes() {
            let why = format!("{} writes nothing that could be made durable", pattern.name());
            return Err(fault(key, given, why, "leave it out, or take write, randwrite or randrw"));
        }
        if self.fsync == Some(0) {
            return Err(fault("fsync", 0, "it comes after at least one write", "leave it out, or take 1 or more"));
        }
        let sync = match self.sync {
            None => Durability::None,
            Some(SyncName::Dsync) => Durability::Data,
            Some(SyncName::Sync) => Durability::File,
        };
        Ok((sync, self.fsync))
    }

    /// When a round ends.
    fn ends_after(&self) -> Nanos {
        self.time.map_or(TIME, |Time(time)| time)
    }

    fn thinking(&self) -> Result<Option<Nanos>, Error> {
        let Some(Time(span)) = self.think else { return Ok(None) };
        let bad = |why: &str, hint: &str| Err(fault("think", Time(span), why, hint));
        if let Some(depth) = self.iodepth.filter(|depth| *depth > 1) {
            let why = format!("who thinks between two operations has one under way, not --iodepth {depth}");
            return bad(&why, "leave out one of them; --jobs has several think at once");
        }
        if let Some(rate) = self.rate {
            return bad(&format!("--rate {rate} says when they begin"), "leave out --think or --rate");
        }
        let time = self.ends_after();
        if span >= time {
            let why = format!("a round (--time) is over after {}", Time(time));
            return bad(&why, "take a shorter pause or a longer --time");
        }
        Ok(Some(span))
    }

    fn jobs(&self) -> Result<u32, Error> {
        match self.jobs.unwrap_or(1) {
            jobs if (1..=MOST_JOBS).contains(&jobs) => Ok(jobs),
            jobs => {
                let why = format!("{jobs} is not in 1..={MOST_JOBS}");
                Err(fault("jobs", jobs, why, "each is a thread; --iodepth has more under way in one"))
            }
        }
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
            Some(_) if self.ends_after() > LONGEST_SCHEDULE => {
                let why = format!("a schedule (--rate) is for {} at most", Time(LONGEST_SCHEDULE));
                Err(fault("time", Time(self.ends_after()), why, "take a shorter one, and more --rounds"))
            }
            Some(rate) => Ok(Some((rate, arrivals))),
            None if self.arrivals.is_some() => {
                let why = "without --rate the next begins when one has returned";
                Err(fault("arrivals", arrivals.name(), why, "say --rate too, as in --rate 1000"))
            }
            None => Ok(None),
        }
    }

    /// Refuses a polling thread where there is no processor for it beside the program, and says so where there are too few
    /// for all.
    fn has_room_to_poll(&self, processors: usize) -> Result<(), Error> {
        let jobs = self.jobs.unwrap_or(1) as usize;
        if processors < 2 {
            let why = "the thread that polls takes a processor of its own, and there is one for all";
            return Err(fault("engine", "sqpoll", why, "take --engine uring"));
        }
        if 2 * jobs > processors {
            remark!(
                "{jobs} polling threads and as many programs share {processors} processors: without one of its own, each \
                 holds up what it serves"
            );
        }
        Ok(())
    }

    /// Refuses what memory that a file is mapped into cannot do.
    fn can_be_mapped(&self, pattern: Pattern) -> Result<(), Error> {
        let bad = |why: &str, hint: &str| Err(fault("engine", "mmap", why, hint));
        if self.direct {
            return bad("memory of the page cache is what is mapped (--direct goes past it)", "leave out --direct");
        }
        if self.sync.is_some() {
            return bad(
                "a copy waits for nothing, also where --sync is given",
                "take --fsync N, or leave out --engine",
            );
        }
        if pattern == Pattern::Commit || (pattern == Pattern::Write && self.stride.is_none()) {
            return bad("a file that is not there yet has nothing to map", "take randwrite, or write with --stride");
        }
        Ok(())
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
        // A ring that is polled has two entries for each.
        let most = if engine == Engine::Sqpoll { MOST_DEPTH / 2 } else { MOST_DEPTH };
        if !(1..=most).contains(&depth) {
            let why = format!("{depth} is not in 1..={most}");
            return bad(&why, "1 is one after the other, and no ring is deeper than the last of these");
        }
        if pattern == Pattern::Commit && depth > 1 {
            return bad("each commit waits for the one before it", "leave out --iodepth");
        }
        if pattern == Pattern::Commit && matches!(engine, Engine::Uring | Engine::Sqpoll) {
            let why = "each commit waits for the one before it, which is what plain calls do";
            return Err(fault("engine", engine.name(), why, "leave out --engine"));
        }
        if depth > 1 && matches!(engine, Engine::Posix | Engine::Mmap | Engine::Null) {
            let what = if engine == Engine::Mmap { "copies" } else { "plain calls" };
            let why = format!("{what} (--engine {}) come one after the other", engine.name());
            return bad(&why, "leave out --engine, or take --engine uring");
        }
        let needed = ring_memory(Overlap { depth, largest: block, writes: pattern.writes(), polled: false });
        if (depth > 1 || engine == Engine::Uring) && needed.0 > MOST_BYTES {
            let (block, most) = (Bytes(block.into()), Bytes(MOST_BYTES));
            let both = if pattern.writes() { ", with what is written," } else { "" };
            let why = format!("so many of {block}{both} are more than the {most} of a ring");
            return bad(&why, "take fewer at once, or a smaller --bs");
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
    fn a_thread_that_polls_needs_a_processor_beside_the_program() {
        let line = Line::try_parse_from("io randread --engine sqpoll --iodepth 8".split(' ')).expect("a line");
        let refused = line.load.has_room_to_poll(1).expect_err("one processor");
        assert!(refused.to_string().contains("a processor of its own"), "{refused}");
        assert!(line.load.has_room_to_poll(2).is_ok());
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
