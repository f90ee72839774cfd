//! The programs of a course lab on log-structured file systems (about 2002): `bw`, `smallfb`, `largefb`.
//! `smallfb` and `largefb` descend from the small-file and large-file tests of Rosenblum & Ousterhout
//! (SOSP 1991, figures 8 and 9). What those left open is an option here.

use alloc::vec;
use alloc::vec::Vec;

use super::{FILE, calls, create, data_durable, file_durable, open, quiet};
use crate::body::{Body, Deed, Files, Layout, Order, Places, Placing};
use crate::cache::Cache;
use crate::op::{Access, Directory, Mode, Name, Op, OpKind};
use crate::program::{Base, Parameter, Phase, Program, Unit};
use crate::stream::Stream;

/// When `smallfb` waits for its files to be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallSync {
    /// Never.
    None,
    /// At the end of `creat` and of `delete`: every directory touched, then the whole file system.
    #[default]
    Phase,
    /// Also at every file, before it is closed.
    File,
}

impl SmallSync {
    const fn name(self) -> &'static str {
        match self {
            SmallSync::None => "none",
            SmallSync::Phase => "phase",
            SmallSync::File => "file",
        }
    }
}

/// `smallfb`: creates small files, reads them, deletes them.
#[derive(Clone, Copy, Debug)]
pub struct SmallFiles {
    /// How many files.
    pub files: u32,
    /// Bytes in each.
    pub bytes: u32,
    /// Where they lie.
    pub layout: Layout,
    /// In which order they are read.
    pub order: Order,
    /// When the program waits for durability.
    pub sync: SmallSync,
    /// The seed of a random order.
    pub seed: u64,
}

impl SmallFiles {
    /// As the ancestors did it: 100 directories, consecutive files together, read in creation order.
    pub fn new(files: u32, bytes: u32) -> SmallFiles {
        SmallFiles {
            files,
            bytes,
            layout: Layout::Consecutive(100),
            order: Order::Creation,
            sync: SmallSync::Phase,
            seed: 1,
        }
    }

    /// The program of these settings.
    pub fn program(self) -> Program {
        let durable = || match self.sync {
            SmallSync::None => Stream::empty(),
            SmallSync::Phase | SmallSync::File => {
                let directories = self.layout.touched().into_iter();
                let mut ops: Vec<Op> = directories.map(|directory| Op::FsyncDirectory { directory }).collect();
                ops.push(Op::Syncfs);
                Stream::of(ops)
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
            base: Base::Files,
            amount: u64::from(self.files),
            unit,
        };
        let make = Deed::Make { fsync: self.sync == SmallSync::File };
        let mut prepare: Vec<Op> = self.layout.directories().map(|directory| Op::Mkdir { directory }).collect();
        prepare.push(Op::Syncfs);
        let (layout, directories) = match self.layout {
            Layout::One => ("one", 1),
            Layout::Consecutive(count) => ("consecutive", count),
            Layout::Modulo(count) => ("modulo", count),
        };
        let order = match self.order {
            Order::Creation => "creation",
            Order::Random => "random",
        };
        Program {
            name: "smallfb",
            parameters: vec![
                Parameter::new("files", self.files),
                Parameter::new("file_bytes", self.bytes),
                Parameter::new("layout", layout),
                Parameter::new("directories", u32::from(directories)),
                Parameter::new("order", order),
                Parameter::new("sync", self.sync.name()),
            ],
            prepare: Stream::of(prepare),
            phases: vec![
                phase(
                    "creat",
                    Cache::AsIs,
                    make,
                    Order::Creation,
                    durable(),
                    Unit { first: OpKind::Create, last: OpKind::Close },
                ),
                phase(
                    "read",
                    Cache::Cold,
                    Deed::Take,
                    self.order,
                    Stream::empty(),
                    Unit { first: OpKind::Open, last: OpKind::Close },
                ),
                phase("delete", Cache::AsIs, Deed::Remove, Order::Creation, durable(), Unit::of(OpKind::Unlink)),
            ],
            // A block of 4096 bytes at least for every file.
            space: u64::from(self.files) * u64::from(self.bytes.max(1)).next_multiple_of(4096),
            largest_call: self.bytes,
        }
    }
}

/// `largefb`: writes and reads one large file, in order and at random.
#[derive(Clone, Copy, Debug)]
pub struct LargeFile {
    /// The file's size.
    pub bytes: u64,
    /// What "random" means.
    pub placing: Placing,
    /// The seed of the random order.
    pub seed: u64,
}

/// Bytes per call of `largefb`, as its first line says.
pub const LARGE_CALL: u32 = 4096;

impl LargeFile {
    /// Every block once, in random order.
    pub fn new(bytes: u64) -> LargeFile {
        LargeFile { bytes, placing: Placing::Permutation, seed: 1 }
    }

