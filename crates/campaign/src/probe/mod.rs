//! Probes a device: plays tapes on it, and asks the estimators of `stats::probe` for its constants.
//!
//! ```text
//!   target ──> player (kernel or simulator) ──> session (tapes, CPU waits) ──> latencies, limits, flushes, ...
//!                                                                                     │
//!                                                              findings <── estimators of stats
//! ```
//!
//! Policy:
//!   1. requests at depth 1 come first, with pauses and in short bursts, because they take little credit from a bucket;
//!   2. a device whose latencies spread widely may be a rotating disk. Then its rotation decides what follows;
//!   3. other devices are probed at depth: the largest requests first, after a rest before each size;
//!   4. writes and flushes are played only on a file of our own or on a simulation;
//!   5. figures of a step in which the probe waited for a CPU for more than a tenth of the time do not count;
//!   6. a block trace has the kernel's I/O path in its pauses, so latencies that contain it would count it twice in a
//!      replay. If the kernel can record the requests, the latencies are those of the device alone. All estimates that
//!      compare latencies with other times of the program are made before.

mod device_file;
mod findings;
mod flushes;
mod latencies;
mod limits;
mod recorded_file;
mod rotating;
mod rows;
mod sector_reads;
mod session;
mod stripes;
pub mod target;
#[cfg(test)]
mod tests;
mod zones;

use stats::probe::latency::Times;
use stats::probe::{Measured, NotMeasured};
use units::Nanos;
use workload::TapePlayer;

pub use device_file::device_file;
pub(crate) use device_file::{TOO_LONG, UNCLEAR};
pub use findings::{Bucket, Direction, Findings, Rotating, Scope, Zone};
pub use recorded_file::RecordedFile;
pub use rows::rows;
use session::Session;
pub use session::{Player, Step};

/// The settings of a probe.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// True if tapes may write and flush.
    pub writes: bool,
    /// Rest before the tapes that use up a bucket.
    pub rest: Nanos,
    /// The longest tape that looks for a knee.
    pub flat_out: Nanos,
    /// Seed of the offsets.
    pub seed: u64,
}

impl Settings {
    /// Settings for a real device: it is probed in about 20 s, or 40 s with writes.
    pub const REAL: Settings =
        Settings { writes: false, rest: Nanos::from_secs(2), flat_out: Nanos::from_secs(3), seed: 1 };

    /// Settings for a simulated device, whose time costs nothing: the rest fills any bucket.
    pub const SIMULATED: Settings =
        Settings { writes: true, rest: Nanos::from_secs(86_400), flat_out: Nanos::from_secs(4), seed: 1 };
}

/// Probes the device. `notify` gets each step before it begins.
pub fn probe<P: Player>(
    player: &mut P,
    settings: Settings,
    notify: &mut dyn FnMut(Step),
) -> Result<Findings, <P as TapePlayer>::Fault> {
    let mut session = Session::new(player, settings, notify);
    // 1
    let mut latencies = latencies::measure(&mut session)?;
    let of_device = latencies.of_device.take();
    // 2
    let spread = latencies.spread;
    let turning = if spread { rotating::measure(&mut session)? } else { None };
    let mut findings = Findings::new(&session, latencies);
    if let Some(turning) = turning {
        findings.rotating(turning);
        return Ok(findings);
    }
    if spread {
        findings.reads.latency.iter_mut().for_each(|(_, latency)| *latency = SPREADS);
        findings.writes.latency.iter_mut().for_each(|(_, latency)| *latency = SPREADS);
    }
    // 3
    limits::measure(&mut session, &mut findings)?;
    (findings.page, findings.channels) = stripes::measure(&mut session)?;
    // 4
    if settings.writes {
        flushes::measure(&mut session, &mut findings)?;
    }
    // 6
    if let Some(of_device) = of_device {
        [findings.reads.latency, findings.writes.latency] = of_device;
        findings.latency_times = Times::OfDevice;
    }
    Ok(findings)
}

/// The reason for latencies that do not depend on the size alone.
const SPREADS: Measured = hidden("reads of one size take very different times");

/// A constant that this device or this kind of probe does not show.
pub(crate) const fn hidden<T>(why: &'static str) -> Result<T, NotMeasured> {
    Err(NotMeasured::Hidden(why))
}
