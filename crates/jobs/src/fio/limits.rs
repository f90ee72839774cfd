//! Limits of reads and writes in fio: `rate_iops=700,300`. A single number limits each of both, and `700,` only reads.
//! Checked with fio 3.33.

use workload::Rates;

use crate::load_words::{PatternName, Rate};

/// The limits of one job. `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    reads: Option<u64>,
    writes: Option<u64>,
}

/// A mix with a limit of only its reads or only its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlyOne;

impl Limits {
    /// Parses the limits; 0 is no limit. Returns `None` if `number` does not read one.
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

    /// The limits in another unit, which must be whole numbers there.
    pub(super) fn per(self, unit: u64) -> Option<Limits> {
        let per = |limit: Option<u64>| match limit {
            Some(limit) => limit.is_multiple_of(unit).then_some(Some(limit / unit)),
            None => Some(None),
        };
        Some(Limits { reads: per(self.reads)?, writes: per(self.writes)? })
    }

    /// The rate of this number of jobs together; `None` without a limit.
    pub fn rate(self, pattern: PatternName, jobs: u64) -> Result<Option<Rate>, OnlyOne> {
        let all = |limit: u64| u32::try_from(limit.saturating_mul(jobs)).unwrap_or(u32::MAX);
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
            limits.rate(pattern, 2).map(|rate| rate.map(|rate| rate.to_string()))
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
        let bytes = Limits::parse("8192,4096", |text| text.parse().ok()).expect("limits");
        assert_eq!(bytes.per(4096), Limits::parse("2,1", |text| text.parse().ok()));
        assert_eq!((bytes.per(8192), bytes.used(reads).per(8192).is_some()), (None, true));
    }
}
