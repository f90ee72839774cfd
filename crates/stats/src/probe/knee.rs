//! A limit with a reserve: a token bucket, or a write cache. It serves quickly until the reserve is empty or full, and
//! then at a steady rate. The amounts over time are two lines with a knee between them.
//!
//! Behind the knee, the amount at time `t` is `reserve + rate x (t - service)`: the reserve is the value of the second
//! line at the service time of one request.

use super::estimate::{
    self, BELOW_LIMIT, BUCKET_FIRST, Estimate, Measured, NotMeasured, WIDEST, check_halves, check_samples, line,
};

/// Fewest completions on the two lines together.
const FEWEST: u32 = 60;

/// Fewest completions before the knee.
const FEWEST_BEFORE: f64 = 10.0;

/// Fewest different times of completions on the steady line, and in all. Chosen: if completions are seen together,
/// their sums are exact.
const FEWEST_STEADY: usize = 6;
const FEWEST_POINTS: u32 = 10;

/// Knees that are tried, over the whole time. Each finer search tries as many.
const TRIED: usize = 100;

/// The first line must be steeper by this factor. Chosen: devices without a reserve vary by less within seconds.
const STEEPER: f64 = 1.2;

/// Two lines must leave less than this share of what one line leaves. Chosen.
const LEFT: f64 = 0.1;

/// The second line must take at least this share of the time. Chosen: its slope needs several hundred milliseconds.
const STEADY_SHARE: f64 = 0.25;

/// Halves of the second line may differ by this share, and those of a gate without a knee. Chosen: another knee between
/// them changes the rate by more.
const HALVES_DIFFER: f64 = 0.03;

/// The most points of a fit. Chosen: more do not change it.
const MOST_POINTS: usize = 2000;

/// The limit of a device at depth, in amounts per second.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// A bucket or a cache: the steady rate.
    pub rate: Measured,
    /// A bucket or a cache: the amount beyond the steady rate.
    pub reserve: Measured,
    /// The rate of a gate, which has no reserve: that of the whole time, or of the time before the knee.
    pub gate: Measured,
    /// The rate of the quickest part.
    pub quickest: f64,
    /// The rate of the last half of the time, whatever limits it; NaN without any.
    pub last: f64,
}

/// A limit keeps requests waiting for at least as long as they are served. Chosen: with less, the device is sometimes
/// idle.
const WAITS: f64 = 2.0;

/// A gate lets one request pass at once.
const AT_ONCE: f64 = 1.5;

/// A reserve is seen if it holds at least this many requests. Chosen: the noise of a queue is a few requests.
const SEEN: f64 = 10.0;

/// Two lines through points: the position of the knee, both slopes, and the sum of squares that they leave.
#[derive(Clone, Copy, Debug)]
struct Knee {
    at: f64,
    slopes: [f64; 2],
    left: f64,
}

