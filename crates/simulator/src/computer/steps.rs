//! Performs the steps of a call. The file system of the process decides them.

use units::Nanos;
use workload::Reason;

use super::Computer;
use crate::block::Kind;
use crate::cache::{BlockKey, BufferId, Cache, State, Victim};
use crate::controller::Hardware;
use crate::cpu::{Cause, Process, Processor};
use crate::engine::{Engine, Handler};
use crate::fs::{Extent, Host, Step};
use crate::process::{Channel, Demand, Proc};

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
    /// Continues the call of a process whose work on the processor has ended. First submits a request whose processor
    /// time has been spent. Returns the outcome of the call if it returns before the process needs the processor longer
    /// or sleeps. `returned` is true if another call of the process has just returned.
    ///
    /// It does not depend on the streams, so it is compiled once.
    #[inline(never)]
    pub(super) fn proceed(&mut self, process: Process, returned: bool) -> Option<Result<u32, Reason>> {
        let mut returned = returned;
        if let Some(buffer) = self.procs[process].hand_over.take() {
            self.submit(buffer);
        }
        loop {
            let step = self.next_step(process, &mut returned)?;
            let outcome = match step {
                Step::Return(outcome) => return Some(outcome),
                Step::HandOver(buffer) => Last(Demand::Start(buffer)),
                Step::Sleep(buffer) => Last(Demand::Sleep(Channel::Buffer(buffer))),
                Step::WriteLog(_) | Step::AwaitLog | Step::ReadLog(_) | Step::AwaitRead | Step::ReadRun { .. } => {
                    self.perform_on_log(process, step)
                }
                _ => self.hands(process).perform(step),
            };
            let demand = match outcome {
                Done => continue,
                Last(demand) => demand,
                Again(demand) => {
                    self.procs[process].step = Some(step);
                    demand
                }
            };
            match demand {
                Demand::Start(buffer) => {
                    let (start, Hardware { engine, processor, .. }) = (self.driver.start, &mut self.hardware);
                    if !spend(processor, engine, process, (Cause::Start, start), &mut returned) {
                        self.procs[process].hand_over = Some(buffer);
                        return None;
                    }
                    self.submit(buffer);
                }
                Demand::Sleep(channel) => {
                    self.sleep(process, channel);
                    return None;
                }
            }
        }
    }

    /// Returns the next step of a process that is not to spend processor time; `None` if it needs the processor longer.
    /// Only a few parts of the computer take part until then, so each is looked up once.
    #[inline(always)]
    fn next_step(&mut self, process: Process, returned: &mut bool) -> Option<Step> {
        let Computer { kernel, cache, file_systems, procs, hardware: Hardware { engine, processor, .. }, .. } = self;
        let proc = &mut procs[process];
        if proc.step.is_some() {
            return proc.step.take();
        }
        let drive = proc.drive;
        let file_system = &mut file_systems[drive];
        let mut host = Host { kernel, cache, drive, held: proc.buffer };
        let step = loop {
            let step = file_system.next(&mut proc.plan, &mut host);
            let Step::Spend(cause, work) = step else { break Some(step) };
            if !spend(processor, engine, process, (cause, work), returned) {
                break None;
            }
        };
        proc.buffer = host.held;
        step
    }

    fn hands(&mut self, process: Process) -> Hands<'_> {
        let proc = &mut self.procs[process];
        Hands { drive: proc.drive, proc, cache: &mut self.cache }
    }

    /// Performs a step that may transfer several blocks with one request.
    #[inline(never)]
    fn perform_on_log(&mut self, process: Process, step: Step) -> Outcome {
        let drive = self.procs[process].drive;
        match step {
            Step::WriteLog(extent) => self.write_log(process, extent).map_or_else(Again, Last),
            Step::AwaitLog => self.awaits_log(process, Kind::Write).map_or(Done, Again),
            Step::ReadLog(extent) => self.read_log(process, extent).map_or_else(Again, Last),
            Step::AwaitRead => self.awaits_log(process, Kind::Read).map_or(Done, Again),
            // The previous run ended with this block.
            Step::ReadRun { extent, .. } if self.cache.find(BlockKey::new(drive, extent.sector)).is_some() => Done,
            Step::ReadRun { extent, blocks } => match self.read_run(process, extent, blocks) {
                Some(demand) => Last(demand),
                None => self.hands(process).start_read(extent),
            },
            _ => unreachable!("{step:?} is not for a log"),
        }
    }
}

/// Gives a process work on the processor. Returns true if it is done at once. A process that has just returned from a
/// call yields to processes that woke up meanwhile.
#[inline(always)]
fn spend(
    processor: &mut Processor<Handler>,
    engine: &mut Engine,
    process: Process,
    work: (Cause, Nanos),
    returned: &mut bool,
) -> bool {
    let yields = core::mem::take(returned) && processor.is_wanted();
    let is_done = processor.spend(engine, process, work, !yields);
    if yields {
        processor.give_way(engine, process);
    }
    is_done
}

/// A process that works on the buffers of its drive. Only these parts of the computer take part, so each is looked up
/// once per step.
struct Hands<'a> {
    proc: &'a mut Proc,
    cache: &'a mut Cache,
    drive: usize,
}

