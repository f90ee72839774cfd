//! The system calls of 4.2BSD as a state machine: `rwip`, `bread`, `breada`, `bawrite`, `bdwrite`, `alloc` and
//! `getblk`.

use core::ops::ControlFlow::{self, Break, Continue};

use workload::Reason;

use units::Nanos;

use super::Computer;
use crate::cache::{BlockKey, BufferId, State, Victim};
use crate::cpu::{Cause, Process};
use crate::faults::{self, Fault};
use crate::fs::ffs::Extent;
use crate::namespace::FileId;
use crate::process::{Channel, Demand, Progress, Request};

/// Outcome of a step: the process continues with its next step, or demands something first.
type Flow<T = ()> = ControlFlow<Demand, T>;

impl Computer {
    /// Advances a process to its next demand. First submits a request whose processor time has been spent.
    pub(super) fn step(&mut self, process: Process) -> Demand {
        if let Some(buffer) = self.procs[process].call.hand_over.take() {
            self.submit(buffer);
        }
        loop {
            let step = match self.procs[process].call.request {
                Request::Read { file, .. } => self.step_read(process, file),
                Request::Write { file, .. } => self.step_write(process, file),
                Request::Nothing | Request::Fails(_) | Request::Sync => self.step_other(process),
            };
            if let Break(demand) = step {
                return demand;
            }
        }
    }

    fn go(&mut self, process: Process, progress: Progress) -> Flow {
        self.procs[process].call.progress = progress;
        Continue(())
    }

    fn spend(&mut self, process: Process, cause: Cause, work: Nanos, then: Progress) -> Flow {
        self.procs[process].call.progress = then;
        Break(Demand::Spend(cause, work))
    }

    /// Steps of a call that moves no data of its own.
    fn step_other(&mut self, process: Process) -> Flow {
        let call = &self.procs[process].call;
        match (call.progress, call.request) {
            (Progress::Enter, _) => self.spend(process, Cause::Call, self.kernel.call, Progress::NextBlock),
            (_, Request::Fails(reason)) => Break(Demand::Return(Err(reason))),
            (_, Request::Sync) => self.flush(process, 0),
            _ => Break(Demand::Return(Ok(0))),
        }
    }

    /// Starts the write of each dirty buffer of the process's drive, and waits until all are written.
    fn flush(&mut self, process: Process, bytes: u32) -> Flow {
        let drive = self.procs[process].drive;
        if let Some(buffer) = self.cache.first_dirty_on(drive) {
            return Break(self.start(process, buffer, State::Writing));
        }
        match self.cache.first_writing_on(drive) {
            Some(buffer) => Break(Demand::Sleep(Channel::Buffer(buffer))),
            None => Break(Demand::Return(Ok(bytes))),
        }
    }

    /// Steps of a read: block after block, each with read-ahead of the next block.
    fn step_read(&mut self, process: Process, file: FileId) -> Flow {
        let call = self.procs[process].call;
        match call.progress {
            Progress::Enter => self.spend(process, Cause::Call, self.kernel.call, Progress::NextBlock),
            Progress::NextBlock => {
                self.next_block(process)?;
                let proc = &mut self.procs[process];
                proc.call.indirect = self.file_systems[proc.drive].indirect(file, proc.call.block);
                self.go(process, Progress::ReadIndirect)
            }
            Progress::ReadIndirect => {
                if !faults::is_planted(Fault::IndirectBlocksNotRead) {
                    self.fetch_indirect(process)?;
                }
                self.spend(process, Cause::BlockRead, self.kernel.block_read, Progress::AskFor)
            }
            Progress::AskFor => {
                let Some(extent) = self.place(process, file, call.block) else {
                    // A hole: there is no data to wait for.
                    return self.copy(process, call.bytes, Progress::Copied);
                };
                self.go(process, Progress::AskAhead)?;
                self.ask(process, extent, Progress::AskFor)
            }
            Progress::AskAhead => {
                self.go(process, Progress::Await)?;
                self.ask_ahead(process, file)
            }
            Progress::Await => {
                let extent = self.place(process, file, call.block).expect("a block that was asked for");
                let Some(buffer) = self.find(process, extent) else { return self.go(process, Progress::AskFor) };
                if self.cache.is_on_its_way(buffer) {
                    return Break(Demand::Sleep(Channel::Buffer(buffer)));
                }
                self.cache.touch(buffer);
                self.procs[process].last_read = Some((file, call.block));
                if call.within + call.bytes == self.block_bytes(process) {
                    self.cache.use_up(buffer);
                }
                self.copy(process, call.bytes, Progress::Copied)
            }
            Progress::Copied => {
                self.procs[process].call.done += call.bytes;
                self.go(process, Progress::NextBlock)
            }
            _ => unreachable!("{:?} is no state of a read", call.progress),
        }
    }

