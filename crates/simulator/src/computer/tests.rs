//! Properties of every simulated computer: identical runs give identical results, random choices change them, every
//! nanosecond has one owner, and the findings of 1983 appear.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::AtomicBool;

use proptest::prelude::*;
use units::Nanos;
use workload::programs::classic1983::Classic;
use workload::{Access, Body, Handle, Mode, Name, Op, Reason, Stream, Tally, World};

use crate::computer::watchdog::Watchdog;
use crate::computer::{Chance, Computer};
use crate::description::samples::{early_massbus, ide, massbus, uda};
use crate::description::{Bus, Controller, DataLate, Description, Ext2, Ffs, FileSystem, Ide, Names, Rival};
use crate::experiment::{Outcome, samples};

const FILE: u64 = 2 << 20;

fn run(description: &Description, file_system: usize, drives: usize, program: Classic, chance: Chance) -> Outcome {
    samples::run(description, file_system, drives, (program, FILE), chance)
}

/// The mean rate over four starting positions of the platters.
fn rate(description: &Description, file_system: usize, drives: usize, program: Classic) -> u64 {
    let phase = |phase| run(description, file_system, drives, program, Chance { phase, ..Chance::default() });
    (0..4).map(|index| phase(index).milli_kbytes_per_second()).sum::<u64>() / 4
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    for description in [massbus(), early_massbus(), uda(), ide()] {
        let hash = |chance| run(&description, 0, 2, Classic::Write8192, chance).hash;
        assert_eq!(hash(Chance::default()), hash(Chance::default()));
        assert_ne!(hash(Chance::default()), hash(Chance { seed: 1, ..Chance::default() }));
        assert_ne!(hash(Chance::default()), hash(Chance { phase: 3, ..Chance::default() }));
    }
}

/// The sums are asserted inside. This test runs every program on every computer.
#[test]
fn every_nanosecond_has_one_owner() {
    for description in [massbus(), early_massbus(), uda()] {
        for program in Classic::ALL {
            for drives in [1, 2] {
                for file_system in [0, 1] {
                    let outcome = run(&description, file_system, drives, program, Chance::default());
                    let processor: u64 = outcome.programs.iter().map(|time| time.cpu().0).sum();
                    let busy: u64 = outcome.parts.cpu.busy.iter().map(|time| time.0).sum();
                    assert!(processor <= busy, "{}", description.name);
                }
            }
        }
    }
}

#[test]
fn smaller_blocks_and_an_early_controller_are_slower() {
    for program in Classic::ALL {
        for (description, drives) in [(massbus(), 1), (uda(), 1)] {
            assert!(rate(&description, 1, drives, program) < rate(&description, 0, drives, program), "{program:?}");
        }
        assert!(rate(&early_massbus(), 0, 1, program) < rate(&massbus(), 0, 1, program), "{program:?}");
    }
}

/// Two drives on a MASSBUS delay each other; a UDA50 serves both.
#[test]
fn two_drives_help_if_the_controller_buffers() {
    for program in [Classic::Read8192, Classic::Rewrite8192] {
        assert!(rate(&massbus(), 0, 2, program) < rate(&massbus(), 0, 1, program), "{program:?}");
        assert!(rate(&uda(), 0, 2, program) > rate(&uda(), 0, 1, program), "{program:?}");
    }
}

#[test]
fn better_arbitration_raises_every_rate() {
    for program in Classic::ALL {
        let late = DataLate { at_work_ppm: 100_000, from_memory_ppm: 150_000, rival: Rival::Work, slips: 3 };
        let before = Description { bus: Bus { data_late: Some(late), ..massbus().bus }, ..massbus() };
        assert!(rate(&before, 0, 1, program) < rate(&massbus(), 0, 1, program), "{program:?}");
    }
}

