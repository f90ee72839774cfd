//! The programs of a course lab on log-structured file systems (about 2002): `bw`, `smallfb`, `largefb`. `smallfb` and
//! `largefb` descend from the small-file and large-file tests of Rosenblum & Ousterhout (SOSP 1991, figures 8 and 9).
//! Details that the two tests left open are options here.

use alloc::vec;
use alloc::vec::Vec;

use super::{FILE, PREPARING_CALL, calls, create, data_durable, file_durable, open};
use crate::access::order::{Drawing, Order};
use crate::access::pattern::AccessPattern;
use crate::cache_state::Cache;
use crate::op::{Access, Handle, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;
use crate::stream_body::{Body, FileAction, FileOrder, Files, Layout};

/// The phase that reads through the flush file. It precedes each reading phase of a program with such a file, and
/// evicts as much of the cache as the size of the file allows.
pub const FLUSH: &str = "flush";

/// The flush file. `smallfb` never reaches its number.
const FLUSH_FILE: Name = Name::root(u32::MAX);

/// The points at which `smallfb` waits for its files to be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallSync {
    /// Never.
    None,
    /// At the end of `creat` only.
    Create,
    /// At the end of `creat` and of `delete`: fsync of every directory touched, then syncfs.
    #[default]
    Phase,
    /// Also an fsync of every file before its close.
    File,
}

impl SmallSync {
    const fn name(self) -> &'static str {
        match self {
            SmallSync::None => "none",
            SmallSync::Create => "create",
            SmallSync::Phase => "phase",
            SmallSync::File => "file",
        }
    }
}

/// `smallfb`: creates small files, reads them, deletes them.
#[derive(Clone, Copy, Debug)]
pub struct SmallFiles {
    /// The number of files.
    pub files: u32,
    /// Bytes per file.
    pub bytes: u32,
    /// The distribution over directories.
    pub layout: Layout,
    /// The order in which the files are read.
    pub order: FileOrder,
    /// The fewest bytes that a file takes on the file system.
    pub block_bytes: u64,
    /// The points at which the program waits for durability.
    pub sync: SmallSync,
    /// The seed of a random order.
    pub seed: u64,
    /// Bytes of the flush file, a multiple of 64 KiB; `None` for no flush file.
    pub flush: Option<u64>,
}

impl SmallFiles {
    /// The settings of the ancestors: 100 directories, consecutive files together, read in creation order. Blocks of
    /// 4096 bytes.
    pub fn new(files: u32, bytes: u32) -> SmallFiles {
        SmallFiles {
            files,
            bytes,
            layout: Layout::Consecutive(100),
            order: FileOrder::Creation,
            block_bytes: 4096,
            sync: SmallSync::Phase,
            seed: 1,
            flush: None,
        }
    }

    /// The maximum number of bytes that its files use: whole blocks, and at least one per file.
    pub fn space(self) -> u64 {
        let file = u64::from(self.bytes.max(1)).next_multiple_of(self.block_bytes);
        u64::from(self.files).saturating_mul(file).saturating_add(self.flush.unwrap_or(0))
    }

