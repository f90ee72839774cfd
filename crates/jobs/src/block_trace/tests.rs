//! Tests of the formats, of the pairing of events, and of damaged traces.

use testkit::fuzz::{Subject, fuzz};
use workload::TracedRequest;

use super::*;

const BLKPARSE: &str = include_str!("../../samples/blkparse.txt");
const FTRACE: &str = include_str!("../../samples/ftrace.txt");
const MSR: &str = include_str!("../../samples/msr.csv");

fn read_text(text: &str) -> Result<ReadTrace, String> {
    read("x", text.as_bytes(), None).expect("memory can be read").map_err(|error| error.to_string())
}

fn request(kind: TapeKind, offset: u64, bytes: u32, (issued, completed): (u64, u64), bios: u16) -> TracedRequest {
    TracedRequest { issued: Nanos(issued), completed: Nanos(completed), kind, offset, bytes, bios }
}

#[test]
fn ftrace_requests_have_their_bios_and_their_last_completion() {
    let read = read_text(FTRACE).expect("a trace");
    let expected = [
        request(TapeKind::Write, 64 * 512, 8192, (10_000, 990_000), 2),
        request(TapeKind::Flush, 0, 0, (1_100_000, 4_990_000), 0),
        request(TapeKind::Write, 800 * 512, 4096, (5_000_000, 5_990_000), 1),
        request(TapeKind::Read, 5000 * 512, 131_072, (7_990_000, 8_990_000), 1),
    ];
    assert_eq!(read.trace.requests, expected);
    assert_eq!(read.trace.elapsed, Nanos(8_990_000));
    assert_eq!((read.device.as_str(), read.format, read.others, read.unfinished), ("7,0", "ftrace text", 1, 0));
}

#[test]
fn a_span_sets_the_start_and_the_end() {
    let span = Some((Nanos(100_000_000_000), Nanos(100_020_000_000)));
    let read = read("x", FTRACE.as_bytes(), span).expect("memory").expect("a trace");
    assert_eq!(read.trace.elapsed, Nanos(20_000_000));
    assert_eq!(read.trace.requests[0].issued, Nanos(20_000));
    // A program that does not use the device.
    let header = FTRACE.lines().next().expect("a line").to_owned() + "\n";
    let read = super::read("x", header.as_bytes(), span).expect("memory").expect("a trace");
    assert_eq!((read.trace.requests.len(), read.trace.elapsed), (0, Nanos(20_000_000)));
}

#[test]
fn blkparse_requests_are_those_that_complete() {
    let read = read_text(BLKPARSE).expect("a trace");
    let expected = request(TapeKind::Read, 1_000_000 * 512, 8192, (10_100_000 - 2197, 15_000_000 - 2197), 1);
    assert_eq!(read.trace.requests, [expected]);
    // The write at 223490 never completes.
    assert_eq!((read.device.as_str(), read.unfinished, read.elsewhere), ("8,0", 1, 0));
}

#[test]
fn msr_requests_have_their_response_times() {
    let read = read_text(MSR).expect("a trace");
    let first = request(TapeKind::Read, 7_014_609_920, 24_576, (0, 4_128_600), 1);
    assert_eq!((read.trace.requests.len(), read.trace.requests[0]), (3, first));
    assert_eq!((read.device.as_str(), read.elsewhere), ("usr,0", 1));
    let headed = format!("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n{MSR}");
    assert_eq!(read_text(&headed).map(|read| read.trace), Ok(read.trace));
}

#[test]
fn damaged_traces_are_refused_with_the_line() {
    let no_newline = FTRACE.trim_end();
    let cut = &FTRACE[..FTRACE.len() - 9];
    let swapped = {
        let mut lines: Vec<&str> = MSR.lines().collect();
        lines.swap(0, 1);
        lines.join("\n") + "\n"
    };
    let lost = FTRACE.replace("    kworker/1:1H-70 ", "CPU:1 [LOST 12 EVENTS]\n    kworker/1:1H-70 ");
    // The ring buffer of the kernel was full.
    let overwritten = FTRACE.replace("written: 14/14 ", "written: 14/1310720 ");
    // The sums come after the last event.
    let gaps = BLKPARSE.replace("Skips: 0 forward", "Skips: 1,043 forward");
    let sums = 1 + BLKPARSE.lines().position(|line| line.starts_with("Skips:")).expect("sums");
    for (text, expected) in [
        (&*overwritten, "line 3: the kernel wrote more events than its buffer held"),
        (&gaps, &format!("line {sums}: blkparse found gaps")),
        (no_newline, "line 22: the trace ends within this line"),
        (cut, "line 22: the trace ends within this line"),
        (&swapped, "line 2: it is earlier than the line before"),
        (&lost, "line 10: the kernel lost events here"),
        (&MSR.replace("Write,24", "Trim,24"), "line 3: its type is neither Read nor Write"),
        (&MSR.replace(",8192,", ",-8192,"), "line 2: it has no size"),
        (&format!("{MSR}8,0 1 1 0.000000000 697 D R 1 + 8 [x]\n"), "line 5: it has not seven fields"),
        (&FTRACE.replace("64 + 16 none", "64 16 none"), "line 10: it has no size after the sector"),
        ("\nhello\n", "(unknown format), line 2: it is neither"),
        ("", "it has no issued request"),
        ("8,0 1 1 0.000000000 697 D R 1 + 8 [x]\n", "it has no completed request"),
    ] {
        let error = read_text(text).expect_err(expected);
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

#[test]
fn a_trace_without_most_completions_is_truncated() {
    let mut text = String::new();
    for number in 0..100_u32 {
        text += &format!("8,0 1 1 0.{number:09} 697 D R {} + 8 [x]\n", number * 8);
    }
    text += "8,0 1 1 0.000001000 697 C R 0 + 8 [0]\n";
    let error = read_text(&text).expect_err("99 requests are in flight");
    assert!(error.contains("99 of 100 requests are not complete"), "{error}");
}

#[test]
fn fuzz_traces_of_requests() {
    let read = |input: &[u8]| match read("x", input, None).expect("memory can be read") {
        Ok(read) => {
            let requests = &read.trace.requests;
            assert!(requests.iter().all(|one| one.issued <= one.completed && one.completed <= read.trace.elapsed));
            assert!(requests.is_sorted_by_key(|one| one.issued));
            assert!(requests.iter().all(|one| (one.kind == TapeKind::Flush) == (one.bytes == 0)));
            format!("{} {} {}", read.format, requests.len().min(9), read.unfinished.min(2))
        }
        Err(JobError::BadBlockTrace { line, why, .. }) => {
            let lines = 1 + input.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert!(line.is_none_or(|line| line <= lines));
            why
        }
        Err(other) => panic!("{other}"),
    };
    let words = &["8,0", " Q ", " D ", " C ", "block_rq_issue: ", "block_rq_complete: ", ",Read,", " + ", "\n", "() "];
    fuzz(&Subject::new("traces of requests", [BLKPARSE, FTRACE, MSR], read).fast().with_words(words));
}
