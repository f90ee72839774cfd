//! Token buckets that limit a disk as volumes with burst credits are limited: a burst, then a sustained rate, for bytes
//! and for operations. The time is an argument, so the arithmetic can be tested with any clock.

use std::num::NonZeroU64;
use std::time::Duration;

/// Nanoseconds per second.
const SECOND: u128 = 1_000_000_000;

/// A bucket of tokens that starts full, and is filled at a constant rate.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    capacity: u64,
    /// Tokens per second.
    rate: NonZeroU64,
    /// The time at which the bucket is full again, in nanoseconds multiplied by the rate. Each request moves this
    /// deadline by its own tokens, even if its thread wakes late, and the product is an integer. So no part of a token
    /// is lost, and the sustained rate is exact.
    full_at: u128,
    /// Tokens that are given before all others, and never come back.
    credit: u64,
}

impl TokenBucket {
    /// A full bucket of this capacity, filled at this rate per second.
    pub fn new(capacity: u64, rate: NonZeroU64) -> TokenBucket {
        TokenBucket { capacity, rate, full_at: 0, credit: 0 }
    }

    /// A bucket that first gives this credit, once.
    fn with_credit(self, credit: u64) -> TokenBucket {
        TokenBucket { credit, ..self }
    }

    /// Takes tokens at this time, which never goes back. Returns the time until the bucket would have had them all.
    pub fn delay(&mut self, now: Duration, amount: u64) -> Duration {
        let free = amount.min(self.credit);
        self.credit -= free;
        let amount = amount - free;
        let rate = u128::from(self.rate.get());
        let now = now.as_nanos() * rate;
        self.full_at = self.full_at.max(now) + u128::from(amount) * SECOND;
        let missing = (self.full_at - now).saturating_sub(u128::from(self.capacity) * SECOND);
        Duration::from_nanos(u64::try_from(missing.div_ceil(rate)).unwrap_or(u64::MAX))
    }
}

/// A limit with a burst, in bytes or in operations.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The tokens of a full bucket, at least those of 10 ms. After a stall of the client, the disk catches up by as
    /// many tokens; a stall for longer lowers its mean rate.
    pub burst: u64,
    /// The rate per second of the burst; as fast as the disk can if not given. The bucket is filled meanwhile, so the
    /// burst lasts for `burst / (fast - sustained)` seconds.
    pub fast: Option<NonZeroU64>,
    /// The sustained rate per second, at which the bucket is filled.
    pub sustained: NonZeroU64,
    /// True if the burst never comes back, so that the time between requests changes nothing.
    pub once: bool,
}

impl Limit {
    /// A limit of `sustained` per second after a burst as fast as the disk can. Panics if the rate is zero.
    pub fn new(burst: u64, sustained: u64) -> Limit {
        Limit { burst, fast: None, sustained: NonZeroU64::new(sustained).expect("a rate"), once: false }
    }

    /// Makes the burst one that never comes back.
    #[must_use]
    pub fn once(self) -> Limit {
        Limit { once: true, ..self }
    }

    /// Limits the burst to this rate. Panics if it is zero.
    #[must_use]
    pub fn fast(self, rate: u64) -> Limit {
        Limit { fast: Some(NonZeroU64::new(rate).expect("a rate")), ..self }
    }

    fn buckets(self) -> Vec<TokenBucket> {
        // A bucket without capacity would lose the time by which a thread wakes too late, and its rate would be too
        // low. 10 ms is many times a usual delay. More would let a disk start faster after each pause.
        let least = |rate: NonZeroU64| rate.get() / 100;
        let fast = self.fast.map(|rate| TokenBucket::new(least(rate), rate));
        let (capacity, credit) = if self.once { (0, self.burst) } else { (self.burst, 0) };
        let sustained = TokenBucket::new(capacity.max(least(self.sustained)), self.sustained).with_credit(credit);
        fast.into_iter().chain([sustained]).collect()
    }
}

/// The limits of a disk.
#[derive(Clone, Debug)]
pub struct Throttle {
    bytes: Vec<TokenBucket>,
    operations: Vec<TokenBucket>,
}

impl Throttle {
    /// A limit on bytes and a limit on operations, both with full buckets.
    pub fn new(bytes: Option<Limit>, operations: Option<Limit>) -> Throttle {
        let buckets = |limit: Option<Limit>| limit.map(Limit::buckets).unwrap_or_default();
        Throttle { bytes: buckets(bytes), operations: buckets(operations) }
    }

