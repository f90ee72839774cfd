//! What the runner saw of the machine around a phase, in the windows by which `stats::judge::noise` judges.

use runner::execution::{Part, PhaseRun};
use stats::judge::noise::Window;
use units::Nanos;
use workload::{Issue, Phase, Steps, Witness};

use crate::judge::consumption::PAGE;

/// What a file system writes of its own accord while its files are only read: times of access, a commit of its
/// journal. Guessed.
const METADATA: u64 = 1 << 20;

/// The window before the phase, in which nothing of ours ran, and that of the phase; on so many processors.
pub fn windows(run: &PhaseRun, phase: &Phase, cpus: u32) -> (Window, Window) {
    let calm = &run.calm;
    let before = Window { overslept: calm.overslept, ..seen(&calm.witness, Nanos::ZERO, cpus) };
    let witness = &run.witness;
    let ran = run.parts.iter().map(|part| part.cpu.total).sum();
    let ready: Option<Nanos> = run.parts.iter().map(|part: &Part| part.ready).sum();
    let seen = seen(witness, witness.workers.unwrap_or_default(), cpus);
    let during = Window {
        own_bytes: own_bytes(run, phase),
        // What goes nowhere is not slowed by what others do to a device.
        device_bytes: seen.device_bytes.filter(|_| phase.steps.issue() != Issue::Nowhere),
        ran,
        // Who has used up its share of the CPU waits for nobody.
        waited: ready.map(|ready| ready.saturating_sub(witness.quota.cpu.unwrap_or_default())),
        ..seen
    };
    let others = during.others.filter(|_| witness.workers.is_some());
    (before, Window { others, ..during }.settled(&before))
}

/// What is seen in any window; `workers` is the CPU time of kernel threads.
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

/// What the devices moved where the bytes end up.
fn lowest_bytes(witness: &Witness) -> Option<u64> {
    let mut layers = witness.lowest().map(|layer| layer.used.moved.read + layer.used.moved.written).peekable();
    // Devices that did nothing moved nothing.
    if layers.peek().is_some() { Some(layers.sum()) } else { witness.device.map(|_| 0) }
}

/// What of that was for the programs, where that can be told:
///
/// 1. under an image nobody else stands on, all that its loop device moved;
/// 2. where nothing is written, what was fetched for the programs, and a little that the file system writes.
fn own_bytes(run: &PhaseRun, phase: &Phase) -> Option<u64> {
    let witness = &run.witness;
    let mut tops = witness.layers.iter().filter(|layer| layer.depth == 0).peekable();
    let is_image = tops.peek().is_some() && tops.all(|layer| layer.name.starts_with("loop"));
    // 1. A mirror below would move more than once what is moved above it.
    if is_image && witness.lowest().count() <= 1 {
        let device = witness.device?;
        return Some(device.read + device.written);
    }
    // 2.
    let writes = phase.changes() || run.tally().bytes_written > 0;
    let written = witness.lowest().map(|layer| layer.used.moved.written).sum::<u64>();
    witness.accounts.filter(|_| !writes).map(|accounts| accounts.fetched + written.min(METADATA))
}
