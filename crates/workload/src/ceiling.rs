//! The ceiling of a phase: the pattern that asks the layer below for the same work, without the file system and the
//! page cache. Next to it, a rate shows how much of the possible rate a phase has reached.
//!
//! Policy:
//!   1. the ceiling uses the file that the phase left, so nothing is prepared for it. A file that the user gave is only
//!      read;
//!   2. direct I/O is its own ceiling: the same calls, at other places of the file;
//!   3. sequential I/O through the page cache reaches the device in large requests, several at a time. So its ceiling
//!      is direct I/O in large calls, several in flight, whatever the size of the program's own calls. If they are
//!      too small for a stripe of the device, the runner leaves the ceiling out;
//!   4. random reads through the page cache reach the device one by one. Their ceiling is the same calls with O_DIRECT;
//!   5. reads of cached data are copies of memory;
//!   6. a commit is a write and a flush. Its ceiling is both on blocks that exist already, so that the file system has
//!      no metadata to write. A flush alone is free on drives that have nothing to flush;
//!   7. the ceiling writes at most a tenth of what the phase wrote, or 16 writes or commits if that is more;
//!   8. no other phase has such a pattern, and the reason is returned. A wrong ceiling is worse than none.

use alloc::vec;
use alloc::vec::Vec;

use crate::access::order::Order;
use crate::access::pattern::AccessPattern;
use crate::cache_state::Cache;
use crate::op::{Access, Directory, Durability, Handle, Mode, Name, Op, OpKind};
use crate::program::{Phase, RateBase, Unit};
use crate::step::{Issue, Overlap, Steps};
use crate::stream::Stream;
use crate::stream_body::Body;

/// Bytes in a call of the ceiling of sequential I/O: four times the kernel's default read-ahead (VM_READAHEAD_PAGES),
/// and a whole number of blocks on any device.
pub const LARGE_CALL: u32 = 512 << 10;

/// Calls of the ceiling of sequential I/O that are in flight. Together they are 2 MiB: enough for 7 GB/s at a latency
/// of 0.3 ms, and a tenth of a second's work for a disk of 20 MiB/s.
pub const LARGE_DEPTH: u32 = 4;

/// The share of a phase's writes that its ceiling writes again.
const OF_WRITES: u64 = 10;

/// The fewest writes and commits of a ceiling: fewer are over before their rate is known.
const FEWEST: u64 = 16;

/// Work that one program did in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Bytes read or written.
    pub bytes: u64,
    /// Units of work.
    pub ops: u64,
}

/// The work that shows the ceiling of a phase.
#[derive(Clone, Debug)]
pub enum Ceiling {
    /// This phase, which uses the device without the page cache.
    Device(Phase),
    /// This phase, which uses the device in large calls, several in flight.
    Large(Phase),
    /// This phase: each of its writes is followed by a flush.
    Flush(Phase),
    /// Copies of `call` bytes of memory, from `bytes` bytes.
    #[expect(missing_docs, reason = "the fields are explained above")]
    Memory { call: u64, bytes: u64 },
}

/// Returns the ceiling of a phase in which each program did at least this work, or the reason why it has none.
pub fn ceiling(phase: &Phase, done: Done) -> Result<Ceiling, &'static str> {
    let steps = &phase.steps;
    if steps.issue() == Issue::Null {
        return Err("the null engine does no I/O");
    }
    let kind = Kind::of(phase.unit)?;
    if steps.has_pacing() {
        return Err("a schedule, pauses or syncs are part of the rate");
    }
    let [Op::Open { name, handle, mode, .. } | Op::Create { name, handle, mode }] = *steps.opening() else {
        return Err("the test has no single file");
    };
    if mode.durability != Durability::None {
        return Err("each write waits for a sync of its own");
    }
    // 1
    if kind != Kind::Read && name.directory == Directory::GIVEN {
        return Err("writing to a target of yours once more is not safe");
    }
    let file = File { name, handle };
    match kind {
        Kind::Commit => file.commits(phase, done),
        // 2
        _ if mode.direct => Ok(Ceiling::Device(file.same_calls(phase, done))),
        Kind::Read => match phase.cache {
            // 5
            Cache::Warm => memory(done),
            Cache::Cold if steps.is_sequential() => file.large_calls(phase, done.bytes),
            Cache::Cold if steps.issue() == Issue::Mapped => Err("a page fault reads more than one block"),
            // 4
            Cache::Cold => Ok(Ceiling::Device(file.same_calls(phase, done))),
            Cache::AsIs | Cache::Dropped => Err("the page cache may have had the data"),
        },
        Kind::Write if steps.is_sequential() => file.large_calls(phase, done.bytes / OF_WRITES),
        Kind::Write | Kind::Mix => Err("the page cache gathers scattered writes"),
    }
}

