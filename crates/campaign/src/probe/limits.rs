//! The limits at queue depth 32: gates, and token buckets.
//!
//! Policy:
//!   1. large requests come first and briefly, for the gate; small and middle ones are played until a bucket is empty;
//!   2. the limit of small requests is a bucket of requests. It is a bucket of bytes instead if small and middle
//!      requests have the same bytes per second;
//!   3. the limit of middle requests is a bucket of bytes. It is the bucket of requests instead if small and middle
//!      requests have the same rate, or if each middle request may cost a whole number of tokens;
//!   4. a gate with the rate of a bucket is not a gate: the bucket was empty;
//!   5. a burst counts only if the bucket was full, because it had gained more tokens than it can hold. If the rest was
//!      too short for that, a longer rest decides;
//!   6. a gate of small or middle reads that is more than twice as long as the latency is a bucket that holds one
//!      request: a request alone does not wait for it. No law can have such a gate.
//!
//! Any other bucket that holds less than two requests of 256 KiB looks like a gate.

use simulator::description::GATE_PER_LATENCY;
use stats::probe::gate::{AtSize, gate};
use stats::probe::knee::{Limit, limit};
use stats::probe::{BUCKET_FIRST, Estimate, Measured, NotMeasured};
use units::Nanos;
use workload::TapeKind;

use super::findings::{Bucket, Findings, Scope};
use super::hidden;
use super::session::{Player, Session, Step};

/// The queue depth of all limits.
pub(crate) const DEPTH: u32 = 32;

/// Small, middle and large requests.
pub(crate) const SMALL: u32 = 4096;
pub(crate) const MIDDLE: u32 = 262_144;
pub(crate) const LARGE: u32 = 1_048_576;

/// Time of a tape for a gate alone. Chosen: hundreds of requests on slow devices.
const BRIEF: Nanos = Nanos::from_millis(600);

/// Rest before the refill is measured.
const SHORT_REST: Nanos = Nanos::from_secs(1);

/// A bucket that gained this share of its burst is full again. A bucket was also full if it held less than this share
/// of the tokens that it gained.
const FULL_AGAIN: f64 = 0.9;

/// Rest of a bucket that was perhaps not full. Chosen: with it, the probe of a device takes less than a minute.
const LONG_REST: Nanos = Nanos::from_secs(8);

/// Rates this close are one rate.
const SAME: f64 = 0.05;

/// Most requests of a tape, which limits its memory to some tens of megabytes.
const MOST_REQUESTS: f64 = 1e6;

pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>, findings: &mut Findings) -> Result<(), P::Fault> {
    let rest = session.settings.rest;
    let long = session.settings.flat_out;
    // 1
    session.rest(rest)?;
    let large = play(session, findings, TapeKind::Read, LARGE, BRIEF)?;
    session.rest(rest)?;
    let small = play(session, findings, TapeKind::Read, SMALL, long)?;
    let small = without_credit(findings, SMALL, small);
    let refill = match small.rate {
        Ok(_) => refill(session, findings, small.reserve)?,
        Err(why) => Err(why),
    };
    let small = full(session, findings, small, SMALL)?;
    session.rest(rest)?;
    let middle = play(session, findings, TapeKind::Read, MIDDLE, long)?;
    let middle = full(session, findings, without_credit(findings, MIDDLE, middle), MIDDLE)?;
    let (requests, bytes) = buckets(&small, &middle);
    let refill = if requests.rate.is_ok() { refill } else { requests.rate };
    findings.requests = Bucket { refill, ..requests };
    findings.bytes = bytes;
    let of_reads = gates(findings, &small, &middle, &large);
    (findings.reads.gate_request, findings.reads.gate_byte) = of_reads;
    if !session.settings.writes {
        return Ok(());
    }
    let mut writes = Vec::new();
    for bytes in [LARGE, SMALL, MIDDLE] {
        session.rest(rest)?;
        writes.push(play(session, findings, TapeKind::Write, bytes, BRIEF)?);
    }
    let [large, small, middle] = &writes[..] else { return Ok(()) };
    (findings.writes.gate_request, findings.writes.gate_byte) = gates(findings, small, middle, large);
    findings.requests.scope = scope(session, findings, findings.requests.rate, (SMALL, 1.0))?;
    findings.bytes.scope = scope(session, findings, findings.bytes.rate, (MIDDLE, f64::from(MIDDLE)))?;
    Ok(())
}

