//! The seek time, from two reads: the second one waits for its sector. If the arm arrives in time, its latency is less
//! than a turn longer than the seek. Each latency gives a bracket, and a pause before the second read moves it.

use super::estimate::{Estimate, Measured, NotMeasured};

/// The largest contradiction of the brackets, as a share of a turn. Chosen: 80 us of a turn of 8 ms.
const CONTRADICTION: f64 = 0.01;

/// The widest bracket, as a share of the time. The design requires this for seeks.
const WIDEST: f64 = 0.06;

/// The bracket of the shortest time from issuing a read at one place to its completion at another, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SeekBracket {
    turn: f64,
    low: f64,
    high: f64,
    samples: u32,
    contradicts: bool,
}

impl SeekBracket {
    /// An open bracket, for a disk with this turn.
    pub fn new(turn: f64) -> SeekBracket {
        SeekBracket { turn, low: 0.0, high: f64::INFINITY, samples: 0, contradicts: false }
    }

    /// Narrows the bracket by the latency of a second read. The sector was missed one turn before it was read.
    pub fn add(&mut self, latency: f64) {
        self.samples += 1;
        self.low = self.low.max(latency - self.turn);
        self.high = self.high.min(latency);
        self.contradicts |= self.low > self.high + CONTRADICTION * self.turn;
    }

    /// The upper end.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The pause before the second read that halves the bracket. Without a pause, its completion was `apart` after that
    /// of the first read.
    pub fn next_pause(&self, apart: f64) -> f64 {
        (apart - f64::midpoint(self.low, self.high)).rem_euclid(self.turn)
    }

    /// The time, with the bracket of another one (of reads without a seek) subtracted from it.
    pub fn beyond(&self, other: &SeekBracket) -> Measured {
        if self.contradicts || other.contradicts {
            return Err(NotMeasured::Hidden("the times of equal seeks vary"));
        }
        if self.samples == 0 || other.samples == 0 {
            return Err(NotMeasured::TooFew { samples: 0, needed: 1 });
        }
        let slack = |bracket: &SeekBracket| (bracket.low.min(bracket.high), bracket.high.max(bracket.low));
        let ((low, high), (other_low, other_high)) = (slack(self), slack(other));
        let (low, high) = (low - other_high, high - other_low);
        Estimate { value: f64::midpoint(low, high), low, high, samples: self.samples }.checked(WIDEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The latency of a read that needs `seek`, of a sector that comes `phase` after the first read and then each turn.
    fn latency(seek: f64, phase: f64, turn: f64, pause: f64) -> f64 {
        phase + ((pause + seek - phase) / turn).ceil() * turn - pause
    }

    fn bracket(seek: f64, phase: f64, turn: f64) -> SeekBracket {
        let mut bracket = SeekBracket::new(turn);
        let apart = latency(seek, phase, turn, 0.0);
        bracket.add(apart);
        for _ in 0..14 {
            bracket.add(latency(seek, phase, turn, bracket.next_pause(apart)));
        }
        bracket
    }

    #[test]
    fn the_bracket_closes_around_the_seek() {
        let turn = 60e9 / 3961.0;
        for (seek, phase) in [(5e6, 1e6), (18e6, 9e6), (35e6, 14e6)] {
            let found = bracket(seek + 1.2e6, phase, turn).beyond(&bracket(1.2e6, 5e6, turn)).expect("narrow");
            assert!(found.low <= seek && seek <= found.high, "{found:?}");
            assert!((found.value / seek - 1.0).abs() < 0.005, "{found:?}");
        }
    }

    #[test]
    fn contradictions_and_open_brackets_are_not_measured() {
        let turn = 60e9 / 3961.0;
        let mut varying = bracket(5e6, 1e6, turn);
        varying.add(3e6);
        assert_eq!(varying.beyond(&bracket(1e6, 5e6, turn)), Err(NotMeasured::Hidden("the times of equal seeks vary")));
        let mut open = SeekBracket::new(turn);
        open.add(20e6);
        assert!(open.beyond(&bracket(1e6, 5e6, turn)).is_err());
    }
}
