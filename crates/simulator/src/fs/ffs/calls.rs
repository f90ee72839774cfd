//! The system calls of 4.2BSD as steps: `rwip`, `bread`, `breada`, `bawrite`, `bdwrite`, `alloc` and `getblk`.

use units::Nanos;
use workload::Reason;

use super::call_state::Progress;
use super::{Allocated, Ffs};
use crate::cache::BlockKey;
use crate::cpu::Cause;
use crate::faults::{self, Fault};
use crate::fs::extent::Extent;
use crate::fs::plan::{Plan, Request};
use crate::fs::step::Step;
use crate::fs::{Full, Host, Used};
use crate::namespace::FileId;

impl Ffs {
    /// Decides the next step of a call.
    #[inline(always)]
    pub(crate) fn next(&mut self, plan: &mut Plan, host: &mut Host) -> Step {
        // The states that need no step of the computer follow each other in one call.
        match plan.request {
            Request::Read { file, .. } => self.next_of_read(plan, host, file),
            Request::Write { file, waits, .. } => self.next_of_write(plan, host, file, waits),
            Request::Sync => until_step(|| self.next_of_sync(plan, host, true)),
            Request::Update => until_step(|| self.next_of_sync(plan, host, false)),
            Request::Name(call) => until_step(|| self.next_of_name(plan, host, call)),
            Request::Nothing | Request::Fails(_) => next_of_other(plan, host),
        }
    }

    /// Steps of a read: block after block, each with read-ahead of the next block.
    #[inline]
    fn next_of_read(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        match plan.ffs.progress {
            Progress::Enter => {
                self.touch(file);
                spend(plan, Cause::Call, host.kernel.call, Progress::NextBlock)
            }
            Progress::NextBlock => self.read_next_block(plan, host, file),
            Progress::ReadIndirect => read_indirect(plan, host),
            Progress::AskFor => self.ask_for(plan, host, file),
            Progress::AskAhead => self.ask_ahead(plan, host, file),
            Progress::Await => self.wait(plan, host, file),
            Progress::Copied => {
                plan.done += plan.bytes;
                self.read_next_block(plan, host, file)
            }
            _ => unreachable!("{:?} is no state of a read", plan.ffs.progress),
        }
    }

    #[inline]
    fn read_next_block(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        if !plan.next_block(self.block_bytes()) {
            return Step::Return(Ok(plan.done));
        }
        plan.ffs.indirect = self.indirect(file, plan.block);
        read_indirect(plan, host)
    }

    /// Starts the read of the block, if it is not in memory.
    #[inline]
    fn ask_for(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        match self.place(file, plan.block) {
            Some(extent) => {
                plan.ffs.extent = extent;
                if host.knows(extent) {
                    return self.ask_ahead(plan, host, file);
                }
                let step = host.begin_read(extent).map_or(Step::StartRead(extent), Step::HandOver);
                then(plan, step, Progress::AskAhead)
            }
            // A hole: there is no data to wait for.
            None => copy(plan, host, Progress::Copied),
        }
    }

    #[inline]
    fn ask_ahead(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        let ahead = self.ahead(plan, file).filter(|&extent| !host.knows(extent));
        match ahead.and_then(|extent| host.begin_read(extent)) {
            Some(buffer) => then(plan, Step::HandOver(buffer), Progress::Await),
            None => self.wait(plan, host, file),
        }
    }

    /// Waits for the data of the block, and copies them to the program.
    #[inline]
    fn wait(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        let to_its_end = plan.within + plan.bytes == self.block_bytes();
        match host.uses(plan.ffs.extent, to_its_end) {
            Used::Here => {
                plan.last_read = Some((file, plan.block));
                copy(plan, host, Progress::Copied)
            }
            Used::Moving(buffer) => then(plan, Step::Sleep(buffer), Progress::Await),
            Used::Lost => self.ask_again(plan, host, file),
        }
    }

    /// Begins again, because the buffer was lost. Outlined: it is rare, and would be a recursion.
    #[cold]
    #[inline(never)]
    fn ask_again(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        self.ask_for(plan, host, file)
    }

    /// Returns the next block if it is to be read ahead:
    ///   1. the block before this one was the last that was read;
    ///   2. the next block is under the same indirect block, as read-ahead does not read another one;
    ///   3. a buffer is free, which the caller finds out.
    fn ahead(&self, plan: &Plan, file: FileId) -> Option<Extent> {
        let block = plan.block;
        // 1
        if block == 0 || plan.last_read != Some((file, block - 1)) {
            return None;
        }
        // 2
        let next = if faults::is_planted(Fault::ReadAheadOfTwo) { block + 2 } else { block + 1 };
        let extent = self.place(file, next)?;
        // 3
        self.lead_alike(block, next).then_some(extent)
    }