/// Finds the limit of equal requests. `ends` are their completion times in nanoseconds since the first issue, and
/// `service` is the time of a request that does not wait. Amounts are requests.
pub fn limit(ends: &[u64], service: f64, depth: u32) -> Limit {
    let mut ends = ends.to_vec();
    ends.sort_unstable();
    // Completions that were collected together happened at any time before. Only the sum of all completions is exact at
    // that time.
    let is_last = |index: usize| ends.get(index + 1) != Some(&ends[index]);
    let points: Vec<(f64, f64)> = (0..ends.len())
        .filter(|index| is_last(*index))
        .map(|index| ((ends[index] as f64 - service) / 1e9, (index + 1) as f64))
        .collect();
    let unknown = |why| Limit { rate: Err(why), reserve: Err(why), gate: Err(why), quickest: f64::NAN, last: f64::NAN };
    if let Err(why) = check_samples(ends.len(), FEWEST).and(check_samples(points.len(), FEWEST_POINTS)) {
        return unknown(why);
    }
    let half = points[points.len() - 1].0 / 2.0;
    let last = line(&points[points.partition_point(|point| point.0 < half)..]).map_or(f64::NAN, |(_, rate)| rate);
    let whole = ends.len() as f64 / (points[points.len() - 1].0 + service / 1e9);
    match knee(&points) {
        Err(why) => match from_the_start(&points, service, depth) {
            Ok((rate, reserve)) => {
                let gate = Err(NotMeasured::Hidden(BUCKET_FIRST));
                Limit { rate: Ok(rate), reserve: Ok(reserve), gate, quickest: whole, last }
            }
            Err(_) => {
                let gate = gate_rate(&points, service, depth, HALVES_DIFFER);
                Limit { gate, quickest: gate.map_or(whole, |rate| rate.value), last, ..unknown(why) }
            }
        },
        Ok(knee) => {
            let (before, behind): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.0 < knee.at);
            let (rate, reserve) = match steady(&before, &behind) {
                Ok((rate, reserve)) => (Ok(rate), Ok(reserve)),
                Err(why) => (Err(why), Err(why)),
            };
            // The time before the knee is short. A gate within a tenth is more accurate than none.
            let gate = gate_rate(&before[..before.len() * 9 / 10], service, depth, estimate::HALVES_DIFFER);
            Limit { rate, reserve, gate, quickest: knee.slopes[0], last }
        }
    }
}

/// The rate and the reserve of the line behind the knee.
fn steady(before: &[(f64, f64)], behind: &[(f64, f64)]) -> Result<(Estimate, Estimate), NotMeasured> {
    let time = |points: &[(f64, f64)]| points.last().map_or(0.0, |last| last.0 - points[0].0);
    let steady = &behind[behind.len() / 5..];
    let is_long = time(steady) > STEADY_SHARE * (time(before) + time(behind));
    let of_reserve = before.last().map_or(0.0, |last| last.1);
    if of_reserve < FEWEST_BEFORE || steady.len() < FEWEST_STEADY || !is_long {
        return Err(NotMeasured::Hidden("the rate did not become steady in time"));
    }
    let (first, second) = steady.split_at(steady.len() / 2);
    let fitted = |points: &[(f64, f64)]| line(points).ok_or(NotMeasured::Hidden("all completions at one time"));
    let ((start, rate), (at_first, first), (at_second, second)) = (fitted(steady)?, fitted(first)?, fitted(second)?);
    check_halves(first, second, HALVES_DIFFER)?;
    let samples = steady.len() as u32;
    let (low, high) = (rate.min(first).min(second), rate.max(first).max(second));
    let rate = Estimate { value: rate, low, high, samples };
    // The reserve is uncertain by a request in either direction.
    let (low, high) = (at_first.min(at_second).min(start - 1.0), at_first.max(at_second).max(start + 1.0));
    let reserve = Estimate { value: start, low, high, samples: before.len() as u32 + samples };
    Ok((rate.checked(WIDEST)?, reserve.checked(WIDEST)?))
}

/// The limit of a device at depth without a visible knee: the first line is too short to be seen, and the second one
/// begins at the reserve.
fn from_the_start(points: &[(f64, f64)], service: f64, depth: u32) -> Result<(Estimate, Estimate), NotMeasured> {
    check_waits(points, service, depth)?;
    let (rate, reserve) = steady(&points[..points.len() / 10], &points[points.len() / 10..])?;
    // The requests that pass at once are a reserve only if one more or less does not matter.
    if reserve.low < SEEN { Err(NotMeasured::Hidden("no burst credit")) } else { Ok((rate, reserve)) }
}

/// Checks that requests wait at this depth.
fn check_waits(points: &[(f64, f64)], service: f64, depth: u32) -> Result<(), NotMeasured> {
    let rest = &points[points.len() / 4..];
    let (_, rate) = line(rest).ok_or(NotMeasured::Hidden("all completions at one time"))?;
    if f64::from(depth) / rate < WAITS * service / 1e9 {
        return Err(NotMeasured::Hidden(BELOW_LIMIT));
    }
    Ok(())
}

