//! Code that the lab's commands share: lines on standard output, everything else on standard error; a private folder in
//! the current directory; and remarks that check the figures against the device's counters.

use std::path::PathBuf;

use campaign::error::CampaignError;
use campaign::judge;
use campaign::signals::Stop;
use campaign::targets::{Site, Target};
use clap::Args;
use kernel::observe::host::Host;
use kernel::{PathFault, Posix, Station, Workspace};
use report::layouts::lfs_programs::{Digits, FLUSH_FILE};
use runner::execution::{self, ClaimedClock, MeasureOptions, Milestone, PhaseResult, ProgramFailure};
use units::{Bytes, Exit, Nanos};
use workload::programs::lfs::FLUSH;
use workload::{CacheState, Phase, Program, Reason, Unproven};

use crate::error::Error;
use crate::ui::consent;
use crate::ui::output;
use crate::ui::status_line::StatusLine;

/// The folder of the lab's file benchmarks: the current directory.
const HERE: &str = ".";

/// If the device read less than this share of a program's bytes, it did not serve all of them.
const SERVED: f64 = 0.95;

/// Option for the flush file of the original program.
#[derive(Clone, Debug, Args)]
pub struct FlushArguments {
    /// Create a file of this many MB (2^20 bytes), and read it before each phase that reads, as the original did. This
    /// evicts up to as many bytes from the page cache. Without this option, diskperf evicts the test files themselves,
    /// and prints on standard error whether that is proven.
    #[arg(long, value_name = "MB", value_parser = count, allow_negative_numbers = true)]
    flush_file: Option<u32>,
}

impl FlushArguments {
    /// Bytes of the flush file; `None` without one. `default` MB, if the option is not given.
    pub fn bytes(&self, default: Option<u32>) -> Option<u64> {
        self.flush_file.or(default).map(|megabytes| Bytes::mib(u64::from(megabytes)).0)
    }
}

/// The digits of printed figures.
pub fn digits(classic: bool) -> Digits {
    if classic { Digits::Classic } else { Digits::Meaningful }
}

/// Parses a whole number above zero.
pub fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("not a whole number from 1 to {}", u32::MAX)),
    }
}

/// Parses a size on the command line.
pub fn size(text: &str) -> Result<Bytes, units::ParseBytesError> {
    text.parse()
}

/// Prints the lines of a command, and shows its current step if there is a terminal.
pub struct Voice {
    line: StatusLine,
    failed: Option<Error>,
}

impl Voice {
    /// A voice without lines and failures.
    pub fn new() -> Voice {
        Voice { line: StatusLine::new(), failed: None }
    }

    /// Prints a line on standard output. `end` reports a failure to write it.
    pub fn line(&mut self, text: &str) {
        let printed = self.line.aside(|| output::print_line(text));
        self.failed = self.failed.take().or(printed.err());
    }

    /// Prints a line on standard error.
    pub fn remark(&self, text: &str) {
        self.line.aside(|| output::remark(text));
    }

    /// Shows the step that begins now.
    pub fn doing(&self, what: &str) {
        self.line.say(what);
    }

    /// Clears the status line. An error if a line could not be written.
    pub fn end(self) -> Result<(), Error> {
        self.line.clear();
        self.failed.map_or(Ok(()), Err)
    }
}

/// One of the lab's file benchmarks.
pub struct Benchmark<'a> {
    pub program: &'a Program,
    /// Seed of the data.
    pub seed: u64,
    /// Bytes of the flush file, if there is one.
    pub flush: Option<u64>,
    /// The first printed line.
    pub heading: String,
    /// Formats the line of a phase from its elapsed time.
    pub line: &'a dyn Fn(&Phase, Nanos) -> String,
}

/// The current directory, as a target.
pub fn here() -> Result<Target, Error> {
    let Ok(argument) = HERE.parse();
    Ok(Target::resolve(&argument)?)
}

/// Refuses a benchmark that does not fit into the current directory. Asks if a benchmark is rarely meant to run there.
pub fn check_room(here: &Target, bytes: u64, files: u64, is_agreed: bool) -> Result<(), Error> {
    here.check_room(bytes)?;
    if let Site::Directory { path, place } = &here.site {
        consent::ask_place(is_agreed, path, place)?;
    }
    match &here.site {
        Site::Directory { path, place } if place.free_files.is_some_and(|free| free < files) => {
            let free = place.free_files.unwrap_or(0);
            Err(PathFault::NoFiles { path: path.clone(), free, needed: files }.into())
        }
        _ => Ok(()),
    }
}

