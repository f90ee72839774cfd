//! Converts operations of programs into requests to file systems.

use workload::{Durability, HANDLES, Op, Reason};

use super::Computer;
use super::watchdog::PER_BLOCK;
use crate::cpu::Process;
use crate::fs::{Host, NameCall, NameWork, Request};
use crate::namespace::{FileId, Transfer};

/// Steps of a call on a name for which the watchdog grants events, in blocks: directories, inodes and group headers.
const NAME_BLOCKS: u64 = 64;

impl Computer {
    /// Applies the operation to names and sizes, and returns the request to the file system.
    pub(super) fn begin(&mut self, process: Process, op: &Op) -> Request {
        let proc = &self.procs[process];
        let file_system = &self.file_systems[proc.drive];
        let times_names = file_system.times_names();
        let namespace = &mut self.namespaces[process];
        let before = if times_names { namespace.subject(op) } else { None };
        let outcome = namespace.apply(op);
        // Usually data move. Then no name changes, and no file is released.
        if let Ok(Some(transfer)) = outcome {
            let blocks = transfer.bytes / file_system.block_bytes();
            self.watchdog.grant(PER_BLOCK * (1 + u64::from(blocks)));
            return data_request(op, transfer, &proc.durable);
        }
        let released = namespace.take_released();
        let name = if times_names && outcome.is_ok() { self.name_call(process, op, before, &released) } else { None };
        if !released.is_empty() {
            self.forget(process, &released, name.filter(|name| name.releases).map(|name| name.file));
        }
        if let Op::Create { handle, mode, .. } | Op::Open { handle, mode, .. } = *op {
            self.procs[process].durable[handle.index()] = mode.durability != Durability::None;
        }
        let request = match (outcome, *op) {
            (Err(reason), _) => Request::Fails(reason),
            (Ok(None), Op::Fsync { .. } | Op::Fdatasync { .. } | Op::FsyncDirectory { .. } | Op::Syncfs) => {
                Request::Sync
            }
            (Ok(_), _) => name.map_or(Request::Nothing, Request::Name),
        };
        let blocks = match request {
            Request::Sync => self.cache.unwritten() as u64,
            Request::Name(_) => NAME_BLOCKS,
            _ => 0,
        };
        self.watchdog.grant(PER_BLOCK * (1 + blocks));
        request
    }

    /// Performs the operation on a name at once, if names take time on its file system. `before` is the subject before
    /// the operation was applied.
    pub(super) fn prepare_name(
        &mut self,
        process: Process,
        op: &Op,
        before: Option<FileId>,
        released: &[FileId],
    ) -> Result<(), Reason> {
        let times_names = self.file_systems[self.procs[process].drive].times_names();
        let name = if times_names { self.name_call(process, op, before, released) } else { None };
        let own = name.filter(|name| name.releases).map(|name| name.file);
        self.forget(process, released, own);
        let Some(call) = name else { return Ok(()) };
        let drive = self.procs[process].drive;
        let mut host = Host { kernel: &self.kernel, cache: &mut self.cache, drive, held: 0 };
        self.file_systems[drive].prepare_name(call, &mut host).map_err(|_| Reason::NoSpace)
    }

    /// Returns the call on a name of an operation that was applied; `None` if it has none.
    fn name_call(&self, process: Process, op: &Op, before: Option<FileId>, released: &[FileId]) -> Option<NameCall> {
        let namespace = &self.namespaces[process];
        let root = namespace.directory_id(workload::Directory::ROOT);
        let (work, directory) = match op {
            Op::Open { name, .. } => (NameWork::Open, namespace.directory_id(name.directory)),
            Op::Create { name, .. } => (NameWork::Create, namespace.directory_id(name.directory)),
            Op::Unlink { name } => (NameWork::Unlink, namespace.directory_id(name.directory)),
            Op::Close { .. } => (NameWork::Close, root),
            Op::Mkdir { .. } => (NameWork::MakeDirectory, root),
            Op::Rmdir { .. } => (NameWork::RemoveDirectory, root),
            _ => return None,
        };
        let file = before.or_else(|| namespace.subject(op))?;
        Some(NameCall { work, root, directory, file, releases: released.contains(&file) })
    }
}

/// Returns the request to the file system for data to read or write. `durable` is true for each handle whose writes
/// wait for the drive.
fn data_request(op: &Op, Transfer { file, offset, bytes }: Transfer, durable: &[bool; HANDLES]) -> Request {
    match *op {
        Op::Read { .. } | Op::ReadAt { .. } | Op::ReadTail { .. } => Request::Read { file, offset, bytes },
        Op::Write { handle, .. } | Op::WriteAt { handle, .. } | Op::WriteLast { handle, .. } => {
            Request::Write { file, offset, bytes, waits: durable[handle.index()] }
        }
        _ => unreachable!("{op} moves no data"),
    }
}
