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

/// Pause before each request. Ours: 70 requests and 16 MB per second are below the steady rates of volumes, so that no
/// bucket runs empty and lengthens a latency.
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
    let after_pauses = series(session, &sizes, kinds, false)?;
    let after_reads = series(session, &sizes, kinds, true)?;
    let table = |kind: TapeKind| -> Vec<(u32, Measured)> {
        let is_played = kinds.contains(&kind);
        let latency = |bytes: &u32| {
            let [one, other] = [&after_pauses, &after_reads].map(|series| latency(&of(series, kind, *bytes)));
            (*bytes, session.undisturbed(lower(one, other)))
        };
        if is_played { sizes.iter().map(latency).collect() } else { Vec::new() }
    };
    let small_reads = sizes.first().map(|bytes| of(&after_pauses, TapeKind::Read, *bytes));
    let spread_of_reads = small_reads.and_then(|served| spread(&served)).unwrap_or(0.0);
    Ok(Latencies { reads: table(TapeKind::Read), writes: table(TapeKind::Write), spread_of_reads })
}

/// Requests with their times.
type Series = Vec<(TapeRequest, Served)>;

/// Plays requests of each size and direction after pauses. If `wakes`, a small read comes right before each.
fn series<P: Player>(
    session: &mut Session<'_, P>,
    sizes: &[u32],
    kinds: &[TapeKind],
    wakes: bool,
) -> Result<Series, P::Fault> {
    let mut requests = Vec::new();
    for _ in 0..if wakes { ROUNDS_AWAKE } else { ROUNDS } {
        for bytes in sizes {
            for kind in kinds {
                let pause = Nanos(PAUSE.0 + PAUSE_PER_BYTE * u64::from(*bytes));
                let timed = request(*kind, session.offset(*bytes), *bytes);
                if wakes {
                    // Two requests need two pauses.
                    let pause = Nanos(PAUSE.0 + pause.0);
                    let small = sizes[0];
                    requests.push(TapeRequest { pause, ..request(TapeKind::Read, session.offset(small), small) });
                    requests.push(timed);
                } else {
                    requests.push(TapeRequest { pause, ..timed });
                }
            }
        }
    }
    let served = session.play(requests.clone(), 1, Nanos(u64::MAX))?;
    let pairs = requests.into_iter().zip(served);
    Ok(pairs.skip(usize::from(wakes)).step_by(1 + usize::from(wakes)).collect())
}

/// The times of the requests of this kind and size.
fn of(series: &Series, kind: TapeKind, bytes: u32) -> Vec<Served> {
    let is_it = |(request, _): &&(TapeRequest, Served)| request.kind == kind && request.bytes == bytes;
    series.iter().filter(is_it).map(|(_, served)| *served).collect()
}

/// The lower latency (3), or that which was measured.
fn lower(one: Measured, other: Measured) -> Measured {
    match (&one, &other) {
        (Ok(first), Ok(second)) if second.value < first.value => other,
        (Err(_), Ok(_)) => other,
        _ => one,
    }
}
