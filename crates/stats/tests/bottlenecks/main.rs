//! Ten bottlenecks made on purpose: the verdict must be the right one or `n.m.`, never another. Most figures were
//! recorded on a virtual machine with two processors and other users, on an ext4 on a loop device with direct I/O.
//! Control groups set the limits.

mod made;

use made::*;
use proptest::prelude::*;
use stats::judge::bottleneck::{
    self, Consumption, DeviceWork, JournalWork, Owners, ProcessWork, Rule, ServerWork, Writeback, allowance, held_back,
    owners, where_it_went,
};
use stats::judge::ceiling::{CeilingRound, confirmed, of_limit};
use stats::{Bottleneck, LimitLayer, LimitedBy};
use units::Nanos;

fn limited_by(used: &Consumption) -> LimitedBy {
    bottleneck::limited_by(used).0
}

/// True if the verdict is one of the right ones, or `n.m.`.
fn is_never_wrong(used: &Consumption, right: &[Bottleneck]) -> bool {
    let what = limited_by(used).what;
    what == Bottleneck::NotMeasured || right.contains(&what)
}

/// Bottlenecks without a name. A request that is held back before it reaches the device leaves no trace. Two programs
/// that each wait for one request look the same whether the device serves them in parallel or in turn.
const UNNAMED: [&str; 5] = [
    "hidden read throttle",
    "two targets on one device",
    "hidden loop worker",
    "delayed loop worker",
    "mostly idle device",
];

#[test]
fn commits_are_not_named_if_requests_took_half_of_the_time() {
    let (limited, _) = bottleneck::limited_by(&commits_with_unclear_counters());
    assert_eq!(limited.what, Bottleneck::NotMeasured, "{}", limited.evidence);
}

#[test]
fn every_bottleneck_is_named_that_leaves_a_trace() {
    for (name, used, right) in MADE {
        let verdict = limited_by(&used());
        if UNNAMED.contains(&name) {
            assert_eq!(verdict.what, Bottleneck::NotMeasured, "{name}: {verdict:?}");
        } else {
            assert!(right.contains(&verdict.what), "{name}: {verdict:?}");
        }
    }
}

#[test]
fn documents_and_tables_name_bottlenecks_alike() {
    for name in [
        "cpu",
        "device",
        "latency",
        "flush",
        "device and flush",
        "dirty throttle",
        "quota",
        "memory",
        "server",
        "journal",
        "pacing",
        "n.m.",
    ] {
        let read: Bottleneck = serde_json::from_value(name.into()).expect("a bottleneck");
        assert_eq!((read.name(), serde_json::to_value(read).expect("plain data")), (name, name.into()));
    }
}

/// Each part takes a tenth of the time, both take half of it together, and the device is busy for half of the time.
#[test]
fn device_and_flush_are_named_together_if_neither_is_enough() {
    let commits = |requests: u64, flush: u64, busy: u64| {
        let device = disk(busy, requests + flush, 1000, 4096);
        let system = Nanos(ms(1000).0 - ms(requests + flush).0);
        limited_by(&Consumption { elapsed: ms(1000), system, flush: Some(ms(flush)), device, ..writer() }).what
    };
    assert_eq!(commits(400, 110, 500), Bottleneck::DeviceAndFlush);
    assert_eq!(commits(260, 250, 500), Bottleneck::DeviceAndFlush);
    assert_eq!(commits(110, 210, 500), Bottleneck::Cpu);
    // Both together take too little time; one part is too small; the device is idle for most of the time.
    assert_eq!(commits(440, 90, 500), Bottleneck::NotMeasured);
    assert_eq!(commits(400, 110, 490), Bottleneck::NotMeasured);
    // One part alone is enough.
    assert_eq!(commits(510, 200, 500), Bottleneck::Device);
    assert_eq!(commits(100, 510, 500), Bottleneck::Flush);
    assert_eq!(commits(200, 410, 500), Bottleneck::Flush);
}

