//! Converts the observations of the machine around a phase into windows for `stats::judge::noise`.

use runner::execution::{PAGE, PhaseResult, ProgramResult};
use stats::judge::noise::Window;
use units::Nanos;
use workload::{Counters, Issue, Phase, Steps};

/// Bytes that a file system may write on its own while its files are only read: access times, or a journal commit.
/// Guess.
const METADATA: u64 = 1 << 20;

/// The window before the phase, in which nothing of ours ran, and the window of the phase, on `cpus` processors.
pub fn windows(run: &PhaseResult, phase: &Phase, cpus: u32) -> (Window, Window) {
    let quiescence = &run.quiescence;
    let before = Window { overslept: quiescence.overslept, ..seen(&quiescence.counters, Nanos::ZERO, cpus) };
    let counters = &run.counters;
    let ran = run.parts.iter().map(|part| part.cpu.total).sum();
    let ready: Option<Nanos> = run.parts.iter().map(|part: &ProgramResult| part.ready).sum();
    let seen = seen(counters, counters.workers.unwrap_or_default(), cpus);
    let during = Window {
        own_bytes: own_bytes(run, phase),
        // Other programs' use of a device does not slow down the null engine.
        device_bytes: seen.device_bytes.filter(|_| phase.steps.issue() != Issue::Null),
        ran,
        // Time throttled by a CPU quota is not time waiting for other programs.
        waited: ready.map(|ready| ready.saturating_sub(counters.quota.cpu.unwrap_or_default())),
        ..seen
    };
    let others = during.others.filter(|_| counters.workers.is_some());
    (before, Window { others, ..during }.settled(&before))
}

/// The observations that every window has; `workers` is the CPU time of kernel threads.
fn seen(counters: &Counters, workers: Nanos, cpus: u32) -> Window {
    let ours = counters.process.map(|process| process + workers);
    let pages = |(all, own): (u64, u64)| all.saturating_sub(own) * PAGE;
    // Most interrupts of a test are those of its own I/O, and a FUSE server works for the test.
    let servers = counters.servers.iter().flatten().filter(|server| !server.is_kernel).map(|server| server.cpu);
    let for_ours = counters.interrupts.unwrap_or_default() + servers.sum::<Nanos>();
    Window {
        elapsed: counters.elapsed,
        cpus,
        device_bytes: lowest_bytes(counters),
        own_bytes: None,
        ran: Nanos::ZERO,
        others: counters.machine.zip(ours).map(|(all, ours)| all.saturating_sub(ours).saturating_sub(for_ours)),
        waited: None,
        cpu_pressure: counters.pressure.cpu,
        io_pressure: counters.pressure.io,
        steal: counters.steal,
        overslept: None,
        drops: counters.memory.drops,
        refaulted_bytes: counters.memory.machine_refaults.zip(counters.memory.refaults).map(pages),
    }
}

/// Bytes moved by the lowest active devices. `None` if no device is visible.
fn lowest_bytes(counters: &Counters) -> Option<u64> {
    let mut layers = counters.lowest().map(|layer| layer.used.moved.read + layer.used.moved.written).peekable();
    // Otherwise all visible devices were idle.
    if layers.peek().is_some() { Some(layers.sum()) } else { counters.device.map(|_| 0) }
}

/// The bytes that were moved for the programs; `None` if that is unknown:
///
/// 1. on an image, which only this run uses, everything that its loop device moved, if it was not flushed. A flush is a
///    sync of the image's file, and the file system around it writes its own metadata.
/// 2. if nothing is written, the bytes fetched for the programs, and a little that the file system writes.
fn own_bytes(run: &PhaseResult, phase: &Phase) -> Option<u64> {
    // The bytes are those of all loads of the group.
    if run.ran_with_others {
        return None;
    }
    let counters = &run.counters;
    let mut tops = counters.layers.iter().filter(|layer| layer.depth == 0).peekable();
    let is_image = tops.peek().is_some() && tops.all(|layer| layer.name.starts_with("loop"));
    // 1. Not above several devices: a mirror would move the bytes more than once.
    if is_image && counters.lowest().count() <= 1 {
        let device = counters.device?;
        return (device.flushes == 0).then_some(device.read + device.written);
    }
    // 2.
    let writes = phase.changes() || run.tally().bytes_written > 0;
    let written = counters.lowest().map(|layer| layer.used.moved.written).sum::<u64>();
    counters.accounts.filter(|_| !writes).map(|accounts| accounts.fetched + written.min(METADATA))
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;
    use workload::{DeviceBytes, DeviceUse, Layer, Server};

    use super::*;
    use crate::judge::consumption::tests::performed;

    #[test]
    fn interrupts_and_servers_of_the_test_are_not_other_programs() {
        let (program, result) = performed(Classic::Read8192, 1);
        let mut run = result.phases.into_iter().next().expect("a phase");
        let server = |cpu, is_kernel| Server {
            name: String::new(),
            cpu: Nanos(cpu),
            busiest: Nanos(cpu),
            waited: Nanos::ZERO,
            below: 0,
            is_kernel,
        };
        run.counters = Counters {
            machine: Some(Nanos(1000)),
            process: Some(Nanos(200)),
            workers: Some(Nanos(100)),
            interrupts: Some(Nanos(150)),
            servers: Some(vec![server(250, false), server(70, true)]),
            ..Counters::default()
        };
        let others = |run: &PhaseResult| windows(run, &program.phases[0], 2).1.others;
        assert_eq!(others(&run), Some(Nanos(300)));
        run.counters.servers = Some(vec![server(800, false)]);
        assert_eq!(others(&run), Some(Nanos::ZERO));
    }

    #[test]
    fn the_own_bytes_of_an_image_are_unknown_if_it_was_flushed() {
        let (program, result) = performed(Classic::Rewrite8192, 1);
        let mut run = result.phases.into_iter().next().expect("a phase");
        let mut own = |flushes| {
            let moved = DeviceBytes { read: 100, written: 200, flushes };
            let layer = Layer {
                name: "loop0".to_owned(),
                depth: 0,
                below: Vec::new(),
                used: DeviceUse { moved, writes: 1, ..DeviceUse::default() },
                write_cache: None,
                is_file: true,
                is_buffered: false,
            };
            run.counters = Counters { device: Some(moved), layers: vec![layer], ..Counters::default() };
            own_bytes(&run, &program.phases[0])
        };
        assert_eq!([own(0), own(3)], [Some(300), None]);
    }
}
