//! Latency by size at queue depth 1. Sizes and directions take turns, so that a disturbance affects all of them alike.
//!
//! Policy:
//!   1. each request comes after a pause, so that no bucket runs empty and lengthens a latency;
//!   2. after a pause, a processor or a device may have to wake up, which a program with many requests does not wait
//!      for. So each size is measured again, right after a small read that wakes them;
//!   3. a request right after another one may wait for a gate instead. So the lower of both is the latency.

use stats::probe::Measured;
use stats::probe::latency::{latency, spread};
use units::Nanos;
use workload::{Served, TapeKind, TapeRequest};

use super::session::{Player, Session, Step, request};

/// The sizes in bytes.
pub(crate) const SIZES: [u32; 7] = [4096, 16_384, 32_768, 65_536, 131_072, 262_144, 1_048_576];

/// Requests of each size and direction after a pause. Ours: the bracket of the percentile is narrow enough, and it
/// takes 4 s with writes.
const ROUNDS: usize = 24;

/// The same right after a small read. The fewest of which the percentile is known; they take 5 s with writes.
const ROUNDS_AWAKE: usize = 16;

/// Pause for each request. Ours: 70 to 80 requests and 16 MB per second are below the steady rates of volumes, so that
/// no bucket runs empty and lengthens a latency.
const PAUSE: Nanos = Nanos::from_millis(10);

/// Pause per byte in nanoseconds.
const PAUSE_PER_BYTE: u64 = 20;

/// Reads, and writes if they are played.
const KINDS: [TapeKind; 2] = [TapeKind::Read, TapeKind::Write];

/// The latencies, and the spread of small reads in nanoseconds.
pub(crate) struct Latencies {
    pub(crate) reads: Vec<(u32, Measured)>,
    pub(crate) writes: Vec<(u32, Measured)>,
    pub(crate) spread_of_reads: f64,
}

pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>) -> Result<Latencies, P::Fault> {
    session.begin(Step::Latency);
    let sizes: Vec<u32> = SIZES.into_iter().filter(|bytes| session.takes(*bytes)).collect();
    let kinds = if session.settings.writes { &KINDS[..] } else { &KINDS[..1] };
    let after_pauses = series(session, ROUNDS, &sizes, kinds, None)?;
    let after_reads = series(session, ROUNDS_AWAKE, &sizes, kinds, sizes.first().copied())?;
    let table = |kind: TapeKind| -> Vec<(u32, Measured)> {
        let is_played = kinds.contains(&kind);
        let latency = |bytes: &u32| {
            let [one, other] = [&after_pauses, &after_reads].map(|series| latency(&times_of(series, kind, *bytes)));
            // 3
            (*bytes, session.undisturbed(lower(one, other)))
        };
        if is_played { sizes.iter().map(latency).collect() } else { Vec::new() }
    };
    let small_reads = sizes.first().map(|bytes| times_of(&after_pauses, TapeKind::Read, *bytes));
    let spread_of_reads = small_reads.and_then(|served| spread(&served)).unwrap_or(0.0);
    Ok(Latencies { reads: table(TapeKind::Read), writes: table(TapeKind::Write), spread_of_reads })
}

/// Requests with their times.
type Series = Vec<(TapeRequest, Served)>;

/// Plays requests of each size and direction after pauses, and returns them. If `waking` is given, a read of that many
/// bytes comes right before each, and is not returned.
fn series<P: Player>(
    session: &mut Session<'_, P>,
    rounds: usize,
    sizes: &[u32],
    kinds: &[TapeKind],
    waking: Option<u32>,
) -> Result<Series, P::Fault> {
    let mut requests = Vec::new();
    for _ in 0..rounds {
        for bytes in sizes {
            for kind in kinds {
                let pause = Nanos(PAUSE.0 + PAUSE_PER_BYTE * u64::from(*bytes));
                let timed = request(*kind, session.offset(*bytes), *bytes);
                match waking {
                    None => requests.push(TapeRequest { pause, ..timed }),
                    Some(bytes) => {
                        // Two requests need two pauses.
                        let pause = Nanos(PAUSE.0 + pause.0);
                        requests.push(TapeRequest { pause, ..request(TapeKind::Read, session.offset(bytes), bytes) });
                        requests.push(timed);
                    }
                }
            }
        }
    }
    let served = session.play(requests.clone(), 1, Nanos(u64::MAX))?;
    let each = 1 + usize::from(waking.is_some());
    Ok(requests.into_iter().zip(served).skip(each - 1).step_by(each).collect())
}

/// The times of the requests of this kind and size.
fn times_of(series: &Series, kind: TapeKind, bytes: u32) -> Vec<Served> {
    let is_it = |(request, _): &&(TapeRequest, Served)| request.kind == kind && request.bytes == bytes;
    series.iter().filter(is_it).map(|(_, served)| *served).collect()
}

/// The lower time, or that which was measured.
pub(crate) fn lower(one: Measured, other: Measured) -> Measured {
    match (&one, &other) {
        (Ok(first), Ok(second)) if second.value < first.value => other,
        (Err(_), Ok(_)) => other,
        _ => one,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::super::tests::Drowsy;
    use super::*;

    #[test]
    fn neither_waking_up_nor_a_gate_is_part_of_the_latency() {
        let more = Nanos::from_micros(90);
        for (after_pause, after_request) in [(more, Nanos::ZERO), (Nanos::ZERO, more), (Nanos::ZERO, Nanos::ZERO)] {
            let (mut player, mut notify) = (Drowsy { after_pause, after_request }, |_| {});
            let Ok(found) = measure(&mut Session::new(&mut player, Settings::SIMULATED, &mut notify));
            assert_eq!((found.reads.len(), found.writes.len()), (SIZES.len(), SIZES.len()));
            for (bytes, latency) in found.reads.iter().chain(&found.writes) {
                assert_eq!(latency.map(|latency| latency.value), Ok(100_000.0), "{bytes}");
            }
        }
    }
}