/// The kind of work of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Mix,
    Commit,
}

impl Kind {
    fn of(Unit { first, last, also }: Unit) -> Result<Kind, &'static str> {
        match (first, last, also) {
            (OpKind::Read | OpKind::ReadAt, _, None) if first == last => Ok(Kind::Read),
            (OpKind::Write | OpKind::WriteAt, _, None) if first == last => Ok(Kind::Write),
            (OpKind::ReadAt | OpKind::WriteAt, _, Some(_)) => Ok(Kind::Mix),
            (OpKind::Write, OpKind::Fdatasync, None) => Ok(Kind::Commit),
            (OpKind::Read, OpKind::Write, None) => Err("a copy reads and writes at the same time"),
            (OpKind::Run, ..) => Err("the I/O calls of a command are not known"),
            _ => Err("names of files have no equivalent on a device"),
        }
    }
}

/// The file that a phase left.
#[derive(Clone, Copy)]
struct File {
    name: Name,
    handle: Handle,
}

impl File {
    fn open(self, access: Access) -> Vec<Op> {
        let mode = Mode { direct: true, ..Mode::default() };
        vec![Op::Open { name: self.name, handle: self.handle, access, mode }]
    }

    /// The calls of the phase, with O_DIRECT, at other random places.
    fn same_calls(self, phase: &Phase, done: Done) -> Phase {
        let only_reads = reads(phase.unit) && phase.unit.also.is_none();
        let (access, most) = match only_reads {
            true => (Access::Read, u64::MAX),
            // 7
            false => (Access::ReadWrite, (done.ops / OF_WRITES).max(FEWEST)),
        };
        // A mapping has no direct I/O.
        let issue = if phase.steps.issue() == Issue::Mapped { Issue::Sync } else { phase.steps.issue() };
        let steps = phase.steps.clone().elsewhere(most).opened_by(self.open(access)).issued(issue);
        Phase { steps, ..bare(phase) }
    }

    /// 3
    fn large_calls(self, phase: &Phase, bytes: u64) -> Result<Ceiling, &'static str> {
        let write = !reads(phase.unit);
        let whole = bytes / u64::from(LARGE_CALL) * u64::from(LARGE_CALL);
        if whole < u64::from(LARGE_CALL * LARGE_DEPTH) {
            return Err("the file is too small");
        }
        let accesses =
            AccessPattern::new(Order::Sequential, LARGE_CALL, write).accesses(self.handle, whole, u64::MAX, 0);
        let access = if write { Access::ReadWrite } else { Access::Read };
        let overlap = Overlap { depth: LARGE_DEPTH, largest: LARGE_CALL, writes: write, polled: false };
        // The time of the phase includes its final sync, so the ceiling ends with one, too.
        let closing = if write { vec![Op::Fdatasync { handle: self.handle }] } else { Vec::new() };
        let steps = Stream::open(self.open(access), accesses.into()).then(closing).issued(Issue::Async(overlap));
        let unit = Unit::from_kind(if write { OpKind::WriteAt } else { OpKind::ReadAt });
        // Start without cached pages: direct writes first evict the pages that they overwrite, which takes time.
        let cache = if write { Cache::Cold } else { Cache::AsIs };
        Ok(Ceiling::Large(Phase { cache, steps, base: RateBase::Bytes, amount: whole, unit, ..bare(phase) }))
    }

    /// 6 and 7
    fn commits(self, phase: &Phase, done: Done) -> Result<Ceiling, &'static str> {
        if done.ops < FEWEST {
            return Err("there were too few commits");
        }
        let commits = (done.ops / OF_WRITES).max(FEWEST);
        let length = u32::try_from(done.bytes / done.ops).map_err(|_| "the records are too large")?;
        let body = Body::Commits { handle: self.handle, length, left: 2 * commits };
        let steps = Stream::open(self.open(Access::ReadWrite), body);
        Ok(Ceiling::Flush(Phase { cache: Cache::Cold, steps, amount: commits, ..bare(phase) }))
    }
}

