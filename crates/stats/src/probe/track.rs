//! Sectors per track and track skew, from the angles at which sectors come under the heads.
//!
//! On a track, sectors at twice the distance are at twice the angle. So the angle per sector is found by doubling the
//! distance, until the sectors are a good part of a turn apart. Pairs across the end of a track differ by the skew;
//! most pairs are on one track, and the most frequent angle counts.

use super::estimate::{Estimate, Measured, NotMeasured, check_samples};

/// Angles of sectors at one distance from their first sectors, in turns.
#[derive(Clone, Debug)]
pub struct Angles {
    /// The distance in sectors.
    pub distance: u64,
    /// The angle from the first sector to the other one, of each pair.
    pub turns: Vec<f64>,
}

/// The angle per sector so far, its error, and the sectors per track that follow.
#[derive(Clone, Copy)]
struct Found {
    each: f64,
    error: f64,
    estimate: Estimate,
}

/// A doubled angle may differ from the expected one by this and by its error, in turns. Chosen: no skew is smaller.
const SURE: f64 = 0.0005;

/// Fewest pairs of a distance.
const FEWEST: u32 = 5;

/// Angles closer than this are alike, in turns. Chosen: 80 us of a turn of 8 ms.
const ALIKE: f64 = 0.01;

/// Share of the pairs that must have the same angle. Chosen: at a distance of a third of a track, more than half of the
/// pairs are on one track.
const MOST_ALIKE: f64 = 0.5;

/// The largest angle that is doubled, in turns. Chosen: more than half of such pairs are on one track.
const LARGEST: f64 = 0.45;

/// The widest bracket of the sectors per track, as a share.
const WIDEST: f64 = 0.015;

/// Estimates the sectors per track from pairs at the distances 1, 2, 4 and so on.
pub fn sectors_per_track(angles: &[Angles]) -> Measured {
    let none = NotMeasured::Hidden("the angles of sectors do not follow their distance");
    let mut found: Option<Found> = None;
    for (index, Angles { distance, turns }) in angles.iter().enumerate() {
        check_samples(turns.len(), FEWEST)?;
        let distance = *distance as f64;
        let expected = found.map_or(0.0, |found| found.each * distance);
        if expected > LARGEST {
            break;
        }
        let Some((angle, error, samples)) = most_frequent(turns) else { break };
        // The angle nearest to the expected one. The first angle is small, and positive except for its error.
        let angle = expected + wrapped(angle - expected);
        if index == 0 && angle < -ALIKE {
            return Err(none);
        }
        // If most pairs cross the end of a track, their angle differs by the skew.
        let doubled = found.map_or(0.0, |found| found.error * distance);
        if index > 0 && (angle - expected).abs() > SURE + 4.0 * (doubled + error) {
            break;
        }
        let of = |angle: f64| distance / angle;
        let estimate = Estimate { value: of(angle), low: of(angle + error), high: of(angle - error), samples };
        found = Some(Found { each: angle / distance, error: error / distance, estimate });
    }
    let Some(Found { estimate, .. }) = found else { return Err(none) };
    if !estimate.value.is_finite() || estimate.low <= 0.0 || estimate.high < estimate.low {
        return Err(none);
    }
    let whole = estimate.value.round();
    // Whole sectors, if the bracket contains just one number of them.
    let is_whole = estimate.high - estimate.low < 1.0 && (estimate.value - whole).abs() < 0.25;
    let estimate = if is_whole { Estimate { value: whole, low: whole, high: whole, ..estimate } } else { estimate };
    estimate.checked(WIDEST)
}

/// The order of the tracks: skews in sectors, and tracks that follow each other on one cylinder.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Sectors by which a track begins later than the one before on its cylinder.
    pub track_skew: Measured,
    /// Sectors by which the first track of a cylinder begins later than the track before.
    pub cylinder_skew: Measured,
    /// Tracks of a cylinder.
    pub heads: Measured,
}

/// Share of the jumps that must be of the two kinds.
const OF_TWO_KINDS: f64 = 0.9;

/// A kind of jump with at least this share of the other kind's number is about as frequent. Chosen: with two heads both
/// kinds are equally frequent, except for lost jumps. With three, one kind is half as frequent.
const AS_FREQUENT: f64 = 0.75;

/// Fewest cylinders that must begin at equal distances. Chosen: by chance, two distances are equal more often than
/// three.
const CYLINDERS: usize = 3;