    /// The program of these settings. Panics unless the size is a whole number of calls, fewer than 2^32.
    pub fn program(self) -> Program {
        let file = Name::root(0);
        let blocks = u32::try_from(self.bytes / u64::from(LARGE_CALL)).expect("fewer than 2^32 blocks");
        let sequential = |opening, call| Stream::open(vec![opening], calls(call, LARGE_CALL, self.bytes));
        let random = |access, write, seed| {
            let places = Places::new(write, FILE, LARGE_CALL, (blocks, blocks), self.placing, seed);
            Stream::open(vec![open(file, FILE, access)], Body::Places(places))
        };
        let read = Op::Read { handle: FILE, length: LARGE_CALL };
        let write = Op::Write { handle: FILE, length: LARGE_CALL };
        let reading = |name, steps, kind| Phase {
            name,
            cache: Cache::Cold,
            steps,
            data: Stream::empty(),
            durable: Stream::empty(),
            base: Base::Bytes,
            amount: self.bytes,
            unit: Unit::of(kind),
        };
        let writing = |name, steps, kind| Phase {
            cache: Cache::AsIs,
            data: data_durable(FILE),
            durable: file_durable(FILE),
            ..reading(name, steps, kind)
        };
        let placing = match self.placing {
            Placing::Permutation => "permutation",
            Placing::Replacement => "replacement",
            Placing::Stride(_) => "stride",
        };
        Program {
            name: "largefb",
            parameters: vec![
                Parameter::new("file_bytes", self.bytes),
                Parameter::new("buffer_bytes", LARGE_CALL),
                Parameter::new("random", placing),
                Parameter::new("seed", self.seed),
            ],
            prepare: quiet(),
            phases: vec![
                writing("write sequential", sequential(create(file, FILE), write), OpKind::Write),
                reading("read sequential", sequential(open(file, FILE, Access::Read), read), OpKind::Read),
                writing("write random", random(Access::ReadWrite, true, self.seed), OpKind::WriteAt),
                // Another order than that of the writes: the next seed.
                reading("read random", random(Access::Read, false, self.seed.wrapping_add(1)), OpKind::ReadAt),
                reading("read sequential again", sequential(open(file, FILE, Access::Read), read), OpKind::Read),
            ],
            space: self.bytes,
            largest_call: LARGE_CALL,
        }
    }
}

/// Bytes per call of `bw -b`. The lab does not say what it used; one MiB is its own unit of counting.
pub const RAW_CALL: u32 = 1 << 20;

/// `bw -b`: reads the first `mib` MiB of the device or file that the user gave, past the page cache where
/// `direct` is set.
pub fn raw_bandwidth(mib: u64, direct: bool) -> Program {
    let bytes = mib * u64::from(RAW_CALL);
    let read = Op::Read { handle: FILE, length: RAW_CALL };
    let opening = vec![given(direct)];
    raw("bw -b", Stream::open(opening, calls(read, RAW_CALL, bytes)), Base::Bytes, bytes, RAW_CALL, direct)
}

/// `bw -l`: `reads` reads of one block each, uniformly over `blocks` blocks of the device or file that the
/// user gave.
pub fn raw_latency(reads: u32, block_bytes: u32, blocks: u32, direct: bool, seed: u64) -> Program {
    let places = Places::new(false, FILE, block_bytes, (reads, blocks), Placing::Replacement, seed);
    let steps = Stream::open(vec![given(direct)], Body::Places(places));
    let mut program = raw("bw -l", steps, Base::Ops, u64::from(reads), block_bytes, direct);
    program.parameters.push(Parameter::new("seed", seed));
    program
}

fn given(direct: bool) -> Op {
    let mode = Mode { direct, ..Mode::default() };
    Op::Open { name: Name { directory: Directory::GIVEN, number: 0 }, handle: FILE, access: Access::Read, mode }
}

fn raw(name: &'static str, steps: Stream, base: Base, amount: u64, call: u32, direct: bool) -> Program {
    // Direct reads go past the page cache, whatever it holds.
    let cache = if direct { Cache::AsIs } else { Cache::Cold };
    let unit = Unit::of(if base == Base::Ops { OpKind::ReadAt } else { OpKind::Read });
    Program {
        name,
        parameters: vec![
            Parameter::new("amount", amount),
            Parameter::new("buffer_bytes", call),
            Parameter::new("direct", direct),
        ],
        prepare: Stream::empty(),
        phases: vec![Phase {
            name: "read",
            cache,
            steps,
            data: Stream::empty(),
            durable: Stream::empty(),
            base,
            amount,
            unit,
        }],
        space: 0,
        largest_call: call,
    }
}
