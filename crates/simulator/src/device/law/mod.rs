//! A device that serves requests by its law. Each completion is known when the request is issued, so there are no
//! events. Times are whole nanoseconds, and the same requests always take the same times.

mod bucket;
mod gate;
mod write_cache;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::convert::Infallible;

use units::Nanos;
use workload::{Served, Tape, TapeKind, TapePlayer};

use crate::description::DeviceLaw;
use bucket::Bucket;
use gate::Passage;
use write_cache::Written;

/// A device with a law, and the state of its mechanisms.
#[derive(Clone, Debug)]
pub struct LawDevice {
    law: DeviceLaw,
    buckets: Vec<Bucket>,
    passage: Passage,
    written: Written,
    /// The device's own clock, between tapes.
    now: Nanos,
}

impl LawDevice {
    /// Switches a device on: its buckets are full, and nothing was written.
    pub fn new(law: &DeviceLaw) -> LawDevice {
        LawDevice {
            buckets: law.buckets.iter().map(Bucket::new).collect(),
            passage: Passage::default(),
            written: Written::new(law.write_cache.as_ref(), law.flush.as_ref()),
            law: law.clone(),
            now: Nanos::ZERO,
        }
    }

    /// The law.
    pub fn law(&self) -> &DeviceLaw {
        &self.law
    }

    /// Serves a request that is issued at `at`, and returns the moment of its completion:
    ///   1. it waits until every bucket has its tokens;
    ///   2. it passes the gate;
    ///   3. a write waits for room in the cache;
    ///   4. it takes the time of its table, or its spacing at the gate if that is longer.
    ///
    /// A flush passes no gate. Requests must come in the order of their moments. Their place makes no difference. Kinds
    /// that the law does not have take no time of their own; [`DeviceLaw::has`] tells.
    pub fn serve(&mut self, at: Nanos, kind: TapeKind, _offset: u64, bytes: u32, bios: u16) -> Nanos {
        if kind == TapeKind::Flush {
            return self.law.flush.map_or(at, |flush| self.written.flush(at, &flush));
        }
        // 1
        let paid = self.buckets.iter_mut().map(|bucket| bucket.admit(at, kind, bytes, bios)).max().unwrap_or(at);
        // 2
        let spacing = self.law.gate(kind).map_or(Nanos::ZERO, |gate| gate::spacing(gate, bytes));
        let passed = self.passage.pass(paid.max(at), spacing);
        // 3
        let admitted = if kind == TapeKind::Write { self.written.admit(passed, bytes) } else { passed };
        // 4
        let latency = self.law.latency(kind).map_or(Nanos::ZERO, |table| gate::latency(table, bytes));
        admitted.saturating_add(latency.max(spacing))
    }
}

impl TapePlayer for LawDevice {
    type Fault = Infallible;

    fn capacity(&self) -> u64 {
        self.law.capacity_bytes
    }

    fn alignment(&self) -> u32 {
        self.law.alignment_bytes
    }

    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Infallible> {
        let began = self.now;
        let depth = tape.depth.max(1) as usize;
        let mut in_flight: BinaryHeap<Reverse<Nanos>> = BinaryHeap::with_capacity(depth);
        let mut served = Vec::with_capacity(tape.requests.len());
        let mut room = began;
        for request in &tape.requests {
            if in_flight.len() == depth {
                let Some(Reverse(earliest)) = in_flight.pop() else { break };
                room = room.max(earliest);
            }
            let issued = room.saturating_add(request.pause);
            if issued.saturating_sub(began) > tape.limit {
                break;
            }
            let completed = self.serve(issued, request.kind, request.offset, request.bytes, 1);
            in_flight.push(Reverse(completed));
            served.push(Served { issued: issued - began, completed: completed - began });
            room = issued;
            self.now = self.now.max(completed);
        }
        Ok(served)
    }

    fn rest(&mut self, time: Nanos) -> Result<(), Infallible> {
        self.now = self.now.saturating_add(time);
        Ok(())
    }
}
