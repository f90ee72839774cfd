//! Several reads and writes in flight: every op is executed, the queue depth is kept and not exceeded, and nothing of
//! the ring remains.

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{BYTES, in_mounts_of_its_own, run, tool, world_in};
use kernel::{Posix, Station, Workspace, stamp};
use testkit::run_tool_when_free;
use units::{Host, Moment, Nanos};
use workload::{
    Access, AccessPattern, Arrivals, Body, Handle, Issue, Mode, Name, Op, OpKind, Order, Overlap, Pace, Reason,
    Recorder, Stream, World,
};

const FILE: Handle = Handle::new(0);
const BLOCK: u32 = 4096;

/// A world with one program, and the path of its first file.
fn world() -> (Posix, PathBuf) {
    let workspace = Workspace::inside(&std::env::temp_dir()).expect("a private folder");
    let file = workspace.path().join("f0");
    let station = Station { workspace: Some(workspace), given: Vec::new() };
    (Posix::new(vec![station], 64 * 1024, 9, Arc::default()).expect("the kernel's world"), file)
}

fn overlapping(depth: u32) -> Issue {
    Issue::Async(Overlap { depth, largest: BLOCK, writes: true, polled: false })
}

fn open(access: Access) -> Op {
    Op::Open { name: Name::root(0), handle: FILE, access, mode: Mode::default() }
}

/// Sequential accesses to this number of blocks.
fn in_order(write: bool, blocks: u64) -> Body {
    let pattern = AccessPattern::new(Order::Sequential, BLOCK, write);
    pattern.accesses(FILE, blocks * u64::from(BLOCK), blocks, 7).into()
}

/// `count` random accesses to a file of this number of blocks.
fn at_random(write: bool, (count, blocks): (u64, u64)) -> Body {
    AccessPattern::uniform(BLOCK, write).accesses(FILE, blocks * u64::from(BLOCK), count, 7).into()
}

fn writes(blocks: u64, depth: u32) -> Stream {
    let create = Op::Create { name: Name::root(0), handle: FILE, mode: Mode::default() };
    Stream::open(vec![create], in_order(true, blocks))
        .then(vec![Op::Fdatasync { handle: FILE }])
        .issued(overlapping(depth))
}

fn reads(blocks: u64, depth: u32) -> Stream {
    Stream::open(vec![open(Access::Read)], at_random(false, (1000, blocks))).issued(overlapping(depth))
}

/// Returns true, and prints the reason, if there is no io_uring here. Each test calls it.
fn lacks_ring() -> bool {
    let missing = kernel::no_ring();
    if let Some(why) = missing {
        testkit::skip!("{why}");
    }
    missing.is_some()
}

fn run_recorded<R: Recorder<Host> + Send>(world: &mut Posix, stream: Stream, recorder: &mut R) {
    world.run(&mut [stream], std::slice::from_mut(recorder)).expect("the kernel's world");
}

#[test]
fn concurrent_writes_have_stamps_and_are_read_back() {
    if lacks_ring() {
        return;
    }
    for depth in [1, 3, 64] {
        let (mut world, file) = world();
        let blocks = BYTES / u64::from(BLOCK) / 8;
        let tally = run(&mut world, writes(blocks, depth));
        assert_eq!((tally.bytes_written, tally.count(OpKind::Fdatasync)), (blocks * 4096, 1));
        let bytes = fs::read(&file).expect("the file");
        let identity = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        for (index, block) in bytes.chunks(4096).enumerate() {
            assert_eq!(block[..16], stamp(identity, index as u64 * 4096), "block {index} at depth {depth}");
        }
        let mut blocks: Vec<&[u8]> = bytes.chunks(4096).map(|block| &block[16..]).collect();
        let written = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), written, "no block came twice at depth {depth}");
        let tally = run(&mut world, reads(100, depth));
        assert_eq!((tally.bytes_read, tally.count(OpKind::ReadAt)), (1000 * 4096, 1000));
    }
}

/// Records the times and outcomes of ops, to find how many were in flight at the same time.
#[derive(Default)]
struct AtOnce {
    spans: Vec<(Moment<Host>, Moment<Host>)>,
    outcomes: Vec<(OpKind, Result<u32, Reason>)>,
}

impl Recorder<Host> for AtOnce {
    const TIMED: bool = true;

    fn record(&mut self, op: &Op, issued: Moment<Host>, returned: Moment<Host>, outcome: Result<u32, Reason>) {
        assert!(issued <= returned);
        self.outcomes.push((op.kind(), outcome));
        if op.kind() == OpKind::ReadAt {
            self.spans.push((issued, returned));
        }
    }
}

impl AtOnce {
    fn most(&self) -> usize {
        let at = |moment: Moment<Host>| {
            self.spans.iter().filter(|(issued, returned)| *issued <= moment && moment < *returned).count()
        };
        self.spans.iter().map(|(issued, _)| at(*issued)).max().unwrap_or(0)
    }
}

