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

/// A doubled angle may differ from the expected one by this and by its error, in turns. Ours: no skew is smaller.
const SURE: f64 = 0.0005;

/// Fewest pairs of a distance.
const FEWEST: u32 = 5;

/// Angles closer than this are alike, in turns. Ours: 80 us of a turn of 8 ms.
const ALIKE: f64 = 0.01;

/// Share of the pairs that must have the same angle. Ours: pairs on one track are more than half at a third of it.
const MOST_ALIKE: f64 = 0.5;

/// The largest angle that is doubled, in turns. Ours: more than half of such pairs are on one track.
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
        // The angle nearest to the expected one. The first one is small and positive, but for its error.
        let angle = expected + wrapped(angle - expected);
        if index == 0 && angle < -ALIKE {
            return Err(none);
        }
        // Most pairs may cross the end of a track, and differ by the skew.
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

/// Estimates the skew in sectors, from pairs that are exactly one track of `sectors` apart.
pub fn skew(turns: &[f64], sectors: f64) -> Measured {
    check_samples(turns.len(), FEWEST)?;
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

/// The most frequent angle, its error (twice its standard error), and the number of angles behind it.
fn most_frequent(turns: &[f64]) -> Option<(f64, f64, u32)> {
    let alike = |center: f64| turns.iter().map(move |turn| wrapped(turn - center)).filter(|off| off.abs() < ALIKE);
    let center = turns.iter().copied().max_by_key(|turn| alike(*turn).count())?;
    let offsets: Vec<f64> = alike(center).collect();
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
    fn the_skew_is_the_angle_between_tracks() {
        let turns = [3.0 / 46.0, 3.0 / 46.0, 9.0 / 46.0, 3.0 / 46.0, 3.0 / 46.0, 3.0 / 46.0 - 1.0];
        assert_eq!(skew(&turns, 46.0).expect("alike").value, 3.0);
        assert_eq!(skew(&[0.0; 6], 48.0).expect("alike").value, 0.0);
        assert!(skew(&[0.1, 0.3, 0.5, 0.7, 0.9], 48.0).is_err());
    }
}
