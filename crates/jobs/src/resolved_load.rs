//! Turns the keys of a workload into the load that runs, or reports the first key that is wrong.

use units::{Bytes, Nanos, whole};
use workload::programs::load::{Load, Pattern};
use workload::{Arrivals, Drawing, Durability, LONGEST_SCHEDULE, MOST_SIZES, Rates, STEEPEST, Sizes, Thousandths};

use crate::error::{JobError, LoadError};
use crate::load_spec::{BLOCK, BLOCK_IN_ORDER, KEYS, LoadSpec, MOST_ROUNDS, READS, TIME};
use crate::load_words::{ArrivalsName, Blocks, Order, PatternName, Rate, Size, SyncName, Time, name};
use crate::queue_depth::{Host, RingLimits};

/// The largest block: one call of Linux moves at most one page less than 2 GiB.
const LARGEST_BLOCK: Bytes = Bytes(1 << 30);

impl LoadSpec {
    /// The workload as this machine can run it, and a warning if its engine does not work as the keys say.
    pub fn load(&self, host: &Host) -> Result<(Load, Option<String>), JobError> {
        let pattern = self.pattern()?;
        let sizes = self.sizes(pattern)?;
        self.check_warm(pattern)?;
        check_rounds(self.rounds)?;
        self.check_endless()?;
        self.check_warmup()?;
        let (sync, fsync, fdatasync) = self.waits(pattern)?;
        let (drawing, stride, think) = (self.drawing(pattern, sizes)?, self.stride(pattern, sizes)?, self.think()?);
        let burst = self.burst(think)?;
        let (queue, warning) = self.queue(pattern, sizes.largest(), host)?;
        let load = Load {
            drawing,
            stride,
            direct: self.direct,
            sync,
            fsync,
            fdatasync,
            think,
            burst,
            queue,
            jobs: self.jobs()?,
            rate: self.rate()?,
            size: self.size.map(|Size(size)| size),
            warm: self.warm,
            warmup: self.warmup.map(|Time(time)| time).filter(|time| *time > Nanos::ZERO),
            ..Load::new(pattern, sizes, self.run_time())
        };
        Ok((load, warning))
    }

    /// Refuses a workload that no machine can run.
    pub fn check(&self, limits: RingLimits) -> Result<(), JobError> {
        self.load(&limits.on_any_machine()).map(drop)
    }

    /// True if it runs until Ctrl-C.
    pub fn is_endless(&self) -> bool {
        self.time == Some(Time::FOREVER)
    }

    /// Only a single round can run until Ctrl-C. A job file and `choose` have rounds of their own.
    fn check_endless(&self) -> Result<(), LoadError> {
        let bad = |why: &str, hint: &str| Err(LoadError::new("time", Time::FOREVER, why, hint));
        let is_random = matches!(self.pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw);
        match self.rounds {
            _ if !self.is_endless() => Ok(()),
            _ if !is_random => bad("this pattern ends at the end of its file", "use a random pattern, or a time"),
            Some(1) => Ok(()),
            _ => bad("only one round of `diskperf io` can run until Ctrl-C", "give a time, as in --time 10s"),
        }
    }

    /// A warm-up has an end, also that of a schedule.
    fn check_warmup(&self) -> Result<(), LoadError> {
        match self.warmup {
            Some(warmup) if warmup.0 > LONGEST_SCHEDULE => {
                let why = format!("a warm-up takes at most {}", Time(LONGEST_SCHEDULE));
                Err(LoadError::new("warmup", warmup, why, "use a shorter one"))
            }
            _ => Ok(()),
        }
    }

    /// The time limit of the load. Without an end, it is that of the schedule, if there is one.
    fn run_time(&self) -> Nanos {
        if self.is_endless() && self.rate.is_some() { LONGEST_SCHEDULE } else { self.time() }
    }

