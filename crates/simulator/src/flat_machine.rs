//! The simplest simulated machine: one CPU, one disk, no cache. CPU and disk serve programs in the order of their
//! requests.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;

use units::{Moment, Nanos, Virtual};
use workload::{
    Cache, CacheState, Counters, CpuTime, DeviceBytes, DeviceUse, Dirtiness, Layer, OpKind, Quiescence, Recorder,
    Residency, Span, Step, Steps, TreeCounts, Unproven, World, WriteCache,
};

use crate::flat_disk::Disk;
use crate::namespace::{Namespace, Transfer};

/// CPU time of any call. Invented: about the time of a short system call on a VAX-11/780.
const CALL: Nanos = Nanos::from_micros(500);

/// CPU time to copy one byte between program and kernel. Invented: 1,000,000 bytes per second would keep the CPU 40 %
/// busy.
const COPY_NANOS_PER_BYTE: u64 = 400;

/// State of the machine.
#[derive(Debug)]
pub struct Flat {
    programs: Vec<Namespace>,
    disk: Disk,
    cpu_free: Moment<Virtual>,
    disk_free: Moment<Virtual>,
    computed: Nanos,
    used: DeviceUse,
    watched_since: (Nanos, DeviceUse),
}

impl Flat {
    /// Creates a machine with `programs` programs.
    pub(crate) fn new(programs: usize) -> Flat {
        Flat {
            programs: (0..programs).map(Namespace::of_program).collect(),
            disk: Disk::default(),
            cpu_free: Moment::ZERO,
            disk_free: Moment::ZERO,
            computed: Nanos::ZERO,
            // A flush takes no time.
            used: DeviceUse { flushing: Some(Nanos::ZERO), ..DeviceUse::default() },
            watched_since: (Nanos::ZERO, DeviceUse::default()),
        }
    }

    /// Occupies the CPU from `ready` on. Returns when the work ends, and how long it waited for the CPU.
    fn compute(&mut self, ready: Moment<Virtual>, work: Nanos) -> (Moment<Virtual>, Nanos) {
        let begins = ready.max(self.cpu_free);
        self.cpu_free = begins + work;
        self.computed += work;
        (self.cpu_free, begins.since(ready))
    }

    /// Occupies the disk from `ready` on. Returns when the transfer ends.
    fn transfer(&mut self, ready: Moment<Virtual>, transfer: Transfer, kind: OpKind) -> Moment<Virtual> {
        if transfer.bytes == 0 {
            return ready;
        }
        let begins = ready.max(self.disk_free);
        self.disk_free = begins + self.disk.serve(transfer);
        let used = &mut self.used;
        used.busy += self.disk_free.since(begins);
        let (bytes, requests, time) = if kind.reads() {
            (&mut used.moved.read, &mut used.reads, &mut used.reading)
        } else {
            (&mut used.moved.written, &mut used.writes, &mut used.writing)
        };
        *bytes += u64::from(transfer.bytes);
        *requests += 1;
        *time += self.disk_free.since(ready);
        self.disk_free
    }
}

impl World for Flat {
    type Clock = Virtual;
    type Fault = Infallible;

    fn programs(&self) -> usize {
        self.programs.len()
    }

    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<Virtual>>, Infallible>
    where
        S: Steps + Send,
        R: Recorder<Virtual> + Send,
    {
        assert!(streams.len() == recorders.len() && streams.len() <= self.programs.len(), "one of each per program");
        let began = self.cpu_free.max(self.disk_free);
        let mut spans =
            vec![Span { began, ended: began, cpu: CpuTime::default(), ready: Some(Nanos::ZERO) }; streams.len()];
        recorders.iter_mut().for_each(|recorder| recorder.begin(began));
        let mut running: Vec<usize> = (0..streams.len()).collect();
        // When the next operation of each program is due, if the program said so.
        let mut due = vec![None; streams.len()];

        // The program that has waited longest goes next; among equals, the first.
        while let Some(&index) = running.iter().min_by_key(|&&index| spans[index].ended) {
            let issued = spans[index].ended;
            let op = match streams[index].next() {
                Some(Step::Op(op)) => op,
                Some(Step::Think(span)) => {
                    spans[index].ended = issued + span;
                    continue;
                }
                Some(Step::At(span)) => {
                    due[index] = Some(began + span);
                    spans[index].ended = issued.max(began + span);
                    continue;
                }
                None => {
                    running.retain(|&other| other != index);
                    continue;
                }
            };
            let outcome = self.programs[index].apply(&op);
            // The disk has no allocation to release.
            self.programs[index].take_released();
            let bytes = outcome.ok().flatten().map_or(0, |transfer| transfer.bytes);
            let copying = Nanos(u64::from(bytes) * COPY_NANOS_PER_BYTE);
            let (mut returned, waited) = self.compute(issued, CALL + copying);
            if let Ok(Some(transfer)) = outcome {
                returned = self.transfer(returned, transfer, op.kind());
            }
            spans[index].ended = returned;
            spans[index].cpu.total += CALL + copying;
            spans[index].ready = spans[index].ready.map(|ready| ready + waited);
            recorders[index].record(&op, due[index].take().unwrap_or(issued), returned, outcome.map(|_| bytes));
            if recorders[index].has_enough() {
                streams[index].curtail();
            }
            if outcome.is_err() {
                running.retain(|&other| other != index);
            }
        }
        Ok(spans)
    }

    /// There is no cache: every phase begins cold, requested or not.
    fn set_cache_state(&mut self, wanted: Cache) -> Result<CacheState, Infallible> {
        Ok(match wanted {
            Cache::AsIs | Cache::Dropped | Cache::Cold => CacheState::Cold,
            Cache::Warm => CacheState::Unknown(Unproven::NeverCaches),
        })
    }

    /// There is nothing to wait for: no other programs, and no delayed writes.
    fn quiesce(&mut self) -> Result<Quiescence, Infallible> {
        Ok(Quiescence { reached: true, unwritten: Some(0), foreign: Some(0), ..Quiescence::default() })
    }

    fn unwritten(&mut self) -> Result<Option<Residency>, Infallible> {
        Ok(Some(Residency::default()))
    }

    fn device_bytes(&mut self) -> Option<DeviceBytes> {
        Some(self.used.moved)
    }

    /// Not measured: there is no dirty data.
    fn dirtiness(&mut self) -> Option<Dirtiness> {
        None
    }

    fn watch(&mut self) -> Result<(), Infallible> {
        self.watched_since = (self.computed, self.used);
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, Infallible> {
        let (computed, used) = self.watched_since;
        let used = self.used.since(&used);
        Ok(Counters {
            workers: Some(Nanos::ZERO),
            machine: Some(self.computed.saturating_sub(computed)),
            device: Some(used.moved),
            layers: vec![Layer {
                name: String::from("disk"),
                depth: 0,
                below: Vec::new(),
                used,
                // The disk has no write cache.
                write_cache: Some(WriteCache::Through),
                is_file: false,
                is_buffered: false,
            }],
            ..Counters::default()
        })
    }

    fn tree_counts(&mut self, index: usize) -> Result<TreeCounts, Infallible> {
        Ok(self.programs[index].tree_counts())
    }

    fn clear(&mut self) -> Result<(), Infallible> {
        let programs = self.programs.len();
        self.programs = (0..programs).map(Namespace::of_program).collect();
        Ok(())
    }
}
