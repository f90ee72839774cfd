//! Published figures compared with simulated ones.
//!
//! [`Comparison::judges`] alone says which cells count in the summary: those that were measured, that were not suspect,
//! and that no other table prints too. If two tables print a figure differently, the summary uses the rate of the first
//! table and the CPU share that the caller gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::summary::median;

/// A figure as it is printed in a publication. A rate may have no CPU share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Kbytes (1024 bytes) per second; null if the rate was not measured.
    pub kbytes_per_sec: Option<u32>,
    /// CPU share in percent; null if it is not printed.
    pub cpu_percent: Option<u32>,
    /// True if the figure has a star: the operation of the hardware was suspect.
    pub suspect: bool,
    /// False if the figure is `n.m.`
    pub measured: bool,
}

/// The same figure on the simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulated {
    /// Kbytes (1024 bytes) per second.
    pub kbytes_per_sec: f64,
    /// CPU share in percent; for two programs, their sum.
    pub cpu_percent: f64,
}

/// A cell of a published table and the same cell simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// `T1` ... `T5`.
    pub table: String,
    /// `8K/1K` or `4K/1K`.
    pub file_system: String,
    /// Heading of the column.
    pub configuration: String,
    /// Number of drives: 1 or 2.
    pub drives: u32,
    /// The program.
    pub test: String,
    /// The printed figure.
    pub published: Published,
    /// The simulated figure.
    pub simulated: Simulated,
    /// Excess of the simulated rate over the printed one, in percent of the printed one; null if no rate is printed.
    pub error_percent: Option<f64>,
    /// CPU share that the simulated one is compared with, if it is not the printed one.
    pub cpu_percent_judged: Option<u32>,
    /// Bottleneck of the simulated machine.
    pub limited_by: String,
    /// True if this cell counts in the summary.
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

/// The published tables with the simulated ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaperDocument {
    /// `diskperf-paper/1`.
    pub schema: String,
    /// Cells of the requested tables.
    pub cells: Vec<Comparison>,
    /// Errors of the cells that count, if all tables were requested.
    pub summary: Option<Summary>,
    /// The tables of drives, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<Drive>,
    /// The requested questions, with their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Asked>,
    /// The claims, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Judged>,
    /// Errors with other values of what was not fitted, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumptions: Option<Assumptions>,
    /// The direct and the indirect approach, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vaxmix: Option<Approaches>,
    /// The effect of a log-structured file system, in words, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfs: Option<String>,
}

/// The controllers by the direct approach and by the indirect one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approaches {
    /// Number of simulated rotational positions of the platters.
    pub phases: u32,
    /// The cells, row by row.
    pub cells: Vec<Transactions>,
    /// Ratios of the UDA50 to the SC780, row by row.
    pub ratios: Vec<Ratio>,
    /// The conclusions.
    pub conclusions: Vec<String>,
}

/// The result of a controller by one approach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transactions {
    /// `direct`, `uniform`, `local`
    pub approach: String,
    /// `VAX 11/780`
    pub computer: String,
    /// Heading of the controller's column in the paper.
    pub configuration: String,
    /// Drives, programs and drivers, in words.
    pub conditions: String,
    /// Number of drives.
    pub drives: u32,
    /// Number of programs that run at once, on all drives together.
    pub programs: u32,
    /// True if drivers sort requests, as those of 4.2BSD do.
    pub driver_orders: bool,
    /// Mean number of `unit` per second.
    pub per_second: f64,
    /// `Kbytes` (1024; the mean of the four programs) or `transactions`.
    pub unit: String,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// Rank among the controllers of the same computer, from 1; equal if intervals overlap.
    pub rank: u32,
    /// CPU share in percent; for several programs, their sum.
    pub cpu_percent: f64,
    /// The bottleneck.
    pub limited_by: String,
}

/// Result of the UDA50 divided by that of the SC780, both on the 11/780.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// `direct`, `uniform`, `local`
    pub approach: String,
    /// Drives, programs and drivers, in words.
    pub conditions: String,
    /// Ratio with RA81s on the UDA50 and Eagles on the SC780.
    pub as_sold: Estimate,
    /// Ratio with Eagles on both controllers.
    pub same_drives: Estimate,
}

/// A mean and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The mean.
    pub value: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
}

