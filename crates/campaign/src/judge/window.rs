//! Converts the observations of the machine around a phase into windows for `stats::judge::noise`.

use runner::execution::{Part, PhaseRun};
use stats::judge::noise::Window;
use units::Nanos;
use workload::{Issue, Phase, Steps, Witness};

use crate::judge::consumption::PAGE;

/// Bytes that a file system may write on its own while its files are only read: access times, or a journal commit.
/// Guess.
const METADATA: u64 = 1 << 20;

/// The window before the phase, in which nothing of ours ran, and the window of the phase, on `cpus` processors.
pub fn windows(run: &PhaseRun, phase: &Phase, cpus: u32) -> (Window, Window) {
    let calm = &run.calm;
    let before = Window { overslept: calm.overslept, ..seen(&calm.witness, Nanos::ZERO, cpus) };
    let witness = &run.witness;
    let ran = run.parts.iter().map(|part| part.cpu.total).sum();
    let ready: Option<Nanos> = run.parts.iter().map(|part: &Part| part.ready).sum();
    let seen = seen(witness, witness.workers.unwrap_or_default(), cpus);
    let during = Window {
        own_bytes: own_bytes(run, phase),
        // Other programs' use of a device does not slow down the null engine.
        device_bytes: seen.device_bytes.filter(|_| phase.steps.issue() != Issue::Nowhere),
        ran,
        // Time throttled by a CPU quota is not time waiting for other programs.
        waited: ready.map(|ready| ready.saturating_sub(witness.quota.cpu.unwrap_or_default())),
        ..seen
    };
    let others = during.others.filter(|_| witness.workers.is_some());
    (before, Window { others, ..during }.settled(&before))
}

/// The observations that every window has; `workers` is the CPU time of kernel threads.
fn seen(witness: &Witness, workers: Nanos, cpus: u32) -> Window {
    let ours = witness.process.map(|process| process + workers);
    let pages = |(all, own): (u64, u64)| all.saturating_sub(own) * PAGE;
    Window {
        elapsed: witness.elapsed,
        cpus,
        device_bytes: lowest_bytes(witness),
        own_bytes: None,
        ran: Nanos::ZERO,
        others: witness.machine.zip(ours).map(|(all, ours)| all.saturating_sub(ours)),
        waited: None,
        cpu_pressure: witness.pressure.cpu,
        io_pressure: witness.pressure.io,
        steal: witness.steal,
        overslept: None,
        drops: witness.memory.drops,
        refaulted_bytes: witness.memory.machine_refaults.zip(witness.memory.refaults).map(pages),
    }
}

/// Bytes moved by the lowest active devices. `None` if no device is visible.
fn lowest_bytes(witness: &Witness) -> Option<u64> {
    let mut layers = witness.lowest().map(|layer| layer.used.moved.read + layer.used.moved.written).peekable();
    // Otherwise all visible devices were idle.
    if layers.peek().is_some() { Some(layers.sum()) } else { witness.device.map(|_| 0) }
}

/// The bytes that were moved for the programs; `None` if that is unknown:
///
/// 1. on an image, which only this run uses, everything that its loop device moved;
/// 2. if nothing is written, the bytes fetched for the programs, and a little that the file system writes.
fn own_bytes(run: &PhaseRun, phase: &Phase) -> Option<u64> {
    let witness = &run.witness;
    let mut tops = witness.layers.iter().filter(|layer| layer.depth == 0).peekable();
    let is_image = tops.peek().is_some() && tops.all(|layer| layer.name.starts_with("loop"));
    // 1. Not above several devices: a mirror would move the bytes more than once.
    if is_image && witness.lowest().count() <= 1 {
        let device = witness.device?;
        return Some(device.read + device.written);
    }
    // 2.
    let writes = phase.changes() || run.tally().bytes_written > 0;
    let written = witness.lowest().map(|layer| layer.used.moved.written).sum::<u64>();
    witness.accounts.filter(|_| !writes).map(|accounts| accounts.fetched + written.min(METADATA))
}
