//! What was done to a computer's file systems long ago: the effects of ops without their time.

use workload::{OpKind, Reason, Step};

use super::Computer;

impl Computer {
    /// Does the ops of a program's stream at once, as if long ago: names, files and their places are as they would be,
    /// no time passes and nothing is in memory.
    pub fn prepare(&mut self, program: usize, steps: impl Iterator<Item = Step>) -> Result<(), Reason> {
        for step in steps {
            let Step::Op(op) = step else { continue };
            let transfer = self.namespaces[program].apply(&op)?;
            let released = self.namespaces[program].take_released();
            self.forget(program, &released);
            let Some(transfer) = transfer.filter(|_| matches!(op.kind(), OpKind::Write | OpKind::WriteAt)) else {
                continue;
            };
            let file_system = &mut self.file_systems[self.procs[program].drive];
            let block_bytes = u64::from(file_system.block_bytes());
            let (mut at, end) = (transfer.offset, transfer.offset + u64::from(transfer.bytes));
            while at < end {
                let until = (at - at % block_bytes + block_bytes).min(end);
                let (block, bytes) = ((at / block_bytes) as u32, (until - at + at % block_bytes) as u32);
                if !file_system.holds(transfer.file, block, bytes) {
                    file_system.allocate(transfer.file, block, bytes).map_err(|_| Reason::NoSpace)?;
                }
                at = until;
            }
        }
        Ok(())
    }

    /// Has what the programs of another such computer have on their drives, as if long ago.
    pub(crate) fn copy_files(&mut self, of: &Computer) {
        self.file_systems.clone_from(&of.file_systems);
        self.namespaces.clone_from(&of.namespaces);
    }
}
