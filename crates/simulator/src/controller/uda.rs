//! A UDA50: takes whole commands. It moves data between bus and buffer and between buffer and drives at the same time.
//! Transfers of two drives overlap; all share one bus.
//!
//! ```text
//!   read:   command ─> turnaround ─> seek, rotation ─> platter to buffer ┬> the drive is free
//!                                                                        └> buffer to memory ─> response
//!   write:  command ─> memory to buffer, also ahead ─> turnaround ─> seek, rotation ─> platter ─> response
//! ```

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};

use super::hardware::Hardware;
use super::{Event, Io, Signal};
use crate::bus::{self, Direction};
use crate::description;
use crate::drive::Activity;
use crate::faults::{self, Fault};
use crate::queue::{DriveQueue, Waiting};

/// The controller and its driver.
#[derive(Debug)]
pub(crate) struct Uda {
    settings: description::Uda,
    /// Least time to move one sector to memory, and from memory.
    to_memory: Nanos,
    from_memory: Nanos,
    lanes: Vec<Lane>,
    /// Sectors of the buffer that are in use.
    buffered: u32,
    /// The drive after the one that last got room in the buffer. It is served first when room is free again.
    first: u8,
    /// When the bus will have finished the transfers requested so far.
    bus_free: Moment<Virtual>,
    /// Reads whose data are crossing the bus, in the order in which they will be in memory.
    delivering: VecDeque<Io>,
    /// Requests whose responses are on their way to the driver. All take the same time, so they arrive in this order.
    responding: VecDeque<Io>,
}

/// The requests of one drive.
#[derive(Debug)]
struct Lane {
    /// Requests that wait in the driver because the controller takes no more commands.
    host: DriveQueue<Io>,
    /// Commands that the controller has not answered yet.
    commands: u32,
    /// Commands in the controller that were not started yet.
    queue: DriveQueue<Io>,
    /// The write whose data are crossing the bus.
    fetching: Option<Io>,
    /// Writes whose data are in the buffer.
    fetched: VecDeque<Io>,
    /// The request that the drive is working on.
    busy: Option<Io>,
    /// Number of reads whose data are crossing the bus.
    delivering: u32,
}

impl Uda {
    pub(super) fn new(settings: description::Uda, order: description::Queue, drives: usize) -> Uda {
        let lane = |_| Lane {
            host: DriveQueue::new(order),
            commands: 0,
            queue: DriveQueue::new(settings.order),
            fetching: None,
            fetched: VecDeque::with_capacity(settings.fetched_writes as usize),
            busy: None,
            delivering: 0,
        };
        Uda {
            lanes: (0..drives).map(lane).collect(),
            to_memory: bus::sector_time(settings.to_memory_bytes_per_second, 1000),
            from_memory: bus::sector_time(settings.from_memory_bytes_per_second, 1000),
            settings,
            buffered: 0,
            first: 0,
            bus_free: Moment::ZERO,
            delivering: VecDeque::with_capacity(8),
            responding: VecDeque::with_capacity(8),
        }
    }

    pub(super) fn submit(&mut self, hardware: &mut Hardware, io: Io) {
        let waiting = waiting(hardware, io);
        let lane = &mut self.lanes[usize::from(io.drive)];
        if lane.commands < self.settings.commands {
            lane.commands += 1;
            lane.queue.insert(waiting);
            self.go_on(hardware, io.drive);
        } else {
            lane.host.insert(waiting);
        }
    }

    pub(super) fn happens(&mut self, hardware: &mut Hardware, event: Event) -> Option<Signal> {
        match event {
            Event::BusBegins(_) => hardware.transfer(true),
            Event::Fetched(drive) => {
                hardware.transfer(false);
                let lane = &mut self.lanes[usize::from(drive)];
                let io = lane.fetching.take().expect("a write whose data were fetched");
                lane.fetched.push_back(io);
                self.go_on(hardware, drive);
            }
            Event::ReadBegins(drive) => {
                let io = self.lanes[usize::from(drive)].busy.expect("a read under way");
                self.deliver(hardware, io);
            }
            Event::MediaDone(drive) => {
                let io = self.lanes[usize::from(drive)].busy.take().expect("a request under way");
                if io.reads {
                    // No room in the buffer is free yet.
                    self.go_on(hardware, drive);
                } else {
                    self.buffered -= reserved(&self.settings, io);
                    self.responding.push_back(io);
                    hardware.schedule_after(self.settings.response, Event::Responds(drive));
                    self.all_go_on(hardware);
                }
            }
            Event::Delivered(drive) => {
                hardware.transfer(false);
                let io = self.delivering.pop_front().expect("a read whose data were delivered");
                debug_assert_eq!(io.drive, drive, "the bus serves reads in order");
                self.buffered -= reserved(&self.settings, io);
                self.lanes[usize::from(io.drive)].delivering -= 1;
                self.all_go_on(hardware);
                self.responding.push_back(io);
                if hardware.happens_next(self.settings.response, Event::Responds(drive)) {
                    return self.responds(hardware, drive);
                }
            }
            Event::Responds(drive) => return self.responds(hardware, drive),
            _ => unreachable!("{event:?} is none of a UDA50"),
        }
        None
    }

