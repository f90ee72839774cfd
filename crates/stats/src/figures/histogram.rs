//! Histogram of times with three significant digits, like G. Tene's HdrHistogram: a row of equally wide buckets for
//! each power of two. Its size is fixed, and adding a time neither fails nor allocates, except for the first time of an
//! empty histogram that is not [`Histogram::ready`]. Adding or clearing a histogram skips empty rows. A bucket has the
//! same index as in an HdrHistogram of three digits.

use std::ops::Range;

/// Buckets per row: times that differ by a thousandth are in different buckets.
const ROW: usize = 1 << ROW_BITS;
const ROW_BITS: u32 = 10;

/// Times of up to this number of bits are distinguished, in nanoseconds: more than an hour. Longer times count as the
/// longest of them.
const LONGEST_BITS: u32 = 42;

/// The longest time that is distinguished, in nanoseconds.
pub const LONGEST: u64 = (1 << LONGEST_BITS) - 1;

/// Two rows for times below 2048 ns, which have a bucket each, and one row for each power of two above.
pub(crate) const BUCKETS: usize = ROW * (LONGEST_BITS - ROW_BITS + 1) as usize;

/// Number of rows. The first is twice as long as the others.
const ROWS: usize = BUCKETS / ROW - 1;

/// The number of times in each bucket, and the exact maximum.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Empty until the first time, so that histograms that stay empty need no memory.
    counts: Box<[u64]>,
    /// Sums of the rows, so that empty rows, which are the majority, are skipped.
    rows: [u64; ROWS],
    longest: u64,
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.longest == other.longest && self.rows == other.rows && self.buckets().eq(other.buckets())
    }
}

impl Eq for Histogram {}

/// Returns the row and the bucket of a time. A longer time than [`LONGEST`] counts as that.
#[inline]
fn place(time: u64) -> (usize, usize) {
    let time = time.min(LONGEST);
    let row = (u64::BITS - (time | ROW as u64).leading_zeros()) - ROW_BITS - 1;
    (row as usize, (time >> row) as usize + row as usize * ROW)
}

/// Returns the buckets of a row.
fn buckets(row: usize) -> Range<usize> {
    let begin = if row == 0 { 0 } else { (row + 1) * ROW };
    begin..(row + 2) * ROW
}

/// Returns the longest time that belongs to the bucket.
pub(crate) fn longest_in(bucket: usize) -> u64 {
    let shift = (bucket / ROW).saturating_sub(1);
    let time = (bucket - shift * ROW) as u64;
    ((time + 1) << shift) - 1
}

impl Histogram {
    /// Returns the histogram with memory for its times, so that adding one does not allocate.
    pub fn ready(mut self) -> Histogram {
        self.allocate();
        self
    }

