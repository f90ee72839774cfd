//! Page and channels: pairs of small reads at several distances.

use stats::probe::Measured;
use stats::probe::stripe::{Pair, stripes};
use units::Nanos;
use workload::TapeKind;

use super::hidden;
use super::session::{Player, Session, Step, request};

/// The distances, in reads of [`BYTES`].
const DISTANCES: [u64; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192];

/// Bytes of a read.
const BYTES: u32 = 4096;

/// Pairs of each distance.
const PAIRS: usize = 16;

/// Each pair begins at a multiple of this: the largest page that is looked for.
const BEGIN: u64 = 1 << 20;

/// The percentile of the pairs' times: the 20th, as for latencies.
const POSITION: usize = PAIRS / 5;

/// Returns the bytes of a page and the number of channels.
pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>) -> Result<(Measured, Measured), P::Fault> {
    session.begin(Step::Stripes);
    let places = session.player.capacity() / BEGIN;
    if places < 2 || !session.takes(BYTES) {
        return Ok((hidden("the device is too small"), hidden("the device is too small")));
    }
    let mut pairs = Vec::new();
    let mut times = vec![Vec::new(); DISTANCES.len()];
    for _ in 0..PAIRS {
        for (times, distance) in times.iter_mut().zip(DISTANCES) {
            let first = session.chance.below(places - 1) * BEGIN;
            let tape = [first, first + distance * u64::from(BYTES)].map(|at| request(TapeKind::Read, at, BYTES));
            let served = session.play(tape.to_vec(), 2, Nanos::from_secs(1))?;
            times.push(served.iter().map(|served| served.completed.0).max().unwrap_or(0));
        }
    }
    for (mut times, distance) in times.into_iter().zip(DISTANCES) {
        times.sort_unstable();
        let time = times[POSITION] as f64;
        pairs.push(Pair { distance: distance * u64::from(BYTES), time, samples: PAIRS as u32 });
    }
    let found = stripes(&pairs);
    Ok((session.undisturbed(found.page), session.undisturbed(found.channels)))
}