    pub(super) fn served(&mut self, hardware: &mut Hardware, signal: Signal) -> Option<Io> {
        let Signal::Response(drive) = signal else { unreachable!("{signal:?} is none of a UDA50") };
        let io = self.responding.pop_front().expect("a request whose response was sent");
        debug_assert_eq!(io.drive, drive, "responses arrive in the order in which they were sent");
        let lane = &mut self.lanes[usize::from(io.drive)];
        match lane.host.take_first() {
            Some(next) => lane.queue.insert(waiting(hardware, next)),
            None => lane.commands -= 1,
        }
        self.go_on(hardware, io.drive);
        Some(io)
    }

    /// Sends the response of a complete request to the driver.
    fn responds(&self, hardware: &mut Hardware, drive: u8) -> Option<Signal> {
        hardware.interrupt_served(self.settings.driver.interrupt, Signal::Response(drive))
    }

    /// Continues all drives in round-robin order, because there is room in the buffer again or a drive is free.
    fn all_go_on(&mut self, hardware: &mut Hardware) {
        let drives = self.lanes.len() as u8;
        let mut drive = self.first;
        for _ in 0..drives {
            self.go_on(hardware, drive);
            drive = if drive + 1 == drives { 0 } else { drive + 1 };
        }
    }

    /// Starts whatever can be started for a drive. Usually nothing can, so only the question is inlined.
    #[inline]
    fn go_on(&mut self, hardware: &mut Hardware, drive: u8) {
        let lane = &self.lanes[usize::from(drive)];
        let is_free = lane.busy.is_none();
        let has_place = is_free || (lane.fetched.len() as u32) < self.settings.fetched_writes;
        if (has_place && lane.fetching.is_none() && !lane.queue.is_empty()) || (is_free && !lane.fetched.is_empty()) {
            self.start(hardware, drive);
        } else if is_free {
            self.show(hardware, drive);
        }
    }

    /// Starts whatever can be started for a drive:
    ///   1. a write: its data are fetched, even while the drive is busy, as far as buffer and settings allow;
    ///   2. a read, if the drive is free and no write is before it;
    ///   3. a write whose data are in the buffer, if the drive is free.
    #[inline(never)]
    fn start(&mut self, hardware: &mut Hardware, drive: u8) {
        let drives = self.lanes.len();
        let lane = &mut self.lanes[usize::from(drive)];
        if lane.fetching.is_none()
            && let Some(io) = lane.queue.first()
        {
            let is_ready = if io.reads {
                lane.busy.is_none() && lane.fetched.is_empty()
            } else {
                (lane.fetched.len() as u32) < self.settings.fetched_writes
            };
            let buffered = self.buffered + reserved(&self.settings, io);
            if is_ready && buffered <= self.settings.buffer_sectors {
                self.buffered = buffered;
                self.first = if usize::from(drive) + 1 == drives { 0 } else { drive + 1 };
                lane.queue.take_first();
                if io.reads {
                    // 2
                    self.turn_to(hardware, io);
                } else {
                    // 1
                    lane.fetching = Some(io);
                    self.fetch(hardware, io);
                }
            }
        }
        let lane = &mut self.lanes[usize::from(drive)];
        if lane.busy.is_some() {
            return;
        }
        // 3; then another write can be fetched in its place
        if let Some(io) = lane.fetched.pop_front() {
            self.turn_to(hardware, io);
            self.go_on(hardware, drive);
        } else {
            self.show(hardware, drive);
        }
    }

    /// Sets the activity of a drive that is not busy: what it waits for.
    #[inline(never)]
    fn show(&self, hardware: &mut Hardware, drive: u8) {
        let lane = &self.lanes[usize::from(drive)];
        let activity = if lane.fetching.is_some() || lane.delivering > 0 {
            Activity::Path
        } else if lane.commands > 0 {
            Activity::Host
        } else {
            Activity::Idle
        };
        // Usually the activity has not changed.
        if !hardware.drive(drive).does(activity) {
            hardware.enter(drive, activity);
        }
    }

    /// Time to move one sector between buffer and memory: that of the slower of bus and controller.
    fn sector(&self, hardware: &Hardware, direction: Direction) -> Nanos {
        let own = match direction {
            Direction::ToMemory => self.to_memory,
            Direction::FromMemory => self.from_memory,
        };
        hardware.bus.sector(direction).max(own)
    }

