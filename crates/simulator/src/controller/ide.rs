//! An IDE drive's own controller: one command at a time. The driver merges consecutive requests into one command.
//!
//! ```text
//!   read:   command ─┬─ in a segment ─────────────────────────────> memory ─> interrupt
//!                    └─ seek, rotation ─> platter ─> memory ─> interrupt, and the drive reads on into the segment
//!   write:  command ─> drive's memory ─> interrupt; the platter follows in the order of arrival
//! ```

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};

use super::hardware::Hardware;
use super::{Event, Io, Signal};
use crate::bus::Direction;
use crate::description;
use crate::drive::Activity;
use crate::queue::{DriveQueue, Waiting};

/// Tolerance for rounding to nanoseconds: a sector that comes under the heads just when the one before has passed is
/// not missed.
const ROUNDING: Nanos = Nanos(100);

/// The controllers and their driver.
#[derive(Debug)]
pub(crate) struct Ide {
    settings: description::Ide,
    lanes: Vec<Lane>,
    /// Requests of the last command that were not returned yet.
    completed: VecDeque<Io>,
}

/// The requests and the memory of one drive.
#[derive(Debug)]
struct Lane {
    queue: DriveQueue<Io>,
    /// The requests of the command in progress.
    active: VecDeque<Io>,
    /// The segment that the drive reads into, and the others; the last was used last.
    reading: Option<Segment>,
    segments: Vec<Segment>,
    /// Writes in the drive's memory: when each is on the platter, and its sectors.
    writes: VecDeque<(Moment<Virtual>, u32)>,
    /// When the last of them is on the platter, and the sector after it.
    written: Moment<Virtual>,
    after: u32,
}

/// Consecutive sectors that were read from the platter, or are being read.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The first sector, and when it came under the heads.
    first: u32,
    began: Moment<Virtual>,
    /// The sector after the last one that a program requested.
    asked: u32,
    /// The sector after the last one that will be read.
    end: u32,
}

impl Ide {
    pub(super) fn new(settings: description::Ide, order: description::Queue, drives: usize) -> Ide {
        let lane = |_| Lane {
            queue: DriveQueue::new(order),
            active: VecDeque::new(),
            reading: None,
            segments: Vec::new(),
            writes: VecDeque::new(),
            written: Moment::ZERO,
            after: 0,
        };
        Ide { settings, lanes: (0..drives).map(lane).collect(), completed: VecDeque::new() }
    }

    #[inline(never)]
    pub(super) fn submit(&mut self, hardware: &mut Hardware, io: Io) {
        let cylinder = hardware.drive(io.drive).geometry().cylinder(io.sector);
        let lane = &mut self.lanes[usize::from(io.drive)];
        lane.queue.insert(Waiting { cylinder, reads: io.reads, request: io });
        if lane.active.is_empty() {
            self.start(hardware, io.drive);
        }
    }

    #[inline(never)]
    pub(super) fn happens(&mut self, hardware: &mut Hardware, event: Event) -> Option<Signal> {
        let Event::Finished(drive) = event else { unreachable!("{event:?} is none of an IDE drive") };
        hardware.enter(drive, Activity::Host);
        hardware.interrupt_served(self.settings.driver.interrupt, Signal::Done(drive))
    }

    #[inline(never)]
    pub(super) fn served(&mut self, hardware: &mut Hardware, signal: Signal) -> Option<Io> {
        let Signal::Done(drive) = signal else { unreachable!("{signal:?} is none of an IDE drive") };
        self.completed.append(&mut self.lanes[usize::from(drive)].active);
        self.start(hardware, drive);
        self.completed.pop_front()
    }

    pub(super) fn next_completed(&mut self) -> Option<Io> {
        self.completed.pop_front()
    }

    /// Starts the first requests of a drive as one command, if there are any.
    fn start(&mut self, hardware: &mut Hardware, drive: u8) {
        let lane = &mut self.lanes[usize::from(drive)];
        let Some(first) = lane.queue.take_first() else { return rest(hardware, drive, lane.written) };
        let mut sectors = u32::from(first.sectors);
        lane.active.push_back(first);
        while let Some(next) = lane.queue.first() {
            let both = sectors + u32::from(next.sectors);
            let follows = next.reads == first.reads && next.sector == first.sector + sectors;
            if !follows || both > self.settings.most_sectors {
                break;
            }
            sectors = both;
            lane.active.extend(lane.queue.take_first());
        }
        let done = if first.reads {
            self.read(hardware, drive, first.sector, sectors)
        } else {
            self.write(hardware, drive, first.sector, sectors)
        };
        hardware.schedule_at(done, Event::Finished(drive));
    }

