//! Intended starts of operations in an open loop: a schedule fixes them, regardless of earlier operations.

use alloc::vec;
use alloc::vec::Vec;

use units::{Nanos, Prng};

/// The distribution of the intervals between intended starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrivals {
    /// All intervals are equal.
    Constant,
    /// Random intervals with an exponential distribution: a Poisson process.
    Poisson,
}

impl Arrivals {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Arrivals::Constant => "constant",
            Arrivals::Poisson => "poisson",
        }
    }
}

/// The rate of an open loop, in operations per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rates {
    /// One rate for all operations together.
    All(u32),
    /// Two rates: reads and writes have a schedule each.
    Apart {
        /// Reads per second.
        reads: u32,
        /// Writes per second.
        writes: u32,
    },
}

impl Rates {
    /// Each number.
    pub fn all(self) -> Vec<u32> {
        match self {
            Rates::All(rate) => vec![rate],
            Rates::Apart { reads, writes } => vec![reads, writes],
        }
    }

    /// The rate of all operations together.
    pub fn sum(self) -> u32 {
        self.all().into_iter().fold(0, u32::saturating_add)
    }
}

/// Fractional bits of a nanosecond in the schedule: 2^16 parts. The rate is off by less than a millionth up to a
/// million per second.
const FINE: u32 = 16;

/// The maximum rate of a schedule, in operations per second.
pub const FASTEST: u32 = 10_000_000;

/// The longest schedule: half of the 2^48 nanoseconds that it can represent.
pub const LONGEST_SCHEDULE: Nanos = Nanos::from_secs(39 * 3600);

/// A schedule of intended starts.
#[derive(Clone, Debug)]
pub struct Pace {
    arrivals: Arrivals,
    /// The mean interval and the next start, in 2^-16 nanoseconds.
    interval: u64,
    next: u64,
    prng: Prng,
    /// The number of ops in a unit of work, which has one start, and the number left of the current unit.
    ops: u32,
    left: u32,
}

impl Pace {
    /// A schedule of `per_second` units per second, each of `ops` ops. Panics if the rate is zero or above [`FASTEST`].
    pub fn new(per_second: u32, arrivals: Arrivals, ops: u32, seed: u64) -> Pace {
        assert!((1..=FASTEST).contains(&per_second) && ops > 0, "{per_second} per second");
        let interval = (1_000_000_000 << FINE) / u64::from(per_second);
        Pace { arrivals, interval, next: 0, prng: Prng::new(seed), ops, left: 0 }
    }

    /// The intended start of the next op. `None` if the op belongs to the same unit as the one before.
    #[inline]
    pub(crate) fn start(&mut self) -> Option<Nanos> {
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        self.left = self.ops - 1;
        let start = Nanos(self.next >> FINE);
        self.next += match self.arrivals {
            Arrivals::Constant => self.interval,
            Arrivals::Poisson => exponential(&mut self.prng, self.interval),
        };
        Some(start)
    }

    /// Reduces the schedule to the share of program `index` out of `of`. Each share has `1/of` of the rate. Constant
    /// starts are staggered, so that the programs take turns. Poisson processes add up to a Poisson process.
    pub(crate) fn share(&mut self, index: u32, of: u32) {
        self.next = match self.arrivals {
            Arrivals::Constant => self.interval * u64::from(index),
            Arrivals::Poisson if index == 0 => 0,
            Arrivals::Poisson => exponential(&mut self.prng, self.interval * u64::from(of)),
        };
        self.interval *= u64::from(of);
    }

    /// The time that the schedule gives to this number of units, on average. With another schedule, units of both
    /// count.
    pub(crate) fn span(&self, other: Option<&Pace>, units: u64) -> Nanos {
        let interval = u128::from(self.interval);
        // The rates add up.
        let interval = other.map_or(interval, |other| {
            let other = u128::from(other.interval);
            interval * other / (interval + other)
        });
        Nanos(((interval * u128::from(units)) >> FINE) as u64)
    }

    /// True if its next start is before that of the other schedule.
    pub(crate) fn is_before(&self, other: &Pace) -> bool {
        self.next < other.next
    }

    /// Reseeds the random intervals; their mean stays.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.prng = Prng::new(self.prng.next_u64() ^ seed);
    }
}

/// A random number from the exponential distribution with this mean, without a logarithm (von Neumann, Various
/// techniques used in connection with random digits, 1951). It draws runs of falling uniform numbers. The first run of
/// odd length gives the fraction by its first number; the number of runs before it is the whole part.
fn exponential(prng: &mut Prng, mean: u64) -> u64 {
    let mut whole = 0;
    loop {
        let first = prng.next_u64();
        let mut last = first;
        let mut is_odd = true;
        loop {
            let next = prng.next_u64();
            if next >= last {
                break;
            }
            last = next;
            is_odd = !is_odd;
        }
        if is_odd {
            return whole * mean + ((u128::from(first) * u128::from(mean)) >> 64) as u64;
        }
        whole += 1;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn starts(pace: &mut Pace, count: usize) -> Vec<u64> {
        (0..count).map(|_| pace.start().expect("a unit of one op").0).collect()
    }

    #[test]
    fn constant_starts_are_equally_spaced_without_drift() {
        let mut pace = Pace::new(3_000, Arrivals::Constant, 1, 1);
        let starts = starts(&mut pace, 3_001);
        assert_eq!(starts[0], 0);
        assert!(starts[3_000].abs_diff(1_000_000_000) < 1_000, "{}", starts[3_000]);
        assert!(starts.windows(2).all(|pair| (333_333..=333_334).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn poisson_starts_have_exponential_gaps() {
        let mut pace = Pace::new(1_000, Arrivals::Poisson, 1, 7);
        let starts = starts(&mut pace, 40_001);
        let apart: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = starts[40_000] / 40_000;
        assert!((980_000..1_020_000).contains(&mean), "{mean}");
        // In an exponential distribution, 1/e of the values exceed the mean, and 1/e^3 exceed three times the mean.
        let beyond = |times: u64| apart.iter().filter(|&&span| span > times * 1_000_000).count();
        assert!((14_300..15_100).contains(&beyond(1)), "{}", beyond(1));
        assert!((1_850..2_130).contains(&beyond(3)), "{}", beyond(3));
    }

    #[test]
    fn programs_sharing_a_schedule_keep_its_rate() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let shares = (0..3).flat_map(|index| {
                let mut pace = Pace::new(3_000, arrivals, 1, 7);
                pace.reseed(u64::from(index));
                pace.share(index, 3);
                starts(&mut pace, 4_000)
            });
            let mut all: Vec<u64> = shares.collect();
            all.sort_unstable();
            let in_a_second = all.iter().filter(|&&start| start < 1_000_000_000).count();
            assert!((2_850..3_150).contains(&in_a_second), "{in_a_second} {arrivals:?}");
            let apart = all.windows(2).filter(|pair| (333_332..=333_335).contains(&(pair[1] - pair[0]))).count();
            assert_eq!(apart > 11_000, arrivals == Arrivals::Constant, "{apart} {arrivals:?}");
        }
    }

    #[test]
    fn a_unit_of_two_ops_has_one_start() {
        let mut pace = Pace::new(1_000, Arrivals::Constant, 2, 1);
        let told: Vec<bool> = (0..4).map(|_| pace.start().is_some()).collect();
        assert_eq!(told, [true, false, true, false]);
    }
}
