//! A simulated computer: hardware, controller, and the operating system that runs processes on them.
//!
//! ```text
//!   process ─ step ─> Demand: start | sleep                   (fs/, steps.rs)
//!      │ hands over a request                                 │ processor: cpu/
//!      ▼                                                      ▼
//!   controller/ ── drives, bus ── interrupts ──────────> a buffer arrives: processes asleep on it wake up
//! ```

mod background;
mod drive_idle_time;
mod log_requests;
mod prepare;
mod requests;
mod steps;
mod watchdog;
mod world;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::AtomicBool;

use units::{Moment, Nanos, Virtual};
use workload::{DeviceUse, Reason};

use crate::block::{Kind, Request, Token};
use crate::bus::Bus;
use crate::cache::{BufferId, Cache, State};
use crate::controller::{Controller, Hardware, Signal, TimeAccount};
use crate::cpu::{Cause, Completed, Process, Processor};
use crate::description::{self, Description, Driver, Invalid, Kernel};
use crate::drive::{Drive, start_counting, stop_counting};
use crate::engine::{Engine, Event, Handler, Happened};
use crate::fs::FileSystem;
use crate::namespace::{FileId, Namespace};
use crate::process::{Channel, Proc};
use crate::tasks::Task;
use crate::time_accounts::Accounts;
use crate::timeline::{Mark, Track, requests};
use drive_idle_time::IdleWatch;
use log_requests::LogRequest;
use watchdog::Watchdog;

/// Random choices of a simulation. Two runs with the same values are identical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chance {
    /// Seed of all random variation (jitter).
    pub seed: u64,
    /// Starting position of the platters: number `phase` of `phases` evenly spaced positions.
    pub phase: u32,
    /// Number of starting positions.
    pub phases: u32,
}

impl Default for Chance {
    fn default() -> Chance {
        Chance { seed: 1983, phase: 0, phases: 10 }
    }
}

impl Chance {
    /// Returns the starting rotational position of a drive, in millionths of a turn. The second drive's steps are four
    /// times as large as the first's. So the difference of the two positions is evenly spaced, too.
    pub(crate) fn phase_ppm(self, drive: usize) -> u32 {
        let step = if drive.is_multiple_of(2) { 1 } else { 4 };
        let phases = u64::from(self.phases.max(1));
        let turned = u64::from(self.phase) * step * 1_000_000 / phases + 500_000 / phases;
        (turned % 1_000_000) as u32
    }
}

/// A computer that runs programs. Each program uses a file system on a drive, alone or shared with others.
#[derive(Debug)]
pub struct Computer {
    kernel: Kernel,
    /// Time between two ticks of the clock.
    tick: Nanos,
    driver: Driver,
    hardware: Hardware,
    controller: Controller,
    cache: Cache,
    file_systems: Vec<FileSystem>,
    namespaces: Vec<Namespace>,
    /// Programs, then tasks.
    procs: Vec<Proc>,
    tasks: Vec<Task>,
    /// Sleeping processes and what they sleep on, in the order of arrival.
    sleepers: Vec<(Process, Channel)>,
    /// For each buffer, when its data were last requested.
    asked: Vec<Moment<Virtual>>,
    /// Requests for several blocks, of each drive.
    log_requests: Vec<LogRequest>,
    used: Vec<DeviceUse>,
    idle: Vec<IdleWatch>,
    /// Requests of each drive that are not complete yet.
    queued: Vec<u32>,
    /// Time of each program during the last streams.
    programs: Vec<crate::time_accounts::ProgramTime>,
    watched_since: Watched,
    /// Time of each program since then.
    watched_programs: Vec<crate::time_accounts::ProgramTime>,
    /// Event limit and stop flag. Once they end a simulation, no program runs on this computer again.
    watchdog: Watchdog,
}

/// A snapshot of all counters.
#[derive(Clone, Debug, Default)]
struct Watched {
    accounts: Accounts,
    used: Vec<DeviceUse>,
    programs: Nanos,
}

impl Computer {
    /// Creates a computer with one drive per program, each with the file system `file_system`.
    pub fn new(
        description: &Description,
        file_system: &description::FileSystem,
        programs: usize,
        chance: Chance,
    ) -> Result<Computer, Invalid> {
        Computer::shared(description, file_system, (programs, 1), chance)
    }

