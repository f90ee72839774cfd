//! The same stream does the same in both worlds: one test per behaviour, with a part for each world.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diskperf::Simulated;
use kernel::{Posix, Station, Workspace};
use proptest::prelude::*;
use runner::execution::{ClaimedClock, ExecutionResult, MeasureOptions, perform};
use simulator::{Chance, Machine};
use units::{Moment, Nanos};
use workload::programs::vaxmix::VaxMix;
use workload::programs::{aging, classic1983, lfs, small_io, tlpi};
use workload::{
    Access, AccessPattern, Aging, Body, Directory, Durability, FileOrder, HANDLES, Handle, Issue, Layout, Mode, Name,
    Op, OpKind, Order, Overlap, Program, RateBase, Reason, Recorder, Stream, Tally, TreeCounts, World,
};

fn kernel_with(programs: usize, largest_call: u32, stop: bool) -> Posix {
    let station = || Station {
        workspace: Some(Workspace::inside(&std::env::temp_dir()).expect("a private folder")),
        given: Vec::new(),
    };
    let stations = (0..programs).map(|_| station()).collect();
    let mut world = Posix::new(stations, largest_call, 1, Arc::new(AtomicBool::new(stop))).expect("the kernel's world");
    // The comparisons do not depend on other programs.
    world.wait_for_calm(Nanos::ZERO);
    world
}

fn kernel(largest_call: u32) -> Posix {
    kernel_with(1, largest_call, false)
}

fn machine() -> Machine {
    Machine::named("flat", 1).expect("the simplest machine")
}

/// A simulated machine of every kind.
fn machines() -> Vec<(&'static str, Machine)> {
    let names = ["flat", "vax780-sc780,file_system=4K/1K", "vax780-sc780-inadequate-lead", "vax750-uda50"];
    names.map(|name| (name, described(name))).into()
}

/// The simulated machine with this name on the command line.
fn described(name: &str) -> Machine {
    let simulated = Simulated::read(name).expect("a machine");
    simulated.open(1, 0, Chance::default()).expect("a machine that can run one drive")
}

/// Small versions of all programs, in every form that changes their operations.
fn programs() -> Vec<Program> {
    let mut programs: Vec<Program> =
        classic1983::Classic::ALL.into_iter().map(|classic| classic.program(96 * 1024)).collect();
    for layout in [Layout::One, Layout::Consecutive(3), Layout::Modulo(3)] {
        for (order, sync) in [
            (FileOrder::Creation, lfs::SmallSync::None),
            (FileOrder::Random, lfs::SmallSync::Phase),
            (FileOrder::Creation, lfs::SmallSync::File),
        ] {
            let small = lfs::SmallFiles { layout, order, sync, ..lfs::SmallFiles::new(10, 700) };
            programs.push(small.program());
        }
    }
    for order in [lfs::LargeOrder::Permutation, lfs::LargeOrder::Replacement, lfs::LargeOrder::Stride(11)] {
        programs.push(lfs::LargeFile { order, ..lfs::LargeFile::new(64 * 1024) }.program());
    }
    let flush = Some(128 * 1024);
    programs.push(lfs::SmallFiles { flush, ..lfs::SmallFiles::new(10, 700) }.program());
    programs.push(lfs::LargeFile { flush, ..lfs::LargeFile::new(64 * 1024) }.program());
    for sync in [tlpi::Sync::None, tlpi::Sync::Osync, tlpi::Sync::Dsync, tlpi::Sync::Fsync] {
        for buffer in [1, 7, 4096, 100_000] {
            programs.push(tlpi::copy(1_001, buffer, sync));
            programs.push(tlpi::write(1_001, buffer, sync));
        }
    }
    programs.push(small_io::random_read(64 * 1024, 4096, 9, 1));
    programs.push(small_io::commit(5, 4096));
    programs.push(aging::aging(Aging { level: 400 << 10, churns: 12, largest: 64 << 10, seed: 1 }));
    for (name, words) in [("uniform", "reads=50"), ("local", "sizes=512B:1+6000B:1,reads=70,hot=60/10,near=20")] {
        let mix = words.parse().expect("a mix");
        programs.push(VaxMix { name, mix, bytes: 100_000, accesses: 40, seed: 1 }.program());
    }
    programs
}