#[test]
fn a_bus_slower_than_the_platter_needs_a_buffer() {
    let with_buffer = |buffer_sectors| {
        let mut description = massbus();
        description.bus.to_memory_bytes_per_second = 1_000_000;
        let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
        settings.buffer_sectors = buffer_sectors;
        rate(&description, 0, 1, Classic::Read8192)
    };
    let rates: Vec<u64> = [1, 4, 16].into_iter().map(with_buffer).collect();
    assert!(rates.windows(2).all(|pair| pair[0] < pair[1]), "{rates:?}");
}

/// However often an overrun occurs, every sector crosses the bus once and occupies it for the same time.
#[test]
fn bus_time_is_proportional_to_sectors() {
    for buffer_sectors in [1, 4, 16] {
        let mut description = massbus();
        // One sector takes 512 us.
        description.bus.to_memory_bytes_per_second = 1_000_000;
        let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
        settings.buffer_sectors = buffer_sectors;
        let outcome = run(&description, 0, 1, Classic::Read8192, Chance::default());
        // The file and its indirect block.
        let sectors = (FILE + 8192) / 512;
        assert_eq!(outcome.parts.bus.busy, Nanos(sectors * 512_000), "{buffer_sectors}");
    }
}

/// Two drives want more than the whole buffer of a UDA50; both get the same share.
#[test]
fn drives_share_a_buffer_fairly() {
    for drives in [2, 3] {
        let outcome = run(&uda(), 0, drives, Classic::Rewrite8192, Chance::default());
        let times = || outcome.programs.iter().map(|program| program.elapsed);
        let (least, most) = (times().min().expect("drives"), times().max().expect("drives"));
        assert!(most.0 < least.0 * 11 / 10, "{drives}: from {least} to {most}");
    }
}

/// A bus that needs eight seconds per block, and a clock that ticks ten thousand times a second.
#[test]
fn endless_simulations_are_stopped_with_a_reason() {
    let description = uda();
    let mut computer = Computer::new(&description, &description.file_systems[0], 2, Chance::default()).expect("one");
    let streams = || [Classic::Write8192.steps(Name::root(0), FILE), Classic::Write8192.steps(Name::root(0), FILE)];
    let run = |computer: &mut Computer| {
        let mut tallies = [Tally::default(), Tally::default()];
        let Ok(_) = computer.run(&mut streams(), &mut tallies);
        tallies.map(|tally| tally.failure.map(|failure| failure.reason))
    };
    assert_eq!((run(&mut computer), computer.is_stuck()), ([None, None], false));
    let mut description = uda();
    description.bus.from_memory_bytes_per_second = 1000;
    (description.kernel.clock_hertz, description.kernel.clock_tick) = (10_000, Nanos(10));
    let mut computer = Computer::new(&description, &description.file_systems[0], 2, Chance::default()).expect("one");
    computer.watchdog = Watchdog::with_limit(10_000);
    assert_eq!((run(&mut computer), computer.is_stuck()), ([Some(Reason::Unending); 2], true));
    // It stays given up.
    computer.watchdog.grant(u64::MAX);
    assert_eq!(run(&mut computer), [Some(Reason::Unending); 2]);
    assert!(!computer.quiesce().expect("quiescence").reached);
}

#[test]
fn a_stop_request_ends_a_running_simulation() {
    let description = massbus();
    let mut computer = Computer::new(&description, &description.file_systems[0], 1, Chance::default()).expect("one");
    let stop = Arc::new(AtomicBool::new(true));
    computer.heed(stop);
    let mut tallies = [Tally::default()];
    let Ok(_) = computer.run(&mut [Classic::Write8192.steps(Name::root(0), FILE)], &mut tallies);
    assert_eq!(tallies[0].failure.map(|failure| failure.reason), Some(Reason::Interrupted));
    assert!(!computer.is_stuck() && tallies[0].bytes_written < FILE);
}

