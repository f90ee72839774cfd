//! Computers for the tests of this crate. The drives are as in the data sheets. The other numbers are round, so that a
//! test can be checked by hand. The machines of the paper are in `machines/`.

use alloc::string::String;
use alloc::vec;

use units::Nanos;

use super::{
    Attention, Bus, Controller, Cpu, DataLate, Description, DeviceLaw, Driver, Ext2, Ffs, FileSystem, Flush, Ide,
    Kernel, Latency, LatencyTable, Massbus, Metadata, Microcode, Names, Queue, Rival, Search, Uda,
};
use crate::description::Drive;

pub(crate) fn eagle() -> Drive {
    Drive {
        name: String::from("Fujitsu 2351A"),
        sectors_per_track: 48,
        heads: 20,
        cylinders: 842,
        milli_rpm: 3_961_000,
        speed_deviation_ppm: 2_000,
        track_skew_sectors: 0,
        seek_least: Nanos::from_millis(5),
        seek_average: Nanos::from_millis(18),
        seek_most: Nanos::from_millis(35),
        first_sector: 391 * 960,
    }
}

pub(crate) fn ra81() -> Drive {
    Drive {
        name: String::from("RA81"),
        sectors_per_track: 51,
        heads: 14,
        cylinders: 1248,
        milli_rpm: 3_600_000,
        seek_least: Nanos::from_millis(6),
        seek_average: Nanos::from_millis(28),
        seek_most: Nanos::from_millis(52),
        first_sector: 131_404,
        ..eagle()
    }
}

pub(crate) fn ffs(block_bytes: u32, rotational_delay_ms: u64) -> Ffs {
    Ffs {
        name: alloc::format!("{}K/1K", block_bytes / 1024),
        block_bytes,
        fragment_bytes: 1024,
        rotational_delay: Nanos::from_millis(rotational_delay_ms),
        blocks_per_group: 256,
        cylinders_per_group: 16,
        bytes_per_inode: 2048,
        names: Names::Free,
    }
}

pub(crate) fn ext2() -> Ext2 {
    Ext2 {
        name: String::from("ext2"),
        block_bytes: 1024,
        bytes_per_inode: 4096,
        metadata: Metadata::Delayed,
        dirty_blocks: 32,
        requests: 128,
        read_ahead_pages: 32,
    }
}

pub(crate) fn kernel() -> Kernel {
    Kernel {
        call: Nanos::from_micros(400),
        copy_per_kib: Nanos::from_micros(800),
        clear_per_kib: Nanos::from_micros(300),
        block_read: Nanos::from_micros(1800),
        block_write: Nanos::from_micros(1700),
        block_allocate: Nanos::from_micros(2000),
        name_component: Nanos::from_micros(2000),
        name_entry: Nanos::from_micros(100),
        inode_allocate: Nanos::from_micros(2000),
        inode_update: Nanos::from_micros(1000),
        block_free: Nanos::from_micros(1000),
        update: Nanos::ZERO,
        context_switch: Nanos::from_micros(400),
        wakeup: Nanos::from_micros(200),
        clock_tick: Nanos::from_micros(200),
        critical_section: Nanos::ZERO,
        clock_hertz: 100,
        jitter_permille: 150,
        cache_permille: 100,
    }
}

fn sbi() -> Bus {
    Bus {
        name: String::from("SBI"),
        to_memory_bytes_per_second: 13_300_000,
        from_memory_bytes_per_second: 13_300_000,
        slow_down_permille: 150,
        other_traffic_permille: 0,
        data_late: None,
    }
}

fn driver() -> Driver {
    Driver { start: Nanos::from_micros(400), interrupt: Nanos::from_micros(600) }
}

