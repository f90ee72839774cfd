//! Shares of the elapsed time, and the thresholds that several rules have in common.

use units::Nanos;

/// Share of an owner that limits: without it, the program would take half as long. No second owner can have more.
pub(super) const MAJORITY: f64 = 0.5;

/// Share from which a resource is saturated. A resource that is busy nine tenths of the time can do at most a ninth
/// more: the utilisation law (Denning & Buzen, The operational analysis of queueing network models, 1978).
pub(super) const SATURATED: f64 = 0.9;

/// A quota that took less than a tenth of the time is not the limit. An idle tenth is not noise.
pub(super) const LEAST_SHARE: f64 = 0.1;

/// Returns the ratio of two times; zero if the second is zero.
pub(super) fn of(part: Nanos, whole: Nanos) -> f64 {
    if whole == Nanos::ZERO { 0.0 } else { part.0 as f64 / whole.0 as f64 }
}

/// Returns the share limited to 0 to 1; an unknown or not finite share is 0.
pub(super) fn share_of(share: Option<f64>) -> f64 {
    share.filter(|share| share.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0)
}

/// Returns the share in words, for example `59 %`.
pub(in crate::judge) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
