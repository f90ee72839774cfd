//! A simulated computer: hardware, controller, and the system that runs processes on them.
//!
//! ```text
//!   process ─ step ─> Demand: spend | sleep | return          (process.rs, step.rs: decisions)
//!      │ hands over a request                                 │ processor: cpu/
//!      ▼                                                      ▼
//!   controller/ ── drives, bus ── interrupts ──────────> arrival of a buffer: who sleeps on it is woken
//! ```

mod prepare;
mod step;
mod world;

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};
use workload::DeviceUse;

use crate::accounts::Accounts;
use crate::bus::Bus;
use crate::cache::{BufferId, Cache, State};
use crate::controller::{self, Controller, Hardware, Io, Signal};
use crate::cpu::{Cause, Completed, Process, Processor};
use crate::description::{Description, Driver, FileSystem, Invalid, Kernel};
use crate::drive::Drive;
use crate::engine::{Coded, Engine};
use crate::fs::ffs::Ffs;
use crate::namespace::{FileId, Namespace};
use crate::process::{Channel, Proc};
use crate::timeline::Mark;

/// Events within which some call has to return, or data to arrive that are waited for. The largest call, of 4 Gbytes in
/// blocks of 4096 bytes, has a million blocks of about fifty events each; so many events take half a minute.
const MOST_EVENTS: u64 = 1 << 28;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// What runs on the processor has come to its end.
    Cpu,
    /// The clock ticks.
    Tick,
    /// A process has paused for long enough.
    Awake(u8),
    /// Something in the controller.
    Controller(controller::Event),
}

impl Coded for Event {
    fn code(self) -> u64 {
        match self {
            Event::Cpu => 1,
            Event::Tick => 2,
            Event::Awake(process) => 3 << 16 | u64::from(process),
            Event::Controller(event) => 4 << 16 | event.code(),
        }
    }
}

/// What is to be done when an interrupt was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handler {
    /// Nothing: the clock has ticked.
    Clock,
    /// The controller is told.
    Controller(Signal),
}

/// What chance decides: two runs with the same chance are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chance {
    /// The seed of everything that jitters.
    pub seed: u64,
    /// How the platters stand at the beginning: `phase` of `phases` ways that are spread evenly.
    pub phase: u32,
    /// How many ways there are.
    pub phases: u32,
}

impl Default for Chance {
    fn default() -> Chance {
        Chance { seed: 1983, phase: 0, phases: 10 }
    }
}

impl Chance {
    /// How far a drive's platter is turned at the beginning, in millionths of a turn. The second drive's steps are
    /// four times the first's, so that how the two stand to each other is spread evenly too.
    fn phase_ppm(self, drive: usize) -> u32 {
        let step = if drive.is_multiple_of(2) { 1 } else { 4 };
        let phases = u64::from(self.phases.max(1));
        let turned = u64::from(self.phase) * step * 1_000_000 / phases + 500_000 / phases;
        (turned % 1_000_000) as u32
    }
}

/// A computer with programs on it, each in a file system on a drive of its own.
#[derive(Debug)]
pub struct Computer {
    kernel: Kernel,
    driver: Driver,
    hardware: Hardware,
    controller: Controller,
    cache: Cache,
    file_systems: Vec<Ffs>,
    namespaces: Vec<Namespace>,
    procs: Vec<Proc>,
    /// Who sleeps on what, in the order of arrival.
    sleepers: VecDeque<(Process, Channel)>,
    /// Since when each buffer's data are asked for.
    asked: Vec<Moment<Virtual>>,
    used: Vec<DeviceUse>,
    /// What the last streams spent their time on.
    programs: Vec<crate::accounts::ProgramTime>,
    watched_since: Watched,
    /// [`MOST_EVENTS`], and whether they were too few: then nothing runs on this computer any more.
    most_events: u64,
    is_stuck: bool,
}

/// A reading of everything that counts.
#[derive(Clone, Debug, Default)]
struct Watched {
    accounts: Accounts,
    used: Vec<DeviceUse>,
    programs: Nanos,
}

