//! Tests of the consumption of a phase.

use runner::execution::{ClaimedClock, ExecutionResult, MeasureOptions, perform};
use simulator::Machine;
use stats::Bottleneck;
use stats::judge::bottleneck::{limited_by, owners};
use workload::programs::classic1983::Classic;
use workload::programs::load::{Load, Pattern, Queue};
use workload::{
    Accounts, CpuTime, DeviceBytes, DeviceUse, Dirtiness, Durability, Journal, Program, Sizes, Tally, Unit,
};

use super::*;

/// The results of one or two programs on the simplest machine.
pub(in crate::judge) fn performed(classic: Classic, programs: usize) -> (Program, ExecutionResult) {
    let mut machine = Machine::named("flat", programs).expect("the simplest machine");
    let program = classic.program(1 << 20);
    let Ok(result) = perform(
        &mut machine,
        &program,
        MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None },
    );
    (program, result)
}

/// The consumption of one or two programs on the simplest machine.
fn simulated(classic: Classic, programs: usize) -> Consumption {
    let (program, result) = performed(classic, programs);
    gather(&[&result.phases[0]], &program.phases[0], ClockKind::Returned, &[None], true)
}

#[test]
fn every_simulated_nanosecond_has_an_owner() {
    for classic in Classic::ALL {
        for programs in [1, 2] {
            let used = simulated(classic, programs);
            let owners = owners(&used);
            assert_eq!(owners.rest, Nanos::ZERO, "{} x {programs}: {owners:?}", classic.name());
            assert_eq!(owners.named().values().sum::<u64>(), used.elapsed.0);
            // Each program also waits for the seeks of the other one.
            assert_eq!(owners.device_queue > Nanos::ZERO, programs == 2);
            assert_eq!(limited_by(&used).0.what, Bottleneck::Device);
        }
    }
}

#[test]
fn only_repeated_reads_of_cold_files_had_been_in_the_page_cache() {
    let (_, result) = performed(Classic::Read8192, 1);
    let mut run = result.phases.into_iter().next().expect("a phase");
    let read = run.tally().bytes_read;
    run.counters.memory.refaults = Some(read / PAGE);
    run.counters.accounts = Some(Accounts { fetched: read, ..Accounts::default() });
    let mut share = |cache: CacheState, first_reads: Option<u64>, is_command: bool| {
        (run.cache, run.first_reads) = (cache, first_reads);
        refaulted(&[&run], is_command)
    };
    assert_eq!(share(CacheState::Cold, None, false), Some(0.0));
    assert_eq!(share(CacheState::Cold, Some(read / 4), false), Some(0.75));
    assert_eq!(share(CacheState::Cold, None, true), Some(1.0));
    assert_eq!(share(CacheState::Warm, None, false), Some(1.0));
    // diskperf's own eviction is none of the kernel's: then all refaults are of repeated reads.
    run.counters.memory.refaults = Some(read / 2 / PAGE);
    (run.cache, run.first_reads) = (CacheState::Cold, Some(read / 4));
    assert_eq!(refaulted(&[&run], false), Some(0.5));
}

fn ext4(options: &[&str]) -> Place {
    Place {
        file_system: Some("ext4".to_owned()),
        mount_options: options.iter().map(|option| (*option).to_owned()).collect(),
        free_bytes: Some(0),
        block_bytes: 4096,
        free_files: None,
        total_bytes: 0,
        used_bytes: 0,
        device: None,
        in_memory: None,
        upper: None,
        nested_in: None,
    }
}

/// The work of a disk in a second: 650 ms of discards and 100 ms of writes, beside these operations.
fn discarding(operations: &[OpKind], journal: Option<Journal>) -> (Program, PhaseResult) {
    let (program, result) = performed(Classic::Rewrite8192, 1);
    let mut run = result.phases.into_iter().next().expect("a phase");
    run.parts[0].returned = Nanos::from_secs(1);
    run.parts[0].cpu = CpuTime::default();
    for kind in operations {
        run.parts[0].tally.ops[*kind as usize] = 1;
    }
    let used = DeviceUse {
        writes: 25,
        writing: Nanos::from_millis(100),
        discards: 130,
        discarding: Nanos::from_millis(650),
        busy: Nanos::from_millis(730),
        ..DeviceUse::default()
    };
    let layer = Layer {
        name: "vda".to_owned(),
        depth: 0,
        below: Vec::new(),
        used,
        write_cache: None,
        is_file: false,
        is_buffered: false,
    };
    run.counters = Counters { layers: vec![layer], journal, ..Counters::default() };
    (program, run)
}

