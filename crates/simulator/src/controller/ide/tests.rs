//! Each part of an IDE drive's memory makes a difference, and merged requests are complete at once.

use units::Nanos;
use workload::programs::classic1983::Classic;
use workload::{Handle, Mode, Name, Op, Stream, Tally, World};

use crate::computer::{Chance, Computer};
use crate::description::samples::ide;
use crate::description::{Controller, Description, Ext2, FileSystem, Ide, Metadata};
use crate::experiment::samples;

const FILE: u64 = 2 << 20;

/// A computer whose processor takes hardly any time, with these changes to the drive.
fn with(change: impl Fn(&mut Ide)) -> Description {
    let mut description = ide();
    (description.cpu.code_permille, description.cpu.copy_permille) = (10, 10);
    let Controller::Ide(settings) = &mut description.controller else { unreachable!("a sample") };
    change(settings);
    description
}

fn rate(description: &Description, program: Classic) -> u64 {
    samples::run(description, 0, 1, (program, FILE), Chance::default()).milli_kbytes_per_second()
}

/// The time of a program that only creates this number of empty files.
fn creation(files: u32, change: impl Fn(&mut Ext2)) -> Nanos {
    let mut description = with(|_| ());
    let FileSystem::Ext2(settings) = &mut description.file_systems[0] else { unreachable!("a sample") };
    change(settings);
    let handle = Handle::new(0);
    let ops = (0..files).flat_map(|file| {
        let write = Op::Write { handle, length: 1024 };
        [Op::Create { name: Name::root(file), handle, mode: Mode::default() }, write, Op::Close { handle }]
    });
    let mut computer =
        Computer::new(&description, &description.file_systems[0], 1, Chance::default()).expect("a computer");
    let mut tallies = [Tally::default()];
    let Ok(spans) = computer.run(&mut [Stream::from_ops(ops.collect())], &mut tallies);
    assert_eq!(tallies[0].failure, None);
    spans[0].ended.since(spans[0].began)
}

#[test]
fn a_drive_that_reads_ahead_loses_no_turns() {
    let (ahead, none) = (with(|_| ()), with(|ide| (ide.segments, ide.most_sectors) = (0, 16)));
    // 48 sectors of 512 bytes in each of 66 turns a second.
    let media = 48 * 512 * 66 * 1000 / 1024;
    assert!(rate(&ahead, Classic::Read8192) > media * 7 / 10, "{}", rate(&ahead, Classic::Read8192));
    assert!(rate(&none, Classic::Read8192) < media / 2, "{}", rate(&none, Classic::Read8192));
}

/// One segment is the one that the drive reads into.
#[test]
fn one_segment_is_enough_for_a_sequential_read() {
    let rates = [1, 2].map(|segments| rate(&with(|ide| ide.segments = segments), Classic::Read8192));
    assert!(rates[0] > rates[1] * 9 / 10, "{rates:?}");
}

#[test]
fn a_drive_without_a_write_cache_loses_a_turn_after_each_command() {
    let (cached, none) = (with(|_| ()), with(|ide| ide.write_cache_sectors = 0));
    let rates = [&cached, &none].map(|description| rate(description, Classic::Write8192));
    assert!(rates[0] > rates[1] * 5 / 4, "{rates:?}");
}

#[test]
fn merged_requests_take_fewer_interrupts() {
    let events = |most| {
        let description = with(|ide| ide.most_sectors = most);
        samples::run(&description, 0, 1, (Classic::Write8192, FILE), Chance::default()).events
    };
    assert!(events(255) < events(8), "{} {}", events(255), events(8));
}

#[test]
fn delayed_metadata_save_most_of_the_time_of_creation() {
    let [delayed, sync] = [Metadata::Delayed, Metadata::Sync]
        .map(|metadata| creation(200, |ext2| (ext2.metadata, ext2.dirty_blocks) = (metadata, 1000)).0);
    assert!(delayed * 5 < sync, "{delayed} {sync}");
}

#[test]
fn few_dirty_blocks_make_creation_slower() {
    let [few, many] = [4, 1000].map(|blocks| creation(200, |ext2| ext2.dirty_blocks = blocks).0);
    assert!(many * 2 < few, "{many} {few}");
}
