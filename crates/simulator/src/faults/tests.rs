//! Each fault violates a property of the model that holds without the fault.

use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};
use workload::programs::classic1983::Classic;
use workload::{Name, Stream, Tally, World};

use super::{Fault, plant};
use crate::computer::{Chance, Computer};
use crate::cpu::{Cause, Completed, Processor};
use crate::description::samples::{eagle, early_massbus, ffs, massbus, uda};
use crate::description::{Attention, Controller, DataLate, Description, Microcode, Queue, Rival, Search};
use crate::drive::{Activity, Drive};
use crate::engine::Engine;
use crate::experiment::{Outcome, samples};
use crate::fs::ffs::Ffs;
use crate::queue::{DriveQueue, Waiting};

mod law;
mod names;

const FILE: u64 = 1 << 20;

/// Blocks per file.
const BLOCKS: u64 = FILE / 8192;

#[test]
fn every_planted_fault_is_found() {
    for (name, fault) in Fault::NAMES {
        assert!(holds(fault), "what {name} would break does not hold without it");
        plant(Fault::named(name));
        let found = !holds(fault);
        plant(None);
        assert!(found, "{name} is not found");
    }
}

/// Returns whether the property holds that the fault violates.
fn holds(fault: Fault) -> bool {
    match fault {
        Fault::RotationOffByASector => a_sector_is_reached_when_it_is_under_the_heads(),
        Fault::UnfairWakeUp => who_is_ready_first_runs_first(),
        Fault::NoZeroFill => every_new_block_is_cleared(),
        Fault::DisksortBackwards => the_elevator_goes_upwards(),
        Fault::LockedSpindles => two_platters_do_not_stay_together(),
        Fault::NoSearchLead => a_lead_in_time_saves_turns(),
        Fault::LostAttentionIgnored => a_lost_call_costs_turns(),
        Fault::NoSlowDown => transfers_slow_the_processor_down(),
        Fault::ReadAheadOfTwo => one_block_is_read_ahead(),
        Fault::InterruptsNotCharged => interrupts_belong_to_whom_they_interrupt(),
        Fault::IndirectBlocksNotRead => a_file_is_read_with_its_indirect_block(),
        Fault::NoTurnaround => every_request_is_turned_to(),
        Fault::NoLateData => a_bus_that_lets_wait_loses_turns(),
        Fault::SingleDriveSearches => a_single_drive_never_searches(),
        Fault::NoCriticalSections => critical_sections_delay_interrupts(),
        Fault::AnyWorkIsRival => only_moves_make_grants_late(),
        Fault::AttentionNotKept => a_kept_call_saves_turns(),
        Fault::ParallelMicrocode => a_serial_microcode_delays_searches(),
        Fault::NoRotationalDelay => blocks_lie_a_delay_apart(),
        Fault::DirectoriesNotSearched => names::every_entry_is_compared(),
        Fault::InodesNotWritten | Fault::DirectoriesNotWritten => names::a_new_file_waits_for_inode_and_directory(),
        Fault::FreeingTakesNoTime => names::a_longer_file_takes_longer_to_remove(),
        Fault::NoUpdate => names::the_daemon_writes_what_is_left(),
        Fault::NoDirpref => names::directories_are_in_different_groups(),
        Fault::OneLatency => law::a_size_between_two_takes_a_time_between(),
        Fault::NoRequestGate => law::small_requests_pass_at_the_rate_of_the_gate(),
        Fault::NoByteGate => law::large_requests_pass_at_the_rate_of_the_gate(),
        Fault::NoRequestBucket => law::requests_beyond_the_burst_come_at_the_rate(),
        Fault::NoByteBucket => law::bytes_beyond_the_burst_come_at_the_rate(),
        Fault::NoRefill => law::a_rest_gives_credit(),
        Fault::BiosNotCounted => law::a_request_of_four_bios_costs_four_tokens(),
        Fault::AnySizeIsOneRequest => law::a_request_of_four_units_costs_four_tokens(),
        Fault::NoFlushBase => law::a_flush_takes_its_base(),
        Fault::NothingDrained => law::a_flush_drains_what_was_written(),
        Fault::EndlessWriteCache => law::a_full_cache_takes_writes_at_its_drain_rate(),
    }
}

