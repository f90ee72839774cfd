//! Performs the steps of a call. The file system of the process decides them.

use super::Computer;
use crate::block::Kind;
use crate::cache::{BlockKey, BufferId, State, Victim};
use crate::cpu::{Cause, Process};
use crate::fs::{Extent, Host, Step};
use crate::process::{Channel, Demand};

/// Outcome of a step.
enum Outcome {
    /// It is complete.
    Done,
    /// It is complete once this demand is met.
    Last(Demand),
    /// This demand comes first; then the step is performed again.
    Again(Demand),
}

use Outcome::{Again, Done, Last};

impl Computer {
    /// Advances a process to its next demand. First submits a request whose processor time has been spent.
    pub(super) fn step(&mut self, process: Process) -> Demand {
        let proc = &mut self.procs[process];
        let handed_over = proc.hand_over.take();
        let mut again = proc.step.take();
        let drive = proc.drive;
        if let Some(buffer) = handed_over {
            self.submit(buffer);
        }
        loop {
            let step = match again.take() {
                Some(step) => step,
                None => self.next_step(process, drive),
            };
            match self.perform(process, drive, step) {
                Done => {}
                Last(demand) => return demand,
                Again(demand) => {
                    self.procs[process].step = Some(step);
                    return demand;
                }
            }
        }
    }

    #[inline]
    fn next_step(&mut self, process: Process, drive: usize) -> Step {
        let mut host = Host { kernel: &self.kernel, cache: &mut self.cache, drive };
        self.file_systems[drive].next(&mut self.procs[process].plan, &mut host)
    }

    #[inline]
    fn perform(&mut self, process: Process, drive: usize, step: Step) -> Outcome {
        match step {
            Step::Spend(cause, work) => Last(Demand::Spend(cause, work)),
            Step::Return(outcome) => Last(Demand::Return(outcome)),
            Step::Read(extent) => self.read(process, drive, extent),
            Step::StartRead(extent) => match self.find(drive, extent) {
                Some(_) => Done,
                None => self.start_read(process, drive, extent),
            },
            Step::ReadAhead(extent) => match self.cache.victim() {
                Victim::Free(_) if self.find(drive, extent).is_none() => self.start_read(process, drive, extent),
                _ => Done,
            },
            Step::Await { extent, to_its_end } => self.wait_for(process, drive, extent, to_its_end),
            Step::GetBuffer(extent) => self.get_buffer(process, drive, extent),
            Step::WriteDelayed(sectors) => {
                let buffer = self.procs[process].buffer;
                self.cache.dirty(buffer, sectors);
                self.cache.touch(buffer);
                Done
            }
            Step::WriteBehind(sectors) => {
                let buffer = self.procs[process].buffer;
                self.cache.dirty(buffer, sectors);
                self.cache.use_up(buffer);
                Last(self.start(process, buffer, State::Writing))
            }
            Step::WriteSync(sectors) => self.write_sync(process, sectors),
            Step::WriteBack(extent) => match self.find(drive, extent) {
                Some(buffer) if self.cache.state(buffer) == State::Dirty => {
                    Last(self.start(process, buffer, State::Writing))
                }
                _ => Done,
            },
            Step::AwaitWrite(extent) => match self.find(drive, extent) {
                Some(buffer) if self.cache.state(buffer) == State::Writing => {
                    Again(Demand::Sleep(Channel::Buffer(buffer)))
                }
                _ => Done,
            },
            Step::Flush => self.flush(process, drive),
            Step::FlushBehind => match self.cache.first_dirty_on(drive) {
                Some(buffer) => Again(self.start(process, buffer, State::Writing)),
                None => Done,
            },
            Step::WriteLog(extent) => self.write_log(process, extent).map_or_else(Again, Last),
            Step::AwaitLog => self.awaits_log(process, Kind::Write).map_or(Done, Again),
            Step::ReadLog(extent) => self.read_log(process, extent).map_or_else(Again, Last),
            Step::AwaitRead => self.awaits_log(process, Kind::Read).map_or(Done, Again),
            // The previous run ended with this block.
            Step::ReadRun { extent, .. } if self.find(drive, extent).is_some() => Done,
            Step::ReadRun { extent, blocks } => match self.read_run(process, extent, blocks) {
                Some(demand) => Last(demand),
                None => self.start_read(process, drive, extent),
            },
        }
    }