/// A computer stores state, not history: a hundred times as many calls do not increase its memory.
#[test]
fn memory_does_not_grow_with_the_number_of_operations() {
    let size = |calls| {
        let description = uda();
        let mut computer =
            Computer::new(&description, &description.file_systems[0], 1, Chance::default()).expect("one");
        computer.prepare(0, Classic::Read8192.program(64 << 10).prepare).expect("a file");
        let handle = Handle::new(0);
        let open = Op::Open { name: Name::root(0), handle, access: Access::ReadWrite, mode: Mode::default() };
        let call = Op::WriteAt { handle, length: 8192, offset: 8192 };
        let mut tallies = [Tally::default()];
        let Ok(_) =
            computer.run(&mut [Stream::open(alloc::vec![open], Body::Calls { call, left: calls })], &mut tallies);
        assert_eq!((tallies[0].failure, tallies[0].bytes_written), (None, 8192 * calls));
        // The debug text contains all containers with their elements.
        alloc::format!("{computer:?}").len()
    };
    let (few, many) = (size(100), size(10_000));
    assert!(many < few + few / 20, "{few} -> {many}");
}

/// An integer field of a description.
type Number = fn(&mut Description) -> Option<&mut u32>;

/// A time field of a description.
type Time = fn(&mut Description) -> Option<&mut Nanos>;

fn uda_of(description: &mut Description) -> Option<&mut crate::description::Uda> {
    if let Controller::Uda(uda) = &mut description.controller { Some(uda) } else { None }
}

fn massbus_of(description: &mut Description) -> Option<&mut crate::description::Massbus> {
    if let Controller::Massbus(massbus) = &mut description.controller { Some(massbus) } else { None }
}

fn ide_of(description: &mut Description) -> Option<&mut Ide> {
    if let Controller::Ide(ide) = &mut description.controller { Some(ide) } else { None }
}

fn ffs_of(description: &mut Description) -> Option<&mut Ffs> {
    if let FileSystem::Ffs(ffs) = &mut description.file_systems[0] { Some(ffs) } else { None }
}

fn ext2_of(description: &mut Description) -> Option<&mut Ext2> {
    if let FileSystem::Ext2(ext2) = &mut description.file_systems[0] { Some(ext2) } else { None }
}

const NUMBERS: &[Number] = &[
    |of| Some(&mut of.cpu.code_permille),
    |of| Some(&mut of.cpu.copy_permille),
    |of| Some(&mut of.kernel.clock_hertz),
    |of| Some(&mut of.kernel.jitter_permille),
    |of| Some(&mut of.kernel.cache_permille),
    |of| Some(&mut of.bus.slow_down_permille),
    |of| Some(&mut of.bus.other_traffic_permille),
    |of| Some(&mut of.drive.sectors_per_track),
    |of| Some(&mut of.drive.heads),
    |of| Some(&mut of.drive.cylinders),
    |of| Some(&mut of.drive.milli_rpm),
    |of| Some(&mut of.drive.speed_deviation_ppm),
    |of| Some(&mut of.drive.track_skew_sectors),
    |of| Some(&mut of.drive.first_sector),
    |of| Some(&mut ffs_of(of)?.fragment_bytes),
    |of| Some(&mut ffs_of(of)?.blocks_per_group),
    |of| Some(&mut ffs_of(of)?.cylinders_per_group),
    |of| Some(&mut ffs_of(of)?.bytes_per_inode),
    |of| Some(&mut uda_of(of)?.commands),
    |of| Some(&mut uda_of(of)?.buffer_sectors),
    |of| Some(&mut uda_of(of)?.jitter_permille),
    |of| Some(&mut uda_of(of)?.fetched_writes),
    |of| Some(&mut massbus_of(of)?.buffer_sectors),
    |of| Some(&mut ide_of(of)?.most_sectors),
    |of| Some(&mut ide_of(of)?.segments),
    |of| Some(&mut ide_of(of)?.segment_sectors),
    |of| Some(&mut ide_of(of)?.write_cache_sectors),
    |of| Some(&mut ext2_of(of)?.bytes_per_inode),
    |of| Some(&mut ext2_of(of)?.dirty_blocks),
    |of| Some(&mut ext2_of(of)?.requests),
    |of| Some(&mut ext2_of(of)?.read_ahead_pages),
];

