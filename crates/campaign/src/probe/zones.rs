//! The tracks of a rotating disk: sectors per track in each zone, where the zones begin, and the order of the tracks.
//!
//! Policy:
//!   1. the sectors per track are measured at a few places;
//!   2. between two places with different numbers, halving finds where the zone begins. Each half needs only a few
//!      reads, which tell to which of the two numbers its place belongs;
//!   3. a place that belongs to neither is in another zone, and is measured like the first ones. If there are more
//!      zones than [`MORE_PLACES`], the begin of some is not measured;
//!   4. reads that the drive's cache answered do not count;
//!   5. if the first place is not measured, the begin of the first known zone is not known. If the last place is not
//!      measured, there may be another zone, which is not measured.

use stats::probe::track::{Angles, Order, order, sectors_per_track, which};
use stats::probe::{Estimate, Measured, NotMeasured};
use workload::Served;

use super::findings::Zone;
use super::hidden;
use super::sector_reads::{SECTOR, angle, is_cached, play};
use super::session::{Player, Session};

/// The places that are measured first, in percent of the capacity.
const PLACES: [u64; 5] = [1, 25, 50, 75, 99];

/// The most further places. Chosen: each takes 2 s, and a probe takes less than a minute.
const MORE_PLACES: u32 = 8;

/// The beginning of a zone is found to within the capacity divided by this, or to within [`NEARBY`] on a small disk.
/// The sectors within which pairs begin come in addition.
const RESOLUTION: u64 = 500;

/// Pairs of reads at each distance, and pairs that show to which zone a place belongs.
const PAIRS: usize = 16;
const PAIRS_OF_ZONE: usize = 6;

/// The largest distance of a pair is two to this power, in sectors.
const DOUBLINGS: u32 = 11;

/// Pairs begin within this many sectors.
const NEARBY: u64 = 40_000;

/// Pairs that show a zone are this share of a track apart. Chosen: most of them are on one track.
const OF_TRACK: f64 = 0.4;

/// Tracks that are read one after the other. Chosen: three cylinders of 20 heads.
const TRACKS: u64 = 64;

/// Two numbers of sectors per track belong to one zone if their brackets are within this share of each other.
const SAME_ZONE: f64 = 0.005;

/// Fewest sectors of a disk that is measured.
pub(crate) const FEWEST_SECTORS: u64 = 2 * NEARBY;

/// Measures the zones and the order of the tracks of a disk with this turn.
pub(crate) fn measure<P: Player>(session: &mut Session<'_, P>, turn: f64) -> Result<(Vec<Zone>, Order), P::Fault> {
    // 1
    let mut measured = Vec::new();
    for place in places(session.player.capacity() / u64::from(SECTOR)) {
        measured.push((place, sectors_at(session, place, turn)?));
    }
    let known: Vec<(u64, Estimate)> =
        measured.iter().filter_map(|(place, sectors)| Some((*place, sectors.ok()?))).collect();
    let edges = [measured.first(), measured.last()].map(|edge| edge.and_then(|(_, sectors)| sectors.err()));
    let Some((place, first)) = known.first().copied() else {
        let why = edges[0].unwrap_or(NotMeasured::Hidden("no place was read"));
        let order = Order { track_skew: Err(why), cylinder_skew: Err(why), heads: Err(why) };
        return Ok((vec![Zone { begin: hidden("the zones are not measured"), sectors: Err(why) }], order));
    };
    let order = order_at(session, place, first, turn)?;
    let nothing = Estimate { value: 0.0, low: 0.0, high: 0.0, samples: first.samples };
    // 5
    let begin = edges[0].map_or(Ok(nothing), Err);
    let mut zones = vec![Zone { begin, sectors: session.undisturbed(Ok(first)) }];
    let mut left = MORE_PLACES;
    for pair in known.windows(2) {
        let found = between(session, [pair[0], pair[1]], turn, &mut left)?;
        zones.extend(found.into_iter().map(|zone| Zone { sectors: session.undisturbed(zone.sectors), ..zone }));
    }
    // 5
    zones.extend(edges[1].map(|why| Zone { begin: Err(why), sectors: Err(why) }));
    Ok((zones, order))
}

/// The places that are measured first, on a disk of `sectors`. Behind each there is room for pairs.
fn places(sectors: u64) -> Vec<u64> {
    let last = sectors.saturating_sub(NEARBY + (1 << DOUBLINGS) + 1);
    let mut places = PLACES.map(|percent| (sectors * percent / 100).min(last)).to_vec();
    places.dedup();
    places
}

