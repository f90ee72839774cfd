//! Bottlenecks made on purpose, as consumptions of a program.

use stats::Bottleneck;
use stats::judge::bottleneck::{
    Consumption, DeviceWork, JournalWork, ProcessWork, ServerWork, Writeback, allowance, held_back,
};
use units::Nanos;

pub const fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A program that reads, one call at a time, on a kernel that shows all counters.
pub fn reader() -> Consumption {
    Consumption {
        programs: 1,
        depth: 1,
        ready: Some(Nanos::ZERO),
        held_back: Some(Nanos::ZERO),
        flush: Some(Nanos::ZERO),
        foreign: Some(0.0),
        workers: Some(Nanos::ZERO),
        memory_stall: Some(Nanos::ZERO),
        refaulted: Some(0.0),
        ..Consumption::default()
    }
}

pub fn writer() -> Consumption {
    Consumption { writes: true, foreign: None, refaulted: None, ..reader() }
}

/// A disk with the busy time and the sum of request durations in milliseconds, and with the number and size of the
/// requests.
pub fn disk(busy: u64, requests_time: u64, requests: u64, size: u64) -> Option<DeviceWork> {
    Some(DeviceWork {
        name: "vda".to_owned(),
        busy: ms(busy),
        requests_time: ms(requests_time),
        discarding: Nanos::ZERO,
        discarding_apart: Nanos::ZERO,
        requests,
        bytes: requests * size,
        one_at_a_time: false,
    })
}

/// A program that writes to the page cache, limited to a fifth of a processor.
pub fn cpu_quota() -> Consumption {
    Consumption {
        elapsed: ms(910),
        user: ms(4),
        system: ms(180),
        ready: Some(ms(725)),
        quota: Some(ms(535)),
        ..writer()
    }
}

/// 20 MiB/s, set on the loop device, where diskperf does not see the limit. Requests wait before they are counted.
pub fn hidden_read_throttle() -> Consumption {
    Consumption { elapsed: ms(1529), system: ms(15), device: disk(4, 47, 27, 1_118_481), ..reader() }
}

/// The same limit, set on the program's own control group.
pub fn read_throttle() -> Consumption {
    let allowance = allowance(&[(33_554_432, 20_971_520), (0, 1)], ms(1529), 1);
    Consumption { allowance, ..hidden_read_throttle() }
}

/// A limit of 200 reads per second.
pub fn ops_throttle() -> Consumption {
    let allowance = allowance(&[(512, 200)], ms(2503), 1);
    Consumption { elapsed: ms(2503), system: ms(20), allowance, device: disk(8, 66, 512, 4096), ..reader() }
}

/// A test that only writes, with more dirty pages than the kernel allows.
pub const WRITEBACK: Writeback =
    Writeback { dirty_pages: 2100, free_run: 1536, read_bytes: 0, written_bytes: 32 << 20 };

/// A dirty limit of 8 MiB on a slow device: the limit is exceeded, and the program blocks in write.
pub fn dirty_limit() -> Consumption {
    Consumption {
        elapsed: ms(1296),
        system: ms(25),
        ready: Some(ms(39)),
        held_back: held_back(Some(ms(1232)), WRITEBACK),
        device: disk(104, 561, 160, 200_216),
        ..writer()
    }
}

/// Invented figures: a device that takes 10 ms for each flush, and commits of one block.
pub fn slow_flush() -> Consumption {
    Consumption {
        elapsed: ms(2400),
        system: ms(60),
        ready: Some(ms(30)),
        flush: Some(ms(2000)),
        device: disk(120, 2290, 600, 4096),
        ..writer()
    }
}

/// Random reads of 64 MiB, with three times as many reads as blocks, in a control group with 24 MiB of memory.
pub fn memory_group() -> Consumption {
    Consumption {
        elapsed: ms(6849),
        user: ms(30),
        system: ms(2671),
        ready: Some(ms(753)),
        memory_stall: Some(ms(284)),
        foreign: Some(0.006),
        refaulted: Some(0.82),
        device: disk(4748, 7246, 80_000, 5202),
        ..reader()
    }
}

