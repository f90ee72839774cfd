//! Latency by size at queue depth 1. Sizes and directions take turns, so that a disturbance affects all of them alike.

use stats::probe::Measured;
use stats::probe::latency::{latency, spread};
use units::Nanos;
use workload::{Served, TapeKind, TapeRequest};

use super::session::{Player, Session, Step, request};

/// The sizes in bytes.
pub(crate) const SIZES: [u32; 7] = [4096, 16_384, 32_768, 65_536, 131_072, 262_144, 1_048_576];

/// Requests of each size and direction. Ours: the bracket of the percentile is narrow enough, and it takes 3 s.
const ROUNDS: usize = 24;

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
    let mut requests = Vec::new();
    for _ in 0..ROUNDS {
        for bytes in &sizes {
            for kind in kinds {
                let pause = Nanos(PAUSE.0 + PAUSE_PER_BYTE * u64::from(*bytes));
                requests.push(TapeRequest { pause, ..request(*kind, session.offset(*bytes), *bytes) });
            }
        }
    }
    let served = session.play(requests.clone(), 1, Nanos(u64::MAX))?;
    let of = |kind: TapeKind, bytes: u32| -> Vec<Served> {
        let pairs = requests.iter().zip(&served);
        pairs.filter(|(request, _)| request.kind == kind && request.bytes == bytes).map(|(_, times)| *times).collect()
    };
    let table = |kind: TapeKind| -> Vec<(u32, Measured)> {
        let is_played = kinds.contains(&kind);
        let latency = |bytes: &u32| (*bytes, session.undisturbed(latency(&of(kind, *bytes))));
        if is_played { sizes.iter().map(latency).collect() } else { Vec::new() }
    };
    let spread_of_reads = sizes.first().and_then(|bytes| spread(&of(TapeKind::Read, *bytes))).unwrap_or(0.0);
    Ok(Latencies { reads: table(TapeKind::Read), writes: table(TapeKind::Write), spread_of_reads })
}