/// Discards for which the test did not wait hide the reason of its waiting if the device did little else.
#[test]
fn a_device_that_discards_for_others_is_not_named() {
    let waiting = |busy: u64, apart: u64| {
        let device = disk(busy, 600, 100, 131_072);
        let device = device.map(|device| DeviceWork { discarding_apart: ms(apart), ..device });
        Consumption { elapsed: ms(1000), system: ms(100), device, ..writer() }
    };
    for (busy, apart, what) in [
        (900, 90, Bottleneck::Device),
        (900, 400, Bottleneck::Device),
        // Without the discards, the device was busy for less than half of the time.
        (900, 410, Bottleneck::NotMeasured),
        (1000, 500, Bottleneck::NotMeasured),
        (700, 650, Bottleneck::NotMeasured),
    ] {
        let (limited, rule) = bottleneck::limited_by(&waiting(busy, apart));
        assert_eq!((limited.what, rule), (what, Rule::Decided), "{busy} {apart}: {}", limited.evidence);
    }
    // Flushes, and a command with several processes.
    let used = waiting(900, 600);
    let verdict = |used: &Consumption| limited_by(used);
    let evidence = "vda at least 90 % busy, mostly with discards in the background or for other programs";
    assert_eq!(verdict(&used).evidence, evidence);
    for flush in [150, 550] {
        assert_eq!(verdict(&Consumption { flush: Some(ms(flush)), ..used.clone() }).what, Bottleneck::NotMeasured);
    }
    assert_eq!(verdict(&Consumption { flush: Some(ms(550)), ..waiting(900, 400) }).what, Bottleneck::Flush);
    let several = |apart| Consumption { several: Some(ProcessWork::default()), ..waiting(900, apart) };
    assert_eq!(verdict(&several(100)).what, Bottleneck::Device);
    let unknown = verdict(&several(600));
    assert_eq!((unknown.what, unknown.evidence), (Bottleneck::NotMeasured, format!("several processes, {evidence}")));
    // A reader with one small request at a time, next to fstrim.
    let device = disk(900, 700, 7000, 4096).map(|device| DeviceWork { discarding_apart: ms(850), ..device });
    let reading = Consumption { elapsed: ms(1000), system: ms(100), device, ..reader() };
    assert_eq!(verdict(&reading).what, Bottleneck::NotMeasured);
    // Discards do not matter if the program computes for more than half of the time.
    assert_eq!(verdict(&Consumption { system: ms(600), ..used }).what, Bottleneck::Cpu);
}

/// The program waited for half a second, in which ten requests were in flight. A fifth of their time was that of
/// discards: a tenth of the elapsed time, and not half of it.
#[test]
fn discards_have_their_share_of_overlapping_requests() {
    let evidence = |discarding| {
        let device = disk(900, 5000, 1000, 131_072).map(|device| DeviceWork { discarding: ms(discarding), ..device });
        limited_by(&Consumption { elapsed: ms(1000), system: ms(500), device, ..writer() }).evidence
    };
    assert_eq!(evidence(1000), "50 % waiting for vda (10 % discards), at least 90 % busy, 128 KiB per request");
    assert_eq!(evidence(990), "50 % waiting for vda, at least 90 % busy, 128 KiB per request");
    assert_eq!(evidence(5000), "50 % waiting for vda (50 % discards), at least 90 % busy");
}

/// A log next to random reads in a group of loads.
#[test]
fn device_and_flush_are_not_named_if_other_programs_used_the_device() {
    let log = |foreign| {
        let device = disk(600, 600, 1000, 4096);
        let used =
            Consumption { elapsed: ms(1000), system: ms(100), flush: Some(ms(200)), device, foreign, ..writer() };
        bottleneck::limited_by(&used)
    };
    for foreign in [0.2, 0.8, 1.0] {
        let (limited, rule) = log(Some(foreign));
        assert_eq!((limited.what, rule), (Bottleneck::NotMeasured, Rule::Decided), "{foreign}: {}", limited.evidence);
    }
    for foreign in [None, Some(0.19)] {
        assert_eq!(log(foreign).0.what, Bottleneck::DeviceAndFlush, "{foreign:?}");
    }
}

/// A server that may have computed for 40 % of the time, as kernel threads do whose names show only their last work.
fn server_at_two_fifths() -> Consumption {
    let server = hidden_loop_worker().server.map(|server| ServerWork { of_workers: Some(ms(130)), ..server });
    Consumption { server, ..hidden_loop_worker() }
}

/// A file system that reads from memory after other programs evicted its pages.
fn suspected_memory() -> Consumption {
    Consumption { refaulted: Some(0.3), ..hidden_read_throttle() }
}

fn shared_device() -> Consumption {
    Consumption { foreign: Some(0.3), ..hidden_read_throttle() }
}

fn full_schedule() -> Consumption {
    Consumption { elapsed: ms(1000), system: ms(930), scheduled: Some(ms(998)), ..reader() }
}

fn short() -> Consumption {
    Consumption { elapsed: ms(90), ..hidden_read_throttle() }
}

/// Writes that wait for something unknown above a device that is hardly busy.
fn hardly_busy_device() -> Consumption {
    Consumption { device: disk(100, 200, 100, 131_072), ..mostly_idle_device() }
}

