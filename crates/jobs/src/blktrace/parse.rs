//! Reads the output of `blkparse` line by line, and collects the accesses to one device.
//!
//! Policy:
//!   1. requests count when they are queued (Q): as programs and the file system issue them, before they are merged and
//!      sorted. If a trace has no queued requests, those issued to the driver (D) count;
//!   2. if there are several devices, the one with the most requests counts: a device below a device mapper gets the
//!      same requests again;
//!   3. flushes, discards and requests without a sector are counted, but are not accesses;
//!   4. other lines of `blkparse` (inputs, messages, the sums at the end) are skipped. Any other line is an error with
//!      its number;
//!   5. at most [`MOST_ACCESSES`] requests are kept, and a line has at most [`LONGEST_LINE`] bytes.

use std::fmt;
use std::io::{self, BufRead};

/// The maximum number of requests of a trace, 24 bytes each. The rest is not read, and the result says so. Chosen: some
/// ten seconds of a busy drive of today, or a day of one of 1983.
const MOST_ACCESSES: usize = 1_000_000;

/// The maximum number of bytes in a line. Chosen: many times the length of an event.
pub(crate) const LONGEST_LINE: u64 = 4096;

/// The maximum number of devices in a trace. Requests of later devices count as those of other devices. Chosen.
pub(crate) const MOST_DEVICES: usize = 256;

/// Bytes of a sector. Linux uses this unit for every device.
pub(crate) const SECTOR: u64 = 512;

/// The last sector: on Linux, the bytes of a device fit into a signed number of 64 bits.
pub(crate) const LAST_SECTOR: u64 = (i64::MAX as u64) / SECTOR;

/// A request that reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Nanoseconds since the trace began.
    pub at: u64,
    /// Its first sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// True if it reads.
    pub reads: bool,
}

/// The stage at which requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Action `Q`.
    Queued,
    /// Action `D`.
    Issued,
    /// Action `C`. Mixes do not count completions.
    Completed,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Queued => "queued (Q)",
            Stage::Issued => "issued (D)",
            Stage::Completed => "completed (C)",
        })
    }
}

/// The requests of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trace {
    /// The device, as in `8,0`; empty if the trace has no event.
    pub device: String,
    /// The stage at which they are counted.
    pub stage: Stage,
    /// Reads and writes, in the order of the trace.
    pub requests: Vec<Request>,
    /// Flushes of the device.
    pub flushes: u64,
    /// Discards and other commands.
    pub others: u64,
    /// Requests of other devices.
    pub elsewhere: u64,
    /// True if the trace has more requests, which were not read.
    pub is_cut: bool,
}

/// A line that `blkparse` cannot have printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    /// Its number, from 1.
    pub number: u64,
    /// The reason.
    pub why: &'static str,
}

/// A parsed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line that is not counted.
    Skipped,
    /// The first line of the sums. No event follows.
    Sums,
    /// A request of a device at a stage, and the nanoseconds since the trace began.
    Event(&'a str, Stage, Kind, u64),
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It reads or writes.
    Access(Request),
    /// It flushes the device.
    Flush,
    /// A discard or another command.
    Other,
}

/// Requests of one device at one stage.
#[derive(Debug, Default)]
struct Counted {
    requests: Vec<Request>,
    flushes: u64,
    others: u64,
}

impl Counted {
    fn all(&self) -> u64 {
        self.requests.len() as u64 + self.flushes + self.others
    }
}

