//! The bus between memory and controller: its transfer rate, late grants, and its time account.

mod late_grant;
mod overrun;

pub(crate) use overrun::sectors_in_time;
use units::{Moment, Nanos, Prng, Virtual};

use crate::description::{self, DataLate, Rival, SECTOR_BYTES};
use crate::faults::{self, Fault};
use crate::timeline::{Timeline, Track};

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To memory: a program reads.
    ToMemory,
    /// From memory: a program writes.
    FromMemory,
}

impl Direction {
    pub(crate) fn from_reads(reads: bool) -> Direction {
        if reads { Direction::ToMemory } else { Direction::FromMemory }
    }
}

/// Time to transfer one sector at this rate, of which `free_permille` thousandths are available.
pub(crate) fn sector_time(bytes_per_second: u64, free_permille: u32) -> Nanos {
    let bytes = u64::from(SECTOR_BYTES) * 1_000_000_000_000;
    Nanos(bytes.div_ceil((bytes_per_second * u64::from(free_permille)).max(1)))
}

/// State of a bus.
#[derive(Debug)]
pub(crate) struct Bus {
    to_memory: Nanos,
    from_memory: Nanos,
    slow_down_permille: u32,
    data_late: Option<DataLate>,
    /// Number of transfers in progress.
    transfers: u32,
    since: Moment<Virtual>,
    spent: BusTime,
}

/// Busy and idle time of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusTime {
    /// Time with at least one of our transfers in progress.
    pub busy: Nanos,
    /// Time without any of our transfers.
    pub idle: Nanos,
}

impl Bus {
    pub(crate) fn new(description: &description::Bus) -> Bus {
        let free = 1000 - description.other_traffic_permille;
        Bus {
            to_memory: sector_time(description.to_memory_bytes_per_second, free),
            from_memory: sector_time(description.from_memory_bytes_per_second, free),
            slow_down_permille: description.slow_down_permille,
            data_late: description.data_late.clone(),
            transfers: 0,
            since: Moment::ZERO,
            spent: BusTime::default(),
        }
    }

    /// Time to transfer one sector.
    pub(crate) fn sector(&self, direction: Direction) -> Nanos {
        match direction {
            Direction::ToMemory => self.to_memory,
            Direction::FromMemory => self.from_memory,
        }
    }

    /// Returns the number of late grants within a transfer that lose a sector, and the work of the processor that makes
    /// grants late; `None` if they are never late.
    pub(crate) fn forgives(&self) -> Option<(u32, Rival)> {
        self.data_late.as_ref().map(|late| (late.slips, late.rival))
    }

    /// Draws whether the bus is granted too late for this sector.
    pub(crate) fn is_late(&self, direction: Direction, cpu_at_work: bool, prng: &mut Prng) -> bool {
        let Some(late) = self.data_late.as_ref().filter(|_| !faults::is_planted(Fault::NoLateData)) else {
            return false;
        };
        late_grant::is_late(late_grant::chance_ppm(late, direction, cpu_at_work), prng)
    }

    /// Slowdown of the processor by the current transfers, in thousandths.
    pub(crate) fn slow_down_permille(&self) -> u32 {
        if faults::is_planted(Fault::NoSlowDown) { 0 } else { self.transfers * self.slow_down_permille }
    }

    /// Notes that a transfer begins or ends.
    pub(crate) fn change(&mut self, begins: bool, now: Moment<Virtual>, timeline: &mut Timeline) {
        self.account(now);
        let before = self.transfers;
        self.transfers = if begins { before + 1 } else { before - 1 };
        if (before == 0) != (self.transfers == 0) {
            timeline.enter(Track::Bus, "transfer", begins, now);
        }
    }

    pub(crate) fn spent(&mut self, now: Moment<Virtual>) -> BusTime {
        self.account(now);
        self.spent
    }

    fn account(&mut self, now: Moment<Virtual>) {
        let span = now.since(self.since);
        self.since = now;
        if self.transfers > 0 {
            self.spent.busy += span;
        } else {
            self.spent.idle += span;
        }
    }
}
