//! Prepares file systems: performs operations without letting time pass.

use workload::{OpKind, Reason, Step};

use super::Computer;

impl Computer {
    /// Performs the operations of a program's stream at once, without letting time pass. Names, files and their blocks
    /// are as after a real run; the buffer cache stays empty.
    pub fn prepare(&mut self, program: usize, steps: impl Iterator<Item = Step>) -> Result<(), Reason> {
        for step in steps {
            let Step::Op(op) = step else { continue };
            let before = self.namespaces[program].subject(&op);
            let transfer = self.namespaces[program].apply(&op)?;
            let released = self.namespaces[program].take_released();
            self.prepare_name(program, &op, before, &released)?;
            let Some(transfer) = transfer.filter(|_| matches!(op.kind(), OpKind::Write | OpKind::WriteAt)) else {
                continue;
            };
            let file_system = &mut self.file_systems[self.procs[program].drive];
            let prepared = file_system.prepare_write(transfer.file, transfer.offset, transfer.bytes);
            prepared.map_err(|_| Reason::NoSpace)?;
        }
        self.file_systems[self.procs[program].drive].end_preparation().map_err(|_| Reason::NoSpace)
    }

    /// Copies the files of all programs from another computer of the same kind.
    pub(crate) fn copy_files(&mut self, of: &Computer) {
        self.file_systems.clone_from(&of.file_systems);
        self.namespaces.clone_from(&of.namespaces);
    }
}
