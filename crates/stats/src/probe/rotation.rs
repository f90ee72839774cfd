//! The rotation of a disk: a sector comes under the heads at the same angle each time. So the completions of reads of
//! one sector are whole turns apart.

use workload::Served;

use super::estimate::{Estimate, Measured, NotMeasured, check_samples};

/// A read of a sector.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// The sector, or any number that names it.
    pub sector: u64,
    /// The times of the read.
    pub served: Served,
}

/// Fewest pairs of reads of one sector.
const FEWEST: u32 = 40;

/// The shortest and the longest turn that is looked for, in nanoseconds: 20,000 and 2,000 turns per minute.
const TURNS: [f64; 2] = [3e6, 30e6];

/// The step of the first search, as a share of the turn. Chosen: pairs that are [`FIRST_PAIRS`] turns apart then move
/// by less than a tenth of a turn.
const STEP: f64 = 1e-3;

/// The first search uses pairs up to this many of the shortest turns apart.
const FIRST_PAIRS: f64 = 300.0;

/// The largest distance from a whole turn, in turns, at which a pair is coherent. Chosen: 80 us of a turn of 8 ms.
const COHERENT: f64 = 0.01;

/// Share of the pairs that must be coherent. By chance it would be a fiftieth.
const MOST_COHERENT: f64 = 0.8;

/// Share of a turn over which the latencies must spread. Requests of a constant latency are multiples of it apart, too.
const SPREAD: f64 = 0.4;

/// Estimates the nanoseconds of a turn from reads of a few sectors in random order, in the order of their times.
pub fn turn(visits: &[Visit]) -> Measured {
    let mut apart = pairs(visits);
    check_samples(apart.len(), FEWEST)?;
    apart.sort_by(f64::total_cmp);
    let none = NotMeasured::Hidden("reads of a sector are not whole turns apart");
    let mut limit = FIRST_PAIRS * TURNS[0];
    let near = |limit: f64| &apart[..apart.partition_point(|apart| *apart <= limit)];
    while near(limit).len() < FEWEST as usize {
        limit *= 2.0;
    }
    let mut found = first(near(limit)).ok_or(none)?;
    // Pairs that are farther apart sharpen the turn, until all are used.
    loop {
        found = sharpened(found, near(limit)).ok_or(none)?;
        if near(limit).len() == apart.len() {
            break;
        }
        limit *= 2.0;
    }
    let errors: Vec<f64> = apart.iter().map(|apart| apart - found * (apart / found).round()).collect();
    let coherent = errors.iter().filter(|error| error.abs() < COHERENT * found).count();
    let mut latencies: Vec<f64> = visits.iter().map(|visit| super::latency::time(&visit.served)).collect();
    latencies.sort_by(f64::total_cmp);
    let spread = latencies[latencies.len() * 9 / 10] - latencies[latencies.len() / 10];
    if (coherent as f64) < MOST_COHERENT * errors.len() as f64 || spread < SPREAD * found {
        return Err(none);
    }
    let (value, error) = fitted(found, &apart).ok_or(none)?;
    Estimate { value, low: value - error, high: value + error, samples: apart.len() as u32 }.checked(0.001)
}

/// The times between reads of one sector.
fn pairs(visits: &[Visit]) -> Vec<f64> {
    let mut pairs = Vec::new();
    for (index, visit) in visits.iter().enumerate() {
        let earlier = visits[..index].iter().filter(|other| other.sector == visit.sector);
        pairs.extend(earlier.map(|other| visit.served.completed.0.abs_diff(other.served.completed.0) as f64));
    }
    pairs
}

/// Mean cosine of the angles between the reads: 1 if all are whole turns apart.
fn coherence(turn: f64, apart: &[f64]) -> f64 {
    apart.iter().map(|apart| (core::f64::consts::TAU * (apart / turn)).cos()).sum::<f64>() / apart.len() as f64
}

/// The longest turn with nearly the best coherence. A half of a turn is as coherent as the turn, so the longest counts.
fn first(apart: &[f64]) -> Option<f64> {
    let longest = apart.iter().copied().reduce(f64::max)?;
    let step = STEP.min(0.1 * TURNS[0] / longest);
    let count = ((TURNS[1] / TURNS[0]).ln() / step) as usize;
    let tried: Vec<(f64, f64)> = (0..count)
        .map(|index| TURNS[0] * (step * index as f64).exp())
        .map(|turn| (turn, coherence(turn, apart)))
        .collect();
    let best = tried.iter().map(|(_, coherence)| *coherence).reduce(f64::max)?;
    if best < MOST_COHERENT {
        return None;
    }
    let last = tried.iter().rposition(|(_, coherence)| *coherence > 0.9 * best)?;
    // `last` is at the edge of a peak: find its top.
    let around = &tried[last.saturating_sub(20)..=last];
    around.iter().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(turn, _)| *turn)
}

