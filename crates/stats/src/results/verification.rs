//! The results of `diskperf verify`: the records that were acknowledged as durable and lost by a power cut.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::results::document::Problem;

/// The name and version of the format.
pub const VERIFICATION_SCHEMA: &str = "diskperf-verify/1";

/// The results of all power cuts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// `diskperf-verify/1`.
    pub schema: String,
    /// The version of diskperf.
    pub version: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// The target, as it was typed.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// Seed of the data and of the moments of the power cuts.
    pub seed: u64,
    /// The power cuts, in order.
    pub cuts: Vec<PowerCut>,
    /// One more power cut, on the same device declared to have no write cache, so that the kernel never flushes it.
    /// This control shows whether the test can find losses here. Null if the power cuts have shown that, or if the
    /// control was not possible.
    pub control: Option<PowerCut>,
    /// True if the test was stopped before its end, by Ctrl-C or another signal.
    pub interrupted: bool,
    /// Errors of the test itself. Lost records are not errors.
    pub errors: Vec<Problem>,
}

/// The results of one power cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerCut {
    /// Number of the power cut, from 1.
    pub round: u32,
    /// Bytes in the write cache of the device that were not flushed; null if they are not visible.
    pub unflushed_bytes: Option<u64>,
    /// Reason why the file system could not be mounted afterwards; null if it could be mounted.
    pub unmountable: Option<String>,
    /// Results for each kind of record.
    pub kinds: Vec<Kept>,
}

/// Results for the acknowledged records of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// `create`, `append`, `overwrite`, `replace`.
    pub kind: String,
    /// Number of records that were acknowledged before the power cut.
    pub acknowledged: u64,
    /// Number of these records that are complete, in the acknowledged version or a newer one.
    pub intact: u64,
    /// Number of these records of which no part is present.
    pub missing: u64,
    /// Number of these records of which a part has other contents.
    pub torn: u64,
    /// Number of these records that are present only in an older version.
    pub stale: u64,
}

impl Kept {
    /// Returns the number of acknowledged records that are missing, torn or stale.
    pub fn lost(&self) -> u64 {
        self.missing + self.torn + self.stale
    }
}

impl PowerCut {
    /// Returns the number of acknowledged records of all kinds.
    pub fn acknowledged(&self) -> u64 {
        self.kinds.iter().map(|kept| kept.acknowledged).sum()
    }

    /// Returns the number of lost records of all kinds.
    pub fn lost(&self) -> u64 {
        self.kinds.iter().map(Kept::lost).sum()
    }
}

impl Verification {
    /// Returns the numbers of acknowledged and of lost records, over all power cuts.
    pub fn totals(&self) -> (u64, u64) {
        let cuts = self.cuts.iter();
        cuts.fold((0, 0), |(all, lost), cut| (all + cut.acknowledged(), lost + cut.lost()))
    }

    /// Returns the sums of each kind over all power cuts.
    pub fn kinds(&self) -> Vec<Kept> {
        let mut kinds: Vec<Kept> = Vec::new();
        for kept in self.cuts.iter().flat_map(|cut| &cut.kinds) {
            let Some(sum) = kinds.iter_mut().find(|sum| sum.kind == kept.kind) else {
                kinds.push(kept.clone());
                continue;
            };
            sum.acknowledged += kept.acknowledged;
            sum.intact += kept.intact;
            sum.missing += kept.missing;
            sum.torn += kept.torn;
            sum.stale += kept.stale;
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_summed_over_all_power_cuts() {
        let kept = |kind: &str, lost: u64| Kept {
            kind: kind.to_owned(),
            acknowledged: 10,
            intact: 10 - lost,
            torn: lost,
            ..Kept::default()
        };
        let cut = |lost| PowerCut {
            round: 1,
            unflushed_bytes: None,
            unmountable: None,
            kinds: vec![kept("create", 0), kept("append", lost)],
        };
        let verification = Verification {
            schema: VERIFICATION_SCHEMA.to_owned(),
            version: String::new(),
            kernel: String::new(),
            target: String::new(),
            seed: 1,
            cuts: vec![cut(2), cut(3)],
            control: None,
            interrupted: false,
            errors: Vec::new(),
        };
        assert_eq!(verification.totals(), (40, 5));
        let sums: Vec<_> = verification.kinds().into_iter().map(|kept| (kept.acknowledged, kept.torn)).collect();
        assert_eq!(sums, [(20, 0), (20, 5)]);
    }
}