/// Estimates the order of tracks of `sectors`, from the angles between the same sectors of tracks that follow each
/// other:
///   1. if all angles are alike, there is one skew, and the heads do not show;
///   2. of two kinds of angles, the rarer one is the skew of cylinders, if it comes at equal distances. If both are
///      about as frequent, the larger one is. Then equal distances must confirm it, or the skews are not known either.
pub fn order(jumps: &[Option<f64>], sectors: f64) -> Order {
    let unknown = |why| Order { track_skew: Err(why), cylinder_skew: Err(why), heads: Err(why) };
    let known: Vec<f64> = jumps.iter().flatten().copied().collect();
    if let Err(why) = check_samples(known.len(), FEWEST) {
        return unknown(why);
    }
    let none = NotMeasured::Hidden("the angles between tracks vary");
    let Some(first) = center(&known) else { return unknown(none) };
    let (of_first, others): (Vec<f64>, Vec<f64>) = known.iter().partition(|turn| is_alike(**turn, first));
    // 1
    if others.is_empty() {
        let why = NotMeasured::Hidden("all tracks follow each other with the same skew");
        return Order { track_skew: skew(&of_first, sectors), cylinder_skew: Err(why), heads: Err(why) };
    }
    // 2
    let Some(second) = center(&others) else { return unknown(none) };
    let of_second: Vec<f64> = others.iter().copied().filter(|turn| is_alike(*turn, second)).collect();
    if ((of_first.len() + of_second.len()) as f64) < OF_TWO_KINDS * known.len() as f64 {
        return unknown(none);
    }
    let places = |center: f64| -> Vec<usize> {
        let is_of = |jump: &Option<f64>| jump.is_some_and(|turn| is_alike(turn, center));
        jumps.iter().enumerate().filter(|(_, jump)| is_of(jump)).map(|(index, _)| index).collect()
    };
    let is_rarer = (of_second.len() as f64) < AS_FREQUENT * of_first.len() as f64;
    let [of_first, of_second] = [&of_first, &of_second].map(|turns| skew(turns, sectors));
    let is_larger = of_second.is_ok_and(|second| of_first.is_ok_and(|first| second.value > first.value));
    let (track_skew, of_cylinders, at) = if is_rarer || is_larger {
        (of_first, of_second, places(second))
    } else {
        (of_second, of_first, places(first))
    };
    let apart: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let heads = match apart.first() {
        Some(heads) if apart.len() + 1 >= CYLINDERS && apart.iter().all(|apart| apart == heads) => {
            let value = *heads as f64;
            Ok(Estimate { value, low: value, high: value, samples: at.len() as u32 })
        }
        _ => Err(NotMeasured::Hidden("cylinders do not begin at equal distances")),
    };
    match heads.and(track_skew).and(of_cylinders) {
        Err(why) if !is_rarer => unknown(why),
        _ => Order { track_skew, cylinder_skew: heads.and(of_cylinders), heads },
    }
}

/// Estimates the skew in sectors, from angles that are alike.
fn skew(turns: &[f64], sectors: f64) -> Measured {
    check_samples(turns.len(), FEWEST.min(CYLINDERS as u32))?;
    let none = NotMeasured::Hidden("the angles between tracks vary");
    let (angle, error, samples) = most_frequent(turns).ok_or(none)?;
    let value = wrapped(angle - 0.25) + 0.25;
    let (value, error) = (value * sectors, error * sectors);
    if error > 0.5 {
        return Err(NotMeasured::Wide(100.0 * error / sectors));
    }
    let whole = value.round();
    if (value - whole).abs() < 0.25 && error < 0.25 {
        return Ok(Estimate { value: whole, low: whole, high: whole, samples });
    }
    Ok(Estimate { value, low: value - error, high: value + error, samples })
}

/// Which of two numbers of sectors per track fits angles at one distance; `None` if neither does. The angles of the two
/// must differ by more than the error.
pub fn which(turns: &[f64], distance: u64, sectors: [f64; 2]) -> Option<usize> {
    let (angle, error, samples) = most_frequent(turns)?;
    let expected = sectors.map(|sectors| distance as f64 / sectors);
    let gap = (expected[0] - expected[1]).abs();
    let off = expected.map(|expected| wrapped(angle - expected).abs());
    let near = usize::from(off[1] < off[0]);
    (samples >= FEWEST && off[near] < NEAR * gap && error < gap).then_some(near)
}

/// An angle belongs to the nearer number of sectors if it is off by less than this share of their difference. Chosen: a
/// zone between two others must not be taken for one of them.
const NEAR: f64 = 0.2;

fn is_alike(turn: f64, center: f64) -> bool {
    wrapped(turn - center).abs() < ALIKE
}

/// The angle that most of the others are like.
fn center(turns: &[f64]) -> Option<f64> {
    turns.iter().copied().max_by_key(|center| turns.iter().filter(|turn| is_alike(**turn, *center)).count())
}

/// The most frequent angle, its error (twice its standard error), and the number of angles behind it.
fn most_frequent(turns: &[f64]) -> Option<(f64, f64, u32)> {
    let center = center(turns)?;
    let offsets: Vec<f64> = turns.iter().map(|turn| wrapped(turn - center)).filter(|off| off.abs() < ALIKE).collect();
    let count = offsets.len() as f64;
    if count < MOST_ALIKE * turns.len() as f64 {
        return None;
    }
    let mean = offsets.iter().sum::<f64>() / count;
    let squares = offsets.iter().map(|offset| (offset - mean).powi(2)).sum::<f64>() / count;
    Some((wrapped(center + mean), 2.0 * (squares / count).sqrt(), offsets.len() as u32))
}