    /// Reads sectors. Returns the moment at which they are in memory.
    ///   1. A segment has them, or is about to have them: they come from there.
    ///   2. Otherwise the drive stops to read ahead, and completes its writes.
    ///   3. The arm moves, and the drive reads the sectors and beyond them.
    fn read(&mut self, hardware: &mut Hardware, drive: u8, sector: u32, sectors: u32) -> Moment<Virtual> {
        let settings = &self.settings;
        let lane = &mut self.lanes[usize::from(drive)];
        let ready = hardware.now() + settings.command;
        let crossing = Nanos(hardware.bus.sector(Direction::ToMemory).0 * u64::from(sectors));
        // 1
        let room = settings.segment_sectors;
        if let Some(reading) = &mut lane.reading {
            reading.read_on(hardware, drive, ready, sector, room);
            if reading.has(sector, sectors, room) {
                reading.asked = reading.asked.max(sector + sectors);
                let passed = reading.passed(hardware, drive, sector + sectors);
                return from_segment(hardware, drive, ready).max(passed) + crossing;
            }
        }
        if let Some(index) = lane.segments.iter().position(|segment| segment.has(sector, sectors, room)) {
            let segment = lane.segments.remove(index);
            lane.segments.push(segment);
            return from_segment(hardware, drive, ready) + crossing;
        }
        // 2
        if let Some(mut segment) = lane.reading.take() {
            segment.stop(hardware, drive, ready);
            lane.segments.push(segment);
        }
        lane.keep(settings.segments.saturating_sub(1));
        // 3
        let from = ready.max(lane.written);
        let settled = from + hardware.drive(drive).seek(sector);
        let began = hardware.drive(drive).reaches(sector, settled);
        let passed = began + hardware.drive(drive).passing(sector, sectors);
        if settings.segments > 0 {
            let asked = sector + sectors;
            lane.reading = Some(Segment { first: sector, began, asked, end: asked + room });
        }
        let plan = [
            (ready, Activity::Path),
            (from, Activity::Seek),
            (settled, Activity::Rotation),
            (began, Activity::Transfer),
        ];
        hardware.enter_then(drive, Activity::Controller, plan);
        passed + hardware.bus.sector(Direction::ToMemory)
    }

    /// Writes sectors. Returns the moment at which they are in the drive's memory, or on the platter if it has none.
    fn write(&mut self, hardware: &mut Hardware, drive: u8, sector: u32, sectors: u32) -> Moment<Virtual> {
        let settings = &self.settings;
        let lane = &mut self.lanes[usize::from(drive)];
        let ready = hardware.now() + settings.command;
        let crossing = Nanos(hardware.bus.sector(Direction::FromMemory).0 * u64::from(sectors));
        if let Some(mut segment) = lane.reading.take() {
            segment.stop(hardware, drive, ready);
            lane.segments.push(segment);
        }
        lane.keep(settings.segments);
        lane.segments.retain(|segment| segment.end <= sector || sector + sectors <= segment.first);
        // The data wait in the computer's memory until earlier data have left the drive's memory.
        let mut room = ready;
        while let Some(&(left, _)) = lane.writes.front() {
            let held: u32 = lane.writes.iter().map(|(_, count)| count).sum();
            if left > ready && held + sectors <= settings.write_cache_sectors {
                break;
            }
            room = room.max(left);
            lane.writes.pop_front();
        }
        let taken = room + crossing;
        let there = hardware.drive(drive);
        let (settled, began) = if sector == lane.after && taken <= lane.written {
            let late = Moment::from_zero(lane.written.since_zero().saturating_sub(ROUNDING));
            (lane.written, there.reaches(sector, late).max(lane.written))
        } else {
            let settled = taken.max(lane.written) + there.seek(sector);
            (settled, there.reaches(sector, settled))
        };
        let written = began + there.passing(sector, sectors);
        (lane.written, lane.after) = (written, sector + sectors);
        if settings.write_cache_sectors > 0 {
            lane.writes.push_back((written, sectors));
            hardware.enter_then(drive, Activity::Controller, [(ready, Activity::Path)]);
            return taken;
        }
        let plan = [(taken, Activity::Seek), (settled, Activity::Rotation), (began, Activity::Transfer)];
        hardware.enter_then(drive, Activity::Controller, plan);
        written
    }
}

impl Lane {
    /// Forgets the oldest segments until only this number is left.
    fn keep(&mut self, count: u32) {
        self.segments.drain(..self.segments.len().saturating_sub(count as usize));
    }
}

impl Segment {
    /// True if it has these sectors or is about to have them. It keeps no more sectors than it has room for.
    fn has(&self, sector: u32, sectors: u32, room: u32) -> bool {
        self.first <= sector && sector + sectors <= self.end && self.asked <= sector + room
    }

    /// The moment at which the sectors before `sector` have passed under the heads.
    fn passed(&self, hardware: &mut Hardware, drive: u8, sector: u32) -> Moment<Virtual> {
        self.began + hardware.drive(drive).passing(self.first, sector - self.first)
    }

    /// Lets the drive read on as far as it has room, if sectors of this segment or those after it are requested before
    /// it has stopped.
    fn read_on(&mut self, hardware: &mut Hardware, drive: u8, now: Moment<Virtual>, sector: u32, room: u32) {
        if self.first <= sector && sector <= self.end && now <= self.passed(hardware, drive, self.end) {
            self.end = self.end.max(sector + room);
        }
    }

    /// Ends the reading into this segment. A sector that has not passed completely is lost.
    fn stop(&mut self, hardware: &mut Hardware, drive: u8, at: Moment<Virtual>) {
        if self.passed(hardware, drive, self.end) > at {
            let sector = hardware.drive(drive).sector().0.max(1);
            let passed = at.since_zero().saturating_sub(self.began.since_zero()).0 / sector;
            self.end = self.end.min(self.first.saturating_add(passed as u32));
        }
    }
}

/// The drive has the sectors in a segment. Returns the moment at which they can go to memory.
fn from_segment(hardware: &mut Hardware, drive: u8, ready: Moment<Virtual>) -> Moment<Virtual> {
    hardware.enter_then(drive, Activity::Controller, [(ready, Activity::Transfer)]);
    ready
}

/// The drive has no command. It may still have data to write.
fn rest(hardware: &mut Hardware, drive: u8, written: Moment<Virtual>) {
    if written > hardware.now() {
        hardware.enter_then(drive, Activity::Transfer, [(written, Activity::Idle)]);
    } else {
        hardware.enter(drive, Activity::Idle);
    }
}

#[cfg(test)]
mod tests;