/// The requests that a bucket limits. If it also limits writes, then writes of the size that empties it have its rate.
/// Each of them takes `each` tokens.
fn scope<P: Player>(
    session: &mut Session<'_, P>,
    findings: &Findings,
    of_reads: Measured,
    (size, each): (u32, f64),
) -> Result<Scope, P::Fault> {
    let Ok(of_reads) = of_reads else { return Ok(Scope::Reads) };
    // The steady rate of writes needs the whole bucket again.
    session.rest(session.settings.rest)?;
    let written = play(session, findings, TapeKind::Write, size, session.settings.flat_out)?;
    // After the bucket of reads was found, the same steady rate of writes is no coincidence, with or without a burst.
    let is_limited = is_same(of_reads.value, written.last * each);
    Ok(if is_limited { Scope::All } else { Scope::Unclear })
}

/// Plays requests of one size as fast as the device serves them, and finds their limit.
fn play<P: Player>(
    session: &mut Session<'_, P>,
    findings: &Findings,
    kind: TapeKind,
    bytes: u32,
    time: Nanos,
) -> Result<Limit, P::Fault> {
    session.begin(Step::Depth(kind, bytes));
    play_step(session, findings, kind, bytes, time)
}

/// Does the same as `play`, but as a part of the step that was begun.
fn play_step<P: Player>(
    session: &mut Session<'_, P>,
    findings: &Findings,
    kind: TapeKind,
    bytes: u32,
    time: Nanos,
) -> Result<Limit, P::Fault> {
    let table = if kind == TapeKind::Read { &findings.reads.latency } else { &findings.writes.latency };
    let latency = table.iter().find(|(size, _)| *size == bytes).map(|(_, latency)| *latency);
    let unknown = |why| Limit { rate: Err(why), reserve: Err(why), gate: Err(why), quickest: f64::NAN, last: f64::NAN };
    let Some(latency) = latency else {
        let why = NotMeasured::Hidden("the device does not take requests of this size");
        return Ok(unknown(why));
    };
    let Ok(latency) = latency else {
        let why = NotMeasured::Hidden("the latency is not measured");
        return Ok(unknown(why));
    };
    let count = (1000.0 + 2.0 * f64::from(DEPTH) * time.0 as f64 / latency.low.max(1.0)).min(MOST_REQUESTS);
    let tape = session.anywhere(kind, bytes, count as usize);
    let served = session.play(tape, DEPTH, time)?;
    let ends: Vec<u64> = served.iter().map(|served| served.completed.0).collect();
    let mut limit = limit(&ends, latency.value, DEPTH);
    for measured in [&mut limit.rate, &mut limit.reserve, &mut limit.gate] {
        *measured = session.undisturbed(*measured);
    }
    Ok(limit)
}

/// 6: a steady limit of reads as a bucket of one request, if it is too slow for a gate.
fn without_credit(findings: &Findings, bytes: u32, limit: Limit) -> Limit {
    let latency = findings.reads.latency.iter().find(|(size, _)| *size == bytes);
    match (limit.gate, latency) {
        (Ok(rate), Some((_, Ok(latency))))
            if is_same(limit.last, rate.value) && 1e9 / rate.value > GATE_PER_LATENCY as f64 * latency.value =>
        {
            let one = Estimate { value: 1.0, low: 1.0, high: 1.0, samples: rate.samples };
            Limit { rate: Ok(rate), reserve: Ok(one), gate: hidden(BUCKET_FIRST), ..limit }
        }
        _ => limit,
    }
}

/// Tokens per second of rest that the bucket of requests gained. A bucket that is full again shows its size instead.
fn refill<P: Player>(session: &mut Session<'_, P>, findings: &Findings, burst: Measured) -> Result<Measured, P::Fault> {
    session.begin(Step::Refill);
    session.rest(SHORT_REST)?;
    let again = play_step(session, findings, TapeKind::Read, SMALL, SHORT_REST)?;
    Ok(match (again.reserve, burst) {
        (Ok(reserve), Ok(burst)) if reserve.value > FULL_AGAIN * burst.value => hidden("the bucket was full again"),
        (Ok(_), Err(why)) => Err(why),
        (reserve, _) => reserve.map(|reserve| reserve.times(1.0 / SHORT_REST.as_secs_f64())),
    })
}

