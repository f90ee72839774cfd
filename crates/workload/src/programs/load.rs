//! A workload that the user defines: one pattern on one file, with a chosen block size, queue depth and schedule.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use units::{Bytes, Nanos};

use super::{FILE, PREPARING_CALL, data_durable, file_durable, prepared_file, quiet};
use crate::access::order::{Drawing, Order, WHOLE};
use crate::access::pattern::AccessPattern;
use crate::access::schedule::{Arrivals, Pace, Rates};
use crate::access::sizes::Sizes;
use crate::cache_state::Cache;
use crate::op::{Access, Durability, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::step::{Issue, Overlap, Steps};
use crate::stream::Stream;
use crate::stream_body::Body;

/// The access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Random reads.
    RandomRead,
    /// Random writes over existing data.
    RandomWrite,
    /// Random reads and writes.
    RandomMix {
        /// The percentage of reads, on average.
        reads: u8,
    },
    /// Sequential reads from the beginning of the file.
    Read,
    /// Sequential writes of a new file.
    Write,
    /// Appended records, each durable before the next.
    Commit,
}

impl Pattern {
    /// The name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Pattern::RandomRead => "randread",
            Pattern::RandomWrite => "randwrite",
            Pattern::RandomMix { .. } => "randrw",
            Pattern::Read => "read",
            Pattern::Write => "write",
            Pattern::Commit => "commit",
        }
    }

    /// Returns whether the pattern changes the file.
    pub const fn writes(self) -> bool {
        !matches!(self, Pattern::RandomRead | Pattern::Read)
    }

    /// The share of reads, in thousandths.
    const fn reads(self) -> u16 {
        match self {
            Pattern::RandomRead | Pattern::Read => WHOLE,
            Pattern::RandomMix { reads } => reads as u16 * (WHOLE / 100),
            Pattern::RandomWrite | Pattern::Write | Pattern::Commit => 0,
        }
    }

    /// Returns whether the whole file must exist beforehand.
    const fn needs_file(self) -> bool {
        !matches!(self, Pattern::Write | Pattern::Commit)
    }
}

/// The way in which ops are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Synchronous calls, one at a time.
    Sync,
    /// Asynchronous, with this queue depth.
    Deep(u32),
    /// Asynchronous, with this queue depth and a kernel thread that polls the submission queue.
    Polled(u32),
    /// Synchronous, as copies from and to a mapping of the file.
    Mapped,
    /// No op is issued.
    Null,
}

/// The settings of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// The access pattern.
    pub pattern: Pattern,
    /// Bytes per read, write or record.
    pub sizes: Sizes,
    /// The order of random accesses.
    pub drawing: Drawing,
    /// The distance in bytes between the starts of two consecutive blocks, if sequential accesses skip blocks: a
    /// multiple of the only size.
    pub stride: Option<u64>,
    /// True for direct I/O.
    pub direct: bool,
    /// The condition for which each write waits.
    pub sync: Durability,
    /// The number of writes after which an fsync follows, if there is one.
    pub fsync: Option<u32>,
    /// The number of writes after which an fdatasync follows, if there is one. Not with `fsync`.
    pub fdatasync: Option<u32>,
    /// The pause between two bursts of operations.
    pub think: Option<Nanos>,
    /// The number of operations between two pauses.
    pub burst: u32,
    /// The way in which ops are issued.
    pub queue: Queue,
    /// The number of concurrent programs. Each has its own file unless the user gave one.
    pub jobs: u32,
    /// The number of operations started per second by all programs together, and their distribution, for an open loop.
    /// Only a mix has two rates.
    pub rate: Option<(Rates, Arrivals)>,
    /// The time limit. A sequential workload ends earlier if it reaches the end of the file.
    pub time: Nanos,
    /// The time for which it runs beforehand without being measured, if it does.
    pub warmup: Option<Nanos>,
    /// The size of the file, if the user gave one.
    pub size: Option<Bytes>,
    /// True if the whole file is to be cached beforehand.
    pub warm: bool,
}

impl Load {
    /// This pattern for this time, with synchronous calls and default settings.
    pub const fn new(pattern: Pattern, sizes: Sizes, time: Nanos) -> Load {
        Load {
            pattern,
            sizes,
            drawing: Drawing::Replacement,
            stride: None,
            direct: false,
            sync: Durability::None,
            fsync: None,
            fdatasync: None,
            think: None,
            burst: 1,
            queue: Queue::Sync,
            jobs: 1,
            rate: None,
            time,
            warmup: None,
            size: None,
            warm: false,
        }
    }