impl Hands<'_> {
    /// Outlined: usually the file system has already performed the steps that take no time.
    #[inline(never)]
    fn perform(&mut self, step: Step) -> Outcome {
        match step {
            Step::Read(extent) => self.read(extent),
            Step::StartRead(extent) => match self.find(extent) {
                Some(_) => Done,
                None => self.start_read(extent),
            },
            Step::ReadAhead(extent) => match self.cache.victim() {
                Victim::Free(_) if self.find(extent).is_none() => self.start_read(extent),
                _ => Done,
            },
            Step::Await { extent, to_its_end } => self.wait_for(extent, to_its_end),
            Step::GetBuffer(extent) => self.get_buffer(extent),
            Step::WriteDelayed(sectors) => {
                let buffer = self.proc.buffer;
                self.cache.dirty(buffer, sectors);
                self.cache.touch(buffer);
                Done
            }
            Step::WriteSync(sectors) => self.write_sync(sectors),
            Step::WriteBack(extent) => match self.find(extent) {
                Some(buffer) if self.cache.state(buffer) == State::Dirty => Last(self.start(buffer, State::Writing)),
                _ => Done,
            },
            Step::AwaitWrite(extent) => match self.find(extent) {
                Some(buffer) if self.cache.state(buffer) == State::Writing => {
                    Again(Demand::Sleep(Channel::Buffer(buffer)))
                }
                _ => Done,
            },
            Step::Flush => self.flush(),
            Step::FlushBehind => match self.cache.first_dirty_on(self.drive) {
                Some(buffer) => Again(self.start(buffer, State::Writing)),
                None => Done,
            },
            _ => unreachable!("{step:?} needs more than buffers"),
        }
    }

    /// Holds the buffer of a block in memory, or starts to read it.
    #[inline]
    fn read(&mut self, extent: Extent) -> Outcome {
        match self.find(extent) {
            Some(buffer) => self.hold(buffer),
            None => match self.buffer_for(extent) {
                Ok(buffer) => Again(self.start(buffer, State::Reading)),
                Err(demand) => Again(demand),
            },
        }
    }

    /// Holds the buffer of a block in memory, or another one for this block.
    #[inline]
    fn get_buffer(&mut self, extent: Extent) -> Outcome {
        match self.find(extent) {
            Some(buffer) => self.hold(buffer),
            None => match self.buffer_for(extent) {
                Ok(buffer) => {
                    self.cache.touch(buffer);
                    self.proc.buffer = buffer;
                    Done
                }
                Err(demand) => Again(demand),
            },
        }
    }

    /// Holds a buffer, once its transfer has ended.
    #[inline]
    fn hold(&mut self, buffer: BufferId) -> Outcome {
        if self.cache.is_on_its_way(buffer) {
            return Again(Demand::Sleep(Channel::Buffer(buffer)));
        }
        self.cache.touch(buffer);
        self.proc.buffer = buffer;
        Done
    }

    #[inline]
    fn start_read(&mut self, extent: Extent) -> Outcome {
        match self.buffer_for(extent) {
            Ok(buffer) => Last(self.start(buffer, State::Reading)),
            Err(demand) => Again(demand),
        }
    }

    /// Waits for a block that was started.
    #[inline]
    fn wait_for(&mut self, extent: Extent, to_its_end: bool) -> Outcome {
        let Some(buffer) = self.find(extent) else {
            self.proc.plan.is_lost = true;
            return Done;
        };
        if self.cache.is_on_its_way(buffer) {
            return Again(Demand::Sleep(Channel::Buffer(buffer)));
        }
        // The last use decides the list.
        if to_its_end {
            self.cache.use_up(buffer);
        } else {
            self.cache.touch(buffer);
        }
        Done
    }

    /// Starts to write the held buffer, and waits for it.
    fn write_sync(&mut self, sectors: u16) -> Outcome {
        let buffer = self.proc.buffer;
        if !core::mem::replace(&mut self.proc.is_writing, true) {
            self.cache.dirty(buffer, sectors);
            return Again(self.start(buffer, State::Writing));
        }
        if self.cache.state(buffer) == State::Writing {
            return Again(Demand::Sleep(Channel::Buffer(buffer)));
        }
        self.proc.is_writing = false;
        Done
    }

    /// Starts the write of each dirty buffer of the process's drive, and waits until all are written.
    fn flush(&mut self) -> Outcome {
        if let Some(buffer) = self.cache.first_dirty_on(self.drive) {
            return Again(self.start(buffer, State::Writing));
        }
        match self.cache.first_writing_on(self.drive) {
            Some(buffer) => Again(Demand::Sleep(Channel::Buffer(buffer))),
            None => Done,
        }
    }

    /// Returns a buffer for a block that is not in memory, to be touched or moved. If the next buffer is dirty, starts
    /// its write instead.
    #[inline]
    fn buffer_for(&mut self, extent: Extent) -> Result<BufferId, Demand> {
        match self.cache.victim() {
            Victim::Free(buffer) => {
                self.cache.give_to_move(buffer, BlockKey::new(self.drive, extent.sector), extent.sectors);
                Ok(buffer)
            }
            Victim::Dirty(buffer) => Err(self.start(buffer, State::Writing)),
            Victim::None => Err(Demand::Sleep(Channel::AnyBuffer)),
        }
    }

    /// Starts a transfer. The request is submitted once the process has spent the driver's time to start it.
    #[inline]
    fn start(&mut self, buffer: BufferId, state: State) -> Demand {
        self.cache.set_moving(buffer, state);
        Demand::Start(buffer)
    }

    #[inline]
    fn find(&self, extent: Extent) -> Option<BufferId> {
        self.cache.find(BlockKey::new(self.drive, extent.sector))
    }
}