    /// Steps of a write, block after block. A new block is allocated and cleared first. A block written to its end is
    /// sent to the drive at once; a partly written block stays in memory.
    #[inline]
    fn next_of_write(&mut self, plan: &mut Plan, host: &mut Host, file: FileId, waits: bool) -> Step {
        match plan.ffs.progress {
            Progress::Enter => {
                self.touch(file);
                spend(plan, Cause::Call, host.kernel.call, Progress::NextBlock)
            }
            Progress::NextBlock => self.write_next_block(plan, host, file, waits),
            Progress::DirtyHeader => self.dirty_header(plan, host, file),
            Progress::NewIndirect => self.write_new_indirect(plan, host, file),
            Progress::WriteIndirect => then(plan, Step::WriteSync(plan.ffs.held), Progress::NewIndirect),
            Progress::OldIndirect => read_old_indirect(plan, host),
            Progress::Clear => {
                let cleared = if faults::is_planted(Fault::NoZeroFill) { 0 } else { plan.ffs.cleared };
                let kib = u64::from(cleared.div_ceil(1024));
                spend(plan, Cause::Clear, Nanos(host.kernel.clear_per_kib.0 * kib), Progress::GetBuffer)
            }
            Progress::GetBuffer => get_buffer(plan, host),
            Progress::Find => find(plan, host),
            Progress::CopyIn => copy(plan, host, Progress::LetGo),
            Progress::LetGo => {
                plan.done += plan.bytes;
                if plan.within + plan.bytes == self.block_bytes() {
                    return then(plan, Step::HandOver(host.begin_write(plan.ffs.held)), Progress::NextBlock);
                }
                host.write_delayed(plan.ffs.held);
                self.write_next_block(plan, host, file, waits)
            }
            Progress::End => Step::Return(Ok(plan.done)),
            _ => unreachable!("{:?} is no state of a write", plan.ffs.progress),
        }
    }

    #[inline]
    fn write_next_block(&mut self, plan: &mut Plan, host: &mut Host, file: FileId, waits: bool) -> Step {
        if !plan.next_block(self.block_bytes()) {
            return if waits { then(plan, Step::Flush, Progress::End) } else { Step::Return(Ok(plan.done)) };
        }
        match self.choose(plan, host, file) {
            Ok(Some(header)) => {
                plan.ffs.held = header.sectors;
                if host.holds(header) {
                    return self.dirty_header(plan, host, file);
                }
                then(plan, Step::Read(header), Progress::DirtyHeader)
            }
            Ok(None) => read_old_indirect(plan, host),
            Err(Full) => Step::Return(Err(Reason::NoSpace)),
        }
    }

    #[inline]
    fn dirty_header(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        host.dirty(plan.ffs.held);
        self.write_new_indirect(plan, host, file)
    }