    /// The program with these settings.
    pub fn program(self) -> Program {
        let durable = || match self.sync {
            SmallSync::None => Stream::empty(),
            SmallSync::Create | SmallSync::Phase | SmallSync::File => {
                let directories = self.layout.touched(self.files).into_iter();
                let mut ops: Vec<Op> = directories.map(|directory| Op::FsyncDirectory { directory }).collect();
                ops.push(Op::Syncfs);
                Stream::from_ops(ops)
            }
        };
        let phase = |name, cache, deed, order, durable, unit| Phase {
            name,
            cache,
            steps: Stream::open(
                Vec::new(),
                Body::Files(Files::new(deed, self.layout, self.files, self.bytes, order, self.seed)),
            ),
            data: Stream::empty(),
            durable,
            base: RateBase::Files,
            amount: u64::from(self.files),
            within: None,
            warmup: None,
            unit,
        };
        let make = FileAction::Make { fsync: self.sync == SmallSync::File };
        let directories = self.layout.directories().map(|directory| Op::Mkdir { directory });
        let prepare = prepare(directories.collect(), self.flush);
        let (layout, directories) = match self.layout {
            Layout::One => ("one", 1),
            Layout::Consecutive(count) => ("consecutive", count),
            Layout::Modulo(count) => ("modulo", count),
        };
        let order = match self.order {
            FileOrder::Creation => "creation",
            FileOrder::Random => "random",
        };
        let mut parameters = vec![
            Parameter::new("files", self.files),
            Parameter::new("file_bytes", self.bytes),
            Parameter::new("layout", layout),
            Parameter::new("directories", u32::from(directories)),
            Parameter::new("order", order),
            Parameter::new("sync", self.sync.name()),
        ];
        parameters.extend(flush_parameter(self.flush));
        Program {
            name: "smallfb",
            parameters,
            prepare,
            phases: flushed(
                self.flush,
                vec![
                    phase(
                        "creat",
                        Cache::AsIs,
                        make,
                        FileOrder::Creation,
                        durable(),
                        Unit::from(OpKind::Create, OpKind::Close),
                    ),
                    phase(
                        "read",
                        Cache::Cold,
                        FileAction::Take,
                        self.order,
                        Stream::empty(),
                        Unit::from(OpKind::Open, OpKind::Close),
                    ),
                    phase(
                        "delete",
                        Cache::AsIs,
                        FileAction::Remove,
                        FileOrder::Creation,
                        if self.sync == SmallSync::Create { Stream::empty() } else { durable() },
                        Unit::from_kind(OpKind::Unlink),
                    ),
                ],
            ),
            space: self.space(),
            group: vec![],
            largest_call: largest_call(self.bytes, self.flush),
        }
    }
}

/// The order in which `largefb` accesses the blocks of its file at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeOrder {
    /// Every block once, in random order.
    Permutation,
    /// As many random blocks as the file has, drawn with replacement: some blocks repeat, others are never accessed.
    Replacement,
    /// Every block once, a fixed number of blocks apart.
    Stride(u32),
}

impl From<LargeOrder> for Order {
    fn from(order: LargeOrder) -> Order {
        match order {
            LargeOrder::Permutation => Order::Shuffled,
            LargeOrder::Replacement => Order::Drawn(Drawing::Replacement),
            LargeOrder::Stride(blocks) => Order::Around(blocks),
        }
    }
}

/// `largefb`: writes and reads one large file, sequentially and at random.
#[derive(Clone, Copy, Debug)]
pub struct LargeFile {
    /// The file's size.
    pub bytes: u64,
    /// The order of the random phases.
    pub order: LargeOrder,
    /// True if no phase changes the cache: each phase finds in memory the pages that the phase before it left there.
    pub as_is: bool,
    /// The seed of the random order.
    pub seed: u64,
    /// Bytes of the flush file, a multiple of 64 KiB; `None` for no flush file.
    pub flush: Option<u64>,
}

/// Bytes per call of `largefb`, as its first line of output says.
pub const LARGE_CALL: u32 = 4096;

impl LargeFile {
    /// Accesses every block once in random order.
    pub fn new(bytes: u64) -> LargeFile {
        LargeFile { bytes, order: LargeOrder::Permutation, as_is: false, seed: 1, flush: None }
    }

    /// The maximum number of bytes in its files.
    pub fn space(self) -> u64 {
        self.bytes.saturating_add(self.flush.unwrap_or(0))
    }

