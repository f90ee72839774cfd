//! Flushes, and the write cache: writes with a flush behind them, and writes until the rate changes.

use stats::probe::flush::{Drained, drain};
use stats::probe::knee::limit;
use stats::probe::latency::latency_after;
use stats::probe::{Measured, NotMeasured};
use units::Nanos;
use workload::{Served, TapeKind, TapeRequest};

use super::findings::Findings;
use super::hidden;
use super::limits::{LARGE, SMALL, is_same};
use super::session::{Player, Session, Step, flush, request};

/// Flushes of a single small write.
const FLUSHES: usize = 20;

/// Pause between that write and its flush: a device that drains drains it meanwhile.
const DRAINS_WITHIN: Nanos = Nanos::from_millis(20);

/// Amounts that are written and flushed, in large writes, and how often.
const AMOUNTS: [u64; 6] = [2, 4, 8, 16, 32, 64];
const TURNS: usize = 4;

/// The largest share of the file that is written before a flush.
const MOST_OF_FILE: u64 = 2;

/// Queue depth of the writes that fill a cache.
const DEPTH: u32 = 8;

pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>, findings: &mut Findings) -> Result<(), P::Fault> {
    session.rest(session.settings.rest)?;
    session.begin(Step::Flush);
    findings.flush_base = base(session, findings)?;
    findings.flush_drain = drained(session, findings.flush_base)?;
    session.rest(session.settings.rest)?;
    session.begin(Step::WriteCache);
    (findings.cache_size, findings.cache_drain) = cache(session, findings)?;
    Ok(())
}

/// The time of a flush with nothing to drain. Programs flush after writes, so its error counts with the time of the
/// shortest.
fn base<P: Player>(session: &mut Session<'_, P>, findings: &Findings) -> Result<Measured, P::Fault> {
    let mut tape = vec![flush(Nanos::ZERO)];
    for _ in 0..FLUSHES {
        tape.push(request(TapeKind::Write, session.offset(SMALL), SMALL));
        tape.push(flush(DRAINS_WITHIN));
    }
    let served = session.play(tape, 1, Nanos(u64::MAX))?;
    let flushes: Vec<Served> = served.iter().skip(2).step_by(2).copied().collect();
    if flushes.iter().all(|flush| flush.completed == flush.issued) {
        return Ok(hidden("flushes take no time"));
    }
    let write = findings.writes.latency.iter().find_map(|(_, latency)| latency.ok());
    Ok(session.undisturbed(latency_after(&flushes, write.map_or(0.0, |write| write.value))))
}

/// The drain rate behind writes.
fn drained<P: Player>(session: &mut Session<'_, P>, base: Measured) -> Result<Measured, P::Fault> {
    let Ok(base) = base else { return Ok(hidden("the flush without data is not measured")) };
    let most = session.player.capacity() / u64::from(LARGE) / MOST_OF_FILE;
    let mut points = Vec::new();
    for _ in 0..TURNS {
        for amount in AMOUNTS.into_iter().filter(|amount| *amount <= most) {
            let write = |index| request(TapeKind::Write, index * u64::from(LARGE), LARGE);
            let tape: Vec<TapeRequest> = (0..amount).map(write).chain([flush(Nanos::ZERO)]).collect();
            let served = session.play(tape, 1, Nanos(u64::MAX))?;
            let (Some(first), Some(last)) = (served.first(), served.last()) else { continue };
            let [total, flush] = [first, last].map(|from| last.completed.saturating_sub(from.issued).0 as f64);
            points.push(Drained { bytes: amount * u64::from(LARGE), total, flush });
        }
    }
    Ok(session.undisturbed(drain(&points, base.value)))
}

/// The size of the write cache, and the rate at which it drains.
fn cache<P: Player>(session: &mut Session<'_, P>, findings: &Findings) -> Result<(Measured, Measured), P::Fault> {
    let both = |why| Ok((Err(why), Err(why)));
    let latency = findings.writes.latency.iter().find(|(bytes, _)| *bytes == LARGE);
    let Some((_, Ok(latency))) = latency else {
        return both(NotMeasured::Hidden("the latency of writes of 1 MiB is not measured"));
    };
    let places = session.player.capacity() / u64::from(LARGE);
    let time = session.settings.flat_out;
    let count = 1000 + (f64::from(DEPTH) * time.0 as f64 / latency.low.max(1.0)) as u64;
    let tape = (0..count).map(|index| request(TapeKind::Write, index % places * u64::from(LARGE), LARGE)).collect();
    let served = session.play(tape, DEPTH, time)?;
    let ends: Vec<u64> = served.iter().map(|served| served.completed.0).collect();
    let found = limit(&ends, latency.value, DEPTH);
    let each = f64::from(LARGE);
    let (size, drain) = (found.reserve.map(|size| size.times(each)), found.rate.map(|rate| rate.times(each)));
    if let Ok(drain) = drain {
        // A large write may cost several tokens.
        let costs = |rate: f64| rate * each / drain.value;
        let requests = findings.requests.rate.is_ok_and(|rate| is_same(costs(rate.value), costs(rate.value).round()));
        if requests || findings.bytes.rate.is_ok_and(|rate| is_same(rate.value, drain.value)) {
            return both(NotMeasured::Hidden("a bucket limits writes first"));
        }
        // A flush also shows that the cache was empty before.
        let Ok(flush) = findings.flush_drain else {
            return both(NotMeasured::Hidden("no flush shows what a write cache drains: it may be a bucket of writes"));
        };
        if !is_same(flush.value, drain.value) {
            return both(NotMeasured::Hidden("the drain rates of flushes and of the full cache differ"));
        }
    }
    Ok((session.undisturbed(size), session.undisturbed(drain)))
}
