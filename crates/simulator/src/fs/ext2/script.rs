//! The steps of a call, all of which are known when it begins.

use alloc::vec::Vec;

use units::Nanos;

use super::WriteBack;
use crate::cpu::Cause;
use crate::fs::Host;
use crate::fs::extent::Extent;
use crate::fs::step::Step;

/// Steps that are known.
#[derive(Debug)]
pub(super) struct Script<'a, 'b> {
    pub(super) steps: &'a mut Vec<Step>,
    pub(super) host: &'a mut Host<'b>,
}

impl Script<'_, '_> {
    pub(super) fn spend(&mut self, cause: Cause, work: Nanos) {
        self.steps.push(Step::Spend(cause, work));
    }

    pub(super) fn copy(&mut self, bytes: u32) {
        let work = Nanos(self.host.kernel.copy_per_kib.0 * u64::from(bytes) / 1024);
        self.spend(Cause::Copy, work);
    }

    /// Changes a block that is in memory, or is read now.
    pub(super) fn change(&mut self, dirty: &mut WriteBack, extent: Extent) {
        dirty.add(self.host, extent);
        self.steps.extend([Step::Read(extent), Step::WriteDelayed(extent.sectors)]);
    }

    /// Changes a block because of a write to a file. Its old content is needed unless it `is_new` or a map.
    pub(super) fn record(&mut self, dirty: &mut WriteBack, extent: Extent, is_new: bool) {
        dirty.record(self.host, extent);
        let held = if is_new { Step::GetBuffer(extent) } else { Step::Read(extent) };
        self.steps.extend([held, Step::WriteDelayed(extent.sectors)]);
    }

    /// Changes a block whose old content is not needed: it is new, or a map that is always in memory.
    pub(super) fn replace(&mut self, dirty: &mut WriteBack, extent: Extent) {
        dirty.add(self.host, extent);
        self.steps.extend([Step::GetBuffer(extent), Step::WriteDelayed(extent.sectors)]);
    }

    /// Changes a block, and waits until it is on the drive.
    pub(super) fn change_and_wait(&mut self, extent: Extent) {
        self.steps.extend([Step::Read(extent), Step::WriteSync(extent.sectors)]);
    }
}