    /// Writes new indirect blocks first: otherwise a block on the drive could point to a missing one.
    #[inline]
    fn write_new_indirect(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Step {
        match plan.ffs.indirect.take_first() {
            Some(extent) => {
                plan.ffs.held = extent.sectors;
                then(plan, Step::GetBuffer(extent), Progress::WriteIndirect)
            }
            None => {
                plan.ffs.indirect = self.indirect(file, plan.block);
                plan.ffs.held = 0;
                read_old_indirect(plan, host)
            }
        }
    }

    /// Allocates space for the data of this write, if there is none yet. Returns the header of its cylinder group, if
    /// so.
    fn choose(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Result<Option<Extent>, Full> {
        let block_bytes = self.block_bytes();
        let mut allocated = None;
        // The last block of a file may be fragments. If the file grows beyond it, the fragments become a whole block.
        if let Some(end) = plan.block.checked_sub(1)
            && let Some(before) = self.place(file, end)
            && before.bytes() < block_bytes
        {
            allocated = Some(self.grow(host, file, end, Some(before), block_bytes)?.0);
        }
        let bytes = plan.within + plan.bytes;
        let before = self.place(file, plan.block);
        plan.ffs.extent = match before {
            Some(extent) if extent.bytes() >= bytes => extent,
            _ => {
                let (new, extent) = self.grow(host, file, plan.block, before, bytes)?;
                allocated = Some(new);
                extent
            }
        };
        let state = &mut plan.ffs;
        (state.allocates, state.is_new) = (allocated.is_some(), before.is_none());
        let Some(new) = allocated else {
            state.indirect = self.indirect(file, plan.block);
            return Ok(None);
        };
        state.indirect = new.new_indirect;
        state.new_blocks = 1 + new.new_indirect.count() as u8;
        let held = state.extent.bytes();
        state.cleared = if state.is_new { held } else { plan.bytes.min(held) };
        Ok(Some(new.header))
    }

    /// Allocates space for the first bytes of a block, which was at `before`. Returns its place. If it moved, its
    /// buffer moves with it.
    fn grow(
        &mut self,
        host: &mut Host,
        file: FileId,
        block: u32,
        before: Option<Extent>,
        bytes: u32,
    ) -> Result<(Allocated, Extent), Full> {
        let allocated = self.allocate(file, block, bytes)?;
        let after = self.place(file, block).expect("a block that was allocated");
        if let Some(before) = before {
            let key = |sector| BlockKey::new(host.drive, sector);
            host.cache.rename(key(before.sector), key(after.sector));
        }
        Ok((allocated, after))
    }

    /// Allocates the blocks of a write without letting time pass.
    pub(crate) fn prepare_write(&mut self, file: FileId, offset: u64, bytes: u32) -> Result<(), Full> {
        let block_bytes = u64::from(self.block_bytes());
        let (mut at, end) = (offset, offset + u64::from(bytes));
        while at < end {
            let until = (at - at % block_bytes + block_bytes).min(end);
            let (block, bytes) = ((at / block_bytes) as u32, (until - at + at % block_bytes) as u32);
            if !self.holds(file, block, bytes) {
                self.allocate(file, block, bytes)?;
            }
            at = until;
        }
        Ok(())
    }
}

/// Steps of a call that moves no data of its own.
fn next_of_other(plan: &mut Plan, host: &Host) -> Step {
    match (plan.ffs.progress, plan.request) {
        (Progress::Enter, _) => {
            plan.ffs.progress = Progress::NextBlock;
            Step::Spend(Cause::Call, host.kernel.call)
        }
        (_, Request::Fails(reason)) => Step::Return(Err(reason)),
        _ => Step::Return(Ok(0)),
    }
}

/// Goes on from state to state until one has a step.
#[inline]
fn until_step(mut next: impl FnMut() -> Option<Step>) -> Step {
    loop {
        if let Some(step) = next() {
            return step;
        }
    }
}

/// Read: reads the indirect blocks on the path to the block, then finds the block.
#[inline]
fn read_indirect(plan: &mut Plan, host: &mut Host) -> Step {
    while !faults::is_planted(Fault::IndirectBlocksNotRead)
        && let Some(extent) = plan.ffs.indirect.take_first()
    {
        if !host.holds(extent) {
            return then(plan, Step::Read(extent), Progress::ReadIndirect);
        }
    }
    spend(plan, Cause::BlockRead, host.kernel.block_read, Progress::AskFor)
}

/// Write: reads the indirect blocks on the path. The last one points to the new block, if there is one, and changes.
#[inline]
fn read_old_indirect(plan: &mut Plan, host: &mut Host) -> Step {
    while let Some(extent) = plan.ffs.indirect.take_first() {
        plan.ffs.held = extent.sectors;
        if !host.holds(extent) {
            return then(plan, Step::Read(extent), Progress::OldIndirect);
        }
    }
    if !plan.ffs.allocates {
        return get_buffer(plan, host);
    }
    if plan.ffs.held > 0 {
        host.dirty(plan.ffs.held);
    }
    let work = Nanos(host.kernel.block_allocate.0 * u64::from(plan.ffs.new_blocks));
    spend(plan, Cause::Allocate, work, Progress::Clear)
}

/// Write: gets a buffer for the block. A block that is overwritten completely is not read first.
#[inline]
fn get_buffer(plan: &mut Plan, host: &mut Host) -> Step {
    let extent = plan.ffs.extent;
    let whole = plan.within == 0 && plan.bytes >= extent.bytes();
    plan.ffs.held = extent.sectors;
    if whole || plan.ffs.is_new {
        if host.gets_buffer(extent) {
            return find(plan, host);
        }
        return then(plan, Step::GetBuffer(extent), Progress::Find);
    }
    if host.holds(extent) {
        return find(plan, host);
    }
    then(plan, Step::Read(extent), Progress::Find)
}

/// Write: finds the block.
#[inline]
fn find(plan: &mut Plan, host: &Host) -> Step {
    spend(plan, Cause::BlockWrite, host.kernel.block_write, Progress::CopyIn)
}

#[inline]
fn then(plan: &mut Plan, step: Step, progress: Progress) -> Step {
    plan.ffs.progress = progress;
    step
}

#[inline]
fn spend(plan: &mut Plan, cause: Cause, work: Nanos, progress: Progress) -> Step {
    then(plan, Step::Spend(cause, work), progress)
}

#[inline]
fn copy(plan: &mut Plan, host: &Host, progress: Progress) -> Step {
    let work = Nanos(host.kernel.copy_per_kib.0 * u64::from(plan.bytes) / 1024);
    spend(plan, Cause::Copy, work, progress)
}