    /// The program with these settings. Panics unless the size is a whole number of calls, fewer than 2^32.
    pub fn program(self) -> Program {
        let file = Name::root(0);
        let blocks = u32::try_from(self.bytes / u64::from(LARGE_CALL)).expect("fewer than 2^32 blocks");
        let sequential = |opening, call| Stream::open(vec![opening], calls(call, LARGE_CALL, self.bytes));
        let random = |access, write, seed| {
            let pattern = AccessPattern::new(self.order.into(), LARGE_CALL, write);
            let accesses = pattern.accesses(FILE, self.bytes, blocks.into(), seed);
            Stream::open(vec![open(file, FILE, access)], accesses.into())
        };
        let read = Op::Read { handle: FILE, length: LARGE_CALL };
        let write = Op::Write { handle: FILE, length: LARGE_CALL };
        let reading = |name, steps, kind| Phase {
            name,
            cache: if self.as_is { Cache::AsIs } else { Cache::Cold },
            steps,
            data: Stream::empty(),
            durable: Stream::empty(),
            base: RateBase::Bytes,
            amount: self.bytes,
            within: None,
            warmup: None,
            unit: Unit::from_kind(kind),
        };
        let writing = |name, steps, kind| Phase {
            cache: Cache::AsIs,
            data: data_durable(FILE),
            durable: file_durable(FILE),
            ..reading(name, steps, kind)
        };
        let random_order = match self.order {
            LargeOrder::Permutation => "permutation",
            LargeOrder::Replacement => "replacement",
            LargeOrder::Stride(_) => "stride",
        };
        let mut parameters = vec![
            Parameter::new("file_bytes", self.bytes),
            Parameter::new("buffer_bytes", LARGE_CALL),
            Parameter::new("random", random_order),
            Parameter::new("seed", self.seed),
        ];
        if let LargeOrder::Stride(stride) = self.order {
            parameters.push(Parameter::new("stride", stride));
        }
        parameters.extend(flush_parameter(self.flush));
        Program {
            name: "largefb",
            parameters,
            prepare: prepare(Vec::new(), self.flush),
            phases: flushed(
                self.flush,
                vec![
                    writing("write sequential", sequential(create(file, FILE), write), OpKind::Write),
                    reading("read sequential", sequential(open(file, FILE, Access::Read), read), OpKind::Read),
                    writing("write random", random(Access::ReadWrite, true, self.seed), OpKind::WriteAt),
                    // The next seed, so that the reads have another order than the writes.
                    reading("read random", random(Access::Read, false, self.seed.wrapping_add(1)), OpKind::ReadAt),
                    reading("read sequential again", sequential(open(file, FILE, Access::Read), read), OpKind::Read),
                ],
            ),
            space: self.space(),
            group: vec![],
            largest_call: largest_call(LARGE_CALL, self.flush),
        }
    }
}

/// Performs these ops, then creates the flush file, if there is one. Ends with a sync.
fn prepare(mut ops: Vec<Op>, flush: Option<u64>) -> Stream {
    let Some(bytes) = flush else {
        ops.push(Op::Syncfs);
        return Stream::from_ops(ops);
    };
    ops.push(create(FLUSH_FILE, FILE));
    let write = Op::Write { handle: FILE, length: PREPARING_CALL };
    let closing = vec![Op::Fsync { handle: FILE }, Op::Close { handle: FILE }, Op::Syncfs];
    Stream::open(ops, calls(write, PREPARING_CALL, bytes)).then(closing)
}

/// Inserts a read of the flush file before each reading phase. The phases do not change the cache in any other way.
fn flushed(flush: Option<u64>, phases: Vec<Phase>) -> Vec<Phase> {
    let Some(bytes) = flush else { return phases };
    let handle = Handle::new(1);
    let call = Op::Read { handle, length: PREPARING_CALL };
    let through = Stream::open(vec![open(FLUSH_FILE, handle, Access::Read)], calls(call, PREPARING_CALL, bytes));
    let flush = Phase {
        name: FLUSH,
        cache: Cache::AsIs,
        steps: through.then(vec![Op::Close { handle }]),
        data: Stream::empty(),
        durable: Stream::empty(),
        base: RateBase::Bytes,
        amount: bytes,
        within: None,
        warmup: None,
        unit: Unit::from_kind(OpKind::Read),
    };
    let reads = |phase: &Phase| phase.name.starts_with("read");
    let phases = phases.into_iter().map(|phase| Phase { cache: Cache::AsIs, ..phase });
    phases.flat_map(|phase| if reads(&phase) { vec![flush.clone(), phase] } else { vec![phase] }).collect()
}

fn flush_parameter(flush: Option<u64>) -> Option<Parameter> {
    flush.map(|bytes| Parameter::new("flush_bytes", bytes))
}

fn largest_call(call: u32, flush: Option<u64>) -> u32 {
    if flush.is_some() { call.max(PREPARING_CALL) } else { call }
}

/// Bytes per call of `bw -b`. The lab does not state its own; it counts in units of one MiB.
pub const RAW_CALL: u32 = 1 << 20;

/// `bw -b`: reads the first `mib` MiB of the device or file that the user gave. `direct` bypasses the page cache.
pub fn raw_bandwidth(mib: u64, direct: bool) -> Program {
    let bytes = mib * u64::from(RAW_CALL);
    let read = Op::Read { handle: FILE, length: RAW_CALL };
    raw("bw -b", calls(read, RAW_CALL, bytes), RateBase::Bytes, bytes, RAW_CALL, direct)
}

