//! A block trace as `blkparse` prints it, read line by line into the accesses that were made of a device. What follows
//! from them is decided in `derive`.
//!
//! Policy:
//!   1. requests are counted as they are queued (Q): that is what programs and the file system ask for, before requests are
//!      merged and ordered. Where a trace has none, as they are issued to the driver (D);
//!   2. of several devices the one with the most requests counts: what a device mapper asks for is asked for again below
//!      it;
//!   3. flushes, discards and requests without a place are counted apart, and are no accesses;
//!   4. what `blkparse` prints around the events (inputs, messages, the sums at the end) is passed over; any other line
//!      that is none ends the reading, with its number;
//!   5. no more is held than [`MOST_ACCESSES`], and no line is longer than [`LONGEST_LINE`].

mod derive;

use std::fmt;
use std::io::{self, BufRead};

pub use derive::Derived;

/// Requests that are held at once, 24 bytes each: a trace of more is cut off there, which is said. Ours: a busy drive
/// of today for some ten seconds, one of 1983 for a day.
pub const MOST_ACCESSES: usize = 1_000_000;

/// Bytes of a line. Ours: many times what `blkparse` prints of an event.
const LONGEST_LINE: u64 = 4096;

/// Devices that a trace can have; those after them count as other. Ours.
const MOST_DEVICES: usize = 256;

/// Bytes of a sector, as Linux counts them whatever the device has.
pub const SECTOR: u64 = 512;

/// The last sector that a request can reach: no device of Linux has more bytes than a signed number of 64 bits.
const LAST_SECTOR: u64 = (i64::MAX as u64) / SECTOR;

/// A request that reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, in nanoseconds since the trace began.
    pub at: u64,
    /// Its first sector.
    pub sector: u64,
    /// How many sectors.
    pub sectors: u32,
    /// Whether it reads.
    pub reads: bool,
}

/// Where requests were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// `Q`
    Queued,
    /// `D`
    Issued,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Queued => "queued (Q)",
            Stage::Issued => "issued (D)",
        })
    }
}

/// What a trace holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The device, as in `8,0`; empty of a trace without any event.
    pub device: String,
    /// Where its requests were counted.
    pub stage: Stage,
    /// Those that read or write, in the order of the trace.
    pub requests: Vec<Request>,
    /// Flushes of the device.
    pub flushes: u64,
    /// Discards and the like.
    pub others: u64,
    /// Requests of other devices.
    pub elsewhere: u64,
    /// Whether there was more than can be held.
    pub is_cut: bool,
}

/// Why a line is none of `blkparse`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub number: u64,
    /// What is wrong with it.
    pub why: &'static str,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    /// Nothing that is counted.
    Passed,
    /// The sums begin: there is no event after it.
    Sums,
    /// A request of a device, at one of the two stages.
    Event(&'a str, Stage, What),
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Access(Request),
    Flush,
    Other,
}

/// What is known of one device at one stage.
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

/// Reads a trace; says which line is none of it.
pub fn read(mut source: impl BufRead) -> io::Result<Result<Trace, BadLine>> {
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
        // Names of processes are bytes of any kind; everything before them is not.
        let text = String::from_utf8_lossy(&bytes);
        let (device, stage, what) = match line(text.trim_end()) {
            Ok(Line::Passed) => continue,
            Ok(Line::Sums) => break,
            Ok(Line::Event(device, stage, what)) => (device, stage, what),
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
        match what {
            What::Access(_) if held == MOST_ACCESSES => {
                is_cut = true;
                break;
            }
            What::Access(request) => {
                counted.requests.push(request);
                held += 1;
            }
            What::Flush => counted.flushes += 1,
            What::Other => counted.others += 1,
        }
    }
    Ok(Ok(choose(devices, beyond, is_cut)))
}

/// The stage and the device that count (1. and 2. of the policy).
fn choose(devices: Vec<(String, [Counted; 2])>, beyond: u64, is_cut: bool) -> Trace {
    let all = |stage: Stage| devices.iter().map(move |(_, counted)| counted[stage as usize].all());
    let stage = if all(Stage::Queued).sum::<u64>() > 0 { Stage::Queued } else { Stage::Issued };
    let seen = all(stage).sum::<u64>();
    // The first of those with the most.
    let busiest = devices.into_iter().rev().max_by_key(|(_, counted)| counted[stage as usize].requests.len());
    let (device, counted) = busiest.unwrap_or_default();
    let [queued, issued] = counted;
    let counted = match stage {
        Stage::Queued => queued,
        Stage::Issued => issued,
    };
    let elsewhere = beyond + seen - counted.all();
    let Counted { requests, flushes, others } = counted;
    Trace { device, stage, requests, flushes, others, elsewhere, is_cut }
}

