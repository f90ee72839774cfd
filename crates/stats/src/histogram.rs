//! Counts of times by how long they are, to three digits: as of G. Tene's HdrHistogram, a row of equally wide buckets
//! for each power of two. Fixed in size; adding one neither allocates nor fails, and what few buckets hold is soon added
//! and forgotten.

/// Buckets of a row: a time is told from one that is a thousandth longer.
const ROW: usize = 1 << ROW_BITS;
const ROW_BITS: u32 = 10;

/// The longest time that is told apart, in nanoseconds: more than an hour. Anything longer counts as that.
pub const LONGEST: u64 = (1 << LONGEST_BITS) - 1;
const LONGEST_BITS: u32 = 42;

/// Two rows for what is below 2048, where each has a bucket of its own, and one for each power of two above.
const BUCKETS: usize = ROW * (LONGEST_BITS - ROW_BITS + 1) as usize;

/// How many there were of each length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    /// Buckets outside of these are empty; the first above the last where all are.
    first: usize,
    last: usize,
    count: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; BUCKETS].into(), first: BUCKETS, last: 0, count: 0 }
    }
}

/// The bucket of a time.
#[inline]
fn bucket(time: u64) -> usize {
    let time = time.min(LONGEST);
    let shift = (u64::BITS - (time | ROW as u64).leading_zeros()) - ROW_BITS - 1;
    (time >> shift) as usize + shift as usize * ROW
}

/// The longest time that counts there.
fn longest_in(bucket: usize) -> u64 {
    let shift = (bucket / ROW).saturating_sub(1);
    let time = (bucket - shift * ROW) as u64;
    ((time + 1) << shift) - 1
}

impl Histogram {
    /// Adds one.
    #[inline]
    pub fn record(&mut self, time: u64) {
        let bucket = bucket(time);
        self.counts[bucket] += 1;
        self.count += 1;
        self.first = self.first.min(bucket);
        self.last = self.last.max(bucket);
    }

    /// Adds some of the same length, which somebody may have written down wrongly: no number is too large.
    pub fn record_some(&mut self, time: u64, count: u64) {
        if count == 0 {
            return;
        }
        let bucket = bucket(time);
        self.counts[bucket] = self.counts[bucket].saturating_add(count);
        self.count = self.count.saturating_add(count);
        self.first = self.first.min(bucket);
        self.last = self.last.max(bucket);
    }

    /// Adds all of another.
    pub fn add(&mut self, other: &Histogram) {
        if other.first > other.last {
            return;
        }
        let buckets = other.first..=other.last;
        for (mine, theirs) in self.counts[buckets.clone()].iter_mut().zip(&other.counts[buckets]) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if self.first <= self.last {
            self.counts[self.first..=self.last].fill(0);
        }
        (self.first, self.last, self.count) = (BUCKETS, 0, 0);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Lengths, and how many there were of each: in order, none of which there are none. Of a bucket, the longest.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        let end = (self.last + 1).max(self.first);
        let counts = self.counts[self.first.min(end)..end.min(BUCKETS)].iter();
        counts.zip(self.first..).filter(|(count, _)| **count > 0).map(|(count, bucket)| (longest_in(bucket), *count))
    }

    /// So many percent were no longer than this; zero where there are none.
    pub fn at_percentile(&self, percent: f64) -> u64 {
        // One that lies a rounding error above a whole number is that one.
        let wanted = (self.count() as f64 * percent / 100.0 - 1e-6).ceil().max(1.0) as u64;
        let mut seen = 0;
        let buckets = self.counts[self.first.min(self.last)..=self.last].iter();
        let reached = buckets.zip(self.first..).find(|(count, _)| {
            seen = u64::saturating_add(seen, **count);
            seen >= wanted
        });
        reached.map_or(0, |(_, bucket)| longest_in(bucket))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        times.iter().for_each(|time| histogram.record(*time));
        histogram
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for bucket in 0..BUCKETS - 1 {
            let end = longest_in(bucket);
            assert_eq!((super::bucket(end), super::bucket(end + 1)), (bucket, bucket + 1));
        }
        assert_eq!((bucket(LONGEST), longest_in(BUCKETS - 1)), (BUCKETS - 1, LONGEST));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        const { assert!(LONGEST > 3_600_000_000_000) };
    }

    #[test]
    fn an_empty_one_has_nothing() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.at_percentile(50.0), empty.filled().next()), (0, 0, None));
        let mut other = of(&[5]);
        other.add(&empty);
        other.record_some(7, 0);
        assert_eq!(other, of(&[5]));
    }

    #[test]
    fn more_than_can_be_counted_is_the_most_that_can() {
        let mut many = Histogram::default();
        many.record_some(5, u64::MAX);
        many.record_some(9, u64::MAX);
        many.add(&many.clone());
        assert_eq!((many.count(), many.at_percentile(100.0)), (u64::MAX, 5));
    }

    proptest! {
        #[test]
        fn a_percentile_is_within_a_thousandth_of_an_exact_sort(
            mut times in prop::collection::vec(prop_oneof![0u64..5_000, 0u64..LONGEST], 1..400),
            percent in 1u32..=1000,
        ) {
            let percent = f64::from(percent) / 10.0;
            let told = of(&times).at_percentile(percent);
            times.sort_unstable();
            let exact = times[((times.len() as f64 * percent / 100.0 - 1e-6).ceil() as usize).max(1) - 1];
            prop_assert!(told >= exact && told as f64 <= exact as f64 * 1.001, "{told} {exact}");
        }

        #[test]
        fn what_is_added_counts_and_what_is_forgotten_does_not(
            one in prop::collection::vec(0u64..LONGEST, 0..50),
            other in prop::collection::vec(0u64..LONGEST, 0..50),
        ) {
            let mut sum = of(&one);
            sum.add(&of(&other));
            prop_assert_eq!(&sum, &of(&[one, other].concat()));
            prop_assert_eq!(sum.count(), sum.filled().map(|(_, count)| count).sum::<u64>());
            sum.clear();
            prop_assert_eq!(sum, Histogram::default());
        }
    }
}
