//! The measurements of *The Linux Programming Interface*, chapter 13: copying a file through buffers of
//! many sizes (table 13-1), and writing one with and without synchronous writes (table 13-3).

use alloc::vec;
use alloc::vec::Vec;

use super::{PREPARING_CALL, data_durable, file_durable, open, prepared_file, quiet};
use crate::body::{Body, Copying};
use crate::op::{Access, Durability, Handle, Mode, Name, Op, OpKind};
use crate::program::{Base, Parameter, Phase, Program, Unit};
use crate::stream::Stream;

/// The buffer sizes of table 13-1. 2048, 8192 and 32768 are not in it.
pub const COPY_BUFFERS: [u32; 14] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536];

/// The size of the file that table 13-1 copies.
pub const COPY_BYTES: u64 = 100_000_000;

/// The buffer sizes of table 13-3.
pub const WRITE_BUFFERS: [u32; 4] = [1, 16, 256, 4096];

/// The size of the file that table 13-3 writes.
pub const WRITE_BYTES: u64 = 1_000_000;

/// How a program makes what it writes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sync {
    /// It does not.
    #[default]
    None,
    /// Each write waits for the file: `O_SYNC`.
    Osync,
    /// Each write waits for its data: `O_DSYNC`.
    Dsync,
    /// One fsync at the end.
    Fsync,
}

impl Sync {
    /// As it is written on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Sync::None => "none",
            Sync::Osync => "osync",
            Sync::Dsync => "dsync",
            Sync::Fsync => "fsync",
        }
    }

    const fn mode(self) -> Mode {
        let durability = match self {
            Sync::None | Sync::Fsync => Durability::None,
            Sync::Osync => Durability::File,
            Sync::Dsync => Durability::Data,
        };
        Mode { durability, direct: false }
    }

    /// The calls that end the program's own work.
    fn closing(self, handle: Handle) -> Vec<Op> {
        match self {
            Sync::Fsync => vec![Op::Fsync { handle }],
            Sync::None | Sync::Osync | Sync::Dsync => Vec::new(),
        }
    }
}

const OLD: Handle = Handle(0);
const NEW: Handle = Handle(1);

/// The calls of `copy OLD NEW`: reads up to a buffer, writes what was read, until a read brings nothing.
pub fn copy_steps(old: Name, new: Name, buffer: u32, bytes: u64, sync: Sync) -> Stream {
    let opening = vec![open(old, OLD, Access::Read), Op::Create { name: new, handle: NEW, mode: sync.mode() }];
    Stream::open(opening, Body::Copy(Copying::new(OLD, NEW, buffer, bytes))).then(sync.closing(NEW))
}

/// `copy` of a file of `bytes` bytes through a buffer: a row of table 13-1.
pub fn copy(bytes: u64, buffer: u32, sync: Sync) -> Program {
    let (old, new) = (Name::root(0), Name::root(1));
    Program {
        name: "copy",
        parameters: vec![
            Parameter::new("buffer_bytes", buffer),
            Parameter::new("file_bytes", bytes),
            Parameter::new("sync", sync.name()),
        ],
        prepare: prepared_file(old, bytes),
        phases: vec![Phase {
            name: "copy",
            steps: copy_steps(old, new, buffer, bytes, sync),
            data: data_durable(NEW),
            durable: file_durable(NEW),
            base: Base::Bytes,
            amount: bytes,
            unit: Unit { first: OpKind::Read, last: OpKind::Write },
        }],
        space: 2 * bytes,
        largest_call: buffer.max(PREPARING_CALL),
    }
}

/// Writing a new file of `bytes` bytes through a buffer: a row of table 13-3.
pub fn write(bytes: u64, buffer: u32, sync: Sync) -> Program {
    let create = Op::Create { name: Name::root(0), handle: NEW, mode: sync.mode() };
    let body = Body::Calls { call: Op::Write { handle: NEW, length: buffer }, left: bytes / u64::from(buffer) };
    let mut closing = Vec::new();
    let rest = (bytes % u64::from(buffer)) as u32;
    if rest > 0 {
        closing.push(Op::Write { handle: NEW, length: rest });
    }
    closing.extend(sync.closing(NEW));
    Program {
        name: "write",
        parameters: vec![
            Parameter::new("buffer_bytes", buffer),
            Parameter::new("file_bytes", bytes),
            Parameter::new("sync", sync.name()),
        ],
        prepare: quiet(),
        phases: vec![Phase {
            name: "write",
            steps: Stream::open(vec![create], body).then(closing),
            data: data_durable(NEW),
            durable: file_durable(NEW),
            base: Base::Bytes,
            amount: bytes,
            unit: Unit::of(OpKind::Write),
        }],
        space: bytes,
        largest_call: buffer,
    }
}
