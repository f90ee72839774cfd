//! The load that every target must have had before a comparison may end early. Burst credits and caches often last for
//! gigabytes, and several rounds that agree do not show their end.

use stats::Cell;
use stats::figures::continuous_load::executions;

/// An amount of load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeastLoad {
    /// Measured seconds.
    pub seconds: f64,
    /// Bytes that moved between programs and files.
    pub bytes: u64,
}

impl LeastLoad {
    /// The load before an early end. Guess: burst credits of cloud volumes and caches of drives often last for less.
    pub const USUAL: LeastLoad = LeastLoad { seconds: 30.0, bytes: 3 << 30 };

    /// True if every one of these targets had the load in the rounds of its results, discarded ones included. Targets
    /// without any real round, and those without a result, need none: the latter decide nothing. Reads of cached data
    /// do not count. Commands have unknown bytes, so only their time counts.
    pub fn is_reached(self, cells: &[Cell], targets: &[&str]) -> bool {
        let is_loaded = |target: &&str| {
            let here = || cells.iter().filter(|cell| cell.target == **target);
            if !here().any(|cell| cell.measured) {
                return true;
            }
            let mut load = LeastLoad::default();
            for execution in executions(here()).values() {
                load.seconds += execution.seconds;
                load.bytes += execution.bytes;
            }
            load.seconds == 0.0 || load.seconds >= self.seconds && (load.bytes == 0 || load.bytes >= self.bytes)
        };
        targets.iter().all(is_loaded)
    }
}

#[cfg(test)]
mod tests {
    use stats::{CacheState, Provenance, Round};

    use super::*;

    fn cell(target: &str, seconds: f64, bytes: u64) -> Cell {
        let round = Round { round: 1, position: 1, bytes, returned_s: seconds, ..Round::default() };
        let rounds = vec![round.clone(), Round { discarded: true, ..round }];
        Cell { rounds, measured: true, ..Cell::named(Provenance::Measured, "quick", "write", "write", target) }
    }

    #[test]
    fn every_real_target_needs_the_time_and_the_bytes() {
        let usual = LeastLoad::USUAL;
        let enough = cell("a", 15.0, 3 << 29);
        let reached = |cells: &[Cell]| usual.is_reached(cells, &["a", "b"]);
        assert!(reached(std::slice::from_ref(&enough)) && reached(&[]), "b did not run");
        assert!(!reached(&[enough.clone(), cell("b", 14.0, 3 << 29)]), "28 s");
        assert!(!reached(&[enough.clone(), cell("b", 15.0, 1 << 30)]), "2 GiB");
        assert!(reached(&[enough.clone(), Cell { measured: false, ..cell("b", 1.0, 1) }]), "all tests on b failed");
        assert!(reached(&[enough.clone(), cell("b", 14.0, 1 << 30), cell("b", 1.0, 1 << 30)]), "two tests");
        assert!(reached(&[enough.clone(), cell("b", 15.0, 0)]), "a command");
        let mut warm = cell("b", 15.0, 3 << 29);
        warm.state.cache = CacheState::Warm;
        assert!(!reached(&[enough.clone(), cell("b", 1.0, 1), warm]), "copies of memory");
        let simulated = Cell { provenance: Provenance::Simulated, ..cell("b", 1.0, 1) };
        assert!(reached(&[enough, simulated]));
        assert!(LeastLoad::default().is_reached(&[cell("a", 0.1, 1)], &["a"]));
    }
}
