//! Ten bottlenecks made on purpose: the verdict must be the right one or `n.m.`, never another. Most figures were
//! recorded on a virtual machine with two processors and other users, on an ext4 on a loop device with direct I/O.
//! Control groups set the limits.

use proptest::prelude::*;
use stats::Bottleneck;
use stats::judge::bottleneck::{
    Consumption, DeviceWork, Owners, Writeback, allowance, held_back, limited_by, owners, where_it_went,
};
use units::Nanos;

const fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A program that reads, one call at a time, on a kernel that shows all counters.
fn reader() -> Consumption {
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

fn writer() -> Consumption {
    Consumption { writes: true, foreign: None, refaulted: None, ..reader() }
}

/// A disk with the busy time and the sum of request durations in milliseconds, and with the number and size of the
/// requests.
fn disk(busy: u64, requests_time: u64, requests: u64, size: u64) -> Option<DeviceWork> {
    Some(DeviceWork {
        name: "vda".to_owned(),
        busy: ms(busy),
        requests_time: ms(requests_time),
        requests,
        bytes: requests * size,
        one_at_a_time: false,
    })
}

/// A program that writes to the page cache, limited to a fifth of a processor.
fn cpu_quota() -> Consumption {
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
fn hidden_read_throttle() -> Consumption {
    Consumption { elapsed: ms(1529), system: ms(15), device: disk(4, 47, 27, 1_118_481), ..reader() }
}

/// The same limit, set on the program's own control group.
fn read_throttle() -> Consumption {
    let allowance = allowance(&[(33_554_432, Some(20_971_520)), (0, None)], ms(1529));
    Consumption { allowance, ..hidden_read_throttle() }
}

/// A limit of 200 reads per second.
fn ops_throttle() -> Consumption {
    let allowance = allowance(&[(512, Some(200))], ms(2503));
    Consumption { elapsed: ms(2503), system: ms(20), allowance, device: disk(8, 66, 512, 4096), ..reader() }
}

/// A test that only writes, with more dirty pages than the kernel allows.
const WRITEBACK: Writeback = Writeback { dirty_pages: 2100, free_run: 1536, read_bytes: 0, written_bytes: 32 << 20 };

/// A dirty limit of 8 MiB on a slow device: the limit is exceeded, and the program blocks in write.
fn dirty_limit() -> Consumption {
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
fn slow_flush() -> Consumption {
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
fn memory_group() -> Consumption {
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
fn tiny_read_ahead() -> Consumption {
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
fn tiny_read_ahead_in_pairs() -> Consumption {
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
fn journal_on_the_same_disk() -> Consumption {
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
fn two_on_one_device() -> Consumption {
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
fn noisy_neighbour() -> Consumption {
    Consumption {
        elapsed: ms(4111),
        system: ms(82),
        ready: Some(ms(411)),
        foreign: Some(0.98),
        device: disk(3730, 46_289, 30_000, 422_971),
        ..reader()
    }
}

/// A bottleneck: its name, its consumption, and the right verdicts.
type Made = (&'static str, fn() -> Consumption, &'static [Bottleneck]);

const MADE: [Made; 12] = [
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
];

/// True if the verdict is one of the right ones, or `n.m.`.
fn is_never_wrong(used: &Consumption, right: &[Bottleneck]) -> bool {
    let what = limited_by(used).what;
    what == Bottleneck::NotMeasured || right.contains(&what)
}

#[test]
fn each_bottleneck_is_named_or_not_measured() {
    for (name, used, right) in MADE {
        assert!(is_never_wrong(&used(), right), "{name}: {:?}", limited_by(&used()));
    }
}

#[test]
fn documents_and_tables_name_bottlenecks_alike() {
    for name in ["cpu", "device", "latency", "flush", "dirty throttle", "quota", "memory", "n.m."] {
        let read: Bottleneck = serde_json::from_value(name.into()).expect("a bottleneck");
        assert_eq!((read.name(), serde_json::to_value(read).expect("plain data")), (name, name.into()));
    }
}

#[test]
fn most_bottlenecks_are_named() {
    let unnamed = MADE.iter().filter(|(_, used, _)| limited_by(&used()).what == Bottleneck::NotMeasured);
    // A request that is held back before it reaches the device leaves no trace. Two programs that each wait for one
    // request look the same whether the device serves them in parallel or in turn.
    assert_eq!(
        unnamed.map(|(name, ..)| *name).collect::<Vec<_>>(),
        ["hidden read throttle", "two targets on one device"]
    );
}

#[test]
fn evidence_contains_figures() {
    for (used, text) in [
        (cpu_quota(), "59 % throttled by the CPU quota, 20 % computing"),
        (ops_throttle(), "102 % of the device's cgroup limit used"),
        (dirty_limit(), "95 % held back from writing"),
        (slow_flush(), "83 % waiting for flushes"),
        (memory_group(), "82 % of the bytes read had been in the page cache, 50 % waiting"),
        (tiny_read_ahead(), "75 % waiting for vda, at least 67 % busy, 4 KiB per request"),
        (hidden_read_throttle(), "96 % unattributed, 3 % device service"),
    ] {
        assert_eq!(limited_by(&used).evidence, text);
    }
}

#[test]
fn computing_programs_are_limited_by_the_cpu() {
    let alone = Consumption { elapsed: ms(1000), user: ms(100), system: ms(860), ..reader() };
    assert_eq!((limited_by(&alone).what, limited_by(&alone).evidence), (Bottleneck::Cpu, "96 % computing".to_owned()));
    let crowded = Consumption { system: ms(300), ready: Some(ms(550)), ..alone.clone() };
    assert_eq!(limited_by(&crowded).evidence, "40 % computing, 55 % runnable");
    // 61 % of the CPU, and a device that is always busy: the device is the limit.
    let both = Consumption { system: ms(510), device: disk(970, 5000, 2000, 232_325), ..alone.clone() };
    assert_eq!(limited_by(&both).what, Bottleneck::Device);
    // The same device, kept busy by other programs: this program hardly waits for it.
    let apart = Consumption { system: ms(510), ready: Some(ms(350)), device: disk(970, 40, 10, 4096), ..alone.clone() };
    assert_eq!(limited_by(&apart).what, Bottleneck::Cpu);
    // Both are always busy: without the device, the program would take as long.
    let both = Consumption { device: disk(970, 5000, 2000, 232_325), ..alone };
    assert_eq!(limited_by(&both).what, Bottleneck::Cpu);
}

#[test]
fn sequential_reads_from_a_disk_are_limited_by_the_device() {
    let device = disk(376, 1237, 372, 863_000);
    let used = Consumption { elapsed: ms(1196), system: ms(450), ready: Some(ms(70)), device, ..reader() };
    assert_eq!(limited_by(&used).what, Bottleneck::Device);
}

/// A simulated disk serves one request at a time: a larger queue depth would gain nothing.
#[test]
fn simulated_disks_are_not_limited_by_latency() {
    let device = disk(680, 680, 1024, 8192).map(|device| DeviceWork { one_at_a_time: true, ..device });
    let used = Consumption { elapsed: ms(1000), system: ms(320), device, ..reader() };
    let verdict = limited_by(&used);
    assert_eq!((verdict.what, verdict.evidence.as_str()), (Bottleneck::Device, "68 % busy, 68 % waiting for it"));
    assert_eq!(owners(&used).rest, Nanos::ZERO);
}

#[test]
fn too_short_phases_are_not_measured() {
    let used = Consumption { elapsed: ms(99), system: ms(99), ..reader() };
    assert_eq!(limited_by(&used).what, Bottleneck::NotMeasured);
    assert_eq!(limited_by(&Consumption::default()).what, Bottleneck::NotMeasured);
}

#[test]
fn several_processes_have_no_named_owner() {
    let alone = Consumption { elapsed: ms(1000), user: ms(950), ..reader() };
    assert_eq!(limited_by(&alone).what, Bottleneck::Cpu);
    let verdict = limited_by(&Consumption { several: true, ..alone });
    assert_eq!((verdict.what, verdict.evidence.as_str()), (Bottleneck::NotMeasured, "several processes at once"));
}

#[test]
fn two_programs_on_one_device_wait_for_each_other() {
    let used = two_on_one_device();
    let Owners { device_service, device_queue, rest, .. } = owners(&used);
    // Together they were blocked for 2958 ms. The device cannot have worked for more than 1896 ms of them.
    assert_eq!(device_service + device_queue + rest, ms(2958));
    assert!(device_queue > ms(1000), "{device_queue}");
}

#[test]
fn unexplained_time_belongs_to_an_exhausted_quota() {
    let Owners { quota, rest, .. } = owners(&read_throttle());
    assert_eq!((quota, rest), (ms(1529 - 15 - 47), Nanos::ZERO));
    let Owners { quota, rest, .. } = owners(&hidden_read_throttle());
    assert_eq!((quota, rest), (Nanos::ZERO, ms(1529 - 15 - 47)));
}

#[test]
fn unobserved_owners_are_not_listed() {
    let named = |used: Consumption| where_it_went(&used).into_keys().collect::<Vec<_>>().join(" ");
    assert!(named(cpu_quota()).contains("quota ready"));
    assert!(!named(hidden_read_throttle()).contains("quota"));
    assert!(named(read_throttle()).contains("quota"));
    assert_eq!(named(Consumption { elapsed: ms(1), writes: true, ..Consumption::default() }), "rest system user");
}

#[test]
fn read_only_programs_have_no_flush_time() {
    let used = Consumption { elapsed: ms(1000), flush: Some(ms(600)), ..reader() };
    assert_eq!(owners(&used).flush, Nanos::ZERO);
    assert_eq!(owners(&Consumption { writes: true, ..used }).flush, ms(600));
}

#[test]
fn dirty_throttling_is_known_only_at_the_extremes() {
    let blocked = Some(ms(700));
    let with = |dirty_pages| Writeback { dirty_pages, ..WRITEBACK };
    assert_eq!(held_back(blocked, with(150)), Some(Nanos::ZERO));
    assert_eq!(held_back(blocked, with(1536)), blocked);
    assert_eq!(held_back(blocked, with(1200)), None);
    // It also read, so the reason for its waiting is unknown.
    assert_eq!(held_back(blocked, Writeback { read_bytes: 32 << 20, ..WRITEBACK }), None);
    assert_eq!(held_back(None, WRITEBACK), None);
}

#[test]
fn the_tightest_quota_counts() {
    let limits = [(50, Some(100)), (10, Some(10)), (7, None)];
    assert_eq!(allowance(&limits, ms(1000)), Some(1.0));
    assert_eq!(allowance(&limits, ms(2000)), Some(0.5));
    assert_eq!(allowance(&[(7, None)], ms(1000)), None);
    assert_eq!(allowance(&[(0, Some(0))], Nanos::ZERO), None);
}

/// Any consumption, even an impossible one.
fn any_consumption() -> impl Strategy<Value = Consumption> {
    let time = || (0..5_000_000_000_u64).prop_map(Nanos);
    let maybe = move || proptest::option::of(time());
    let share = || proptest::option::of(prop_oneof![-1.0..2.0_f64, Just(f64::NAN), Just(f64::INFINITY)]);
    let work = (time(), time(), 0..10_000_u64, any::<u64>(), any::<bool>());
    let device = proptest::option::of(work.prop_map(|(busy, requests_time, requests, bytes, one_at_a_time)| {
        DeviceWork { name: "vda".to_owned(), busy, requests_time, requests, bytes, one_at_a_time }
    }));
    let times = (time(), time(), time(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe());
    let rest = ((0..4_u32, any::<bool>()), (share(), share(), share()), device);
    (times, rest).prop_map(|(times, ((programs, writes), (allowance, foreign, refaulted), device))| {
        let (elapsed, user, system, ready, quota, held_back, flush, workers, memory_stall) = times;
        Consumption {
            elapsed,
            programs,
            depth: 1,
            several: false,
            writes,
            user,
            system,
            ready,
            quota,
            allowance,
            held_back,
            device,
            flush,
            foreign,
            workers,
            memory_stall,
            refaulted,
        }
    })
}

proptest! {
    #[test]
    fn owners_always_sum_to_the_elapsed_time(used in any_consumption()) {
        prop_assert_eq!(owners(&used).named().values().sum::<u64>(), used.elapsed.0);
        prop_assert_eq!(where_it_went(&used).values().sum::<u64>(), used.elapsed.0);
    }

    #[test]
    fn verdicts_have_evidence(used in any_consumption()) {
        prop_assert!(!limited_by(&used).evidence.is_empty());
    }

    /// The same bottlenecks on a machine with more load: the programs wait for processors, the clock tick misses more
    /// of the device's work, threads of other programs compute, and other programs flush now and then.
    #[test]
    fn noise_does_not_make_verdicts_wrong(
        which in 0..MADE.len(),
        waiting in 0.0..0.8_f64,
        missed in 0.3..1.0_f64,
        workers in 0.0..0.5_f64,
        flushes in 0.0..0.05_f64,
    ) {
        let (name, used, right) = MADE[which];
        let quiet = used();
        let more = |share: f64| Nanos((quiet.elapsed.0 as f64 * share) as u64);
        let mut noisy = quiet.clone();
        noisy.elapsed += more(waiting);
        noisy.ready = noisy.ready.map(|ready| ready + more(waiting));
        noisy.workers = Some(more(workers));
        noisy.flush = noisy.flush.map(|flush| flush + more(flushes));
        if let Some(device) = &mut noisy.device {
            device.busy = Nanos((device.busy.0 as f64 * missed) as u64);
        }
        prop_assert!(is_never_wrong(&noisy, right), "{name}: {:?} of {:?}", limited_by(&noisy), noisy);
    }
}