    /// Reserves the bus for `sectors` sectors, from `from` or from when it is free. The transfer does not end before
    /// `earliest`. Returns the moments at which it begins and ends.
    fn take_bus(
        &mut self,
        hardware: &Hardware,
        from: Moment<Virtual>,
        sectors: u32,
        direction: Direction,
        earliest: Moment<Virtual>,
    ) -> (Moment<Virtual>, Moment<Virtual>) {
        let begins = from.max(self.bus_free);
        let time = Nanos(self.sector(hardware, direction).0 * u64::from(sectors));
        self.bus_free = (begins + time).max(earliest);
        (begins, self.bus_free)
    }

    /// Outlined: otherwise all that it needs would be looked up before it is known that there is something to fetch.
    #[inline(never)]
    fn fetch(&mut self, hardware: &mut Hardware, io: Io) {
        let command = hardware.engine.jittered(self.settings.command, self.settings.jitter_permille);
        let from = hardware.now() + command;
        let (begins, fetched) =
            self.take_bus(hardware, from, reserved(&self.settings, io), Direction::FromMemory, from);
        hardware.schedule_at(begins, Event::BusBegins(0));
        hardware.schedule_at(fetched, Event::Fetched(io.drive));
    }

    /// Delivers a read whose first sector is under the heads. The first sector goes to memory once it is complete; the
    /// transfer ends after the last sector is complete.
    fn deliver(&mut self, hardware: &mut Hardware, io: Io) {
        let media = hardware.drive(io.drive).sector();
        let from = hardware.now() + media;
        let lost = self.lost_turns(hardware, io);
        let passing = hardware.drive(io.drive).passing(io.sector, io.sectors.into());
        let last = hardware.now() + passing + lost + self.sector(hardware, Direction::ToMemory);
        let (begins, delivered) = self.take_bus(hardware, from, io.sectors.into(), Direction::ToMemory, last);
        self.lanes[usize::from(io.drive)].delivering += 1;
        self.delivering.push_back(io);
        if hardware.happens_next(begins.since(hardware.now()), Event::BusBegins(0)) {
            hardware.transfer(true);
        }
        hardware.schedule_at(delivered, Event::Delivered(io.drive));
    }

    /// Starts a request on the drive: turnaround, seek, rotation, transfer.
    fn turn_to(&mut self, hardware: &mut Hardware, io: Io) {
        let now = hardware.now();
        let mut turnaround = hardware.engine.jittered(self.settings.turnaround, self.settings.jitter_permille);
        if self.buffered > self.settings.buffer_sectors / 2 {
            turnaround += self.settings.turnaround_shared;
        }
        if faults::is_planted(Fault::NoTurnaround) {
            turnaround = Nanos::ZERO;
        }
        self.lanes[usize::from(io.drive)].busy = Some(io);
        let lost = self.lost_turns(hardware, io);
        let drive = hardware.drive(io.drive);
        let turned = now + turnaround;
        let settled = turned + drive.seek(io.sector);
        let begins = drive.reaches(io.sector, settled);
        let passed = begins + drive.passing(io.sector, io.sectors.into());
        let plan = [(turned, Activity::Seek), (settled, Activity::Rotation), (begins, Activity::Transfer)];
        hardware.enter_then(io.drive, Activity::Controller, plan);
        if lost > Nanos::ZERO {
            hardware.then(io.drive, Activity::LostTurn, passed);
        }
        if io.reads {
            hardware.schedule_at(begins, Event::ReadBegins(io.drive));
        }
        hardware.schedule_at(passed + lost, Event::MediaDone(io.drive));
    }

    /// Time of the turns that a request loses because it is larger than the buffer and the bus is slower than the
    /// platter.
    fn lost_turns(&self, hardware: &mut Hardware, io: Io) -> Nanos {
        let buffer = self.settings.buffer_sectors;
        if u32::from(io.sectors) <= buffer {
            return Nanos::ZERO;
        }
        let media = hardware.drive(io.drive).sector();
        match bus::sectors_in_time(media, self.sector(hardware, Direction::from_reads(io.reads)), buffer) {
            Some(in_time) => {
                Nanos(hardware.drive(io.drive).turn().0 * u64::from((u32::from(io.sectors) - 1) / in_time))
            }
            None => Nanos::ZERO,
        }
    }
}

/// Sectors of the buffer that a request takes. A request larger than the buffer streams through all of it.
fn reserved(settings: &description::Uda, io: Io) -> u32 {
    u32::from(io.sectors).min(settings.buffer_sectors)
}

fn waiting(hardware: &mut Hardware, io: Io) -> Waiting<Io> {
    let cylinder = hardware.drive(io.drive).geometry().cylinder(io.sector);
    Waiting { cylinder, reads: io.reads, request: io }
}