    #[cold]
    #[inline(never)]
    fn allocate(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS].into_boxed_slice();
        }
    }

    /// Adds one time, in nanoseconds.
    #[inline]
    pub fn record(&mut self, time: u64) {
        let (row, bucket) = place(time);
        // The remainder is the same number, and needs no check.
        self.rows[row % ROWS] += 1;
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.record_first(bucket),
        }
        // Not `max`, which would store a number for each time.
        if time > self.longest {
            self.longest = time;
        }
    }

    #[cold]
    #[inline(never)]
    fn record_first(&mut self, bucket: usize) {
        self.allocate();
        self.counts[bucket] += 1;
    }

    /// Adds a time `count` times. The numbers may come from a damaged file, so the sums saturate.
    pub fn record_some(&mut self, time: u64, count: u64) {
        if count == 0 {
            return;
        }
        let (row, bucket) = place(time);
        self.allocate();
        self.rows[row] = self.rows[row].saturating_add(count);
        self.counts[bucket] = self.counts[bucket].saturating_add(count);
        self.longest = self.longest.max(time);
    }

    /// Adds all times of `other`.
    pub fn add(&mut self, other: &Histogram) {
        if !other.counts.is_empty() {
            self.allocate();
        }
        for row in other.filled_rows() {
            self.rows[row] = self.rows[row].saturating_add(other.rows[row]);
            for (mine, theirs) in self.counts[buckets(row)].iter_mut().zip(&other.counts[buckets(row)]) {
                *mine = mine.saturating_add(*theirs);
            }
        }
        self.longest = self.longest.max(other.longest);
    }

    /// Removes all times.
    pub fn clear(&mut self) {
        for row in 0..ROWS {
            if self.rows[row] > 0 {
                self.counts[buckets(row)].fill(0);
            }
        }
        (self.rows, self.longest) = ([0; ROWS], 0);
    }

    fn filled_rows(&self) -> impl Iterator<Item = usize> {
        (0..ROWS).filter(|row| self.rows[*row] > 0)
    }

    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| u64::saturating_add(sum, *row))
    }

    /// Returns the exact maximum, or zero if the histogram is empty.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Raises the maximum to `longest` if the histogram is not empty. Stored times are limited to the range of the
    /// buckets; this restores the exact maximum.
    pub fn lengthen(&mut self, longest: u64) {
        if self.count() > 0 {
            self.longest = self.longest.max(longest);
        }
    }

    /// Returns the filled buckets in ascending order, each as its longest time and its count.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets().map(|(bucket, count)| (longest_in(bucket), count))
    }

    /// Returns the filled buckets in ascending order, each as its index and its count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (usize, u64)> {
        let filled = self.filled_rows().flat_map(buckets).filter(|bucket| self.counts[*bucket] > 0);
        filled.map(|bucket| (bucket, self.counts[bucket]))
    }

    /// Returns the longest time of the bucket that contains the percentile, or zero if the histogram is empty.
    pub fn at_percentile(&self, percent: f64) -> u64 {
        // A product that should be a whole number may be slightly above it. Without the small term, it would be rounded
        // up.
        let wanted = (self.count() as f64 * percent / 100.0 - 1e-6).ceil().max(1.0) as u64;
        let mut seen: u64 = 0;
        for row in self.filled_rows() {
            if seen.saturating_add(self.rows[row]) < wanted {
                seen = seen.saturating_add(self.rows[row]);
                continue;
            }
            for bucket in buckets(row) {
                seen = seen.saturating_add(self.counts[bucket]);
                if seen >= wanted {
                    return longest_in(bucket);
                }
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record_all(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        times.iter().for_each(|time| histogram.record(*time));
        histogram
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for bucket in 0..BUCKETS - 1 {
            let end = longest_in(bucket);
            assert_eq!((place(end).1, place(end + 1).1), (bucket, bucket + 1));
            assert!(buckets(place(end).0).contains(&bucket));
        }
        assert_eq!(longest_in(BUCKETS - 1), LONGEST);
        assert_eq!([LONGEST, LONGEST + 1, u64::MAX].map(place), [(ROWS - 1, BUCKETS - 1); 3]);
        const { assert!(LONGEST > 3_600_000_000_000) };
    }

    #[test]
    fn an_empty_one_has_nothing() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.at_percentile(50.0), empty.filled().next()), (0, 0, None));
        let mut other = record_all(&[5]);
        other.add(&empty);
        other.record_some(7, 0);
        assert_eq!(other, record_all(&[5]));
    }

    #[test]
    fn more_than_can_be_counted_is_the_most_that_can() {
        let mut many = Histogram::default();
        many.record_some(5, u64::MAX);
        many.record_some(9, u64::MAX);
        many.add(&many.clone());
        assert_eq!((many.count(), many.at_percentile(100.0)), (u64::MAX, 5));
    }

    #[test]
    fn of_many_each_percentile_that_is_told_is_within_a_thousandth_of_an_exact_sort() {
        for (seed, scale) in [(1, 9), (2, 13), (3, 17), (4, 20), (5, 30)] {
            let mut prng = units::Prng::new(seed);
            // Most times are near one value. A tail of 2 % is up to a thousand times as long.
            let time = |_| {
                let near = (1 << scale) + prng.below(1 << (scale - 2));
                if prng.below(1000) < 20 { near * (1 + prng.below(1000)) } else { near }
            };
            let mut times: Vec<u64> = (0..50_000).map(time).collect();
            let all = record_all(&times);
            times.sort_unstable();
            for percent in [50.0, 90.0, 95.0, 99.0, 99.9, 99.99] {
                let exact = times[(times.len() as f64 * percent / 100.0 - 1e-6).ceil() as usize - 1];
                let told = all.at_percentile(percent);
                assert!(told >= exact && told as f64 <= exact as f64 * 1.001, "p{percent} of {scale}: {told} {exact}");
            }
            assert_eq!((all.count(), all.longest()), (50_000, times[49_999]));
        }
    }

    proptest! {
        #[test]
        fn a_percentile_is_within_a_thousandth_of_an_exact_sort(
            mut times in prop::collection::vec(prop_oneof![0u64..5_000, 0u64..LONGEST], 1..400),
            percent in 1u32..=1000,
        ) {
            let percent = f64::from(percent) / 10.0;
            let told = record_all(&times).at_percentile(percent);
            times.sort_unstable();
            let exact = times[((times.len() as f64 * percent / 100.0 - 1e-6).ceil() as usize).max(1) - 1];
            prop_assert!(told >= exact && told as f64 <= exact as f64 * 1.001, "{told} {exact}");
        }

        #[test]
        fn what_is_added_counts_and_what_is_forgotten_does_not(
            one in prop::collection::vec(0u64..LONGEST, 0..50),
            other in prop::collection::vec(0u64..LONGEST, 0..50),
        ) {
            let mut sum = record_all(&one);
            sum.add(&record_all(&other));
            prop_assert_eq!(&sum, &record_all(&[one, other].concat()));
            prop_assert_eq!(sum.count(), sum.filled().map(|(_, count)| count).sum::<u64>());
            sum.clear();
            prop_assert_eq!(sum, Histogram::default());
        }
    }
}