    fn check_warm(&self, pattern: Pattern) -> Result<(), LoadError> {
        if self.warm && self.direct {
            let why = "--direct bypasses the page cache, so nothing of the file can be in it";
            return Err(LoadError::new("warm", "", why, "leave out --warm or --direct"));
        }
        if self.warm && !self.has_file() {
            let why = format!("{} starts without a file, so the page cache cannot hold it", pattern.name());
            return Err(LoadError::new("warm", "", why, "leave it out, or use randwrite, or write with --stride"));
        }
        Ok(())
    }

    /// Checks the block sizes:
    ///   1. each is from one byte to the largest;
    ///   2. a single size has no percentage; several have one each, and these sum to 100;
    ///   3. each is a multiple of the smallest, so that they fill a file and none has two alignments;
    ///   4. commit, a permutation and a stride need a single size.
    fn sizes(&self, pattern: Pattern) -> Result<Sizes, LoadError> {
        let Some(Blocks(blocks)) = &self.bs else {
            let is_in_order = matches!(pattern, Pattern::Read | Pattern::Write);
            return Ok(Sizes::all(if is_in_order { BLOCK_IN_ORDER } else { BLOCK }));
        };
        let bad = |why: String, hint: &str| LoadError::new("bs", Blocks(blocks.clone()), why, hint);
        // 1
        if blocks.iter().any(|(Size(size), _)| size.0 == 0) {
            return Err(bad("a block has at least one byte".to_owned(), "use a larger one"));
        }
        if blocks.iter().any(|(Size(size), _)| *size > LARGEST_BLOCK) {
            return Err(bad(format!("a block has at most {LARGEST_BLOCK}"), "use a smaller one"));
        }
        // 2
        if let [(Size(size), None)] = &blocks[..] {
            return Ok(Sizes::all(size.0 as u32));
        }
        let shares = shares(blocks).map_err(|(why, hint)| bad(why, hint))?;
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

    fn drawing(&self, pattern: Pattern, sizes: Sizes) -> Result<Drawing, LoadError> {
        let Some(Order(drawing)) = self.order else { return Ok(Drawing::default()) };
        let bad = |why: String, hint: &str| Err(LoadError::new("order", Order(drawing), why, hint));
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

    fn stride(&self, pattern: Pattern, sizes: Sizes) -> Result<Option<u64>, LoadError> {
        let Some(Size(stride)) = self.stride else { return Ok(None) };
        let block = Bytes(sizes.largest().into());
        let bad = |why: String, hint: &str| Err(LoadError::new("stride", Size(stride), why, hint));
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

    /// The durability of each write, and the number of writes between two calls of fsync or fdatasync. Only patterns
    /// that write have them; commit has its own.
    fn waits(&self, pattern: Pattern) -> Result<(Durability, Option<u32>, Option<u32>), LoadError> {
        let (key, given) = match (self.sync, self.fsync, self.fdatasync) {
            (Some(sync), ..) => ("sync", name(sync)),
            (None, Some(every), _) => ("fsync", every.to_string()),
            (None, None, Some(every)) => ("fdatasync", every.to_string()),
            (None, None, None) => return Ok((Durability::None, None, None)),
        };
        if pattern == Pattern::Commit {
            let why = "commit already calls fdatasync after each record";
            return Err(LoadError::new(key, given, why, "leave it out, or use write or randwrite"));
        }
        if !pattern.writes() {
            let why = format!("{} does not write", pattern.name());
            return Err(LoadError::new(key, given, why, "leave it out, or use write, randwrite or randrw"));
        }
        for (key, every) in [(&KEYS.fsync, self.fsync), (&KEYS.fdatasync, self.fdatasync)] {
            if let Some(every) = every.filter(|every| !key.range.contains(every)) {
                let why = "it must be at least 1";
                return Err(LoadError::new(key.name, every, why, "leave it out, or use 1 or more"));
            }
        }
        if let (Some(_), Some(every)) = (self.fsync, self.fdatasync) {
            let why = "--fsync is given too, and only one of them can be used";
            return Err(LoadError::new("fdatasync", every, why, "leave out --fsync or --fdatasync"));
        }
        let sync = match self.sync {
            None => Durability::None,
            Some(SyncName::Dsync) => Durability::Data,
            Some(SyncName::Sync) => Durability::File,
        };
        Ok((sync, self.fsync, self.fdatasync))
    }

    /// The time of a round.
    fn time(&self) -> Nanos {
        self.time.map_or(TIME, |Time(time)| time)
    }

    fn think(&self) -> Result<Option<Nanos>, LoadError> {
        let Some(Time(span)) = self.think else { return Ok(None) };
        let bad = |why: &str, hint: &str| Err(LoadError::new("think", Time(span), why, hint));
        let burst = self.burst.unwrap_or(1);
        if let Some(depth) = self.iodepth.filter(|depth| *depth > burst) {
            let why = format!(
                "a pause after every {burst} operations allows at most {burst} in flight, not --iodepth {depth}"
            );
            return bad(&why, &format!("use --burst {depth}, or leave out --iodepth"));
        }
        if let Some(rate) = self.rate {
            return bad(&format!("--rate {rate} already sets the time of each start"), "leave out --think or --rate");
        }
        let time = self.time();
        if span >= time {
            let why = format!("the pause is not shorter than a round (--time {})", Time(time));
            return bad(&why, "use a shorter pause or a longer --time");
        }
        Ok(Some(span))
    }

    /// The number of operations between two pauses.
    fn burst(&self, think: Option<Nanos>) -> Result<u32, LoadError> {
        let bad = |burst, why: &str, hint: &str| Err(LoadError::new("burst", burst, why, hint));
        match (self.burst, think) {
            (None, _) => Ok(1),
            (Some(0), _) => bad(0, "nothing would run between two pauses", "use 1 or more"),
            (Some(burst), None) => {
                bad(burst, "without --think, no pause ends a burst", "add --think, as in --think 1ms")
            }
            (Some(burst), Some(_)) => Ok(burst),
        }
    }

    fn jobs(&self) -> Result<u32, LoadError> {
        match self.jobs.unwrap_or(1) {
            jobs if KEYS.jobs.range.contains(&jobs) => Ok(jobs),
            jobs => {
                let hint = "each job is a thread; --iodepth sets the operations in flight of each";
                Err(LoadError::new("jobs", jobs, KEYS.jobs.limits(), hint))
            }
        }
    }

    fn pattern(&self) -> Result<Pattern, LoadError> {
        let reads = match self.rate {
            Some(Rate(Rates::Apart { reads, writes })) if self.reads.is_none() => percent(reads, writes),
            _ => self.reads.unwrap_or(READS),
        };
        if !KEYS.reads.range.contains(&reads) {
            return Err(LoadError::new("reads", reads, "it is a percentage", "use 0 to 100"));
        }
        if self.reads.is_some() && self.pattern != PatternName::Randrw {
            let why = "only randrw mixes reads and writes";
            return Err(LoadError::new("reads", reads, why, "leave out --reads, or use randrw"));
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

    fn rate(&self) -> Result<Option<(Rates, Arrivals)>, LoadError> {
        let arrivals = match self.arrivals {
            Some(ArrivalsName::Poisson) => Arrivals::Poisson,
            Some(ArrivalsName::Constant) | None => Arrivals::Constant,
        };
        let bad = |rate, why: String, hint: &str| Err(LoadError::new("rate", rate, why, hint));
        match self.rate {
            Some(rate) if !rate.0.all().into_iter().all(|each| KEYS.rate.range.contains(&each)) => {
                bad(rate, KEYS.rate.limits(), "the unit is operations per second")
            }
            Some(rate) if self.has_two_rates() && self.pattern != PatternName::Randrw => {
                bad(rate, "only randrw has reads and writes".to_owned(), "give one number, or use randrw")
            }
            Some(rate) if self.has_two_rates() && self.reads.is_some() => {
                bad(rate, "it sets the shares of reads and writes, as --reads does".to_owned(), "leave out --reads")
            }
            Some(_) if self.time() > LONGEST_SCHEDULE && !self.is_endless() => {
                let why = format!("with --rate, a round takes at most {}", Time(LONGEST_SCHEDULE));
                Err(LoadError::new("time", Time(self.time()), why, "use a shorter one, and more --rounds"))
            }
            Some(Rate(rates)) => Ok(Some((rates, arrivals))),
            None if self.arrivals.is_some() => {
                let why = "it needs --rate";
                Err(LoadError::new("arrivals", arrivals.name(), why, "add --rate, as in --rate 1000"))
            }
            None => Ok(None),
        }
    }
}

/// The percentage of reads, rounded; a mix has some of both.
fn percent(reads: u32, writes: u32) -> u32 {
    let (reads, all) = (u64::from(reads), u64::from(reads) + u64::from(writes));
    ((100 * reads + all / 2) / all.max(1)).clamp(1, 99) as u32
}

/// Refuses a number of rounds outside its range.
pub(crate) fn check_rounds(rounds: Option<u32>) -> Result<(), LoadError> {
    match rounds.filter(|rounds| !KEYS.rounds.range.contains(rounds)) {
        None => Ok(()),
        Some(0) => Err(LoadError::new("rounds", 0, "nothing would be measured", "use 1 or more")),
        Some(rounds) => {
            let why = format!("at most {} rounds", whole(u64::from(MOST_ROUNDS)));
            Err(LoadError::new("rounds", rounds, why, "use fewer"))
        }
    }
}

/// Several sizes with percentages that sum to 100. Otherwise the reason, and a hint.
fn shares(blocks: &[(Size, Option<u32>)]) -> Result<Vec<(u32, u32)>, (String, &'static str)> {
    let example = "write one size without a percentage, or several as in --bs 4KiB:60,64KiB:40; --bs 4k..64k*4 sweeps";
    if blocks.len() > MOST_SIZES {
        return Err((format!("{} sizes are more than the {MOST_SIZES} allowed", blocks.len()), example));
    }
    let share = |(Size(size), percent): &(Size, Option<u32>)| {
        Some((size.0 as u32, (*percent).filter(|percent| *percent <= 100)?))
    };
    let Some(shares) = blocks.iter().map(share).collect::<Option<Vec<(u32, u32)>>>() else {
        return Err(("each of several sizes needs a percentage from 0 to 100".to_owned(), example));
    };
    let sum: u32 = shares.iter().map(|(_, percent)| percent).sum();
    match sum {
        100 => Ok(shares),
        _ => Err((format!("the percentages sum to {sum}, not to 100"), "change one so that they sum to 100")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use units::Exit;
    use workload::programs::load::Queue;

    use super::*;
    use crate::queue_depth::sample;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        load: LoadSpec,
    }

    fn line(words: &str) -> LoadSpec {
        Line::try_parse_from(words.split_whitespace()).expect("a line").load
    }

    fn decided(words: &str, no_ring: Option<&str>) -> Result<(Queue, Option<String>), JobError> {
        let host = Host { no_ring: no_ring.map(str::to_owned), ..sample() };
        line(&format!("io {words}")).load(&host).map(|(load, warning)| (load.queue, warning))
    }

    fn queue(words: &str) -> Queue {
        decided(words, None).unwrap_or_else(|error| panic!("{words}: {error}")).0
    }

    #[test]
    fn depths_above_one_use_the_ring_and_depth_one_uses_calls() {
        assert_eq!(queue("randread"), Queue::Sync);
        assert_eq!(queue("randread --iodepth 32"), Queue::Deep(32));
        assert_eq!(queue("randread --engine uring"), Queue::Deep(1));
        assert_eq!(queue("randread --engine null"), Queue::Null);
        assert_eq!(queue("write --stride 256KiB --engine mmap"), Queue::Mapped);
        assert_eq!(queue("write --stride 1MiB --warm"), Queue::Sync);
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
    fn the_buffers_of_a_ring_are_limited_at_depth_one_too() {
        for words in ["randwrite --bs 1GiB --engine uring", "randwrite --bs 1GiB --engine sqpoll"] {
            let refused = decided(words, None).expect_err(words).to_string();
            assert!(refused.contains("of a ring"), "{words}: {refused}");
        }
        assert_eq!(queue("randwrite --bs 1GiB"), Queue::Sync);
    }

    #[test]
    fn one_round_of_a_random_pattern_can_be_endless() {
        let load = |words: &str, rounds| LoadSpec { rounds, ..line(&format!("io {words} --time forever")) };
        let time = |spec: LoadSpec| spec.load(&sample()).map(|(load, _)| load.time).map_err(|error| error.to_string());
        assert_eq!(time(load("randread", Some(1))), Ok(Time::FOREVER.0));
        assert_eq!(time(load("randread --rate 1", Some(1))), Ok(LONGEST_SCHEDULE));
        for (refused, said) in [
            (load("randread", None), "--time forever: only one round"),
            (load("randread", Some(2)), "--time forever: only one round"),
            (load("read", Some(1)), "--time forever: this pattern ends"),
        ] {
            assert!(time(refused).expect_err(said).starts_with(said), "{said}");
        }
    }

    #[test]
    fn a_polling_thread_needs_a_processor() {
        let spec = line("io randread --engine sqpoll --iodepth 8");
        let on = |processors: usize| spec.load(&Host { processors, ..sample() });
        let refused = on(1).expect_err("one processor");
        assert!(refused.to_string().contains("--engine sqpoll"), "{refused}");
        assert_eq!(on(2).expect("two processors").1, None);
        let spec = LoadSpec { jobs: Some(2), ..spec };
        let (load, warning) = spec.load(&Host { processors: 2, ..sample() }).expect("two processors");
        assert_eq!(load.queue, Queue::Polled(8));
        assert!(warning.is_some_and(|warning| warning.contains("2 polling threads and 2 jobs share 2 processors")));
        assert!(spec.check(sample().limits).is_ok());
    }

    #[test]
    fn depth_is_one_without_io_uring_unless_it_was_requested() {
        let no_ring = Some("io_uring is forbidden");
        let (queue, warning) = decided("randread --iodepth 32", no_ring).expect("plain calls");
        assert_eq!(queue, Queue::Sync);
        assert!(warning.is_some_and(|warning| warning.starts_with("io_uring is forbidden; ")));
        assert_eq!(decided("randread --engine posix", no_ring).expect("plain calls"), (Queue::Sync, None));
        let refused = decided("randread --iodepth 32 --engine uring", no_ring).expect_err("no ring");
        assert_eq!((refused.to_string().as_str(), refused.exit()), ("io_uring is forbidden", Exit::Refused));
    }

    #[test]
    fn a_command_line_and_a_job_file_mean_the_same() {
        let line = "io randrw --bs 8KiB --iodepth 4 --direct --time 10s --rate 100 --arrivals poisson --reads 70 \
                    --engine uring --size 1GiB --rounds 3 --seed 7";
        let file = "pattern = 'randrw'\nbs = '8KiB'\niodepth = 4\ndirect = true\ntime = '10s'\nrate = 100\n\
                    arrivals = 'poisson'\nreads = 70\nengine = 'uring'\nsize = '1GiB'\nrounds = 3\nseed = 7\n";
        let read: LoadSpec = toml::from_str(file).expect("a load");
        assert_eq!(read, self::line(line));
        assert_eq!(toml::from_str("pattern = 'read'"), Ok(LoadSpec::new(PatternName::Read)));
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
