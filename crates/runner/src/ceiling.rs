//! Measures the ceiling of a phase: the rate of the layer below for the same pattern. The ceiling runs right after the
//! phase and on the phase's file, because times from two rounds differ more than times from one round.
//!
//! Policy:
//!   1. the ceiling takes a tenth of the time of the phase and its preparation, and at most 10 s. There is no ceiling
//!      if preparing the page cache took longer than that, and longer than 100 ms;
//!   2. an unsteady rate is not reported (n.m.): no call ended for more than a tenth of the time. A throttle may admit
//!      the work of a tenth of a second at once. Every rate over a shorter time is then wrong;
//!   3. if the ceiling ran for at least three quarters of a second, the first quarter is left out: a throttle is fast
//!      after a pause;
//!   4. the device must have done the work. Otherwise a cache answered, or O_DIRECT had no effect;
//!   5. if the ceiling fails, the phase keeps its result;
//!   6. the large calls in flight must cover two stripes of the device. Otherwise they use fewer of its disks than the
//!      page cache does: the kernel reads two stripes ahead (`blk_apply_bdi_limits`), and writes back even more.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use stats::{INTERVAL, LimitLayer, RateInterval};
use units::{Bytes, Nanos};
use workload::{
    Ceiling, Counters, Done, Issue, LARGE_CALL, LARGE_DEPTH, OpKind, Phase, Steps, Tally, World, WriteCache,
};

use crate::gaps::Gaps;
use crate::memory_copy::{Copied, copy_memory};
use crate::recorder::Timed;
use crate::streams::{Split, run_with, split};

/// The ceiling takes one part in ten of the time of the phase and its preparation.
const OF_TIME: u64 = 10;

/// The longest time of a ceiling: a longer one is not more precise. Chosen: a hundred slices of a throttle.
const MOST: Nanos = Nanos::from_secs(10);

/// The shortest time of a ceiling: a hundred direct writes of a fast disk.
const LEAST: Nanos = Nanos::from_millis(10);

/// Preparing the page cache may always take this long, because a user does not notice it. Chosen.
const PREPARED: Nanos = Nanos::from_millis(100);

/// A rate is unsteady if no call ended for more than one part in ten of the time.
const OF_GAP: u64 = 10;

/// The share of the bytes that the device must have moved, as for reads that claim to come from it.
const FROM_DEVICE: f64 = stats::judge::marks::caches::FROM_DEVICE;

/// The ceiling of a phase in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CeilingResult {
    /// The work of the layer below, and its time.
    Measured {
        /// The layer.
        layer: LimitLayer,
        /// Bytes moved.
        bytes: u64,
        /// Units of work.
        ops: u64,
        /// The time.
        elapsed: Nanos,
    },
    /// The reason why it was not measured.
    NotMeasured(String),
}

/// The phase that has just run.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// The operations of each program.
    pub tallies: &'a [Tally],
    /// The time of the phase and its preparation.
    pub elapsed: Nanos,
    /// The observations of the phase.
    pub counters: &'a Counters,
}

/// Measures the ceiling of a phase that has just run in this world.
pub fn measure<W: World>(world: &mut W, phase: &Phase, run: &Ran) -> CeilingResult {
    match of_phase(world, phase, run) {
        Ok(result) => result,
        // 5
        Err(reason) => CeilingResult::NotMeasured(reason),
    }
}

/// The ceiling of a phase, or the reason why it was not measured.
fn of_phase<W: World>(world: &mut W, phase: &Phase, run: &Ran) -> Result<CeilingResult, String> {
    // 1
    let time = time_of(run.elapsed);
    let ceiling = workload::ceiling(phase, done(phase, run))?;
    if time < LEAST {
        return Err(format!("a tenth of a round is {time}, too short"));
    }
    let is_visible = run.counters.device.is_some();
    match ceiling {
        Ceiling::Memory { .. } if run.tallies.len() > 1 => Err("several programs share the memory".to_owned()),
        Ceiling::Memory { call, bytes } => {
            let Copied { copies, elapsed } = copy_memory(call, bytes, time).ok_or("the reads are too large")?;
            Ok(CeilingResult::Measured { layer: LimitLayer::Memory, bytes: copies * call, ops: copies, elapsed })
        }
        Ceiling::Device(_) | Ceiling::Large(_) | Ceiling::Flush(_) if !is_visible => {
            Err("no device is visible".to_owned())
        }
        Ceiling::Device(_) | Ceiling::Large(_) if is_cached(phase, run) => {
            Err("the page cache had part of the data".to_owned())
        }
        Ceiling::Device(below) => of_device(world, &below, LimitLayer::Device, time),
        // 6
        Ceiling::Large(below) => {
            check_stripe(world.optimal_io_bytes())?;
            of_device(world, &below, LimitLayer::Device, time)
        }
        Ceiling::Flush(below) => of_device(world, &below, LimitLayer::Flush, time),
    }
}

