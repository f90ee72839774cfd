//! The time that an execution probably takes. The trials tell it before the first round. Later, a device may be slower
//! than in its trials, for example because its burst credits are used up: rows that have not run since are then slower,
//! too.

use units::Nanos;

/// Shorter executions tell nothing about the pace of a target: mostly they wait until it is idle.
const TELLING: Nanos = Nanos::from_secs(1);

/// The time of one execution of an alternative, as the trials predict it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The targets of the alternative.
    pub targets: Vec<usize>,
    /// The time; zero if it is not known.
    pub time: Nanos,
}

/// The time of an execution: that of the last one, or the forecast times the slowest pace on a target of it, whichever
/// is longer. `lasted` are the times of the last executions of all alternatives, or zero.
pub fn expected(forecasts: &[Forecast], lasted: &[Nanos], alternative: usize) -> Nanos {
    let last = lasted.get(alternative).copied().unwrap_or_default();
    let Some(own) = forecasts.get(alternative) else { return last };
    let paces = forecasts.iter().zip(lasted).filter_map(|(other, lasted)| {
        let is_telling = *lasted >= TELLING && other.time > Nanos::ZERO;
        let is_near = other.targets.iter().any(|target| own.targets.contains(target));
        (is_telling && is_near).then(|| lasted.as_secs_f64() / other.time.as_secs_f64())
    });
    let slowest = paces.max_by(f64::total_cmp).unwrap_or(1.0);
    last.max(Nanos((own.time.0 as f64 * slowest) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    fn forecast(target: usize, time: Nanos) -> Forecast {
        Forecast { targets: vec![target], time }
    }

    #[test]
    fn the_slowest_pace_of_the_target_counts() {
        let forecasts = [forecast(0, S(2)), forecast(0, S(4)), forecast(1, S(4)), forecast(0, Nanos::ZERO)];
        let of = |lasted: [Nanos; 4]| [0, 1, 2, 3].map(|alternative| expected(&forecasts, &lasted, alternative));
        let none = Nanos::ZERO;
        assert_eq!(of([none; 4]), [S(2), S(4), S(4), none], "the trials");
        // The second target is as fast as before.
        assert_eq!(of([S(20), none, none, none]), [S(20), S(40), S(4), none]);
        assert_eq!(of([S(1), none, none, S(9)]), [S(1), S(2), S(4), S(9)], "faster than its trials");
        let short = Nanos::from_millis(900);
        assert_eq!(of([short, none, none, none]), [S(2), S(4), S(4), none], "too short to tell anything");
        assert_eq!(expected(&[], &[S(3), none], 0), S(3), "without trials");
    }
}