    /// Starts the read of a block that is not in memory. If it must wait for a buffer, it continues at `again`.
    fn ask(&mut self, process: Process, extent: Extent, again: Progress) -> Flow {
        if self.find(process, extent).is_some() {
            return Continue(());
        }
        let then = core::mem::replace(&mut self.procs[process].call.progress, again);
        let buffer = self.buffer_for(process, extent)?;
        self.procs[process].call.progress = then;
        Break(self.start(process, buffer, State::Reading))
    }

    /// Starts read-ahead of the next block, if
    ///   1. the block before this one was the last that was read;
    ///   2. the next block is under the same indirect block, as read-ahead does not read another one;
    ///   3. a buffer is free.
    fn ask_ahead(&mut self, process: Process, file: FileId) -> Flow {
        let (block, drive) = (self.procs[process].call.block, self.procs[process].drive);
        // 1
        if block == 0 || self.procs[process].last_read != Some((file, block - 1)) {
            return Continue(());
        }
        // 2
        let next = if faults::is_planted(Fault::ReadAheadOfTwo) { block + 2 } else { block + 1 };
        let file_system = &self.file_systems[drive];
        let Some(extent) = file_system.place(file, next) else { return Continue(()) };
        if !file_system.lead_alike(block, next) {
            return Continue(());
        }
        // 3
        match self.cache.victim() {
            Victim::Free(_) if self.find(process, extent).is_none() => {
                let buffer = self.buffer_for(process, extent)?;
                Break(self.start(process, buffer, State::Reading))
            }
            _ => Continue(()),
        }
    }

    /// Steps of a write, block after block. A new block is allocated and cleared first. A block written to its end is
    /// sent to the drive at once; a partly written block stays in memory.
    fn step_write(&mut self, process: Process, file: FileId) -> Flow {
        let call = self.procs[process].call;
        match call.progress {
            Progress::Enter => self.spend(process, Cause::Call, self.kernel.call, Progress::NextBlock),
            Progress::NextBlock => {
                if let Request::Write { bytes, waits: true, .. } = call.request
                    && call.done == bytes
                {
                    return self.flush(process, bytes);
                }
                self.next_block(process)?;
                self.choose(process, file)
            }
            Progress::Header => {
                let header = call.header.expect("the group of a new block");
                let buffer = self.fetch(process, header)?;
                self.cache.dirty(buffer, header.sectors);
                self.go(process, Progress::NewIndirect)
            }
            Progress::NewIndirect => self.new_indirect(process, file),
            Progress::AwaitIndirect(buffer) => {
                if self.cache.state(buffer) == State::Writing {
                    return Break(Demand::Sleep(Channel::Buffer(buffer)));
                }
                self.go(process, Progress::NewIndirect)
            }
            Progress::OldIndirect => {
                let leaf = call.indirect.last();
                self.fetch_indirect(process)?;
                if call.header.is_none() {
                    return self.go(process, Progress::GetBuffer);
                }
                if let Some(extent) = leaf.or_else(|| self.leaf(process, file))
                    && let Some(buffer) = self.find(process, extent)
                    && !self.cache.is_on_its_way(buffer)
                {
                    self.cache.dirty(buffer, extent.sectors);
                }
                let new_blocks = u64::from(call.new_blocks);
                self.spend(process, Cause::Allocate, Nanos(self.kernel.block_allocate.0 * new_blocks), Progress::Clear)
            }
            Progress::Clear => {
                let cleared = if faults::is_planted(Fault::NoZeroFill) { 0 } else { call.cleared };
                let kib = u64::from(cleared.div_ceil(1024));
                self.spend(process, Cause::Clear, Nanos(self.kernel.clear_per_kib.0 * kib), Progress::GetBuffer)
            }
            Progress::GetBuffer => self.get_buffer(process, file),
            Progress::CopyIn => self.copy(process, call.bytes, Progress::LetGo),
            Progress::LetGo => {
                let extent = self.place(process, file, call.block).expect("a block that is written");
                self.cache.dirty(call.buffer, extent.sectors);
                self.procs[process].call.done += call.bytes;
                self.procs[process].call.progress = Progress::NextBlock;
                if call.within + call.bytes < self.block_bytes(process) {
                    self.cache.touch(call.buffer);
                    return Continue(());
                }
                self.cache.use_up(call.buffer);
                Break(self.start(process, call.buffer, State::Writing))
            }
            _ => unreachable!("{:?} is no state of a write", call.progress),
        }
    }