fn reads(unit: Unit) -> bool {
    matches!(unit.first, OpKind::Read | OpKind::ReadAt)
}

fn memory(done: Done) -> Result<Ceiling, &'static str> {
    match done.bytes.checked_div(done.ops) {
        Some(call) if call > 0 => Ok(Ceiling::Memory { call, bytes: done.bytes }),
        _ => Err("nothing was read"),
    }
}

/// The phase without steps, syncs and time.
fn bare(phase: &Phase) -> Phase {
    let empty = Stream::empty;
    Phase {
        cache: Cache::AsIs,
        steps: empty(),
        data: empty(),
        durable: empty(),
        within: None,
        warmup: None,
        ..phase.clone()
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::access::schedule::{Arrivals, Rates};
    use crate::access::sizes::Sizes;
    use crate::programs::classic1983::Classic;
    use crate::programs::command::Command;
    use crate::programs::load::{Load, Pattern, Queue};
    use crate::programs::{lfs, small_io, tlpi};
    use crate::step::Step;

    const DONE: Done = Done { bytes: 64 << 20, ops: 1600 };
    const LOAD: Load = Load::new(Pattern::RandomRead, Sizes::all(4096), Nanos::from_secs(1));

    fn of_load(load: Load) -> Result<Ceiling, &'static str> {
        ceiling(&load.program(64 << 20, 7).phases[0], DONE)
    }

    fn of_device(load: Load) -> Phase {
        match of_load(load) {
            Ok(Ceiling::Device(phase)) => phase,
            other => panic!("{other:?}"),
        }
    }

    fn ops(phase: &Phase) -> Vec<Op> {
        let op = |step| if let Step::Op(op) = step { op } else { panic!("{step:?}") };
        phase.steps.clone().take(1000).map(op).collect()
    }

    #[test]
    fn sequential_io_through_the_page_cache_is_compared_with_large_direct_calls() {
        for classic in Classic::ALL {
            let phase = &classic.program(64 << 20).phases[0];
            let Ok(Ceiling::Large(below)) = ceiling(phase, DONE) else { panic!("{}", classic.name()) };
            let reads = classic == Classic::Read8192;
            let overlap = Overlap { depth: LARGE_DEPTH, largest: LARGE_CALL, writes: !reads, polled: false };
            assert_eq!((below.steps.issue(), below.changes()), (Issue::Async(overlap), false));
            let ops = ops(&below);
            let Op::Open { name, access, mode, .. } = ops[0] else { panic!("{:?}", ops[0]) };
            assert_eq!((name, mode.direct, access == Access::Read), (Name::root(0), true, reads));
            let calls = ops.iter().filter(|op| matches!(op.kind(), OpKind::ReadAt | OpKind::WriteAt)).count();
            // Writes are a tenth, in whole calls, and end with a flush, as the phase does.
            assert_eq!((calls, below.amount), if reads { (128, 64 << 20) } else { (12, 6 << 20) });
            assert_eq!(ops.last().map(Op::kind), Some(if reads { OpKind::ReadAt } else { OpKind::Fdatasync }));
        }
        assert_eq!(
            ceiling(&Classic::Write8192.program(8 << 20).phases[0], Done { bytes: 8 << 20, ops: 1024 }).err(),
            Some("the file is too small")
        );
    }

    #[test]
    fn direct_io_and_random_reads_repeat_their_calls_elsewhere() {
        for load in [
            LOAD,
            Load { direct: true, ..LOAD },
            Load { direct: true, queue: Queue::Deep(32), ..LOAD },
            Load { direct: true, pattern: Pattern::RandomWrite, ..LOAD },
            Load { direct: true, pattern: Pattern::RandomMix { reads: 50 }, ..LOAD },
        ] {
            let own = load.program(64 << 20, 7).phases.remove(0);
            let below = of_device(load);
            assert_eq!((below.steps.issue(), below.unit), (own.steps.issue(), own.unit));
            let (own, below) = (ops(&own), ops(&below));
            let Op::Open { mode, access, .. } = below[0] else { panic!("{:?}", below[0]) };
            assert!(mode.direct);
            assert_ne!(access == Access::Read, load.pattern.writes());
            assert_eq!(own.len(), 1000);
            assert_eq!(below.len(), if load.pattern.writes() { 1 + 160 } else { 1000 }, "a tenth of the writes");
            assert!(own[1..=160] != below[1..=160], "other places");
        }
        let sequential = Load { direct: true, pattern: Pattern::Write, ..LOAD };
        let below = ops(&of_device(sequential));
        assert!(matches!(below[0], Op::Open { access: Access::ReadWrite, .. }), "the file is not emptied");
        assert_eq!(below[1..], ops(&sequential.program(64 << 20, 7).phases[0])[1..=160]);
    }

    #[test]
    fn commits_repeat_a_tenth_of_their_writes_and_flushes() {
        let phase = &small_io::commit(1000, 4096).phases[0];
        let Ok(Ceiling::Flush(below)) = ceiling(phase, Done { bytes: 4096 * 1000, ops: 1000 }) else { panic!() };
        let ops = ops(&below);
        assert!(matches!(ops[0], Op::Open { mode: Mode { direct: true, .. }, access: Access::ReadWrite, .. }));
        let kinds: Vec<OpKind> = ops[1..].iter().map(Op::kind).collect();
        assert_eq!(kinds, [OpKind::Write, OpKind::Fdatasync].repeat(100));
        assert!(ceiling(phase, Done { bytes: 4096 * 15, ops: 15 }).is_err());
    }

    #[test]
    fn cached_reads_are_copies_of_memory() {
        let Ok(Ceiling::Memory { call, bytes }) = of_load(Load { warm: true, ..LOAD }) else { panic!() };
        assert_eq!((call, bytes), ((64 << 20) / 1600, 64 << 20));
    }

    #[test]
    fn other_phases_have_no_ceiling_and_say_why() {
        let write = Load { pattern: Pattern::Write, ..LOAD };
        for (load, why) in [
            (Load { queue: Queue::Null, ..LOAD }, "null engine"),
            (Load { rate: Some((Rates::All(100), Arrivals::Constant)), ..LOAD }, "schedule"),
            (Load { think: Some(Nanos::from_millis(1)), ..LOAD }, "pauses"),
            (Load { fsync: Some(8), ..write }, "syncs"),
            (Load { sync: Durability::Data, ..write }, "waits for a sync"),
            (Load { pattern: Pattern::RandomWrite, ..LOAD }, "gathers"),
            (Load { pattern: Pattern::RandomMix { reads: 70 }, ..LOAD }, "gathers"),
            (Load { stride: Some(8192), ..write }, "gathers"),
            (Load { queue: Queue::Mapped, ..LOAD }, "page fault"),
        ] {
            let reason = of_load(load).expect_err("no ceiling");
            assert!(reason.contains(why), "{reason}");
        }
        let small = lfs::SmallFiles::new(16, 1024).program().phases;
        let copy = tlpi::copy(1 << 20, 4096, tlpi::Sync::None).phases;
        let command = Command { name: "command", line: "command", preparation: None }.program(0).phases;
        assert!([small, copy, command].concat().iter().all(|phase| ceiling(phase, DONE).is_err()));
        let given = Load { pattern: Pattern::RandomWrite, direct: true, ..LOAD }.given(64 << 20, 7);
        assert!(ceiling(&given.phases[0], DONE).expect_err("no ceiling").contains("not safe"));
    }
}