fn run(description: &Description, drives: usize, program: Classic) -> Outcome {
    samples::run(description, 0, drives, (program, FILE), Chance::default())
}

/// Returns the number of read requests that a drive serves while the steps read a file of `FILE` bytes.
fn reads(steps: Stream) -> u64 {
    let description = massbus();
    let mut computer =
        Computer::new(&description, &description.file_systems[0], 1, Chance::default()).expect("a computer");
    computer.prepare(0, Classic::Read8192.program(FILE).prepare).expect("a file");
    let Ok(()) = computer.watch();
    let Ok(_) = computer.run(&mut [steps], &mut [Tally::default()]);
    // Wait for the read-ahead, too.
    let Ok(_) = computer.quiesce();
    computer.counters().expect("counters").layers[0].used.reads
}

fn moments() -> impl Iterator<Item = Moment<Virtual>> {
    (0..100).map(|step| Moment::from_zero(Nanos::from_millis(step * 37)))
}

fn a_sector_is_reached_when_it_is_under_the_heads() -> bool {
    let drive = Drive::new(&eagle(), 0, 0);
    moments()
        .zip(0..)
        .all(|(from, sector)| drive.under_heads(drive.reaches(sector, from)) == drive.geometry().angle(sector))
}

fn who_is_ready_first_runs_first() -> bool {
    let (mut engine, description) = (Engine::new(1), massbus());
    let mut processor: Processor<()> = Processor::new(&description.cpu, &description.kernel, 3);
    (0..3).for_each(|process| processor.admit(&engine, process));
    let mut order = Vec::new();
    for _ in 0..3 {
        processor.dispatch(&mut engine);
        engine.calendar.next();
        if let Completed::Process(process) = processor.completed(&engine) {
            processor.leave(process);
            order.push(process);
        }
    }
    order == [0, 1, 2]
}

/// As many Kbytes as the file has, at the described time per Kbyte, except for jitter.
fn every_new_block_is_cleared() -> bool {
    let description = massbus();
    let cleared = run(&description, 1, Classic::Write8192).parts.cpu.busy[Cause::Clear as usize].0;
    let expected = description.kernel.clear_per_kib.0 * (FILE / 1024);
    cleared > expected * 9 / 10 && cleared < expected * 11 / 10
}

fn the_elevator_goes_upwards() -> bool {
    let mut queue = DriveQueue::new(Queue::Disksort);
    for cylinder in [10, 40, 20, 30] {
        queue.insert(Waiting { cylinder, reads: true, request: cylinder });
    }
    core::iter::from_fn(|| queue.take_first()).eq([10, 20, 30, 40])
}

fn two_platters_do_not_stay_together() -> bool {
    let drives = [0, 1].map(|index| Drive::new(&eagle(), index, 0));
    moments().any(|moment| drives[0].under_heads(moment) != drives[1].under_heads(moment))
}

fn turns_lost(description: &Description, drives: usize, program: Classic) -> u64 {
    let parts = run(description, drives, program).parts;
    parts.drives.iter().map(|spent| spent[Activity::LostTurn as usize].0).sum()
}

fn a_lead_in_time_saves_turns() -> bool {
    let elapsed = |lead_sectors| {
        let mut description = massbus();
        let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
        settings.search = Search::Lead { lead_sectors, window_sectors: 0 };
        run(&description, 1, Classic::Read8192).parts.elapsed
    };
    elapsed(7) < elapsed(0)
}

fn a_lost_call_costs_turns() -> bool {
    let mut description = massbus();
    let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
    settings.attention = Attention::Polled;
    let read = Classic::Read8192;
    turns_lost(&description, 2, read) > 0 && turns_lost(&massbus(), 2, read) == 0
}

fn transfers_slow_the_processor_down() -> bool {
    run(&massbus(), 1, Classic::Write8192).parts.cpu.busy[Cause::Slowed as usize] > Nanos::ZERO
}

/// Of the first three blocks, reading the second starts read-ahead of the third, and reading the third that of a
/// fourth.
fn one_block_is_read_ahead() -> bool {
    reads(Classic::Read8192.steps(Name::root(0), 3 * 8192)) == 4
}

