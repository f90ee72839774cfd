//! CPU time, pressure and page cache of the whole machine.

use units::Nanos;
use workload::{Counters, Dirtiness, Pressure};

use super::{Source, number_after};

/// The machine's counters at one moment. A counter that is not available is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Machine {
    busy: Option<Nanos>,
    interrupts: Option<Nanos>,
    steal: Option<Nanos>,
    pressure: Pressure,
}

impl Machine {
    pub(super) fn read(source: &Source) -> Machine {
        let times = source.text("proc/stat").and_then(|text| parse_stat(&text));
        let pressure = |what: &str| parse_pressure(&source.text(&format!("proc/pressure/{what}"))?);
        let pressure = Pressure { cpu: pressure("cpu"), io: pressure("io"), memory: pressure("memory") };
        Machine {
            busy: times.map(|[busy, ..]| busy),
            interrupts: times.map(|[_, interrupts, _]| interrupts),
            steal: times.map(|[.., steal]| steal),
            pressure,
        }
    }

    pub(super) fn since(&self, before: &Machine) -> Counters {
        let difference = |now: Option<Nanos>, before: Option<Nanos>| Some(now?.saturating_sub(before?));
        Counters {
            machine: difference(self.busy, before.busy),
            interrupts: difference(self.interrupts, before.interrupts),
            steal: difference(self.steal, before.steal),
            pressure: Pressure {
                cpu: difference(self.pressure.cpu, before.pressure.cpu),
                io: difference(self.pressure.io, before.pressure.io),
                memory: difference(self.pressure.memory, before.pressure.memory),
            },
            ..Counters::default()
        }
    }
}

/// Parses /proc/stat into busy time (processors neither idle nor waiting for I/O), the part of it in interrupts, and
/// steal time. Its first line counts ticks: user, nice, system, idle, iowait, irq, softirq, steal.
pub(super) fn parse_stat(text: &str) -> Option<[Nanos; 3]> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
    let nanos = |ticks: u64| Nanos(ticks.saturating_mul(1_000_000_000) / procfs::ticks_per_second());
    let interrupts = irq.saturating_add(softirq);
    let busy = [user, nice, system, interrupts].into_iter().fold(0, u64::saturating_add);
    Some([busy, interrupts, steal].map(nanos))
}

/// Parses the total of the line `some`, in microseconds (Documentation/accounting/psi.rst).
pub(super) fn parse_pressure(text: &str) -> Option<Nanos> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse().ok().map(Nanos::from_micros)
}

/// The text of /proc/vmstat.
pub(super) struct VirtualMemory(String);

impl VirtualMemory {
    pub(super) fn read(source: &Source) -> Option<VirtualMemory> {
        source.text("proc/vmstat").map(VirtualMemory)
    }

    fn number(&self, word: &str) -> Option<u64> {
        number_after(&self.0, word)
    }

    /// File pages of the machine that were read again soon after eviction.
    pub(super) fn refaults(&self) -> Option<u64> {
        self.number("workingset_refault_file")
    }

    /// Number of cache drops: page cache plus slab (dentries and inodes).
    pub(super) fn drops(&self) -> Option<u64> {
        Some(self.number("drop_pagecache")?.saturating_add(self.number("drop_slab")?))
    }

    /// Bytes that all block devices of the machine have read and written. The kernel counts each request when it is
    /// submitted, in KiB.
    pub(super) fn disks(&self) -> Option<(u64, u64)> {
        let bytes = |word: &str| Some(self.number(word)?.saturating_mul(1024));
        Some((bytes("pgpgin")?, bytes("pgpgout")?))
    }

    /// Reads the dirty pages, and the threshold below which no writer is throttled. That is the middle between the
    /// two kernel thresholds (`dirty_freerun_ceiling` in mm/page-writeback.c).
    pub(super) fn dirtiness(&self) -> Option<Dirtiness> {
        let pages = self.number("nr_dirty")?.saturating_add(self.number("nr_writeback")?);
        Some(Dirtiness {
            pages,
            at_first: pages,
            free_run: self.number("nr_dirty_threshold")?.midpoint(self.number("nr_dirty_background_threshold")?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_busy_or_stolen() {
        let tick = Nanos(1_000_000_000 / procfs::ticks_per_second());
        let text = "cpu  10 1 5 900 80 2 3 4 0 0\ncpu0 10 1 5 900 80 2 3 4 0 0\n";
        assert_eq!(parse_stat(text), Some([21, 5, 4].map(|ticks| Nanos(ticks * tick.0))));
        assert_eq!(parse_stat("cpu 1 2 3\n"), None);
    }

    #[test]
    fn pressure_is_the_total_of_the_some_line() {
        let text = "some avg10=0.32 avg60=2.60 avg300=3.52 total=36449\nfull avg10=0.00 total=7\n";
        assert_eq!(parse_pressure(text), Some(Nanos(36_449_000)));
        assert_eq!(parse_pressure(""), None);
    }

    #[test]
    fn writers_are_not_throttled_up_to_the_mean_threshold() {
        let memory = VirtualMemory(
            "nr_dirty 21352\nnr_writeback 8\nnr_dirty_threshold 1195955\nnr_dirty_background_threshold 597247\n\
             workingset_refault_file 9\ndrop_pagecache 7\ndrop_slab 2\n"
                .to_owned(),
        );
        assert_eq!(memory.dirtiness(), Some(Dirtiness { pages: 21_360, free_run: 896_601, at_first: 21_360 }));
        assert_eq!((memory.refaults(), memory.drops()), (Some(9), Some(9)));
    }
}
