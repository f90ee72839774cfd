//! `-- COMMAND`: a command of the user replaces the preset. `run` does not know this preset, because it needs a
//! command.

use report::Presentation;
use runner::execution::{ClaimedClock, MeasureOptions};
use stats::digits::significant;
use stats::figures::rate::{Average, RUNS};
use stats::figures::summary::{RateUnit, median};
use stats::judge::floor;
use stats::{Cell, ClockKind, Round};
use units::{Bytes, Nanos};
use workload::programs::command::Command;

use super::{Preset, Settings, Sizing};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::{Site, Target};

const RUNS_PER_SEC: RateUnit = RateUnit { name: RUNS, size: 1.0 };

/// Runs a command of the user.
pub const PRESET: Preset = Preset {
    name: "command",
    about: "A command of your own",
    // At least as many kept rounds as `quick`. A short command runs more often, until there are enough data to decide a
    // comparison. The first round is discarded: it brings the command itself, and everything that it reads elsewhere,
    // into the page cache.
    schedule: Schedule::UntilEnough { rounds: 1 + floor::RUNS as u32, promised: 5 },
    together: false,
    memory: None,
    sizing: Sizing::Fixed,
    before: Before::Nothing,
    options: MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None },
    rows: None,
    published: super::unpublished,
    findings,
    presentation: Presentation::PLAIN,
    entry: None,
};

/// The command on a target.
pub fn rows(command: Command, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let what = match &target.site {
        Site::Directory { .. } | Site::Image { .. } | Site::Volume(_) => {
            let space = settings.size.map_or(0, |size| size.0);
            return Ok(vec![Row::new(command.program(space), RUNS_PER_SEC)]);
        }
        Site::Simulated(_) => "a simulated machine",
        Site::File { .. } => "a file that is only read",
        Site::Device(_) => "a device as it is",
    };
    Err(CampaignError::NoFolder { target: target.name.clone(), what })
}

/// Sentences for what the table does not show: the median, the shortest and the longest run, the CPU time of a run, and
/// the device's work.
fn findings(cells: &[Cell]) -> Vec<String> {
    cells.iter().filter(|cell| cell.measured).filter_map(finding).collect()
}

fn finding(cell: &Cell) -> Option<String> {
    let kept: Vec<&Round> = cell.kept().collect();
    let runs = kept.len() as f64;
    if kept.is_empty() {
        return None;
    }
    let time = |seconds: f64| Nanos((seconds * 1e9) as u64);
    let elapsed: Vec<f64> = kept.iter().map(|round| round.elapsed_s(ClockKind::Durable)).collect();
    let (shortest, longest) =
        elapsed.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), s| (low.min(*s), high.max(*s)));
    // As in the table.
    let mean = time(cell.rate.as_ref().map_or(longest, |rate| 1.0 / rate.per_second));
    let elapsed = match (kept.len(), median(&elapsed)) {
        (all @ 2.., Some(median)) => {
            let range = format!("{} to {} in {all} rounds", time(shortest), time(longest));
            let average = match Average::of_marks(&cell.marks) {
                Average::Mean => "mean",
                Average::Trimmed => "trimmed mean",
            };
            format!("{average} {mean} a run until durable (median {}, {range})", time(median))
        }
        _ => format!("{mean} a run until durable"),
    };
    let cpu = time(kept.iter().map(|round| round.cpu_s.process).sum::<f64>() / runs);
    let device = match cell.io {
        Some(io) => {
            let each = |bytes: u64| Bytes((bytes as f64 / runs) as u64);
            let (read, written) = (each(io.device_read), each(io.device_written));
            let flushes = significant(io.flushes as f64 / runs, 2);
            format!(
                "meanwhile the device, with I/O of others, read {read}, wrote {written} and was flushed {flushes} times"
            )
        }
        None => "the device is not visible here".to_owned(),
    };
    Some(format!("{} on {}: {elapsed}; each took {cpu} of CPU time; {device}", cell.program, cell.target))
}