/// Reads a trace, or finds a line that is not part of one.
pub(super) fn read(mut source: impl BufRead) -> io::Result<Result<Trace, BadLine>> {
    let mut devices: Vec<(String, [Counted; 2])> = Vec::new();
    let (mut beyond, mut held, mut is_cut) = (0, 0, false);
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let read = io::Read::take(&mut source, LONGEST_LINE + 1).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        if read as u64 > LONGEST_LINE {
            return Ok(Err(BadLine { number, why: "it is longer than any line of blkparse" }));
        }
        // Names of processes may contain any bytes; the fields before them are ASCII.
        let text = String::from_utf8_lossy(&bytes);
        let (device, stage, kind) = match line(text.trim_end()) {
            Ok(Line::Skipped) => continue,
            Ok(Line::Sums) => break,
            Ok(Line::Event(_, Stage::Completed, ..)) => continue,
            Ok(Line::Event(device, stage, kind, _)) => (device, stage, kind),
            Err(why) => return Ok(Err(BadLine { number, why })),
        };
        let place = devices.iter().position(|(known, _)| known == device);
        let place = place.or_else(|| {
            (devices.len() < MOST_DEVICES).then(|| {
                devices.push((device.to_owned(), Default::default()));
                devices.len() - 1
            })
        });
        let Some(place) = place else {
            beyond += 1;
            continue;
        };
        let counted = &mut devices[place].1[stage as usize];
        match kind {
            Kind::Access(_) if held == MOST_ACCESSES => {
                is_cut = true;
                break;
            }
            Kind::Access(request) => {
                counted.requests.push(request);
                held += 1;
            }
            Kind::Flush => counted.flushes += 1,
            Kind::Other => counted.others += 1,
        }
    }
    Ok(Ok(choose(devices, beyond, is_cut)))
}

/// Chooses the stage and the device: 1 and 2 of the policy.
fn choose(devices: Vec<(String, [Counted; 2])>, beyond: u64, is_cut: bool) -> Trace {
    let all = |stage: Stage| devices.iter().map(move |(_, counted)| counted[stage as usize].all());
    let stage = if all(Stage::Queued).sum::<u64>() > 0 { Stage::Queued } else { Stage::Issued };
    let seen = all(stage).sum::<u64>();
    // If several are equal, the first one.
    let busiest = devices.into_iter().rev().max_by_key(|(_, counted)| counted[stage as usize].requests.len());
    let (device, counted) = busiest.unwrap_or_default();
    let [queued, issued] = counted;
    let counted = match stage {
        Stage::Queued => queued,
        Stage::Issued | Stage::Completed => issued,
    };
    let elsewhere = beyond + seen - counted.all();
    let Counted { requests, flushes, others } = counted;
    Trace { device, stage, requests, flushes, others, elsewhere, is_cut }
}

/// Parses a line, as in `8,0 1 1 0.000000000 697 Q R 223490 + 8 [kjournald]`.
pub(crate) fn line(text: &str) -> Result<Line<'_>, &'static str> {
    let mut fields = text.split_ascii_whitespace();
    let Some(device) = fields.next() else { return Ok(Line::Skipped) };
    // As in `CPU0 (8,0):` and `Total (8,0):`.
    if device.starts_with("CPU") || device == "Total" {
        return Ok(Line::Sums);
    }
    if device == "Input" {
        return Ok(Line::Skipped);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_device =
        |text: &str| text.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor));
    if !is_device(device) {
        return Err("it does not begin with a device, as in 8,0");
    }
    let (Some(cpu), Some(sequence)) = (fields.next(), fields.next()) else { return Err("it ends too early") };
    if !is_number(cpu) || !is_number(sequence) {
        return Err("it has no CPU and no sequence number after the device");
    }
    let at = fields.next().and_then(time).ok_or("it has no time, as in 0.000000000")?;
    let (Some(process), Some(action)) = (fields.next(), fields.next()) else { return Err("it ends too early") };
    if !is_number(process) {
        return Err("it has no process");
    }
    let stage = match action {
        "Q" => Stage::Queued,
        "D" => Stage::Issued,
        "C" => Stage::Completed,
        _ => return Ok(Line::Skipped),
    };
    let operation = fields.next().ok_or("it does not name the operation of the request")?;
    let event = |kind| Ok(Line::Event(device, stage, kind, at));
    let (sector, plus) = (fields.next(), fields.next());
    let size = match plus {
        Some("+") => Some(fields.next().and_then(|text| text.parse::<u32>().ok()).ok_or("it has no size after the +")?),
        _ => None,
    };
    let is = |letter: char| operation.contains(letter);
    match size {
        _ if is('D') || is('E') => event(Kind::Other),
        None | Some(0) if is('F') => event(Kind::Flush),
        // A command of the driver has bytes instead of a sector.
        None | Some(0) => event(Kind::Other),
        Some(sectors) if is('R') || is('W') => {
            let sector = sector.and_then(|text| text.parse::<u64>().ok()).ok_or("it has no sector")?;
            if sector > LAST_SECTOR - u64::from(sectors) {
                return Err("the sector number is too large");
            }
            if u64::from(sectors) * SECTOR > workload::LARGEST_ACCESS.0 {
                return Err("the request size is too large");
            }
            event(Kind::Access(Request { at, sector, sectors, reads: is('R') }))
        }
        Some(_) => event(Kind::Other),
    }
}