/// Streams of reads and writes at given offsets.
fn at_places() -> Vec<Stream> {
    let (file, handle, block) = (Name::root(0), Handle::new(0), 4096);
    let create = Op::Create { name: file, handle, mode: Mode::default() };
    let open = Op::Open { name: file, handle, access: Access::ReadWrite, mode: Mode::default() };
    let accesses = |pattern: AccessPattern, blocks: u64, count| -> Body {
        pattern.accesses(handle, blocks * u64::from(block), count, 7).into()
    };
    let in_order = |write| AccessPattern::new(Order::Sequential, block, write);
    let mixed = AccessPattern { reads: 600, ..AccessPattern::uniform(block, false) };
    let written = AccessPattern::new(Order::Around(7), block, true);
    vec![
        Stream::open(vec![create], accesses(in_order(true), 50, 50)).then(vec![Op::Fsync { handle }]),
        Stream::open(vec![open], accesses(mixed, 50, 200)).then(vec![Op::Fdatasync { handle }, Op::Close { handle }]),
        Stream::open(vec![open], accesses(written, 50, 50)).then(vec![Op::Close { handle }, Op::Syncfs]),
        // Beyond the end of the file.
        Stream::open(vec![open], accesses(in_order(false), 60, 60)),
    ]
}

/// The effects of the streams on an empty world, one after the other.
fn effects_of<W: World>(world: &mut W, issue: Issue) -> (Vec<Tally>, TreeCounts)
where
    W::Fault: std::fmt::Debug,
{
    effects_by(world, |_| issue)
}

/// The effects of the streams if each stream has its own way to issue operations.
fn effects_by<W: World>(world: &mut W, issue: impl Fn(usize) -> Issue) -> (Vec<Tally>, TreeCounts)
where
    W::Fault: std::fmt::Debug,
{
    let tallies = at_places().into_iter().enumerate().map(|(index, stream)| {
        let mut tally = Tally::default();
        world.run(&mut [stream.issued(issue(index))], std::slice::from_mut(&mut tally)).expect("the world");
        tally
    });
    (tallies.collect(), world.tree_counts(0).expect("tree counts"))
}

#[test]
fn mapped_memory_has_the_same_effect_as_calls() {
    // The first stream creates the file.
    let mapped = |index: usize| if index == 0 { Issue::Sync } else { Issue::Mapped };
    let expected = effects_of(&mut kernel(4096), Issue::Sync);
    assert_eq!(effects_by(&mut kernel(4096), mapped), expected);
    for (name, mut machine) in machines() {
        assert_eq!(effects_by(&mut machine, mapped), expected, "on {name}");
    }
}

#[test]
fn concurrent_ops_have_the_same_effect_as_sequential_ones() {
    if let Some(why) = kernel::no_ring() {
        return testkit::skip!("{why}");
    }
    let expected = effects_of(&mut kernel(4096), Issue::Sync);
    let reason = expected.0[3].failure.map(|failure| failure.reason);
    assert_eq!(reason, Some(Reason::Short(0)));
    for (depth, polled) in [(1, false), (7, false), (64, false), (7, true)] {
        let overlap = Overlap { depth, largest: 4096, writes: true, polled };
        // All operations in flight when one failed count, so the tallies may differ.
        let whole = |(tallies, tree_counts): &(Vec<Tally>, TreeCounts)| (tallies[..3].to_vec(), *tree_counts);
        let found = effects_of(&mut kernel(4096), Issue::Async(overlap));
        assert_eq!(whole(&found), whole(&expected), "depth {depth}");
        assert_eq!(found.0[3].failure.map(|failure| failure.reason), reason);
        assert_eq!(found.0[3].bytes_read, expected.0[3].bytes_read);
        for (name, mut machine) in machines() {
            assert_eq!(effects_of(&mut machine, Issue::Async(overlap)), expected, "on {name}");
        }
    }
}