impl Benchmark<'_> {
    /// Runs the benchmark once, as the original did, in a private folder that is removed afterwards. Prints the line of
    /// a phase as soon as the phase has ended.
    pub fn run(&self) -> Result<Exit, Error> {
        let mut voice = Voice::new();
        let space = Bytes(self.program.space);
        voice.remark(&format!("writes files of up to {space} in {HERE}; Ctrl-C leaves nothing behind"));
        voice.remark(&flush_remark(self.flush, Host::this().memory_bytes));
        voice.doing("making ready");
        let stop = Stop::on_signals()?;
        let station = Station { workspace: Some(Workspace::inside(HERE.as_ref())?), given: Vec::new() };
        let mut world = Posix::new(vec![station], self.program.largest_call, self.seed, stop.flag())?;
        world.heed_holding(stop.held());
        let mut done = 0;
        let options = MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None };
        let result = execution::perform_telling(&mut world, self.program, options, &mut |milestone| {
            match milestone {
                Milestone::Prepared => self.open(&mut voice),
                Milestone::PhaseDone(phase, run) => {
                    done += 1;
                    self.report(&mut voice, phase, run);
                }
            }
            if let Some(next) = self.program.phases.get(done) {
                voice.doing(next.name);
            }
        })?;
        let stopped = result.stopped;
        if was_interrupted(stopped) {
            let shown = result.phases.len().min(self.program.phases.len());
            let finished = self.program.phases[..shown].iter().filter(|phase| phase.name != FLUSH).count();
            voice.remark(&format!("interrupted after {finished} phases"));
        }
        voice.end()?;
        world.finish()?;
        if result.was_suspended && stopped.is_none() {
            return Err(CampaignError::Held.into());
        }
        ended(stopped, HERE)
    }

    fn open(&self, voice: &mut Voice) {
        if self.flush.is_some() {
            voice.line(FLUSH_FILE);
        }
        voice.line(&self.heading);
    }

    fn report(&self, voice: &mut Voice, phase: &Phase, run: &PhaseResult) {
        if phase.name == FLUSH {
            return voice.remark(&format!("read the flush file through: {} bytes", run.tally().bytes_read));
        }
        voice.line(&(self.line)(phase, run.durable().unwrap_or(run.returned())));
        if phase.name.starts_with("read") {
            voice.remark(&reading_remark(phase.name, run));
            if run.cache == CacheState::Cold {
                warnings(phase.name, false, run).iter().for_each(|warning| voice.remark(warning));
            }
        } else {
            let line = (self.line)(phase, run.returned());
            let returned = if run.durable().is_some() { format!("returned  {line}; ") } else { String::new() };
            voice.remark(&(returned + &writing_remark(phase.name, run)));
        }
    }
}

/// The exit status of a command whose program has ended or was stopped.
pub fn ended(stopped: Option<ProgramFailure>, path: impl Into<PathBuf>) -> Result<Exit, Error> {
    match stopped {
        None => Ok(Exit::Done),
        Some(_) if was_interrupted(stopped) => Ok(Exit::Interrupted),
        Some(stopped) => Err(CampaignError::Op { path: path.into(), failure: stopped.failure }.into()),
    }
}

/// True if the program was told to stop, and did not fail.
pub fn was_interrupted(stopped: Option<ProgramFailure>) -> bool {
    stopped.is_some_and(|stopped| stopped.failure.reason == Reason::Interrupted)
}

/// The remark about how diskperf keeps reads from being served by the page cache. It claims nothing about a flush file,
/// because the effect of that is not checked.
fn flush_remark(flush: Option<u64>, memory: Option<u64>) -> String {
    match (flush, memory) {
        (None, _) => {
            "no flush file: files are dropped from the page cache before reads, if possible (see below)".to_owned()
        }
        (Some(flush), Some(memory)) if flush < memory => format!(
            "the flush file of {} is smaller than the memory of {}: reads may still come from the page cache",
            Bytes(flush),
            Bytes(memory)
        ),
        (Some(flush), _) => format!("the flush file holds {}", Bytes(flush)),
    }
}

/// The remark about a phase that read: its cache state before, and how much of it the device read.
pub fn reading_remark(what: &str, run: &PhaseResult) -> String {
    let before = match run.cache {
        CacheState::Cold => "the file was not in the page cache before; ".to_owned(),
        CacheState::Warm => "the whole file was in the page cache before; ".to_owned(),
        CacheState::Unknown(Unproven::NotAsked) => String::new(),
        CacheState::Unknown(why) => format!("may come from memory: {why}; "),
    };
    let Some(device) = run.counters.device else {
        return format!("{what}: {before}no device is visible, so its share is n.m.");
    };
    let bytes = run.tally().bytes_read;
    let share = device.read as f64 / bytes as f64;
    let moved = format!("{what}: {before}the device read {} for these {}", Bytes(device.read), Bytes(bytes));
    let below = if run.counters.ends_in_a_file() { "; no block device is visible below it" } else { "" };
    match run.cache {
        _ if share >= SERVED => moved + below,
        CacheState::Cold => format!("{moved} ({:.0} %): the rest was never written, or is compressed", 100.0 * share),
        _ => format!("{moved} ({:.0} %): the rest came from memory, or was never written", 100.0 * share),
    }
}

/// The warnings of a phase that only read and claims to have read the device, with the same rules as in a preset.
pub fn warnings(what: &str, is_direct: bool, run: &PhaseResult) -> Vec<String> {
    let marks = judge::of_reads(is_direct, run);
    marks.iter().map(|mark| format!("{what}: warning {}: {}", mark.code.name(), mark.text)).collect()
}