fn judged((program, run): &(Program, PhaseResult), places: &[Option<&Place>]) -> (Consumption, Bottleneck) {
    let used = gather(&[run], &program.phases[0], ClockKind::Returned, places, false);
    let what = limited_by(&used).0.what;
    (used, what)
}

/// The thread computes also while it has nothing to do.
#[test]
fn the_cpu_time_of_a_polling_thread_does_not_make_the_cpu_the_limit() {
    let (_, mut run) = discarding(&[], None);
    run.parts[0].cpu = CpuTime { total: Nanos::from_millis(990), user: Nanos::from_millis(10) };
    let load = Load::new(Pattern::RandomRead, Sizes::all(4096), Nanos::from_secs(1));
    let limit = |queue: Queue| {
        let program = Load { queue, direct: true, ..load }.program(1 << 20, 1);
        judged(&(program, run.clone()), &[]).1
    };
    assert_eq!([limit(Queue::Deep(8)), limit(Queue::Polled(8))], [Bottleneck::Cpu, Bottleneck::NotMeasured]);
}

/// Sixteen threads of another program in the group used up its quota. This program waited for 6 % of the time.
#[test]
fn throttled_time_of_others_in_the_group_is_not_the_test_s() {
    let (program, mut run) = discarding(&[], None);
    run.counters.quota.cpu = Some(Nanos::from_secs(1));
    // A test, and a command of one thread.
    let test = &program.phases[0];
    for phase in [test, &Phase { unit: Unit::from_kind(OpKind::Run), ..test.clone() }] {
        let quota = |ready, run: &mut PhaseResult| {
            run.parts[0].ready = ready;
            gather(&[run], phase, ClockKind::Returned, &[], false).quota
        };
        assert_eq!(quota(Some(Nanos::from_millis(60)), &mut run), Some(Nanos::from_millis(60)));
        assert_eq!(quota(None, &mut run), Some(Nanos::from_secs(1)));
    }
}

/// Other programs of the group may use up its other limits.
#[test]
fn only_limits_on_what_the_test_did_count() {
    let limit = |kind| IoLimit { kind, device: "vda".to_owned(), level: 0, allowed: 100, done: 100 };
    let own = |classic: Classic, kinds: &[IoKind], change: fn(&mut Phase, &mut PhaseResult)| {
        let (mut program, result) = performed(classic, 1);
        let mut run = result.phases.into_iter().next().expect("a phase");
        let io_limits = kinds.iter().map(|kind| limit(*kind)).collect();
        run.counters = Counters { io_limits, ..Counters::default() };
        change(&mut program.phases[0], &mut run);
        let phase = &program.phases[0];
        let used = gather(&[&run], phase, ClockKind::Returned, &[], false);
        let own: Vec<IoKind> = own_limits(&[&run], phase).map(|limit| limit.kind).collect();
        assert_eq!(used.allowance.is_some(), !own.is_empty());
        own
    };
    let (reads, writes) = ([IoKind::ReadBytes, IoKind::Reads], [IoKind::WrittenBytes, IoKind::Writes]);
    let all = [reads, writes].concat();
    assert_eq!(own(Classic::Read8192, &all, |_, _| ()), reads);
    assert_eq!(own(Classic::Read8192, &writes, |_, _| ()), []);
    assert_eq!(own(Classic::Rewrite8192, &all, |_, _| ()), writes);
    // It changes blocks in part, and so reads them.
    let fetch = |_: &mut Phase, run: &mut PhaseResult| {
        run.counters.accounts = Some(Accounts { fetched: run.tally().bytes_written, ..Accounts::default() });
    };
    assert_eq!(own(Classic::Rewrite8192, &all, fetch), all);
    assert_eq!(own(Classic::Read8192, &all, |phase, _| phase.unit = Unit::from_kind(OpKind::Run)), all);
}

/// The page cache is full of dirty pages, perhaps of another program.
#[test]
fn only_writes_to_the_page_cache_without_syncs_are_throttled() {
    let load = Load::new(Pattern::Write, Sizes::all(4096), Nanos::from_secs(1));
    let (_, mut run) = discarding(&[], None);
    let blocked = Some(Nanos::from_millis(900));
    run.dirtiness = Some(Dirtiness { pages: 2000, free_run: 1000, at_first: 0 });
    run.counters.accounts = Some(Accounts::default());
    run.parts[0].blocked_in_calls = blocked;
    run.parts[0].tally = Tally { bytes_written: 1 << 20, ..Tally::default() };
    run.parts[0].tally.ops[OpKind::WriteAt as usize] = 256;
    let held = |load: Load, run: &PhaseResult| held(run, &load.program(1 << 20, 1).phases[0]);
    assert_eq!(held(load, &run), blocked);
    assert_eq!(held(Load { direct: true, ..load }, &run), Some(Nanos::ZERO));
    assert_eq!(held(Load { sync: Durability::Data, ..load }, &run), None);
    run.parts[0].tally.ops[OpKind::Fsync as usize] = 256;
    assert_eq!(held(load, &run), None);
}