/// Sequential reads with a read-ahead of one page, one request at a time, without requests of other users.
pub fn tiny_read_ahead() -> Consumption {
    Consumption {
        elapsed: ms(1010),
        user: ms(10),
        system: ms(212),
        ready: Some(ms(20)),
        workers: Some(ms(283)),
        device: disk(672, 760, 16_384, 4096),
        ..reader()
    }
}

/// Sequential reads with calls of two pages, from our own disk that takes half a millisecond per request. The kernel
/// reads the next two pages while the program waits for these. The sum of the request durations was not recorded; it
/// was more than one and a half times the waiting time.
pub fn tiny_read_ahead_in_pairs() -> Consumption {
    Consumption {
        elapsed: ms(5570),
        user: ms(54),
        system: ms(321),
        ready: Some(ms(200)),
        workers: Some(ms(300)),
        device: disk(5402, 7600, 8192, 8189),
        ..reader()
    }
}

/// Commits on a file system with its journal on the same disk as the data.
pub fn journal_on_the_same_disk() -> Consumption {
    Consumption {
        elapsed: ms(1577),
        system: ms(32),
        ready: Some(ms(32)),
        flush: Some(ms(347)),
        workers: Some(ms(158)),
        device: disk(884, 1360, 900, 12_000),
        ..writer()
    }
}

/// Two programs with random reads from one device: their times are summed.
pub fn two_on_one_device() -> Consumption {
    Consumption {
        programs: 2,
        elapsed: ms(3793),
        system: ms(190),
        ready: Some(ms(645)),
        foreign: Some(0.04),
        device: disk(1328, 3600, 16_384, 4096),
        ..reader()
    }
}

/// A program with random reads, while another program reads the whole device with large requests.
pub fn noisy_neighbour() -> Consumption {
    Consumption {
        elapsed: ms(4111),
        system: ms(82),
        ready: Some(ms(411)),
        foreign: Some(0.98),
        device: disk(3730, 46_289, 30_000, 422_971),
        ..reader()
    }
}

/// Reads from a file system whose server computes for each request, in one of its two threads at a time.
pub fn computing_fuse_server() -> Consumption {
    let server = ServerWork {
        name: "FUSE server slow".to_owned(),
        busiest: ms(780),
        cpu: ms(800),
        waited: Nanos::ZERO,
        of_workers: None,
        is_lowest: true,
    };
    Consumption { elapsed: ms(1000), user: ms(10), system: ms(120), server: Some(server), ..reader() }
}

/// The same server below a loop device: the requests of the loop device take as long as the server.
pub fn loop_on_computing_fuse_server() -> Consumption {
    Consumption { device: disk(450, 960, 1000, 131_072), ..computing_fuse_server() }
}

/// Invented figures: writes to an encrypted disk, which is idle most of the time.
pub fn encryption() -> Consumption {
    let server = ServerWork {
        name: "encryption of dm-0".to_owned(),
        busiest: ms(900),
        cpu: ms(900),
        waited: Nanos::ZERO,
        of_workers: Some(ms(1000)),
        is_lowest: false,
    };
    let device = disk(150, 300, 1000, 131_072);
    Consumption {
        elapsed: ms(1000),
        system: ms(150),
        server: Some(server),
        workers: Some(ms(1000)),
        device,
        ..writer()
    }
}

/// Invented figures: a writer that the kernel holds back, because btrfs compresses slowly.
pub fn compression() -> Consumption {
    let server = ServerWork { name: "kernel threads of btrfs".to_owned(), ..encryption().server.expect("a server") };
    Consumption { server: Some(server), held_back: Some(ms(800)), ..encryption() }
}

/// Direct reads from a loop device on a file in the page cache. Other work has hidden what most of its workers did.
pub fn hidden_loop_worker() -> Consumption {
    let server = ServerWork {
        name: "kernel threads of loop0".to_owned(),
        busiest: ms(18),
        cpu: ms(18),
        waited: Nanos::ZERO,
        of_workers: Some(ms(138)),
        is_lowest: true,
    };
    let device = disk(260, 290, 640, 524_288);
    Consumption { elapsed: ms(326), system: ms(20), server: Some(server), workers: Some(ms(138)), device, ..reader() }
}

