//! Waiting until nothing is left to be written and the devices are at rest.

use std::thread;
use std::time::Duration;

use procfs::{Current, Meminfo};
use units::Nanos;
use workload::{Calm, DeviceBytes};

use crate::observe::counters::Snapshot;
use crate::sys::clocks::now;
use crate::world::program::Program;

/// The longest wait for other people's work to end.
const PATIENCE: Nanos = Nanos::from_secs(2);

/// The longest wait once that was in vain: work that goes on for longer will not end for us. Half of it once that was
/// in vain too, and so on down to one window, which is always watched.
const LITTLE_PATIENCE: Nanos = Nanos::from_millis(100);

/// Bytes of the whole machine that may wait to be written: a hundredth of a second's work for a fast disk, a
/// tenth for a slow one. Above, a flush may start at any moment.
const UNWRITTEN: u64 = 16 << 20;

/// How long the devices are watched before a verdict.
const WINDOW: Duration = Duration::from_millis(20);

/// What the window is cut into, to see how late a sleeper wakes up.
const SLICE: Duration = Duration::from_millis(1);

/// Bytes per second that a device at rest may move: 2 % of a slow disk's 100 MB/s.
const FOREIGN: u64 = 2_000_000;

/// How long to wait for calm: long, until it was in vain.
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

/// Has the programs' file systems write everything out, then waits for calm.
/// `look` takes the counters of the machine, which are part of what is said of the last window.
pub(crate) fn quiesce(
    programs: &[Program],
    moved: &dyn Fn() -> Option<DeviceBytes>,
    look: &dyn Fn() -> Snapshot,
    patience: &mut Patience,
    stop: &dyn Fn() -> bool,
) -> Calm {
    let began = now();
    super::write_out(programs, false);
    let waiting_since = now();
    loop {
        let machine = look();
        let (before, window) = (moved(), now());
        let overslept = nap();
        let foreign = moved().zip(before).map(|(after, before)| per_second(after.since(&before), now().since(window)));
        let unwritten = unwritten();
        let reached = is_calm(unwritten, foreign);
        if reached || stop() || now().since(waiting_since) >= patience.now {
            patience.learn(reached);
            let witness = look().since(&machine);
            return Calm { reached, waited: now().since(began), unwritten, foreign, witness, overslept };
        }
    }
}

/// Sleeps for a window, in slices; says by how much the longest was too long.
fn nap() -> Option<Nanos> {
    let slices = (WINDOW.as_nanos() / SLICE.as_nanos()) as u32;
    let overslept = (0..slices).map(|_| {
        let began = now();
        thread::sleep(SLICE);
        now().since(began).saturating_sub(Nanos(SLICE.as_nanos() as u64))
    });
    overslept.max()
}

/// What cannot be seen disturbs nobody.
fn is_calm(unwritten: Option<u64>, foreign: Option<u64>) -> bool {
    unwritten.is_none_or(|bytes| bytes < UNWRITTEN) && foreign.is_none_or(|bytes| bytes < FOREIGN)
}

fn per_second(moved: DeviceBytes, span: Nanos) -> u64 {
    let bytes = moved.read + moved.written;
    (u128::from(bytes) * 1_000_000_000 / u128::from(span.0.max(1))) as u64
}

/// Dirty pages and pages on their way to a device, of the whole machine, in bytes.
fn unwritten() -> Option<u64> {
    let memory = Meminfo::current().ok()?;
    Some(memory.dirty + memory.writeback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_is_little_to_write_and_little_moved() {
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
    fn patience_ends_when_it_was_in_vain_and_comes_back() {
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
