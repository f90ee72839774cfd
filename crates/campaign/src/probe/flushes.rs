//! Flushes, and the write cache: writes followed by a flush, and writes until the rate changes.
//!
//! Policy for a flush with nothing to drain:
//!   1. it follows a small write after a pause, in which the device drains its cache;
//!   2. after a pause, processors or the device may have to wake up. So the flush is measured again right after the
//!      write, in bursts as in `latencies`;
//!   3. a flush right after the write may have to drain it. So the lower of both times counts;
//!   4. the drain rate is computed from times of the program, and so is the flush without data that is subtracted from
//!      them. Only afterwards does the time of the device alone replace that flush, if the kernel recorded it.

use stats::probe::flush::{Drained, drain};
use stats::probe::knee::limit;
use stats::probe::latency::{Times, latency_after};
use stats::probe::{Measured, NotMeasured};
use units::Nanos;
use workload::{TapeKind, TapeRequest};

use super::findings::Findings;
use super::hidden;
use super::latencies::{WAKING, lower, pause_for};
use super::limits::{LARGE, SMALL, is_same};
use super::session::{Player, Recorded, Session, Step, flush, request};

/// Flushes of a single small write, after a pause and right after it.
const FLUSHES: usize = 20;

/// Writes with a flush in a burst. It must divide [`FLUSHES`].
const IN_BURST: usize = 4;

/// Pause between that write and its flush (1).
const DRAINS_WITHIN: Nanos = Nanos::from_millis(20);

/// Numbers of large writes before a flush, and how often each number is played.
const AMOUNTS: [u64; 6] = [2, 4, 8, 16, 32, 64];
const TURNS: usize = 4;

/// The largest share of the file that is written before a flush: one divided by this.
const MOST_OF_FILE: u64 = 2;

/// Queue depth of the writes that fill a cache.
const DEPTH: u32 = 8;

pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>, findings: &mut Findings) -> Result<(), P::Fault> {
    session.rest(session.settings.rest)?;
    session.begin(Step::Flush);
    let [of_program, of_device] = base(session, findings)?;
    findings.flush_drain = drained(session, of_program)?;
    // 4
    (findings.flush_base, findings.flush_times) = match of_device {
        Ok(_) => (of_device, Times::OfDevice),
        Err(_) => (of_program, Times::OfProgram),
    };
    session.rest(session.settings.rest)?;
    session.begin(Step::WriteCache);
    (findings.cache_size, findings.cache_drain) = cache(session, findings)?;
    Ok(())
}

/// The time of a flush with nothing to drain, for the program and for the device alone. Programs flush after writes, so
/// its error counts as a share of the flush and the shortest write together.
fn base<P: Player>(session: &mut Session<'_, P>, findings: &Findings) -> Result<[Measured; 2], P::Fault> {
    let write = findings.writes.latency.iter().find_map(|(_, latency)| latency.ok()).map_or(0.0, |write| write.value);
    // 1
    let mut after_pauses = vec![flush(Nanos::ZERO)];
    for _ in 0..FLUSHES {
        after_pauses.push(request(TapeKind::Write, session.offset(SMALL), SMALL));
        after_pauses.push(flush(DRAINS_WITHIN));
    }
    let after_pauses = flushes(session, after_pauses)?;
    // 2
    let mut after_writes = vec![flush(Nanos::ZERO)];
    for _ in 0..FLUSHES / IN_BURST {
        let mut burst = session.anywhere(TapeKind::Read, SMALL, WAKING);
        for _ in 0..IN_BURST {
            burst.push(request(TapeKind::Write, session.offset(SMALL), SMALL));
            burst.push(flush(Nanos::ZERO));
        }
        burst[0].pause = Nanos(burst.len() as u64 * pause_for(SMALL).0);
        after_writes.append(&mut burst);
    }
    let after_writes = flushes(session, after_writes)?;
    let mut of_program = after_pauses.iter().chain(&after_writes).filter_map(|flush| flush.served(Times::OfProgram));
    if of_program.all(|flush| flush.completed == flush.issued) {
        return Ok([hidden("flushes take no time"); 2]);
    }
    // 3
    Ok([Times::OfProgram, Times::OfDevice].map(|times| {
        let [one, other] = [&after_pauses, &after_writes].map(|flushes| {
            let served: Vec<_> = flushes.iter().filter_map(|flush| flush.served(times)).collect();
            latency_after(&served, times, write)
        });
        session.undisturbed(lower(one, other))
    }))
}

/// Plays the tape, and returns its flushes without the first one, which also drains the data of other programs.
fn flushes<P: Player>(session: &mut Session<'_, P>, tape: Vec<TapeRequest>) -> Result<Vec<Recorded>, P::Fault> {
    let recorded = session.play_recorded(tape)?;
    Ok(recorded.into_iter().filter(|one| one.request.kind == TapeKind::Flush).skip(1).collect())
}

/// The rate at which a flush drains the writes before it.
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

#[cfg(test)]
mod tests {
    use super::super::tests::Drowsy;
    use super::super::{Settings, latencies};
    use super::*;

    #[test]
    fn neither_waking_up_nor_a_wait_is_part_of_a_flush_without_data() {
        for mut player in Drowsy::all() {
            let mut notify = |_| {};
            let mut session = Session::new(&mut player, Settings::SIMULATED, &mut notify);
            let Ok(latencies) = latencies::measure(&mut session);
            let findings = Findings::new(&session, latencies);
            let Ok([found, of_device]) = base(&mut session, &findings);
            assert_eq!(found.map(|found| found.value), Ok(100_000.0), "{player:?}");
            assert_eq!(of_device.ok().map(|found| found.value), player.own());
        }
    }
}