const TIMES: &[Time] = &[
    |of| Some(&mut of.kernel.call),
    |of| Some(&mut of.kernel.copy_per_kib),
    |of| Some(&mut of.kernel.clock_tick),
    |of| Some(&mut of.kernel.wakeup),
    |of| Some(&mut of.kernel.name_component),
    |of| Some(&mut of.kernel.name_entry),
    |of| Some(&mut of.kernel.inode_update),
    |of| Some(&mut of.kernel.block_free),
    |of| Some(&mut of.kernel.update),
    |of| Some(&mut of.drive.seek_least),
    |of| Some(&mut of.drive.seek_average),
    |of| Some(&mut of.drive.seek_most),
    |of| Some(&mut ffs_of(of)?.rotational_delay),
    |of| Some(&mut uda_of(of)?.turnaround),
    |of| Some(&mut uda_of(of)?.command),
    |of| Some(&mut massbus_of(of)?.command),
    |of| Some(&mut massbus_of(of)?.search_start),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any values are either refused, or the simulation runs to its end or is stopped. No arithmetic overflows.
    #[test]
    fn accepted_descriptions_can_be_run(
        machine in 0usize..4,
        numbers in prop::collection::vec((0..NUMBERS.len(), 0u32..=32, any::<u32>()), 0..4),
        times in prop::collection::vec((0..TIMES.len(), 0u32..=40, any::<u64>()), 0..3),
        memory in 16u32..=34,
        drives in 1usize..=2,
        names in prop::sample::select(&[Names::Free, Names::Timed][..]),
    ) {
        let mut description = [massbus, early_massbus, uda, ide][machine]();
        description.file_systems.truncate(1);
        if let Some(ffs) = ffs_of(&mut description) {
            ffs.names = names;
        }
        description.cpu.memory_bytes = 1 << memory;
        for (index, size, value) in numbers {
            let value = u64::from(value) & ((1 << size) - 1);
            if let Some(number) = NUMBERS[index](&mut description) {
                *number = value as u32;
            }
        }
        for (index, size, value) in times {
            if let Some(time) = TIMES[index](&mut description) {
                *time = Nanos(value & ((1 << size) - 1));
            }
        }
        const BYTES: u64 = 128 << 10;
        if description.check(drives as u32, BYTES).is_err() {
            return Ok(());
        }
        let mut computer =
            Computer::new(&description, &description.file_systems[0], drives, Chance::default()).expect("checked");
        computer.watchdog = Watchdog::with_limit(1 << 14);
        for classic in [Classic::Write8192, Classic::Read8192] {
            let mut tallies = [Tally::default(), Tally::default()];
            let mut streams = [classic.steps(Name::root(0), BYTES), classic.steps(Name::root(0), BYTES)];
            let Ok(_) = computer.run(&mut streams[..drives], &mut tallies[..drives]);
            for failure in tallies.iter().filter_map(|tally| tally.failure) {
                prop_assert_eq!(failure.reason, Reason::Unending);
            }
        }
    }
}

/// The same events at the same moments in every build on every platform. If the model changes, these hashes change.
#[test]
fn events_are_the_same_on_every_platform() {
    let hash = |description: &Description| run(description, 0, 2, Classic::Write8192, Chance::default()).hash;
    let hashes = [massbus(), early_massbus(), uda()].map(|description| hash(&description));
    assert_eq!(hashes, [10_987_341_088_833_923_206, 3_800_796_825_441_892_810, 15_464_629_472_198_023_184]);
}

/// However large the buffer of the controller is: a bus of 400 Kbytes per second limits the rate.
#[test]
fn buffers_do_not_make_a_bus_faster() {
    let mut computer = massbus();
    computer.bus.to_memory_bytes_per_second = 400 << 10;
    computer.bus.from_memory_bytes_per_second = 400 << 10;
    let Controller::Massbus(controller) = &mut computer.controller else { unreachable!("a sample") };
    controller.buffer_sectors = 64;
    for program in [Classic::Read8192, Classic::Rewrite8192] {
        let rate = rate(&computer, 0, 1, program);
        assert!((200_000..=400_000).contains(&rate), "{}: {rate}", program.name());
    }
}