/// The same on a busy machine, where the worker waited for a processor longer than it computed. The times of the worker
/// are invented; those of the reads are from a test that took the loop device for a slow disk.
pub fn delayed_loop_worker() -> Consumption {
    let server = ServerWork {
        busiest: ms(30),
        cpu: ms(40),
        waited: ms(560),
        of_workers: Some(ms(250)),
        ..hidden_loop_worker().server.expect("a server")
    };
    Consumption {
        elapsed: ms(1245),
        user: ms(2),
        system: ms(55),
        ready: Some(ms(130)),
        server: Some(server),
        workers: Some(ms(250)),
        device: disk(1083, 1058, 1947, 517_018),
        ..reader()
    }
}

/// Invented figures: new files on a file system whose journal fills up 20 times a second.
pub fn small_journal() -> Consumption {
    let journal = JournalWork { commits: 40, committing: ms(900), filled: 0.8 };
    let device = disk(900, 1500, 4000, 16_384);
    Consumption { elapsed: ms(2000), system: ms(600), journal: Some(journal), device, ..writer() }
}

/// Invented figures: fsync after each small write on a fast disk.
pub fn waiting_for_commits() -> Consumption {
    let journal = JournalWork { commits: 400, committing: ms(850), filled: 0.01 };
    let device = disk(60, 250, 1200, 4096);
    Consumption { elapsed: ms(1000), system: ms(80), journal: Some(journal), flush: Some(ms(150)), device, ..writer() }
}

/// The same on an ext4 without a journal: each commit writes the block and the inode, and flushes.
pub fn commits_without_a_journal() -> Consumption {
    Consumption {
        elapsed: ms(3750),
        user: ms(44),
        system: ms(1379),
        ready: Some(ms(40)),
        workers: Some(ms(639)),
        flush: Some(ms(759)),
        device: disk(2350, 2287, 58_500, 2731),
        ..writer()
    }
}

/// Deletions on an ext4 without a journal, mounted with the option `discard`: each waits for a discard.
pub fn deletions_with_discards() -> Consumption {
    let discarding = |device| DeviceWork { discarding: ms(650), ..device };
    Consumption {
        elapsed: ms(1000),
        user: ms(10),
        system: ms(330),
        ready: Some(ms(5)),
        workers: Some(ms(220)),
        flush: Some(ms(3)),
        device: disk(730, 670, 130, 32_768).map(discarding),
        ..writer()
    }
}

/// Commits on a busy machine: the requests took 60 % of the time, and the counters show a device that was busy for less
/// than half of it.
pub fn commits_with_unclear_counters() -> Consumption {
    let journal = JournalWork { commits: 1490, committing: ms(4710), filled: 0.01 };
    Consumption {
        elapsed: ms(5010),
        user: ms(76),
        system: ms(98),
        ready: Some(ms(208)),
        flush: Some(ms(271)),
        journal: Some(journal),
        device: disk(2300, 2989, 6000, 8192),
        ..writer()
    }
}

/// 70 % of a limit: the program also computes. The requests wait before they are counted.
pub fn half_used_quota() -> Consumption {
    let allowance = allowance(&[(44_040_192, 62_914_560)], ms(1000), 1);
    Consumption {
        elapsed: ms(1000),
        user: ms(200),
        system: ms(80),
        allowance,
        device: disk(20, 90, 40, 1 << 20),
        ..reader()
    }
}

/// Half of a limit, and a slow device that explains the time.
pub fn quota_of_a_slow_device() -> Consumption {
    Consumption { device: disk(700, 900, 40, 1 << 20), ..half_used_quota() }
}

/// A token bucket below a loop device: the server sleeps.
pub fn slow_device() -> Consumption {
    let server = ServerWork { busiest: ms(30), cpu: ms(60), ..computing_fuse_server().server.expect("a server") };
    Consumption { server: Some(server), ..loop_on_computing_fuse_server() }
}

