//! The simulated computer as a [`World`]: it takes each step of a program when the program would issue it.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::mem;

use units::{Moment, Nanos, Virtual};
use workload::{
    Cache, CacheState, Counters, CpuTime, DeviceBytes, Dirtiness, Layer, Op, Quiescence, Reason, Recorder, Residency,
    Span, Step, Steps, TreeCounts, Unproven, World, WriteCache,
};

use super::{Computer, Watched};
use crate::cache::BlockKey;
use crate::cpu::Process;
use crate::drive::Activity;
use crate::fs::{Extent, FileSystem, Host};
use crate::namespace::Namespace;
use crate::time_accounts::ProgramTime;
use crate::time_breakdown::breakdown;

/// A program's stream while it runs, and its times.
struct Running {
    span: Span<Virtual>,
    op: Option<(Op, Moment<Virtual>)>,
    /// When the next operation is due, if the program said so.
    due: Option<Moment<Virtual>>,
    ended: bool,
}

impl Computer {
    /// Continues a process whose work on the processor has ended, until it needs the processor again, sleeps, pauses or
    /// ends.
    fn go_on<S, R>(&mut self, process: Process, running: &mut Running, stream: &mut S, recorder: &mut R)
    where
        S: Steps,
        R: Recorder<Virtual>,
    {
        let mut returned = false;
        loop {
            if !self.procs[process].in_call {
                let now = self.now();
                match stream.next() {
                    Some(Step::Op(op)) => {
                        running.op = Some((op, running.due.take().unwrap_or(now)));
                        let request = self.begin(process, &op);
                        let proc = &mut self.procs[process];
                        proc.plan.begin(request);
                        proc.in_call = true;
                    }
                    Some(Step::Think(span)) => return self.pause(process, now + span),
                    Some(Step::At(span)) => {
                        let due = running.span.began + span;
                        running.due = Some(due);
                        return self.pause(process, now.max(due));
                    }
                    None => return self.end(process, running),
                }
            }
            let Some(outcome) = self.proceed(process, returned) else { return };
            let (op, issued) = running.op.take().expect("a call that was issued");
            recorder.record(&op, issued, self.now(), outcome);
            if recorder.has_enough() {
                stream.curtail();
            }
            self.procs[process].in_call = false;
            returned = true;
            if outcome.is_err() {
                return self.end(process, running);
            }
        }
    }

    /// Fails the operation in flight of each program, or else its next one, with the reason for which the simulation
    /// was given up.
    #[cold]
    fn give_up<S: Steps, R: Recorder<Virtual>>(&self, running: &mut [Running], streams: &mut [S], recorders: &mut [R]) {
        let (now, reason) = (self.now(), self.watchdog.end_reason().unwrap_or(Reason::Unending));
        for ((running, stream), recorder) in running.iter_mut().zip(streams).zip(recorders) {
            if running.ended {
                continue;
            }
            running.span.ended = now;
            let mut coming = || stream.find_map(|step| if let Step::Op(op) = step { Some((op, now)) } else { None });
            let under_way = running.op.take();
            if let Some((op, issued)) = under_way.or_else(&mut coming) {
                recorder.record(&op, issued, now, Err(reason));
            }
        }
    }

    fn end(&mut self, process: Process, running: &mut Running) {
        self.hardware.processor.leave(process);
        running.ended = true;
        let span = &mut running.span;
        span.ended = self.hardware.now();
        let charged = self.hardware.processor.charged(&self.hardware.engine, process);
        let proc = &mut self.procs[process];
        let time = ProgramTime {
            elapsed: span.ended.since(span.began),
            running: charged.running,
            interrupted: charged.interrupted,
            ready: charged.ready,
            waiting: mem::replace(&mut proc.waited, [Nanos::ZERO; Activity::COUNT]),
            pauses: mem::take(&mut proc.pauses),
        };
        time.assert_closed();
        span.cpu = CpuTime { total: time.cpu(), user: Nanos::ZERO };
        span.ready = Some(time.ready);
        self.watched_since.programs += time.cpu();
        self.watched_programs[process].add(&time);
        self.programs[process] = time;
    }

    /// Takes a snapshot of all counters.
    fn reading(&mut self) -> Watched {
        Watched { accounts: self.accounts(), used: self.used.clone(), programs: self.watched_since.programs }
    }

    /// Returns how many blocks of the programs' files are in memory, out of all blocks.
    fn residency(&self) -> Residency {
        let mut residency = Residency { pages: 0, of: self.file_blocks() };
        // Usually no block is in memory.
        if self.cache.is_empty() {
            return residency;
        }
        self.visit(|drive, extent| {
            let buffer = self.cache.find(BlockKey::new(drive, extent.sector));
            residency.pages += u64::from(buffer.is_some());
        });
        residency
    }

    /// Number of blocks of the programs' files.
    fn file_blocks(&self) -> u64 {
        let mut blocks = 0;
        self.visit(|_, _| blocks += 1);
        blocks
    }

    /// Calls `each` for every block of the programs' files, with its drive.
    fn visit(&self, mut each: impl FnMut(usize, Extent)) {
        for (proc, namespace) in self.procs.iter().zip(&self.namespaces) {
            for file in namespace.files() {
                self.file_systems[proc.drive].visit(file, |extent| each(proc.drive, extent));
            }
        }
    }
}

impl World for Computer {
    type Clock = Virtual;
    type Fault = Infallible;