/// The published characteristics of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// `D1`
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// Lines of the table.
    pub rows: Vec<Characteristic>,
}

/// A line of a drive's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Characteristic {
    /// `Rotational Speed`
    pub what: String,
    /// `3600`
    pub value: f64,
    /// `RPM`; null for a count.
    pub unit: Option<String>,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// `Q1`
    pub id: String,
    /// The question.
    pub asks: String,
    /// Headings of the columns. The first column is the factor that is varied.
    pub headings: Vec<String>,
    /// One row per value of the factor.
    pub rows: Vec<Vec<String>>,
    /// The conclusion, in one sentence.
    pub sentence: String,
    /// The effect that the conclusion is based on.
    pub effect: String,
    /// Value of the effect with the constants as they are.
    pub value: f64,
    /// Lowest value if one fitted constant is a tenth off, or one guess or setting is different.
    pub low: f64,
    /// Highest value if one fitted constant is a tenth off, or one guess or setting is different.
    pub high: f64,
    /// The change of an assumption that changes the effect most; null if none changes it.
    pub most: Option<String>,
    /// The changes of an assumption that give another answer: the effect is on another side of 1.
    #[serde(default)]
    pub reversed_by: Vec<String>,
}

/// A claim of the paper, and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Section of the paper.
    pub section: u32,
    /// The claim, in our words.
    pub says: String,
    /// The published figures; empty if there are none.
    pub printed: String,
    /// The simulated figures.
    pub simulated: String,
    /// `agrees`, `disagrees`, `these tests cannot tell`
    pub verdict: String,
    /// The changes of an assumption that give another verdict; null if none was tried.
    pub depends_on: Option<Vec<Dependence>>,
}

/// Another verdict on a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dependence {
    /// The changed assumption.
    pub with: String,
    /// `agrees`, `disagrees`, `these tests cannot tell`
    pub verdict: String,
}

/// Errors with other values of what was not fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assumptions {
    /// Number of simulated rotational positions of the platters.
    pub phases: u32,
    /// Errors with the values as they are.
    pub unchanged: Summary,
    /// Errors with one value changed.
    pub changed: Vec<Assumed>,
}

/// A number or setting that was not fitted, another value of it, and the errors with that value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    /// `guess`, `setting`, `fitted, then frozen`
    pub kind: String,
    /// Dotted name of the field.
    pub field: String,
    /// The part or machine that has it.
    pub part: String,
    /// The value that the machines have.
    pub own: String,
    /// The other value.
    pub other: String,
    /// Errors with the other value, without a new fit.
    pub errors: Summary,
}

/// Errors of the simulated figures, over the cells that count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Errors of the rates, in percent of the printed ones.
    pub rate: Errors,
    /// Errors of the CPU shares, in percentage points.
    pub cpu: Errors,
}

/// Statistics of errors, without their signs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Number of cells.
    pub cells: usize,
    /// The median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub largest: f64,
    /// Number of cells with an error of at most 10.
    pub within_10: usize,
    /// Number of cells with an error of at most 20.
    pub within_20: usize,
}

impl Errors {
    /// Computes the statistics of these errors. Returns `None` if there are none.
    pub fn from_errors(errors: impl Iterator<Item = f64>) -> Option<Errors> {
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
        rate: Errors::from_errors(judging().filter_map(|cell| cell.error_percent))?,
        cpu: Errors::from_errors(judging().filter_map(Comparison::cpu_error_points))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_lose_their_signs() {
        let errors = Errors::from_errors([-1.0, 3.0, -12.0, 25.0].into_iter()).expect("some");
        assert_eq!((errors.cells, errors.median, errors.mean, errors.largest), (4, 7.5, 10.25, 25.0));
        assert_eq!((errors.within_10, errors.within_20), (2, 3));
        assert_eq!(Errors::from_errors([].into_iter()), None);
    }

    #[test]
    fn a_rate_is_compared_with_the_printed_one() {
        let published = Published { kbytes_per_sec: Some(500), measured: true, ..Published::default() };
        let simulated = Simulated { kbytes_per_sec: 490.0, cpu_percent: 50.0 };
        assert_eq!(error_percent(published, simulated), Some(-2.0));
        assert_eq!(error_percent(Published::default(), simulated), None);
    }
}
