//! A log-structured file system on simulated computers.

use alloc::vec::Vec;

use workload::programs::lfs::{LargeFile, SmallFiles};
use workload::{Cache, Tally, World};

use crate::computer::{Chance, Computer};
use crate::description::samples::{early_massbus, massbus, uda};
use crate::description::{CleanerPolicy, Description, FileSystem, Lfs, Names};

pub(crate) fn lfs() -> Lfs {
    Lfs {
        name: "LFS".into(),
        block_bytes: 4096,
        fragment_bytes: 4096,
        segment_bytes: 1 << 20,
        cleaner: CleanerPolicy::CostBenefit { age_limit_permille: 1000 },
        age_sort: true,
        clean_below: 8,
        clean_until: 12,
        batch: 8,
        checkpoint_bytes: 10 << 20,
        reserve_permille: 100,
        read_cluster: 8,
        names: Names::Timed,
    }
}

fn with(mut description: Description, file_system: FileSystem) -> Description {
    if let FileSystem::Ffs(mut ffs) = file_system {
        ffs.names = Names::Timed;
        description.file_systems = [FileSystem::Ffs(ffs)].into();
    } else {
        description.file_systems = [file_system].into();
    }
    description
}

/// Runs the phases of a program from a cold cache, each until its data are durable. Returns the time of each in ms.
fn phases(description: &Description, program: &workload::Program) -> Vec<u64> {
    let mut computer =
        Computer::new(description, &description.file_systems[0], 1, Chance::default()).expect("a computer");
    let mut run = |steps: &workload::Stream| {
        let mut tallies = [Tally::default()];
        let Ok(spans) = computer.run(&mut [steps.clone()], &mut tallies);
        assert_eq!(tallies[0].failure, None, "{}", description.name);
        let Ok(_) = computer.set_cache_state(Cache::Cold);
        spans[0].elapsed().0 / 1_000_000
    };
    run(&program.prepare);
    program.phases.iter().map(|phase| run(&phase.steps) + run(&phase.durable)).collect()
}

/// Every machine can use it. Random writes become sequential, and later sequential reads become random.
#[test]
fn a_log_gains_on_writes_and_loses_on_later_reads() {
    for machine in [massbus(), early_massbus(), uda()] {
        let ffs = machine.file_systems[1].clone();
        let large = LargeFile { seed: 7, ..LargeFile::new(4 << 20) }.program();
        let of = |file_system| phases(&with(machine.clone(), file_system), &large);
        let (ffs, lfs) = (of(ffs), of(FileSystem::Lfs(lfs())));
        assert!(lfs[2] < ffs[2], "write random: {lfs:?} against {ffs:?}");
        assert!(lfs[4] > ffs[4], "read sequential again: {lfs:?} against {ffs:?}");
    }
}

#[test]
fn a_log_creates_and_deletes_files_without_waiting() {
    let machine = massbus();
    let small = SmallFiles::new(300, 1024).program();
    let of = |file_system| phases(&with(machine.clone(), file_system), &small);
    let (ffs, lfs) = (of(machine.file_systems[1].clone()), of(FileSystem::Lfs(lfs())));
    assert!(2 * lfs[0] < ffs[0] && 2 * lfs[2] < ffs[2], "{lfs:?} against {ffs:?}");
}

/// A sequential read reads each block of the file once, and its directory, inode and indirect block.
#[test]
fn a_sequential_read_reads_no_block_twice() {
    let machine = with(massbus(), FileSystem::Lfs(lfs()));
    let program = LargeFile { seed: 7, ..LargeFile::new(2 << 20) }.program();
    let mut computer = Computer::new(&machine, &machine.file_systems[0], 1, Chance::default()).expect("a computer");
    let mut run = |steps: &workload::Stream| {
        let before = computer.device_bytes().expect("counted").read;
        let mut tallies = [Tally::default()];
        let Ok(_) = computer.run(&mut [steps.clone()], &mut tallies);
        assert_eq!(tallies[0].failure, None);
        let Ok(_) = computer.set_cache_state(Cache::Cold);
        computer.device_bytes().expect("counted").read - before
    };
    run(&program.prepare);
    for phase in &program.phases[..1] {
        run(&phase.steps);
        run(&phase.durable);
    }
    let read = run(&program.phases[1].steps);
    assert!((2 << 20..=(2 << 20) + 3 * 4096).contains(&read), "{read}");
}