    fn programs(&self) -> usize {
        self.namespaces.len()
    }

    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<Virtual>>, Infallible>
    where
        S: Steps + Send,
        R: Recorder<Virtual> + Send,
    {
        assert!(streams.len() == recorders.len() && streams.len() <= self.namespaces.len(), "one of each per program");
        let began = self.now();
        let span = Span { began, ended: began, cpu: CpuTime::default(), ready: Some(Nanos::ZERO) };
        recorders.iter_mut().for_each(|recorder| recorder.begin(began));
        let mut running: Vec<Running> =
            streams.iter().map(|_| Running { span, op: None, due: None, ended: false }).collect();
        self.programs = vec![ProgramTime::default(); streams.len()];
        for process in 0..streams.len() {
            self.hardware.processor.admit(&self.hardware.engine, process);
        }
        let mut left = streams.len();
        self.watchdog.begin(self.events());
        while left > 0 {
            let Some(process) = self.next_program() else {
                self.give_up(&mut running, streams, recorders);
                break;
            };
            let (stream, recorder) = (&mut streams[process], &mut recorders[process]);
            self.go_on(process, &mut running[process], stream, recorder);
            left -= usize::from(running[process].ended);
        }
        self.dispatch();
        self.accounts();
        Ok(running.into_iter().map(|running| running.span).collect())
    }

    /// Writes dirty buffers and forgets the cache, as an unmount does. No block is read if no program asks for it.
    fn set_cache_state(&mut self, wanted: Cache) -> Result<CacheState, Infallible> {
        if matches!(wanted, Cache::AsIs | Cache::Dropped) {
            return Ok(CacheState::Unknown(Unproven::NotAsked));
        }
        if wanted == Cache::Cold {
            self.settle();
            self.cache.forget_clean();
            self.file_systems.iter_mut().for_each(FileSystem::forget);
        }
        let residency = self.residency();
        Ok(match (wanted, residency) {
            (_, Residency { of: 0, .. }) => CacheState::Unknown(Unproven::NoFiles),
            (Cache::Cold, Residency { pages: 0, .. }) => CacheState::Cold,
            (Cache::Warm, Residency { pages, of }) if pages == of => CacheState::Warm,
            _ => CacheState::Unknown(Unproven::Partly(residency)),
        })
    }

    /// Waits for dirty data only: no other programs run on a simulated computer.
    fn quiesce(&mut self) -> Result<Quiescence, Infallible> {
        let began = self.now();
        let reached = self.settle();
        let unwritten = Some(self.cache.unwritten() as u64);
        Ok(Quiescence {
            reached,
            waited: self.now().since(began),
            unwritten,
            foreign: Some(0),
            ..Quiescence::default()
        })
    }

    fn unwritten(&mut self) -> Result<Option<Residency>, Infallible> {
        Ok(Some(Residency { pages: self.cache.unwritten() as u64, of: self.file_blocks() }))
    }

    fn device_bytes(&mut self) -> Option<DeviceBytes> {
        let mut bytes = DeviceBytes::default();
        for used in &self.used {
            bytes.read += used.moved.read;
            bytes.written += used.moved.written;
        }
        Some(bytes)
    }

    /// Not measured: a program is only delayed by the lack of a buffer.
    fn dirtiness(&mut self) -> Option<Dirtiness> {
        None
    }

    fn watch(&mut self) -> Result<(), Infallible> {
        self.watched_since.programs = Nanos::ZERO;
        self.watched_since = self.reading();
        self.watched_programs.fill(ProgramTime::default());
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, Infallible> {
        let Watched { accounts, used, programs } = self.reading();
        let accounts = accounts.since(&self.watched_since.accounts);
        let busy: Nanos = accounts.cpu.busy.into_iter().sum();
        let drives = used.iter().zip(&self.watched_since.used).zip(&accounts.drives).enumerate();
        let layers: Vec<Layer> = drives
            .map(|(index, ((now, before), spent))| {
                let busy = accounts.elapsed - spent[Activity::Idle as usize];
                Layer {
                    name: format!("drive{index}"),
                    depth: 0,
                    below: Vec::new(),
                    used: workload::DeviceUse { busy, ..now.since(before) },
                    // Drives of that time have no write cache.
                    write_cache: Some(WriteCache::Through),
                    is_file: false,
                    is_buffered: false,
                }
            })
            .collect();
        let mut device = DeviceBytes::default();
        for layer in &layers {
            device.read += layer.used.moved.read;
            device.written += layer.used.moved.written;
        }
        Ok(Counters {
            // Processor time while no program was on the processor.
            workers: Some(busy.saturating_sub(programs)),
            machine: Some(busy),
            device: Some(device),
            layers,
            breakdown: Some(breakdown(&accounts, &self.watched_programs)),
            ..Counters::default()
        })
    }

    fn tree_counts(&mut self, index: usize) -> Result<TreeCounts, Infallible> {
        Ok(self.namespaces[index].tree_counts())
    }

    /// Deletes all files of the programs without letting time pass, except for transfers in flight.
    fn clear(&mut self) -> Result<(), Infallible> {
        for index in 0..self.namespaces.len() {
            let fresh = Namespace::of_program(index);
            let files: Vec<_> = mem::replace(&mut self.namespaces[index], fresh).files().collect();
            self.forget(index, &files, None);
            self.procs[index].durable = [false; workload::HANDLES];
            self.procs[index].plan.last_read = None;
        }
        for drive in 0..self.file_systems.len() {
            let mut host = Host { kernel: &self.kernel, cache: &mut self.cache, drive, held: 0 };
            self.file_systems[drive].clear_names(&mut host);
        }
        self.settle();
        self.cache.forget_clean();
        self.file_systems.iter_mut().for_each(FileSystem::forget);
        Ok(())
    }
}
