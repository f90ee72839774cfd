//! Replays a block trace on a law.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::ops::RangeInclusive;

use units::Nanos;
use workload::{BlockTrace, Served, TapeKind, TracedRequest};

use super::LawDevice;
use crate::description::DeviceLaw;

/// A trace as the law would have served it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Time until the program and its writes end.
    pub elapsed: Nanos,
    /// Time with at least one request in flight.
    pub in_flight: Nanos,
    /// The reads.
    pub reads: Moved,
    /// The writes.
    pub writes: Moved,
    /// The flushes.
    pub flushes: Moved,
    /// Flushes that took no time, because the law has none for them.
    pub flushes_without_law: u64,
    /// The times of each request, in the order of the trace, since its start.
    pub served: Vec<Served>,
}

/// The requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Number of requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The sum of their times.
    pub time: Nanos,
}

/// The trace has requests of a kind for which the law has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLaw {
    /// The kind.
    pub kind: TapeKind,
    /// Number of requests of that kind in the trace.
    pub requests: u64,
}

impl fmt::Display for NoLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, key) = match self.kind {
            TapeKind::Read => ("reads", "read_latency"),
            TapeKind::Write => ("writes", "write_latency"),
            TapeKind::Flush => ("flushes", "flush"),
        };
        write!(f, "the trace has {} {kind}, but {key} of the device is n.m.", self.requests)
    }
}

impl core::error::Error for NoLaw {}

/// Linux holds back writes of the page cache while enough of them are in flight, until all are complete or this time
/// has passed (block/blk-wbt.c: `RWB_WINDOW_NSEC`). Traces show 99 to 104 ms, because its timer counts ticks of up to
/// 10 ms.
const HELD: RangeInclusive<Nanos> = Nanos::from_millis(95)..=Nanos::from_millis(112);

/// The fewest requests in flight when it holds back another write: half of `RWB_DEF_DEPTH`, which is 16.
const IN_FLIGHT_IF_HELD: usize = 8;

/// The event of the trace that a request waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// The start of the trace.
    Start,
    /// The request with that index was issued.
    Issue(usize),
    /// The request with that index was complete.
    Completion(usize),
    /// Linux held it back after it had issued the request with that index.
    Held(usize),
}

/// Replays the trace on a device with that law that was just switched on:
///   1. a request is issued a pause after the completion that preceded it in the trace, or after the request issued
///      before it, whichever was later. The pause is that of the trace. A write that Linux held back is issued when all
///      requests are complete, if that is earlier;
///   2. the device serves requests in the order in which they are issued now;
///   3. the program ends as long after the last completion as in the trace.
///
/// The requests of the trace are sorted by the moment of their issue, and none was complete before it was issued.
/// Returns an error if the trace reads or writes, and the law has no time for that.
pub fn replay(law: &DeviceLaw, trace: &BlockTrace) -> Result<Replay, NoLaw> {
    let requests = &trace.requests;
    for kind in [TapeKind::Read, TapeKind::Write] {
        let count = requests.iter().filter(|request| request.kind == kind).count() as u64;
        if count > 0 && !law.has(kind) {
            return Err(NoLaw { kind, requests: count });
        }
    }
    let served = serve(law, requests);
    let ends = |times: &mut dyn Iterator<Item = Nanos>| times.max().unwrap_or(Nanos::ZERO);
    // 3
    let tail = trace.elapsed.saturating_sub(ends(&mut requests.iter().map(|request| request.completed)));
    let elapsed = ends(&mut served.iter().map(|times| times.completed)).saturating_add(tail);
    let moved = |kind: TapeKind| {
        let mut moved = Moved::default();
        for (request, times) in requests.iter().zip(&served).filter(|(request, _)| request.kind == kind) {
            moved.requests += 1;
            moved.bytes += u64::from(request.bytes);
            moved.time += times.completed - times.issued;
        }
        moved
    };
    let flushes = moved(TapeKind::Flush);
    Ok(Replay {
        elapsed,
        in_flight: time_in_flight(&served),
        reads: moved(TapeKind::Read),
        writes: moved(TapeKind::Write),
        flushes_without_law: if law.has(TapeKind::Flush) { 0 } else { flushes.requests },
        flushes,
        served,
    })
}

