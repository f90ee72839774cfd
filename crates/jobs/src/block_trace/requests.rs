//! Makes requests from events: finds the bios of each request, and its completion.

use std::collections::{BTreeMap, VecDeque};

use units::Nanos;
use workload::{BlockTrace, TapeKind, TracedRequest};

use super::{EventStage, ReadTrace, TraceEvent, bytes_of};
use crate::blktrace::parse::{MOST_DEVICES, SECTOR};

/// The most requests in flight at the end of a whole trace, as a number and as a share of all requests. Chosen: a
/// device seldom has a deeper queue, and a trace without completions has many more.
const MOST_IN_FLIGHT: (u64, f64) = (64, 0.01);

/// The most queued bios that wait for a request. A bio that is split or ends at another device never gets one. The
/// oldest are forgotten. Chosen: more than any queue holds.
const MOST_WAITING: usize = 1 << 16;

/// The requests of all devices of a trace.
#[derive(Debug, Default)]
pub(super) struct Devices {
    devices: Vec<(String, Requests)>,
}

/// The requests of one device.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// All that were issued, with the time of their completion if that was seen.
    issued: Vec<(TracedRequest, bool)>,
    /// Queued bios that are not issued yet: the number at each first sector.
    waiting: BTreeMap<u64, u16>,
    /// Requests in flight: by kind and first sector that is not complete, the index and the sectors left.
    in_flight: BTreeMap<(u8, u64), VecDeque<(usize, u32)>>,
    /// The first event.
    first: Option<u64>,
    others: u64,
}

impl Devices {
    /// The requests of the device of this name. `None` if the trace has too many devices.
    pub(super) fn of(&mut self, device: &str) -> Option<&mut Requests> {
        let place = self.devices.iter().position(|(known, _)| known == device);
        let place = match place {
            Some(place) => place,
            None if self.devices.len() == MOST_DEVICES => return None,
            None => {
                self.devices.push((device.to_owned(), Requests::default()));
                self.devices.len() - 1
            }
        };
        Some(&mut self.devices[place].1)
    }

    /// The number of requests of all devices.
    pub(super) fn held(&self) -> usize {
        self.devices.iter().map(|(_, requests)| requests.issued.len()).sum()
    }

    /// The trace of the device with the most requests; of several, the first.
    pub(super) fn busiest(self, format: &'static str, span: Option<(Nanos, Nanos)>) -> Result<ReadTrace, String> {
        let all = self.held() as u64;
        let busiest = self.devices.into_iter().rev().max_by_key(|(_, requests)| requests.issued.len());
        let (device, requests) = busiest.unwrap_or_default();
        let elsewhere = all - requests.issued.len() as u64;
        requests.finish(span).map(|(trace, others, unfinished)| ReadTrace {
            trace,
            device,
            format,
            others,
            unfinished,
            elsewhere,
        })
    }
}

impl Requests {
    /// Adds an event. Discards and other commands are counted when they are issued.
    pub(super) fn add(&mut self, event: TraceEvent) {
        self.first.get_or_insert(event.at);
        let Some(kind) = event.kind else {
            self.others += u64::from(event.stage == EventStage::Issued);
            return;
        };
        match event.stage {
            EventStage::Queued if kind == TapeKind::Flush => {}
            EventStage::Queued => {
                if self.waiting.len() == MOST_WAITING {
                    self.waiting.clear();
                }
                let count = self.waiting.entry(event.sector).or_default();
                *count = count.saturating_add(1);
            }
            EventStage::Issued => self.issue(kind, event),
            EventStage::Completed => self.complete(kind, event),
        }
    }

    /// Adds a request that was issued and completed.
    pub(super) fn add_whole(&mut self, event: TraceEvent, completed: u64) {
        self.first.get_or_insert(event.at);
        let Some(kind) = event.kind else { return };
        let mut request = request(kind, event, 1);
        request.completed = Nanos(completed.max(event.at));
        self.issued.push((request, true));
    }

    fn issue(&mut self, kind: TapeKind, event: TraceEvent) {
        let end = event.sector.saturating_add(u64::from(event.sectors));
        let sectors: Vec<u64> = self.waiting.range(event.sector..end).map(|(sector, _)| *sector).collect();
        let bios = sectors.iter().filter_map(|sector| self.waiting.remove(sector)).fold(0_u16, u16::saturating_add);
        let bios = if event.sectors == 0 { 0 } else { bios.max(1) };
        self.in_flight.entry((kind as u8, event.sector)).or_default().push_back((self.issued.len(), event.sectors));
        self.issued.push((request(kind, event, bios), false));
    }

    /// Completes the oldest request that begins there. A part of a request moves its beginning.
    fn complete(&mut self, kind: TapeKind, event: TraceEvent) {
        let key = (kind as u8, event.sector);
        let Some(queue) = self.in_flight.get_mut(&key) else { return };
        let Some((index, left)) = queue.pop_front() else { return };
        if queue.is_empty() {
            self.in_flight.remove(&key);
        }
        match left.checked_sub(event.sectors) {
            Some(rest @ 1..) => {
                let next = event.sector.saturating_add(u64::from(event.sectors));
                self.in_flight.entry((kind as u8, next)).or_default().push_front((index, rest));
            }
            _ => {
                let (request, is_complete) = &mut self.issued[index];
                (request.completed, *is_complete) = (Nanos(event.at), true);
            }
        }
    }

    /// The trace, the number of other commands, and the number of requests in flight at the end.
    fn finish(self, span: Option<(Nanos, Nanos)>) -> Result<(BlockTrace, u64, u64), String> {
        let all = self.issued.len() as u64;
        let unfinished = self.issued.iter().filter(|(_, is_complete)| !is_complete).count() as u64;
        if all > 0 && unfinished == all {
            return Err("it has no completed request (C, block_rq_complete)".to_owned());
        }
        if unfinished > MOST_IN_FLIGHT.0 && unfinished as f64 > all as f64 * MOST_IN_FLIGHT.1 {
            return Err(format!("{unfinished} of {all} requests are not complete: the trace is truncated"));
        }
        if all == 0 && span.is_none() {
            return Err("it has no issued request (D, block_rq_issue)".to_owned());
        }
        let began = span.map_or(self.first.unwrap_or(0), |(began, _)| began.0);
        let since = |at: Nanos| Nanos(at.0.saturating_sub(began));
        let requests: Vec<TracedRequest> = self
            .issued
            .into_iter()
            .filter(|(_, is_complete)| *is_complete)
            .map(|(one, _)| TracedRequest { issued: since(one.issued), completed: since(one.completed), ..one })
            .collect();
        let last = requests.iter().map(|request| request.completed).max().unwrap_or_default();
        let elapsed = span.map_or(last, |(_, ended)| since(ended));
        Ok((BlockTrace { requests, elapsed }, self.others, unfinished))
    }
}

fn request(kind: TapeKind, event: TraceEvent, bios: u16) -> TracedRequest {
    let is_flush = kind == TapeKind::Flush;
    TracedRequest {
        issued: Nanos(event.at),
        completed: Nanos(event.at),
        kind,
        offset: if is_flush { 0 } else { event.sector.saturating_mul(SECTOR) },
        bytes: if is_flush { 0 } else { bytes_of(event.sectors).unwrap_or(u32::MAX) },
        bios,
    }
}
