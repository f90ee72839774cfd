//! Modern workloads: one small block at a time, and the commit of a database.

use alloc::vec;
use alloc::vec::Vec;

use super::{FILE, PREPARING_CALL, create, prepared_file, quiet};
use crate::access::order::{Drawing, Order};
use crate::access::pattern::AccessPattern;
use crate::cache_state::Cache;
use crate::op::{Access, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;
use crate::stream_body::Body;

/// `randread`: `reads` blocks of a file of `bytes` bytes, each block at most once, in random order, with direct I/O.
pub fn random_read(bytes: u64, block: u32, reads: u32, seed: u64) -> Program {
    let file = Name::root(0);
    let blocks = u32::try_from(bytes / u64::from(block)).expect("fewer than 2^32 blocks");
    let reads = reads.min(blocks);
    Program {
        prepare: prepared_file(file, bytes),
        space: bytes,
        largest_call: block.max(PREPARING_CALL),
        ..reading(file, bytes, block, reads, seed, Order::Shuffled)
    }
}

/// As [`random_read`], on a file that the user gave, which is neither created nor removed. The blocks are drawn with
/// replacement.
pub fn random_read_given(bytes: u64, block: u32, reads: u32, seed: u64) -> Program {
    let blocks = bytes / u64::from(block);
    let reads = u64::from(reads).min(blocks) as u32;
    reading(Name::given(0), bytes, block, reads, seed, Order::Drawn(Drawing::Replacement))
}

/// Reads blocks of an existing file in this order.
fn reading(name: Name, bytes: u64, block: u32, reads: u32, seed: u64, order: Order) -> Program {
    let mode = Mode { direct: true, ..Mode::default() };
    // A pattern needs room for one access. A file that the user gave may be smaller; it is then not read.
    let extent = bytes.max(block.into());
    let accesses = AccessPattern::new(order, block, false).accesses(FILE, extent, reads.into(), seed);
    let opening = vec![Op::Open { name, handle: FILE, access: Access::Read, mode }];
    Program {
        name: "randread",
        parameters: vec![
            Parameter::new("buffer_bytes", block),
            Parameter::new("file_bytes", bytes),
            Parameter::new("reads", reads),
            Parameter::new("direct", true),
            Parameter::new("iodepth", 1u32),
            Parameter::new("seed", seed),
        ],
        prepare: Stream::empty(),
        phases: vec![Phase {
            name: "randread",
            // Direct reads bypass the page cache.
            cache: Cache::AsIs,
            steps: Stream::open(opening, accesses.into()),
            data: Stream::empty(),
            durable: Stream::empty(),
            base: RateBase::Ops,
            amount: u64::from(reads),
            within: None,
            warmup: None,
            unit: Unit::from_kind(OpKind::ReadAt),
        }],
        space: 0,
        group: vec![],
        largest_call: block,
    }
}

/// `commit`: appends a record to a log and waits until it is durable, as a database does. Each commit is durable when
/// it returns, so no sync follows the phase.
pub fn commit(commits: u32, record: u32) -> Program {
    let body = Body::Commits { handle: FILE, length: record, left: u64::from(commits) * 2 };
    Program {
        name: "commit",
        parameters: Vec::from([
            Parameter::new("record_bytes", record),
            Parameter::new("commits", commits),
            Parameter::new("sync", "fdatasync"),
        ]),
        prepare: quiet(),
        phases: vec![Phase {
            name: "commit",
            cache: Cache::AsIs,
            steps: Stream::open(vec![create(Name::root(0), FILE)], body),
            data: Stream::empty(),
            durable: Stream::empty(),
            base: RateBase::Ops,
            amount: u64::from(commits),
            within: None,
            warmup: None,
            unit: Unit::from(OpKind::Write, OpKind::Fdatasync),
        }],
        space: u64::from(commits) * u64::from(record),
        group: vec![],
        largest_call: record,
    }
}