    /// Creates a computer with `drives` drives and `streams` programs per drive. Program `i` uses drive `i % drives`.
    pub fn shared(
        description: &Description,
        file_system: &description::FileSystem,
        (drives, streams): (usize, usize),
        chance: Chance,
    ) -> Result<Computer, Invalid> {
        description.check(drives as u32, 0)?;
        let programs = drives * streams;
        let mut engine = Engine::new(chance.seed);
        let tick = Nanos(1_000_000_000 / u64::from(description.kernel.clock_hertz));
        engine.calendar.repeat_after(Nanos(engine.prng.below(tick.0)));
        let tasks = Vec::from_iter(background::tasks(&description.kernel, drives, programs, &mut engine));
        let mut procs: Vec<Proc> = (0..programs + tasks.len()).map(|index| Proc::new(index % drives)).collect();
        procs[programs..].iter_mut().for_each(|task| task.paused = Some(Moment::ZERO));
        let platters = (0..drives).map(|index| Drive::new(&description.drive, index, chance.phase_ppm(index)));
        let buffers = description.buffers(file_system.block_bytes());
        Ok(Computer {
            hardware: Hardware {
                processor: Processor::new(&description.cpu, &description.kernel, procs.len()),
                bus: Bus::new(&description.bus),
                drives: platters.collect(),
                occupied: TimeAccount::new(matches!(description.controller, description::Controller::Massbus(_))),
                engine,
            },
            controller: Controller::new(description, drives),
            cache: Cache::new(buffers),
            file_systems: (0..drives).map(|_| FileSystem::new(&description.drive, file_system)).collect(),
            namespaces: (0..programs).map(Namespace::of_program).collect(),
            sleepers: Vec::with_capacity(procs.len()),
            procs,
            tasks,
            asked: vec![Moment::ZERO; buffers as usize],
            log_requests: vec![LogRequest::default(); drives * log_requests::PER_DRIVE],
            used: vec![DeviceUse { flushing: Some(Nanos::ZERO), ..DeviceUse::default() }; drives],
            idle: vec![IdleWatch::default(); drives],
            queued: vec![0; drives],
            programs: Vec::new(),
            watched_since: Watched::default(),
            watched_programs: vec![crate::time_accounts::ProgramTime::default(); programs],
            watchdog: Watchdog::new(),
            kernel: description.kernel.clone(),
            tick,
            driver: description.controller.driver().clone(),
        })
    }

    /// Records a timeline from now on.
    pub fn keep_timeline(&mut self) {
        self.hardware.engine.timeline.keep();
    }

    /// Returns the timeline since the last call; empty if none is recorded.
    pub fn take_timeline(&mut self) -> Vec<Mark> {
        self.hardware.engine.timeline.take()
    }

    /// Hash of all events so far and their moments: the same in every build on every platform.
    pub fn event_hash(&self) -> u64 {
        self.hardware.engine.calendar.hash()
    }

