//! Rotating disks: the turn, the tracks, and seeks.

use stats::probe::Measured;
use stats::probe::rotation::{Visit, turn};
use stats::probe::seek::SeekBracket;
use stats::probe::track::{Angles, sectors_per_track, skew};
use units::Nanos;
use workload::{TapeKind, TapeRequest};

use super::findings::Rotating;
use super::hidden;
use super::session::{Player, Session, Step, request};

/// Small reads of a rotating disk spread by at least this many nanoseconds. Ours: most of the shortest turn.
pub(crate) const LEAST_SPREAD: f64 = 1.5e6;

/// Bytes of a sector.
const SECTOR: u32 = 512;

/// Sectors that are read again and again, and how often.
const SECTORS: usize = 16;
const READ: usize = 9;

/// The places of the tracks, in percent of the capacity: zones have other tracks.
const PLACES: [u32; 3] = [10, 50, 90];

/// Pairs of each distance.
const PAIRS: usize = 16;

/// The largest distance of a pair is two to this power, in sectors.
const DOUBLINGS: u32 = 11;

/// Pairs begin within this many sectors.
const NEARBY: u64 = 40_000;

/// Lengths of seeks, in percent of the capacity.
const SEEKS: [u32; 4] = [1, 10, 33, 95];

/// The places of reads without a seek, in percent of the capacity.
const WITHOUT_SEEK: [u32; 5] = [20, 35, 50, 65, 80];

/// Reads without a seek agree within this share of a turn. Ours: 30 us on a disk of 1983; a controller whose times vary
/// spreads them by more, and would make seeks wrong.
const AGREE: f64 = 0.002;

/// Halvings of the bracket of a seek. Ours: a turn becomes microseconds.
const HALVINGS: usize = 12;

/// Measures a rotating disk. `None` if the device does not rotate, or if that is not certain.
pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>) -> Result<Option<Rotating>, P::Fault> {
    if !session.takes(SECTOR) || session.player.capacity() < 2 * NEARBY * u64::from(SECTOR) {
        return Ok(None);
    }
    session.begin(Step::Rotation);
    let sectors: Vec<u64> = (0..SECTORS).map(|_| session.offset(SECTOR)).collect();
    let mut order: Vec<u64> = (0..READ).flat_map(|_| sectors.clone()).collect();
    session.chance.shuffle(&mut order);
    let served = play(session, &order)?;
    let visits: Vec<Visit> =
        order.iter().zip(served).map(|(sector, served)| Visit { sector: *sector, served }).collect();
    let turn = session.undisturbed(turn(&visits));
    let Ok(known) = turn else { return Ok(None) };
    session.begin(Step::Tracks);
    let mut tracks = Vec::new();
    for percent in PLACES {
        let angles = angles(session, percent, known.value)?;
        tracks.push((percent, session.undisturbed(sectors_per_track(&angles))));
    }
    let skew = skew_of(session, &tracks, known.value)?;
    session.begin(Step::Seeks);
    let seeks = seeks(session, known.value)?;
    Ok(Some(Rotating { turn, tracks, skew, seeks }))
}

/// Reads sectors one after the other.
fn play<P: Player>(session: &mut Session<'_, P>, offsets: &[u64]) -> Result<Vec<workload::Served>, P::Fault> {
    let tape = offsets.iter().map(|offset| request(TapeKind::Read, *offset, SECTOR)).collect();
    session.play(tape, 1, Nanos(u64::MAX))
}

/// A random sector near a place.
fn nearby<P: Player>(session: &mut Session<'_, P>, percent: u32) -> u64 {
    let sectors = session.player.capacity() / u64::from(SECTOR);
    let begin = (sectors * u64::from(percent) / 100).min(sectors.saturating_sub(NEARBY + (2 << DOUBLINGS)));
    begin + session.chance.below(NEARBY)
}

/// The angles between sectors at doubled distances. The farthest is read first, so that no read-ahead has it.
fn angles<P: Player>(session: &mut Session<'_, P>, percent: u32, turn: f64) -> Result<Vec<Angles>, P::Fault> {
    let mut found: Vec<Angles> =
        (0..=DOUBLINGS).map(|power| Angles { distance: 1 << power, turns: Vec::new() }).collect();
    for _ in 0..PAIRS {
        let first = nearby(session, percent);
        let distances = found.iter().rev().map(|angles| angles.distance).chain([0]);
        let offsets: Vec<u64> = distances.map(|distance| (first + distance) * u64::from(SECTOR)).collect();
        let served = play(session, &offsets)?;
        let Some(last) = served.last() else { continue };
        for (angles, served) in found.iter_mut().rev().zip(&served) {
            angles.turns.push(angle(last.completed.0 as f64 - served.completed.0 as f64, turn));
        }
    }
    Ok(found)
}

