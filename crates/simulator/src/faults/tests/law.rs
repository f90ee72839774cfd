//! Properties of devices with a law.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest};

use crate::LawDevice;
use crate::description::samples::law;
use crate::description::{Bucket, Counts, DeviceLaw, Flush, Gate, Limits, Tokens, WriteCache};

const SECOND: u64 = 1_000_000_000;

fn request(kind: TapeKind, bytes: u32) -> TapeRequest {
    TapeRequest { kind, offset: 0, bytes, pause: Nanos::ZERO }
}

/// Plays the requests at this depth on a new device.
fn play(law: &DeviceLaw, depth: u32, requests: Vec<TapeRequest>) -> Vec<Served> {
    law.check().expect("a possible law");
    let Ok(served) = LawDevice::new(law).play(&Tape { requests, depth, limit: Nanos(u64::MAX) });
    served
}

/// Time between the first and the last completion of `count` requests at depth 64.
fn flat_out(law: &DeviceLaw, kind: TapeKind, bytes: u32, count: usize) -> u64 {
    let served = play(law, 64, vec![request(kind, bytes); count]);
    served[count - 1].completed.0 - served[0].completed.0
}

pub(super) fn a_size_between_two_takes_a_time_between() -> bool {
    [(512, 100), (4096, 100), (8192, 200), (16_384, 400), (32_768, 800)].into_iter().all(|(bytes, micros)| {
        play(&law(), 1, vec![request(TapeKind::Read, bytes)])[0].completed == Nanos::from_micros(micros)
    })
}

pub(super) fn small_requests_pass_at_the_rate_of_the_gate() -> bool {
    let mut law = law();
    law.read_gate = Some(Gate { request: Nanos::from_micros(20), byte_picos: 1000 });
    flat_out(&law, TapeKind::Read, 4096, 101) == 100 * 20_000
}

pub(super) fn large_requests_pass_at_the_rate_of_the_gate() -> bool {
    let mut law = law();
    law.write_gate = Some(Gate { request: Nanos::from_micros(20), byte_picos: 5000 });
    flat_out(&law, TapeKind::Write, 16_384, 101) == 100 * 16_384 * 5
}

fn limited(limits: Limits, tokens: Tokens, rate: u64, burst_tokens: u64) -> DeviceLaw {
    let name = alloc::string::String::from("limit");
    let milli_tokens_per_second = rate * 1000;
    DeviceLaw { buckets: vec![Bucket { name, limits, tokens, milli_tokens_per_second, burst_tokens }], ..law() }
}

fn requests(unit_bytes: u32, counts: Counts) -> Tokens {
    Tokens::Requests { unit_bytes, counts }
}

/// 100 requests of credit, and then 1,000 per second. Writes are not limited.
pub(super) fn requests_beyond_the_burst_come_at_the_rate() -> bool {
    let law = limited(Limits::Reads, requests(0, Counts::Requests), 1000, 100);
    let read = flat_out(&law, TapeKind::Read, 4096, 1100) == SECOND;
    read && flat_out(&law, TapeKind::Write, 4096, 1100) < SECOND / 100
}

/// A megabyte of credit, and then 4,096,000 bytes per second.
pub(super) fn bytes_beyond_the_burst_come_at_the_rate() -> bool {
    let law = limited(Limits::All, Tokens::Bytes, 4_096_000, 409_600);
    flat_out(&law, TapeKind::Write, 4096, 1100) == SECOND
}

/// After all credit is used, a rest of 50 ms gives 50 requests at once.
pub(super) fn a_rest_gives_credit() -> bool {
    let law = limited(Limits::All, requests(0, Counts::Requests), 1000, 100);
    let mut device = LawDevice::new(&law);
    let mut serve = |at| device.serve(Nanos(at), TapeKind::Read, 0, 4096, 1).0 - 100_000;
    (0..100).for_each(|_| assert_eq!(serve(0), 0));
    let later = SECOND / 20;
    (0..50).all(|_| serve(later) == later) && serve(later) == later + SECOND / 1000
}

pub(super) fn a_request_of_four_bios_costs_four_tokens() -> bool {
    let elapsed = |counts| {
        let mut device = LawDevice::new(&limited(Limits::All, requests(0, counts), 1000, 4));
        let times = [0; 2].map(|at| device.serve(Nanos(at), TapeKind::Write, 0, 4096, 4).0);
        times[1] - times[0]
    };
    elapsed(Counts::Bios) == SECOND / 1000 * 4 && elapsed(Counts::Requests) == 0
}

pub(super) fn a_request_of_four_units_costs_four_tokens() -> bool {
    let law = limited(Limits::All, requests(4096, Counts::Requests), 1000, 4);
    flat_out(&law, TapeKind::Read, 16_384, 2) == SECOND / 1000 * 4
        && flat_out(&law, TapeKind::Read, 12_289, 2) == SECOND / 1000 * 4
}

pub(super) fn a_flush_takes_its_base() -> bool {
    play(&law(), 1, vec![request(TapeKind::Flush, 0)])[0].completed == Nanos::from_micros(50)
}

/// A write of 16,384 bytes takes 400 us, and draining it at 16,384,000 bytes per second takes 1,000 us from its start.
pub(super) fn a_flush_drains_what_was_written() -> bool {
    let mut law = law();
    law.flush = Some(Flush { base: Nanos::from_micros(50), drain_bytes_per_second: Some(16_384_000) });
    let served = play(&law, 1, vec![request(TapeKind::Write, 16_384), request(TapeKind::Flush, 0)]);
    served[1].completed == Nanos::from_micros(1050)
}

/// Room for ten writes, and then one per millisecond.
pub(super) fn a_full_cache_takes_writes_at_its_drain_rate() -> bool {
    let mut law = law();
    law.write_cache = Some(WriteCache { bytes: 163_840, drain_bytes_per_second: 16_384_000 });
    flat_out(&law, TapeKind::Write, 16_384, 110) == 100 * SECOND / 1000
}