    /// Holds the buffer of a block in memory, or starts to read it.
    fn read(&mut self, process: Process, drive: usize, extent: Extent) -> Outcome {
        match self.find(drive, extent) {
            Some(buffer) => self.hold(process, buffer),
            None => match self.buffer_for(process, drive, extent) {
                Ok(buffer) => Again(self.start(process, buffer, State::Reading)),
                Err(demand) => Again(demand),
            },
        }
    }

    /// Holds the buffer of a block in memory, or another one for this block.
    fn get_buffer(&mut self, process: Process, drive: usize, extent: Extent) -> Outcome {
        match self.find(drive, extent) {
            Some(buffer) => self.hold(process, buffer),
            None => match self.buffer_for(process, drive, extent) {
                Ok(buffer) => {
                    self.procs[process].buffer = buffer;
                    Done
                }
                Err(demand) => Again(demand),
            },
        }
    }

    /// Holds a buffer, once its transfer has ended.
    fn hold(&mut self, process: Process, buffer: BufferId) -> Outcome {
        if self.cache.is_on_its_way(buffer) {
            return Again(Demand::Sleep(Channel::Buffer(buffer)));
        }
        self.cache.touch(buffer);
        self.procs[process].buffer = buffer;
        Done
    }

    fn start_read(&mut self, process: Process, drive: usize, extent: Extent) -> Outcome {
        match self.buffer_for(process, drive, extent) {
            Ok(buffer) => Last(self.start(process, buffer, State::Reading)),
            Err(demand) => Again(demand),
        }
    }

    /// Waits for a block that was started.
    fn wait_for(&mut self, process: Process, drive: usize, extent: Extent, to_its_end: bool) -> Outcome {
        let Some(buffer) = self.find(drive, extent) else {
            self.procs[process].plan.is_lost = true;
            return Done;
        };
        if self.cache.is_on_its_way(buffer) {
            return Again(Demand::Sleep(Channel::Buffer(buffer)));
        }
        self.cache.touch(buffer);
        if to_its_end {
            self.cache.use_up(buffer);
        }
        Done
    }

    /// Starts to write the held buffer, and waits for it.
    fn write_sync(&mut self, process: Process, sectors: u16) -> Outcome {
        let proc = &mut self.procs[process];
        let buffer = proc.buffer;
        if !core::mem::replace(&mut proc.is_writing, true) {
            self.cache.dirty(buffer, sectors);
            return Again(self.start(process, buffer, State::Writing));
        }
        if self.cache.state(buffer) == State::Writing {
            return Again(Demand::Sleep(Channel::Buffer(buffer)));
        }
        self.procs[process].is_writing = false;
        Done
    }

    /// Starts the write of each dirty buffer of the process's drive, and waits until all are written.
    fn flush(&mut self, process: Process, drive: usize) -> Outcome {
        if let Some(buffer) = self.cache.first_dirty_on(drive) {
            return Again(self.start(process, buffer, State::Writing));
        }
        match self.cache.first_writing_on(drive) {
            Some(buffer) => Again(Demand::Sleep(Channel::Buffer(buffer))),
            None => Done,
        }
    }

    /// Returns a buffer for a block that is not in memory. If the next buffer is dirty, starts its write instead.
    fn buffer_for(&mut self, process: Process, drive: usize, extent: Extent) -> Result<BufferId, Demand> {
        match self.cache.victim() {
            Victim::Free(buffer) => {
                self.cache.give(buffer, BlockKey::new(drive, extent.sector), extent.sectors);
                Ok(buffer)
            }
            Victim::Dirty(buffer) => Err(self.start(process, buffer, State::Writing)),
            Victim::None => Err(Demand::Sleep(Channel::AnyBuffer)),
        }
    }

    /// Starts a transfer. The request is submitted once the process has spent the driver's time to start it.
    fn start(&mut self, process: Process, buffer: BufferId, state: State) -> Demand {
        self.cache.set_moving(buffer, state);
        self.procs[process].hand_over = Some(buffer);
        Demand::Spend(Cause::Start, self.driver.start)
    }

    fn find(&self, drive: usize, extent: Extent) -> Option<BufferId> {
        self.cache.find(BlockKey::new(drive, extent.sector))
    }
}
