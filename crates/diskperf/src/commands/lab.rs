//! What the lab's commands share: lines on standard output, everything else on standard error; a private
//! folder in the directory one stands in; and what the device's counters say against a figure.

use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;
use kernel::machine::Host;
use kernel::{Posix, Station, Workspace};
use report::lab::{Digits, FLUSH_FILE};
use units::{Bytes, Nanos};
use workload::programs::lab::FLUSH;
use workload::{Phase, Program, Reason};

use crate::error::Error;
use crate::exit::Exit;
use crate::output;
use crate::runner::{self, Claim, How, Milestone, PhaseRun, Stopped};
use crate::signals::Stop;
use crate::target::{Site, Target};

/// Where the lab's file benchmarks run: the directory one stands in.
const HERE: &str = ".";

/// A device that read less than this share of what a program read did not serve all of it.
const SERVED: f64 = 0.95;

/// How the original printed, and how it flushed.
#[derive(Clone, Debug, Args)]
pub struct FlushArguments {
    /// Make a file of so many MB (2^20 bytes) first, and read it through before each phase that reads. It
    /// drives out of memory as much as it is large.
    #[arg(long, value_name = "MB", value_parser = count, allow_negative_numbers = true)]
    flush_file: Option<u32>,
}

impl FlushArguments {
    /// Bytes of the flush file, where there is to be one; `default` MB where none was asked for.
    pub fn bytes(&self, default: Option<u32>) -> Option<u64> {
        self.flush_file.or(default).map(|megabytes| Bytes::mib(u64::from(megabytes)).0)
    }
}

/// How many digits to print.
pub fn digits(classic: bool) -> Digits {
    if classic { Digits::Classic } else { Digits::Meaningful }
}

/// A number of something on the command line.
pub fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("not a whole number from 1 to {}", u32::MAX)),
    }
}

/// A size on the command line.
pub fn size(text: &str) -> Result<Bytes, units::ParseBytesError> {
    text.parse()
}

/// What a command says, and what it is about to do, which only a terminal shows.
pub struct Voice {
    bar: ProgressBar,
    failed: Option<Error>,
}

impl Voice {
    /// A voice that has said nothing yet.
    pub fn new() -> Voice {
        Voice { bar: ProgressBar::new_spinner(), failed: None }
    }

    /// A line on standard output. If it cannot be written, `end` says so.
    pub fn line(&mut self, text: &str) {
        let printed = self.bar.suspend(|| output::print(&format!("{text}\n")));
        self.failed = self.failed.take().or(printed.err());
    }

    /// A line on standard error.
    pub fn remark(&self, text: &str) {
        self.bar.suspend(|| output::remark(text));
    }

    /// What goes on from here.
    pub fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// Clears the terminal's line. Fails where a line could not be written.
    pub fn end(self) -> Result<(), Error> {
        self.bar.finish_and_clear();
        self.failed.map_or(Ok(()), Err)
    }
}

/// One of the lab's file benchmarks.
pub struct Benchmark<'a> {
    /// What it runs.
    pub program: &'a Program,
    /// The seed of the data.
    pub seed: u64,
    /// Bytes of its flush file.
    pub flush: Option<u64>,
    /// Its first line.
    pub heading: String,
    /// The line of a phase that took so long.
    pub line: &'a dyn Fn(&Phase, Nanos) -> String,
}

/// Refuses what would not fit into the directory one stands in.
pub fn check_room(bytes: u64, files: u64) -> Result<(), Error> {
    let Ok(argument) = HERE.parse();
    let here = Target::resolve(&argument)?;
    here.check_room(bytes)?;
    match &here.site {
        Site::Directory { path, place } => match place.free_files {
            Some(free) if free < files => Err(Error::NoFiles { path: path.clone(), free, needed: files }),
            _ => Ok(()),
        },
        Site::Simulated { .. } => Ok(()),
    }
}

