//! The system calls of Linux as steps: `generic_file_read`, `generic_file_write`, `fsync` and the update daemon.

use alloc::vec::Vec;

use units::Nanos;
use workload::Reason;

use super::{Ext2, Full, Script};
use crate::cache::BlockKey;
use crate::cpu::Cause;
use crate::fs::Host;
use crate::fs::plan::{Plan, Request};
use crate::fs::step::Step;
use crate::namespace::FileId;

impl Ext2 {
    /// Decides the next step of a call. All steps are known from its beginning.
    #[inline(never)]
    pub(crate) fn next(&mut self, plan: &mut Plan, host: &mut Host) -> Step {
        if plan.ext2.outcome.is_none() {
            let mut steps = core::mem::take(&mut plan.script);
            let mut script = Script { steps: &mut steps, host };
            script.spend(Cause::Call, script.host.kernel.call);
            let outcome = self.call(plan, &mut script);
            plan.script = steps;
            plan.ext2.outcome = Some(outcome);
        }
        let outcome = plan.ext2.outcome.unwrap_or(Ok(0));
        plan.next_of_script().unwrap_or(Step::Return(outcome))
    }

    fn call(&mut self, plan: &mut Plan, script: &mut Script) -> Result<u32, Reason> {
        match plan.request {
            Request::Read { file, bytes, .. } => {
                self.read(plan, script, file);
                Ok(bytes)
            }
            Request::Write { file, bytes, waits, .. } => {
                self.write(plan, script, file).map_err(|_| Reason::NoSpace)?;
                if waits {
                    self.sync(script, true);
                }
                Ok(bytes)
            }
            Request::Sync => {
                self.sync(script, true);
                Ok(0)
            }
            Request::Update => {
                self.sync(script, false);
                Ok(0)
            }
            Request::Name(call) => self.name(call, script).map(|()| 0).map_err(|_| Reason::NoSpace),
            Request::Nothing => Ok(0),
            Request::Fails(reason) => Err(reason),
        }
    }

    /// Reads page after page. A sequential read starts to read the next pages ahead, whenever it has used half of those
    /// before.
    fn read(&mut self, plan: &mut Plan, script: &mut Script, file: FileId) {
        while plan.next_block(self.block_bytes()) {
            let page = plan.block;
            for number in self.path(page) {
                let known = self.files.get(&file).and_then(|file| file.indirect.get(&number));
                script.steps.extend(known.map(|&block| Step::Read(self.layout.extent(block, 1))));
            }
            script.spend(Cause::BlockRead, script.host.kernel.block_read);
            if let Some(extent) = self.place(file, page) {
                script.steps.push(Step::StartRead(extent));
                let ahead = self.settings.read_ahead_pages;
                let is_sequential = page == 0 || plan.last_read == Some((file, page - 1));
                if is_sequential && page.is_multiple_of(ahead.div_ceil(2)) {
                    let pages = (page + 1..=page + ahead).map_while(|page| self.place(file, page));
                    script.steps.extend(pages.map(Step::ReadAhead));
                }
                script.steps.push(Step::Read(extent));
            }
            script.copy(plan.bytes);
            plan.last_read = Some((file, page));
            plan.done += plan.bytes;
        }
    }

    /// Writes page after page:
    ///   1. allocates blocks if some are missing, and records them in maps, indirect blocks and inode;
    ///   2. copies the data into the page, which is first read if only a part is overwritten;
    ///   3. writes the oldest dirty blocks if too many are dirty.
    fn write(&mut self, plan: &mut Plan, script: &mut Script, file: FileId) -> Result<(), Full> {
        let (mut new, kernel) = (Vec::new(), script.host.kernel);
        while plan.next_block(self.block_bytes()) {
            let page = plan.block;
            // 1
            let before = self.place(file, page);
            new.clear();
            let is_new = self.allocate(file, page, plan.within + plan.bytes, &mut new)?;
            let extent = self.place(file, page).ok_or(Full)?;
            if let Some(before) = before.filter(|before| before.sector != extent.sector) {
                let key = |sector| BlockKey::new(script.host.drive, sector);
                script.host.cache.rename(key(before.sector), key(extent.sector));
            }
            if is_new {
                self.record(file, page, &new, script);
                script.spend(Cause::Allocate, Nanos(kernel.block_allocate.0 * (1 + new.len() as u64)));
            }
            // 2
            let whole = plan.within == 0 && plan.bytes >= extent.bytes();
            let fresh = whole || before.is_none();
            script.steps.push(if fresh { Step::GetBuffer(extent) } else { Step::Read(extent) });
            script.spend(Cause::BlockWrite, kernel.block_write);
            script.copy(plan.bytes);
            self.dirty.add(script.host, extent);
            script.steps.push(Step::WriteDelayed(extent.sectors));
            // 3
            self.dirty.keep_below_limit(script.steps);
            plan.done += plan.bytes;
        }
        Ok(())
    }

    /// Records the new blocks of a page: in the map of their group and its descriptor, in the indirect block that
    /// points to them, or in the inode. `new` are the numbers of new indirect blocks on the path.
    fn record(&mut self, file: FileId, page: u32, new: &[u32], script: &mut Script) {
        let Some(known) = self.files.get(&file) else { return };
        let Some(first) = known.page(page) else { return };
        let group = self.layout.group(first.first);
        script.record(&mut self.dirty, self.layout.block_map(group), true);
        script.record(&mut self.dirty, self.layout.descriptor(group), true);
        let path: Vec<u32> = self.path(page).collect();
        let mut changes = true;
        for number in path.iter().rev() {
            let Some(&block) = known.indirect.get(number) else { continue };
            let (extent, is_new) = (self.layout.extent(block, 1), new.contains(number));
            if changes {
                script.record(&mut self.dirty, extent, is_new);
            } else {
                script.steps.push(Step::Read(extent));
            }
            // A block above it changes only if it points to a new one.
            changes = is_new;
        }
        script.record(&mut self.dirty, self.layout.inode_block(known.inode), false);
    }

    /// Writes all dirty blocks, the oldest first. Waits for them, or only starts.
    fn sync(&mut self, script: &mut Script, waits: bool) {
        self.dirty.write_all(script.steps);
        script.steps.push(if waits { Step::Flush } else { Step::FlushBehind });
    }
}
