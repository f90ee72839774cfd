//! Requests for several blocks at once: parts of a log, and runs of consecutive blocks.

use alloc::vec::Vec;

use units::{Moment, Virtual};

use super::{Computer, watchdog};
use crate::block::{Kind, Request, Token};
use crate::cache::{BlockKey, BufferId, Cache, State, Victim};
use crate::cpu::Process;
use crate::fs::Extent;
use crate::process::{Channel, Demand};

/// Requests of each drive that can be in flight: one that writes a log, and one that reads.
pub(crate) const PER_DRIVE: usize = 2;

/// A request for several blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct LogRequest {
    pub(super) extent: Extent,
    /// The buffers that are written or filled.
    pub(super) buffers: Vec<BufferId>,
    pub(super) asked: Option<Moment<Virtual>>,
    pub(super) in_flight: bool,
}

impl Computer {
    /// The token of the request of a drive that reads or writes, after those of the cache's buffers.
    pub(super) fn log_token(&self, drive: usize, kind: Kind) -> BufferId {
        let index = drive * PER_DRIVE + usize::from(kind == Kind::Read);
        self.cache.buffers() as BufferId + index as BufferId
    }

    fn log_request(&mut self, token: BufferId) -> &mut LogRequest {
        &mut self.log_requests[usize::from(token) - self.cache.buffers() as usize]
    }

    /// Starts to write a part of a log, once the previous request has ended.
    pub(super) fn write_log(&mut self, process: Process, extent: Extent) -> Result<Demand, Demand> {
        let token = self.log_token(self.procs[process].drive, Kind::Write);
        if self.log_request(token).in_flight {
            return Err(Demand::Sleep(Channel::Buffer(token)));
        }
        self.prepare_log_write(self.procs[process].drive, extent);
        Ok(Demand::Start(token))
    }

    /// Starts to read a part of a log into no buffer, once the previous request has ended.
    pub(super) fn read_log(&mut self, process: Process, extent: Extent) -> Result<Demand, Demand> {
        let token = self.log_token(self.procs[process].drive, Kind::Read);
        let request = self.log_request(token);
        if request.in_flight {
            return Err(Demand::Sleep(Channel::Buffer(token)));
        }
        request.extent = extent;
        request.in_flight = true;
        Ok(Demand::Start(token))
    }

    /// Starts to read consecutive blocks into free buffers. Returns `None` if none is read: the request of the drive is
    /// in flight, the block is in memory, or no buffer is free.
    pub(super) fn read_run(&mut self, process: Process, first: Extent, blocks: u16) -> Option<Demand> {
        let drive = self.procs[process].drive;
        let token = self.log_token(drive, Kind::Read);
        if self.log_request(token).in_flight {
            return None;
        }
        let mut taken = core::mem::take(&mut self.log_request(token).buffers);
        for index in 0..u32::from(blocks) {
            let key = BlockKey::new(drive, first.sector + index * u32::from(first.sectors));
            let Victim::Free(buffer) = self.cache.victim() else { break };
            if self.cache.find(key).is_some() {
                break;
            }
            self.cache.give(buffer, key, first.sectors);
            self.cache.set_moving(buffer, State::Reading);
            taken.push(buffer);
        }
        let sectors = first.sectors * taken.len() as u16;
        let request = self.log_request(token);
        request.buffers = taken;
        if sectors == 0 {
            return None;
        }
        request.extent = Extent { sector: first.sector, sectors };
        request.in_flight = true;
        Some(Demand::Start(token))
    }

    /// Returns the demand of a process that must wait for requests of this kind; `None` if none is in flight.
    pub(super) fn awaits_log(&mut self, process: Process, kind: Kind) -> Option<Demand> {
        let token = self.log_token(self.procs[process].drive, kind);
        self.log_request(token).in_flight.then_some(Demand::Sleep(Channel::Buffer(token)))
    }

    /// Marks the dirty buffers of a part of a log as being written.
    fn prepare_log_write(&mut self, drive: usize, extent: Extent) {
        let token = self.log_token(drive, Kind::Write);
        let mut buffers = core::mem::take(&mut self.log_request(token).buffers);
        dirty_buffers(&self.cache, drive, extent, &mut buffers);
        buffers.iter().for_each(|&buffer| self.cache.set_moving(buffer, State::Writing));
        *self.log_request(token) = LogRequest { extent, buffers, asked: None, in_flight: true };
    }

    /// Returns the request of a token, and notes that it was submitted.
    pub(super) fn log_request_of(&mut self, token: BufferId) -> Request {
        let index = usize::from(token) - self.cache.buffers() as usize;
        let kind = if index.is_multiple_of(PER_DRIVE) { Kind::Write } else { Kind::Read };
        let now = self.now();
        let request = self.log_request(token);
        request.asked = Some(now);
        let Extent { sector, sectors } = request.extent;
        self.watchdog.grant(watchdog::PER_BLOCK * u64::from(sectors));
        let device = (index / PER_DRIVE) as u8;
        Request { device, kind, token: Token(token), sectors, sector: sector.into() }
    }

    /// Completes a request for several blocks: its buffers can be used.
    pub(super) fn log_arrived(&mut self, token: BufferId) -> Moment<Virtual> {
        let LogRequest { buffers, asked, .. } = core::mem::take(self.log_request(token));
        buffers.iter().for_each(|&buffer| self.cache.arrived(buffer));
        for &buffer in &buffers {
            self.wake_sleepers(buffer);
        }
        let mut buffers = buffers;
        buffers.clear();
        self.log_request(token).buffers = buffers;
        asked.expect("a request that was submitted")
    }

    /// True if a request for several blocks is in flight.
    pub(super) fn is_log_moving(&self) -> bool {
        self.log_requests.iter().any(|request| request.in_flight)
    }

    /// Writes the logs of all drives: lets time pass from one part to the next.
    pub(super) fn settle_logs(&mut self) {
        for drive in 0..self.file_systems.len() {
            while let Some(extent) = self.file_systems[drive].next_write() {
                while self.is_log_moving() && !self.watchdog.is_over(self.events()) {
                    self.advance_tasks();
                }
                if self.watchdog.end_reason().is_some() {
                    return;
                }
                self.prepare_log_write(drive, extent);
                let token = self.log_token(drive, Kind::Write);
                self.submit(token);
                self.dispatch();
            }
        }
    }
}

/// Collects the dirty buffers of a part of a log.
fn dirty_buffers(cache: &Cache, drive: usize, extent: Extent, buffers: &mut Vec<BufferId>) {
    let mut sector = extent.sector;
    while sector < extent.sector + u32::from(extent.sectors) {
        let found = cache.find(BlockKey::new(drive, sector)).filter(|&id| cache.state(id) == State::Dirty);
        buffers.extend(found);
        sector += found.map_or(1, |id| u32::from(cache.block(id).2)).max(1);
    }
}