impl Computer {
    /// The computer of that description, with that one of its file systems on as many drives as there are programs.
    pub fn new(
        description: &Description,
        file_system: &FileSystem,
        programs: usize,
        chance: Chance,
    ) -> Result<Computer, Invalid> {
        description.check(programs as u32, 0)?;
        let mut engine = Engine::new(chance.seed);
        let tick = Nanos(1_000_000_000 / u64::from(description.kernel.clock_hertz));
        engine.calendar.after(Nanos(engine.prng.below(tick.0)), Event::Tick);
        let drives = (0..programs).map(|index| Drive::new(&description.drive, index, chance.phase_ppm(index)));
        let buffers = description.buffers(file_system.block_bytes);
        Ok(Computer {
            hardware: Hardware {
                processor: Processor::new(&description.cpu, &description.kernel, programs),
                bus: Bus::new(&description.bus),
                drives: drives.collect(),
                engine,
            },
            controller: Controller::new(description, programs),
            cache: Cache::new(buffers),
            file_systems: (0..programs).map(|_| Ffs::new(&description.drive, file_system)).collect(),
            namespaces: (0..programs).map(Namespace::of_program).collect(),
            procs: (0..programs).map(Proc::new).collect(),
            sleepers: VecDeque::with_capacity(programs),
            asked: vec![Moment::ZERO; buffers as usize],
            used: vec![DeviceUse { flushing: Some(Nanos::ZERO), ..DeviceUse::default() }; programs],
            programs: Vec::new(),
            watched_since: Watched::default(),
            most_events: MOST_EVENTS,
            is_stuck: false,
            kernel: description.kernel.clone(),
            driver: description.controller.driver().clone(),
        })
    }

    /// Keeps a timeline from now on.
    pub fn keep_timeline(&mut self) {
        self.hardware.engine.timeline.keep();
    }

    /// What the parts did since this was asked last; nothing where no timeline is kept.
    pub fn take_timeline(&mut self) -> Vec<Mark> {
        self.hardware.engine.timeline.take()
    }

    /// A number made of all events so far and their moments: the same in every build on every platform.
    pub fn event_hash(&self) -> u64 {
        self.hardware.engine.calendar.hash()
    }

