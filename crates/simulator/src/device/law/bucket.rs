//! A token bucket, exact: tokens are counted in units so small that a nanosecond adds a whole number of them.

use units::Nanos;

use crate::description::{self, Counts, Limits, Tokens};
use crate::faults::{self, Fault};
use workload::TapeKind;

/// Units per token: a rate in thousandths of a token per second adds as many units per nanosecond.
const TOKEN: u128 = 1_000 * 1_000_000_000;

/// State of a bucket.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    settings: description::Bucket,
    level: Level,
}

impl Bucket {
    pub(super) fn new(settings: &description::Bucket) -> Bucket {
        let capacity = u128::from(settings.burst_tokens) * TOKEN;
        Bucket { level: Level::full(capacity, settings.milli_tokens_per_second), settings: settings.clone() }
    }

    /// Returns the moment at which a request that arrived at `at` has its tokens. Requests are paid for in the order of
    /// arrival.
    pub(super) fn admit(&mut self, at: Nanos, kind: TapeKind, bytes: u32, bios: u16) -> Nanos {
        let is_limited = match self.settings.limits {
            Limits::All => kind != TapeKind::Flush,
            Limits::Reads => kind == TapeKind::Read,
            Limits::Writes => kind == TapeKind::Write,
        };
        let is_switched_off = match self.settings.tokens {
            Tokens::Bytes => faults::is_planted(Fault::NoByteBucket),
            Tokens::Requests { .. } => faults::is_planted(Fault::NoRequestBucket),
        };
        if !is_limited || is_switched_off {
            return at;
        }
        self.level.take(at, u128::from(self.cost(bytes, bios)) * TOKEN)
    }

    fn cost(&self, bytes: u32, bios: u16) -> u64 {
        let is_bios = matches!(self.settings.tokens, Tokens::Requests { counts: Counts::Bios, .. });
        if is_bios && faults::is_planted(Fault::BiosNotCounted) {
            return self.settings.cost(bytes, 1);
        }
        if faults::is_planted(Fault::AnySizeIsOneRequest) && matches!(self.settings.tokens, Tokens::Requests { .. }) {
            return 1;
        }
        self.settings.cost(bytes, bios)
    }
}

/// A level that rises at a constant rate up to its capacity, and from which requests take their share in the order of
/// arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    capacity: u128,
    /// Units per nanosecond.
    rate: u128,
    level: u128,
    /// The moment of `level`.
    at: Nanos,
}

impl Level {
    /// A full level at moment 0.
    pub(super) fn full(capacity: u128, rate: u64) -> Level {
        Level { capacity, rate: rate.into(), level: capacity, at: Nanos::ZERO }
    }

    /// Takes `share` units, and returns the moment at which they are available. If the share exceeds the capacity, the
    /// level rises above the capacity until it has the share. Otherwise the request would wait forever.
    pub(super) fn take(&mut self, at: Nanos, share: u128) -> Nanos {
        self.rise(at);
        if self.level < share {
            let wait = (share - self.level).div_ceil(self.rate);
            self.level += wait * self.rate;
            self.at = self.at.saturating_add(Nanos(u64::try_from(wait).unwrap_or(u64::MAX)));
        }
        self.level -= share;
        self.at
    }

    /// Raises the level until that moment.
    fn rise(&mut self, at: Nanos) {
        let rest = at.saturating_sub(self.at);
        if !faults::is_planted(Fault::NoRefill) {
            self.level = (self.level + u128::from(rest.0) * self.rate).min(self.capacity.max(self.level));
        }
        self.at = self.at.max(at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_bucket_gives_its_burst_at_once_and_then_its_rate() {
        let mut level = Level::full(3 * TOKEN, 2_000);
        let taken = [0; 5].map(|at| level.take(Nanos(at), TOKEN).0);
        assert_eq!(taken, [0, 0, 0, 500_000_000, 1_000_000_000]);
        // A pause of 500 ms adds one token. A long pause fills the bucket.
        assert_eq!(level.take(Nanos(1_500_000_000), TOKEN), Nanos(1_500_000_000));
        let taken = [0; 4].map(|_| level.take(Nanos(9_000_000_000), TOKEN).0);
        assert_eq!(taken, [9_000_000_000, 9_000_000_000, 9_000_000_000, 9_500_000_000]);
    }

    #[test]
    fn a_share_above_the_capacity_comes_in_time() {
        let mut level = Level::full(2 * TOKEN, 1_000);
        assert_eq!(level.take(Nanos(0), 5 * TOKEN), Nanos(3_000_000_000));
        assert_eq!(level.take(Nanos(0), TOKEN), Nanos(4_000_000_000));
    }

    proptest! {
        /// At full load, n tokens are available after (n - burst) / rate, rounded up to a nanosecond, and never later.
        #[test]
        fn burst_and_rate_are_exact(burst in 1..1000_u64, rate in 1..10_000_000_u64, more in 1..1000_u64) {
            let mut level = Level::full(u128::from(burst) * TOKEN, rate);
            let mut last = Nanos::ZERO;
            for _ in 0..burst + more {
                last = level.take(Nanos::ZERO, TOKEN);
            }
            prop_assert_eq!(u128::from(last.0), (u128::from(more) * TOKEN).div_ceil(rate.into()));
        }
    }
}
