//! `smallfb N SIZE`: creates small files, reads them, deletes them.

use clap::{Args, ValueEnum};
use report::layouts::lfs_programs as lines;
use units::{Bytes, Exit};
use workload::programs::lfs::{SmallFiles, SmallSync};
use workload::{FileOrder, Layout};

use crate::error::{Error, ProgramError};
use crate::lfs::{self, Benchmark, FlushArguments};
use crate::ui::consent::YesArguments;

/// The largest size of a small file: one call writes it, from memory that was prepared before.
const LARGEST: Bytes = Bytes::mib(64);

/// Size of the lab's flush file, of which only the printed line is known. A guess: the size with which its `largefb`
/// ran.
const CLASSIC_FLUSH_MB: u32 = 128;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  diskperf smallfb 10000 1024                       as the lab ran it
  diskperf smallfb 10000 1KiB --flush-file 4096     with less left in the page cache
  diskperf smallfb 1000 1024 --layout one --sync file

Prints, for each of creat, read and delete:
  creat: 10000 files in 1.234 sec = 8104 files/sec")]
pub struct SmallfbArguments {
    /// Number of files
    #[arg(value_name = "N", value_parser = lfs::count, allow_negative_numbers = true)]
    files: u32,
    /// Size of each file, as in 1024 or 4KiB
    #[arg(value_parser = lfs::size, allow_negative_numbers = true)]
    size: Bytes,
    /// Distribution of the files over the directories.
    #[arg(long, value_enum, default_value_t = LayoutChoice::Consecutive)]
    layout: LayoutChoice,
    /// Number of directories.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=MOST))]
    directories: u16,
    /// Order of the reads.
    #[arg(long, value_enum, default_value_t = OrderChoice::Creation)]
    order: OrderChoice,
    /// Syncs during the test.
    #[arg(long, value_enum, default_value_t = SyncChoice::Phase)]
    sync: SyncChoice,
    /// Seed of the random order and of the data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    flush: FlushArguments,
    #[command(flatten)]
    place: YesArguments,
    /// Print as the lab's program did: six decimals. Also uses a flush file, of 128 MB unless --flush-file gives a
    /// size.
    #[arg(long)]
    classic: bool,
}

/// The most directories. Each is open all the time, and a process may usually open 1024 files.
const MOST: i64 = 1000;

/// Distributions of the files over the directories.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LayoutChoice {
    /// The same number in each directory, consecutive files together
    Consecutive,
    /// File I in directory I modulo the number of directories
    Modulo,
    /// All in one directory
    One,
}

/// Orders of the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderChoice {
    /// The order of creation
    Creation,
    /// Random order
    Random,
}

/// Syncs during the test.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SyncChoice {
    /// No sync
    None,
    /// Every directory and the file system, at the end of creat and of delete
    Phase,
    /// The same, and every file before it is closed
    File,
}

impl SmallfbArguments {
    fn settings(&self) -> Result<SmallFiles, ProgramError> {
        if self.size > LARGEST {
            return Err(ProgramError::NotSmall { size: self.size, most: LARGEST });
        }
        Ok(SmallFiles {
            layout: match self.layout {
                LayoutChoice::Consecutive => Layout::Consecutive(self.directories),
                LayoutChoice::Modulo => Layout::Modulo(self.directories),
                LayoutChoice::One => Layout::One,
            },
            order: match self.order {
                OrderChoice::Creation => FileOrder::Creation,
                OrderChoice::Random => FileOrder::Random,
            },
            sync: match self.sync {
                SyncChoice::None => SmallSync::None,
                SyncChoice::Phase => SmallSync::Phase,
                SyncChoice::File => SmallSync::File,
            },
            seed: self.seed,
            flush: self.flush.bytes(self.classic.then_some(CLASSIC_FLUSH_MB)),
            ..SmallFiles::new(self.files, self.size.0 as u32)
        })
    }
}

pub fn run(arguments: &SmallfbArguments) -> Result<Exit, Error> {
    let settings = arguments.settings()?;
    let here = lfs::here()?;
    let small = SmallFiles { block_bytes: here.block_bytes(), ..settings };
    let files = u64::from(small.files) + u64::from(arguments.directories) + 1;
    lfs::check_room(&here, small.space(), files, arguments.place.yes)?;
    if arguments.order == OrderChoice::Random {
        crate::ui::output::remark(&format!("seed {}", small.seed));
    }
    let digits = lfs::digits(arguments.classic);
    let benchmark = Benchmark {
        program: &small.program(),
        seed: small.seed,
        flush: small.flush,
        heading: lines::small_files(u64::from(small.files), u64::from(small.bytes)),
        line: &|phase, elapsed| lines::small_phase(phase.name, phase.amount, elapsed, digits),
    };
    benchmark.run()
}