/// The remark about a phase that wrote: how much the device had written. Without a sync, it says that the rate is that
/// until the last call returned.
fn writing_remark(what: &str, run: &PhaseResult) -> String {
    let returned = match run.durable() {
        None => format!("{what}: there was no sync, so this is the rate without one; "),
        Some(_) => String::new(),
    };
    let (Some(device), Some(at_return)) = (run.counters.device, run.written_at_return) else {
        return returned + "no device is visible, so how much reached it is n.m.";
    };
    let bytes = run.tally().bytes_written;
    let of = if bytes > 0 { format!(" of {}", Bytes(bytes)) } else { String::new() };
    let by_then = format!("{returned}the device had written {}{of} by then", Bytes(at_return));
    match (run.durable(), device.written) {
        (None, 0) => by_then + ": all data are only in memory",
        (None, _) => by_then,
        (Some(_), 0) => by_then + " and 0 B until durable: the data did not reach a device",
        (Some(_), written) => format!("{by_then}, {} until durable", Bytes(written)),
    }
}

#[cfg(test)]
mod tests {
    use runner::execution::ProgramResult;
    use workload::{Counters, CpuTime, DeviceBytes, Quiescence, Tally, TreeCounts};

    use super::*;

    /// A phase that moved these bytes, on a device that moved those.
    fn phase((read, written): (u64, u64), device: Option<(u64, u64)>, durable: bool) -> PhaseResult {
        let device = device.map(|(read, written)| DeviceBytes { read, written, flushes: 0 });
        PhaseResult {
            cache: CacheState::Unknown(Unproven::NotAsked),
            quiescence: Quiescence::default(),
            parts: vec![ProgramResult {
                returned: Nanos(1),
                data_durable: None,
                durable: durable.then_some(Nanos(2)),
                cpu: CpuTime::default(),
                ready: None,
                blocked_in_calls: None,
                tally: Tally { bytes_read: read, bytes_written: written, ..Tally::default() },
                tree_counts: TreeCounts::default(),
            }],
            counters: Counters { device, ..Counters::default() },
            written_at_return: device.map(|_| 0),
            dirtiness: None,
            unwritten: None,
            grown: None,
            allocation: None,
            first_reads: None,
            operations: Vec::new(),
            heat_map: None,
            latencies: None,
            intervals: Vec::new(),
            ceiling: None,
            ran_with_others: false,
            start: None,
        }
    }

    #[test]
    fn reads_not_served_by_the_device_are_flagged() {
        let read = |device| reading_remark("read", &phase((100 << 20, 0), device, false));
        assert!(read(Some((1 << 20, 0))).ends_with("(1 %): the rest came from memory, or was never written"));
        assert_eq!(read(Some((100 << 20, 0))), "read: the device read 100 MiB for these 100 MiB");
        assert!(read(Some((95 << 20, 0))).ends_with("for these 100 MiB"));
        assert!(read(None).contains("n.m."));
    }

    #[test]
    fn the_proven_cache_state_is_reported() {
        let read =
            |cache, read| reading_remark("read", &PhaseResult { cache, ..phase((1 << 20, 0), Some((read, 0)), false) });
        assert_eq!(
            read(CacheState::Cold, 1 << 20),
            "read: the file was not in the page cache before; the device read 1 MiB for these 1 MiB"
        );
        assert!(read(CacheState::Cold, 0).ends_with("(0 %): the rest was never written, or is compressed"));
        let blind = read(CacheState::Unknown(Unproven::Blind), 0);
        assert!(blind.starts_with("read: may come from memory: the page cache is not visible here; "), "{blind}");
    }

    #[test]
    fn writes_report_the_bytes_that_the_device_wrote() {
        let wrote = |bytes, device, durable| writing_remark("delete", &phase((0, bytes), device, durable));
        assert_eq!(
            wrote(1 << 20, Some((0, 5)), true),
            "the device had written 0 B of 1 MiB by then, 5 B until durable"
        );
        let unreached = "by then and 0 B until durable: the data did not reach a device";
        assert!(wrote(0, Some((0, 0)), true).ends_with(unreached));
        assert_eq!(
            wrote(0, Some((0, 0)), false),
            "delete: there was no sync, so this is the rate without one; the device had written 0 B by \
             then: all data are only in memory"
        );
        assert!(wrote(0, None, false).contains("without one; no device is visible"));
    }

    #[test]
    fn a_flush_file_smaller_than_memory_is_reported() {
        assert!(flush_remark(None, Some(1)).contains("dropped from the page cache"));
        assert!(flush_remark(Some(1 << 20), Some(2 << 20)).contains("smaller than the memory of 2 MiB"));
        assert_eq!(flush_remark(Some(2 << 20), Some(1 << 20)), "the flush file holds 2 MiB");
        assert_eq!(flush_remark(Some(2 << 20), None), "the flush file holds 2 MiB");
    }

    #[test]
    fn counts_are_whole_and_positive() {
        assert_eq!(count("128"), Ok(128));
        for bad in ["0", "-1", "1.5", "many", "", "4294967296"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
