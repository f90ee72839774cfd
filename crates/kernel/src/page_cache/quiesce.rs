//! Waits until write-back is done and the devices are idle.

use std::thread;
use std::time::Duration;

use procfs::{Current, Meminfo};
use units::Nanos;
use workload::{DeviceBytes, Quiescence};

use crate::observe::counters::Snapshot;
use crate::sys::clocks::now;
use crate::world::program::Program;

/// The longest wait for the I/O of other programs to end.
const PATIENCE: Nanos = Nanos::from_secs(2);

/// The longest wait after a wait has failed: I/O that outlasted the first wait will not end soon. Each further failure
/// halves the wait. At least one window is always watched.
const LITTLE_PATIENCE: Nanos = Nanos::from_millis(100);

/// Limit of the machine's unwritten bytes: a hundredth of a second's work for a fast disk, a tenth for a slow one.
/// Above it, write-back may start at any moment.
const UNWRITTEN: u64 = 16 << 20;

/// Time for which the devices are watched before a verdict.
const WINDOW: Duration = Duration::from_millis(20);

/// Sleep time of one slice of the window. The slices show how late a sleeper wakes up.
const SLICE: Duration = Duration::from_millis(1);

/// Bytes per second that an idle device may move: 2 % of a slow disk's 100 MB/s.
const FOREIGN: u64 = 2_000_000;

/// The time to wait for idle devices: long at first, short after a wait failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    longest: Nanos,
    now: Nanos,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience::up_to(PATIENCE)
    }
}

impl Patience {
    pub(crate) fn up_to(longest: Nanos) -> Patience {
        Patience { longest, now: longest }
    }

    fn learn(&mut self, reached: bool) {
        self.now = if reached { self.longest } else { LITTLE_PATIENCE.min(Nanos(self.now.0 / 2)) };
    }
}

/// Writes back the programs' file systems, then waits until the machine is idle. `snapshot` reads the machine's
/// counters, which become part of the result for the last window.
pub(crate) fn quiesce(
    programs: &[Program],
    moved: &dyn Fn() -> Option<DeviceBytes>,
    snapshot: &dyn Fn() -> Snapshot,
    patience: &mut Patience,
    stop: &dyn Fn() -> bool,
) -> Quiescence {
    let began = now();
    super::write_out(programs, false);
    let waiting_since = now();
    loop {
        let machine = snapshot();
        let (before, window) = (moved(), now());
        let overslept = nap();
        let foreign = moved().zip(before).map(|(after, before)| per_second(after.since(&before), now().since(window)));
        let unwritten = unwritten();
        let reached = is_calm(unwritten, foreign);
        if reached || stop() || now().since(waiting_since) >= patience.now {
            patience.learn(reached);
            let counters = snapshot().briefly_since(&machine);
            return Quiescence { reached, waited: now().since(began), unwritten, foreign, counters, overslept };
        }
    }
}

/// Sleeps for one window, in slices. Returns the largest delay of a wake-up.
fn nap() -> Option<Nanos> {
    let slices = (WINDOW.as_nanos() / SLICE.as_nanos()) as u32;
    let overslept = (0..slices).map(|_| {
        let began = now();
        thread::sleep(SLICE);
        now().since(began).saturating_sub(Nanos(SLICE.as_nanos() as u64))
    });
    overslept.max()
}

/// Returns whether the machine is idle. A quantity that is not visible counts as idle.
fn is_calm(unwritten: Option<u64>, foreign: Option<u64>) -> bool {
    unwritten.is_none_or(|bytes| bytes < UNWRITTEN) && foreign.is_none_or(|bytes| bytes < FOREIGN)
}

fn per_second(moved: DeviceBytes, span: Nanos) -> u64 {
    let bytes = moved.read + moved.written;
    (u128::from(bytes) * 1_000_000_000 / u128::from(span.0.max(1))) as u64
}

/// Dirty pages and pages under write-back of the whole machine, in bytes.
fn unwritten() -> Option<u64> {
    let memory = Meminfo::current().ok()?;
    Some(memory.dirty + memory.writeback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_means_few_dirty_pages_and_little_traffic() {
        assert!(is_calm(Some(15 << 20), Some(0)));
        assert!(!is_calm(Some(16 << 20), Some(0)));
        assert!(!is_calm(Some(0), Some(2_000_000)));
        assert!(is_calm(None, None));
    }

    #[test]
    fn a_rate_is_bytes_over_time() {
        let moved = DeviceBytes { read: 1000, written: 1000, flushes: 9 };
        assert_eq!(per_second(moved, Nanos::from_millis(20)), 100_000);
        assert_eq!(per_second(moved, Nanos::ZERO), 2_000_000_000_000);
    }

    #[test]
    fn patience_halves_after_failure_and_recovers_after_success() {
        let mut patience = Patience::default();
        patience.learn(false);
        assert_eq!(patience.now, LITTLE_PATIENCE);
        patience.learn(false);
        assert_eq!(patience.now, Nanos(LITTLE_PATIENCE.0 / 2));
        patience.learn(true);
        assert_eq!(patience, Patience::default());
        let mut none = Patience::up_to(Nanos::ZERO);
        none.learn(false);
        assert_eq!(none.now, Nanos::ZERO);
    }
}