/// The rate of a gate: requests wait, the rate is steady, and there is no reserve. Its halves may differ by this share.
fn gate_rate(points: &[(f64, f64)], service: f64, depth: u32, differ: f64) -> Measured {
    check_waits(points, service, depth)?;
    check_samples(points.len(), FEWEST_POINTS)?;
    let fitted = |points: &[(f64, f64)]| line(points).ok_or(NotMeasured::Hidden("all completions at one time"));
    let rest = &points[points.len() / 4..];
    let (first, second) = rest.split_at(rest.len() / 2);
    let ((start, value), (_, first), (_, second)) = (fitted(rest)?, fitted(first)?, fitted(second)?);
    check_halves(first, second, differ)?;
    let squares = rest.iter().map(|(time, done)| (done - start - value * time).powi(2)).sum::<f64>();
    let noise = (squares / rest.len() as f64).sqrt();
    if start > AT_ONCE + 2.0 * noise {
        return Err(NotMeasured::Hidden("the limit has a small burst credit, as token buckets have"));
    }
    let (low, high) = (value.min(first).min(second), value.max(first).max(second));
    Estimate { value, low, high, samples: rest.len() as u32 }.checked(WIDEST)
}

/// The knee of the best two lines.
fn knee(points: &[(f64, f64)]) -> Result<Knee, NotMeasured> {
    let step = points.len().div_ceil(MOST_POINTS);
    let points: Vec<(f64, f64)> = points.iter().step_by(step).copied().collect();
    let none = NotMeasured::Hidden("the rate did not change: no burst credit, or more than the probe used");
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let (mut from, mut to, mut best) = (first, last, None::<Knee>);
    for _ in 0..3 {
        let width = (to - from) / TRIED as f64;
        for index in 1..TRIED {
            let tried = two_lines(&points, from + width * index as f64);
            best = match (best, tried) {
                (Some(best), Some(tried)) if best.left <= tried.left => Some(best),
                (best, tried) => tried.or(best),
            };
        }
        let at = best.ok_or(none)?.at;
        (from, to) = ((at - 2.0 * width).max(first), (at + 2.0 * width).min(last));
    }
    let best = best.ok_or(none)?;
    let (start, slope) = line(&points).ok_or(none)?;
    let left: f64 = points.iter().map(|(x, y)| (y - start - slope * x).powi(2)).sum();
    let is_knee = best.slopes[0] > STEEPER * best.slopes[1] && best.slopes[1] > 0.0 && best.left < LEFT * left;
    if is_knee { Ok(best) } else { Err(none) }
}

