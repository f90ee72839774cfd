//! The measurements of *The Linux Programming Interface*, chapter 13: copying a file through buffers of many sizes
//! (table 13-1), and writing a file with and without synchronous writes (table 13-3).

use alloc::vec;
use alloc::vec::Vec;

use super::{PREPARING_CALL, data_durable, file_durable, open, prepared_file, quiet};
use crate::cache_state::Cache;
use crate::op::{Access, Durability, Handle, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;
use crate::stream_body::{Body, Copying};

/// The buffer sizes of table 13-1. The table omits 2048, 8192 and 32768.
pub const COPY_BUFFERS: [u32; 14] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536];

/// The size of the file that table 13-1 copies.
pub const COPY_BYTES: u64 = 100_000_000;

/// The buffer sizes of table 13-3.
pub const WRITE_BUFFERS: [u32; 4] = [1, 16, 256, 4096];

/// The size of the file that table 13-3 writes.
pub const WRITE_BYTES: u64 = 1_000_000;

/// The method by which a program makes its writes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sync {
    /// No sync.
    #[default]
    None,
    /// `O_SYNC`: each write waits for the data and metadata of the file.
    Osync,
    /// `O_DSYNC`: each write waits for its data.
    Dsync,
    /// One fsync at the end.
    Fsync,
}

impl Sync {
    /// The name on the command line.
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

    /// The last calls of the program's own work.
    fn closing(self, handle: Handle) -> Vec<Op> {
        match self {
            Sync::Fsync => vec![Op::Fsync { handle }],
            Sync::None | Sync::Osync | Sync::Dsync => Vec::new(),
        }
    }
}

/// The file that a copy reads.
pub const OLD: Handle = Handle::new(0);

/// The file that a copy writes.
pub const NEW: Handle = Handle::new(1);

/// The calls of `copy OLD NEW` as in listing 4-1, plus the sync. It reads up to a buffer and writes the bytes read,
/// until a read returns nothing; then it closes both files.
pub fn copy_whole(old: Name, new: Name, buffer: u32, bytes: u64, sync: Sync) -> Stream {
    let mut closing = sync.closing(NEW);
    closing.extend([Op::Close { handle: OLD }, Op::Close { handle: NEW }]);
    copy_open(old, new, buffer, bytes, sync).then(closing)
}

/// As [`copy_whole`], without the two closes: the new file stays open, so that it can be made durable afterwards.
pub fn copy_steps(old: Name, new: Name, buffer: u32, bytes: u64, sync: Sync) -> Stream {
    copy_open(old, new, buffer, bytes, sync).then(sync.closing(NEW))
}

fn copy_open(old: Name, new: Name, buffer: u32, bytes: u64, sync: Sync) -> Stream {
    let opening = vec![open(old, OLD, Access::Read), Op::Create { name: new, handle: NEW, mode: sync.mode() }];
    Stream::open(opening, Body::Copy(Copying::new(OLD, NEW, buffer, bytes)))
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
            // The book unmounts and mounts the file system before each run, so that nothing is cached.
            cache: Cache::Cold,
            steps: copy_steps(old, new, buffer, bytes, sync),
            data: data_durable(NEW),
            durable: file_durable(NEW),
            base: RateBase::Bytes,
            amount: bytes,
            within: None,
            warmup: None,
            unit: Unit::from(OpKind::Read, OpKind::Write),
        }],
        space: 2 * bytes,
        group: vec![],
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
            cache: Cache::AsIs,
            steps: Stream::open(vec![create], body).then(closing),
            data: data_durable(NEW),
            durable: file_durable(NEW),
            base: RateBase::Bytes,
            amount: bytes,
            within: None,
            warmup: None,
            unit: Unit::from_kind(OpKind::Write),
        }],
        space: bytes,
        group: vec![],
        largest_call: buffer,
    }
}

#[cfg(test)]
mod tests {
    use crate::op::{Durability, OpKind};
    use crate::step::Step;

    use super::*;

    fn kinds(stream: Stream) -> Vec<OpKind> {
        stream
            .map(|step| match step {
                Step::Op(op) => op.kind(),
                other => panic!("a copy only asks: {other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_copy_ends_with_its_sync_and_both_closes() {
        use OpKind::{Close, Create, Fsync, Open, Read, Write};
        let copy = |sync| kinds(copy_whole(Name::given(0), Name::given(1), 4, 5, sync));
        assert_eq!(copy(Sync::None), [Open, Create, Read, Write, Read, Write, Read, Close, Close]);
        assert_eq!(copy(Sync::Fsync), [Open, Create, Read, Write, Read, Write, Read, Fsync, Close, Close]);
    }

    #[test]
    fn synchronous_writes_are_requested_when_the_file_is_opened() {
        for (sync, durability) in
            [(Sync::None, Durability::None), (Sync::Osync, Durability::File), (Sync::Dsync, Durability::Data)]
        {
            let made = copy_whole(Name::given(0), Name::given(1), 4, 5, sync).nth(1);
            let Some(Step::Op(Op::Create { mode, .. })) = made else { panic!("the new file is made: {made:?}") };
            assert_eq!((mode.durability, mode.direct), (durability, false));
        }
    }

    #[test]
    fn a_write_row_writes_every_byte_with_any_buffer_size() {
        for (bytes, buffer, calls) in [(1_000_000, 256, 3907), (1000, 4096, 1), (4096, 4096, 1)] {
            let program = write(bytes, buffer, Sync::Osync);
            let mut written = (0, 0);
            for step in program.phases[0].steps.clone() {
                if let Step::Op(Op::Write { length, .. }) = step {
                    written = (written.0 + 1, written.1 + u64::from(length));
                }
            }
            assert_eq!(written, (calls, bytes));
        }
    }
}