/// 2, 3: the zones that begin between two places.
fn between<P: Player>(
    session: &mut Session<'_, P>,
    places: [(u64, Estimate); 2],
    turn: f64,
    left: &mut u32,
) -> Result<Vec<Zone>, P::Fault> {
    let resolution = (session.player.capacity() / u64::from(SECTOR) / RESOLUTION).max(NEARBY);
    let mut zones = Vec::new();
    let mut open = vec![places];
    while let Some([low, high]) = open.pop() {
        if is_one_zone(&low.1, &high.1) {
            continue;
        }
        let zone = |begin| Zone { begin, sectors: Ok(high.1) };
        if high.0 - low.0 <= resolution {
            // Most pairs of the upper place are in the zone, but the zone may begin anywhere among them.
            let [low, high] = [low.0, high.0 + NEARBY].map(|sector| (sector * u64::from(SECTOR)) as f64);
            zones.push(zone(Ok(Estimate { value: f64::midpoint(low, high), low, high, samples: 2 })));
            continue;
        }
        let middle = u64::midpoint(low.0, high.0);
        let one_of_both = zone_at(session, middle, [low.1.value, high.1.value], turn)?;
        match one_of_both {
            Some(0) => open.push([(middle, low.1), high]),
            Some(_) => open.push([low, (middle, high.1)]),
            None if *left == 0 => zones.push(zone(hidden("there are more zones than the probe has time for"))),
            None => {
                *left -= 1;
                match sectors_at(session, middle, turn)? {
                    Ok(found) => open.extend([[(middle, found), high], [low, (middle, found)]]),
                    Err(why) => zones.push(zone(Err(why))),
                }
            }
        }
    }
    Ok(zones)
}

fn is_one_zone(one: &Estimate, other: &Estimate) -> bool {
    let is_exact = |estimate: &Estimate| estimate.low == estimate.high;
    if is_exact(one) && is_exact(other) {
        return one.value == other.value;
    }
    one.low <= other.high * (1.0 + SAME_ZONE) && other.low <= one.high * (1.0 + SAME_ZONE)
}

/// A random sector near a place, with room for `length` sectors behind it.
fn nearby<P: Player>(session: &mut Session<'_, P>, place: u64, length: u64) -> u64 {
    let sectors = session.player.capacity() / u64::from(SECTOR);
    let most = sectors.saturating_sub(length + 1);
    (place.min(most.saturating_sub(NEARBY)) + session.chance.below(NEARBY)).min(most)
}

/// The sectors per track at a place. 4: the farthest sector is read first, so that no read-ahead has the others.
fn sectors_at<P: Player>(session: &mut Session<'_, P>, place: u64, turn: f64) -> Result<Measured, P::Fault> {
    let mut found: Vec<Angles> =
        (0..=DOUBLINGS).map(|power| Angles { distance: 1 << power, turns: Vec::new() }).collect();
    for _ in 0..PAIRS {
        let first = nearby(session, place, 1 << DOUBLINGS);
        let distances = found.iter().rev().map(|angles| angles.distance).chain([0]);
        let offsets: Vec<u64> = distances.map(|distance| (first + distance) * u64::from(SECTOR)).collect();
        let served = play(session, &offsets)?;
        let Some(last) = served.last().filter(|last| !is_cached(last)) else { continue };
        for (angles, served) in found.iter_mut().rev().zip(&served).filter(|(_, served)| !is_cached(served)) {
            angles.turns.push(between_reads(last, served, turn));
        }
    }
    Ok(session.undisturbed(sectors_per_track(&found)))
}

/// The index of the number of sectors per track that a place has; `None` if it has neither of the two.
fn zone_at<P: Player>(
    session: &mut Session<'_, P>,
    place: u64,
    sectors: [f64; 2],
    turn: f64,
) -> Result<Option<usize>, P::Fault> {
    let distance = (OF_TRACK * sectors[0].min(sectors[1])) as u64;
    let mut turns = Vec::new();
    for _ in 0..PAIRS_OF_ZONE {
        let first = nearby(session, place, distance);
        let served = play(session, &[first + distance, first].map(|sector| sector * u64::from(SECTOR)))?;
        if let [other, first] = &served[..]
            && !is_cached(other)
            && !is_cached(first)
        {
            turns.push(between_reads(first, other, turn));
        }
    }
    Ok(which(&turns, distance, sectors))
}

/// The order of the tracks at a place, from the same sector of tracks that follow each other.
fn order_at<P: Player>(
    session: &mut Session<'_, P>,
    place: u64,
    sectors: Estimate,
    turn: f64,
) -> Result<Order, P::Fault> {
    let unknown = |why| Order { track_skew: Err(why), cylinder_skew: Err(why), heads: Err(why) };
    if sectors.low < sectors.high {
        return Ok(unknown(NotMeasured::Hidden("the sectors per track are not exact")));
    }
    let each = sectors.value as u64;
    let first = nearby(session, place, TRACKS * each);
    let offsets: Vec<u64> = (0..=TRACKS).rev().map(|track| (first + track * each) * u64::from(SECTOR)).collect();
    let mut served = play(session, &offsets)?;
    served.reverse();
    let jump = |pair: &[Served]| {
        (!is_cached(&pair[0]) && !is_cached(&pair[1])).then(|| between_reads(&pair[0], &pair[1], turn))
    };
    let jumps: Vec<Option<f64>> = served.windows(2).map(jump).collect();
    let Order { track_skew, cylinder_skew, heads } = order(&jumps, sectors.value);
    let [track_skew, cylinder_skew, heads] =
        [track_skew, cylinder_skew, heads].map(|measured| session.undisturbed(measured));
    Ok(Order { track_skew, cylinder_skew, heads })
}

/// The angle from the first sector to another one, which was read before it.
fn between_reads(first: &Served, other: &Served, turn: f64) -> f64 {
    angle(first.completed.0 as f64 - other.completed.0 as f64, turn)
}
