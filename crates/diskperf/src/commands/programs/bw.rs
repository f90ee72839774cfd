//! `bw -b|-l DEVICE [N]`: the raw transfer rate and the raw latency of a device or file, only read.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use campaign::error::CampaignError;
use campaign::signals::Stop;
use clap::{ArgGroup, Args};
use kernel::observe::block_source::Storage;
use kernel::observe::mount;
use kernel::sys::name::Shown;
use kernel::{PathFault, Posix, Station};
use report::layouts::lfs_programs::{self as lines, Best};
use runner::execution::{self, ClaimedClock, MeasureOptions};
use units::{Bytes, Exit};
use workload::Program;
use workload::programs::lfs as programs;

use crate::documents::user_files;
use crate::error::{Error, ProgramError};
use crate::lfs::{self, Voice};

/// The lab's five transfers, in MB.
const TRANSFERS: [u32; 5] = [64, 128, 256, 512, 768];

/// The lab's seven numbers of reads.
const READS: [u32; 7] = [128, 256, 512, 1024, 2048, 4096, 8192];

/// The largest `--size`: two buffers of this size are in memory.
const LARGEST_READ: Bytes = Bytes::mib(64);

#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["bandwidth", "latency"])))]
#[command(after_help = "\
Examples:
  diskperf bw -b /dev/sda 64
  Timing device /dev/sda: 64 MB in 0.3210 seconds = 199.4 MB/sec

  diskperf bw -l /dev/sda 128
  Timing 128 reads on /dev/sda: 128 reads in 1.850 secs = 14.45 msec latency

Most devices need root. The lab's lines go to standard output, everything else to standard error.")]
pub struct BwArguments {
    /// Read N MB sequentially, and print MB/sec.
    #[arg(short = 'b')]
    bandwidth: bool,
    /// Read N random blocks, and print the latency of one in milliseconds.
    #[arg(short = 'l')]
    latency: bool,
    /// Block device or file to read
    device: PathBuf,
    /// Number of MB or of reads [default: the lab's series]
    #[arg(value_name = "N", value_parser = lfs::count, allow_negative_numbers = true)]
    amount: Option<u32>,
    /// Size of each read of -l, as in 4KiB [default: the logical block].
    #[arg(long, value_parser = lfs::size, conflicts_with = "bandwidth")]
    size: Option<Bytes>,
    /// Seed of the blocks that -l reads [default: a new one each time, as a cache may still hold the blocks of the last
    /// time]. It is printed.
    #[arg(long, conflicts_with = "bandwidth")]
    seed: Option<u64>,
    /// Print as the lab's program did: two decimals for -b, six for -l. It read and counted N+1 MB for N; so does this
    /// option.
    #[arg(long)]
    classic: bool,
}

pub fn run(arguments: &BwArguments) -> Result<Exit, Error> {
    let storage = storage(&arguments.device)?;
    let tests = if arguments.bandwidth {
        transfers(arguments, &storage)?
    } else {
        let block = block_bytes(arguments, &storage)?;
        reads(arguments, &storage, block)
    };
    for remark in tests.remarks.iter().chain(&state(&arguments.device, &storage)) {
        crate::ui::output::remark(remark);
    }
    time(arguments, &tests, storage.direct)
}

/// The programs to time.
struct Tests {
    programs: Vec<Program>,
    /// Remarks to print before the programs run.
    remarks: Vec<String>,
}

/// Inspects the path. Nothing is ever created, least of all under /dev.
fn storage(path: &Path) -> Result<Storage, Error> {
    if user_files::existing(path)?.is_dir() {
        return Err(PathFault::IsADirectory(path.to_owned()).into());
    }
    let storage = Storage::inspect(path).map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })?;
    storage.ok_or_else(|| PathFault::NotStorage(path.to_owned()).into())
}

/// The transfers of `-b`. Transfers of the series that the device cannot hold are left out, and a remark names them.
fn transfers(arguments: &BwArguments, storage: &Storage) -> Result<Tests, Error> {
    let holds = storage.bytes / Bytes::mib(1).0;
    let counted = |amount: u32| u64::from(amount) + u64::from(arguments.classic);
    let asked = arguments.amount.map_or(TRANSFERS.to_vec(), |amount| vec![amount]);
    let (fitting, left_out): (Vec<u32>, Vec<u32>) = asked.iter().partition(|amount| counted(**amount) <= holds);
    if fitting.is_empty() {
        // With `--classic`, one MB more is read than asked for.
        let most = holds.saturating_sub(counted(0));
        return Err(
            ProgramError::TooSmall { path: arguments.device.clone(), holds, needed: counted(asked[0]), most }.into()
        );
    }
    let programs = fitting.into_iter().map(|amount| programs::raw_bandwidth(counted(amount), storage.direct));
    let names: Vec<String> = left_out.iter().map(u32::to_string).collect();
    let remark = format!("left out {} MB: {} holds only {holds}", names.join(" "), arguments.device.shown());
    Ok(Tests { programs: programs.collect(), remarks: if names.is_empty() { Vec::new() } else { vec![remark] } })
}