/// Parses `12.000000345` into nanoseconds.
fn time(text: &str) -> Option<u64> {
    let (seconds, nanos) = text.split_once('.')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if nanos.len() != 9 || !is_number(nanos) || !is_number(seconds) {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos.parse().ok()?)
}

/// A trace with every kind of line.
#[cfg(test)]
pub(super) const EXAMPLE: &str = include_str!("../../samples/blkparse.txt");

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Result<Trace, BadLine> {
        read(text.as_bytes()).expect("memory can be read")
    }

    #[test]
    fn queued_requests_of_the_busiest_device_are_counted() {
        let trace = trace(EXAMPLE).expect("a trace");
        assert_eq!((trace.device.as_str(), trace.stage, trace.is_cut), ("8,0", Stage::Queued, false));
        assert_eq!((trace.requests.len(), trace.flushes, trace.others, trace.elsewhere), (6, 1, 2, 1));
        let first = Request { at: 2197, sector: 223_490, sectors: 8, reads: false };
        assert_eq!(trace.requests[0], first);
        assert_eq!(trace.requests.iter().filter(|request| request.reads).count(), 3);
    }

    #[test]
    fn issued_requests_count_if_none_are_queued() {
        let issued: String =
            EXAMPLE.lines().filter(|line| !line.contains(" Q ")).map(|line| format!("{line}\n")).collect();
        let trace = trace(&issued).expect("a trace");
        assert_eq!((trace.stage, trace.requests.len()), (Stage::Issued, 2));
    }

    #[test]
    fn an_invalid_line_is_reported_with_its_number() {
        let good = "8,0 1 1 0.000000000 697 Q R 223490 + 8 [x]";
        assert_eq!(trace(good).map(|trace| trace.requests.len()), Ok(1));
        for bad in [
            "hello",
            "8,0 1",
            "8;0 1 1 0.000000000 697 Q R 223490 + 8 [x]",
            "8,0 x 1 0.000000000 697 Q R 223490 + 8 [x]",
            "8,0 1 1 0.5 697 Q R 223490 + 8 [x]",
            "8,0 1 1 -0.000000000 697 Q R 223490 + 8 [x]",
            "8,0 1 1 99999999999999999999.000000000 697 Q R 223490 + 8 [x]",
            "8,0 1 1 0.000000000 x Q R 223490 + 8 [x]",
            "8,0 1 1 0.000000000 697 Q",
            "8,0 1 1 0.000000000 697 Q R x + 8 [x]",
            "8,0 1 1 0.000000000 697 Q R 223490 + x [x]",
            "8,0 1 1 0.000000000 697 Q R 18014398509481983 + 8 [x]",
            "8,0 1 1 0.000000000 697 Q R 223490 + 4294967295 [x]",
        ] {
            let line = trace(&format!("{good}\n\n{bad}\n{good}\n")).map_err(|bad| bad.number);
            assert_eq!(line, Err(3), "{bad}");
        }
        let endless = "8".repeat(10_000);
        assert_eq!(trace(&format!("{good}\n{endless}")).map_err(|bad| bad.number), Err(2));
    }

    #[test]
    fn an_empty_trace_has_no_requests() {
        for empty in ["", "\n\n", "CPU0 (8,0):\n Reads Queued: 0\n"] {
            let trace = trace(empty).expect("no bad line");
            assert_eq!((trace.requests.len(), trace.device.as_str()), (0, ""));
        }
    }

    #[test]
    fn lines_after_the_sums_are_not_read() {
        assert_eq!(trace(&format!("{EXAMPLE}anything\n")).map(|trace| trace.requests.len()), Ok(6));
    }
}