/// The effects of the phases, without their times.
fn deeds(result: &ExecutionResult) -> Vec<(Tally, TreeCounts)> {
    result.phases.iter().map(|phase| (phase.tally(), phase.tree_counts())).collect()
}

#[test]
fn programs_have_the_same_effect_on_kernel_and_simulator() {
    for program in programs() {
        let real = perform(
            &mut kernel(program.largest_call),
            &program,
            MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None },
        )
        .expect("the kernel's world");
        let what = format!("{} {:?}", program.name, program.parameters);
        assert!(real.stopped.is_none(), "{what}: {:?}", real.stopped);
        assert_eq!(real.phases.len(), program.phases.len(), "{what}");
        for (name, mut machine) in machines() {
            let Ok(simulated) = perform(
                &mut machine,
                &program,
                MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None },
            );
            assert_eq!(deeds(&real), deeds(&simulated), "{what} on {name}");
        }
    }
}

#[test]
fn every_program_moves_the_amount_in_its_rate() {
    for program in programs() {
        let Ok(result) = perform(
            &mut machine(),
            &program,
            MeasureOptions { claim: ClaimedClock::Returned, timed: true, ceiling: false, live: None },
        );
        for (phase, run) in program.phases.iter().zip(&result.phases) {
            let done = match phase.base {
                RateBase::Bytes => run.tally().bytes_read.max(run.tally().bytes_written),
                RateBase::Files | RateBase::Ops => phase.unit.done(&run.tally()),
            };
            assert_eq!(done, phase.amount, "{} {}", program.name, phase.name);
        }
    }
}

#[test]
fn a_time_limit_ends_a_phase_between_two_units() {
    let limit = Nanos::from_millis(30);
    let options = MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None };
    // The simulated machine needs milliseconds for each commit. The real machine cannot do a thousand million of them
    // within the limit.
    let commit = small_io::commit(1_000_000_000, 512).within(limit);
    let random = small_io::random_read(1 << 20, 512, 2048, 1).within(limit);
    let Ok(commits) = perform(&mut machine(), &commit, options);
    let Ok(reads) = perform(&mut machine(), &random, options);
    let real = perform(&mut kernel(commit.largest_call), &commit, options).expect("the kernel's world");
    for (result, first, last, most) in [
        (commits, OpKind::Write, OpKind::Fdatasync, 1_000_000_000),
        (real, OpKind::Write, OpKind::Fdatasync, 1_000_000_000),
        (reads, OpKind::ReadAt, OpKind::ReadAt, 2048),
    ] {
        let run = &result.phases[0];
        let (began, ended) = (run.tally().count(first), run.tally().count(last));
        assert!(began == ended && (1..most).contains(&ended), "{began} began, {ended} ended");
        assert!(run.returned() >= limit);
    }
}

#[test]
fn a_program_leaves_an_empty_folder_and_can_be_repeated() {
    let program = lfs::SmallFiles::new(10, 100).program();
    let mut world = kernel(program.largest_call);
    for _ in 0..2 {
        let result = perform(
            &mut world,
            &program,
            MeasureOptions { claim: ClaimedClock::Returned, timed: true, ceiling: false, live: None },
        )
        .expect("the kernel's world");
        assert!(result.stopped.is_none());
        assert_eq!(world.tree_counts(0).expect("tree counts"), TreeCounts::default());
    }
}

#[test]
fn simulated_times_are_reproducible() {
    for program in programs() {
        let run = || {
            let Ok(result) = perform(
                &mut described("vax780-sc780"),
                &program,
                MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None },
            );
            let parts = result.phases.iter().flat_map(|phase| &phase.parts);
            parts.map(|part| (part.returned, part.durable, part.cpu)).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
    }
}

