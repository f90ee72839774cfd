//! Block traces: reads the requests of a program on a block device, with their times.
//!
//! Three formats are read. The first line that is neither empty nor a comment tells which one it is:
//!   - the text of `blkparse`, with the actions Q, D and C;
//!   - the CSV of Microsoft Research Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime;
//!   - the text of ftrace (`trace` in tracefs), with block_bio_queue, block_rq_issue and block_rq_complete.
//!
//! Policy:
//!   1. a request counts from its issue to the driver until it is complete. Bios queued before are counted for it;
//!   2. if there are several devices, the one with the most requests counts;
//!   3. times never go back. The last line ends with a newline. Otherwise the trace is damaged, and the error names the
//!      line;
//!   4. at most [`MOST_REQUESTS`] requests; a longer trace is an error, because its beginning alone predicts nothing;
//!   5. requests that are in flight at the end are left out and counted. If there are many, completions are missing,
//!      and that is an error. Discards and other commands are only counted;
//!   6. if the comments of ftrace or the sums of `blkparse` say that events are missing, that is an error. The rest of
//!      the sums is not read.

mod blkparse;
mod ftrace;
mod msr;
mod requests;

use std::io::{self, BufRead};

use units::Nanos;
use workload::{BlockTrace, TapeKind};

use crate::blktrace::parse::{LAST_SECTOR, LONGEST_LINE, SECTOR};
use crate::error::JobError;
use requests::Devices;

/// The most requests of a trace. As for mixes (`blktrace`): 40 bytes each in memory.
pub const MOST_REQUESTS: usize = 1_000_000;

/// A block trace that was read, and the counts of everything that is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTrace {
    /// The requests of the device.
    pub trace: BlockTrace,
    /// The device, as the trace names it.
    pub device: String,
    /// The format.
    pub format: &'static str,
    /// Discards and other commands of the device.
    pub others: u64,
    /// Requests of the device that were in flight at the end.
    pub unfinished: u64,
    /// Requests of other devices.
    pub elsewhere: u64,
}

/// A line that cannot be part of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BadLine {
    /// Its number, from 1; `None` if the whole trace is wrong.
    number: Option<u64>,
    /// The reason.
    why: String,
}

/// An event of a request or of a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TraceEvent {
    /// Nanoseconds on the clock of the trace.
    at: u64,
    /// The stage of the event.
    stage: EventStage,
    /// Read, write or flush; `None` for a discard or another command.
    kind: Option<TapeKind>,
    /// First sector.
    sector: u64,
    /// Number of sectors; 0 for a flush.
    sectors: u32,
}

/// The stage of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventStage {
    /// A bio entered the block layer.
    Queued,
    /// A request went to the driver.
    Issued,
    /// A request, or the first part of it, is complete.
    Completed,
}

/// A parsed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    /// A line without an event.
    Skipped,
    /// The sums of `blkparse` begin. No event follows.
    Sums,
    /// An event of a device.
    Event(&'a str, TraceEvent),
    /// A whole request: its device, its issue, and the moment of its completion.
    Request(&'a str, TraceEvent, u64),
}

/// A parser of lines.
type Parse = for<'a> fn(&'a str) -> Result<Line<'a>, &'static str>;

/// The name of a format, the test whether a line can be the first, and the parser.
type Format = (&'static str, fn(&str) -> bool, Parse);

/// The formats. The last one takes all other lines.
const FORMATS: [Format; 3] = [
    (ftrace::NAME, ftrace::is_first, ftrace::line),
    (msr::NAME, msr::is_first, msr::line),
    (blkparse::NAME, blkparse::is_first, blkparse::line),
];

/// Reads a trace to its end. `name` is its name in errors. `span` is the time from the start of the traced program
/// until it and its writes had ended, on the clock of the trace; without it, the trace starts with its first event and
/// ends with its last completion.
pub fn read(name: &str, source: impl BufRead, span: Option<(Nanos, Nanos)>) -> io::Result<Result<ReadTrace, JobError>> {
    let mut format = "unknown format";
    let read = read_lines(source, span, &mut format)?;
    Ok(read.map_err(|BadLine { number, why }| JobError::BadBlockTrace {
        name: name.to_owned(),
        line: number,
        format,
        why,
    }))
}

fn read_lines(
    mut source: impl BufRead,
    span: Option<(Nanos, Nanos)>,
    format: &mut &'static str,
) -> io::Result<Result<ReadTrace, BadLine>> {
    let mut devices = Devices::default();
    let mut parse: Option<Parse> = None;
    let (mut latest, mut bytes, mut is_in_sums) = (0, Vec::new(), false);
    for number in 1.. {
        let bad = |why: &str| Ok(Err(BadLine { number: Some(number), why: why.to_owned() }));
        bytes.clear();
        let read = io::Read::take(&mut source, LONGEST_LINE + 1).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        if read as u64 > LONGEST_LINE {
            return bad("it is longer than any line of a trace");
        }
        // Names of processes may contain any bytes; all other fields are ASCII.
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        // 6.
        if is_in_sums {
            if blkparse::has_gaps(text) {
                return bad("blkparse found gaps, so events are missing");
            }
            continue;
        }
        if parse.is_none() {
            let Some((name, _, known)) = FORMATS.iter().find(|(_, is_first, _)| is_first(text)) else {
                return bad("it is neither blkparse text nor MSR CSV nor ftrace text");
            };
            (*format, parse) = (name, Some(*known));
        }
        let Some(line) = parse else { continue };
        let parsed = match line(text) {
            Ok(Line::Skipped) => continue,
            Ok(Line::Sums) => {
                is_in_sums = true;
                continue;
            }
            Err(_) if bytes.last() != Some(&b'\n') => return bad("the trace ends within this line"),
            Err(why) => return bad(why),
            Ok(parsed) => parsed,
        };
        if bytes.last() != Some(&b'\n') {
            return bad("the trace ends within this line");
        }
        let (device, event, completed) = match parsed {
            Line::Event(device, event) => (device, event, None),
            Line::Request(device, event, completed) => (device, event, Some(completed)),
            Line::Skipped | Line::Sums => continue,
        };
        if event.at < latest {
            return bad("it is earlier than the line before: the trace is not sorted by time");
        }
        latest = event.at;
        if event.sector > LAST_SECTOR - u64::from(event.sectors) {
            return bad("the sector number is too large");
        }
        let Some(requests) = devices.of(device) else { continue };
        match completed {
            Some(completed) => requests.add_whole(event, completed),
            None => requests.add(event),
        }
        if devices.held() > MOST_REQUESTS {
            return bad(&format!("the trace has more than {MOST_REQUESTS} requests"));
        }
    }
    Ok(devices.busiest(format, span).map_err(|why| BadLine { number: None, why }))
}

/// Converts sectors to bytes. A request of a trace has at most 2^32 bytes.
fn bytes_of(sectors: u32) -> Option<u32> {
    u32::try_from(u64::from(sectors) * SECTOR).ok()
}

#[cfg(test)]
mod tests;