/// 200 reads per second, from a disk that could do many more.
pub fn open_loop() -> Consumption {
    let device = disk(150, 400, 200, 4096);
    Consumption { elapsed: ms(1000), system: ms(50), scheduled: Some(ms(998)), device, ..reader() }
}

/// Background writes: a program waits for something unknown while kernel threads write now and then.
pub fn mostly_idle_device() -> Consumption {
    Consumption { elapsed: ms(1000), system: ms(100), device: disk(200, 700, 100, 131_072), ..writer() }
}

/// A command that reads a file in the page cache and computes.
pub fn computing_command() -> Consumption {
    Consumption { elapsed: ms(1000), user: ms(900), system: ms(60), device: disk(5, 8, 4, 4096), ..writer() }
}

/// A command that copies to a file system in memory.
pub fn copying_command() -> Consumption {
    Consumption { elapsed: ms(1000), user: ms(10), system: ms(950), ..writer() }
}

/// `tar | gzip`.
pub fn pipeline() -> Consumption {
    let work = ProcessWork { busiest: Some(ms(940)), io_stall: Some(ms(300)) };
    Consumption { elapsed: ms(1000), user: ms(1000), system: ms(80), several: Some(work), ..writer() }
}

/// A bottleneck: its name, its consumption, and the right verdicts.
pub type Made = (&'static str, fn() -> Consumption, &'static [Bottleneck]);

pub const MADE: [Made; 30] = [
    ("CPU quota", cpu_quota, &[Bottleneck::Quota]),
    ("read throttle", read_throttle, &[Bottleneck::Quota]),
    ("hidden read throttle", hidden_read_throttle, &[Bottleneck::Device]),
    ("ops throttle", ops_throttle, &[Bottleneck::Quota]),
    ("dirty limit", dirty_limit, &[Bottleneck::DirtyThrottle]),
    ("slow flush", slow_flush, &[Bottleneck::Flush]),
    ("memory group", memory_group, &[Bottleneck::Memory]),
    ("tiny read-ahead", tiny_read_ahead, &[Bottleneck::Latency]),
    ("tiny read-ahead in pairs", tiny_read_ahead_in_pairs, &[Bottleneck::Latency]),
    ("journal on the same disk", journal_on_the_same_disk, &[Bottleneck::Device, Bottleneck::Flush]),
    ("two targets on one device", two_on_one_device, &[Bottleneck::Device]),
    ("noisy neighbour", noisy_neighbour, &[Bottleneck::Device]),
    ("computing FUSE server", computing_fuse_server, &[Bottleneck::Server]),
    ("loop device on a computing FUSE server", loop_on_computing_fuse_server, &[Bottleneck::Server]),
    ("encryption", encryption, &[Bottleneck::Server]),
    ("compression", compression, &[Bottleneck::Server]),
    ("hidden loop worker", hidden_loop_worker, &[Bottleneck::Server]),
    ("delayed loop worker", delayed_loop_worker, &[Bottleneck::Server]),
    ("small journal", small_journal, &[Bottleneck::Journal]),
    ("waiting for commits", waiting_for_commits, &[Bottleneck::Journal, Bottleneck::Flush]),
    ("commits without a journal", commits_without_a_journal, &[Bottleneck::DeviceAndFlush]),
    ("deletions with discards", deletions_with_discards, &[Bottleneck::Device]),
    ("half-used quota", half_used_quota, &[Bottleneck::Quota]),
    ("quota of a slow device", quota_of_a_slow_device, &[Bottleneck::Device]),
    ("slow device", slow_device, &[Bottleneck::Device]),
    ("open loop", open_loop, &[Bottleneck::Pacing]),
    ("mostly idle device", mostly_idle_device, &[]),
    ("computing command", computing_command, &[Bottleneck::Cpu]),
    ("copying command", copying_command, &[Bottleneck::Cpu]),
    ("pipeline", pipeline, &[Bottleneck::Cpu]),
];