/// The same rate as the layer below: 96 %.
#[test]
fn a_reached_ceiling_names_the_limit_only_if_nothing_speaks_against_it() {
    let round = CeilingRound::Measured { layer: LimitLayer::Device, limit: 200.0, own: 192.0 };
    let near = of_limit(&vec![round; 5]).expect("rounds");
    for used in [
        hidden_loop_worker(),
        mostly_idle_device(),
        hardly_busy_device(),
        server_at_two_fifths(),
        suspected_memory(),
        shared_device(),
        full_schedule(),
        short(),
    ] {
        let verdict = bottleneck::limited_by(&used);
        assert_eq!((verdict.0.what, verdict.1), (Bottleneck::NotMeasured, Rule::Decided), "{verdict:?}");
        let said = confirmed(verdict.clone(), &near, true);
        assert_eq!(said.what, Bottleneck::NotMeasured, "{said:?}");
        assert_eq!(said.evidence, format!("{}, 96 % of the device", verdict.0.evidence));
    }
    let said = confirmed(bottleneck::limited_by(&hidden_read_throttle()), &near, true);
    let evidence = "96 % unattributed, 3 % device service, 96 % of the device";
    assert_eq!((said.what, said.evidence.as_str()), (Bottleneck::Device, evidence));
}

#[test]
fn evidence_contains_figures() {
    for (used, text) in [
        (cpu_quota(), "59 % throttled by the CPU quota, 20 % computing"),
        (ops_throttle(), "100 % of the device's cgroup limit used"),
        (dirty_limit(), "95 % held back from writing"),
        (slow_flush(), "83 % waiting for flushes"),
        (memory_group(), "82 % of the bytes read had been in the page cache, 50 % waiting"),
        (tiny_read_ahead(), "75 % waiting for vda, at least 67 % busy, 4 KiB per request"),
        (hidden_read_throttle(), "96 % unattributed, 3 % device service"),
        (computing_fuse_server(), "80 % computing in FUSE server slow"),
        (hidden_loop_worker(), "up to 42 % computing or runnable in kernel threads of loop0"),
        (delayed_loop_worker(), "up to 65 % computing or runnable in kernel threads of loop0"),
        (small_journal(), "40 commits, each at least 80 % full, 45 % committing"),
        (waiting_for_commits(), "85 % committing, 400 commits"),
        (commits_without_a_journal(), "61 % waiting for vda (20 % flushes), at least 63 % busy"),
        (deletions_with_discards(), "66 % waiting for vda (63 % discards), at least 73 % busy"),
        (half_used_quota(), "70 % of the device's cgroup limit used"),
        (open_loop(), "the schedule filled 100 % of the time"),
        (pipeline(), "several processes, 94 % computing"),
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

/// The thread that starts the operations computes all the time, and the programs may wait for it.
#[test]
fn a_polling_kernel_thread_hides_the_limit() {
    let polled = |in_flight: u64, busy: u64| Consumption {
        elapsed: ms(1000),
        depth: 32,
        user: ms(10),
        system: ms(980),
        polled: true,
        device: disk(busy, 1000 * in_flight, 3000, 4096),
        ..reader()
    };
    assert!(!where_it_went(&polled(30, 970)).contains_key("system"));
    let (limited, rule) = bottleneck::limited_by(&polled(12, 970));
    assert_eq!((limited.what, rule), (Bottleneck::NotMeasured, Rule::Open));
    assert!(limited.evidence.ends_with(", a kernel thread polls"), "{}", limited.evidence);
    let paced = Consumption { scheduled: Some(ms(998)), ..polled(1, 400) };
    assert_eq!(limited_by(&paced).what, Bottleneck::Pacing);
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
    let several = |work: ProcessWork| limited_by(&Consumption { several: Some(work), ..alone.clone() });
    let verdict = several(ProcessWork::default());
    let evidence = "several processes at once: 95 % computing, the busiest 0 %; no pressure-stall data";
    assert_eq!((verdict.what, verdict.evidence.as_str()), (Bottleneck::NotMeasured, evidence));
    // One process computed all the time.
    let verdict = several(ProcessWork { busiest: Some(ms(930)), io_stall: None });
    assert_eq!((verdict.what, verdict.evidence.as_str()), (Bottleneck::Cpu, "several processes, 93 % computing"));
    // The processes computed one after the other; or one computed while another waited.
    assert_eq!(several(ProcessWork { busiest: None, io_stall: Some(ms(20)) }).what, Bottleneck::Cpu);
    let verdict = several(ProcessWork { busiest: None, io_stall: Some(ms(600)) });
    assert_eq!(verdict.what, Bottleneck::NotMeasured);
    assert!(verdict.evidence.ends_with("I/O pressure 60 %"), "{}", verdict.evidence);
}

#[test]
fn a_cpu_quota_limits_several_processes_if_it_takes_a_tenth_of_what_they_want() {
    let throttled = |quota: u64, computed: u64| {
        let work = ProcessWork { busiest: None, io_stall: Some(Nanos::ZERO) };
        let (user, quota) = (ms(computed), Some(ms(quota)));
        limited_by(&Consumption { elapsed: ms(1000), user, quota, several: Some(work), ..reader() })
    };
    // Sixteen processes, each throttled for a twentieth of the time.
    assert_eq!(throttled(800, 15_200).what, Bottleneck::NotMeasured);
    let verdict = throttled(3720, 280);
    let evidence = "several processes, 93 % of the wanted CPU time taken by the CPU quota";
    assert_eq!((verdict.what, verdict.evidence.as_str()), (Bottleneck::Quota, evidence));
    // Two processes share a quota of one processor; they do not compute one after the other. Or one process has half of
    // a processor.
    assert_eq!([(1000, 1000), (500, 500)].map(|(quota, used)| throttled(quota, used).what), [Bottleneck::Quota; 2]);
    // The processes mostly waited for something else.
    assert_eq!(throttled(200, 200).what, Bottleneck::NotMeasured);
    assert_eq!(throttled(0, 1000).what, Bottleneck::Cpu);
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
    assert_eq!(
        named(Consumption { elapsed: ms(1), writes: true, ..Consumption::default() }),
        "pacing rest system user"
    );
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
    // The program also read, so the reason for its waiting is unknown.
    assert_eq!(held_back(blocked, Writeback { read_bytes: 32 << 20, ..WRITEBACK }), None);
    assert_eq!(held_back(None, WRITEBACK), None);
}

#[test]
fn the_tightest_quota_counts() {
    let limits = [(50, 100), (10, 10)];
    assert_eq!(allowance(&limits, ms(1000), 1), Some(1.0));
    assert_eq!(allowance(&limits, ms(2000), 2), Some(0.5));
    assert_eq!(allowance(&[], ms(1000), 1), None);
    assert_eq!(allowance(&[(0, 0)], Nanos::ZERO, 0), None);
    // Each of ten rounds begins with what 100 ms allow: half of the two seconds.
    assert_eq!(allowance(&[(400, 100)], ms(2000), 10), Some(1.5));
    assert_eq!(allowance(&[(215, 100)], ms(2000), 10), Some(1.0));
}

/// Any consumption, even an impossible one.
fn any_consumption() -> impl Strategy<Value = Consumption> {
    let time = || (0..5_000_000_000_u64).prop_map(Nanos);
    let maybe = move || proptest::option::of(time());
    let share = || proptest::option::of(prop_oneof![-1.0..2.0_f64, Just(f64::NAN), Just(f64::INFINITY)]);
    let work = ((time(), time(), time(), time()), 0..10_000_u64, any::<u64>(), any::<bool>());
    let device = proptest::option::of(work.prop_map(|(times, requests, bytes, one_at_a_time)| {
        let (busy, requests_time, discarding, discarding_apart) = times;
        let name = "vda".to_owned();
        DeviceWork { name, busy, requests_time, discarding, discarding_apart, requests, bytes, one_at_a_time }
    }));
    let times = (time(), time(), time(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe());
    let rest = ((0..4_u32, any::<bool>(), any::<bool>()), (share(), share(), share()), device);
    let server = (time(), time(), time(), maybe(), any::<bool>());
    let server = server.prop_map(|(busiest, cpu, waited, of_workers, is_lowest)| ServerWork {
        name: "loop0".to_owned(),
        busiest,
        cpu,
        waited,
        of_workers,
        is_lowest,
    });
    let journal = (any::<u64>(), time(), -1.0..2.0_f64);
    let journal = journal.prop_map(|(commits, committing, filled)| JournalWork { commits, committing, filled });
    let several = (maybe(), maybe()).prop_map(|(busiest, io_stall)| ProcessWork { busiest, io_stall });
    let serving =
        (proptest::option::of(server), proptest::option::of(journal), proptest::option::of(several), maybe(), time());
    (times, rest, serving).prop_map(
        |(times, ((programs, writes, polled), (allowance, foreign, refaulted), device), serving)| {
            let (server, journal, several, scheduled, paused) = serving;
            let (elapsed, user, system, ready, quota, held_back, flush, workers, memory_stall) = times;
            Consumption {
                elapsed,
                programs,
                depth: 1,
                several,
                writes,
                user,
                system,
                polled,
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
                server,
                journal,
                scheduled,
                paused,
            }
        },
    )
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