/// The angle of a sector that came this long before the other one, in turns.
fn angle(before: f64, turn: f64) -> f64 {
    let turns = -before / turn;
    turns - turns.round()
}

/// The track skew, at the first place with known tracks.
fn skew_of<P: Player>(
    session: &mut Session<'_, P>,
    tracks: &[(u32, Measured)],
    turn: f64,
) -> Result<Measured, P::Fault> {
    let known = tracks.iter().find_map(|(percent, sectors)| sectors.ok().map(|sectors| (*percent, sectors)));
    let Some((percent, sectors)) = known else { return Ok(hidden("the sectors per track are not measured")) };
    if sectors.low < sectors.high {
        return Ok(hidden("the sectors per track are not exact"));
    }
    let mut turns = Vec::new();
    for _ in 0..PAIRS {
        let first = nearby(session, percent);
        let offsets = [first + sectors.value as u64, first].map(|sector| sector * u64::from(SECTOR));
        if let [second, first] = play(session, &offsets)?[..] {
            turns.push(angle(first.completed.0 as f64 - second.completed.0 as f64, turn));
        }
    }
    Ok(session.undisturbed(skew(&turns, sectors.value)))
}

/// Seeks of several lengths. What a read takes without a seek is subtracted: the shortest of several places, because
/// neighbours may be on two cylinders. All others but one must agree with it.
fn seeks<P: Player>(session: &mut Session<'_, P>, turn: f64) -> Result<Vec<(u32, Measured)>, P::Fault> {
    let mut without = Vec::new();
    for percent in WITHOUT_SEEK {
        let first = nearby(session, percent);
        without.push(bracket(session, [first, first + 1], turn)?);
    }
    without.sort_by(|one, other| one.high().total_cmp(&other.high()));
    let none = without[0];
    let agree = without[without.len() - 2].high() - none.high() < AGREE * turn;
    let sectors = session.player.capacity() / u64::from(SECTOR);
    let mut seeks = Vec::new();
    for percent in SEEKS {
        let distance = sectors * u64::from(percent) / 100;
        let from = (sectors - distance - 1) / 2;
        let found = bracket(session, [from, from + distance], turn)?;
        let seek = if agree { found.beyond(&none) } else { hidden("reads without a seek vary") };
        seeks.push((percent, session.undisturbed(seek)));
    }
    Ok(seeks)
}

/// The bracket of the time from one sector to another.
fn bracket<P: Player>(session: &mut Session<'_, P>, sectors: [u64; 2], turn: f64) -> Result<SeekBracket, P::Fault> {
    let mut found = SeekBracket::new(turn);
    let apart = pair(session, sectors, 0.0, &mut found)?;
    for _ in 0..HALVINGS {
        let pause = found.next_pause(apart);
        pair(session, sectors, pause, &mut found)?;
    }
    // The same again must not contradict the bracket.
    for _ in 0..2 {
        let pause = found.next_pause(apart);
        pair(session, sectors, pause, &mut found)?;
        pair(session, sectors, 0.0, &mut found)?;
    }
    Ok(found)
}

/// Reads a sector, and after a pause another one, whose latency narrows the bracket. Returns the time between their
/// completions.
fn pair<P: Player>(
    session: &mut Session<'_, P>,
    [one, other]: [u64; 2],
    pause: f64,
    found: &mut SeekBracket,
) -> Result<f64, P::Fault> {
    let tape = [(one, 0.0), (other, pause)].map(|(sector, pause)| TapeRequest {
        pause: Nanos(pause as u64),
        ..request(TapeKind::Read, sector * u64::from(SECTOR), SECTOR)
    });
    let served = session.play(tape.to_vec(), 1, Nanos(u64::MAX))?;
    let [first, second] = served[..] else { return Ok(0.0) };
    found.add(second.completed.saturating_sub(second.issued).0 as f64);
    Ok(second.completed.saturating_sub(first.completed).0 as f64)
}
