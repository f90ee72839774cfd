//! A simulated computer: hardware, controller, and the system that runs processes on them.
//!
//! ```text
//!   process ─ step ─> Demand: spend | sleep | return          (process.rs, step.rs: decisions)
//!      │ hands over a request                                 │ processor: cpu/
//!      ▼                                                      ▼
//!   controller/ ── drives, bus ── interrupts ──────────> arrival of a buffer: who sleeps on it is woken
//! ```

mod idle;
mod patience;
mod prepare;
mod step;
mod world;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::AtomicBool;

use units::{Moment, Nanos, Virtual};
use workload::{DeviceUse, Reason};

use crate::accounts::Accounts;
use crate::bus::Bus;
use crate::cache::{BufferId, Cache, State};
use crate::controller::{Controller, Hardware, Io, Occupied};
use crate::cpu::{Cause, Completed, Process, Processor};
use crate::description::{self, Description, Driver, FileSystem, Invalid, Kernel};
use crate::drive::{Activity, Drive};
use crate::engine::{Engine, Event, Handler};
use crate::fs::ffs::Ffs;
use crate::namespace::{FileId, Namespace};
use crate::process::{Channel, Proc};
use crate::timeline::{Mark, Track, requests};
use idle::IdleWatch;
use patience::Patience;

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

