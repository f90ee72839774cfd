//! Replays with known times.

use proptest::prelude::*;
use workload::{Tape, TapePlayer, TapeRequest};

use super::*;
use crate::description::samples::law;
use crate::description::{Bucket, Counts, Flush, Gate, Limits, Tokens, WriteCache};

fn request(issued: u64, completed: u64, kind: TapeKind, bytes: u32) -> TracedRequest {
    TracedRequest { issued: Nanos(issued), completed: Nanos(completed), kind, offset: 0, bytes, bios: 1 }
}

/// A law with every mechanism.
fn whole() -> DeviceLaw {
    let bucket = |limits, tokens, rate: u64, burst_tokens| Bucket {
        name: alloc::format!("{tokens:?}"),
        limits,
        tokens,
        milli_tokens_per_second: rate,
        burst_tokens,
    };
    DeviceLaw {
        read_gate: Some(Gate { request: Nanos::from_micros(30), byte_picos: 4990 }),
        write_gate: Some(Gate { request: Nanos::from_micros(40), byte_picos: 3 }),
        buckets: vec![
            bucket(Limits::All, Tokens::Requests { unit_bytes: 8192, counts: Counts::Bios }, 1_500_333, 20),
            bucket(Limits::Writes, Tokens::Bytes, 9_000_001_000, 100_000),
        ],
        flush: Some(Flush { base: Nanos::from_micros(500), drain_bytes_per_second: Some(7_000_001) }),
        write_cache: Some(WriteCache { bytes: 100_000, drain_bytes_per_second: 7_000_001 }),
        ..law()
    }
}

/// The trace of a tape on a new device.
fn trace(law: &DeviceLaw, tape: &Tape, tail: Nanos) -> BlockTrace {
    let Ok(served) = LawDevice::new(law).play(tape);
    let elapsed = served.iter().map(|times| times.completed).max().unwrap_or(Nanos::ZERO) + tail;
    let traced = |(request, times): (&TapeRequest, &Served)| TracedRequest {
        issued: times.issued,
        completed: times.completed,
        kind: request.kind,
        offset: request.offset,
        bytes: request.bytes,
        bios: 1,
    };
    BlockTrace { requests: tape.requests.iter().zip(&served).map(traced).collect(), elapsed }
}

fn tapes() -> impl Strategy<Value = Tape> {
    let kind = prop_oneof![Just(TapeKind::Read), Just(TapeKind::Write), Just(TapeKind::Flush)];
    let request = (kind, 0..1000_u64, 1..64_u32, 0..2_000_000_u64).prop_map(|(kind, place, sectors, pause)| {
        let is_flush = kind == TapeKind::Flush;
        TapeRequest {
            kind,
            offset: place * 4096,
            bytes: if is_flush { 0 } else { sectors * 512 },
            pause: Nanos(if pause % 3 == 0 { 0 } else { pause }),
        }
    });
    (proptest::collection::vec(request, 0..200), 1..8_u32).prop_map(|(requests, depth)| Tape {
        requests,
        depth,
        limit: Nanos(u64::MAX),
    })
}

proptest! {
    /// A trace that the law has served takes the same times on the same law, to the nanosecond.
    #[test]
    fn a_replay_on_the_same_law_changes_nothing(tape in tapes(), tail in 0..1_000_000_u64) {
        let trace = trace(&whole(), &tape, Nanos(tail));
        let replay = replay(&whole(), &trace).expect("a law for all requests");
        let times: Vec<Served> = trace
            .requests
            .iter()
            .map(|request| Served { issued: request.issued, completed: request.completed })
            .collect();
        prop_assert_eq!(replay.served, times);
        prop_assert_eq!(replay.elapsed, trace.elapsed);
        prop_assert_eq!(replay.flushes_without_law, 0);
    }
}

