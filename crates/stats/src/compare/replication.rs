//! Published figures compared with simulated ones.
//!
//! [`Comparison::judges`] alone says which cells count in the summary: those that were measured, that were not suspect,
//! and that no other table prints too. If two tables print a figure differently, the summary uses the rate of the first
//! table and the CPU share that the caller gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::summary::median;

/// A figure as it is printed in a publication: a rate may stand without its CPU share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Kbytes (1024) a second; null where it was not measured.
    pub kbytes_per_sec: Option<u32>,
    /// Percent of the CPU; null where it is not printed.
    pub cpu_percent: Option<u32>,
    /// Starred: the operation of the hardware was suspect.
    pub suspect: bool,
    /// False is `n.m.`
    pub measured: bool,
}

/// The same figure of the simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulated {
    /// Kbytes (1024) a second.
    pub kbytes_per_sec: f64,
    /// Percent of the CPU; of two programs, their sum.
    pub cpu_percent: f64,
}

/// A cell of a published table and its simulated twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// `T1` ... `T5`.
    pub table: String,
    /// `8K/1K` or `4K/1K`.
    pub file_system: String,
    /// The heading of the column.
    pub configuration: String,
    /// One drive or two.
    pub drives: u32,
    /// The program.
    pub test: String,
    /// As printed.
    pub published: Published,
    /// As computed.
    pub simulated: Simulated,
    /// By how much the computed rate is higher, in percent of the printed one; null where none is printed.
    pub error_percent: Option<f64>,
    /// The CPU share that judges, where it is not the printed one.
    pub cpu_percent_judged: Option<u32>,
    /// What limits the simulated one.
    pub limited_by: String,
    /// Whether this cell counts in the summary.
    pub judges: bool,
    /// The other tables that print the same measurement.
    pub twins: Vec<String>,
}

impl Comparison {
    /// Returns the error of the simulated CPU share in percentage points: its difference from the CPU share that
    /// counts.
    pub fn cpu_error_points(&self) -> Option<f64> {
        let printed = self.cpu_percent_judged.or(self.published.cpu_percent)?;
        Some(self.simulated.cpu_percent - f64::from(printed))
    }
}

/// Returns the error of a simulated rate, in percent of the printed one.
pub fn error_percent(published: Published, simulated: Simulated) -> Option<f64> {
    let printed = f64::from(published.kbytes_per_sec?);
    Some(100.0 * (simulated.kbytes_per_sec - printed) / printed)
}

/// The name and version of the format.
pub const PAPER_SCHEMA: &str = "diskperf-paper/1";

/// The published tables beside the simulated ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaperDocument {
    /// [`PAPER_SCHEMA`]
    pub schema: String,
    /// The cells of the tables that were asked for.
    pub cells: Vec<Comparison>,
    /// Over the cells that judge, where all tables were asked for.
    pub summary: Option<Summary>,
    /// The tables of drives, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<Drive>,
    /// The questions that were asked for, answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Asked>,
    /// The claims, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Judged>,
    /// The direct approach beside the indirect one, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vaxmix: Option<Approaches>,
}

/// The controllers by the direct approach and by the indirect one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approaches {
    /// Over so many ways in which the platters stand.
    pub phases: u32,
    /// The cells, row by row.
    pub cells: Vec<Transactions>,
    /// The UDA50 over the SC780, row by row.
    pub ratios: Vec<Ratio>,
    /// What follows.
    pub conclusions: Vec<String>,
}

/// What a controller gives by one approach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transactions {
    /// `direct`, `uniform`, `local`
    pub approach: String,
    /// `VAX 11/780`
    pub computer: String,
    /// The heading of its column in the paper.
    pub configuration: String,
    /// Drives, programs and drivers in words.
    pub conditions: String,
    /// How many drives.
    pub drives: u32,
    /// How many programs at once, on all of them.
    pub programs: u32,
    /// Whether drivers order requests, as those of 4.2BSD.
    pub driver_orders: bool,
    /// How much in a second: the mean.
    pub per_second: f64,
    /// `Kbytes` (1024; the mean of the four programs) or `transactions`.
    pub unit: String,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Among the controllers of its computer, from 1; the same where intervals overlap.
    pub rank: u32,
    /// Percent of the CPU; of several programs, their sum.
    pub cpu_percent: f64,
    /// What limits it.
    pub limited_by: String,
}

