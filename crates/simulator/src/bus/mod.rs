//! The bus between memory and controller: how fast it moves data, whether a sector comes too late, and what it
//! spent its time on.

mod late;
mod overrun;

use units::{Moment, Nanos, Prng, Virtual};

use crate::description::{self, DataLate, SECTOR_BYTES};
use crate::faults::{self, Fault};
use crate::timeline::{Timeline, Track};

/// Which way data move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A read of the program's.
    ToMemory,
    /// A write.
    FromMemory,
}

impl Direction {
    pub(crate) fn of(reads: bool) -> Direction {
        if reads { Direction::ToMemory } else { Direction::FromMemory }
    }
}

/// A bus at work.
#[derive(Debug)]
pub(crate) struct Bus {
    to_memory: Nanos,
    from_memory: Nanos,
    slow_down_permille: u32,
    data_late: Option<DataLate>,
    /// Transfers that run now.
    transfers: u32,
    since: Moment<Virtual>,
    spent: BusTime,
}

/// What the bus spent its time on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusTime {
    /// At least one transfer of ours ran.
    pub busy: Nanos,
    /// None did.
    pub idle: Nanos,
}

impl Bus {
    pub(crate) fn new(description: &description::Bus) -> Bus {
        let free = 1000 - u64::from(description.other_traffic_permille);
        let sector = |rate: u64| {
            let bytes = u64::from(SECTOR_BYTES) * 1_000_000_000_000;
            Nanos(bytes.div_ceil((rate * free).max(1)))
        };
        Bus {
            to_memory: sector(description.to_memory_bytes_per_second),
            from_memory: sector(description.from_memory_bytes_per_second),
            slow_down_permille: description.slow_down_permille,
            data_late: description.data_late.clone(),
            transfers: 0,
            since: Moment::ZERO,
            spent: BusTime::default(),
        }
    }

    /// How long one sector takes.
    pub(crate) fn sector(&self, direction: Direction) -> Nanos {
        match direction {
            Direction::ToMemory => self.to_memory,
            Direction::FromMemory => self.from_memory,
        }
    }

    /// How often within a transfer it may be granted too late before a sector is lost; nothing where it never is.
    pub(crate) fn forgives(&self) -> Option<u32> {
        self.data_late.as_ref().map(|late| late.slips)
    }

    /// Whether it is granted too late for this sector.
    pub(crate) fn is_late(&self, direction: Direction, cpu_at_work: bool, prng: &mut Prng) -> bool {
        let Some(late) = self.data_late.as_ref().filter(|_| !faults::is_planted(Fault::NoLateData)) else {
            return false;
        };
        late::is_late(late::chance_ppm(late, direction, cpu_at_work), prng)
    }

    /// How many sectors pass before one of an unbroken transfer comes too late, if any does.
    pub(crate) fn sectors_in_time(&self, direction: Direction, media_sector: Nanos, buffer: u32) -> Option<u32> {
        overrun::sectors_in_time(media_sector, self.sector(direction), buffer)
    }

    /// By how much the processor is slowed down by transfers, in thousandths.
    pub(crate) fn slow_down_permille(&self) -> u32 {
        if faults::is_planted(Fault::NoSlowDown) { 0 } else { self.transfers * self.slow_down_permille }
    }

    /// A transfer begins or ends.
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