    /// Stops the simulation soon after the flag is set. Calls in flight fail as interrupted.
    pub fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.watchdog.heed(stop);
    }

    /// True if the simulation was given up because it would not have ended.
    pub fn is_stuck(&self) -> bool {
        self.watchdog.end_reason() == Some(Reason::Unending)
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.hardware.engine.calendar.happened()
    }

    /// Returns the time account of each part since the computer was switched on.
    pub fn accounts(&mut self) -> Accounts {
        let Hardware { engine, processor, bus, drives, occupied } = &mut self.hardware;
        let now = engine.now();
        let spent: Vec<_> = drives.iter_mut().map(|drive| *drive.spent(now, &mut engine.timeline)).collect();
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

    /// Time of each program while it ran its last stream.
    pub fn programs(&self) -> &[crate::time_accounts::ProgramTime] {
        &self.programs
    }

    fn now(&self) -> Moment<Virtual> {
        self.hardware.now()
    }

    /// Handles the next event. Returns the process whose work on the processor has ended, if any. The processor then
    /// rests until the process gets new work and `dispatch` is called. If `may_end` is true, work that no other event
    /// interrupts may end, too.
    #[inline(always)]
    fn advance(&mut self, may_end: bool) -> Option<Process> {
        let event = self.hardware.engine.calendar.next().expect("the clock ticks for ever");
        match event {
            Happened::Movable => match self.hardware.processor.completed(&self.hardware.engine) {
                Completed::Process(process) => return Some(process),
                Completed::Interrupt(Handler::Controller(signal)) => return self.served(signal, may_end),
                Completed::Section | Completed::Interrupt(_) => return self.dispatch_through(may_end),
            },
            Happened::Periodic => {
                self.hardware.engine.calendar.repeat_after(self.tick);
                let Hardware { engine, processor, .. } = &mut self.hardware;
                processor.serves_through(engine, self.kernel.clock_tick, Cause::Clock, Handler::Clock);
            }
            Happened::Listed(Event::Awake(process)) => {
                self.end_pause(usize::from(process));
                return self.dispatch_through(may_end);
            }
            // If the event raises an interrupt that the processor serves at once, its signal is handled now.
            Happened::Listed(Event::Controller(event)) => {
                if let Some(signal) = self.controller.happens(&mut self.hardware, event) {
                    return self.served(signal, may_end);
                }
            }
        }
        None
    }

    /// Continues after an interrupt of the controller was served.
    #[inline(never)]
    fn served(&mut self, signal: Signal, may_end: bool) -> Option<Process> {
        if let Some(request) = self.controller.served(&mut self.hardware, signal) {
            self.arrived(request);
            while let Some(request) = self.controller.next_completed() {
                self.arrived(request);
            }
        }
        self.dispatch_through(may_end)
    }

    /// Lets the processor go on, and handles events until the work of a program on it has ended. Returns `None` if the
    /// simulation must end before. It does not depend on the streams, so it is compiled once.
    #[inline(never)]
    fn next_program(&mut self) -> Option<Process> {
        let mut ended = self.dispatch_through(true);
        loop {
            if let Some(process) = ended {
                if process < self.namespaces.len() {
                    return Some(process);
                }
                self.go_on_task(process);
                ended = self.dispatch_through(true);
            } else if self.watchdog.is_over(self.hardware.engine.calendar.happened()) {
                return None;
            } else {
                ended = self.advance(true);
            }
        }
    }

    fn dispatch(&mut self) {
        self.hardware.processor.dispatch(&mut self.hardware.engine);
    }

    fn dispatch_through(&mut self, may_end: bool) -> Option<Process> {
        self.hardware.processor.dispatch_through(&mut self.hardware.engine, may_end)
    }

    /// Completes a transfer. Wakes the processes that sleep on its buffers, and those that sleep on any buffer, in the
    /// order of arrival.
    fn arrived(&mut self, Request { device, kind, token: Token(buffer), sectors, .. }: Request) {
        let drive = usize::from(device);
        let asked = if u32::from(buffer) < self.cache.buffers() {
            self.cache.arrived(buffer);
            self.asked[usize::from(buffer)]
        } else {
            self.log_arrived(buffer)
        };
        self.idle[drive].arrived(kind == Kind::Read);
        self.queued(drive, false);
        let used = &mut self.used[drive];
        let time = self.hardware.now().since(asked);
        let bytes = u64::from(sectors) * u64::from(crate::description::SECTOR_BYTES);
        match kind {
            Kind::Read => {
                used.reads += 1;
                used.reading += time;
                used.moved.read += bytes;
            }
            Kind::Write => {
                used.writes += 1;
                used.writing += time;
                used.moved.written += bytes;
            }
        }
        self.wake_sleepers(buffer);
    }

    fn wake_sleepers(&mut self, buffer: BufferId) {
        let wakes = |channel| channel == Channel::AnyBuffer || channel == Channel::Buffer(buffer);
        let mut index = 0;
        while let Some(&(process, channel)) = self.sleepers.get(index) {
            if wakes(channel) {
                self.sleepers.remove(index);
                self.wake(process);
            } else {
                index += 1;
            }
        }
    }

    fn sleep(&mut self, process: Process, channel: Channel) {
        let now = self.now();
        let Hardware { engine, processor, drives, .. } = &mut self.hardware;
        let proc = &mut self.procs[process];
        proc.is_asleep = true;
        start_counting(&mut proc.waited, drives[proc.drive].spent(now, &mut engine.timeline));
        processor.leave(process);
        self.sleepers.push((process, channel));
    }

    fn wake(&mut self, process: Process) {
        let now = self.now();
        let Hardware { engine, processor, drives, .. } = &mut self.hardware;
        let proc = &mut self.procs[process];
        assert!(core::mem::replace(&mut proc.is_asleep, false), "who is woken has slept");
        stop_counting(&mut proc.waited, drives[proc.drive].spent(now, &mut engine.timeline));
        processor.wake(engine, process);
    }

    fn pause(&mut self, process: Process, until: Moment<Virtual>) {
        // The clock goes on ticking during the pause.
        let ticks = until.since(self.now()).0 / self.tick.0;
        self.watchdog.grant(2 * ticks + watchdog::PER_BLOCK);
        self.sleep_until(process, until);
    }

    fn sleep_until(&mut self, process: Process, until: Moment<Virtual>) {
        self.procs[process].paused = Some(self.now());
        self.hardware.processor.leave(process);
        self.hardware.engine.calendar.schedule_at(until, Event::Awake(process as u8));
    }

    fn end_pause(&mut self, process: Process) {
        let now = self.now();
        let proc = &mut self.procs[process];
        let since = proc.paused.take().expect("who awakes has paused");
        proc.pauses += now.since(since);
        self.hardware.processor.wake(&self.hardware.engine, process);
    }

    /// Passes the request for a buffer's data to the driver.
    fn submit(&mut self, buffer: BufferId) {
        let request = if u32::from(buffer) < self.cache.buffers() {
            let (device, sector, sectors) = self.cache.block(buffer);
            let kind = if self.cache.state(buffer) == State::Reading { Kind::Read } else { Kind::Write };
            self.asked[usize::from(buffer)] = self.now();
            Request { device, kind, token: Token(buffer), sectors, sector: sector.into() }
        } else {
            self.log_request_of(buffer)
        };
        let (now, drive, kind) = (self.now(), usize::from(request.device), request.kind);
        let Hardware { engine, drives, .. } = &mut self.hardware;
        let idle = drives[drive].idle(now, &mut engine.timeline);
        self.idle[drive].asked(kind == Kind::Read, idle);
        self.queued(drive, true);
        self.controller.submit(&mut self.hardware, request);
    }

    /// Notes that a drive has one request more, or one less.
    fn queued(&mut self, drive: usize, more: bool) {
        let count = &mut self.queued[drive];
        *count = if more { *count + 1 } else { *count - 1 };
        let (count, now) = (*count, self.hardware.now());
        let timeline = &mut self.hardware.engine.timeline;
        if timeline.is_kept() {
            timeline.enter(Track::Queue(drive), requests(count), count > 0, now);
        }
    }

    /// Lets time pass until all dirty data are on the drives (a `sync`). Returns false if the simulation was given up.
    fn settle(&mut self) -> bool {
        self.watchdog.begin(self.events());
        self.settle_logs();
        while let Some(buffer) = self.cache.first_dirty() {
            self.cache.set_moving(buffer, State::Writing);
            self.submit(buffer);
        }
        self.dispatch();
        self.watchdog.begin(self.events());
        self.watchdog.grant(watchdog::PER_BLOCK * self.cache.unwritten() as u64);
        while (self.cache.is_moving() || self.is_log_moving())
            && !self.watchdog.is_over(self.hardware.engine.calendar.happened())
        {
            self.advance_tasks();
        }
        self.watchdog.end_reason().is_none()
    }

    /// Handles the next event between two streams, when only tasks run.
    #[inline(never)]
    fn advance_tasks(&mut self) {
        if let Some(task) = self.advance(false) {
            self.go_on_task(task);
            self.dispatch();
        }
    }

    /// Drops the cached blocks and the space of files that a program has deleted, except one.
    fn forget(&mut self, program: usize, released: &[FileId], except: Option<FileId>) {
        let drive = self.procs[program].drive;
        let (cache, file_system) = (&mut self.cache, &mut self.file_systems[drive]);
        for &file in released.iter().filter(|&&file| Some(file) != except) {
            file_system.visit(file, |extent| cache.forget(crate::cache::BlockKey::new(drive, extent.sector)));
            file_system.free(file);
        }
    }
}

#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod tests;