/// What the UDA50 gives of what the SC780 gives, both on the 11/780.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// `direct`, `uniform`, `local`
    pub approach: String,
    /// Drives, programs and drivers in words.
    pub conditions: String,
    /// RA81s behind the UDA50, Eagles behind the SC780.
    pub as_sold: Estimate,
    /// Eagles behind both.
    pub same_drives: Estimate,
}

/// A mean and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The mean.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What the publication says of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// `D1`
    pub id: String,
    /// The title of its table.
    pub title: String,
    /// The lines.
    pub rows: Vec<Characteristic>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Characteristic {
    /// `Rotational Speed`
    pub what: String,
    /// `3600`
    pub value: f64,
    /// `RPM`; null of what is counted.
    pub unit: Option<String>,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// `Q1`
    pub id: String,
    /// What is asked.
    pub asks: String,
    /// What the columns are; the first is the factor that is varied.
    pub headings: Vec<String>,
    /// A row for each of its values.
    pub rows: Vec<Vec<String>>,
    /// What follows.
    pub sentence: String,
    /// The effect that the sentence rests on.
    pub effect: String,
    /// Its value as the machines stand.
    pub value: f64,
    /// The lowest with any fitted constant a tenth off.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The constant that moves it most.
    pub most: Option<String>,
}

/// A claim and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// In which section it stands.
    pub section: u32,
    /// What is claimed.
    pub says: String,
    /// The published figures; empty where there are none.
    pub printed: String,
    /// The simulated ones.
    pub simulated: String,
    /// `agrees`, `disagrees`, `these tests cannot tell`
    pub verdict: String,
}

/// How far the cells that judge lie from what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Of the rates, in percent of the printed ones.
    pub rate: Errors,
    /// Of the CPU shares, in points.
    pub cpu: Errors,
}

/// Errors without their signs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// How many cells.
    pub cells: usize,
    /// The middle one.
    pub median: f64,
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub largest: f64,
    /// How many are at most 10.
    pub within_10: usize,
    /// How many are at most 20.
    pub within_20: usize,
}

impl Errors {
    /// Computes the statistics of these errors. Returns `None` if there are none.
    pub fn of(errors: impl Iterator<Item = f64>) -> Option<Errors> {
        let errors: Vec<f64> = errors.map(f64::abs).collect();
        let within = |limit: f64| errors.iter().filter(|error| **error <= limit).count();
        Some(Errors {
            cells: errors.len(),
            median: median(&errors)?,
            mean: errors.iter().sum::<f64>() / errors.len() as f64,
            largest: errors.iter().copied().fold(0.0, f64::max),
            within_10: within(10.0),
            within_20: within(20.0),
        })
    }
}

/// Summarises the cells that count. Returns `None` if there are none.
pub fn summary(cells: &[Comparison]) -> Option<Summary> {
    let judging = || cells.iter().filter(|cell| cell.judges);
    Some(Summary {
        rate: Errors::of(judging().filter_map(|cell| cell.error_percent))?,
        cpu: Errors::of(judging().filter_map(Comparison::cpu_error_points))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_lose_their_signs() {
        let errors = Errors::of([-1.0, 3.0, -12.0, 25.0].into_iter()).expect("some");
        assert_eq!((errors.cells, errors.median, errors.mean, errors.largest), (4, 7.5, 10.25, 25.0));
        assert_eq!((errors.within_10, errors.within_20), (2, 3));
        assert_eq!(Errors::of([].into_iter()), None);
    }

    #[test]
    fn a_rate_is_compared_with_the_printed_one() {
        let published = Published { kbytes_per_sec: Some(500), measured: true, ..Published::default() };
        let simulated = Simulated { kbytes_per_sec: 490.0, cpu_percent: 50.0 };
        assert_eq!(error_percent(published, simulated), Some(-2.0));
        assert_eq!(error_percent(Published::default(), simulated), None);
    }
}
