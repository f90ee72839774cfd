//! Rotating disks: the turn, the tracks (in `zones`), and seeks.

use stats::probe::Measured;
use stats::probe::rotation::{Visit, turn};
use stats::probe::seek::SeekBracket;
use units::Nanos;
use workload::{TapeKind, TapeRequest};

use super::findings::Rotating;
use super::hidden;
use super::sector_reads::{SECTOR, is_cached, play};
use super::session::{Player, Session, Step, request};
use super::zones;

/// Sectors that are read several times, and how often each is read. Chosen: a drive's cache no longer holds a sector
/// when that is read again.
const SECTORS: usize = 48;
const READ: usize = 4;

/// Sectors are in random order within groups of this size, so that all other groups are read before a sector is read
/// again.
const GROUP: usize = 12;

/// Lengths of seeks, in percent of the capacity.
const SEEKS: [u32; 4] = [1, 10, 33, 95];

/// The places of reads without a seek, in percent of the capacity.
const WITHOUT_SEEK: [u32; 5] = [20, 35, 50, 65, 80];

/// Reads without a seek begin within this many sectors of these places.
const NEARBY: u64 = 4000;

/// Reads without a seek agree within this share of a turn. Chosen: it is 30 us on a disk of 1983. A controller whose
/// times vary spreads them by more, and would make seeks wrong.
const AGREE: f64 = 0.002;

/// The shortest of these reads is below their median by at most this share of a turn. Chosen: more would make seeks
/// wrong by several percent.
const NEAR: f64 = 0.01;

/// Halvings of the bracket of a seek. Chosen: they narrow a turn to microseconds.
const HALVINGS: usize = 12;

/// Measures a rotating disk. `None` if the device does not rotate, or if that is not certain.
pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>) -> Result<Option<Rotating>, P::Fault> {
    if !session.takes(SECTOR) || session.player.capacity() < zones::FEWEST_SECTORS * u64::from(SECTOR) {
        return Ok(None);
    }
    session.begin(Step::Rotation);
    let sectors: Vec<u64> = (0..SECTORS).map(|_| session.offset(SECTOR)).collect();
    let mut order = Vec::new();
    for _ in 0..READ {
        for group in sectors.chunks(GROUP) {
            let mut group = group.to_vec();
            session.chance.shuffle(&mut group);
            order.extend(group);
        }
    }
    let served = play(session, &order)?;
    let visits: Vec<Visit> = order
        .iter()
        .zip(served)
        .filter(|(_, served)| !is_cached(served))
        .map(|(sector, served)| Visit { sector: *sector, served })
        .collect();
    let turn = session.undisturbed(turn(&visits));
    let Ok(known) = turn else { return Ok(None) };
    session.begin(Step::Tracks);
    let (zones, order) = zones::measure(session, known.value)?;
    session.begin(Step::Seeks);
    let sectors = zones.iter().find_map(|zone| zone.sectors.ok()).map_or(0.0, |sectors| sectors.value);
    let seeks = seeks(session, known.value, sectors as u64 / STEPS)?;
    Ok(Some(Rotating { turn, zones, order, seeks }))
}

/// Seeks of several lengths. The time of a read without a seek is subtracted. It is the median of several places,
/// because neighbouring sectors may be on two cylinders. All other places but one must agree with it, and none may be
/// much shorter. `step` is [`SeekOf::step`].
fn seeks<P: Player>(session: &mut Session<'_, P>, turn: f64, step: u64) -> Result<Vec<(u32, Measured)>, P::Fault> {
    let mut without = Vec::new();
    for percent in WITHOUT_SEEK {
        let first = session.player.capacity() / u64::from(SECTOR) * u64::from(percent) / 100;
        let first = first + session.chance.below(NEARBY);
        // The sector before another one is never in a read-ahead.
        let sectors = if step > 0 { [first + 1, first] } else { [first, first + 1] };
        without.push(bracket(session, SeekOf { sectors, step }, turn)?);
    }
    without.sort_by(|one, other| one.high().total_cmp(&other.high()));
    let none = without[without.len() / 2];
    let off = |bracket: &SeekBracket| (bracket.high() - none.high()).abs() / turn;
    let agree =
        without.iter().filter(|bracket| off(bracket) < AGREE).count() + 1 >= without.len() && off(&without[0]) < NEAR;
    let sectors = session.player.capacity() / u64::from(SECTOR);
    let mut seeks = Vec::new();
    for percent in SEEKS {
        let distance = sectors * u64::from(percent) / 100;
        let from = (sectors - distance - 1) / 2;
        let found = bracket(session, SeekOf { sectors: [from, from + distance], step }, turn)?;
        let seek = if agree { found.beyond(&none) } else { hidden("reads without a seek vary") };
        seeks.push((percent, session.undisturbed(seek)));
    }
    Ok(seeks)
}

/// A seek: its two sectors, and the step by which both move down after each pair of reads, so that they are never in a
/// read-ahead. The step is zero on disks with short tracks: those have no cache.
#[derive(Clone, Copy)]
struct SeekOf {
    sectors: [u64; 2],
    step: u64,
}

/// Steps per track. Chosen: all pairs of a bracket are within an eighth of a track, so most brackets are on one.
const STEPS: u64 = 128;

/// The bracket of the time from one sector to another.
fn bracket<P: Player>(session: &mut Session<'_, P>, mut seek: SeekOf, turn: f64) -> Result<SeekBracket, P::Fault> {
    seek.sectors = seek.sectors.map(|sector| sector + STEPS / 8 * seek.step);
    let mut found = SeekBracket::new(turn);
    let mut apart = pair(session, &mut seek, 0.0, &mut found)?.unwrap_or(0.0);
    // The last pairs repeat the measurement, and must not contradict the bracket.
    let pauses = [true; HALVINGS].into_iter().chain([true, false, true, false]);
    for halves in pauses {
        let pause = if halves { found.next_pause(apart) } else { 0.0 };
        // If a track ends between two pairs, the angle between the sectors changes.
        apart = pair(session, &mut seek, pause, &mut found)?.unwrap_or(apart);
    }
    Ok(found)
}

/// Reads a sector, and after a pause another one, whose latency narrows the bracket. Returns the time between their
/// completions; `None` for a pair that the drive's cache answered.
fn pair<P: Player>(
    session: &mut Session<'_, P>,
    seek: &mut SeekOf,
    pause: f64,
    found: &mut SeekBracket,
) -> Result<Option<f64>, P::Fault> {
    let [one, other] = seek.sectors;
    seek.sectors = seek.sectors.map(|sector| sector.saturating_sub(seek.step));
    let tape = [(one, 0.0), (other, pause)].map(|(sector, pause)| TapeRequest {
        pause: Nanos(pause as u64),
        ..request(TapeKind::Read, sector * u64::from(SECTOR), SECTOR)
    });
    let served = session.play(tape.to_vec(), 1, Nanos(u64::MAX))?;
    let [first, second] = served[..] else { return Ok(None) };
    let is_seek = one.abs_diff(other) > 1;
    // Without a seek, the disk can be as quick as its cache, so this time counts.
    if is_cached(&second) && !is_seek {
        found.add(second.completed.saturating_sub(second.issued).0 as f64);
        return Ok(None);
    }
    if is_cached(&first) || is_cached(&second) {
        return Ok(None);
    }
    found.add(second.completed.saturating_sub(second.issued).0 as f64);
    Ok(Some(second.completed.saturating_sub(first.completed).0 as f64))
}

#[cfg(test)]
mod tests;
