//! Judges whether a time was long enough for the clock.

use units::Nanos;

use super::{Mark, MarkCode};

/// A time must be at least this multiple of an empty round's time. Then the clock's own cost is at most a hundredth of
/// it.
const QUANTA: f64 = 100.0;

/// Returns a mark if the elapsed time is too short. `nothing` is the elapsed time that the clock shows for an empty
/// round.
pub fn short(elapsed_s: f64, nothing: Nanos) -> Option<Mark> {
    let least = QUANTA * nothing.as_secs_f64();
    (elapsed_s < least).then(|| Mark {
        code: MarkCode::Short,
        value: Some(elapsed_s),
        text: format!("a round took {}; an empty round takes {nothing}", Nanos((elapsed_s * 1e9).round() as u64)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_times_nothing_is_long_enough() {
        let nothing = Nanos(40);
        assert_eq!(short(4.0e-6, nothing), None);
        let mark = short(3.9e-6, nothing).expect("a mark");
        assert_eq!((mark.code, mark.value), (MarkCode::Short, Some(3.9e-6)));
        assert!(mark.text.contains("3.9 us") || mark.text.contains("3.90 us"), "{}", mark.text);
    }
}