/// Most of a thousand flushes are those of another program.
#[test]
fn flushes_of_others_do_not_count() {
    let (program, mut run) = discarding(&[], None);
    run.parts[0].tally = Tally { bytes_written: 1 << 20, ..Tally::default() };
    run.counters.layers[0].used = DeviceUse {
        moved: DeviceBytes { flushes: 1000, ..DeviceBytes::default() },
        writes: 1000,
        writing: Nanos::from_millis(850),
        flushing: Some(Nanos::from_millis(800)),
        busy: Nanos::from_millis(850),
        ..DeviceUse::default()
    };
    let test = &program.phases[0];
    // Milliseconds of flushes, and of requests.
    let times = |phase: &Phase, clock: ClockKind, run: &PhaseResult| {
        let used = gather(&[run], phase, clock, &[], false);
        let requests = used.device.expect("a device").requests_time;
        [used.flush.expect("timed"), requests].map(|time| time.0 / 1_000_000)
    };
    assert_eq!(times(test, ClockKind::Returned, &run), [0, 50]);
    let command = Phase { unit: Unit::from_kind(OpKind::Run), ..test.clone() };
    assert_eq!(times(&command, ClockKind::Returned, &run), [800, 850], "its syncs are unknown");
    // A result until data are durable has a few syncs at its end.
    let [flush, _] = times(test, ClockKind::Durable, &run);
    assert!((1..100).contains(&flush), "{flush} ms");
    run.counters.journal = Some(Journal { commits: 10, ..Journal::default() });
    assert_eq!(times(test, ClockKind::Returned, &run), [64, 114]);
    // The journal may have committed for another load.
    run.ran_with_others = true;
    assert_eq!(times(test, ClockKind::Returned, &run), [0, 50]);
    run.parts[0].tally.ops[OpKind::Fsync as usize] = 500;
    assert_eq!(times(test, ClockKind::Returned, &run), [800, 850]);
}

/// Only deletions on an ext4 without a journal, mounted with the option `discard`, wait for discards.
#[test]
fn discards_in_the_background_or_for_others_are_no_work_for_the_test() {
    let deleting = || discarding(&[OpKind::Unlink], None);
    let ordinary = ext4(&["relatime", "rw"]);
    let at_once = ext4(&["discard", "relatime", "rw"]);
    for kind in [OpKind::Unlink, OpKind::Rmdir] {
        let (used, what) = judged(&discarding(&[kind], None), &[Some(&at_once)]);
        let work = used.device.expect("a device");
        assert_eq!((work.discarding, work.discarding_apart), (Nanos::from_millis(650), Nanos::ZERO));
        assert_eq!((work.requests_time, what), (Nanos::from_millis(750), Bottleneck::Device));
    }
    let nested = Place { nested_in: Some("ext4 on vda".to_owned()), ..at_once.clone() };
    let other = |file_system: &str, options| Place { file_system: Some(file_system.to_owned()), ..ext4(options) };
    let btrfs = other("btrfs", &["discard=async"]);
    let xfs = other("xfs", &["discard"]);
    for (run, places) in [
        // It only overwrites, while fstrim runs.
        (discarding(&[], None), &[Some(&at_once)][..]),
        // ext4 discards in the background.
        (discarding(&[OpKind::Unlink], Some(Journal::default())), &[Some(&at_once)]),
        (deleting(), &[Some(&ordinary)]),
        (deleting(), &[Some(&nested)]),
        (deleting(), &[Some(&btrfs)]),
        (deleting(), &[Some(&xfs)]),
        // A file system that diskperf created, alone and beside another one.
        (deleting(), &[None]),
        (deleting(), &[Some(&at_once), None]),
        (deleting(), &[]),
    ] {
        let (used, what) = judged(&run, places);
        let work = used.device.as_ref().expect("a device");
        assert_eq!((work.discarding, work.discarding_apart), (Nanos::ZERO, Nanos::from_millis(650)));
        assert_eq!((work.requests_time, what), (Nanos::from_millis(100), Bottleneck::NotMeasured), "{places:?}");
        let why = "vda at least 73 % busy, mostly with discards in the background or for other programs";
        assert_eq!(limited_by(&used).0.evidence, why);
    }
}
