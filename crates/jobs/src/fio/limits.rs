//! Limits of reads and writes in fio: `rate_iops=700,300`. A single number limits reads and writes separately, and
//! `700,` limits only reads. Checked with fio 3.33.

use workload::Rates;

use crate::load_words::{PatternName, Rate};

/// The limits of one job. `None` means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    reads: Option<u64>,
    writes: Option<u64>,
}

/// A mix with a limit of only its reads or only its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlyOne;

impl Limits {
    /// Parses the limits; 0 means unlimited. Returns `None` if `number` cannot parse one.
    pub fn parse(text: &str, number: impl Fn(&str) -> Option<u64>) -> Option<Limits> {
        let limit = |text: &str| number(text).map(|limit| Some(limit).filter(|limit| *limit > 0));
        let part = |text: &str| if text.is_empty() { Some(None) } else { limit(text) };
        let mut parts = text.split(',').map(str::trim);
        Some(match (parts.next()?, parts.next()) {
            (both, None) => {
                let both = limit(both)?;
                Limits { reads: both, writes: both }
            }
            (reads, Some(writes)) => Limits { reads: part(reads)?, writes: part(writes)? },
        })
    }

    /// The limits that this pattern uses.
    pub(super) fn used(self, pattern: PatternName) -> Limits {
        let Limits { reads, writes } = self;
        match pattern {
            PatternName::Read | PatternName::Randread => Limits { reads, writes: None },
            PatternName::Write | PatternName::Randwrite | PatternName::Commit => Limits { reads: None, writes },
            PatternName::Randrw => self,
        }
    }

    /// True if [`Limits::rate`] needs no rounding.
    pub fn is_whole(self, pattern: PatternName, jobs: u64, unit: u64) -> bool {
        let Limits { reads, writes } = self.used(pattern);
        [reads, writes].into_iter().flatten().all(|limit| limit.saturating_mul(jobs).is_multiple_of(unit))
    }

    /// The rate of this number of jobs together; `None` without a limit. An operation uses this number of units of the
    /// limits: 1, or the bytes of a block. The rate is rounded down, but is at least 1.
    pub fn rate(self, pattern: PatternName, jobs: u64, unit: u64) -> Result<Option<Rate>, OnlyOne> {
        let all = |limit: u64| u32::try_from((limit.saturating_mul(jobs) / unit).max(1)).unwrap_or(u32::MAX);
        let Limits { reads, writes } = self.used(pattern);
        match (reads, writes) {
            (Some(reads), Some(writes)) => Ok(Some(Rate(Rates::Apart { reads: all(reads), writes: all(writes) }))),
            (Some(_), None) | (None, Some(_)) if pattern == PatternName::Randrw => Err(OnlyOne),
            (limit, other) => Ok(limit.or(other).map(|limit| Rate(Rates::All(all(limit))))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_reads_and_of_writes() {
        let rate = |text: &str, pattern| {
            let limits = Limits::parse(text, |text| text.parse().ok()).expect(text);
            limits.rate(pattern, 2, 1).map(|rate| rate.map(|rate| rate.to_string()))
        };
        let (reads, writes, mix) = (PatternName::Randread, PatternName::Write, PatternName::Randrw);
        for (text, expected) in [
            ("100", [Some("200"), Some("200"), Some("200/200")]),
            ("70,30", [Some("140"), Some("60"), Some("140/60")]),
            ("70, 30, 9", [Some("140"), Some("60"), Some("140/60")]),
            ("0", [None, None, None]),
        ] {
            assert_eq!(
                [reads, writes, mix].map(|pattern| rate(text, pattern)),
                expected.map(|one| Ok(one.map(str::to_owned)))
            );
        }
        assert_eq!((rate("40,", writes), rate("40,", mix), rate(",40", reads)), (Ok(None), Err(OnlyOne), Ok(None)));
        for text in ["", "x", "1,x"] {
            assert_eq!(Limits::parse(text, |text| text.parse().ok()), None, "{text}");
        }
    }

    #[test]
    fn bytes_of_all_jobs_become_operations() {
        let (reads, mix) = (PatternName::Randread, PatternName::Randrw);
        for (text, pattern, jobs, expected, is_whole) in [
            ("8192,4096", mix, 1, Some("2/1"), true),
            ("8192,4095", mix, 1, Some("2/1"), false),
            ("8192,4095", reads, 1, Some("2"), true),
            // All jobs together have 6.25.
            ("6400", reads, 4, Some("6"), false),
            ("5120", reads, 4, Some("5"), true),
            ("1", reads, 1, Some("1"), false),
            ("0", mix, 1, None, true),
        ] {
            let limits = Limits::parse(text, |text| text.parse().ok()).expect(text);
            let rate = limits.rate(pattern, jobs, 4096).map(|rate| rate.map(|rate| rate.to_string()));
            assert_eq!(
                (rate, limits.is_whole(pattern, jobs, 4096)),
                (Ok(expected.map(str::to_owned)), is_whole),
                "{text}"
            );
        }
    }
}