    /// Whether some call would never return, so that the computer was stopped.
    pub fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.hardware.engine.calendar.happened()
    }

    /// What the parts have spent their time on since the computer was switched on.
    pub fn accounts(&mut self) -> Accounts {
        let Hardware { engine, processor, bus, drives } = &mut self.hardware;
        let now = engine.now();
        let accounts = Accounts {
            elapsed: now.since_zero(),
            cpu: processor.spent(engine),
            bus: bus.spent(now),
            drives: drives.iter_mut().map(|drive| drive.spent(now, &mut engine.timeline)).collect(),
        };
        accounts.assert_closed();
        accounts
    }

    /// What each program spent its time on while it ran its last stream.
    pub fn programs(&self) -> &[crate::accounts::ProgramTime] {
        &self.programs
    }

    fn now(&self) -> Moment<Virtual> {
        self.hardware.now()
    }

    /// The next event. Says which process has come to the end of what it did on the processor; until it was told
    /// what to do next and `dispatch` was called, the processor rests.
    #[inline]
    fn advance(&mut self) -> Option<Process> {
        let event = self.hardware.engine.calendar.next().expect("the clock ticks for ever");
        match event {
            Event::Cpu => match self.hardware.processor.completed(&self.hardware.engine) {
                Completed::Process(process) => return Some(process),
                Completed::Interrupt(Handler::Clock) => {}
                Completed::Interrupt(Handler::Controller(signal)) => {
                    if let Some(io) = self.controller.served(&mut self.hardware, signal) {
                        self.arrived(io);
                    }
                }
            },
            Event::Tick => {
                let tick = Nanos(1_000_000_000 / u64::from(self.kernel.clock_hertz));
                self.hardware.engine.calendar.after(tick, Event::Tick);
                let Hardware { engine, processor, .. } = &mut self.hardware;
                processor.serves_through(engine, self.kernel.clock_tick, Cause::Clock, Handler::Clock);
            }
            Event::Awake(process) => self.end_pause(usize::from(process)),
            Event::Controller(event) => self.controller.happens(&mut self.hardware, event),
        }
        self.dispatch();
        None
    }

    fn dispatch(&mut self) {
        self.hardware.processor.dispatch(&mut self.hardware.engine);
    }

    /// The data of a buffer have arrived, where they were to go: who sleeps on it is woken, and who sleeps on any
    /// buffer, in the order of arrival.
    fn arrived(&mut self, io: Io) {
        self.cache.arrived(io.buffer);
        let used = &mut self.used[usize::from(io.drive)];
        let time = self.hardware.now().since(self.asked[usize::from(io.buffer)]);
        let bytes = u64::from(io.sectors) * u64::from(crate::description::SECTOR_BYTES);
        if io.reads {
            used.reads += 1;
            used.reading += time;
            used.moved.read += bytes;
        } else {
            used.writes += 1;
            used.writing += time;
            used.moved.written += bytes;
        }
        for _ in 0..self.sleepers.len() {
            let Some((process, channel)) = self.sleepers.pop_front() else { break };
            if channel == Channel::AnyBuffer || channel == Channel::Buffer(io.buffer) {
                self.wake(process);
            } else {
                self.sleepers.push_back((process, channel));
            }
        }
    }

    fn sleep(&mut self, process: Process, channel: Channel) {
        let now = self.now();
        let Hardware { engine, processor, drives, .. } = &mut self.hardware;
        let proc = &mut self.procs[process];
        proc.asleep = Some((now, drives[proc.drive].spent(now, &mut engine.timeline)));
        processor.leave(process);
        self.sleepers.push_back((process, channel));
    }

    fn wake(&mut self, process: Process) {
        let now = self.now();
        let Hardware { engine, processor, drives, .. } = &mut self.hardware;
        let proc = &mut self.procs[process];
        let (_, before) = proc.asleep.take().expect("who is woken has slept");
        let spent = drives[proc.drive].spent(now, &mut engine.timeline);
        for (waited, (now, before)) in proc.waited.iter_mut().zip(spent.into_iter().zip(before)) {
            *waited += now - before;
        }
        processor.wake(engine, process);
    }

    fn pause(&mut self, process: Process, until: Moment<Virtual>) {
        self.procs[process].paused = Some(self.now());
        self.hardware.processor.leave(process);
        self.hardware.engine.calendar.at(until, Event::Awake(process as u8));
    }

    fn end_pause(&mut self, process: Process) {
        let now = self.now();
        let proc = &mut self.procs[process];
        let since = proc.paused.take().expect("who awakes has paused");
        proc.pauses += now.since(since);
        self.hardware.processor.wake(&self.hardware.engine, process);
    }

    /// Hands the request for a buffer's data to the driver.
    fn submit(&mut self, buffer: BufferId) {
        let (drive, sector, sectors) = self.cache.block(buffer);
        let reads = self.cache.state(buffer) == State::Reading;
        self.asked[usize::from(buffer)] = self.now();
        self.controller.submit(&mut self.hardware, Io { drive, reads, buffer, sectors, sector });
    }

    /// Lets time pass until all data are where they belong: `sync` and a rest. Says whether they ever are.
    fn settle(&mut self) -> bool {
        while let Some(buffer) = self.cache.first_dirty() {
            self.cache.set_moving(buffer, State::Writing);
            self.submit(buffer);
        }
        self.dispatch();
        let began = self.events();
        while self.cache.is_moving() && !self.is_stuck {
            let ran = self.advance();
            debug_assert_eq!(ran, None, "no process runs between two streams");
            self.is_stuck = self.events() - began > self.most_events;
        }
        !self.is_stuck
    }

    /// What a program no longer has is forgotten.
    fn forget(&mut self, program: usize, released: &[FileId]) {
        let drive = self.procs[program].drive;
        for &file in released {
            for extent in self.file_systems[drive].extents(file) {
                self.cache.forget(crate::cache::BlockKey::new(drive, extent.sector));
            }
            self.file_systems[drive].free(file);
        }
    }
}

#[cfg(test)]
mod tests;
