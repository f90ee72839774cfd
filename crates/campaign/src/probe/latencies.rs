//! Latency by size at queue depth 1. Sizes and directions take turns, so that a disturbance affects all of them alike.
//!
//! Policy:
//!   1. each request comes after a pause, so that no bucket runs empty and lengthens a latency;
//!   2. after a pause, processors or a device may have to wake up, which a program with many requests does not wait
//!      for. So each size is measured again in bursts, after small reads that wake them;
//!   3. a burst may empty a small bucket instead. So the lower of both is the latency;
//!   4. the times of the device alone count only if all latencies can be estimated from them.

use stats::probe::Measured;
use stats::probe::latency::{Times, latency, spread};
use units::Nanos;
use workload::{Served, TapeKind, TapeRequest};

use super::session::{Player, Recorded, Session, Step, request};

/// The sizes in bytes.
pub(crate) const SIZES: [u32; 7] = [4096, 16_384, 32_768, 65_536, 131_072, 262_144, 1_048_576];

/// Requests of each size and direction after a pause. Chosen: the bracket of the percentile is narrow enough, and it
/// takes 4 s with writes.
const ROUNDS: usize = 24;

/// Bursts with a request of each size and direction. Chosen: with 16, up to four of 14 latencies of a loop device on
/// FUSE had too wide a bracket. They take 8 s with writes.
const BURSTS: usize = 32;

/// Small reads at the beginning of a burst. Chosen: a loop device on FUSE has five threads that have to wake up.
pub(crate) const WAKING: usize = 4;

/// Pause for each request. Chosen: 70 to 80 requests and 16 MB per second are below the steady rates of volumes, so
/// that no bucket runs empty and lengthens a latency.
const PAUSE: Nanos = Nanos::from_millis(10);

/// Pause per byte in nanoseconds.
const PAUSE_PER_BYTE: u64 = 20;

/// Reads, and writes if they are played.
const KINDS: [TapeKind; 2] = [TapeKind::Read, TapeKind::Write];

/// Small reads of a rotating disk spread by at least this many nanoseconds. Chosen: most of the shortest turn.
const LEAST_SPREAD: f64 = 1.5e6;

/// Latencies by size.
pub(crate) type Table = Vec<(u32, Measured)>;

/// The latencies.
pub(crate) struct Latencies {
    pub(crate) reads: Table,
    pub(crate) writes: Table,
    /// The device's own latencies of reads and writes, if the kernel recorded the requests.
    pub(crate) of_device: Option<[Table; 2]>,
    /// True if small reads spread as widely as those of a rotating disk.
    pub(crate) spread: bool,
}

pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>) -> Result<Latencies, P::Fault> {
    session.begin(Step::Latency);
    let sizes: Vec<u32> = SIZES.into_iter().filter(|bytes| session.takes(*bytes)).collect();
    let kinds = if session.settings.writes { &KINDS[..] } else { &KINDS[..1] };
    // 1
    let after_pauses = after_pauses(session, &sizes, kinds)?;
    let small_reads = sizes.first().map(|bytes| times_of(&after_pauses, TapeKind::Read, *bytes, Times::OfProgram));
    let spread = small_reads.and_then(|served| spread(&served)).is_some_and(|spread| spread > LEAST_SPREAD);
    // 2. A rotating disk also turns during a pause, so it needs no bursts.
    let in_bursts = if spread { Vec::new() } else { in_bursts(session, &sizes, kinds)? };
    let table = |kind: TapeKind, times: Times| -> Table {
        let is_played = kinds.contains(&kind);
        let latency = |bytes: &u32| {
            let series = [&after_pauses, &in_bursts];
            let [one, other] = series.map(|series| latency(&times_of(series, kind, *bytes, times), times));
            // 3
            (*bytes, session.undisturbed(lower(one, other)))
        };
        if is_played { sizes.iter().map(latency).collect() } else { Vec::new() }
    };
    let [[reads, writes], of_device] =
        [Times::OfProgram, Times::OfDevice].map(|times| KINDS.map(|kind| table(kind, times)));
    // 4
    let is_complete = !spread && of_device.iter().flatten().all(|(_, latency)| latency.is_ok());
    Ok(Latencies { reads, writes, of_device: is_complete.then_some(of_device), spread })
}

/// Requests with their times.
type Series = Vec<Recorded>;

/// Plays requests of each size and direction, each after a pause.
fn after_pauses<P: Player>(
    session: &mut Session<'_, P>,
    sizes: &[u32],
    kinds: &[TapeKind],
) -> Result<Series, P::Fault> {
    let mut requests = Vec::new();
    for _ in 0..ROUNDS {
        for bytes in sizes {
            for kind in kinds {
                let pause = pause_for(*bytes);
                requests.push(TapeRequest { pause, ..request(*kind, session.offset(*bytes), *bytes) });
            }
        }
    }
    session.play_recorded(requests)
}

/// Plays requests of each size and direction in bursts, and returns them without the small reads. Each burst begins
/// with another size, and comes after the pauses that its requests would have.
fn in_bursts<P: Player>(session: &mut Session<'_, P>, sizes: &[u32], kinds: &[TapeKind]) -> Result<Series, P::Fault> {
    let Some(small) = sizes.first() else { return Ok(Vec::new()) };
    let each = WAKING + sizes.len() * kinds.len();
    let mut requests = Vec::new();
    for round in 0..BURSTS {
        let mut burst = session.anywhere(TapeKind::Read, *small, WAKING);
        for bytes in sizes.iter().cycle().skip(round % sizes.len()).take(sizes.len()) {
            burst.extend(kinds.iter().map(|kind| request(*kind, session.offset(*bytes), *bytes)));
        }
        burst[0].pause = burst.iter().fold(Nanos::ZERO, |sum, request| sum + pause_for(request.bytes));
        requests.append(&mut burst);
    }
    let recorded = session.play_recorded(requests)?;
    Ok(recorded.into_iter().enumerate().filter(|(index, _)| index % each >= WAKING).map(|(_, one)| one).collect())
}

/// The pause that a request of this size needs.
pub(crate) fn pause_for(bytes: u32) -> Nanos {
    Nanos(PAUSE.0 + PAUSE_PER_BYTE * u64::from(bytes))
}

/// The times of the requests of this kind and size.
fn times_of(series: &Series, kind: TapeKind, bytes: u32, times: Times) -> Vec<Served> {
    let is_it = |one: &&Recorded| one.request.kind == kind && one.request.bytes == bytes;
    series.iter().filter(is_it).filter_map(|one| one.served(times)).collect()
}

/// The lower of two times, or the only one that was measured.
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
        for mut player in Drowsy::all() {
            let Ok(found) = measure(&mut Session::new(&mut player, Settings::SIMULATED, &mut |_| {}));
            assert_eq!((found.reads.len(), found.writes.len()), (SIZES.len(), SIZES.len()));
            for (bytes, latency) in found.reads.iter().chain(&found.writes) {
                assert_eq!(latency.map(|latency| latency.value), Ok(100_000.0), "{bytes} of {player:?}");
            }
            assert_eq!(found.of_device.is_some(), player.own().is_some());
            for (bytes, latency) in found.of_device.iter().flatten().flatten() {
                assert_eq!(latency.map(|latency| latency.value).ok(), player.own(), "{bytes} of {player:?}");
            }
        }
    }
}
