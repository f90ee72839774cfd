//! What must hold of every simulated computer: the same again is the same, chance is chance, every nanosecond has one
//! owner, and what 1983 found out shows.

use alloc::vec::Vec;

use workload::programs::mckusick::Classic;
use workload::{Name, Reason, Tally, World};

use crate::computer::{Chance, Computer};
use crate::description::samples::{early_massbus, massbus, uda};
use crate::description::{Bus, Controller, DataLate, Description};
use crate::experiment::{Experiment, Outcome};

const FILE: u64 = 2 << 20;

fn run(description: &Description, file_system: usize, drives: usize, program: Classic, chance: Chance) -> Outcome {
    let file_system = &description.file_systems[file_system];
    let (prepare, steps) = (program.program(FILE).prepare, program.steps(Name::root(0), FILE));
    let experiment = Experiment { description, file_system, drives, prepare: &prepare, steps: &steps, bytes: FILE };
    experiment.run(chance).expect("a computer")
}

/// The mean rate over some phases of the spindles.
fn rate(description: &Description, file_system: usize, drives: usize, program: Classic) -> u64 {
    let phase = |phase| run(description, file_system, drives, program, Chance { phase, ..Chance::default() });
    (0..4).map(|index| phase(index).milli_kbytes_per_second()).sum::<u64>() / 4
}

#[test]
fn the_same_again_is_the_same_and_another_chance_is_not() {
    for description in [massbus(), early_massbus(), uda()] {
        let hash = |chance| run(&description, 0, 2, Classic::Write8192, chance).hash;
        assert_eq!(hash(Chance::default()), hash(Chance::default()));
        assert_ne!(hash(Chance::default()), hash(Chance { seed: 1, ..Chance::default() }));
        assert_ne!(hash(Chance::default()), hash(Chance { phase: 3, ..Chance::default() }));
    }
}

/// The sums are asserted inside; here, that every program of every computer gets through them.
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

/// Two drives on a MASSBUS get in each other's way; a UDA50 serves both.
#[test]
fn two_drives_help_where_the_controller_buffers() {
    for program in [Classic::Read8192, Classic::Rewrite8192] {
        assert!(rate(&massbus(), 0, 2, program) < rate(&massbus(), 0, 1, program), "{program:?}");
        assert!(rate(&uda(), 0, 2, program) > rate(&uda(), 0, 1, program), "{program:?}");
    }
}

#[test]
fn better_arbitration_raises_every_rate() {
    for program in Classic::ALL {
        let late = DataLate { to_memory_ppm: 30_000, from_memory_ppm: 80_000, idle_permille: 200 };
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

/// A call that never returns is stood in for by one that takes longer than is waited for.
#[test]
fn a_simulation_that_would_not_end_is_stopped_and_says_so() {
    let description = uda();
    let mut computer = Computer::new(&description, &description.file_systems[0], 2, Chance::default()).expect("one");
    let streams = || [Classic::Write8192.steps(Name::root(0), FILE), Classic::Write8192.steps(Name::root(0), FILE)];
    let run = |computer: &mut Computer| {
        let mut tallies = [Tally::default(), Tally::default()];
        let Ok(_) = computer.run(&mut streams(), &mut tallies);
        tallies.map(|tally| tally.failure.map(|failure| failure.reason))
    };
    assert_eq!((run(&mut computer), computer.is_stuck()), ([None, None], false));
    computer.most_events = 2;
    assert_eq!((run(&mut computer), computer.is_stuck()), ([Some(Reason::Unending); 2], true));
    // And for good.
    computer.most_events = super::MOST_EVENTS;
    assert_eq!(run(&mut computer), [Some(Reason::Unending); 2]);
    assert!(!computer.quiesce().expect("a calm").reached);
}

/// The same events at the same moments in every build on every platform. Where the model changes, so do these.
#[test]
fn events_are_the_same_everywhere() {
    let hash = |description: &Description| run(description, 0, 2, Classic::Write8192, Chance::default()).hash;
    let hashes = [massbus(), early_massbus(), uda()].map(|description| hash(&description));
    assert_eq!(hashes, [10_987_341_088_833_923_206, 3_848_698_422_988_002_449, 11_761_787_249_463_794_840]);
}

/// However much a controller can hold: 400 Kbytes a second pass the bus, and no more come out.
#[test]
fn no_buffer_makes_a_bus_faster() {
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
