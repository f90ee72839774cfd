//! Figures of a cell, computed from its rounds: rates of rounds, confidence intervals, CPU shares, medians.

use workload::RateBase;

use crate::inference::sample::{mean, quantile, variance};
use crate::results::cell::{Cell, CpuPercent};
use crate::results::clock::ClockKind;
use crate::results::round::Round;

/// Confidence level of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Below this elapsed time over all kept rounds, in seconds, the CPU share is not known. CPU clocks are exact, but the
/// start and the stop of a phase cost time.
pub const CPU_NEEDS_S: f64 = 0.1;

/// A unit for printing rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateUnit {
    /// The name that is printed.
    pub name: &'static str,
    /// The size of one unit in the base, for example 1024 bytes.
    pub size: f64,
}

/// Returns the rate of a round by the clock of its cell, in the base per second. `None` if the round took no time.
pub fn rate_of(cell: &Cell, round: &Round, base: RateBase) -> Option<f64> {
    round_rate(round, cell.together, base, cell.state.clock)
}

/// Returns the rate of a round, in the base per second. For targets that were busy together, it is the sum of the
/// targets' own rates; the two-drive columns of 1983 must be read like this. For programs on one target, it is the sum
/// of their amounts divided by the time until the last one ended, because they need not have overlapped.
pub fn round_rate(round: &Round, together: bool, base: RateBase, clock: ClockKind) -> Option<f64> {
    let rate = |bytes: u64, ops: u64, elapsed: f64| {
        let amount = match base {
            RateBase::Bytes => bytes,
            RateBase::Files | RateBase::Ops => ops,
        };
        (elapsed > 0.0).then(|| amount as f64 / elapsed)
    };
    if !together || round.parts.is_empty() {
        return rate(round.bytes, round.ops, round.elapsed_s(clock));
    }
    round.parts.iter().map(|part| rate(part.bytes, part.ops, part.elapsed_s(clock))).sum()
}

/// Returns the share of a round in which its programs used a processor. For targets that were busy together, it is the
/// sum of their shares: "the sum of the percentage of the test programs" (Kridle & McKusick 1983, section 5).
fn process_share(round: &Round, together: bool, clock: ClockKind) -> f64 {
    if !together || round.parts.is_empty() {
        return round.cpu_s.process / round.elapsed_s(clock);
    }
    round.parts.iter().map(|part| part.process_s / part.elapsed_s(clock)).sum()
}

/// Returns the mean, and half the width of its confidence interval by Student's t. The width is `None` below two
/// values.
pub fn mean_and_half_width(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let both = quantile(count - 1.0, CONFIDENCE).zip(variance(values));
    (mean(values), both.map(|(quantile, variance)| quantile * (variance / count).sqrt()))
}

/// Returns the median: the middle value, or the mean of the two middle values. `None` if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Computes the CPU percentages over the kept rounds. Returns `None` if the rounds together are too short.
pub fn cpu_percent<'a>(
    rounds: impl IntoIterator<Item = &'a Round>,
    together: bool,
    clock: ClockKind,
) -> Option<CpuPercent> {
    let mut elapsed = 0.0;
    let mut process = 0.0;
    let mut workers = Some(0.0);
    let mut machine = Some(0.0);
    for round in rounds {
        let seconds = round.elapsed_s(clock);
        elapsed += seconds;
        process += process_share(round, together, clock) * seconds;
        workers = workers.zip(round.cpu_s.kernel_workers).map(|(sum, part)| sum + part);
        machine = machine.zip(round.cpu_s.machine).map(|(sum, part)| sum + part);
    }
    let percent = |seconds: f64| 100.0 * seconds / elapsed;
    (elapsed >= CPU_NEEDS_S).then(|| CpuPercent {
        process: percent(process),
        kernel_workers: workers.map(percent),
        machine: machine.map(percent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(returned_s: f64) -> Round {
        Round {
            round: 1,
            position: 1,
            bytes: 8 << 20,
            ops: 1024,
            returned_s,
            durable_s: Some(2.0 * returned_s),
            cpu_s: crate::results::round::CpuSeconds { process: returned_s / 2.0, ..Default::default() },
            ..Round::default()
        }
    }

    /// The confidence interval of 1, 2, 3, 4, 5 is 3 ± 1.963: t of four degrees of freedom is 2.776, the standard error
    /// is 0.7071.
    #[test]
    fn intervals_are_students() {
        let (mean, half) = mean_and_half_width(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(mean, 3.0);
        assert!((half.expect("a width") - 1.9633).abs() < 1e-3);
        assert_eq!(mean_and_half_width(&[7.0]), (7.0, None));
    }

    /// Two drives that reach 360 each alone reach 540 together (table 2, UDA50/RA81): a sum, not a mean.
    #[test]
    fn programs_at_once_add_up_each_on_its_own_time() {
        let part = |returned_s: f64| crate::results::round::RoundPart {
            bytes: 8 << 20,
            ops: 1024,
            returned_s,
            data_durable_s: None,
            durable_s: None,
            process_s: returned_s * 0.36,
        };
        let together = Round { parts: vec![part(32.0), part(16.0)], bytes: 16 << 20, ..round(32.0) };
        let kbytes = |round: &Round, together: bool| {
            round_rate(round, together, RateBase::Bytes, ClockKind::Returned).map(|rate| rate / 1024.0)
        };
        assert_eq!(kbytes(&together, true), Some(256.0 + 512.0));
        let cpu = cpu_percent([&together], true, ClockKind::Returned).expect("a share");
        assert!((cpu.process - 72.0).abs() < 1e-9);
        assert_eq!(together.overlap(ClockKind::Returned), Some(0.5));
        // Programs on one target share the elapsed time, whether they overlapped or not.
        let shared =
            Round { cpu_s: crate::results::round::CpuSeconds { process: 17.28, ..Default::default() }, ..together };
        assert_eq!(kbytes(&shared, false), Some(512.0));
        let cpu = cpu_percent([&shared], false, ClockKind::Returned).expect("a share");
        assert!((cpu.process - 54.0).abs() < 1e-9);
        assert_eq!(round(16.0).overlap(ClockKind::Returned), None);
    }

    #[test]
    fn a_short_time_tells_no_cpu_share() {
        assert_eq!(cpu_percent(&[round(0.04), round(0.04)], false, ClockKind::Returned), None);
        let cpu = cpu_percent(&[round(0.05), round(0.05)], false, ClockKind::Returned).expect("a share");
        assert_eq!((cpu.process, cpu.kernel_workers), (50.0, None));
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