    /// Allocates space for the data of this write, if there is none yet.
    fn choose(&mut self, process: Process, file: FileId) -> Flow {
        let call = self.procs[process].call;
        let drive = self.procs[process].drive;
        let block_bytes = self.block_bytes(process);
        let file_system = &mut self.file_systems[drive];
        let mut allocated = None;
        // The last block of a file may be fragments. If the file grows beyond it, the fragments become a whole block.
        let end = call.block.checked_sub(1).map(|before| (before, block_bytes));
        for (block, bytes) in end.into_iter().chain([(call.block, call.within + call.bytes)]) {
            if file_system.holds(file, block, bytes) {
                continue;
            }
            let before = file_system.place(file, block);
            if block != call.block && before.is_none() {
                continue;
            }
            match file_system.allocate(file, block, bytes) {
                Ok(new) => allocated = Some((new, before.is_none())),
                Err(_) => return Break(Demand::Return(Err(Reason::NoSpace))),
            }
            if let Some(before) = before
                && let Some(after) = file_system.place(file, block)
            {
                self.cache.rename(BlockKey::new(drive, before.sector), BlockKey::new(drive, after.sector));
            }
        }
        let call = &mut self.procs[process].call;
        match allocated {
            Some((new, is_new)) => {
                call.header = Some(new.header);
                call.indirect = new.new_indirect;
                call.is_new = is_new;
                call.new_blocks = 1 + new.new_indirect.count() as u8;
                let held = file_system.place(file, call.block).map_or(0, |extent| u32::from(extent.sectors) * 512);
                call.cleared = if is_new { held } else { call.bytes.min(held) };
                self.go(process, Progress::Header)
            }
            None => {
                let indirect = file_system.indirect(file, call.block);
                (call.header, call.indirect, call.is_new) = (None, indirect, false);
                self.go(process, Progress::OldIndirect)
            }
        }
    }

    /// Writes a new indirect block, and waits. Otherwise a block on the drive could point to a missing one.
    fn new_indirect(&mut self, process: Process, file: FileId) -> Flow {
        let Some(extent) = self.procs[process].call.indirect.first() else {
            let drive = self.procs[process].drive;
            self.procs[process].call.indirect = self.file_systems[drive].indirect(file, self.procs[process].call.block);
            return self.go(process, Progress::OldIndirect);
        };
        let buffer = self.buffer_for(process, extent)?;
        self.cache.dirty(buffer, extent.sectors);
        let call = &mut self.procs[process].call;
        call.indirect.take_first();
        call.progress = Progress::AwaitIndirect(buffer);
        Break(self.start(process, buffer, State::Writing))
    }

