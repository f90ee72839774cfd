//! The drive of a simulated machine as a raw device: requests pass the driver, the controller, the bus and the platter,
//! without a file system, a cache or a program. No clock ticks, and nothing else uses the processor.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest};

use crate::block::{Kind, Request, Token};
use crate::bus::Bus;
use crate::computer::Chance;
use crate::controller::{Controller, Hardware, Signal, TimeAccount};
use crate::cpu::{Cause, Completed, Processor};
use crate::description::{self, Description, Invalid, SECTOR_BYTES};
use crate::drive::Drive;
use crate::engine::{Engine, Event, Handler, Happened};

/// Largest piece of a request: `minphys` of 4.2BSD limits raw transfers to 63 Kbytes (sys/vax/vax/machdep.c).
const MOST_PIECE_SECTORS: u32 = 63 * 1024 / SECTOR_BYTES;

/// Events without a completion after which the simulation is given up: a hundred times those of the longest piece, each
/// sector of which may lose several turns.
const MOST_EVENTS: u64 = 1 << 20;

/// The first drive of a machine that was just switched on.
#[derive(Debug)]
pub struct RawDrive {
    name: String,
    hardware: Hardware,
    controller: Controller,
    driver_start: Nanos,
    sectors: u32,
    sectors_per_cylinder: u32,
    piece_sectors: u32,
    /// Requests in flight, by token.
    slots: Vec<Option<Slot>>,
}

/// A request in flight. Its pieces follow each other.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its index on the tape.
    index: usize,
    kind: Kind,
    /// The rest of it.
    sector: u32,
    sectors: u32,
}

/// The progress of a tape.
struct Progress<'a> {
    tape: &'a Tape,
    began: Moment<Virtual>,
    served: Vec<Served>,
    done: Vec<bool>,
    /// All requests before this one are complete.
    complete: usize,
    in_flight: u32,
    /// True while the next request pauses.
    pauses: bool,
    /// True if no further request starts.
    ended: bool,
}

impl RawDrive {
    /// Switches the machine on. Set `kernel.jitter_permille` to zero in the description for constant times of the
    /// driver.
    pub fn new(description: &Description, chance: Chance) -> Result<RawDrive, Invalid> {
        description.check(1, 0)?;
        let drive = &description.drive;
        let most = match &description.controller {
            description::Controller::Ide(ide) => ide.most_sectors,
            description::Controller::Massbus(_) | description::Controller::Uda(_) => MOST_PIECE_SECTORS,
        };
        Ok(RawDrive {
            name: description.name.clone(),
            hardware: Hardware {
                engine: Engine::new(chance.seed),
                processor: Processor::new(&description.cpu, &description.kernel, 0),
                bus: Bus::new(&description.bus),
                drives: vec![Drive::new(drive, 0, chance.phase_ppm(0))],
                occupied: TimeAccount::new(matches!(description.controller, description::Controller::Massbus(_))),
            },
            controller: Controller::new(description, 1),
            driver_start: description.controller.driver().start,
            sectors: drive.sectors_per_cylinder() * drive.cylinders,
            sectors_per_cylinder: drive.sectors_per_cylinder(),
            piece_sectors: most.clamp(1, MOST_PIECE_SECTORS),
            slots: Vec::new(),
        })
    }