    /// The program on a file of `bytes` bytes that it creates.
    pub fn program(&self, bytes: u64, seed: u64) -> Program {
        let prepare = match self.queue {
            Queue::Null => Stream::empty(),
            _ if self.needs_file() => prepared_file(Name::root(0), bytes),
            _ => quiet(),
        };
        let largest_call = self.sizes.largest().max(PREPARING_CALL);
        let space = if self.queue == Queue::Null { 0 } else { bytes };
        Program { prepare, space, largest_call, ..self.program_on(Name::root(0), bytes, seed) }
    }

    /// The program on a file of `bytes` bytes that the user gave.
    pub fn given(&self, bytes: u64, seed: u64) -> Program {
        self.program_on(Name::given(0), bytes, seed)
    }

    /// Returns whether the whole file must exist beforehand. With a stride, it would otherwise have holes.
    fn needs_file(&self) -> bool {
        self.pattern.needs_file() || self.stride.is_some()
    }

    fn program_on(&self, name: Name, bytes: u64, seed: u64) -> Program {
        let pattern = self.pattern;
        let smallest = self.sizes.smallest();
        let blocks = bytes / u64::from(smallest);
        let mode = Mode { direct: self.direct, durability: self.sync };
        let open = |access| Op::Open { name, handle: FILE, access, mode };
        let (opening, unit) = match pattern {
            Pattern::RandomRead | Pattern::Read => (open(Access::Read), Unit::from_kind(OpKind::ReadAt)),
            Pattern::RandomMix { .. } => (open(Access::ReadWrite), Unit::either(OpKind::ReadAt, OpKind::WriteAt)),
            Pattern::Write if !self.needs_file() => {
                (Op::Create { name, handle: FILE, mode }, Unit::from_kind(OpKind::WriteAt))
            }
            Pattern::RandomWrite | Pattern::Write => (open(Access::ReadWrite), Unit::from_kind(OpKind::WriteAt)),
            Pattern::Commit => (Op::Create { name, handle: FILE, mode }, Unit::from(OpKind::Write, OpKind::Fdatasync)),
        };
        let ops = if pattern == Pattern::Commit { 2 } else { 1 };
        let mut steps = Stream::open(vec![opening], self.body(bytes, seed)).shared_by(self.jobs);
        if let Some((rates, arrivals)) = self.rate {
            let pace = |rate, seed| Pace::new(rate, arrivals, ops, seed);
            steps = match rates {
                Rates::All(rate) => steps.paced(pace(rate, seed)),
                // Not the seed of the reads.
                Rates::Apart { reads, writes } => steps.paced_apart(pace(reads, seed), pace(writes, !seed)),
            };
        }
        if let Some(span) = self.think {
            steps = steps.thinking(span, ops, self.burst);
        }
        if let Some(every) = self.fdatasync {
            steps = steps.synced(Op::Fdatasync { handle: FILE }, every);
        }
        if let Some(every) = self.fsync {
            steps = steps.synced(Op::Fsync { handle: FILE }, every);
        }
        // A commit is already durable when it returns, and the null engine changes nothing.
        let changes = pattern.writes() && pattern != Pattern::Commit && self.queue != Queue::Null;
        let (data, durable) =
            if changes { (data_durable(FILE), file_durable(FILE)) } else { (Stream::empty(), Stream::empty()) };
        let is_in_order = matches!(pattern, Pattern::Read | Pattern::Write);
        let program = Program {
            name: pattern.name(),
            parameters: self.parameters(bytes, seed),
            prepare: Stream::empty(),
            phases: vec![Phase {
                name: pattern.name(),
                cache: self.cache(),
                steps,
                data,
                durable,
                base: if is_in_order { RateBase::Bytes } else { RateBase::Ops },
                amount: match pattern {
                    Pattern::Read | Pattern::Write => blocks * u64::from(smallest),
                    Pattern::Commit => blocks,
                    _ => u64::MAX,
                },
                within: None,
                warmup: self.warmup,
                unit,
            }],
            space: 0,
            group: vec![],
            largest_call: self.sizes.largest(),
        };
        match self.queue {
            Queue::Sync => program,
            Queue::Deep(depth) => overlapping(program, depth, self.sizes.largest()),
            Queue::Polled(depth) => polled(overlapping(program, depth, self.sizes.largest())),
            Queue::Mapped => issued(program, |_| Issue::Mapped),
            Queue::Null => issued(program, |_| Issue::Null),
        }
        .within(self.time)
    }

