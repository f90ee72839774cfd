//! A load of a person's own: one pattern on one file, with a block size, a depth and a schedule of choice.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;

use super::{FILE, PREPARING_CALL, data_durable, file_durable, prepared_file, quiet};
use crate::body::{Body, Places};
use crate::cache::Cache;
use crate::op::{Access, Mode, Name, Op, OpKind};
use crate::pace::{Arrivals, Pace};
use crate::program::{Base, Parameter, Phase, Program, Unit};
use crate::stream::{Issue, Overlap, Stream};

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
    /// Not at all.
    Nowhere,
}

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// What is done.
    pub pattern: Pattern,
    /// Bytes of a read, a write, a record.
    pub block: u32,
    /// Whether it goes past the page cache.
    pub direct: bool,
    /// How its ops are issued.
    pub queue: Queue,
    /// How many begin in a second, where a schedule says so: an open loop.
    pub rate: Option<(u32, Arrivals)>,
    /// When it ends, where the end of the file is not reached before.
    pub time: Nanos,
}

impl Load {
    /// The program, on a file of `bytes` bytes that it makes.
    pub fn program(&self, bytes: u64, seed: u64) -> Program {
        let prepare = match self.queue {
            Queue::Nowhere => Stream::empty(),
            _ if self.pattern.needs_file() => prepared_file(Name::root(0), bytes),
            _ => quiet(),
        };
        let largest_call = self.block.max(PREPARING_CALL);
        let space = if self.queue == Queue::Nowhere { 0 } else { bytes };
        Program { prepare, space, largest_call, ..self.on(Name::root(0), bytes, seed) }
    }

    /// The program, on a file of `bytes` bytes that the user gave.
    pub fn given(&self, bytes: u64, seed: u64) -> Program {
        self.on(Name::given(0), bytes, seed)
    }

    fn on(&self, name: Name, bytes: u64, seed: u64) -> Program {
        let (block, pattern) = (self.block, self.pattern);
        let blocks = bytes / u64::from(block);
        let mode = Mode { direct: self.direct, ..Mode::default() };
        let open = |access| Op::Open { name, handle: FILE, access, mode };
        let create = Op::Create { name, handle: FILE, mode };
        // At random there is no end but that of the time.
        let at_random = |write| Places::drawn(write, FILE, block, (u64::MAX, blocks.max(1)), seed);
        let (opening, body, unit) = match pattern {
            Pattern::RandomRead => (open(Access::Read), Body::Places(at_random(false)), Unit::of(OpKind::ReadAt)),
            Pattern::RandomWrite => (open(Access::ReadWrite), Body::Places(at_random(true)), Unit::of(OpKind::WriteAt)),
            Pattern::RandomMix { reads } => {
                // Not the seed of the places.
                let places = at_random(false).mixed(reads, !seed);
                (open(Access::ReadWrite), Body::Places(places), Unit::either(OpKind::ReadAt, OpKind::WriteAt))
            }
            Pattern::Read => {
                let places = Places::in_order(false, FILE, block, blocks);
                (open(Access::Read), Body::Places(places), Unit::of(OpKind::ReadAt))
            }
            Pattern::Write => {
                (create, Body::Places(Places::in_order(true, FILE, block, blocks)), Unit::of(OpKind::WriteAt))
            }
            Pattern::Commit => {
                let body = Body::Commits { handle: FILE, length: block, left: blocks * 2 };
                (create, body, Unit::from(OpKind::Write, OpKind::Fdatasync))
            }
        };
        let ops = if pattern == Pattern::Commit { 2 } else { 1 };
        let mut steps = Stream::open(vec![opening], body);
        if let Some((rate, arrivals)) = self.rate {
            steps = steps.paced(Pace::new(rate, arrivals, ops, seed));
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
                    Pattern::Read | Pattern::Write => blocks * u64::from(block),
                    Pattern::Commit => blocks,
                    _ => u64::MAX,
                },
                within: None,
                unit,
            }],
            space: 0,
            largest_call: block,
        };
        match self.queue {
            Queue::InTurn => program,
            Queue::Deep(depth) => overlapping(program, depth, block),
            Queue::Nowhere => issued(program, |_| Issue::Nowhere),
        }
        .within(self.time)
    }

    /// What is read through the page cache is read from the device, where it can be seen that it is.
    fn cache(&self) -> Cache {
        let reads = !matches!(self.pattern, Pattern::Write | Pattern::RandomWrite | Pattern::Commit);
        if reads && !self.direct && self.queue != Queue::Nowhere { Cache::Cold } else { Cache::AsIs }
    }

    fn parameters(&self, bytes: u64, seed: u64) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::new("buffer_bytes", self.block),
            Parameter::new("file_bytes", bytes),
            Parameter::new("direct", self.direct),
            Parameter::new("iodepth", 1u32),
            Parameter::new("seed", seed),
        ];
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
    issued(program, |steps| Issue::Overlapping(Overlap { depth, largest, writes: steps.cuts().is_some() }))
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
    use crate::stream::Steps;

    const LOAD: Load = Load {
        pattern: Pattern::RandomRead,
        block: 4096,
        direct: true,
        queue: Queue::InTurn,
        rate: None,
        time: Nanos::from_secs(1),
    };

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
        let overlap = |writes| Issue::Overlapping(Overlap { depth: 32, largest: 4096, writes });
        assert_eq!(deep(Pattern::RandomRead), overlap(false));
        assert_eq!(deep(Pattern::RandomMix { reads: 70 }), overlap(true));
        assert_eq!(deep(Pattern::Write), overlap(true));
    }
}
