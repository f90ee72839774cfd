//! A controller that is driven step by step by the driver, like the RH780 and compatible ones (SC750, SC780, SI 9900).
//! Seeks and rotation of all drives overlap, but only one drive at a time transfers data.
//!
//! ```text
//!   driver: seek, search ─> drive turns ─> attention ─> interrupt ─> wait for the data path ─> data command
//!           ─> the sector comes ─> transfer ─> interrupt, which starts the drive's next request
//! ```

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::hardware::Hardware;
use super::{Event, Io, Signal, sector_search};
use units::{Moment, Nanos, Virtual};

use crate::bus::{Direction, sectors_in_time};
use crate::description::{self, Attention, Microcode, Rival, Search};
use crate::drive::Activity;
use crate::faults::{self, Fault};
use crate::queue::{DriveQueue, Waiting};

/// The controller and its driver.
#[derive(Debug)]
pub(crate) struct Massbus {
    settings: description::Massbus,
    /// True if the system knows a single drive. Then the driver never searches.
    is_single: bool,
    lanes: Vec<Lane>,
    /// True while a drive has the data path.
    path_busy: bool,
    /// Drives that wait for the data path, in the order of arrival.
    path_waiting: VecDeque<u8>,
    /// When a serial microcode has finished its last search command.
    microcode_free: Moment<Virtual>,
    /// Drives whose search command waits for the end of the data command, in the order of arrival.
    search_waiting: VecDeque<u8>,
}

/// The requests of one drive.
#[derive(Debug)]
struct Lane {
    queue: DriveQueue<Io>,
    /// True while the first request is in progress.
    active: bool,
    /// The drive has raised an attention that was not handled yet.
    calls: bool,
    /// Sectors of the transfer that have passed, and those that are passing now.
    passed: u16,
    passing: u16,
    /// Late bus grants since the transfer began or continued.
    slips: u32,
}

impl Massbus {
    pub(super) fn new(settings: description::Massbus, order: description::Queue, drives: usize) -> Massbus {
        let lane =
            |_| Lane { queue: DriveQueue::new(order), active: false, calls: false, passed: 0, passing: 0, slips: 0 };
        Massbus {
            is_single: drives.max(settings.configured_drives as usize) == 1,
            settings,
            lanes: (0..drives).map(lane).collect(),
            path_busy: false,
            path_waiting: VecDeque::with_capacity(drives),
            microcode_free: Moment::ZERO,
            search_waiting: VecDeque::with_capacity(drives),
        }
    }

    pub(super) fn submit(&mut self, hardware: &mut Hardware, io: Io) {
        let cylinder = hardware.drive(io.drive).geometry().cylinder(io.sector);
        let lane = &mut self.lanes[usize::from(io.drive)];
        lane.queue.insert(Waiting { cylinder, reads: io.reads, request: io });
        if !lane.active {
            self.start(hardware, io.drive);
        }
    }

    pub(super) fn happens(&mut self, hardware: &mut Hardware, event: Event) -> Option<Signal> {
        match event {
            Event::Calls(drive) => self.handle_attention(hardware, drive),
            Event::Arrives(drive) => {
                hardware.enter(drive, Activity::Transfer);
                hardware.transfer(true);
                self.pass(hardware, drive)
            }
            Event::Passed(drive) => self.passed(hardware, drive),
            Event::CaughtUp(_) => {
                hardware.transfer(false);
                None
            }
            Event::Finished(drive) => self.finished(hardware, drive),
            _ => unreachable!("{event:?} is none of a MASSBUS"),
        }
    }

    pub(super) fn served(&mut self, hardware: &mut Hardware, signal: Signal) -> Option<Io> {
        match signal {
            Signal::Call(drive) => {
                self.want_path(hardware, drive);
                None
            }
            Signal::Done(drive) => Some(self.done(hardware, drive)),
            Signal::Response(_) => unreachable!("{signal:?} is none of a MASSBUS"),
        }
    }

