//! A load of a person's own: one pattern on one file, with a block size, a depth and a schedule of choice.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use units::{Bytes, Nanos};

use super::{FILE, PREPARING_CALL, data_durable, file_durable, prepared_file, quiet};
use crate::access::order::Drawing;
use crate::access::places::Places;
use crate::access::schedule::{Arrivals, Pace};
use crate::access::varied::{Sizes, Thousandths, Varied};
use crate::body::Body;
use crate::cache::Cache;
use crate::op::{Access, Durability, Mode, Name, Op, OpKind};
use crate::program::{Base, Parameter, Phase, Program, Unit};
use crate::step::{Issue, Overlap, Steps};
use crate::stream::Stream;

/// What is done to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Blocks are read at places drawn at random.
    RandomRead,
    /// Blocks are written over at places drawn at random.
    RandomWrite,
    /// Both, so many in a hundred of them reads.
    RandomMix {
        /// Of a hundred, on average.
        reads: u8,
    },
    /// The file is read from its beginning.
    Read,
    /// The file is written anew from its beginning.
    Write,
    /// Records are appended, each durable before the next.
    Commit,
}

impl Pattern {
    /// What the program is called.
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

    /// Whether it changes the file.
    pub const fn writes(self) -> bool {
        !matches!(self, Pattern::RandomRead | Pattern::Read)
    }

    /// Whether the file is there beforehand, in full.
    const fn needs_file(self) -> bool {
        !matches!(self, Pattern::Write | Pattern::Commit)
    }
}

/// How its ops are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// One call after the other.
    InTurn,
    /// So many at once.
    Deep(u32),
    /// So many at once, which a thread of the kernel looks for.
    Polled(u32),
    /// One after the other, as copies from and to memory that the file is mapped into.
    Mapped,
    /// Not at all.
    Nowhere,
}

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// What is done.
    pub pattern: Pattern,
    /// Bytes of its reads, its writes, its records.
    pub sizes: Sizes,
    /// In which order, where that is random.
    pub drawing: Drawing,
    /// How many bytes apart the starts of two blocks are that are read or written in order, where they do not follow
    /// upon each other: a multiple of the one size.
    pub stride: Option<u64>,
    /// Whether it goes past the page cache.
    pub direct: bool,
    /// What each write waits for.
    pub sync: Durability,
    /// After how many writes an fsync comes, where one does.
    pub fsync: Option<u32>,
    /// How long it does something else between two operations.
    pub think: Option<Nanos>,
    /// How its ops are issued.
    pub queue: Queue,
    /// How many programs do it at once, each on a file of its own where that is not given.
    pub jobs: u32,
    /// How many begin in a second, of all programs together, where a schedule says so: an open loop.
    pub rate: Option<(u32, Arrivals)>,
    /// When it ends, where the end of the file is not reached before.
    pub time: Nanos,
    /// How large the file is, where that was said.
    pub size: Option<Bytes>,
    /// Whether all of the file is in memory beforehand.
    pub warm: bool,
}

impl Load {
    /// Just this, one after the other, for so long.
    pub const fn new(pattern: Pattern, sizes: Sizes, time: Nanos) -> Load {
        Load {
            pattern,
            sizes,
            drawing: Drawing::Replacement,
            stride: None,
            direct: false,
            sync: Durability::None,
            fsync: None,
            think: None,
            queue: Queue::InTurn,
            jobs: 1,
            rate: None,
            time,
            size: None,
            warm: false,
        }
    }

    /// The program, on a file of `bytes` bytes that it makes.
    pub fn program(&self, bytes: u64, seed: u64) -> Program {
        let prepare = match self.queue {
            Queue::Nowhere => Stream::empty(),
            _ if self.needs_file() => prepared_file(Name::root(0), bytes),
            _ => quiet(),
        };
        let largest_call = self.sizes.largest().max(PREPARING_CALL);
        let space = if self.queue == Queue::Nowhere { 0 } else { bytes };
        Program { prepare, space, largest_call, ..self.on(Name::root(0), bytes, seed) }
    }

    /// The program, on a file of `bytes` bytes that the user gave.
    pub fn given(&self, bytes: u64, seed: u64) -> Program {
        self.on(Name::given(0), bytes, seed)
    }

    /// Whether the file is there beforehand, in full. With a stride it would have holes else.
    fn needs_file(&self) -> bool {
        self.pattern.needs_file() || self.stride.is_some()
    }