#[test]
fn the_queue_depth_is_reached_and_not_exceeded() {
    if lacks_ring() {
        return;
    }
    for depth in [1, 8] {
        let (mut world, _) = world();
        run(&mut world, writes(100, 1));
        let mut seen = AtOnce::default();
        run_recorded(&mut world, reads(100, depth), &mut seen);
        assert_eq!(seen.most(), depth as usize);
        assert_eq!(seen.spans.len(), 1000);
    }
}

#[test]
fn other_ops_wait_for_all_reads_and_writes_before_them() {
    if lacks_ring() {
        return;
    }
    let (mut world, _) = world();
    let mut seen = AtOnce::default();
    run_recorded(&mut world, writes(50, 16), &mut seen);
    let kinds: Vec<OpKind> = seen.outcomes.iter().map(|(kind, _)| *kind).collect();
    assert_eq!((kinds[0], kinds[51], kinds.len()), (OpKind::Create, OpKind::Fdatasync, 52));
    assert!(kinds[1..51].iter().all(|kind| *kind == OpKind::WriteAt));
}

#[test]
fn a_failed_op_ends_the_stream_after_ops_in_flight_complete() {
    if lacks_ring() {
        return;
    }
    let (mut world, _) = world();
    run(&mut world, writes(10, 1));
    let beyond = in_order(false, 100);
    let stream = Stream::open(vec![open(Access::Read)], beyond).then(vec![Op::Syncfs]).issued(overlapping(4));
    let mut seen = AtOnce::default();
    run_recorded(&mut world, stream, &mut seen);
    let failed = seen.outcomes.iter().filter(|(_, outcome)| *outcome == Err(Reason::Short(0))).count();
    assert!((1..=4).contains(&failed), "{:?}", seen.outcomes);
    assert_eq!(seen.outcomes.len(), 11 + failed);
    // A file that is open for reading only, and a handle without an open file.
    for (opening, expected) in [(vec![open(Access::Read)], 1), (vec![Op::Close { handle: FILE }], 1)] {
        let body = in_order(true, 1);
        let mut seen = AtOnce::default();
        run_recorded(&mut world, Stream::open(opening, body).issued(overlapping(4)), &mut seen);
        let refused = seen.outcomes.iter().filter(|(_, outcome)| *outcome == Err(Reason::BadHandle)).count();
        assert_eq!(refused, expected, "{:?}", seen.outcomes);
    }
}

#[test]
fn a_stopped_program_issues_no_more_ops() {
    if lacks_ring() {
        return;
    }
    let workspace = Workspace::inside(&std::env::temp_dir()).expect("a private folder");
    let station = Station { workspace: Some(workspace), given: Vec::new() };
    let stop = Arc::new(AtomicBool::new(true));
    let mut world = Posix::new(vec![station], BLOCK, 9, stop).expect("the kernel's world");
    let mut seen = AtOnce::default();
    run_recorded(&mut world, writes(10, 4), &mut seen);
    assert_eq!(seen.outcomes, [(OpKind::Create, Err(Reason::Interrupted))]);
}

#[test]
fn scheduled_ops_are_recorded_at_their_scheduled_time() {
    if lacks_ring() {
        return;
    }
    let (mut world, _) = world();
    run(&mut world, writes(100, 1));
    for issue in [Issue::Sync, overlapping(4)] {
        let body = at_random(false, (20, 100));
        let stream = Stream::open(vec![open(Access::Read)], body).issued(issue);
        let mut seen = AtOnce::default();
        run_recorded(&mut world, stream.paced(Pace::new(1000, Arrivals::Constant, 1, 1)), &mut seen);
        let mut starts: Vec<Moment<Host>> = seen.spans.iter().map(|(issued, _)| *issued).collect();
        assert_eq!(starts.len(), 20);
        // Reads from the disk complete in any order.
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1].since(pair[0]) == Nanos::from_millis(1)), "{starts:?}");
    }
}

/// Tells its program to stop as soon as it records an op.
struct Stopping(AtOnce, Arc<AtomicBool>);

impl Recorder<Host> for Stopping {
    const TIMED: bool = true;

    fn record(&mut self, op: &Op, issued: Moment<Host>, returned: Moment<Host>, outcome: Result<u32, Reason>) {
        self.0.record(op, issued, returned, outcome);
        self.1.store(true, Ordering::Relaxed);
    }
}

