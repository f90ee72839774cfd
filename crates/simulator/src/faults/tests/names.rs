//! Properties of names and inodes that take time, and of the update daemon.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;
use workload::{Access, Body, Handle, Mode, Name, Op, Step, Stream, Tally, World};

use crate::cache::Cache;
use crate::computer::{Chance, Computer};
use crate::cpu::Cause;
use crate::description::samples::{eagle, kernel, massbus};
use crate::description::{Description, FileSystem, Names};
use crate::fs::ffs::Ffs;
use crate::fs::{Host, NameCall, NameWork};

const FILES: u32 = 40;

fn timed() -> Description {
    let mut description = massbus();
    let FileSystem::Ffs(ffs) = &mut description.file_systems[0] else { unreachable!("a sample") };
    ffs.names = Names::Timed;
    description.kernel.jitter_permille = 0;
    description
}

fn computer(description: &Description) -> Computer {
    Computer::new(description, &description.file_systems[0], 1, Chance::default()).expect("a computer")
}

fn run(computer: &mut Computer, steps: Stream) {
    let mut tallies = [Tally::default()];
    let Ok(_) = computer.run(&mut [steps], &mut tallies);
    assert_eq!(tallies[0].failure, None);
}

fn create(name: Name) -> Op {
    Op::Create { name, handle: Handle::new(0), mode: Mode::default() }
}

fn files() -> Stream {
    Stream::from_ops((0..FILES).map(|number| create(Name::root(number))).collect())
}

/// The time of the steps on names, apart from their search, and of comparing all entries for each new file.
pub(super) fn every_entry_is_compared() -> bool {
    let description = timed();
    let mut computer = computer(&description);
    run(&mut computer, files());
    let kernel = &description.kernel;
    // `.` and `..`, and the files that exist.
    let entries: u64 = (0..u64::from(FILES)).map(|files| 2 + files).sum();
    let searches = u64::from(FILES) * (kernel.name_component.0 + kernel.inode_update.0) + entries * kernel.name_entry.0;
    // Each handle that is used again closes a file, which has no time of its own.
    computer.accounts().cpu.busy[Cause::Names as usize] == Nanos(searches)
}

/// Two writes for each file have ended when its call returns.
pub(super) fn a_new_file_waits_for_inode_and_directory() -> bool {
    let mut computer = computer(&timed());
    let Ok(()) = computer.watch();
    run(&mut computer, files());
    computer.counters().expect("counters").layers[0].used.writes == u64::from(2 * FILES)
}

pub(super) fn a_longer_file_takes_longer_to_remove() -> bool {
    let names = |blocks: u32| {
        let mut computer = computer(&timed());
        let file = Name::root(0);
        let write = Op::Write { handle: Handle::new(0), length: blocks * 8192 };
        let close = Op::Close { handle: Handle::new(0) };
        let steps = [create(file), write, close].map(Step::Op);
        computer.prepare(0, steps.into_iter()).expect("a file");
        run(&mut computer, Stream::from_ops(vec![Op::Unlink { name: file }]));
        computer.accounts().cpu.busy[Cause::Names as usize]
    };
    names(11) - names(1) == Nanos(10 * timed().kernel.block_free.0)
}

/// A partly written block is on the drive after two periods of the daemon.
pub(super) fn the_daemon_writes_what_is_left() -> bool {
    let mut description = timed();
    description.kernel.update = Nanos::from_secs(5);
    let mut computer = computer(&description);
    let write = Op::Write { handle: Handle::new(0), length: 1000 };
    run(&mut computer, Stream::from_ops(vec![create(Name::root(0)), write]));
    let before = computer.unwritten().expect("a count").expect("known").pages;
    let reads = Body::Calls { call: Op::Read { handle: Handle::new(1), length: 1 }, left: 3 };
    let open = Op::Open { name: Name::root(0), handle: Handle::new(1), access: Access::Read, mode: Mode::default() };
    run(&mut computer, Stream::open(vec![open], reads).thinking(Nanos::from_secs(10), 1, 1));
    before > 0 && computer.unwritten().expect("a count").expect("known").pages == 0
}

pub(super) fn directories_are_in_different_groups() -> bool {
    let (kernel, mut cache) = (kernel(), Cache::new(16));
    let mut host = Host { kernel: &kernel, cache: &mut cache, drive: 0, held: 0 };
    let FileSystem::Ffs(settings) = &timed().file_systems[0] else { unreachable!("a sample") };
    let mut file_system = Ffs::new(&eagle(), settings);
    let root = 100;
    let mut group = |directory| {
        let file = 10 + directory;
        for (work, directory, file) in [(NameWork::MakeDirectory, root, directory), (NameWork::Create, directory, file)]
        {
            let call = NameCall { work, root, directory, file, releases: false };
            file_system.prepare_name(call, &mut host).expect("room");
        }
        file_system.allocate(file, 0, 1000).expect("room");
        file_system.place(file, 0).expect("a block").sector / (16 * 960)
    };
    let groups: Vec<u32> = (1..=3).map(&mut group).collect();
    groups[0] != groups[1] && groups[1] != groups[2] && groups[0] != groups[2]
}