/// The best two lines with this knee: least squares for `y = a + b min(x, knee) + c max(x - knee, 0)`.
fn two_lines(points: &[(f64, f64)], at: f64) -> Option<Knee> {
    let count = points.len() as f64;
    let parts = |x: f64| (x.min(at), (x - at).max(0.0));
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (u_mean, v_mean, y_mean) = (mean(&|p| parts(p.0).0), mean(&|p| parts(p.0).1), mean(&|p| p.1));
    let (mut uu, mut uv, mut vv, mut uy, mut vy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let (u, v) = parts(*x);
        let (u, v, y) = (u - u_mean, v - v_mean, y - y_mean);
        (uu, uv, vv, uy, vy) = (uu + u * u, uv + u * v, vv + v * v, uy + u * y, vy + v * y);
    }
    let determinant = uu * vv - uv * uv;
    if determinant.is_nan() || determinant <= 0.0 {
        return None;
    }
    let slopes = [(uy * vv - vy * uv) / determinant, (vy * uu - uy * uv) / determinant];
    let left = points.iter().map(|(x, y)| {
        let (u, v) = parts(*x);
        (y - y_mean - slopes[0] * (u - u_mean) - slopes[1] * (v - v_mean)).powi(2)
    });
    Some(Knee { at, slopes, left: left.sum() })
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    /// Completions of a bucket: quick until the tokens are used, then at the rate. Each takes `service` ns more.
    fn bucket(rate: f64, tokens: f64, quick: f64, service: u64, noise: u64) -> Vec<u64> {
        let mut chance = Prng::new(9);
        let mut ends = Vec::new();
        for index in 1.. {
            let count = f64::from(index);
            let admitted = f64::max(count / quick, (count - tokens) / rate) * 1e9;
            if admitted > 4e9 {
                return ends;
            }
            let late = if noise > 0 { chance.below(noise) } else { 0 };
            ends.push(admitted as u64 + service + late);
        }
        ends
    }

    #[test]
    fn a_bucket_comes_back() {
        let found = limit(&bucket(1500.0, 3999.0, 16_000.0, 500_000, 0), 500_000.0, 32);
        let (rate, tokens) = (found.rate.expect("steady").value, found.reserve.expect("a knee").value);
        assert!((rate / 1500.0 - 1.0).abs() < 1e-4, "{rate}");
        assert!((tokens / 3999.0 - 1.0).abs() < 1e-3, "{tokens}");
        assert!((found.gate.expect("a gate before the knee").value / 16_000.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_burst_of_most_completions_is_not_in_the_last_rate() {
        let found = limit(&bucket(1000.0, 8000.0, 16_000.0, 500_000, 0), 500_000.0, 32);
        assert!((found.last / 1000.0 - 1.0).abs() < 1e-3, "{found:?}");
    }

    /// A host that collects completions late, because it waits for room to issue the next requests.
    #[test]
    fn completions_that_are_seen_together_change_nothing() {
        for (burst, batch) in [(600.0, 20), (200.0, 8), (80.0, 20)] {
            let ends = bucket(500.0, burst, 10_000.0, 300_000, 0);
            let seen = |chunk: &[u64]| vec![chunk[chunk.len() - 1]; chunk.len()];
            let found = limit(&ends.chunks(batch).flat_map(seen).collect::<Vec<u64>>(), 300_000.0, 32);
            assert!((found.rate.expect("steady").value / 500.0 - 1.0).abs() < 0.002, "{found:?}");
            assert!((found.reserve.expect("a knee").value / burst - 1.0).abs() < 0.005, "{found:?}");
        }
    }

    #[test]
    fn noise_changes_a_bucket_by_less_than_a_percent() {
        let found = limit(&bucket(1500.0, 3999.0, 16_000.0, 500_000, 2_000_000), 1_500_000.0, 32);
        assert!((found.rate.expect("steady").value / 1500.0 - 1.0).abs() < 0.01);
        assert!((found.reserve.expect("a knee").value / 3999.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_constant_rate_is_a_gate() {
        for noise in [0, 2_000_000] {
            let found = limit(&bucket(2000.0, 1.0, 1e9, 300_000, noise), 300_000.0, 32);
            assert!(matches!(found.rate, Err(NotMeasured::Hidden(_))), "{found:?}");
            assert!((found.gate.expect("a gate").value / 2000.0 - 1.0).abs() < 0.01);
        }
        for (burst, is_seen) in [(300.0, true), (52.0, true), (5.0, false), (2.0, false)] {
            let found = limit(&bucket(2000.0, burst, 1e9, 300_000, 0), 300_000.0, 32);
            assert!(found.gate.is_err(), "{found:?}");
            assert_eq!(found.reserve.is_ok(), is_seen, "{found:?}");
            if let Ok(reserve) = found.reserve {
                assert!((reserve.value / burst - 1.0).abs() < 0.01, "{reserve:?}");
            }
        }
    }

    #[test]
    fn a_bucket_that_lasts_too_long_is_not_measured() {
        let found = limit(&bucket(100.0, 15_000.0, 4_000.0, 500_000, 0), 500_000.0, 32);
        assert!(found.rate.is_err() && found.reserve.is_err(), "{found:?}");
    }

    #[test]
    fn a_queue_that_does_not_wait_has_no_limit() {
        let waves: Vec<u64> = (0..4000u64).map(|index| (index / 32 + 1) * 1_000_000).collect();
        let found = limit(&waves, 1_000_000.0, 32);
        assert!(found.gate.is_err() && found.rate.is_err(), "{found:?}");
    }
}
