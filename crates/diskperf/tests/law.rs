//! Loads on devices with a known law: the figures of a queue follow its law, and a schedule shows stalls that a closed
//! loop hides.

mod queue;

use queue::{LawDisk, SERVICE, waiting};
use serde_json::Value;
use testkit::control_group::{Group, run_in};
use testkit::loop_disk::{LoopDisk, Mounted};
use testkit::{has_tool, need_disk, skip};

fn nanos(cell: &Value, name: &str) -> f64 {
    cell["latency_ns"][name].as_f64().unwrap_or_else(|| panic!("no {name}: {cell:#}"))
}

fn rate(cell: &Value) -> f64 {
    cell["rate"]["per_second"].as_f64().unwrap_or_else(|| panic!("no rate: {cell:#}"))
}

#[test]
fn deeper_queues_on_one_server_wait_longer_and_gain_no_rate() {
    if let Some(reason) = LawDisk::impossible() {
        return skip!("{reason}");
    }
    if let Some(why) = kernel::no_ring() {
        return skip!("{why}");
    }
    let disk = LawDisk::new();
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    // These bounds hold at any speed of the machine: on a busy one the server is idle at times, and requests wait
    // longer.
    let (service, fastest) = (SERVICE.as_nanos() as f64, 1.0 / SERVICE.as_secs_f64());
    for depth in [8.0, 32.0] {
        let cell = disk.read(&program, &format!("--iodepth {depth} --rounds 3 --time 500ms"));
        // One request is served at a time, however many are in flight. A little more is allowed, as some are in flight
        // when the clock starts.
        assert!(rate(&cell) < 1.05 * fastest, "{} per second at depth {depth}", rate(&cell));
        // If all are submitted together, the median one waits for half of the others.
        let median = nanos(&cell, "p50");
        assert!(median > 0.4 * depth * service, "{median} ns at depth {depth}");
        // Requests in flight are the rate times their mean latency (Little 1961), and a closed loop always has the same
        // number. The median is at most twice the mean; long stalls make it less, without a limit.
        let in_flight = rate(&cell) * median / 1e9;
        assert!(in_flight < 2.1 * depth, "{in_flight} in flight at depth {depth}");
    }
    // With a schedule that keeps the server busy half of the time, only the requests of the schedule are done. `prove`
    // compares their waiting times with the law; on a busy machine a stall delays many of them.
    let half = 0.5 * fastest;
    let options = format!("--rate {half:.0} --arrivals poisson --iodepth 32 --rounds 3 --time 500ms");
    let open = disk.read(&program, &options);
    assert_eq!(open["latency_ns"]["kind"], "response");
    assert!(rate(&open) < 1.2 * half, "{} of {half} a second", rate(&open));
    assert!(nanos(&open, "p50") >= service);
}

#[test]
fn waits_with_constant_service_match_queueing_theory() {
    // For the share of time in which the server is idle, requests do not wait.
    assert_eq!(waiting(0.7, SERVICE, 29.0), std::time::Duration::ZERO);
    assert!(waiting(0.7, SERVICE, 31.0) > std::time::Duration::ZERO);
    // The mean is load / (2 (1 - load)) service times (Kleinrock, Queueing Systems, volume 1, section 5.6).
    for load in [0.3, 0.5, 0.7] {
        let mean: f64 = (0..2_000).map(|n| waiting(load, SERVICE, (f64::from(n) + 0.5) / 20.0).as_secs_f64()).sum();
        let services = mean / 2_000.0 / SERVICE.as_secs_f64();
        let expected = load / (2.0 * (1.0 - load));
        assert!((services / expected - 1.0).abs() < 0.02, "{load}: {services} {expected}");
    }
}

/// Reads per second that the limit lets through, in slices of a tenth of a second.
const LIMIT: u32 = 200;

#[test]
fn open_loops_show_stalls_that_closed_loops_hide() {
    need_disk!("mkfs.ext4");
    // In memory if possible: on a slow disk that other programs use, the limit would not be reached.
    let folder = testkit::folder_in_memory();
    let [image, point] = ["image", "point"].map(|name| folder.path().join(name));
    std::fs::create_dir(&point).expect("a folder");
    std::fs::File::create(&image).and_then(|file| file.set_len(64 << 20)).expect("an image");
    let mut device = LoopDisk::attach(&image).expect("a loop device");
    testkit::run_tool("mkfs.ext4", &["-q", &device.node().to_string_lossy()]);
    let limit = format!("{} {LIMIT}", device.number());
    let group = match Group::limited("blkio", "blkio.throttle.read_iops_device", &limit) {
        Ok(group) => group,
        Err(reason) => return skip!("{reason}"),
    };
    assert!(has_tool("mount"));
    let mounted = Mounted::mount(device.node(), &point, "noatime");
    device.leave();
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let read = |options: &str| -> Value {
        let words = format!("io randread --direct --size 8MiB --rounds 2 --time 1500ms --json {options}");
        let ended = run_in(&[&group], &program, mounted.path(), &words.split_whitespace().collect::<Vec<&str>>());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        serde_json::from_str::<Value>(&ended.out).expect("JSON")["cells"][0].take()
    };
    let closed = read("");
    // The schedule has a quarter more than the limit: a slower one would never reach the limit.
    let open = read(&format!("--rate {} --iodepth 128", LIMIT * 5 / 4));
    assert_eq!((&closed["latency_ns"]["kind"], &open["latency_ns"]["kind"]), (&"service".into(), &"response".into()));
    // In the closed loop, only the delayed read shows the stall; in the open loop, all reads that were to begin
    // meanwhile show it. The schedule is ahead of the limit by a quarter of the elapsed time, so the median response
    // time is an eighth of the 1.5 s at any speed; a slice of the limit may come first.
    let (hidden, shown) = (nanos(&closed, "p50"), nanos(&open, "p50"));
    assert!(shown > 5.0 * hidden, "{shown} {hidden}");
}