    /// The repeated part. Random accesses end only at the time limit. Sequential ones also end with the file.
    fn body(&self, bytes: u64, seed: u64) -> Body {
        let block = self.sizes.smallest();
        let is_in_order = matches!(self.pattern, Pattern::Read | Pattern::Write);
        let (order, bytes) = match (self.pattern, self.stride) {
            (Pattern::Commit, _) => {
                return Body::Commits { handle: FILE, length: block, left: bytes / u64::from(block) * 2 };
            }
            (_, Some(stride)) if is_in_order => (Order::Strided { blocks: stride / u64::from(block) }, bytes),
            _ if is_in_order => (Order::Sequential, bytes),
            // A pattern needs room for one access. A file that the user gave may be smaller; it is then not read.
            _ => (Order::Drawn(self.drawing), bytes.max(self.sizes.largest().into())),
        };
        let pattern = AccessPattern { order, sizes: self.sizes, reads: self.pattern.reads() };
        pattern.accesses(FILE, bytes, u64::MAX, seed).into()
    }

    /// The state of the page cache in which it starts. Reads through the page cache start cold, so that they reach the
    /// device. Writes to a file that exists start without its pages, because pages have the sizes of the writes that
    /// made the file. On ext4 of Linux 6.18, a write of `io randwrite --fsync 1` took 16 us with these pages, and 6 us
    /// without them (medians, in memory).
    pub fn cache(&self) -> Cache {
        match self.queue {
            Queue::Null => Cache::AsIs,
            _ if self.warm => Cache::Warm,
            _ if self.direct || !self.needs_file() => Cache::AsIs,
            _ if self.pattern.reads() > 0 => Cache::Cold,
            _ => Cache::Dropped,
        }
    }

    fn parameters(&self, bytes: u64, seed: u64) -> Vec<Parameter> {
        let mut parameters = vec![
            match self.sizes.only() {
                Some(block) => Parameter::new("buffer_bytes", block),
                None => Parameter::new("buffer_bytes", self.sizes.words().as_str()),
            },
            Parameter::new("file_bytes", bytes),
            Parameter::new("direct", self.direct),
            Parameter::new("iodepth", 1u32),
            Parameter::new("jobs", self.jobs),
            Parameter::new("seed", seed),
        ];
        if self.drawing != Drawing::Replacement {
            parameters.push(Parameter::new("order", self.drawing.to_string().as_str()));
        }
        if let Some(stride) = self.stride {
            parameters.push(Parameter::new("stride_bytes", stride));
        }
        match self.sync {
            Durability::None => {}
            Durability::Data => parameters.push(Parameter::new("sync", "dsync")),
            Durability::File => parameters.push(Parameter::new("sync", "sync")),
        }
        if let Some(every) = self.fsync {
            parameters.push(Parameter::new("fsync", every));
        }
        if let Some(every) = self.fdatasync {
            parameters.push(Parameter::new("fdatasync", every));
        }
        if let Some(span) = self.think {
            parameters.push(Parameter::new("think_ns", span.0));
            if self.burst > 1 {
                parameters.push(Parameter::new("burst", self.burst));
            }
        }
        if let Some(span) = self.warmup {
            parameters.push(Parameter::new("warmup_ns", span.0));
        }
        if let Pattern::RandomMix { reads } = self.pattern {
            parameters.push(Parameter::new("reads_percent", u32::from(reads)));
        }
        if let Some((rates, arrivals)) = self.rate {
            parameters.push(Parameter::new("rate", rates.sum()));
            if let Rates::Apart { writes, .. } = rates {
                parameters.push(Parameter::new("write_rate", writes));
            }
            parameters.push(Parameter::new("arrivals", arrivals.name()));
        }
        parameters
    }
}

/// Sets the queue depth of the program, and the largest size of its reads and writes in bytes.
pub fn overlapping(mut program: Program, depth: u32, largest: u32) -> Program {
    program.parameters.retain(|parameter| parameter.name != "iodepth");
    program.parameters.push(Parameter::new("iodepth", depth));
    issued(program, |steps| Issue::Async(Overlap { depth, largest, writes: steps.cuts().is_some(), polled: false }))
}