impl Benchmark<'_> {
    /// Runs it once, as the original did, in a folder of its own that is removed again. A line is printed as
    /// soon as its phase has ended.
    pub fn run(&self) -> Result<Exit, Error> {
        let mut voice = Voice::new();
        let space = Bytes(self.program.space);
        voice.remark(&format!("writes files of up to {space} in {HERE}; Ctrl-C leaves nothing behind"));
        voice.remark(&flush_remark(self.flush, Host::this().memory_bytes));
        voice.doing("making ready");
        let stop = Stop::on_signals()?;
        let station = Station { workspace: Some(Workspace::inside(HERE.as_ref())?), given: Vec::new() };
        let mut world = Posix::new(vec![station], self.program.largest_call, self.seed, stop.flag())?;
        let mut done = 0;
        let how = How { claim: Claim::Durable, timed: false };
        let performance = runner::perform_telling(&mut world, self.program, how, &mut |milestone| {
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
        let stopped = performance.stopped;
        if was_interrupted(stopped) {
            let shown = performance.phases.len().min(self.program.phases.len());
            let finished = self.program.phases[..shown].iter().filter(|phase| phase.name != FLUSH).count();
            voice.remark(&format!("interrupted after {finished} phases"));
        }
        voice.end()?;
        ended(stopped, HERE)
    }

    fn open(&self, voice: &mut Voice) {
        if self.flush.is_some() {
            voice.line(FLUSH_FILE);
        }
        voice.line(&self.heading);
    }

    fn report(&self, voice: &mut Voice, phase: &Phase, run: &PhaseRun) {
        if phase.name == FLUSH {
            return voice.remark(&format!("read the flush file through: {} bytes", run.tally().bytes_read));
        }
        voice.line(&(self.line)(phase, run.durable().unwrap_or(run.returned())));
        if phase.name.starts_with("read") {
            voice.remark(&reading_remark(phase.name, run));
        } else {
            let line = (self.line)(phase, run.returned());
            let returned = if run.durable().is_some() { format!("returned  {line}; ") } else { String::new() };
            voice.remark(&(returned + &writing_remark(phase.name, run)));
        }
    }
}

/// How a command ended whose program was stopped, or was not.
pub fn ended(stopped: Option<Stopped>, path: impl Into<PathBuf>) -> Result<Exit, Error> {
    match stopped {
        None => Ok(Exit::Done),
        Some(_) if was_interrupted(stopped) => Ok(Exit::Interrupted),
        Some(stopped) => Err(Error::Op { path: path.into(), failure: stopped.failure }),
    }
}

/// Whether the program was told to stop, and did not fail.
pub fn was_interrupted(stopped: Option<Stopped>) -> bool {
    stopped.is_some_and(|stopped| stopped.failure.reason == Reason::Interrupted)
}

/// What the flush file is good for. Nothing is claimed about coldness: nobody looked.
fn flush_remark(flush: Option<u64>, memory: Option<u64>) -> String {
    match (flush, memory) {
        (None, _) => "no flush file: what is read may come from memory (see --flush-file)".to_owned(),
        (Some(flush), Some(memory)) if flush < memory => format!(
            "the flush file of {} is smaller than the memory of {}: what is read may still come from there",
            Bytes(flush),
            Bytes(memory)
        ),
        (Some(flush), _) => format!("the flush file holds {}", Bytes(flush)),
    }
}

/// What the device's counters say of a phase that read.
pub fn reading_remark(what: &str, run: &PhaseRun) -> String {
    let Some(device) = run.witness.device else {
        return format!("{what}: no device can be seen, so how much came from memory is n.m.");
    };
    let bytes = run.tally().bytes_read;
    let share = device.read as f64 / bytes as f64;
    let moved = format!("{what}: the device read {} for these {}", Bytes(device.read), Bytes(bytes));
    if share < SERVED {
        return format!("{moved} ({:.0} %): the rest came from memory, or was never written", 100.0 * share);
    }
    moved
}

/// What the device's counters say of a phase that wrote.
fn writing_remark(what: &str, run: &PhaseRun) -> String {
    let (Some(device), Some(at_return)) = (run.witness.device, run.written_at_return) else {
        return format!("{what}: no device can be seen, so how much reached it is n.m.");
    };
    let bytes = run.tally().bytes_written;
    let of = if bytes > 0 { format!(" of {}", Bytes(bytes)) } else { String::new() };
    let text = format!("the device had written {}{of} by then", Bytes(at_return));
    match (run.durable(), device.written) {
        (None, 0) => format!("{what}: {text}: it is in memory only"),
        (None, _) => format!("{what}: {text}; nothing was waited for, the figure is that of the returned calls"),
        (Some(_), 0) => format!("{text} and nothing until durable: a device did not serve this"),
        (Some(_), written) => format!("{text}, {} until durable", Bytes(written)),
    }
}