/// `bw -l`: `reads` reads of one block each, uniformly distributed over `blocks` blocks of the device or file that the
/// user gave.
pub fn raw_latency(reads: u32, block_bytes: u32, blocks: u64, direct: bool, seed: u64) -> Program {
    let (bytes, reads) = (blocks.max(1) * u64::from(block_bytes), u64::from(reads));
    let accesses = AccessPattern::uniform(block_bytes, false).accesses(FILE, bytes, reads, seed);
    let mut program = raw("bw -l", accesses.into(), RateBase::Ops, reads, block_bytes, direct);
    program.parameters.push(Parameter::new("seed", seed));
    program
}

/// The file is opened in the preparation, so that the phase has only reads.
fn raw(name: &'static str, reads: Body, base: RateBase, amount: u64, call: u32, direct: bool) -> Program {
    let mode = Mode { direct, ..Mode::default() };
    let given = Op::Open { name: Name::given(0), handle: FILE, access: Access::Read, mode };
    // Direct reads bypass the page cache.
    let cache = if direct { Cache::AsIs } else { Cache::Cold };
    let unit = Unit::from_kind(if base == RateBase::Ops { OpKind::ReadAt } else { OpKind::Read });
    Program {
        name,
        parameters: vec![
            Parameter::new("amount", amount),
            Parameter::new("buffer_bytes", call),
            Parameter::new("direct", direct),
        ],
        prepare: Stream::from_ops(vec![given]),
        phases: vec![Phase {
            name: "read",
            cache,
            steps: Stream::open(Vec::new(), reads),
            data: Stream::empty(),
            durable: Stream::empty(),
            base,
            amount,
            within: None,
            warmup: None,
            unit,
        }],
        space: 0,
        group: vec![],
        largest_call: call,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(program: &Program) -> Vec<&'static str> {
        program.phases.iter().map(|phase| phase.name).collect()
    }

    #[test]
    fn the_flush_file_is_read_before_reading_phases_only() {
        let small = SmallFiles { flush: Some(1 << 20), ..SmallFiles::new(10, 1024) };
        assert_eq!(names(&small.program()), ["creat", FLUSH, "read", "delete"]);
        let large = LargeFile { flush: Some(1 << 20), ..LargeFile::new(8192) };
        let expected = [
            "write sequential",
            FLUSH,
            "read sequential",
            "write random",
            FLUSH,
            "read random",
            FLUSH,
            "read sequential again",
        ];
        assert_eq!(names(&large.program()), expected);
        assert_eq!((small.space(), large.space()), (10 * 4096 + (1 << 20), 8192 + (1 << 20)));
        // exFAT with clusters of 128 KiB.
        let clusters = SmallFiles { block_bytes: 128 << 10, ..SmallFiles::new(10, 1024) };
        assert_eq!((clusters.space(), clusters.program().space), (10 * (128 << 10), 10 * (128 << 10)));
        assert!(large.program().phases.iter().all(|phase| phase.cache == Cache::AsIs));
        assert_eq!(names(&SmallFiles::new(10, 1024).program()), ["creat", "read", "delete"]);
    }

    #[test]
    fn the_cache_stays_as_it_is_if_asked() {
        let cold = |as_is| {
            let program = LargeFile { as_is, ..LargeFile::new(8192) }.program();
            program.phases.iter().filter(|phase| phase.cache == Cache::Cold).count()
        };
        assert_eq!((cold(false), cold(true)), (3, 0));
    }

    #[test]
    fn deletes_end_without_a_sync_if_only_creation_has_one() {
        let durable = |sync| {
            let program = SmallFiles { sync, ..SmallFiles::new(10, 1024) }.program();
            program.phases.iter().map(|phase| phase.durable.is_empty()).collect::<Vec<bool>>()
        };
        assert_eq!(durable(SmallSync::Create), [false, true, true]);
        assert_eq!(durable(SmallSync::Phase), [false, true, false]);
    }

    #[test]
    fn raw_programs_open_their_device_before_timing() {
        for program in [raw_bandwidth(4, true), raw_latency(4, 512, 1 << 40, true, 1)] {
            assert_eq!(program.prepare.count(), 1);
            assert_eq!(program.phases[0].steps.clone().count(), 4);
        }
    }
}
