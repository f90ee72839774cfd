//! The reasons to refuse a prediction: the law of the run's own device does not explain the run, or it waited for a
//! processor.

/// The largest error of the replay on the run's own device, as a share of the measured time. Chosen: the replays of
/// seven commands on four devices missed by 1.9 % in the median and by 10 % at most.
pub const MOST_MISSED: f64 = 0.1;

/// The largest share of the time in which the program waited for a processor. A guess: replays of noisy runs missed by
/// up to 93 %.
pub const MOST_WAITED: f64 = 0.1;

/// The reason to refuse a prediction.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Other load disturbed the run.
    #[error(
        "the command waited for a processor {:.0} % of its time; at most {:.0} % are allowed",
        .0 * 100.0, MOST_WAITED * 100.0
    )]
    Waited(f64),
    /// The law of the run's own device does not explain the time.
    #[error(
        "the replay on the run's own device misses the measured time by {:.0} %; at most {:.0} % are allowed",
        .0 * 100.0,
        MOST_MISSED * 100.0
    )]
    Misses(f64),
    /// The run took no time.
    #[error("the run has no measured time")]
    NoTime,
}

impl Refusal {
    /// The hint.
    pub fn hint(self) -> &'static str {
        match self {
            Refusal::Waited(_) => "record the command again on an idle machine",
            Refusal::Misses(_) => "record and probe again on an idle machine, with the same device and mount options",
            Refusal::NoTime => "record the command again",
        }
    }
}

/// The reason to refuse a prediction from this run: its measured seconds, the seconds of the replay on its own device,
/// and the share of its time in which it waited for a processor, if that is known.
pub fn refusal(measured: f64, replayed: f64, waited: Option<f64>) -> Option<Refusal> {
    if measured <= 0.0 || !measured.is_finite() {
        return Some(Refusal::NoTime);
    }
    if let Some(waited) = waited.filter(|waited| *waited > MOST_WAITED) {
        return Some(Refusal::Waited(waited));
    }
    let missed = (replayed / measured - 1.0).abs();
    (missed > MOST_MISSED).then_some(Refusal::Misses(missed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_refused_above_the_limits_only() {
        assert_eq!(refusal(1.0, 1.09, Some(0.1)), None);
        assert_eq!(refusal(1.0, 0.91, None), None);
        assert_eq!(refusal(1.0, 1.0, Some(0.11)), Some(Refusal::Waited(0.11)));
        assert!(matches!(refusal(1.0, 1.12, Some(0.0)), Some(Refusal::Misses(missed)) if (missed - 0.12).abs() < 1e-9));
        assert!(matches!(refusal(1.0, 0.85, None), Some(Refusal::Misses(_))));
        assert_eq!(refusal(0.0, 0.0, None), Some(Refusal::NoTime));
        let text = Refusal::Misses(0.253).to_string();
        assert!(text.contains("by 25 %"), "{text}");
    }
}