    /// Starts the first request of a drive, if there is one.
    fn start(&mut self, hardware: &mut Hardware, drive: u8) {
        let lane = &mut self.lanes[usize::from(drive)];
        let Some(io) = lane.queue.first() else { return };
        lane.active = true;
        let now = hardware.now();
        let there = hardware.drive(drive);
        let on_cylinder = there.cylinder == there.geometry().cylinder(io.sector);
        match self.settings.search {
            Search::Never if on_cylinder => self.want_path(hardware, drive),
            Search::Never => {
                let arrives = now + there.seek(io.sector) + self.settings.search_start;
                hardware.enter(drive, Activity::Seek);
                hardware.schedule_at(arrives, Event::Calls(drive));
            }
            Search::Lead { .. } if self.is_single && !faults::is_planted(Fault::SingleDriveSearches) => {
                self.want_path(hardware, drive)
            }
            Search::Lead { window_sectors, .. }
                if on_cylinder
                    && sector_search::is_skipped(
                        there.under_heads(now),
                        there.geometry().sectors_per_track,
                        window_sectors,
                    ) =>
            {
                self.want_path(hardware, drive);
            }
            Search::Lead { .. } if self.is_serial() && self.path_busy => {
                hardware.enter(drive, Activity::Path);
                self.search_waiting.push_back(drive);
            }
            Search::Lead { .. } => self.search(hardware, drive),
        }
    }

    /// True if the microcode works on one command at a time.
    fn is_serial(&self) -> bool {
        self.settings.microcode == Microcode::Serial && !faults::is_planted(Fault::ParallelMicrocode)
    }

    /// Lets a drive seek to the cylinder of its first request and search for its sector.
    fn search(&mut self, hardware: &mut Hardware, drive: u8) {
        let io = self.lanes[usize::from(drive)].queue.first().expect("a drive that searches has a request");
        let Search::Lead { lead_sectors, .. } = self.settings.search else { unreachable!("a driver that searches") };
        let lead_sectors = if faults::is_planted(Fault::NoSearchLead) { 0 } else { lead_sectors };
        let mut begins = hardware.now();
        if self.is_serial() {
            begins = begins.max(self.microcode_free);
            self.microcode_free = begins + self.settings.search_start;
        }
        let there = hardware.drive(drive);
        let settled = begins + there.seek(io.sector);
        let searches = settled + self.settings.search_start;
        let calls = there.reaches_before(io.sector, lead_sectors, searches);
        let plan = [(settled, Activity::Controller), (searches, Activity::Rotation)];
        hardware.enter_then(drive, Activity::Seek, plan);
        hardware.schedule_at(calls, Event::Calls(drive));
    }

    /// Handles the attention of a drive that has found its sector.
    fn handle_attention(&mut self, hardware: &mut Hardware, drive: u8) -> Option<Signal> {
        if !self.path_busy {
            hardware.enter(drive, Activity::Host);
            return hardware.interrupt_served(self.settings.driver.interrupt, Signal::Call(drive));
        }
        self.lanes[usize::from(drive)].calls = true;
        hardware.enter(drive, Activity::Path);
        None
    }

    /// Handles an attention that was raised while the data path was busy, now that the path is free.
    fn handle_waiting_attention(&mut self, hardware: &mut Hardware, drive: u8) {
        let remembered = faults::is_planted(Fault::LostAttentionIgnored);
        if self.settings.attention == Attention::Polled
            && !remembered
            && let Search::Lead { lead_sectors, .. } = self.settings.search
        {
            let io = self.lanes[usize::from(drive)].queue.first().expect("a drive that called has a request");
            let now = hardware.now();
            let there = hardware.drive(drive);
            let calls = there.reaches_before(io.sector, lead_sectors, now);
            // The time since the drive passed the position at which it raises its attention.
            let late = there.turn().saturating_sub(calls.since(now));
            let is_kept = late <= self.settings.attention_kept && !faults::is_planted(Fault::AttentionNotKept);
            if calls < there.reaches(io.sector, now) && !is_kept {
                hardware.enter(drive, Activity::LostTurn);
                return hardware.schedule_at(calls, Event::Calls(drive));
            }
        }
        hardware.enter(drive, Activity::Host);
        hardware.interrupt(self.settings.driver.interrupt, Signal::Call(drive));
    }