/// Bytes of each read of `-l`.
fn block_bytes(arguments: &BwArguments, storage: &Storage) -> Result<u32, ProgramError> {
    let size = arguments.size.unwrap_or(Bytes(u64::from(storage.block_bytes)));
    let unit = if storage.direct { u64::from(storage.block_bytes) } else { 1 };
    let device = arguments.device.clone();
    if size > LARGEST_READ {
        return Err(ProgramError::LargeRead { size, most: LARGEST_READ });
    }
    if !size.0.is_multiple_of(unit) {
        return Err(ProgramError::UnevenRead { size, device, block: Bytes(unit) });
    }
    if size.0 > storage.bytes {
        return Err(ProgramError::LongRead { size, device, holds: Bytes(storage.bytes) });
    }
    Ok(size.0 as u32)
}

/// The reads of `-l`. Each number of reads has its own seed; otherwise it would read the same blocks again.
fn reads(arguments: &BwArguments, storage: &Storage, block: u32) -> Tests {
    let asked = arguments.amount.map_or(READS.to_vec(), |amount| vec![amount]);
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let blocks = storage.bytes / u64::from(block);
    let program = |(index, reads): (usize, &u32)| {
        programs::raw_latency(*reads, block, blocks, storage.direct, seed.wrapping_add(index as u64))
    };
    let seeds = match asked.len() {
        1 => format!("seed {seed}"),
        count => format!("seeds {seed} to {}", seed.wrapping_add(count as u64 - 1)),
    };
    Tests {
        programs: asked.iter().enumerate().map(program).collect(),
        remarks: vec![format!("random reads of {} in {}, {seeds}", Bytes(u64::from(block)), Bytes(storage.bytes))],
    }
}

/// A seed that is short enough to be typed again.
fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| u64::from(since.subsec_nanos()))
}

/// The remark if the figures are not the device's own; otherwise `None`.
fn state(path: &Path, storage: &Storage) -> Option<String> {
    let path = path.shown();
    let memory = storage.device.as_ref().and_then(mount::memory_below);
    if let Some(memory) = memory.or_else(|| storage.in_memory.then(|| "tmpfs".to_owned())) {
        return Some(format!("{path} is in memory ({memory}): these are not figures of a device"));
    }
    if storage.device.is_none() {
        return Some(format!("unverified: no block device is visible below {path}"));
    }
    (!storage.direct).then(|| format!("{path} does not support O_DIRECT: reads go through the page cache"))
}

/// Times the programs one after the other, and prints the summary of the series.
fn time(arguments: &BwArguments, tests: &Tests, is_direct: bool) -> Result<Exit, Error> {
    let mut voice = Voice::new();
    let stop = Stop::on_signals()?;
    let largest_call = tests.programs.iter().map(|program| program.largest_call).max().unwrap_or(0);
    let station = Station { workspace: None, given: vec![arguments.device.clone()] };
    let mut world = Posix::new(vec![station], largest_call, 0, stop.flag())?;
    world.heed_holding(stop.held());
    world.look_behind_files();
    let (device, digits) = (arguments.device.shown().to_string(), lfs::digits(arguments.classic));
    let mut figures = Vec::new();
    let (mut stopped, mut was_suspended) = (None, false);
    for (index, program) in tests.programs.iter().enumerate() {
        let amount = program.phases[0].amount;
        let what = if arguments.bandwidth { Bytes(amount).to_string() } else { format!("{amount} reads") };
        voice.doing(&format!("reading {what} ({} of {})", index + 1, tests.programs.len()));
        let result = execution::perform(
            &mut world,
            program,
            MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None },
        )?;
        (stopped, was_suspended) = (result.stopped, result.was_suspended);
        let Some(run) = result.phases.first() else { break };
        let seconds = run.returned().as_secs_f64();
        if arguments.bandwidth {
            let megabytes = amount / Bytes::mib(1).0;
            voice.line(&lines::bandwidth(&device, megabytes, run.returned(), digits));
            figures.push(megabytes as f64 / seconds);
        } else {
            voice.line(&lines::latency(&device, amount, run.returned(), digits));
            figures.push(1e3 * seconds / amount as f64);
        }
        voice.remark(&lfs::reading_remark(&what, run));
        if is_direct {
            lfs::warnings(&what, true, run).iter().for_each(|warning| voice.remark(warning));
        }
    }
    let (best, unit) = if arguments.bandwidth { (Best::Highest, "MB/sec") } else { (Best::Lowest, "msec") };
    for sentence in lines::series(&figures, best, unit) {
        voice.remark(&sentence);
    }
    if lfs::was_interrupted(stopped) {
        voice.remark(&format!("interrupted after {} of {} lines", figures.len(), tests.programs.len()));
    }
    voice.end()?;
    if was_suspended && stopped.is_none() {
        return Err(CampaignError::Held.into());
    }
    lfs::ended(stopped, &arguments.device)
}