/// What a line says: `8,0 1 1 0.000000000 697 Q R 223490 + 8 [kjournald]`.
fn line(text: &str) -> Result<Line<'_>, &'static str> {
    let mut fields = text.split_ascii_whitespace();
    let Some(device) = fields.next() else { return Ok(Line::Passed) };
    // As `CPU0 (8,0):` and `Total (8,0):`.
    if device.starts_with("CPU") || device == "Total" {
        return Ok(Line::Sums);
    }
    if device == "Input" {
        return Ok(Line::Passed);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_device =
        |text: &str| text.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor));
    if !is_device(device) {
        return Err("it does not begin with a device, as in 8,0");
    }
    let (Some(cpu), Some(sequence)) = (fields.next(), fields.next()) else { return Err("it ends too early") };
    if !is_number(cpu) || !is_number(sequence) {
        return Err("no processor and no number follow the device");
    }
    let at = fields.next().and_then(time).ok_or("it has no time, as in 0.000000000")?;
    let (Some(process), Some(action)) = (fields.next(), fields.next()) else { return Err("it ends too early") };
    if !is_number(process) {
        return Err("it has no process");
    }
    let stage = match action {
        "Q" => Stage::Queued,
        "D" => Stage::Issued,
        _ => return Ok(Line::Passed),
    };
    let kind = fields.next().ok_or("it does not name the operation of the request")?;
    let event = |what| Ok(Line::Event(device, stage, what));
    let (sector, plus) = (fields.next(), fields.next());
    let size = match plus {
        Some("+") => Some(fields.next().and_then(|text| text.parse::<u32>().ok()).ok_or("it has no size after the +")?),
        _ => None,
    };
    let is = |letter: char| kind.contains(letter);
    match size {
        _ if is('D') || is('E') => event(What::Other),
        None | Some(0) if is('F') => event(What::Flush),
        // A command of its own, with bytes in the place of a sector.
        None | Some(0) => event(What::Other),
        Some(sectors) if is('R') || is('W') => {
            let sector = sector.and_then(|text| text.parse::<u64>().ok()).ok_or("it has no sector")?;
            if sector > LAST_SECTOR - u64::from(sectors) {
                return Err("no device has such a sector");
            }
            if u64::from(sectors) * SECTOR > workload::LARGEST_ACCESS.0 {
                return Err("no request is so large");
            }
            event(What::Access(Request { at, sector, sectors, reads: is('R') }))
        }
        Some(_) => event(What::Other),
    }
}

/// Nanoseconds of `12.000000345`.
fn time(text: &str) -> Option<u64> {
    let (seconds, nanos) = text.split_once('.')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if nanos.len() != 9 || !is_number(nanos) || !is_number(seconds) {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;

    const EXAMPLE: &str = include_str!("example.txt");

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
    fn where_nothing_is_queued_what_is_issued_counts() {
        let issued: String =
            EXAMPLE.lines().filter(|line| !line.contains(" Q ")).map(|line| format!("{line}\n")).collect();
        let trace = trace(&issued).expect("a trace");
        assert_eq!((trace.stage, trace.requests.len()), (Stage::Issued, 2));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
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
    fn an_empty_trace_has_nothing() {
        for empty in ["", "\n\n", "CPU0 (8,0):\n Reads Queued: 0\n"] {
            let trace = trace(empty).expect("no bad line");
            assert_eq!((trace.requests.len(), trace.device.as_str()), (0, ""));
        }
    }

    #[test]
    fn what_is_behind_the_sums_is_no_trace() {
        assert_eq!(trace(&format!("{EXAMPLE}anything\n")).map(|trace| trace.requests.len()), Ok(6));
    }

    #[test]
    fn fuzz_block_traces() {
        let read = |input: &[u8]| {
            let trace = match super::read(input).expect("memory can be read") {
                Ok(trace) => trace,
                Err(BadLine { number, why }) => {
                    assert!(number <= 1 + input.iter().filter(|byte| **byte == b'\n').count() as u64);
                    return why.to_owned();
                }
            };
            match Derived::of(&trace) {
                // What is derived can be typed, and is the same again.
                Ok(derived) => {
                    assert_eq!(derived.mix.to_string().parse(), Ok(derived.mix));
                    assert!(derived.to_string().len() < 1000);
                    format!("{} reads {}", trace.stage, derived.mix.reads() / 250)
                }
                Err(why) => why.to_string(),
            }
        };
        let words = &["8,0", " Q ", " D ", " R ", " FWS ", " WS ", " + ", "CPU0 (8,0):", "\n", "0.000000001", "[x y]"];
        let one = "8,0 1 1 0.000000000 697 Q R 223490 + 8 [kjournald]\n";
        fuzz(&Subject::new("block traces", [EXAMPLE, one, ""], read).fast().with_words(words));
    }
}