    /// Counts a request of this many bytes that arrives at this time. Returns the time until every limit allows it.
    pub fn delay(&mut self, now: Duration, bytes: u64) -> Duration {
        let of_bytes = self.bytes.iter_mut().map(|bucket| bucket.delay(now, bytes));
        let of_operations = self.operations.iter_mut().map(|bucket| bucket.delay(now, 1));
        of_bytes.chain(of_operations).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    /// The size of a request.
    const BYTES: u64 = MB / 8;

    /// Sends requests one after the other, each this late after the one before was done. Returns the time at which the
    /// last one was done.
    fn one_after_the_other(throttle: &mut Throttle, begin: Duration, late: Duration, count: u64) -> Duration {
        (0..count).fold(begin, |now, _| now + late + throttle.delay(now + late, BYTES))
    }

    #[test]
    fn a_full_bucket_gives_its_capacity_at_once_and_then_its_rate() {
        let mut bucket = TokenBucket::new(100, NonZeroU64::new(10).expect("a rate"));
        let second = Duration::from_secs(1);
        assert_eq!(bucket.delay(second, 60), Duration::ZERO);
        assert_eq!(bucket.delay(second, 40), Duration::ZERO);
        assert_eq!(bucket.delay(second, 10), second);
        assert_eq!(bucket.delay(second, 10), 2 * second, "behind the one before");
        assert_eq!(bucket.delay(3 * second, 1), Duration::from_millis(100));
        // The bucket holds no more than its capacity, however long it was not used.
        assert_eq!(bucket.delay(1000 * second, 101), Duration::from_millis(100));
    }

    #[test]
    fn a_burst_that_is_given_once_does_not_come_back() {
        let mut throttle = Throttle::new(Some(Limit::new(10 * MB, MB).once()), None);
        let hour = Duration::from_secs(3600);
        assert_eq!(throttle.delay(hour, 9 * MB), Duration::ZERO);
        // 1 MB of credit and the 10 ms that a late thread may catch up.
        assert_eq!(throttle.delay(2 * hour, 2 * MB), Duration::from_millis(990));
        assert_eq!(throttle.delay(3 * hour, MB), Duration::from_millis(990));
    }

    #[test]
    fn the_sustained_rate_is_exact_to_the_nanosecond() {
        // 7 tokens at 3 per second take no whole number of nanoseconds.
        let mut bucket = TokenBucket::new(0, NonZeroU64::new(3).expect("a rate"));
        let last = (0..300_000).map(|_| bucket.delay(Duration::ZERO, 7)).last();
        assert_eq!(last, Some(Duration::from_secs(700_000)));
    }

    #[test]
    fn a_late_thread_does_not_lower_the_rate() {
        let mut throttle = Throttle::new(Some(Limit::new(0, 20 * MB)), None);
        let late = Duration::from_millis(1);
        let done = one_after_the_other(&mut throttle, Duration::ZERO, late, 1600);
        // 200 MB at 20 MB/s from the first request on, less the 10 ms that a late thread may catch up.
        assert_eq!(done, late + Duration::from_millis(10_000 - 10));
    }

    #[test]
    fn a_burst_has_its_own_rate_and_ends_when_the_bucket_is_empty() {
        let mut throttle = Throttle::new(Some(Limit::new(700 * MB, 20 * MB).fast(300 * MB)), None);
        let half = one_after_the_other(&mut throttle, Duration::ZERO, Duration::ZERO, 3000);
        assert_eq!(half, Duration::from_millis(1250 - 10));
        // The bucket is empty after 700 / (300 - 20) = 2.5 s and 750 MB.
        let burst = one_after_the_other(&mut throttle, half, Duration::ZERO, 3000);
        assert_eq!(burst, Duration::from_millis(2500));
        let then = one_after_the_other(&mut throttle, burst, Duration::ZERO, 1600);
        assert_eq!(then, Duration::from_millis(2500 + 10_000));
        // A rest of five seconds gives a burst of 100 MB.
        let rested = then + Duration::from_secs(5);
        assert_eq!(throttle.delay(rested, 3 * MB), Duration::ZERO);
        let second = Duration::from_secs(1);
        assert_eq!(throttle.delay(rested + second, 117 * MB), Duration::from_millis(390 - 10));
        assert_eq!(throttle.delay(rested + 2 * second, 30 * MB), Duration::from_millis(500));
    }

    #[test]
    fn operations_are_limited_whatever_their_size() {
        let mut throttle = Throttle::new(Some(Limit::new(0, 60 * MB)), Some(Limit::new(0, 100)));
        let done = one_after_the_other(&mut throttle, Duration::ZERO, Duration::ZERO, 501);
        assert_eq!(done, Duration::from_secs(5), "501 operations, of which the first is free");
        // A large request waits for its bytes.
        assert_eq!(throttle.delay(done, 61 * 6 * MB / 10), Duration::from_millis(610 - 10));
        assert_eq!(Throttle::new(None, None).delay(done, u64::MAX), Duration::ZERO);
    }
}