    fn want_path(&mut self, hardware: &mut Hardware, drive: u8) {
        if !self.path_busy && self.path_waiting.is_empty() {
            return self.give_path(hardware, drive);
        }
        hardware.enter(drive, Activity::Path);
        self.path_waiting.push_back(drive);
        self.take_path(hardware);
    }

    /// Gives the data path to the drive that has waited longest.
    fn take_path(&mut self, hardware: &mut Hardware) {
        if !self.path_busy
            && let Some(drive) = self.path_waiting.pop_front()
        {
            self.give_path(hardware, drive);
        }
    }

    fn give_path(&mut self, hardware: &mut Hardware, drive: u8) {
        self.path_busy = true;
        let lane = &mut self.lanes[usize::from(drive)];
        (lane.passed, lane.passing) = (0, 0);
        let io = lane.queue.first().expect("a drive that wants the path has a request");
        let begins = if self.is_serial() { hardware.now().max(self.microcode_free) } else { hardware.now() };
        let commanded = begins + self.settings.command;
        hardware.pass_path(drive, true);
        let there = hardware.drive(drive);
        let settled = commanded + there.seek(io.sector);
        let arrives = there.reaches(io.sector, settled);
        let plan = [(commanded, Activity::Seek), (settled, Activity::Rotation)];
        hardware.enter_then(drive, Activity::Controller, plan);
        hardware.schedule_at(arrives, Event::Arrives(drive));
    }

    /// Begins to transfer the next sectors: one at a time if the bus may be granted too late for any of them. Otherwise
    /// as many as the buffer allows, which is all if the bus is faster than the platter.
    fn pass(&mut self, hardware: &mut Hardware, drive: u8) -> Option<Signal> {
        if let Some(slips) = hardware.bus.forgives() {
            self.lanes[usize::from(drive)].slips = 0;
            return self.pass_one_by_one(hardware, drive, slips);
        }
        let lane = &mut self.lanes[usize::from(drive)];
        let io = lane.queue.first().expect("the request that is transferred");
        let left = io.sectors - lane.passed;
        let media = hardware.drive(drive).sector();
        let direction = Direction::from_reads(io.reads);
        let in_time = sectors_in_time(media, hardware.bus.sector(direction), self.settings.buffer_sectors);
        lane.passing = in_time.map_or(left, |some| some.min(left.into()) as u16);
        let mut time = hardware.drive(drive).passing(io.sector + u32::from(lane.passed), lane.passing.into());
        if lane.passing == left {
            // After the last sector has passed, the bus still has to move the content of the buffer.
            time = time.max(Nanos(hardware.bus.sector(direction).0 * u64::from(lane.passing)));
        }
        let is_next = hardware.happens_next(time, Event::Passed(drive));
        if is_next { self.passed(hardware, drive) } else { None }
    }

    /// Transfers sectors until one is lost, all have passed, or another event happens meanwhile. Such an event may
    /// change what the processor does, and with it the probability of the next late grant.
    fn pass_one_by_one(
        &mut self,
        hardware: &mut Hardware,
        drive: u8,
        (forgiven, rival): (u32, Rival),
    ) -> Option<Signal> {
        let time = hardware.drive(drive).sector();
        let lane = &mut self.lanes[usize::from(drive)];
        let io = lane.queue.first().expect("the request that is transferred");
        let direction = Direction::from_reads(io.reads);
        let at_work = match rival {
            Rival::Work => hardware.processor.is_at_work(),
            Rival::Moves if faults::is_planted(Fault::AnyWorkIsRival) => hardware.processor.is_at_work(),
            Rival::Moves => hardware.processor.moves_memory(),
        };
        lane.passing = 1;
        while lane.passed < io.sectors {
            lane.slips += u32::from(hardware.bus.is_late(direction, at_work, &mut hardware.engine.prng));
            if lane.slips >= forgiven {
                self.lose_turn(hardware, drive);
                return None;
            }
            if !hardware.happens_next(time, Event::Passed(drive)) {
                return None;
            }
            lane.passed += 1;
        }
        self.finish(hardware, drive)
    }

