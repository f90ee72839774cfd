//! The fill level and the age of a file system of ours before the first round.

use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::error::CampaignError;

/// The default level of --age without --fill, in percent: studies of aging rarely find more.
const USUAL: u32 = 70;

/// The levels allowed, in percent. Chosen: less has no effect, and fuller file systems behave differently.
const FILLS: std::ops::RangeInclusive<u32> = 5..=90;

/// The aging of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgingSpec {
    /// The level it is filled to, in percent.
    pub fill: u32,
    /// The number of changes.
    pub churns: u32,
    /// The seed of both.
    pub seed: u64,
}

/// Reads the value of --fill, as in `70%`.
pub fn parse_fill(text: &str) -> Result<u32, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    let wrong = || format!("the level must be from {}% to {}%", FILLS.start(), FILLS.end());
    percent.filter(|percent| FILLS.contains(percent)).ok_or_else(wrong)
}

impl AgingSpec {
    /// The requested aging; `None` if neither value is given.
    pub fn from_options(fill: Option<u32>, churns: Option<u32>, seed: u64) -> Option<AgingSpec> {
        fill.or(churns)?;
        Some(AgingSpec { fill: fill.unwrap_or(USUAL), churns: churns.unwrap_or(0), seed })
    }

    /// The bytes of a file system that are left for the tests.
    pub fn room(self, bytes: Bytes) -> Bytes {
        Bytes((u128::from(bytes.0) * u128::from(100 - self.fill) / 100) as u64)
    }

    /// The least size of a file system that leaves this many bytes for the tests.
    pub fn with_room(self, left: u64) -> u64 {
        u64::try_from(u128::from(left) * 100 / u128::from(100 - self.fill)).unwrap_or(u64::MAX)
    }

    /// Refuses if fewer than `needed` bytes are left of a file system of `bytes` bytes.
    pub fn check(self, (bytes, left): (Bytes, Bytes), needed: Bytes) -> Result<(), CampaignError> {
        if left >= needed {
            return Ok(());
        }
        let most = 100u64.saturating_sub((u128::from(needed.0) * 100).div_ceil(u128::from(bytes.0.max(1))) as u64);
        // Keeps a reserve of 5 % for the file system's own metadata.
        let most = most.saturating_sub(5) as u32;
        Err(CampaignError::TooFull {
            fill: self.fill,
            bytes,
            left,
            needed,
            most: Some(most).filter(|most| FILLS.contains(most)),
        })
    }

    /// Bytes of files that fill a file system of `bytes` bytes to the level, if `used` are in use.
    pub fn level(self, bytes: u64, used: u64) -> u64 {
        bytes.saturating_sub(self.room(Bytes(bytes)).0).saturating_sub(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEAR: AgingSpec = AgingSpec { fill: 70, churns: 10, seed: 7 };

    #[test]
    fn a_share_is_percent() {
        assert_eq!((parse_fill("70%"), parse_fill("5"), parse_fill("90 %")), (Ok(70), Ok(5), Ok(90)));
        for refused in ["", "4%", "91%", "-7", "0.7", "70 GiB"] {
            assert!(parse_fill(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn churned_file_systems_are_filled_by_default() {
        assert_eq!(AgingSpec::from_options(None, None, 7), None);
        assert_eq!(AgingSpec::from_options(None, Some(10), 7), Some(WEAR));
        assert_eq!(AgingSpec::from_options(Some(30), None, 7), Some(AgingSpec { fill: 30, churns: 0, seed: 7 }));
    }

    #[test]
    fn programs_get_the_remaining_space() {
        assert_eq!(WEAR.room(Bytes(1000)), Bytes(300));
        assert_eq!(WEAR.room(Bytes(WEAR.with_room(300 << 20))), Bytes(300 << 20));
        assert_eq!(WEAR.with_room(u64::MAX), u64::MAX);
        // What mkfs took is part of the level.
        assert_eq!((WEAR.level(1000, 50), WEAR.level(1000, 800)), (650, 0));
        assert!(WEAR.check((Bytes(1000), Bytes(300)), Bytes(300)).is_ok());
        let refused = |needed| WEAR.check((Bytes(1000), Bytes(300)), Bytes(needed)).expect_err("too full");
        assert!(matches!(refused(500), CampaignError::TooFull { most: Some(45), .. }));
        assert!(matches!(refused(990), CampaignError::TooFull { most: None, .. }));
    }
}