    /// The name of the machine.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, request: &TapeRequest) -> Result<(), Invalid> {
        let (offset, bytes, unit) = (request.offset, u64::from(request.bytes), u64::from(SECTOR_BYTES));
        if request.kind == TapeKind::Flush {
            return Ok(());
        }
        let hint = "whole sectors of the drive";
        if bytes == 0 || !offset.is_multiple_of(unit) || !bytes.is_multiple_of(unit) {
            let what = alloc::format!("{bytes} bytes at {offset} are not whole sectors of {unit} bytes");
            return Err(Invalid::new("tape", what, hint));
        }
        match offset.checked_add(bytes).filter(|end| *end <= self.capacity()) {
            Some(_) => Ok(()),
            None => Err(Invalid::new("tape", alloc::format!("{bytes} bytes at {offset} are not on the drive"), hint)),
        }
    }

    /// Handles the next event. Returns the request of the tape that it completes, if any.
    fn advance(&mut self, event: Happened<Event>) -> Option<usize> {
        let done = match event {
            Happened::Listed(Event::Controller(event)) => {
                let signal = self.controller.happens(&mut self.hardware, event)?;
                self.served(signal)
            }
            Happened::Movable => match self.hardware.processor.completed(&self.hardware.engine) {
                Completed::Interrupt(Handler::Driver(slot)) => {
                    self.submit(usize::from(slot));
                    None
                }
                Completed::Interrupt(Handler::Controller(signal)) => self.served(signal),
                _ => None,
            },
            Happened::Periodic | Happened::Listed(Event::Awake(_)) => return None,
        };
        self.hardware.processor.dispatch(&mut self.hardware.engine);
        done
    }

    /// Continues after an interrupt of the controller. It completes at most one piece: a command for several requests
    /// would need pieces of different requests that follow each other on the drive.
    fn served(&mut self, signal: Signal) -> Option<usize> {
        let mut completed = self.controller.served(&mut self.hardware, signal);
        let mut done = None;
        while let Some(request) = completed {
            done = self.piece_done(usize::from(request.token.0)).or(done);
            completed = self.controller.next_completed();
        }
        done
    }

    /// Passes the next piece of a request to the controller: up to the end of its cylinder, and not too large.
    fn submit(&mut self, slot: usize) {
        let Some(request) = &mut self.slots[slot] else { return };
        let cylinder_end = (request.sector / self.sectors_per_cylinder + 1) * self.sectors_per_cylinder;
        let sectors = request.sectors.min(self.piece_sectors).min(cylinder_end - request.sector);
        let piece = Request {
            device: 0,
            kind: request.kind,
            token: Token(slot as u16),
            sectors: sectors as u16,
            sector: request.sector.into(),
        };
        request.sector += sectors;
        request.sectors -= sectors;
        self.controller.submit(&mut self.hardware, piece);
    }

    /// Starts the next piece of a request. Returns the request if there is none.
    fn piece_done(&mut self, slot: usize) -> Option<usize> {
        let request = self.slots[slot]?;
        if request.sectors > 0 {
            self.start_driver(slot);
            return None;
        }
        self.slots[slot] = None;
        Some(request.index)
    }

    /// Lets the driver start a piece.
    fn start_driver(&mut self, slot: usize) {
        let Hardware { engine, processor, .. } = &mut self.hardware;
        processor.interrupt(engine, self.driver_start, Cause::Start, Handler::Driver(slot as u8));
    }

    /// Lets the next request pause until it starts, if the queue has room.
    fn pause_next(&mut self, progress: &mut Progress) {
        let Some(next) = progress.tape.requests.get(progress.served.len()) else { return };
        if progress.pauses || progress.ended || progress.in_flight >= depth(progress.tape) {
            return;
        }
        progress.pauses = true;
        self.hardware.engine.calendar.schedule_after(next.pause, Event::Awake(0));
    }

    /// Starts the next request after its pause.
    fn start_next(&mut self, progress: &mut Progress) {
        let index = progress.served.len();
        let TapeRequest { kind, offset, bytes, .. } = progress.tape.requests[index];
        progress.pauses = false;
        let issued = self.hardware.now().since(progress.began);
        if issued > progress.tape.limit {
            progress.ended = true;
            return;
        }
        progress.served.push(Served { issued, completed: issued });
        progress.done.push(false);
        progress.in_flight += 1;
        let kind = match kind {
            TapeKind::Flush => return self.complete(progress, None),
            TapeKind::Read => Kind::Read,
            TapeKind::Write => Kind::Write,
        };
        let sector = (offset / u64::from(SECTOR_BYTES)) as u32;
        let free = self.slots.iter().position(Option::is_none).expect("a slot for each request in flight");
        self.slots[free] = Some(Slot { index, kind, sector, sectors: bytes / SECTOR_BYTES });
        self.start_driver(free);
    }

    /// Notes that a request is complete, and with it the flushes that waited for it: a flush is complete as soon as all
    /// requests before it are. The caches of drives have no other flush.
    fn complete(&mut self, progress: &mut Progress, index: Option<usize>) {
        let now = self.hardware.now().since(progress.began);
        let end = |progress: &mut Progress, index: usize| {
            progress.served[index].completed = now;
            progress.done[index] = true;
            progress.in_flight -= 1;
        };
        if let Some(index) = index {
            end(progress, index);
        }
        while let Some(done) = progress.done.get(progress.complete) {
            let is_flush = progress.tape.requests[progress.complete].kind == TapeKind::Flush;
            if !*done && !is_flush {
                break;
            }
            if !*done {
                end(progress, progress.complete);
            }
            progress.complete += 1;
        }
    }
}

/// Requests in flight at once. Tokens of the driver have eight bits.
fn depth(tape: &Tape) -> u32 {
    tape.depth.clamp(1, 255)
}

impl TapePlayer for RawDrive {
    type Fault = Invalid;

    fn capacity(&self) -> u64 {
        u64::from(self.sectors) * u64::from(SECTOR_BYTES)
    }

    fn alignment(&self) -> u32 {
        SECTOR_BYTES
    }

    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Invalid> {
        tape.requests.iter().try_for_each(|request| self.check(request))?;
        self.slots = vec![None; depth(tape) as usize];
        let count = tape.requests.len();
        let mut progress = Progress {
            tape,
            began: self.hardware.now(),
            served: Vec::with_capacity(count),
            done: Vec::with_capacity(count),
            complete: 0,
            in_flight: 0,
            pauses: false,
            ended: false,
        };
        let mut last = self.hardware.engine.calendar.happened();
        self.pause_next(&mut progress);
        while progress.pauses || progress.in_flight > 0 {
            let event = self.hardware.engine.calendar.next().expect("a request in flight has an event");
            if event == Happened::Listed(Event::Awake(0)) {
                self.start_next(&mut progress);
            } else if let Some(index) = self.advance(event) {
                self.complete(&mut progress, Some(index));
                last = self.hardware.engine.calendar.happened();
            }
            self.pause_next(&mut progress);
            if self.hardware.engine.calendar.happened() - last > MOST_EVENTS {
                let what = "it does not end: some request is never complete";
                return Err(Invalid::new("simulation", what, "report this machine"));
            }
        }
        Ok(progress.served)
    }

    fn rest(&mut self, time: Nanos) -> Result<(), Invalid> {
        self.hardware.engine.calendar.schedule_after(time, Event::Awake(0));
        while let Some(event) = self.hardware.engine.calendar.next() {
            if event == Happened::Listed(Event::Awake(0)) {
                break;
            }
            self.advance(event);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
