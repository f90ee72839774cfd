//! The keys of a workload, each defined once: its name on the command line, in job files and in JSON, its type, the
//! range of its numbers, and its setting in fio. Also their defaults. `resolved_load` checks the ranges.

use std::ops::RangeInclusive;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};
use workload::{Drawing, FASTEST, Rates};

use crate::load_words::{ArrivalsName, Blocks, Engine, Order, PatternName, Rate, RateForms, Size, SyncName, Time};

/// A key of a workload: all but its type, which is that of its field in [`LoadSpec`].
pub(crate) struct Key {
    /// The name of the option of `diskperf io`, and of the key in job files and in JSON.
    pub name: &'static str,
    /// The names of the setting in fio. `export` uses the first one. Empty if fio has no such setting.
    pub fio: &'static [&'static str],
    /// The comment in a printed job file.
    pub about: &'static str,
    /// The permitted values of a number. All, if they depend on other keys or on the machine.
    pub range: RangeInclusive<u32>,
}

/// Defines the fields of [`LoadSpec`], and [`KEYS`]. Each key is `NAME: TYPE, fio NAMES, in RANGE, COMMENT;` after its
/// help and its attributes.
macro_rules! load_keys {
    (@range) => { 0..=u32::MAX };
    (@range $range:expr) => { $range };
    ($($(#[$attribute:meta])* $key:ident: $kind:ty, fio $fio:expr, $(in $range:expr,)? $about:literal;)*) => {
        /// A workload.
        #[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct LoadSpec {
            $($(#[$attribute])* pub $key: $kind,)*
        }

        /// The keys, by name.
        pub(crate) struct Keys {
            $(pub $key: Key,)*
        }

        /// The keys of a workload.
        pub(crate) static KEYS: Keys = Keys {
            $($key: Key {
                name: stringify!($key),
                fio: &$fio,
                about: $about,
                range: load_keys!(@range $($range)?),
            },)*
        };

        impl Keys {
            /// All keys, in the order of a printed job file.
            pub(crate) fn all(&self) -> impl Iterator<Item = &Key> {
                [$(&self.$key),*].into_iter()
            }
        }
    };
}

load_keys! {
    /// Pattern of reads and writes.
    #[arg(value_enum, value_name = "PATTERN")]
    pattern: PatternName, fio ["rw", "readwrite"], "randread, randwrite, randrw, read, write or commit";
    /// Block size: bytes of a read, a write or a record [default: 4KiB; 128KiB for read and write]. Mix several sizes
    /// by percentage, as in 4k:60,64k:40; each starts at a multiple of its size. k, M, G and KiB, MiB, GiB are powers
    /// of 1024; kB, MB, GB are powers of 1000.
    #[arg(long, value_name = "SIZE[:PERCENT],...", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    bs: Option<Blocks>, fio ["bs", "blocksize"], "block size, or sizes with percentages: 4KiB:60,64KiB:40";
    /// Queue depth: operations in flight at once [default: 1]. Depths above 1 use io_uring.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    iodepth: Option<u32>, fio ["iodepth"], "queue depth";
    /// Number of threads that run the workload at once [default: 1]. Each has its own file of --size and its own random
    /// places; with file:PATH, all read that file. Rates and CPU times are sums; latencies are over all threads.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    jobs: Option<u32>, fio ["numjobs"], in 1..=MOST_JOBS, "number of threads, each with its own file";
    /// Bypass the page cache (O_DIRECT).
    #[arg(long)]
    #[serde(default)]
    direct: bool, fio ["direct"], "bypass the page cache (O_DIRECT)";
    /// Time of a round, as in 10s [default: 2s]. read, write and commit end earlier, if they reach the end of the file.
    /// forever is a single round until Ctrl-C, which keeps the result; with --rate, it ends after 39 hours.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    #[schemars(with = "Option<String>")]
    time: Option<Time>, fio ["runtime", "timeout"], "time of a round";
    /// Run the workload for this time before each round without measuring it, as in 5s [default: none]. read, write and
    /// commit start over at the end of the file. The round begins at the beginning of the file, or with a new file.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    #[schemars(with = "Option<String>")]
    warmup: Option<Time>, fio ["ramp_time"], "time before each round that is not measured";
    /// Issue N operations per second, by all threads together, whether or not earlier ones have finished (open loop).
    /// Latency then counts from the intended start. Without --rate, a new operation starts when one has returned, and
    /// latency does not include operations delayed by a stall (coordinated omission). 700/300 in randrw: 700 reads and
    /// 300 writes per second, each with its own schedule, as rate_iops=700,300 in fio.
    #[arg(long, value_name = "N|READS/WRITES", allow_negative_numbers = true)]
    #[schemars(with = "Option<RateForms>")]
    rate: Option<Rate>, fio ["rate_iops"], in 1..=FASTEST, "operations per second, by all threads together";
    /// Time between the starts of --rate [default: constant].
    #[arg(long, value_enum)]
    arrivals: Option<ArrivalsName>, fio ["rate_process"], "time between operations: constant or poisson";
    /// Percentage of reads in randrw [default: 50].
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    reads: Option<u32>, fio ["rwmixread"], in 0..=100, "percentage of reads";
    /// Order of random blocks: replacement, permutation, or zipf:THETA as in zipf:0.99 [default: replacement].
    /// replacement draws each block from all blocks. permutation touches each block once, then each again in another
    /// order. zipf:THETA has hot blocks, spread over the file: the n-th hottest block is drawn in proportion to
    /// 1/n^THETA.
    #[arg(long, value_name = "ORDER")]
    #[schemars(with = "Option<String>")]
    order: Option<Order>, fio ["random_distribution"], "order of random blocks: replacement, permutation or zipf:0.99";
    /// Distance between the starts of blocks for read and write, as in 1MiB [default: --bs]. At the end of the file,
    /// the next pass starts one block later, until every block was touched once. write then overwrites an existing
    /// file.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    stride: Option<Size>, fio [], "distance between the starts of blocks";
    /// Pause between two operations, as in 1ms [default: none]. It lowers the rate; latencies do not include it. It
    /// begins when no operation is in flight.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    #[schemars(with = "Option<String>")]
    think: Option<Time>, fio ["thinktime"], "pause between two operations";
    /// Operations between two pauses of --think [default: 1]. The queue is never deeper than this.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    burst: Option<u32>, fio ["thinktime_blocks"], in 1..=u32::MAX, "operations between two pauses";
    /// Call fsync after every N writes, with no other operation in flight [default: never]. It lowers the rate, and has
    /// its own row of latencies. Write latencies do not include it; with --rate, they include the delay it causes.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    fsync: Option<u32>, fio ["fsync"], in 1..=u32::MAX, "call fsync after this many writes";
    /// Call fdatasync after every N writes, instead of fsync, in the same way [default: never].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    fdatasync: Option<u32>, fio ["fdatasync"], in 1..=u32::MAX, "call fdatasync after this many writes";
    /// Open the file so that each write returns when it is durable: dsync (O_DSYNC) or sync (O_SYNC) [default:
    /// neither].
    #[arg(long, value_enum)]
    sync: Option<SyncName>, fio ["sync"], "each write waits: dsync for its data, sync also for metadata";
    /// Way to issue operations [default: auto].
    #[arg(long, value_enum)]
    engine: Option<Engine>, fio ["ioengine"], "auto, posix, uring, sqpoll, mmap or null";
    /// Size of the file, as in 1GiB [default: 256MiB].
    #[arg(long, allow_negative_numbers = true)]
    #[schemars(with = "Option<String>")]
    size: Option<Size>, fio ["size"], "file size of each thread";
    /// Number of rounds [default: 5].
    #[arg(long, allow_negative_numbers = true)]
    rounds: Option<u32>, fio [], in 1..=MOST_ROUNDS, "number of rounds";
    /// Seed of every random order [default: 1].
    #[arg(long)]
    seed: Option<u64>, fio ["randseed"], "seed of every random order";
    /// Start with the whole file in the page cache [default: cold for reads through the page cache; file:PATH stays
    /// as it is].
    #[arg(long)]
    #[serde(default)]
    warm: bool, fio ["pre_read"], "start with the whole file in the page cache";
}

/// The default block sizes: of random patterns and commit, and of the sequential patterns.
pub(crate) const BLOCK: u32 = 4096;
pub(crate) const BLOCK_IN_ORDER: u32 = 128 * 1024;

/// The default percentage of reads in `randrw`.
pub(crate) const READS: u32 = 50;

/// The default time of a round.
pub(crate) const TIME: Nanos = Nanos::from_secs(2);

/// The default size of the file: written in a second or so, and larger than the cache of a drive.
pub const SIZE: Bytes = Bytes::mib(256);

/// The default number of rounds.
pub const ROUNDS: u32 = 5;

/// The default seed.
pub const SEED: u64 = 1;

/// The maximum number of rounds. Chosen: a round of the shortest test takes a few hundredths of a second with
/// everything around it, so a run with this number takes most of a day. The results of every round stay in memory until
/// the end.
pub const MOST_ROUNDS: u32 = 1_000_000;

/// The maximum number of threads. Chosen: each needs a megabyte of data, and half a megabyte of histograms for each
/// kind of operation; and few machines have more processors.
pub(crate) const MOST_JOBS: u32 = 512;

impl Key {
    /// The reason why a number outside the range is refused.
    pub(crate) fn limits(&self) -> String {
        format!("it must be from {} to {}", self.range.start(), self.range.end())
    }

    /// The setting that `export` writes. Panics if fio has none.
    pub(crate) fn setting(&self) -> &'static str {
        self.fio[0]
    }
}

impl LoadSpec {
    /// A workload of this pattern, with all defaults.
    pub fn new(pattern: PatternName) -> LoadSpec {
        LoadSpec { pattern, ..LoadSpec::default() }
    }

    /// True if its file exists before the round.
    pub fn has_file(&self) -> bool {
        !matches!(self.pattern, PatternName::Write | PatternName::Commit) || self.stride.is_some()
    }

    /// True if reads and writes have a schedule each, which sets their shares.
    pub(crate) fn has_two_rates(&self) -> bool {
        matches!(self.rate, Some(Rate(Rates::Apart { .. })))
    }

    /// The bytes of a block; `None` if there are several sizes.
    pub fn block(&self) -> Option<Bytes> {
        match &self.explicit().bs?.0[..] {
            [(size, _)] => Some(size.0),
            _ => None,
        }
    }

    /// The same workload with its defaults written out.
    pub fn explicit(&self) -> LoadSpec {
        let is_in_order = matches!(self.pattern, PatternName::Read | PatternName::Write);
        let is_random = matches!(self.pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw);
        let block = Size(Bytes(u64::from(if is_in_order { BLOCK_IN_ORDER } else { BLOCK })));
        let is_mix = self.pattern == PatternName::Randrw && !self.has_two_rates();
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
}