    /// Gets the buffer of the block to write. A block that is overwritten completely is not read first.
    fn get_buffer(&mut self, process: Process, file: FileId) -> Flow {
        let call = self.procs[process].call;
        let extent = self.place(process, file, call.block).expect("a block that is written");
        let whole = call.within == 0 && call.bytes >= u32::from(extent.sectors) * crate::description::SECTOR_BYTES;
        let buffer = match self.find(process, extent) {
            Some(buffer) if self.cache.is_on_its_way(buffer) => {
                return Break(Demand::Sleep(Channel::Buffer(buffer)));
            }
            Some(buffer) => {
                self.cache.touch(buffer);
                buffer
            }
            None if whole || call.is_new => self.buffer_for(process, extent)?,
            None => self.fetch(process, extent)?,
        };
        self.procs[process].call.buffer = buffer;
        self.spend(process, Cause::BlockWrite, self.kernel.block_write, Progress::CopyIn)
    }

    /// Moves on to the next block of the call, or returns.
    fn next_block(&mut self, process: Process) -> Flow {
        let block_bytes = self.block_bytes(process);
        let call = &mut self.procs[process].call;
        let (Request::Read { offset, bytes, .. } | Request::Write { offset, bytes, .. }) = call.request else {
            return Break(Demand::Return(Ok(0)));
        };
        if call.done == bytes {
            return Break(Demand::Return(Ok(bytes)));
        }
        let at = offset + u64::from(call.done);
        call.block = (at / u64::from(block_bytes)) as u32;
        call.within = (at % u64::from(block_bytes)) as u32;
        call.bytes = (bytes - call.done).min(block_bytes - call.within);
        Continue(())
    }

    fn copy(&mut self, process: Process, bytes: u32, then: Progress) -> Flow {
        let work = Nanos(self.kernel.copy_per_kib.0 * u64::from(bytes) / 1024);
        self.spend(process, Cause::Copy, work, then)
    }

    /// Ensures that the indirect blocks of the call are in memory.
    fn fetch_indirect(&mut self, process: Process) -> Flow {
        while let Some(extent) = self.procs[process].call.indirect.first() {
            self.fetch(process, extent)?;
            self.procs[process].call.indirect.take_first();
        }
        Continue(())
    }

    /// Ensures that a block is in memory, and returns its buffer.
    fn fetch(&mut self, process: Process, extent: Extent) -> Flow<BufferId> {
        match self.find(process, extent) {
            Some(buffer) if self.cache.is_on_its_way(buffer) => Break(Demand::Sleep(Channel::Buffer(buffer))),
            Some(buffer) => {
                self.cache.touch(buffer);
                Continue(buffer)
            }
            None => {
                let buffer = self.buffer_for(process, extent)?;
                Break(self.start(process, buffer, State::Reading))
            }
        }
    }

    /// Returns a buffer for a block that is not in memory. If the next buffer is dirty, starts its write instead.
    fn buffer_for(&mut self, process: Process, extent: Extent) -> Flow<BufferId> {
        match self.cache.victim() {
            Victim::Free(buffer) => {
                self.cache.give(buffer, BlockKey::new(self.procs[process].drive, extent.sector), extent.sectors);
                Continue(buffer)
            }
            Victim::Dirty(buffer) => Break(self.start(process, buffer, State::Writing)),
            Victim::None => Break(Demand::Sleep(Channel::AnyBuffer)),
        }
    }

    /// Starts a transfer. The request is submitted once the process has spent the driver's time to start it.
    fn start(&mut self, process: Process, buffer: BufferId, state: State) -> Demand {
        self.cache.set_moving(buffer, state);
        self.procs[process].call.hand_over = Some(buffer);
        Demand::Spend(Cause::Start, self.driver.start)
    }

    fn find(&self, process: Process, extent: Extent) -> Option<BufferId> {
        self.cache.find(BlockKey::new(self.procs[process].drive, extent.sector))
    }

    fn place(&self, process: Process, file: FileId, block: u32) -> Option<Extent> {
        self.file_systems[self.procs[process].drive].place(file, block)
    }

    fn leaf(&self, process: Process, file: FileId) -> Option<Extent> {
        let proc = &self.procs[process];
        self.file_systems[proc.drive].indirect(file, proc.call.block).last()
    }

    fn block_bytes(&self, process: Process) -> u32 {
        self.file_systems[self.procs[process].drive].block_bytes()
    }
}