    fn on(&self, name: Name, bytes: u64, seed: u64) -> Program {
        let pattern = self.pattern;
        let smallest = self.sizes.smallest();
        let blocks = bytes / u64::from(smallest);
        let mode = Mode { direct: self.direct, durability: self.sync };
        let open = |access| Op::Open { name, handle: FILE, access, mode };
        let (opening, unit) = match pattern {
            Pattern::RandomRead | Pattern::Read => (open(Access::Read), Unit::of(OpKind::ReadAt)),
            Pattern::RandomMix { .. } => (open(Access::ReadWrite), Unit::either(OpKind::ReadAt, OpKind::WriteAt)),
            Pattern::Write if !self.needs_file() => {
                (Op::Create { name, handle: FILE, mode }, Unit::of(OpKind::WriteAt))
            }
            Pattern::RandomWrite | Pattern::Write => (open(Access::ReadWrite), Unit::of(OpKind::WriteAt)),
            Pattern::Commit => (Op::Create { name, handle: FILE, mode }, Unit::from(OpKind::Write, OpKind::Fdatasync)),
        };
        let ops = if pattern == Pattern::Commit { 2 } else { 1 };
        let mut steps = Stream::open(vec![opening], self.body(bytes, seed)).shared_by(self.jobs);
        if let Some((rate, arrivals)) = self.rate {
            steps = steps.paced(Pace::new(rate, arrivals, ops, seed));
        }
        if let Some(span) = self.think {
            steps = steps.thinking(span, ops);
        }
        if let Some(every) = self.fsync {
            steps = steps.synced(FILE, every);
        }
        // A commit is durable when it returns, and nowhere nothing is changed.
        let changes = pattern.writes() && pattern != Pattern::Commit && self.queue != Queue::Nowhere;
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
                base: if is_in_order { Base::Bytes } else { Base::Ops },
                amount: match pattern {
                    Pattern::Read | Pattern::Write => blocks * u64::from(smallest),
                    Pattern::Commit => blocks,
                    _ => u64::MAX,
                },
                within: None,
                unit,
            }],
            space: 0,
            largest_call: self.sizes.largest(),
        };
        match self.queue {
            Queue::InTurn => program,
            Queue::Deep(depth) => overlapping(program, depth, self.sizes.largest()),
            Queue::Polled(depth) => polled(overlapping(program, depth, self.sizes.largest())),
            Queue::Mapped => issued(program, |_| Issue::Mapped),
            Queue::Nowhere => issued(program, |_| Issue::Nowhere),
        }
        .within(self.time)
    }

    /// What it does over and over. One size, drawn out of all blocks or in order, is the shortest way.
    fn body(&self, bytes: u64, seed: u64) -> Body {
        let reads = match self.pattern {
            Pattern::RandomRead | Pattern::Read => 100,
            Pattern::RandomMix { reads } => reads,
            Pattern::RandomWrite | Pattern::Write | Pattern::Commit => 0,
        };
        let write = reads == 0;
        let block = self.sizes.smallest();
        let blocks = bytes / u64::from(block);
        match (self.pattern, self.sizes.only(), self.drawing, self.stride) {
            (Pattern::Commit, ..) => Body::Commits { handle: FILE, length: block, left: blocks * 2 },
            (Pattern::Read | Pattern::Write, _, _, Some(stride)) => {
                Varied::strided(write, FILE, block, (bytes, stride / u64::from(block))).into()
            }
            (Pattern::Read | Pattern::Write, Some(_), ..) => Places::in_order(write, FILE, block, blocks).into(),
            (Pattern::Read | Pattern::Write, None, ..) => Varied::in_order(write, FILE, self.sizes, bytes, seed).into(),
            // At random there is no end but that of the time.
            (_, Some(_), Drawing::Replacement, _) => {
                let places = Places::drawn(write, FILE, block, (u64::MAX, blocks.max(1)), seed);
                // Not the seed of the places.
                let is_mix = matches!(self.pattern, Pattern::RandomMix { .. });
                if is_mix { places.mixed(reads, !seed).into() } else { places.into() }
            }
            (_, _, drawing, _) => {
                // A file that was given may be too small: then it is not read.
                let bytes = bytes.max(self.sizes.largest().into());
                Varied::drawn(drawing, FILE, self.sizes, bytes, reads, seed).into()
            }
        }
    }

    /// What is read through the page cache is read from the device, where it can be seen that it is.
    fn cache(&self) -> Cache {
        let reads = !matches!(self.pattern, Pattern::Write | Pattern::RandomWrite | Pattern::Commit);
        match self.queue {
            Queue::Nowhere => Cache::AsIs,
            _ if self.warm => Cache::Warm,
            _ if reads && !self.direct => Cache::Cold,
            _ => Cache::AsIs,
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
        match self.drawing {
            Drawing::Replacement => {}
            Drawing::Permutation => parameters.push(Parameter::new("order", "permutation")),
            Drawing::Zipf { thousandths } => {
                parameters.push(Parameter::new("order", format!("zipf:{}", Thousandths(thousandths)).as_str()));
            }
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
        if let Some(span) = self.think {
            parameters.push(Parameter::new("think_ns", span.0));
        }
        if let Pattern::RandomMix { reads } = self.pattern {
            parameters.push(Parameter::new("reads_percent", u32::from(reads)));
        }
        if let Some((rate, arrivals)) = self.rate {
            parameters.push(Parameter::new("rate", rate));
            parameters.push(Parameter::new("arrivals", arrivals.name()));
        }
        parameters
    }
}

/// The program with so many of its reads and writes at once, of at most so many bytes each.
pub fn overlapping(mut program: Program, depth: u32, largest: u32) -> Program {
    program.parameters.retain(|parameter| parameter.name != "iodepth");
    program.parameters.push(Parameter::new("iodepth", depth));
    issued(program, |steps| {
        Issue::Overlapping(Overlap { depth, largest, writes: steps.cuts().is_some(), polled: false })
    })
}

/// The same, looked for by a thread of the kernel.
fn polled(program: Program) -> Program {
    issued(program, |steps| match steps.issue() {
        Issue::Overlapping(overlap) => Issue::Overlapping(Overlap { polled: true, ..overlap }),
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
    fn only_what_writes_is_made_durable_and_a_commit_is_already() {
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
            let nowhere = Load { pattern, queue: Queue::Nowhere, ..LOAD }.program(1 << 20, 1);
            assert!(nowhere.prepare.is_empty() && !nowhere.phases[0].changes(), "{}", program.name);
        }
    }

    #[test]
    fn a_deep_queue_knows_what_is_in_it() {
        let deep = |pattern| {
            let program = Load { pattern, queue: Queue::Deep(32), ..LOAD }.program(1 << 20, 1);
            assert!(program.parameters.contains(&Parameter::new("iodepth", 32u32)));
            program.phases[0].steps.issue()
        };
        let overlap = |writes| Issue::Overlapping(Overlap { depth: 32, largest: 4096, writes, polled: false });
        assert_eq!(deep(Pattern::RandomRead), overlap(false));
        assert_eq!(deep(Pattern::RandomMix { reads: 70 }), overlap(true));
        assert_eq!(deep(Pattern::Write), overlap(true));
    }

    #[test]
    fn with_a_stride_the_file_is_there_and_each_block_of_it_is_written_once() {
        let program = Load { pattern: Pattern::Write, stride: Some(16384), ..LOAD }.program(1 << 16, 1);
        assert!(program.prepare.cuts().is_some());
        let offsets: Vec<u64> = ops(&program)
            .filter_map(|op| if let Op::WriteAt { offset, .. } = op { Some(offset / 4096) } else { None })
            .collect();
        assert_eq!(offsets, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        assert_eq!(program.phases[0].amount, 1 << 16);
    }

    #[test]
    fn writes_wait_for_what_was_asked_for() {
        let program =
            Load { pattern: Pattern::Write, sync: Durability::Data, fsync: Some(3), ..LOAD }.program(1 << 15, 1);
        let opened = ops(&program).next();
        assert!(
            matches!(opened, Some(Op::Create { mode: Mode { durability: Durability::Data, .. }, .. })),
            "{opened:?}"
        );
        let syncs: Vec<usize> =
            ops(&program).enumerate().filter(|(_, op)| *op == Op::Fsync { handle: FILE }).map(|(at, _)| at).collect();
        // The create, three writes, a sync, three writes, a sync, two writes: what makes those durable comes later.
        assert_eq!(syncs, [4, 8]);
    }

    fn ops(program: &Program) -> impl Iterator<Item = Op> {
        program.phases[0].steps.clone().filter_map(|step| if let Step::Op(op) = step { Some(op) } else { None })
    }

    #[test]
    fn every_setting_is_in_the_key_of_its_cell() {
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