/// A disk simple enough to check by hand: 8 KiB at one byte per microsecond take 8.192 ms, a call costs 0.5 ms of CPU
/// and 0.4 us per byte, and the first access to a file is one seek of 10 ms.
#[test]
fn the_flat_disk_has_the_times_computed_by_hand() {
    let program = classic1983::Classic::Write8192.program(16 * 1024);
    let Ok(result) = perform(
        &mut machine(),
        &program,
        MeasureOptions { claim: ClaimedClock::Returned, timed: true, ceiling: false, live: None },
    );
    let call = 500_000 + 8192 * 400;
    let expected = 500_000 + 10_000_000 + 2 * (call + 8_192_000);
    assert_eq!(result.phases[0].parts[0].returned.0, expected);
    assert_eq!(result.phases[0].parts[0].cpu.total.0, 500_000 + 2 * call);
}

#[test]
fn concurrent_programs_have_the_same_effects_as_alone() {
    let program = classic1983::Classic::Write8192.program(256 * 1024);
    let steps = &program.phases[0].steps;
    let written = |tallies: &[Tally; 2]| tallies.each_ref().map(|tally| tally.bytes_written);

    let mut tallies = [Tally::default(), Tally::default()];
    let mut real = kernel_with(2, program.largest_call, false);
    let spans = real.run(&mut [steps.clone(), steps.clone()], &mut tallies).expect("the kernel's world");
    assert_eq!((written(&tallies), spans.len()), ([256 * 1024; 2], 2));

    let mut tallies = [Tally::default(), Tally::default()];
    let mut simulated = Machine::named("flat", 2).expect("the simplest machine");
    let Ok(spans) = simulated.run(&mut [steps.clone(), steps.clone()], &mut tallies);
    assert_eq!((written(&tallies), spans.len()), ([256 * 1024; 2], 2));
    // One CPU and one disk serve both in turn, so neither is finished after half of the time.
    assert!(spans[0].elapsed().0 * 10 > spans[1].elapsed().0 * 9);
}

#[test]
fn written_files_contain_their_stamps() {
    let workspace = Workspace::inside(&std::env::temp_dir()).expect("a private folder");
    let file = workspace.path().join("f0");
    let station = Station { workspace: Some(workspace), given: Vec::new() };
    let mut world = Posix::new(vec![station], 8192, 9, Arc::default()).expect("the kernel's world");
    let program = classic1983::Classic::Write8192.program(64 * 1024);
    let mut tally = Tally::default();
    world.run(&mut [program.phases[0].steps.clone()], std::slice::from_mut(&mut tally)).expect("the kernel's world");
    let bytes = std::fs::read(file).expect("the file");
    assert_eq!(bytes.len(), 64 * 1024);
    let identity = &bytes[..8];
    for (index, block) in bytes.chunks(kernel::STAMP_SPACING).enumerate() {
        let offset = (index * kernel::STAMP_SPACING) as u64;
        assert_eq!(&block[..8], identity, "block {index}");
        assert_eq!(&block[8..kernel::STAMP_BYTES], &offset.to_le_bytes(), "block {index}");
    }
}

#[test]
fn a_stop_request_ends_a_program_at_the_next_op() {
    let mut world = kernel_with(1, 8192, true);
    let result = perform(
        &mut world,
        &classic1983::Classic::Write8192.program(8192),
        MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None },
    );
    let stopped = result.expect("the kernel's world").stopped.expect("an early end");
    assert_eq!(stopped.failure.reason, Reason::Interrupted);
}

/// Keeps every outcome, and whether the observed times were in order.
#[derive(Default)]
struct Outcomes {
    all: Vec<Result<u32, Reason>>,
    out_of_order: bool,
}

impl<C> Recorder<C> for Outcomes {
    const TIMED: bool = true;

    fn record(&mut self, _: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        self.all.push(outcome);
        self.out_of_order |= issued > returned;
    }
}

/// Runs op after op, also after failures. Returns the outcome of each, and the files that are left.
fn outcomes<W: World>(world: &mut W, ops: &[Op]) -> (Vec<Result<u32, Reason>>, TreeCounts)
where
    W::Fault: std::fmt::Debug,
{
    let mut recorder = Outcomes::default();
    for op in ops {
        world.run(&mut [Stream::from_ops(vec![*op])], std::slice::from_mut(&mut recorder)).expect("the world");
    }
    assert!(!recorder.out_of_order);
    (recorder.all, world.tree_counts(0).expect("tree counts"))
}