#[test]
fn half_the_latency_halves_the_time_at_depth_1_and_keeps_the_pauses() {
    let pause = Nanos::from_micros(70);
    let read = TapeRequest { kind: TapeKind::Read, offset: 0, bytes: 8192, pause };
    let tape = Tape { requests: vec![read; 100], depth: 1, limit: Nanos(u64::MAX) };
    let trace = trace(&law(), &tape, Nanos::from_micros(5));
    assert_eq!(trace.elapsed, Nanos::from_micros(100 * (70 + 200) + 5));
    let mut half = law();
    let table = half.read_latency.as_mut().expect("a table");
    table.points.iter_mut().for_each(|point| point.time.0 /= 2);
    let replay = replay(&half, &trace).expect("a law for reads");
    assert_eq!(replay.elapsed, Nanos::from_micros(100 * (70 + 100) + 5));
    assert_eq!(replay.in_flight, Nanos::from_micros(100 * 100));
    assert_eq!(replay.reads, Moved { requests: 100, bytes: 819_200, time: Nanos::from_micros(10_000) });
    assert_eq!((replay.writes, replay.flushes), (Moved::default(), Moved::default()));
}

/// Two reads begin together, the third 10 us after the first was complete, the fourth 5 us after the third began.
#[test]
fn requests_wait_for_what_preceded_them() {
    let micro = 1000;
    let read = |issued: u64, completed: u64, bytes| request(issued * micro, completed * micro, TapeKind::Read, bytes);
    let requests = vec![read(7, 27, 4096), read(7, 90, 16_384), read(37, 57, 4096), read(42, 62, 4096)];
    let trace = BlockTrace { requests, elapsed: Nanos(100 * micro) };
    let replay = replay(&law(), &trace).expect("a law for reads");
    let times: Vec<[u64; 2]> =
        replay.served.iter().map(|times| [times.issued.0 / micro, times.completed.0 / micro]).collect();
    assert_eq!(times, [[7, 107], [7, 407], [117, 217], [122, 222]]);
    assert_eq!(replay.elapsed, Nanos(417 * micro));
    assert_eq!(replay.in_flight, Nanos(400 * micro));
}

/// Twelve writes take 30 ms each on a device that serves one at a time. Another one follows 100 ms later.
#[test]
fn writes_that_linux_held_back_follow_when_all_are_complete() {
    let milli = 1_000_000;
    let trace = |pause: u64| {
        let write = |issued: u64, completed: u64| request(issued * milli, completed * milli, TapeKind::Write, 4096);
        let mut requests: Vec<TracedRequest> = (1..=12).map(|place| write(0, 30 * place)).collect();
        requests.push(write(pause, 390));
        BlockTrace { requests, elapsed: Nanos(390 * milli) }
    };
    let law =
        |micros| DeviceLaw { write_gate: Some(Gate { request: Nanos::from_micros(micros), byte_picos: 0 }), ..law() };
    let replayed = |micros, pause| replay(&law(micros), &trace(pause)).expect("a law for writes").served;
    let fast = replayed(1000, 100);
    assert!(fast[11].completed < Nanos::from_millis(20), "{fast:?}");
    assert_eq!(fast[12].issued, fast[11].completed);
    assert_eq!(replayed(30_000, 100)[12].issued, Nanos::from_millis(100));
    // A program paused for 20 ms after the second write was complete.
    let paused = replayed(1000, 80);
    assert_eq!(paused[12].issued, paused[1].completed + Nanos::from_millis(20));
}

#[test]
fn kinds_without_a_law_are_named() {
    let law = DeviceLaw { write_latency: None, flush: None, ..law() };
    let flush = request(0, 10, TapeKind::Flush, 0);
    let trace = BlockTrace { requests: vec![flush, flush], elapsed: Nanos(20) };
    let outcome = replay(&law, &trace).expect("only flushes");
    assert_eq!((outcome.elapsed, outcome.flushes_without_law), (Nanos(10), 2));
    let trace = BlockTrace { requests: vec![request(0, 10, TapeKind::Write, 512)], elapsed: Nanos(20) };
    let refused = replay(&law, &trace).expect_err("writes have no law");
    assert_eq!(refused, NoLaw { kind: TapeKind::Write, requests: 1 });
}

#[test]
fn an_empty_trace_takes_its_tail() {
    let trace = BlockTrace { requests: vec![], elapsed: Nanos(20) };
    assert_eq!(replay(&law(), &trace).expect("nothing").elapsed, Nanos(20));
}