fn interrupts_belong_to_whom_they_interrupt() -> bool {
    run(&massbus(), 1, Classic::Write8192).programs[0].interrupted > Nanos::ZERO
}

fn a_file_is_read_with_its_indirect_block() -> bool {
    reads(Classic::Read8192.steps(Name::root(0), FILE)) == BLOCKS + 1
}

/// At least the shortest turnaround that jitter allows, for each block.
fn every_request_is_turned_to() -> bool {
    let description = uda();
    let Controller::Uda(settings) = &description.controller else { unreachable!("a sample") };
    let least = settings.turnaround.0 * u64::from(1000 - settings.jitter_permille) / 1000;
    let spent = run(&description, 1, Classic::Rewrite8192).parts.drives[0][Activity::Controller as usize];
    spent.0 >= least * BLOCKS
}

fn a_bus_that_lets_wait_loses_turns() -> bool {
    turns_lost(&early_massbus(), 1, Classic::Rewrite8192) > 0
}

/// Without a search, the block is read with one interrupt and not with two.
fn a_single_drive_never_searches() -> bool {
    let interrupts = |configured_drives| {
        let mut description = massbus();
        let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
        settings.configured_drives = configured_drives;
        run(&description, 1, Classic::Read8192).parts.cpu.busy[Cause::Interrupt as usize].0
    };
    interrupts(1) * 10 < interrupts(2) * 6
}

/// An interrupt that is raised within a critical section is served after it.
fn critical_sections_delay_interrupts() -> bool {
    let (mut engine, mut description) = (Engine::new(1), massbus());
    description.kernel.critical_section = Nanos::from_millis(1);
    description.kernel.jitter_permille = 0;
    let mut processor: Processor<()> = Processor::new(&description.cpu, &description.kernel, 1);
    processor.admit(&engine, 0);
    processor.dispatch(&mut engine);
    engine.calendar.next();
    let _ = processor.completed(&engine);
    // The last millisecond of three.
    processor.spend(&mut engine, 0, (Cause::BlockRead, Nanos::from_millis(3)), false);
    processor.dispatch(&mut engine);
    engine.calendar.repeat_after(Nanos::from_micros(2500));
    engine.calendar.next();
    processor.interrupt(&mut engine, Nanos::from_micros(100), Cause::Interrupt, ());
    engine.calendar.next();
    matches!(processor.completed(&engine), Completed::Process(0))
}

/// If only copies make grants late, fewer turns are lost than if all work does: most sectors pass while the processor
/// does other work or none.
fn only_moves_make_grants_late() -> bool {
    let lost = |rival| {
        let mut description = early_massbus();
        description.bus.data_late = Some(DataLate { at_work_ppm: 200_000, from_memory_ppm: 0, rival, slips: 3 });
        turns_lost(&description, 1, Classic::Write4096)
    };
    lost(Rival::Moves) * 10 < lost(Rival::Work) * 9
}

fn a_kept_call_saves_turns() -> bool {
    let lost = |attention_kept| {
        let mut description = massbus();
        let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
        (settings.attention, settings.attention_kept) = (Attention::Polled, attention_kept);
        turns_lost(&description, 2, Classic::Read8192)
    };
    lost(Nanos::from_millis(14)) < lost(Nanos::ZERO)
}

/// While one drive transfers, the other's search waits.
fn a_serial_microcode_delays_searches() -> bool {
    let elapsed = |microcode| {
        let mut description = massbus();
        let Controller::Massbus(settings) = &mut description.controller else { unreachable!("a sample") };
        (settings.microcode, settings.search_start) = (microcode, Nanos::from_millis(2));
        run(&description, 2, Classic::Rewrite8192).parts.elapsed
    };
    elapsed(Microcode::Serial) > elapsed(Microcode::Parallel)
}

/// Between blocks of 8 Kbytes, one block is skipped for 4 ms.
fn blocks_lie_a_delay_apart() -> bool {
    let mut file_system = Ffs::new(&eagle(), &ffs(8192, 4));
    let mut sector = |block| {
        file_system.allocate(1, block, 8192).expect("room");
        file_system.place(1, block).expect("a block").sector
    };
    let sectors: Vec<u32> = (0..100).map(&mut sector).collect();
    sectors[99] - sectors[98] == 32
}