#[test]
fn cancelled_scheduled_ops_are_not_recorded_in_the_future() {
    let ring = (!lacks_ring()).then(|| overlapping(4));
    for issue in [Issue::Sync, Issue::Null].into_iter().chain(ring) {
        let stop = Arc::new(AtomicBool::new(false));
        let workspace = Workspace::inside(&std::env::temp_dir()).expect("a private folder");
        let station = Station { workspace: Some(workspace), given: Vec::new() };
        let mut world = Posix::new(vec![station], 64 * 1024, 9, Arc::clone(&stop)).expect("the kernel's world");
        run(&mut world, writes(1, 1).issued(Issue::Sync));
        // The second op is scheduled one second later. If the first one takes longer, more are executed.
        let body = at_random(true, (100, 1));
        let paced = Stream::open(Vec::new(), body).issued(issue).paced(Pace::new(1, Arrivals::Constant, 1, 1));
        let mut seen = Stopping(AtOnce::default(), stop);
        run_recorded(&mut world, paced, &mut seen);
        let (executed, others): (Vec<_>, Vec<_>) =
            seen.0.outcomes.iter().map(|(_, outcome)| *outcome).partition(|outcome| *outcome == Ok(BLOCK));
        assert_eq!(others, [Err(Reason::Interrupted)], "{issue:?}");
        assert!((1..99).contains(&executed.len()), "{issue:?}: {}", executed.len());
    }
}

/// Ends pauses once it has recorded an op.
#[derive(Default)]
struct Ending(AtOnce);

impl Recorder<Host> for Ending {
    const TIMED: bool = true;

    fn record(&mut self, op: &Op, issued: Moment<Host>, returned: Moment<Host>, outcome: Result<u32, Reason>) {
        self.0.record(op, issued, returned, outcome);
    }

    fn ends_pauses(&self) -> bool {
        !self.0.outcomes.is_empty()
    }
}

#[test]
fn a_recorder_ends_pauses_and_waits_of_a_schedule() {
    const DAY: Nanos = Nanos::from_secs(24 * 60 * 60);
    let ring = (!lacks_ring()).then(|| overlapping(4));
    for issue in [Issue::Sync, Issue::Null].into_iter().chain(ring) {
        let (mut world, _) = world();
        run(&mut world, writes(1, 1).issued(Issue::Sync));
        let body = || Stream::open(Vec::new(), at_random(true, (1000, 1))).then(vec![Op::Syncfs]).issued(issue);
        let mut seen = Ending::default();
        run_recorded(&mut world, body().thinking(DAY, 1, 1), &mut seen);
        let kinds = |seen: &Ending| seen.0.outcomes.iter().map(|(kind, _)| *kind).collect::<Vec<OpKind>>();
        assert_eq!(kinds(&seen), [OpKind::WriteAt, OpKind::Syncfs], "{issue:?}");
        // A quarter of an hour.
        let mut seen = Ending::default();
        run_recorded(&mut world, body().paced(Pace::new(1, Arrivals::Constant, 1, 1)), &mut seen);
        let kinds = kinds(&seen);
        assert!(kinds.len() < 1000 && kinds.ends_with(&[OpKind::WriteAt, OpKind::Syncfs]), "{issue:?}: {kinds:?}");
    }
}

#[test]
fn the_null_engine_completes_ops_without_effect() {
    let (mut world, file) = world();
    let tally = run(&mut world, writes(1_000, 1).issued(Issue::Null));
    assert_eq!(tally.bytes_written, 1_000 * 4096);
    assert!(!file.exists());
}

#[test]
fn a_file_system_can_be_unmounted_once_the_ring_is_closed() {
    if lacks_ring() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().to_str().expect("a path in UTF-8");
    let ran = in_mounts_of_its_own(|| {
        assert!(tool("mount", &["-t", "tmpfs", "none", path]));
        let mut world = world_in(folder.path());
        run(&mut world, writes(10, 4));
        run(&mut world, reads(10, 4));
        world.clear().expect("its files are closed");
        drop(world);
        run_tool_when_free("umount", &[path]);
    });
    if let Err(error) = ran {
        testkit::skip!("no mounts of our own: {error}");
    }
}

#[test]
fn a_polling_thread_has_equal_effect_and_its_cpu_time_counts() {
    if lacks_ring() {
        return;
    }
    let (mut world, _file) = world();
    let polled = |stream: Stream| {
        let overlap = Overlap { depth: 8, largest: BLOCK, writes: true, polled: true };
        stream.issued(Issue::Async(overlap))
    };
    let mut tally = workload::Tally::default();
    run_recorded(&mut world, polled(writes(400, 8)), &mut tally);
    assert_eq!((tally.failure, tally.bytes_written), (None, 400 * u64::from(BLOCK)));
    let mut tally = workload::Tally::default();
    let spans = world.run(&mut [polled(reads(400, 8))], std::slice::from_mut(&mut tally)).expect("the kernel's world");
    assert_eq!((tally.failure, tally.bytes_read), (None, 1000 * u64::from(BLOCK)));
    // The kernel thread polls until all ops have completed, so its CPU time is the program's run time less its waits
    // for a CPU.
    assert!(spans[0].cpu.total > units::Nanos::ZERO);
    assert_eq!(world.take_degradations(), [], "what was asked for is no lack");
}
