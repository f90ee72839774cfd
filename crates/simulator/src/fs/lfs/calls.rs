//! System calls as steps. Writes go to the cache; the log is written when a segment is full, or when the cache needs
//! buffers. The process that finds too few clean segments runs the cleaner.

use units::Nanos;
use workload::Reason;

use super::call_state::Progress;
use super::inode_map::indirect_of;
use super::segment::NOWHERE;
use super::{Action, Lfs};
use crate::cache::{BlockKey, Victim};
use crate::cpu::Cause;
use crate::description::SECTOR_BYTES;
use crate::fs::extent::Extent;
use crate::fs::plan::{Plan, Request};
use crate::fs::step::Step;
use crate::fs::{Full, Host};
use crate::namespace::FileId;

impl Lfs {
    /// Decides the next step of a call.
    #[inline(never)]
    pub(crate) fn next(&mut self, plan: &mut Plan, host: &mut Host) -> Step {
        loop {
            let may_act = matches!(
                plan.lfs.progress,
                Progress::Pointers | Progress::NextBlock | Progress::Change | Progress::AwaitLog | Progress::End
            );
            if may_act && let Some(step) = self.act(host) {
                return step;
            }
            let step = match plan.request {
                Request::Read { file, .. } => self.next_of_read(plan, host, file),
                Request::Write { file, waits, .. } => self.next_of_write(plan, host, file, waits),
                Request::Name(call) => self.next_of_name(plan, host, call),
                Request::Nothing | Request::Fails(_) | Request::Sync | Request::Update => {
                    self.next_of_other(plan, host)
                }
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Returns the step of the next action of the log, if there is one.
    fn act(&mut self, host: &Host) -> Option<Step> {
        Some(match self.actions.pop_front()? {
            Action::Write(extent) => Step::WriteLog(extent),
            Action::Read(extent) => Step::ReadLog(extent),
            Action::AwaitRead => Step::AwaitRead,
            Action::Move(blocks) => {
                Step::Spend(Cause::BlockWrite, Nanos(host.kernel.block_write.0 * u64::from(blocks)))
            }
        })
    }

    /// Steps of a read, block after block. A sequential read asks for several blocks with one request.
    fn next_of_read(&mut self, plan: &mut Plan, host: &mut Host, file: FileId) -> Option<Step> {
        match plan.lfs.progress {
            Progress::Enter => spend(plan, Cause::Call, host.kernel.call, Progress::NextBlock),
            Progress::NextBlock => {
                if !plan.next_block(self.block_bytes()) {
                    return Some(Step::Return(Ok(plan.done)));
                }
                // A dirty buffer is written as a part of the log. It is written alone only if the log is full.
                if matches!(host.cache.victim(), Victim::Dirty(_)) {
                    self.write().ok();
                }
                go(plan, Progress::Pointers)
            }
            Progress::Pointers => match self.missing_pointers(file, plan.block) {
                Some(extent) => Some(Step::Read(extent)),
                None => spend(plan, Cause::BlockRead, host.kernel.block_read, Progress::AskFor),
            },
            Progress::AskFor => match self.place(file, plan.block) {
                Some(extent) => {
                    let blocks = self.run(plan, host, file);
                    let step = if blocks > 1 { Step::ReadRun { extent, blocks } } else { Step::StartRead(extent) };
                    then(plan, step, Progress::Await)
                }
                // A hole: there is no data to wait for.
                None => copy(plan, host, Progress::Copied),
            },
            Progress::Await => {
                let Some(extent) = self.place(file, plan.block) else { return go(plan, Progress::AskFor) };
                let to_its_end = plan.within + plan.bytes == self.block_bytes();
                then(plan, Step::Await { extent, to_its_end }, Progress::CopyOut)
            }
            Progress::CopyOut if plan.is_lost => {
                plan.is_lost = false;
                go(plan, Progress::AskFor)
            }
            Progress::CopyOut => {
                plan.last_read = Some((file, plan.block));
                copy(plan, host, Progress::Copied)
            }
            Progress::Copied => {
                plan.done += plan.bytes;
                go(plan, Progress::NextBlock)
            }
            progress => unreachable!("{progress:?} is no state of a read"),
        }
    }

    /// Number of blocks to read at once: those after this one that are next to each other in the log, if the last read
    /// was of the block before this one.
    fn run(&self, plan: &Plan, host: &Host, file: FileId) -> u16 {
        let (first, Some(inode)) = (plan.block, self.map.inodes.get(&file)) else { return 1 };
        if first == 0 || plan.last_read != Some((file, first - 1)) {
            return 1;
        }
        let (layout, whole) = (&self.log.layout, self.log.layout.per_block);
        let is_whole = |block| inode.fragments(block, whole) == whole;
        let (start, mut blocks) = (inode.block(first), 1);
        while blocks < self.settings.read_cluster
            && inode.block(first + blocks) == start + blocks * whole
            && layout.segment(start) == layout.segment(start + blocks * whole)
            && is_whole(first + blocks)
            && !self.is_cached(host, layout.block(start + blocks * whole))
        {
            blocks += 1;
        }
        blocks as u16
    }

    fn is_cached(&self, host: &Host, extent: Extent) -> bool {
        host.cache.find(BlockKey::new(host.drive, extent.sector)).is_some()
    }

    /// Returns the next block that must be read to find a block of the file: its inode or an indirect block. From then
    /// on it is in memory.
    fn missing_pointers(&mut self, file: FileId, block: u32) -> Option<Extent> {
        if let Some(extent) = self.missing_inode(file) {
            return Some(extent);
        }
        let index = indirect_of(block, self.block_bytes())?;
        let inode = self.map.inodes.get_mut(&file)?;
        let address = inode.indirect(index);
        (inode.indirect_in_memory.insert(index) && address != NOWHERE).then(|| self.log.layout.block(address))
    }

    /// Returns the block of an inode that is not in memory. From then on it is.
    pub(super) fn missing_inode(&mut self, file: FileId) -> Option<Extent> {
        let inode = self.map.inodes.get_mut(&file)?;
        let is_missing = !core::mem::replace(&mut inode.in_memory, true) && inode.address != NOWHERE;
        is_missing.then(|| self.log.layout.block(inode.address))
    }

    /// Steps of a write, block after block.
    fn next_of_write(&mut self, plan: &mut Plan, host: &mut Host, file: FileId, waits: bool) -> Option<Step> {
        match plan.lfs.progress {
            Progress::Enter => spend(plan, Cause::Call, host.kernel.call, Progress::NextBlock),
            Progress::NextBlock => {
                if !plan.next_block(self.block_bytes()) {
                    return go(plan, if waits { Progress::WriteLog } else { Progress::End });
                }
                match self.make_room(host) {
                    Ok(()) => go(plan, Progress::Pointers),
                    Err(Full) => Some(Step::Return(Err(Reason::NoSpace))),
                }
            }
            Progress::Pointers => match self.missing_pointers(file, plan.block) {
                Some(extent) => Some(Step::Read(extent)),
                None => go(plan, Progress::OldData),
            },
            Progress::OldData => {
                let before = self.place(file, plan.block);
                plan.lfs.is_new = before.is_none();
                // Old data outside of the bytes that are written.
                let keeps = |old: &Extent| plan.within > 0 || plan.bytes < old.bytes();
                match before.filter(keeps) {
                    Some(extent) => then(plan, Step::Read(extent), Progress::Append),
                    None => go(plan, Progress::Append),
                }
            }
            Progress::Append => {
                let Ok((before, after)) = self.append_data(file, plan.block, plan.within + plan.bytes) else {
                    return Some(Step::Return(Err(Reason::NoSpace)));
                };
                let extent = self.place(file, plan.block).expect("a block that is written");
                plan.lfs.sectors = extent.sectors;
                if before != after {
                    rename(host, before, after, |address| self.log.layout.block(address));
                }
                then(plan, Step::GetBuffer(extent), Progress::Clear)
            }
            Progress::Clear => {
                let held = u32::from(plan.lfs.sectors) * SECTOR_BYTES;
                let rest = if plan.lfs.is_new { held - plan.bytes } else { 0 };
                let kib = u64::from(rest.div_ceil(1024));
                spend(plan, Cause::Clear, Nanos(host.kernel.clear_per_kib.0 * kib), Progress::Find)
            }
            Progress::Find => {
                let allocate = if plan.lfs.is_new { host.kernel.block_allocate } else { Nanos::ZERO };
                spend(plan, Cause::BlockWrite, host.kernel.block_write + allocate, Progress::CopyIn)
            }
            Progress::CopyIn => copy(plan, host, Progress::LetGo),
            Progress::LetGo => {
                plan.done += plan.bytes;
                then(plan, Step::WriteDelayed(plan.lfs.sectors), Progress::NextBlock)
            }
            _ => self.end(plan),
        }
    }

    /// Writes the log if the caller waits for it, and returns.
    fn end(&mut self, plan: &mut Plan) -> Option<Step> {
        match plan.lfs.progress {
            Progress::WriteLog => match self.write() {
                Ok(()) => go(plan, Progress::AwaitLog),
                Err(Full) => Some(Step::Return(Err(Reason::NoSpace))),
            },
            Progress::AwaitLog => then(plan, Step::AwaitLog, Progress::End),
            _ => Some(Step::Return(Ok(plan.done))),
        }
    }

    /// Steps of a call that moves no data of its own.
    fn next_of_other(&mut self, plan: &mut Plan, host: &Host) -> Option<Step> {
        match (plan.lfs.progress, plan.request) {
            (Progress::Enter, _) => spend(plan, Cause::Call, host.kernel.call, Progress::NextBlock),
            (_, Request::Fails(reason)) => Some(Step::Return(Err(reason))),
            (Progress::NextBlock, Request::Sync) => go(plan, Progress::WriteLog),
            (Progress::NextBlock, Request::Update) => match self.write() {
                Ok(()) => go(plan, Progress::End),
                Err(Full) => Some(Step::Return(Err(Reason::NoSpace))),
            },
            (Progress::AwaitLog, Request::Sync) => then(plan, Step::AwaitLog, Progress::Flush),
            // Blocks that another program changed after their part of the log was started.
            (Progress::Flush, _) => then(plan, Step::Flush, Progress::End),
            _ => self.end(plan),
        }
    }

    /// Makes room for another block: writes the log if a segment is full or the cache needs buffers, makes a checkpoint
    /// if one is due, and cleans if few segments are clean.
    pub(super) fn make_room(&mut self, host: &mut Host) -> Result<(), Full> {
        let dirty = matches!(host.cache.victim(), Victim::Dirty(_));
        // Half of the buffers are for reading.
        let most = (host.cache.buffers() / 2).max(1);
        if dirty || self.log.unwritten_blocks() >= most || self.log.has_whole_segment() {
            self.write()?;
        }
        let kept = self.keep_up();
        // Blocks that were moved before an error have their new addresses.
        let moves = core::mem::take(&mut self.moves);
        for &(before, after) in &moves {
            rename(host, before, after, |address| self.log.layout.block(address));
        }
        kept
    }
}

/// Notes that a block in the cache has another address.
pub(super) fn rename(host: &mut Host, before: u32, after: u32, extent: impl Fn(u32) -> Extent) {
    let key = |address| BlockKey::new(host.drive, extent(address).sector);
    // A block that was there before a segment was cleaned.
    host.cache.forget(key(after));
    if before != NOWHERE {
        host.cache.rename(key(before), key(after));
    }
}

fn go(plan: &mut Plan, progress: Progress) -> Option<Step> {
    plan.lfs.progress = progress;
    None
}

fn then(plan: &mut Plan, step: Step, progress: Progress) -> Option<Step> {
    plan.lfs.progress = progress;
    Some(step)
}

fn spend(plan: &mut Plan, cause: Cause, work: Nanos, progress: Progress) -> Option<Step> {
    then(plan, Step::Spend(cause, work), progress)
}

fn copy(plan: &mut Plan, host: &Host, progress: Progress) -> Option<Step> {
    let work = Nanos(host.kernel.copy_per_kib.0 * u64::from(plan.bytes) / 1024);
    spend(plan, Cause::Copy, work, progress)
}