/// The least work that any program did.
fn done(phase: &Phase, run: &Ran) -> Done {
    let least = |of: &dyn Fn(&Tally) -> u64| run.tallies.iter().map(of).min().unwrap_or(0);
    Done {
        bytes: least(&|tally| tally.bytes_read.max(tally.bytes_written)),
        ops: least(&|tally| phase.unit.done(tally)),
    }
}

/// True if a phase that reads got a part of its bytes from the page cache, so that the device is not the layer below.
fn is_cached(phase: &Phase, run: &Ran) -> bool {
    let read: u64 = run.tallies.iter().map(|tally| tally.bytes_read).sum();
    let fetched = run.counters.accounts.map(|accounts| accounts.fetched);
    !phase.changes() && fetched.is_some_and(|fetched| (fetched as f64) < FROM_DEVICE * read as f64)
}

fn of_device<W: World>(world: &mut W, below: &Phase, layer: LimitLayer, time: Nanos) -> Result<CeilingResult, String> {
    if let (Issue::Async(_), Some(missing)) = (below.steps.issue(), kernel::no_ring()) {
        return Err(missing.to_string());
    }
    let fault = |fault: W::Fault| fault.to_string();
    let began = Instant::now();
    world.set_cache_state(below.cache).map_err(fault)?;
    // 1
    check_prepared(time, Nanos(began.elapsed().as_nanos() as u64))?;
    world.watch().map_err(fault)?;
    let recorder = || Gaps::new(Timed::new(below.unit).within(Some(time)));
    let (spans, recorders) = run_with(world, &below.steps, recorder).map_err(fault)?;
    let counters = world.counters().map_err(fault)?;
    let longest = recorders.iter().filter_map(Gaps::longest).max();
    let recorders = recorders.into_iter().map(|recorder| recorder.timed).collect();
    let Split { tallies, intervals, .. } = split(recorders, &spans);
    let mut tally = Tally::default();
    tallies.iter().for_each(|one| tally.add(one));
    if let Some(failure) = tally.failure {
        return Err(failure.to_string());
    }
    if world.was_suspended() {
        return Err("a signal suspended it".to_owned());
    }
    let work = Work {
        bytes: tally.bytes_read + tally.bytes_written,
        ops: below.unit.done(&tally),
        elapsed: spans.iter().map(workload::Span::elapsed).max().unwrap_or_default(),
    };
    is_of_device(&work, layer, &tally, &counters)?;
    let Work { bytes, ops, elapsed } = steady(work, longest, &intervals)?;
    Ok(CeilingResult::Measured { layer, bytes, ops, elapsed })
}

/// The time of the ceiling of a phase that took this long.
fn time_of(elapsed: Nanos) -> Nanos {
    Nanos(elapsed.0 / OF_TIME).min(MOST)
}

/// Returns the reason if the preparation of the page cache took too long for a ceiling of this time.
fn check_prepared(time: Nanos, spent: Nanos) -> Result<(), String> {
    if spent <= time.max(PREPARED) { Ok(()) } else { Err(format!("emptying the page cache for it took {spent}")) }
}

/// 6. Returns the reason if the large calls in flight are too small for a device with this optimal I/O size.
fn check_stripe(optimal: Option<u64>) -> Result<(), String> {
    match optimal {
        Some(bytes) if bytes > u64::from(LARGE_CALL * LARGE_DEPTH) / 2 => {
            Err(format!("its calls are too small for an optimal I/O size of {}", Bytes(bytes)))
        }
        _ => Ok(()),
    }
}

/// The work of a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Work {
    bytes: u64,
    ops: u64,
    elapsed: Nanos,
}

/// 4. Returns the reason if the device did not do the work.
fn is_of_device(work: &Work, layer: LimitLayer, tally: &Tally, counters: &Counters) -> Result<(), String> {
    let Some(device) = counters.device else { return Err("no device is visible".to_owned()) };
    let share = (device.read + device.written) as f64 / work.bytes as f64;
    if share.is_nan() || share < FROM_DEVICE {
        return Err(format!("the device moved only {:.0} % of the bytes of O_DIRECT", (100.0 * share).floor()));
    }
    let syncs = tally.count(OpKind::Fdatasync);
    let caches = counters.layers_at(0).any(|device| device.write_cache == Some(WriteCache::Back));
    match layer {
        LimitLayer::Flush if caches && device.flushes < syncs / 2 => Err("the device was not flushed".to_owned()),
        _ => Ok(()),
    }
}