/// 5: leaves the reserve of a bucket out if the bucket was perhaps not full.
fn full<P: Player>(
    session: &mut Session<'_, P>,
    findings: &Findings,
    played: Limit,
    bytes: u32,
) -> Result<Limit, P::Fault> {
    let Limit { rate: Ok(rate), reserve: Ok(reserve), .. } = played else { return Ok(played) };
    let left_out = |why| Limit { reserve: Err(NotMeasured::Hidden(why)), ..played };
    if is_full(&reserve, &rate, session.settings.rest) {
        return Ok(played);
    }
    session.begin(Step::Refill);
    session.rest(LONG_REST)?;
    let again = play_step(session, findings, TapeKind::Read, bytes, session.settings.flat_out)?;
    Ok(match again.reserve {
        Ok(found) if is_full(&found, &rate, LONG_REST) => Limit { reserve: Ok(found), ..played },
        Ok(_) => left_out("the bucket was perhaps not full: it fills for longer than the probe rests"),
        Err(_) => left_out("the bucket was perhaps not full: after a longer rest it did not run empty"),
    })
}

/// True if a bucket had gained more within its rest than it turned out to have.
fn is_full(reserve: &Estimate, rate: &Estimate, rest: Nanos) -> bool {
    reserve.value < FULL_AGAIN * rate.value * rest.as_secs_f64()
}

/// The buckets of requests and of bytes.
fn buckets(small: &Limit, middle: &Limit) -> (Bucket, Bucket) {
    let bucket = |played: &Limit, each: f64| Bucket {
        rate: played.rate.map(|rate| rate.times(each)),
        burst: played.reserve.map(|reserve| reserve.times(each)),
        refill: hidden("not tried"),
        scope: Scope::Reads,
    };
    let requests = bucket(small, 1.0);
    let bytes = bucket(middle, f64::from(MIDDLE));
    match (small.rate, middle.rate) {
        (Ok(of_small), Ok(of_middle)) => {
            let (small_bytes, middle_bytes) = (of_small.value * f64::from(SMALL), of_middle.value * f64::from(MIDDLE));
            // 2
            if is_same(small_bytes, middle_bytes) {
                let why = NotMeasured::Hidden("bytes limit small requests, too");
                return (Bucket::unknown(why), bucket(small, f64::from(SMALL)));
            }
            // 3
            if is_same(of_small.value, of_middle.value) {
                return (requests, Bucket::unknown(NotMeasured::Hidden("requests limit large ones, too")));
            }
            let unit = middle_bytes / of_small.value;
            let power = unit.log2().round().exp2();
            if is_same(unit, power) && power >= f64::from(SMALL) {
                let why = NotMeasured::Hidden("large requests may cost several tokens");
                return (requests, Bucket::unknown(why));
            }
            (requests, bytes)
        }
        _ => (requests, bytes),
    }
}

/// The gate. A limit with the rate of a bucket does not count (4).
fn gates(findings: &Findings, small: &Limit, middle: &Limit, large: &Limit) -> (Measured, Measured) {
    let at = |bytes: u32, played: &Limit| AtSize { bytes, limit: without_buckets(findings, bytes, *played) };
    let found = gate(&at(SMALL, small), &at(MIDDLE, middle), &at(LARGE, large));
    (found.request, found.byte)
}

/// This limit, without its gate if that has the rate of a bucket.
pub(crate) fn without_buckets(findings: &Findings, bytes: u32, limit: Limit) -> Limit {
    let is_bucket = |rate: &Estimate| {
        let requests = findings.requests.rate.is_ok_and(|bucket| is_same(bucket.value, rate.value));
        let of_bytes = findings.bytes.rate.is_ok_and(|bucket| is_same(bucket.value, rate.value * f64::from(bytes)));
        requests || of_bytes
    };
    match limit.gate {
        Ok(rate) if is_bucket(&rate) => Limit { gate: hidden(BUCKET_FIRST), ..limit },
        _ => limit,
    }
}

pub(crate) fn is_same(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < SAME
}