/// Performs steps 1 and 2 of [`replay`].
fn serve(law: &DeviceLaw, requests: &[TracedRequest]) -> Vec<Served> {
    let waits = dependencies(requests);
    // The requests that wait for each issue and completion, as lists.
    let mut first = vec![[None::<usize>; 2]; requests.len()];
    let mut next = vec![None; requests.len()];
    let mut due: BinaryHeap<Reverse<(Nanos, usize)>> = BinaryHeap::with_capacity(requests.len());
    for (index, after) in waits.iter().enumerate() {
        let list = match after {
            After::Start => {
                due.push(Reverse((requests[index].issued, index)));
                continue;
            }
            After::Issue(of) | After::Held(of) => &mut first[*of][0],
            After::Completion(of) => &mut first[*of][1],
        };
        next[index] = list.replace(index);
    }
    let mut device = LawDevice::new(law);
    let mut served = vec![Served { issued: Nanos::ZERO, completed: Nanos::ZERO }; requests.len()];
    let mut all_done = Nanos::ZERO;
    while let Some(Reverse((at, index))) = due.pop() {
        let TracedRequest { issued, completed, kind, offset, bytes, bios } = requests[index];
        let done = device.serve(at, kind, offset, bytes, bios);
        served[index] = Served { issued: at, completed: done };
        all_done = all_done.max(done);
        for (list, now, before) in [(first[index][0], at, issued), (first[index][1], done, completed)] {
            let mut waiting = list;
            while let Some(other) = waiting {
                // 1
                let due_at = now.saturating_add(requests[other].issued.saturating_sub(before));
                let is_held = matches!(waits[other], After::Held(_));
                due.push(Reverse((if is_held { due_at.min(all_done) } else { due_at }, other)));
                waiting = next[other];
            }
        }
    }
    served
}

/// Returns the event that each request waited for, by the moments of the trace. If a completion and an issue have the
/// same moment, the completion counts.
fn dependencies(requests: &[TracedRequest]) -> Vec<After> {
    let mut completions: Vec<usize> = (0..requests.len()).collect();
    completions.sort_by_key(|&index| (requests[index].completed, index));
    let mut done = 0;
    let after = |(index, request): (usize, &TracedRequest)| {
        while completions.get(done).is_some_and(|&of| of < index && requests[of].completed <= request.issued) {
            done += 1;
        }
        let last = done.checked_sub(1).map(|place| completions[place]);
        // The completions so far are those of requests before this one.
        let in_flight = index - done;
        match (last, index.checked_sub(1)) {
            (_, Some(before)) if is_held(&requests[before], request, in_flight) => After::Held(before),
            (Some(of), Some(before)) if requests[of].completed >= requests[before].issued => After::Completion(of),
            (_, Some(before)) => After::Issue(before),
            (_, None) => After::Start,
        }
    };
    requests.iter().enumerate().map(after).collect()
}

/// True if Linux held back this write: it follows another write after the time of [`HELD`]. `in_flight` is the number
/// of requests that were in flight when the write was issued.
fn is_held(before: &TracedRequest, request: &TracedRequest, in_flight: usize) -> bool {
    let are_writes = [before, request].iter().all(|one| one.kind == TapeKind::Write);
    are_writes && in_flight >= IN_FLIGHT_IF_HELD && HELD.contains(&(request.issued - before.issued))
}

/// Time with at least one request in flight.
fn time_in_flight(served: &[Served]) -> Nanos {
    let mut spans = served.to_vec();
    spans.sort_by_key(|span| span.issued);
    let (mut sum, mut end) = (Nanos::ZERO, Nanos::ZERO);
    for span in spans {
        sum += span.completed.saturating_sub(span.issued.max(end));
        end = end.max(span.completed);
    }
    sum
}

#[cfg(test)]
mod tests;