/// 2 and 3. Returns the work from which the rate is computed, or the reason if it is not steady.
fn steady(work: Work, longest: Option<Nanos>, intervals: &[RateInterval]) -> Result<Work, String> {
    let Some(longest) = longest else { return Err("only one call ended".to_owned()) };
    if longest.0 > work.elapsed.0 / OF_GAP {
        return Err(format!("no call ended for {longest} of {}", work.elapsed));
    }
    Ok(match intervals {
        [first, _, _, ..] => Work {
            bytes: work.bytes.saturating_sub(first.bytes),
            ops: work.ops.saturating_sub(first.ops),
            elapsed: work.elapsed.saturating_sub(INTERVAL),
        },
        _ => work,
    })
}

#[cfg(test)]
mod tests {
    use workload::{DeviceBytes, DeviceUse, Layer};

    use super::*;

    const WORK: Work = Work { bytes: 100 << 20, ops: 200, elapsed: Nanos::from_millis(1000) };

    fn counters(device: DeviceBytes, write_cache: WriteCache) -> Counters {
        let layer = Layer {
            name: "vda".to_owned(),
            depth: 0,
            below: Vec::new(),
            used: DeviceUse { moved: device, ..DeviceUse::default() },
            write_cache: Some(write_cache),
            is_file: false,
            is_buffered: false,
        };
        Counters { device: Some(device), layers: vec![layer], ..Counters::default() }
    }

    #[test]
    fn a_gap_of_more_than_a_tenth_of_the_time_is_unsteady() {
        let longest = |millis| steady(WORK, Some(Nanos::from_millis(millis)), &[]);
        assert_eq!(longest(100), Ok(WORK));
        assert_eq!(longest(101), Err("no call ended for 101 ms of 1.00 s".to_owned()));
        assert!(steady(WORK, None, &[]).is_err());
    }

    #[test]
    fn calls_take_a_tenth_and_the_page_cache_a_moment() {
        assert_eq!(time_of(Nanos::from_secs(1)), Nanos::from_millis(100));
        assert_eq!(time_of(Nanos::from_secs(3600)), MOST);
        let check = |time, spent| check_prepared(Nanos::from_millis(time), Nanos::from_millis(spent));
        assert_eq!([check(20, 100), check(200, 200)], [Ok(()), Ok(())]);
        assert_eq!(check(200, 201), Err("emptying the page cache for it took 201 ms".to_owned()));
    }

    #[test]
    fn two_stripes_fit_into_the_calls_in_flight() {
        assert_eq!([None, Some(65_536), Some(1 << 20)].map(check_stripe), [Ok(()), Ok(()), Ok(())]);
        let wide = "its calls are too small for an optimal I/O size of 4 MiB";
        assert_eq!(check_stripe(Some(4 << 20)), Err(wide.to_owned()));
    }

    #[test]
    fn the_first_of_three_quarters_is_left_out() {
        let quarter = |mib: u64| RateInterval { ops: 2 * mib, bytes: mib << 20, ..RateInterval::default() };
        let steady = |intervals: &[RateInterval]| steady(WORK, Some(Nanos::from_millis(1)), intervals);
        assert_eq!(steady(&[quarter(55), quarter(15)]), Ok(WORK));
        let rest = Work { bytes: 45 << 20, ops: 90, elapsed: Nanos::from_millis(750) };
        assert_eq!(steady(&[quarter(55), quarter(15), quarter(15), quarter(15)]), Ok(rest));
    }

    #[test]
    fn the_device_must_have_moved_the_bytes_and_flushed() {
        let mut tally = Tally::default();
        tally.ops[OpKind::Fdatasync as usize] = 200;
        let judged = |read, written, flushes, cache| {
            let counters = counters(DeviceBytes { read, written, flushes }, cache);
            let check = |layer| is_of_device(&WORK, layer, &tally, &counters).err().unwrap_or_default();
            [LimitLayer::Device, LimitLayer::Flush].map(check)
        };
        let few = "the device moved only 94 % of the bytes of O_DIRECT";
        assert_eq!(judged(94 << 20, 0, 200, WriteCache::Back), [few, few]);
        assert_eq!(judged(0, 100 << 20, 200, WriteCache::Back), ["", ""]);
        assert_eq!(judged(0, 100 << 20, 99, WriteCache::Back), ["", "the device was not flushed"]);
        // The kernel sends no flush to such a device.
        assert_eq!(judged(0, 100 << 20, 0, WriteCache::Through), ["", ""]);
        let unseen = is_of_device(&WORK, LimitLayer::Device, &tally, &Counters::default());
        assert_eq!(unseen, Err("no device is visible".to_owned()));
    }
}
