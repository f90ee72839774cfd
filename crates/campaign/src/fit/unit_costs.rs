//! The work of a program as far as it takes time, and trials that measure the cost of that work.

use units::Nanos;
use workload::Program;
use workload::programs::tlpi::{self, Sync};

/// The work of one execution of a program, as far as it takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Reads and writes.
    pub calls: u64,
    /// Bytes of its file: prepared, moved, and made durable at the end.
    pub bytes: u64,
    /// Writes that each wait for the disk.
    pub sync_writes: u64,
}

/// The cost of that work on a target, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitCosts {
    /// Per execution: preparing, counting and cleaning up.
    pub execution: f64,
    /// Per read or write, without its bytes.
    pub call: f64,
    /// Per byte.
    pub byte: f64,
    /// Per write that waits for the disk.
    pub sync_write: f64,
}

impl UnitCosts {
    /// A guess for `--dry-run`, which writes nothing: a disk of a few hundred MB/s, with a millisecond for a
    /// synchronous write.
    pub const GUESSED: UnitCosts = UnitCosts { execution: 0.02, call: 0.4e-6, byte: 5e-9, sync_write: 1e-3 };

    /// The seconds of an execution.
    pub fn seconds(&self, work: &Work) -> f64 {
        let parts = [(work.calls, self.call), (work.bytes, self.byte), (work.sync_writes, self.sync_write)];
        self.execution + parts.iter().map(|(amount, price)| *amount as f64 * price).sum::<f64>()
    }
}

/// The duration of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The whole time.
    pub all: Nanos,
    /// The time of its measured calls alone.
    pub calls: Nanos,
}

/// The programs that measure unit costs: ten thousand pairs of small calls, a few million bytes, a few synchronous
/// writes. They need no more space than the programs of the forecast.
#[derive(Clone, Debug)]
pub struct Trials {
    bytes: u64,
}

impl Trials {
    /// 10,000 bytes copied one by one: ten milliseconds at a microsecond per pair of calls.
    const PAIRS: u64 = 10_000;
    /// 4 million bytes. The cost of large files is a multiple of theirs.
    const BYTES: u64 = 4_000_000;
    /// Synchronous writes: a tenth of a second if each waits for a revolution of a disk.
    const SYNC_WRITES: u64 = 12;
    /// The quicker of two executions counts, because other programs on the machine can only slow one down.
    pub const EXECUTIONS: u32 = 2;

    /// The trials for these rows.
    pub fn from_rows(rows: impl Iterator<Item = Work>) -> Trials {
        let largest = rows.map(|work| work.bytes).max().unwrap_or(0);
        Trials { bytes: largest.clamp(1, Trials::BYTES) }
    }

    /// The programs for small calls, bytes and synchronous writes, in this order.
    pub fn programs(&self) -> [Program; 3] {
        [
            tlpi::copy(Trials::PAIRS.min(self.bytes), 1, Sync::None),
            tlpi::copy(self.bytes, 64 * 1024, Sync::None),
            tlpi::write(Trials::SYNC_WRITES.min(self.bytes), 1, Sync::Osync),
        ]
    }

    /// Runs the trials with `perform`, which returns `None` if a program does not reach its end. Then the result is
    /// `None`, too.
    pub fn unit_costs(&self, mut perform: impl FnMut(&Program) -> Option<Trial>) -> Option<UnitCosts> {
        let mut quickest = [None; 3];
        for _ in 0..Trials::EXECUTIONS {
            for (quickest, program) in quickest.iter_mut().zip(self.programs()) {
                let trial = perform(&program)?;
                let before = quickest.unwrap_or(trial);
                *quickest = Some(Trial { all: trial.all.min(before.all), calls: trial.calls.min(before.calls) });
            }
        }
        let [Some(calls), Some(bytes), Some(sync_writes)] = quickest else { return None };
        Some(self.priced(calls, bytes, sync_writes))
    }

    /// Computes the unit costs from the trials.
    fn priced(&self, calls: Trial, bytes: Trial, sync_writes: Trial) -> UnitCosts {
        let per = |time: Nanos, amount: u64| time.as_secs_f64() / amount as f64;
        let execution = calls.all.saturating_sub(calls.calls);
        UnitCosts {
            execution: execution.as_secs_f64(),
            call: per(calls.calls, 2 * (Trials::PAIRS.min(self.bytes) + 1)),
            byte: per(bytes.all.saturating_sub(execution).max(bytes.calls), self.bytes),
            sync_write: per(sync_writes.calls, Trials::SYNC_WRITES.min(self.bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_the_sum_of_calls_bytes_and_sync_waits() {
        let unit_costs = UnitCosts { execution: 0.5, call: 1e-6, byte: 1e-9, sync_write: 1e-3 };
        let work = Work { calls: 2_000_000, bytes: 100_000_000, sync_writes: 400 };
        assert!((unit_costs.seconds(&work) - 3.0).abs() < 1e-12);
        assert_eq!(unit_costs.seconds(&Work::default()), 0.5);
    }

    #[test]
    fn prices_follow_from_trials() {
        let trials = Trials { bytes: 1_000_000 };
        let trial = |all, calls| Trial { all: Nanos::from_millis(all), calls: Nanos::from_millis(calls) };
        let unit_costs = trials.priced(trial(30, 20), trial(60, 2), trial(50, 24));
        assert!((unit_costs.execution - 0.010).abs() < 1e-12);
        assert!((unit_costs.call - 0.020 / 20_002.0).abs() < 1e-12);
        assert!((unit_costs.byte - 50e-9).abs() < 1e-15);
        assert!((unit_costs.sync_write - 0.002).abs() < 1e-12);
        // If the preparation took longer than the whole execution, only the calls are known.
        assert!((trials.priced(trial(30, 20), trial(5, 2), trial(50, 24)).byte - 2e-9).abs() < 1e-15);
    }

    #[test]
    fn the_faster_execution_counts_and_a_failure_ends_trials() {
        let trials = Trials::from_rows([Work { bytes: 100, ..Work::default() }].into_iter());
        let mut spans = [40, 50, 60, 30, 70, 40].into_iter();
        let unit_costs = trials.unit_costs(|program| {
            assert!(program.space <= 200, "no more room than what is forecast");
            let calls = Nanos::from_millis(spans.next().expect("two executions of three"));
            Some(Trial { all: calls, calls })
        });
        let unit_costs = unit_costs.expect("all ended");
        assert!((unit_costs.call - 0.030 / 202.0).abs() < 1e-12, "{unit_costs:?}");
        assert!((unit_costs.byte - 0.050 / 100.0).abs() < 1e-12, "{unit_costs:?}");
        assert!(trials.unit_costs(|_| None).is_none());
    }
}
