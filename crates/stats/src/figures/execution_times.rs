//! Seconds per execution: elapsed, CPU, user and system time, as the `time` command of a shell prints them. The tables
//! of *The Linux Programming Interface* print these times and no rate.

use crate::results::cell::{Cell, Provenance};

/// Below this CPU time over all kept rounds, in seconds, user and system time are not separated. The kernel samples the
/// split at its clock tick, ten times in 0.1 s at 100 Hz.
pub const SPLIT_NEEDS_S: f64 = 0.1;

/// The times of one execution, as the mean of the kept rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExecutionTimes {
    /// Seconds on the clock that the cell claims.
    pub elapsed_s: f64,
    /// CPU seconds; `None` if only the elapsed time was published.
    pub cpu_s: Option<f64>,
    /// User CPU seconds; `None` if they are not known or the CPU time is too short to split.
    pub user_s: Option<f64>,
    /// System CPU seconds, used by the kernel on behalf of the program; `None` in the same cases.
    pub system_s: Option<f64>,
}

impl ExecutionTimes {
    /// Computes the times from the rounds of the cell. A published average has no rounds: then they are computed from
    /// its rate, CPU percentage and owners of time. Returns `None` if the cell was not measured.
    pub fn from_cell(cell: &Cell) -> Option<ExecutionTimes> {
        if !cell.measured {
            return None;
        }
        let count = cell.kept().count() as f64;
        let owner = |owner: &str| Some(*cell.time.as_ref()?.get(owner)? as f64 / 1e9 / count.max(1.0));
        let (user_s, system_s) = (owner("user"), owner("system"));
        if count == 0.0 {
            let elapsed_s = cell.number("file_bytes")? as f64 / cell.rate.as_ref()?.per_second;
            let cpu_s = cell.cpu_percent.map(|cpu| elapsed_s * cpu.process / 100.0);
            return Some(ExecutionTimes { elapsed_s, cpu_s, user_s, system_s });
        }
        let elapsed: f64 = cell.kept().map(|round| round.elapsed_s(cell.state.clock)).sum();
        let cpu: f64 = cell.kept().map(|round| round.cpu_s.process).sum();
        let is_split = cell.provenance != Provenance::Measured || cpu >= SPLIT_NEEDS_S;
        Some(ExecutionTimes {
            elapsed_s: elapsed / count,
            cpu_s: Some(cpu / count),
            user_s: user_s.filter(|_| is_split),
            system_s: system_s.filter(|_| is_split),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use workload::{ParameterValue, RateBase};

    use super::*;
    use crate::results::cell::{CpuPercent, Rate};
    use crate::results::round::{CpuSeconds, Round};

    fn cell(provenance: Provenance, rounds: Vec<Round>) -> Cell {
        Cell {
            parameters: BTreeMap::from([("file_bytes".to_owned(), ParameterValue::Number(1000))]),
            measured: true,
            rounds,
            ..Cell::named(provenance, "tlpi", "copy", "copy", "here")
        }
    }

    fn round(returned_s: f64, process: f64, discarded: bool) -> Round {
        Round {
            round: 1,
            position: 1,
            discarded,
            bytes: 1000,
            ops: 10,
            returned_s,
            durable_s: Some(9.0),
            cpu_s: CpuSeconds { process, ..CpuSeconds::default() },
            ..Round::default()
        }
    }

    fn owners(user: u64, system: u64) -> Option<BTreeMap<String, u64>> {
        Some([("user", user), ("system", system)].map(|(owner, nanos)| (owner.to_owned(), nanos)).into())
    }

    #[test]
    fn means_are_over_the_kept_rounds() {
        let rounds = vec![round(100.0, 50.0, true), round(1.0, 0.5, false), round(3.0, 1.5, false)];
        let cell = Cell { time: owners(400_000_000, 1_600_000_000), ..cell(Provenance::Measured, rounds) };
        let execution = ExecutionTimes::from_cell(&cell).expect("it was measured");
        assert_eq!((execution.elapsed_s, execution.cpu_s), (2.0, Some(1.0)));
        assert_eq!((execution.user_s, execution.system_s), (Some(0.2), Some(0.8)));
    }

    #[test]
    fn a_short_time_is_not_split_unless_it_was_computed() {
        let short = |provenance| {
            let rounds = vec![round(0.1, 0.04, false), round(0.1, 0.04, false)];
            let cell = Cell { time: owners(0, 80_000_000), ..cell(provenance, rounds) };
            ExecutionTimes::from_cell(&cell).expect("it was measured")
        };
        assert_eq!(short(Provenance::Measured).system_s, None);
        assert_eq!(short(Provenance::Simulated).system_s, Some(0.04));
    }

    #[test]
    fn a_published_average_needs_no_rounds() {
        let rate = Rate {
            per_second: 500.0,
            base: RateBase::Bytes,
            value: 500.0,
            unit: "B/s".to_owned(),
            low: None,
            high: None,
            confidence: 0.95,
            rounds: 20,
            range: None,
        };
        let published = Cell { rate: Some(rate), ..cell(Provenance::Published, Vec::new()) };
        let execution = ExecutionTimes::from_cell(&published).expect("it was published");
        assert_eq!((execution.elapsed_s, execution.cpu_s, execution.user_s), (2.0, None, None));
        let cpu_percent = Some(CpuPercent { process: 25.0, kernel_workers: None, machine: None });
        let with_cpu = Cell { cpu_percent, ..published };
        assert_eq!(ExecutionTimes::from_cell(&with_cpu).and_then(|execution| execution.cpu_s), Some(0.5));
    }

    #[test]
    fn what_was_not_measured_took_no_time() {
        let cell = Cell { measured: false, ..cell(Provenance::Measured, Vec::new()) };
        assert_eq!(ExecutionTimes::from_cell(&cell), None);
    }
}
