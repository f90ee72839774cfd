//! `largefb MB`: writes and reads one large file, sequentially and at random.

use clap::{Args, ValueEnum};
use report::layouts::lfs_programs as lines;
use units::{Bytes, Exit};
use workload::programs::lfs::{LARGE_CALL, LargeFile, LargeOrder};

use crate::error::{Error, ProgramError};
use crate::lfs::{self, Benchmark, FlushArguments};
use crate::ui::consent::YesArguments;

/// The default stride, that of an ancestor of `largefb`.
const STRIDE: u32 = 11;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  diskperf largefb 128                              as the lab ran it
  diskperf largefb 1024 --flush-file 8192           with less left in the page cache
  diskperf largefb 128 --random replacement --seed 7

Prints, for each phase:
  writing 134217728 sequential bytes: 134217728 bytes in 0.2345 sec = 572400 KB/sec")]
pub struct LargefbArguments {
    /// Size of the file in MB (2^20 bytes)
    #[arg(value_name = "MB", value_parser = lfs::count, allow_negative_numbers = true)]
    megabytes: u32,
    /// Order of the random phases, which the lab's sources do not specify.
    #[arg(long, value_enum, default_value_t = RandomChoice::Permutation)]
    random: RandomChoice,
    /// Distance of --random stride, in blocks [default: 11, as in an older program].
    #[arg(long, value_name = "BLOCKS", value_parser = lfs::count, allow_negative_numbers = true)]
    stride: Option<u32>,
    /// Seed of the random order and of the data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    flush: FlushArguments,
    #[command(flatten)]
    place: YesArguments,
    /// Print as the lab's program did: six decimals. Unlike smallfb, this adds no flush file.
    #[arg(long)]
    classic: bool,
}

/// The largest file, in MB: the random order of its 2^28 blocks takes a GiB of memory.
const LARGEST: u32 = 1 << 20;

/// Orders of the random phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RandomChoice {
    /// Every block once, in random order
    Permutation,
    /// Each block drawn from all blocks: a third is never touched
    Replacement,
    /// Every block once, --stride blocks apart
    Stride,
}

impl LargefbArguments {
    fn settings(&self) -> Result<LargeFile, ProgramError> {
        if self.megabytes > LARGEST {
            return Err(ProgramError::TooLarge { megabytes: self.megabytes, most: LARGEST });
        }
        let order = match (self.random, self.stride) {
            (RandomChoice::Stride, stride) => LargeOrder::Stride(stride.unwrap_or(STRIDE)),
            (_, Some(stride)) => return Err(ProgramError::NoStride(stride.to_string())),
            (RandomChoice::Permutation, None) => LargeOrder::Permutation,
            (RandomChoice::Replacement, None) => LargeOrder::Replacement,
        };
        let bytes = Bytes::mib(u64::from(self.megabytes)).0;
        Ok(LargeFile { bytes, order, as_is: false, seed: self.seed, flush: self.flush.bytes(None) })
    }
}

pub fn run(arguments: &LargefbArguments) -> Result<Exit, Error> {
    let large = arguments.settings()?;
    lfs::check_room(&lfs::here()?, large.space(), 2, arguments.place.yes)?;
    if !matches!(large.order, LargeOrder::Stride(_)) {
        crate::ui::output::remark(&format!("seed {}", large.seed));
    }
    let digits = lfs::digits(arguments.classic);
    let benchmark = Benchmark {
        program: &large.program(),
        seed: large.seed,
        flush: large.flush,
        heading: lines::large_file(large.bytes / u64::from(LARGE_CALL), u64::from(LARGE_CALL)),
        line: &|phase, elapsed| lines::large_phase(phase.name, phase.amount, elapsed, digits),
    };
    benchmark.run()
}
