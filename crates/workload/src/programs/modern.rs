//! Modern workloads: one small block at a time, and the commit of a database.

use alloc::vec;
use alloc::vec::Vec;

use super::{FILE, PREPARING_CALL, create, prepared_file, quiet};
use crate::access::order::Placing;
use crate::access::places::Places;
use crate::body::Body;
use crate::cache::Cache;
use crate::op::{Access, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;

/// `randread`: `reads` blocks of a file of `bytes` bytes, each block at most once, in random order, with direct I/O.
pub fn random_read(bytes: u64, block: u32, reads: u32, seed: u64) -> Program {
    let file = Name::root(0);
    let blocks = u32::try_from(bytes / u64::from(block)).expect("fewer than 2^32 blocks");
    let reads = reads.min(blocks);
    let places = Places::new(false, FILE, block, (reads, blocks), Placing::Permutation, seed);
    Program {
        prepare: prepared_file(file, bytes),
        space: bytes,
        largest_call: block.max(PREPARING_CALL),
        ..reading(file, bytes, block, reads, seed, places)
    }
}

/// As [`random_read`], on a file that the user gave, which is neither created nor removed. The blocks are drawn with
/// replacement.
pub fn random_read_given(bytes: u64, block: u32, reads: u32, seed: u64) -> Program {
    let blocks = bytes / u64::from(block);
    let reads = u64::from(reads).min(blocks) as u32;
    let places = Places::drawn(false, FILE, block, (u64::from(reads), blocks), seed);
    reading(Name::given(0), bytes, block, reads, seed, places)
}

/// Reads these places of an existing file.
fn reading(name: Name, bytes: u64, block: u32, reads: u32, seed: u64, places: Places) -> Program {
    let mode = Mode { direct: true, ..Mode::default() };
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
            steps: Stream::open(opening, Body::Places(places)),
            data: Stream::empty(),
            durable: Stream::empty(),
            base: RateBase::Ops,
            amount: u64::from(reads),
            within: None,
            unit: Unit::of(OpKind::ReadAt),
        }],
        space: 0,
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
            unit: Unit::from(OpKind::Write, OpKind::Fdatasync),
        }],
        space: u64::from(commits) * u64::from(record),
        largest_call: record,
    }
}