/// An 11/780 with an SC780 and Eagles.
pub(crate) fn massbus() -> Description {
    Description {
        name: String::from("massbus"),
        cpu: Cpu { name: String::from("VAX-11/780"), code_permille: 1000, copy_permille: 1000, memory_bytes: 4 << 20 },
        kernel: kernel(),
        bus: sbi(),
        controller: Controller::Massbus(Massbus {
            most_drives: 8,
            driver: driver(),
            configured_drives: 2,
            search: Search::Lead { lead_sectors: 7, window_sectors: 8 },
            search_start: Nanos::from_micros(50),
            command: Nanos::from_micros(450),
            finish: Nanos::from_micros(100),
            finish_of_read: Nanos::ZERO,
            attention: Attention::Held,
            attention_kept: Nanos::ZERO,
            microcode: Microcode::Parallel,
            buffer_sectors: 1,
        }),
        queue: Queue::Disksort,
        drive: eagle(),
        file_systems: vec![FileSystem::Ffs(ffs(8192, 4)), FileSystem::Ffs(ffs(4096, 4))],
    }
}

/// The same computer in an earlier state: attentions come too late, and the bus may be granted too late.
pub(crate) fn early_massbus() -> Description {
    let mut description = massbus();
    description.name = String::from("early massbus");
    description.bus.data_late =
        Some(DataLate { at_work_ppm: 100_000, from_memory_ppm: 150_000, rival: Rival::Work, slips: 3 });
    let Controller::Massbus(massbus) = &mut description.controller else { unreachable!("a sample") };
    massbus.search = Search::Lead { lead_sectors: 2, window_sectors: 3 };
    massbus.attention = Attention::Polled;
    description
}

/// An 11/750 with a UDA50 and RA81s.
pub(crate) fn uda() -> Description {
    Description {
        name: String::from("uda"),
        cpu: Cpu { name: String::from("VAX-11/750"), code_permille: 1450, copy_permille: 960, memory_bytes: 2 << 20 },
        bus: Bus {
            name: String::from("UNIBUS"),
            to_memory_bytes_per_second: 1_200_000,
            from_memory_bytes_per_second: 1_200_000,
            slow_down_permille: 90,
            ..sbi()
        },
        controller: Controller::Uda(Uda {
            most_drives: 4,
            driver: driver(),
            commands: 8,
            order: Queue::Fifo,
            buffer_sectors: 52,
            to_memory_bytes_per_second: 540_000,
            from_memory_bytes_per_second: 450_000,
            command: Nanos::from_millis(1),
            response: Nanos::from_micros(300),
            turnaround: Nanos::from_millis(4),
            turnaround_shared: Nanos::from_millis(3),
            jitter_permille: 770,
            fetched_writes: 2,
        }),
        queue: Queue::Fifo,
        drive: ra81(),
        file_systems: vec![FileSystem::Ffs(ffs(8192, 4)), FileSystem::Ffs(ffs(4096, 2))],
        ..massbus()
    }
}

/// A personal computer with an IDE drive.
pub(crate) fn ide() -> Description {
    Description {
        name: String::from("ide"),
        controller: Controller::Ide(Ide {
            most_drives: 2,
            driver: driver(),
            command: Nanos::from_micros(300),
            most_sectors: 255,
            segments: 2,
            segment_sectors: 64,
            write_cache_sectors: 512,
        }),
        queue: Queue::Fifo,
        file_systems: vec![FileSystem::Ext2(ext2())],
        ..massbus()
    }
}

/// A device with a law and no limits: 100 us for 4 KiB, 400 us for 16 KiB, both ways.
pub(crate) fn law() -> DeviceLaw {
    let point = |bytes, micros| Latency { bytes, time: Nanos::from_micros(micros) };
    let table = LatencyTable { points: vec![point(4096, 100), point(16_384, 400)] };
    DeviceLaw {
        name: String::from("law"),
        capacity_bytes: 1 << 30,
        alignment_bytes: 512,
        read_latency: Some(table.clone()),
        write_latency: Some(table),
        read_gate: None,
        write_gate: None,
        buckets: vec![],
        flush: Some(Flush { base: Nanos::from_micros(50), drain_bytes_per_second: None }),
        write_cache: None,
    }
}