    fn passed(&mut self, hardware: &mut Hardware, drive: u8) -> Option<Signal> {
        let lane = &mut self.lanes[usize::from(drive)];
        lane.passed += lane.passing;
        let sectors = lane.queue.first().expect("the request that is transferred").sectors;
        if lane.passed == sectors {
            return self.finish(hardware, drive);
        }
        if let Some(slips) = hardware.bus.forgives() {
            return self.pass_one_by_one(hardware, drive, slips);
        }
        self.overrun(hardware, drive);
        None
    }

    fn finish(&mut self, hardware: &mut Hardware, drive: u8) -> Option<Signal> {
        hardware.transfer(false);
        hardware.enter(drive, Activity::Controller);
        let reads = self.lanes[usize::from(drive)].queue.first().is_some_and(|io| io.reads);
        let of_read = if reads { self.settings.finish_of_read } else { Nanos::ZERO };
        let is_next = hardware.happens_next(self.settings.finish + of_read, Event::Finished(drive));
        if is_next { self.finished(hardware, drive) } else { None }
    }

    /// Handles the end of a data command. Drives that waited for it search.
    fn finished(&mut self, hardware: &mut Hardware, drive: u8) -> Option<Signal> {
        while let Some(waiting) = self.search_waiting.pop_front() {
            self.search(hardware, waiting);
        }
        hardware.enter(drive, Activity::Host);
        hardware.interrupt_served(self.settings.driver.interrupt, Signal::Done(drive))
    }

    /// Handles an overrun: the buffer is full (read) or empty (write), and the next sector must come round again. The
    /// transfer continues at the first such moment after the bus has caught up with the platter.
    fn overrun(&mut self, hardware: &mut Hardware, drive: u8) {
        let lane = &self.lanes[usize::from(drive)];
        let io = lane.queue.first().expect("the request that is transferred");
        let (begun, sectors) = (io.sector + u32::from(lane.passed - lane.passing), lane.passing.into());
        let moved = Nanos(hardware.bus.sector(Direction::from_reads(io.reads)).0 * u64::from(lane.passing));
        let behind = moved.saturating_sub(hardware.drive(drive).passing(begun, sectors));
        let turn = hardware.drive(drive).turn();
        hardware.enter(drive, Activity::LostTurn);
        hardware.schedule_after(behind, Event::CaughtUp(drive));
        hardware.schedule_after(Nanos(turn.0 * behind.0.div_ceil(turn.0).max(1)), Event::Arrives(drive));
    }

    /// Handles a lost sector: it must come round again.
    fn lose_turn(&mut self, hardware: &mut Hardware, drive: u8) {
        let turn = hardware.drive(drive).turn();
        hardware.transfer(false);
        hardware.enter(drive, Activity::LostTurn);
        hardware.schedule_after(turn, Event::Arrives(drive));
    }

    /// Handles the interrupt at the end of a transfer:
    ///   1. the request is complete, and the data path is free;
    ///   2. the driver starts the same drive's next request;
    ///   3. pending attentions of other drives are handled;
    ///   4. the next drive that waits for the data path gets it.
    fn done(&mut self, hardware: &mut Hardware, drive: u8) -> Io {
        // 1
        let lane = &mut self.lanes[usize::from(drive)];
        let io = lane.queue.take_first().expect("the request that is complete");
        lane.active = false;
        self.path_busy = false;
        hardware.pass_path(drive, false);
        hardware.enter(drive, Activity::Idle);
        // 2
        self.start(hardware, drive);
        // 3
        for other in 0..self.lanes.len() as u8 {
            if core::mem::take(&mut self.lanes[usize::from(other)].calls) {
                self.handle_waiting_attention(hardware, other);
            }
        }
        // 4
        self.take_path(hardware);
        io
    }
}