/// A computer with programs on it, each in a file system on a drive: of its own, or with others.
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
    idle: Vec<IdleWatch>,
    /// Requests of each drive that are not done yet.
    queued: Vec<u32>,
    /// What the last streams spent their time on.
    programs: Vec<crate::accounts::ProgramTime>,
    watched_since: Watched,
    /// What each program has spent its time on since then.
    watched_programs: Vec<crate::accounts::ProgramTime>,
    /// Where it is over nothing runs on this computer any more.
    patience: Patience,
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
        Computer::shared(description, file_system, (programs, 1), chance)
    }

    /// The same with so many drives and so many programs on each. The programs of the first round of the drives come
    /// first.
    pub fn shared(
        description: &Description,
        file_system: &FileSystem,
        (drives, streams): (usize, usize),
        chance: Chance,
    ) -> Result<Computer, Invalid> {
        description.check(drives as u32, 0)?;
        let programs = drives * streams;
        let mut engine = Engine::new(chance.seed);
        let tick = Nanos(1_000_000_000 / u64::from(description.kernel.clock_hertz));
        engine.calendar.after(Nanos(engine.prng.below(tick.0)), Event::Tick);
        let platters = (0..drives).map(|index| Drive::new(&description.drive, index, chance.phase_ppm(index)));
        let buffers = description.buffers(file_system.block_bytes);
        Ok(Computer {
            hardware: Hardware {
                processor: Processor::new(&description.cpu, &description.kernel, programs),
                bus: Bus::new(&description.bus),
                drives: platters.collect(),
                occupied: Occupied::new(matches!(description.controller, description::Controller::Massbus(_))),
                engine,
            },
            controller: Controller::new(description, drives),
            cache: Cache::new(buffers),
            file_systems: (0..drives).map(|_| Ffs::new(&description.drive, file_system)).collect(),
            namespaces: (0..programs).map(Namespace::of_program).collect(),
            procs: (0..programs).map(|index| Proc::new(index % drives)).collect(),
            sleepers: VecDeque::with_capacity(programs),
            asked: vec![Moment::ZERO; buffers as usize],
            used: vec![DeviceUse { flushing: Some(Nanos::ZERO), ..DeviceUse::default() }; drives],
            idle: vec![IdleWatch::default(); drives],
            queued: vec![0; drives],
            programs: Vec::new(),
            watched_since: Watched::default(),
            watched_programs: vec![crate::accounts::ProgramTime::default(); programs],
            patience: Patience::new(),
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

    /// Stops soon where somebody sets the flag: calls fail then, as interrupted.
    pub fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.patience.heed(stop);
    }

    /// Whether the computer was given up, as it would not have come to an end.
    pub fn is_stuck(&self) -> bool {
        self.patience.over() == Some(Reason::Unending)
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.hardware.engine.calendar.happened()
    }

    /// What the parts have spent their time on since the computer was switched on.
    pub fn accounts(&mut self) -> Accounts {
        let Hardware { engine, processor, bus, drives, occupied } = &mut self.hardware;
        let now = engine.now();
        let spent: Vec<_> = drives.iter_mut().map(|drive| drive.spent(now, &mut engine.timeline)).collect();
        let accounts = Accounts {
            elapsed: now.since_zero(),
            cpu: processor.spent(engine),
            bus: bus.spent(now),
            controller: occupied.spent(drives, &spent, now),
            drives: spent,
            around_reads: self.idle.iter().map(IdleWatch::around_reads).collect(),
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
                Completed::Interrupt(handler) => {
                    if let Handler::Controller(signal) = handler
                        && let Some(io) = self.controller.served(&mut self.hardware, signal)
                    {
                        self.arrived(io);
                    }
                    self.dispatch();
                }
            },
            Event::Tick => {
                let tick = Nanos(1_000_000_000 / u64::from(self.kernel.clock_hertz));
                self.hardware.engine.calendar.after(tick, Event::Tick);
                let Hardware { engine, processor, .. } = &mut self.hardware;
                processor.serves_through(engine, self.kernel.clock_tick, Cause::Clock, Handler::Clock);
            }
            Event::Awake(process) => {
                self.end_pause(usize::from(process));
                self.dispatch();
            }
            // Where it interrupts, the processor turns to that at once.
            Event::Controller(event) => self.controller.happens(&mut self.hardware, event),
        }
        None
    }

    fn dispatch(&mut self) {
        self.hardware.processor.dispatch(&mut self.hardware.engine);
    }

    /// The data of a buffer have arrived, where they were to go: who sleeps on it is woken, and who sleeps on any
    /// buffer, in the order of arrival.
    fn arrived(&mut self, io: Io) {
        self.cache.arrived(io.buffer);
        self.idle[usize::from(io.drive)].arrived(io.reads);
        self.queued(usize::from(io.drive), false);
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
        // The clock goes on ticking.
        let ticks = until.since(self.now()).0 / (1_000_000_000 / u64::from(self.kernel.clock_hertz));
        self.patience.grant(2 * ticks + patience::PER_BLOCK);
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
        let now = self.now();
        self.asked[usize::from(buffer)] = now;
        let Hardware { engine, drives, .. } = &mut self.hardware;
        let spent = drives[usize::from(drive)].spent(now, &mut engine.timeline);
        self.idle[usize::from(drive)].asked(reads, spent[Activity::Idle as usize]);
        self.queued(usize::from(drive), true);
        self.controller.submit(&mut self.hardware, Io { drive, reads, buffer, sectors, sector });
    }

    /// A drive has one request more to do, or one less.
    fn queued(&mut self, drive: usize, more: bool) {
        let count = &mut self.queued[drive];
        *count = if more { *count + 1 } else { *count - 1 };
        let (count, now) = (*count, self.hardware.now());
        self.hardware.engine.timeline.enter(Track::Queue(drive), requests(count), count > 0, now);
    }

    /// Lets time pass until all data are where they belong: `sync` and a rest. Says whether they ever are.
    fn settle(&mut self) -> bool {
        while let Some(buffer) = self.cache.first_dirty() {
            self.cache.set_moving(buffer, State::Writing);
            self.submit(buffer);
        }
        self.dispatch();
        self.patience.begin(self.events());
        self.patience.grant(patience::PER_BLOCK * self.cache.unwritten() as u64);
        while self.cache.is_moving() && !self.patience.is_over(self.hardware.engine.calendar.happened()) {
            let ran = self.advance();
            debug_assert_eq!(ran, None, "no process runs between two streams");
        }
        self.patience.over().is_none()
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