/// Lets a kernel thread poll the submission queue.
fn polled(program: Program) -> Program {
    issued(program, |steps| match steps.issue() {
        Issue::Async(overlap) => Issue::Async(Overlap { polled: true, ..overlap }),
        other => other,
    })
}

fn issued(mut program: Program, how: impl Fn(&Stream) -> Issue) -> Program {
    for phase in &mut program.phases {
        let steps = core::mem::replace(&mut phase.steps, Stream::empty());
        let issue = how(&steps);
        phase.steps = steps.issued(issue);
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Step;

    const LOAD: Load = Load { direct: true, ..Load::new(Pattern::RandomRead, Sizes::all(4096), Nanos::from_secs(1)) };

    #[test]
    fn only_writes_are_synced_and_commits_sync_themselves() {
        for (pattern, changes, prepares) in [
            (Pattern::RandomRead, false, true),
            (Pattern::RandomWrite, true, true),
            (Pattern::RandomMix { reads: 50 }, true, true),
            (Pattern::Read, false, true),
            (Pattern::Write, true, false),
            (Pattern::Commit, false, false),
        ] {
            let program = Load { pattern, ..LOAD }.program(1 << 20, 1);
            assert_eq!(program.phases[0].changes(), changes, "{}", program.name);
            assert_eq!(program.prepare.cuts().is_some(), prepares, "{}", program.name);
            let null = Load { pattern, queue: Queue::Null, ..LOAD }.program(1 << 20, 1);
            assert!(null.prepare.is_empty() && !null.phases[0].changes(), "{}", program.name);
        }
    }

    #[test]
    fn reads_start_cold_and_writes_start_without_old_pages() {
        let cached = |pattern| Load { pattern, direct: false, ..LOAD };
        for (load, state) in [
            (cached(Pattern::RandomRead), Cache::Cold),
            (cached(Pattern::Read), Cache::Cold),
            (cached(Pattern::RandomMix { reads: 50 }), Cache::Cold),
            (cached(Pattern::RandomWrite), Cache::Dropped),
            (Load { stride: Some(16384), ..cached(Pattern::Write) }, Cache::Dropped),
            // They have no file before.
            (cached(Pattern::Write), Cache::AsIs),
            (cached(Pattern::Commit), Cache::AsIs),
            (Load { warm: true, ..cached(Pattern::RandomWrite) }, Cache::Warm),
            (Load { pattern: Pattern::RandomWrite, ..LOAD }, Cache::AsIs),
            (Load { queue: Queue::Null, ..cached(Pattern::RandomRead) }, Cache::AsIs),
        ] {
            assert_eq!(load.cache(), state, "{load:?}");
        }
    }

    #[test]
    fn a_deep_queue_knows_its_largest_call_and_writes() {
        let deep = |pattern| {
            let program = Load { pattern, queue: Queue::Deep(32), ..LOAD }.program(1 << 20, 1);
            assert!(program.parameters.contains(&Parameter::new("iodepth", 32u32)));
            program.phases[0].steps.issue()
        };
        let overlap = |writes| Issue::Async(Overlap { depth: 32, largest: 4096, writes, polled: false });
        assert_eq!(deep(Pattern::RandomRead), overlap(false));
        assert_eq!(deep(Pattern::RandomMix { reads: 70 }), overlap(true));
        assert_eq!(deep(Pattern::Write), overlap(true));
    }

    #[test]
    fn strided_writes_write_each_block_of_an_existing_file_once() {
        let program = Load { pattern: Pattern::Write, stride: Some(16384), ..LOAD }.program(1 << 16, 1);
        assert!(program.prepare.cuts().is_some());
        let offsets: Vec<u64> = ops(&program)
            .filter_map(|op| if let Op::WriteAt { offset, .. } = op { Some(offset / 4096) } else { None })
            .collect();
        assert_eq!(offsets, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        assert_eq!(program.phases[0].amount, 1 << 16);
    }

    #[test]
    fn writes_use_the_requested_sync() {
        let program =
            Load { pattern: Pattern::Write, sync: Durability::Data, fsync: Some(3), ..LOAD }.program(1 << 15, 1);
        let opened = ops(&program).next();
        assert!(
            matches!(opened, Some(Op::Create { mode: Mode { durability: Durability::Data, .. }, .. })),
            "{opened:?}"
        );
        let syncs: Vec<usize> =
            ops(&program).enumerate().filter(|(_, op)| *op == Op::Fsync { handle: FILE }).map(|(at, _)| at).collect();
        // The ops are: create, three writes, fsync, three writes, fsync, two writes. The final sync belongs to another
        // stream.
        assert_eq!(syncs, [4, 8]);
    }

    /// Two blocks of a file, read over and over.
    #[test]
    fn a_warm_up_starts_over_at_the_end_of_the_file_until_its_time_has_passed() {
        let second = Nanos::from_secs(1);
        let read = Load { pattern: Pattern::Read, ..LOAD };
        let measured = read.program(8192, 1).phases[0].steps.clone();
        let pass: Vec<Step> = measured.clone().collect();
        assert_eq!(pass.len(), 3, "an open and two reads: the measured stream ends with its file");
        let mut warmup = measured.warming(second);
        let mut begun: Vec<Step> = Vec::new();
        while begun.len() < 7 {
            // As a world takes them.
            begun.extend(warmup.next_positioned().map(|io| Step::Op(io.into())).or_else(|| warmup.next()));
        }
        assert_eq!(begun, pass.iter().cycle().take(7).copied().collect::<Vec<Step>>());
        warmup.curtail();
        assert_eq!(warmup.next(), None);
        // Nothing to read: the file is not opened forever.
        let nothing = Load { sizes: Sizes::all(8192), ..read }.program(4096, 1);
        assert_eq!(nothing.phases[0].steps.warming(second).count(), 1);
        // The file of a commit does not grow: each pass creates it again.
        let commit = Load { pattern: Pattern::Commit, ..LOAD }.program(8192, 1).phases[0].steps.warming(second);
        let creates = commit.take(11).filter(|step| matches!(step, Step::Op(Op::Create { .. }))).count();
        assert_eq!(creates, 3, "after two commits each");
        // A schedule ends with the time, here in the second pass.
        let paced = Load { rate: Some((Rates::All(1_000), Arrivals::Constant)), ..read }.program(8192, 1);
        let steps: Vec<Step> = paced.phases[0].steps.warming(Nanos::from_millis(3)).collect();
        let reads = steps.iter().filter(|step| matches!(step, Step::Op(Op::ReadAt { .. }))).count();
        assert_eq!((reads, steps.last()), (3, Some(&Step::At(Nanos::from_millis(3)))));
    }

    #[test]
    fn only_files_that_a_warm_up_created_are_removed_after_it() {
        let removal = |load: Load| load.program(1 << 20, 1).phases[0].removal();
        for pattern in [Pattern::Write, Pattern::Commit] {
            let load = Load { pattern, ..LOAD };
            let removed: Vec<Step> = removal(load).collect();
            let name = Name::root(0);
            assert_eq!(removed, [Op::Close { handle: FILE }, Op::Unlink { name }, Op::Syncfs].map(Step::Op));
            assert!(load.given(1 << 20, 1).phases[0].removal().is_empty(), "the user's file");
            assert!(removal(Load { queue: Queue::Null, ..load }).is_empty(), "no file was created");
        }
        assert!(removal(Load { pattern: Pattern::Write, stride: Some(16384), ..LOAD }).is_empty());
        for pattern in [Pattern::Read, Pattern::RandomRead, Pattern::RandomWrite] {
            assert!(removal(Load { pattern, ..LOAD }).is_empty(), "{pattern:?}");
        }
    }

    fn ops(program: &Program) -> impl Iterator<Item = Op> {
        program.phases[0].steps.clone().filter_map(|step| if let Step::Op(op) = step { Some(op) } else { None })
    }

    #[test]
    fn every_setting_is_in_the_cell_key() {
        let sizes = Sizes::shared(&[(4096, 60), (65536, 40)]).expect("sizes");
        let drawing = Drawing::Zipf { thousandths: 990 };
        let load = Load { sizes, drawing, jobs: 4, think: Some(Nanos(5)), fsync: Some(2), ..LOAD };
        let program = Load { pattern: Pattern::RandomWrite, sync: Durability::File, ..load }.program(1 << 20, 1);
        for parameter in [
            Parameter::new("buffer_bytes", "4096:60,65536:40"),
            Parameter::new("order", "zipf:0.99"),
            Parameter::new("jobs", 4u32),
            Parameter::new("think_ns", 5u32),
            Parameter::new("fsync", 2u32),
            Parameter::new("sync", "sync"),
        ] {
            assert!(program.parameters.contains(&parameter), "{parameter:?} {:?}", program.parameters);
        }
    }
}