/// The angle from -1/2 to 1/2 of a turn.
fn wrapped(turns: f64) -> f64 {
    turns - turns.round()
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    /// Angles of pairs that begin anywhere on tracks of `sectors`, with this skew and noise.
    fn angles(sectors: u64, skew: u64, noise: f64) -> Vec<Angles> {
        let mut chance = Prng::new(8);
        let angle = |sector: u64| ((sector + sector / sectors * skew) % sectors) as f64 / sectors as f64;
        let mut pair = |distance: u64| {
            let first = chance.below(1000 * sectors);
            let late = noise * (chance.below(2001) as f64 / 1000.0 - 1.0);
            wrapped(angle(first + distance) - angle(first) + late)
        };
        (0..12)
            .map(|k| 1 << k)
            .map(|distance| Angles { distance, turns: (0..16).map(|_| pair(distance)).collect() })
            .collect()
    }

    #[test]
    fn sectors_come_back() {
        for (sectors, skew) in [(48, 0), (51, 0), (46, 3), (392, 0), (1800, 198)] {
            let estimate = sectors_per_track(&angles(sectors, skew, 0.0)).expect("angles");
            assert_eq!(estimate.value, sectors as f64, "{estimate:?}");
            let noisy = sectors_per_track(&angles(sectors, skew, 0.0005));
            if let Ok(noisy) = noisy {
                assert!((noisy.value / sectors as f64 - 1.0).abs() < 0.007, "{sectors}: {noisy:?}");
            }
        }
    }

    #[test]
    fn random_angles_have_no_sectors() {
        let mut chance = Prng::new(8);
        let mut turns = || (0..16).map(|_| chance.below(1000) as f64 / 1000.0).collect();
        let angles: Vec<Angles> = (0..12).map(|k| Angles { distance: 1 << k, turns: turns() }).collect();
        assert!(sectors_per_track(&angles).is_err());
    }

    #[test]
    fn the_skews_and_the_heads_come_back() {
        for (heads, track, cylinder) in [(4, 0.11, 0.16), (2, 0.11, 0.16), (3, 0.2, 0.05), (20, 0.0625, 0.3)] {
            let jump = |index: usize| Some(if (index + 3).is_multiple_of(heads) { cylinder } else { track });
            let jumps: Vec<Option<f64>> = (0..64).map(jump).collect();
            let found = order(&jumps, 1600.0);
            assert_eq!(found.heads.map(|heads| heads.value), Ok(heads as f64));
            assert_eq!(found.track_skew.map(|skew| skew.value), Ok((track * 1600.0_f64).round()), "{heads}");
            assert_eq!(found.cylinder_skew.map(|skew| skew.value), Ok((cylinder * 1600.0_f64).round()), "{heads}");
        }
        let found = order(&[Some(3.0 / 46.0); 9], 46.0);
        assert_eq!(found.track_skew.map(|skew| skew.value), Ok(3.0));
        assert!(found.heads.is_err() && found.cylinder_skew.is_err());
    }

    #[test]
    fn a_lost_jump_of_a_disk_with_two_heads_does_not_swap_the_skews() {
        let late = Some(0.4);
        for begin in 0..2 {
            for (lost, instead) in [(0, None), (63, None), (0, late), (63, late), (30, None), (31, late)] {
                let jump = |index: usize| Some(if (index + begin).is_multiple_of(2) { 0.16 } else { 0.11 });
                let jumps: Vec<Option<f64>> =
                    (0..64).map(|index| if index == lost { instead } else { jump(index) }).collect();
                let found = order(&jumps, 1600.0);
                let all = [found.heads, found.track_skew, found.cylinder_skew];
                let values = all.map(|measured| measured.map(|estimate| estimate.value));
                // A gap between cylinders hides everything.
                if [0, 63].contains(&lost) || values.iter().all(Result::is_ok) {
                    assert_eq!(values, [2.0, 176.0, 256.0].map(Ok), "{begin}: {lost}");
                } else {
                    assert!(values.iter().all(Result::is_err), "{begin}: {lost}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn tracks_in_another_order_have_no_heads() {
        let at = [2, 9, 11, 30, 31];
        let jumps: Vec<Option<f64>> = (0..64).map(|index| Some(if at.contains(&index) { 0.3 } else { 0.1 })).collect();
        let found = order(&jumps, 1600.0);
        assert!(found.track_skew.is_ok() && found.heads.is_err() && found.cylinder_skew.is_err(), "{found:?}");
        let mut chance = Prng::new(3);
        let jumps: Vec<Option<f64>> = (0..64).map(|_| Some(chance.below(1000) as f64 / 1000.0)).collect();
        assert!(order(&jumps, 1600.0).track_skew.is_err());
        assert!(order(&[None; 64], 1600.0).track_skew.is_err());
    }

    #[test]
    fn a_place_belongs_to_a_zone_or_to_neither() {
        let of = |sectors: f64| vec![400.0 / sectors; 6];
        assert_eq!(which(&of(1800.0), 400, [1800.0, 1500.0]), Some(0));
        assert_eq!(which(&of(1500.0), 400, [1800.0, 1500.0]), Some(1));
        assert_eq!(which(&of(1650.0), 400, [1800.0, 1500.0]), None);
        assert_eq!(which(&[], 400, [1800.0, 1500.0]), None);
    }
}