/// Each handle is a separate file: a ninth could only be one of the eight again.
#[test]
fn programs_have_eight_handles_on_kernel_and_simulator() {
    let handles = || (0..HANDLES as u8).map(Handle::new);
    let create = |(number, handle)| Op::Create { name: Name::root(number), handle, mode: Mode::default() };
    let write = |(handle, length)| Op::Write { handle, length };
    let ops: Vec<Op> = (0..).zip(handles()).map(create).chain(handles().zip(1..).map(write)).collect();
    let (ended, tree_counts) = outcomes(&mut kernel(4096), &ops);
    assert_eq!(ended[HANDLES..], [1, 2, 3, 4, 5, 6, 7, 8].map(Ok));
    assert_eq!((tree_counts.files, tree_counts.bytes), (8, 36));
    for (name, mut machine) in machines() {
        assert_eq!(outcomes(&mut machine, &ops), (ended.clone(), tree_counts), "on {name}");
    }
    assert!(std::panic::catch_unwind(|| Handle::new(HANDLES as u8)).is_err());
}

fn any_op() -> impl Strategy<Value = Op> {
    let handle = || (0u8..3).prop_map(Handle::new);
    let directory = || (0u16..3).prop_map(Directory);
    let made = || (1u16..3).prop_map(Directory);
    let name = || (directory(), 0u32..3).prop_map(|(directory, number)| Name { directory, number });
    let mode = || {
        let durability = prop_oneof![Just(Durability::None), Just(Durability::Data), Just(Durability::File)];
        durability.prop_map(|durability| Mode { durability, direct: false })
    };
    let access = prop_oneof![Just(Access::Read), Just(Access::Write), Just(Access::ReadWrite)];
    let length = || 1u32..5000;
    let offset = || 0u64..20_000;
    prop_oneof![
        made().prop_map(|directory| Op::Mkdir { directory }),
        made().prop_map(|directory| Op::Rmdir { directory }),
        (name(), handle(), mode()).prop_map(|(name, handle, mode)| Op::Create { name, handle, mode }),
        (name(), handle(), access, mode()).prop_map(|(name, handle, access, mode)| Op::Open {
            name,
            handle,
            access,
            mode
        }),
        handle().prop_map(|handle| Op::Close { handle }),
        (handle(), length()).prop_map(|(handle, length)| Op::Read { handle, length }),
        (handle(), length()).prop_map(|(handle, length)| Op::ReadTail { handle, length, expect: 0 }),
        (handle(), length()).prop_map(|(handle, length)| Op::Write { handle, length }),
        (handle(), length()).prop_map(|(handle, length)| Op::WriteLast { handle, length }),
        (handle(), length(), offset()).prop_map(|(handle, length, offset)| Op::ReadAt { handle, length, offset }),
        (handle(), length(), offset()).prop_map(|(handle, length, offset)| Op::WriteAt { handle, length, offset }),
        handle().prop_map(|handle| Op::Fdatasync { handle }),
        handle().prop_map(|handle| Op::Fsync { handle }),
        directory().prop_map(|directory| Op::FsyncDirectory { directory }),
        Just(Op::Syncfs),
        name().prop_map(|name| Op::Unlink { name }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Valid or not, an op has the same outcome on the kernel and on the machine.
    #[test]
    fn any_ops_have_the_same_outcome_on_kernel_and_simulator(ops in prop::collection::vec(any_op(), 1..80)) {
        let (real, left) = outcomes(&mut kernel(8192), &ops);
        for (name, mut machine) in machines() {
            let (simulated, simulated_left) = outcomes(&mut machine, &ops);
            for (index, op) in ops.iter().enumerate() {
                prop_assert_eq!(real[index], simulated[index], "op {} of {:?}: {} on {}", index, ops, op, name);
            }
            prop_assert_eq!(left, simulated_left);
        }
    }
}