/// A better turn from pairs of which most are less than half a turn from a whole number of turns.
fn sharpened(turn: f64, apart: &[f64]) -> Option<f64> {
    let longest = apart.last()?;
    let width = turn * turn / longest;
    let tried = (0..=200).map(|index| turn + width * (f64::from(index) / 100.0 - 1.0) * 0.4);
    let best = tried.map(|turn| (turn, coherence(turn, apart))).max_by(|one, other| one.1.total_cmp(&other.1))?;
    fitted(best.0, apart).map(|(turn, _)| turn)
}

/// The turn by least squares over the coherent pairs, and twice its standard error.
fn fitted(turn: f64, apart: &[f64]) -> Option<(f64, f64)> {
    let turns: Vec<(f64, f64)> = apart
        .iter()
        .map(|apart| ((apart / turn).round(), *apart))
        .filter(|(count, apart)| (apart - count * turn).abs() < 10.0 * COHERENT * turn)
        .collect();
    let squares: f64 = turns.iter().map(|(count, _)| count * count).sum();
    let value = turns.iter().map(|(count, apart)| count * apart).sum::<f64>() / squares;
    let left: f64 = turns.iter().map(|(count, apart)| (apart - count * value).powi(2)).sum();
    let error = 2.0 * (left / turns.len() as f64 / squares).sqrt();
    (squares > 0.0).then_some((value, error))
}

#[cfg(test)]
mod tests {
    use units::{Nanos, Prng};

    use super::*;

    /// Reads of 20 sectors in random order; a seek takes 4 to 12 ms.
    fn visits(turn: f64, noise: u64) -> Vec<Visit> {
        let mut chance = Prng::new(11);
        let angles: Vec<f64> = (0..20).map(|_| chance.below(1_000_000) as f64 / 1e6).collect();
        let mut now = 0.0;
        let mut order: Vec<u64> = (0..9).flat_map(|_| 0..20).collect();
        chance.shuffle(&mut order);
        let mut visit = |sector: u64| {
            let issued = now;
            let arrived = now + 4e6 + chance.below(8_000_000) as f64;
            let angle = angles[sector as usize];
            now = ((arrived / turn - angle).ceil() + angle) * turn;
            let completed = now + if noise > 0 { chance.below(noise) as f64 } else { 0.0 };
            Visit { sector, served: Served { issued: Nanos(issued as u64), completed: Nanos(completed as u64) } }
        };
        order.into_iter().map(&mut visit).collect()
    }

    #[test]
    fn the_turn_comes_back() {
        for rpm in [3961.0, 3600.0, 4200.0, 5400.0, 7193.0, 15_000.0] {
            let true_turn = 60e9 / rpm;
            let estimate = turn(&visits(true_turn, 0)).expect("it rotates");
            assert!((estimate.value / true_turn - 1.0).abs() < 1e-6, "{rpm}: {estimate:?}");
            let noisy = turn(&visits(true_turn, 50_000)).expect("it rotates");
            assert!((noisy.value / true_turn - 1.0).abs() < 1e-4, "{rpm}: {noisy:?}");
        }
    }

    #[test]
    fn other_devices_do_not_rotate() {
        let mut chance = Prng::new(4);
        let mut now = 0;
        let mut reads = |time: &mut dyn FnMut(&mut Prng) -> u64| -> Vec<Visit> {
            (0..180)
                .map(|_| {
                    let issued = Nanos(now);
                    now += time(&mut chance);
                    Visit { sector: chance.below(20), served: Served { issued, completed: Nanos(now) } }
                })
                .collect()
        };
        assert!(turn(&reads(&mut |_| 5_000_000)).is_err(), "a constant latency");
        assert!(turn(&reads(&mut |chance| 100_000 + chance.below(20_000_000))).is_err(), "any latency");
        assert!(turn(&reads(&mut |chance| 100_000 + chance.below(1_000))).is_err());
        assert!(turn(&[]).is_err());
    }
}
