//! Runs the same loads by fio and by `diskperf io`, in turn, nine times each. Compares rate, p50, p99 and the CPU time
//! of an operation. The file system is an ext4 on a device in memory, so that neither waits for a disk that other
//! programs use. Prints a line of JSON for each load.

use std::process::Command;

use kernel::PrivateMounts;
use serde_json::{Value, json};
use testkit::memory_disk::MemoryDisk;

/// Runs of a load by each program; odd, so that there is a median run.
const TURNS: usize = 9;

/// MiB of the device.
const DISK: usize = 640;

/// A load, in the options of each program.
struct Load {
    name: &'static str,
    ours: &'static str,
    fio: &'static str,
}

/// Loads on a file.
const LOADS: [Load; 8] = [
    Load {
        name: "randread 4 KiB, direct, one at a time",
        ours: "randread --direct --size 64MiB --time 1s",
        fio: "--rw=randread --bs=4k --direct=1 --size=64m --ioengine=psync --time_based --runtime=1",
    },
    Load {
        name: "randread 4 KiB, direct, 32 at once",
        ours: "randread --direct --size 64MiB --time 1s --iodepth 32",
        fio: "--rw=randread --bs=4k --direct=1 --size=64m --ioengine=io_uring --iodepth=32 --time_based --runtime=1 \
              --fixedbufs --registerfiles",
    },
    Load {
        name: "randread 4 KiB, from memory",
        ours: "randread --warm --size 64MiB --time 1s",
        fio: "--rw=randread --bs=4k --size=64m --ioengine=psync --time_based --runtime=1 --invalidate=0 --pre_read=1",
    },
    Load {
        name: "randwrite 4 KiB, direct, one at a time",
        ours: "randwrite --direct --size 64MiB --time 1s",
        fio: "--rw=randwrite --bs=4k --direct=1 --size=64m --ioengine=psync --time_based --runtime=1",
    },
    Load {
        name: "randrw 70 % reads 4 KiB, direct, 8 at once",
        ours: "randrw --reads 70 --direct --size 64MiB --time 1s --iodepth 8",
        fio: "--rw=randrw --rwmixread=70 --bs=4k --direct=1 --size=64m --ioengine=io_uring --iodepth=8 --time_based \
              --runtime=1 --fixedbufs --registerfiles",
    },
    Load {
        name: "randwrite 4 KiB, O_DSYNC",
        ours: "randwrite --sync dsync --size 64MiB --time 1s",
        fio: "--rw=randwrite --bs=4k --sync=dsync --size=64m --ioengine=psync --time_based --runtime=1",
    },
    Load {
        name: "read 128 KiB, direct",
        ours: "read --direct --size 256MiB",
        fio: "--rw=read --bs=128k --direct=1 --size=256m --ioengine=psync",
    },
    Load {
        name: "write 128 KiB, direct",
        ours: "write --direct --size 256MiB",
        fio: "--rw=write --bs=128k --direct=1 --size=256m --ioengine=psync --fallocate=none --create_on_open=1",
    },
];

/// Loads on a file in memory, or on none, for the CPU time of an operation.
const COSTS: [Load; 3] = [
    Load {
        name: "psync",
        ours: "randread --warm --size 64MiB --time 2s --engine posix",
        fio: "--rw=randread --bs=4k --size=64m --ioengine=psync --time_based --runtime=2 --invalidate=0 --pre_read=1",
    },
    Load {
        name: "io_uring, tuned",
        ours: "randread --warm --size 64MiB --time 2s --iodepth 32",
        fio: "--rw=randread --bs=4k --size=64m --ioengine=io_uring --iodepth=32 --iodepth_batch_submit=16 \
              --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=16 --fixedbufs --registerfiles \
              --nonvectored=1 \
              --time_based --runtime=2 --invalidate=0 --pre_read=1",
    },
    Load {
        name: "null",
        ours: "randread --engine null --size 64MiB --time 2s",
        fio: "--rw=randread --bs=4k --size=64m --ioengine=null --time_based --runtime=2",
    },
];

/// The figures of one run.
struct Told {
    rate: f64,
    p50: Option<f64>,
    p99: Option<f64>,
    /// Nanoseconds of processor time per operation.
    cpu: f64,
}

fn main() {
    let missing = MemoryDisk::missing(&["fio"]).or_else(|| kernel::no_ring().map(|why| why.to_string()));
    if let Some(reason) = missing {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    let ground = Ground::new();
    for load in &LOADS {
        let (ours, fio) = ground.in_turn(load);
        let [rate, p50] = [|told: &Told| Some(told.rate), |told: &Told| told.p50]
            .map(|figure: fn(&Told) -> Option<f64>| Some(middle(&ours, figure)? / middle(&fio, figure)?));
        let tails: Vec<f64> = fio.iter().filter_map(|told| told.p99).collect();
        let ends = [f64::min, f64::max].map(|end: fn(f64, f64) -> f64| tails.iter().copied().reduce(end));
        println!(
            "{}",
            json!({
                "beside_fio": load.name,
                "rate_ratio": rate,
                "p50_ratio": p50,
                "p99_us": middle(&ours, |told| told.p99).map(|nanos| nanos / 1e3),
                "fio_p99_us": ends.map(|nanos| nanos.map(|nanos| nanos / 1e3)),
                "fio_rate": middle(&fio, |told| Some(told.rate)),
            })
        );
    }
    for load in &COSTS {
        let (ours, fio) = ground.in_turn(load);
        // Take the ratio of runs that followed each other.
        let mut ratios: Vec<f64> = ours.iter().zip(&fio).map(|(ours, fio)| fio.cpu / ours.cpu).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        println!(
            "{}",
            json!({
                "cpu_beside_fio": load.name,
                "fio_over_ours": ratios[ratios.len() / 2],
                "ours_ns": middle(&ours, |told| Some(told.cpu)),
                "fio_ns": middle(&fio, |told| Some(told.cpu)),
            })
        );
    }
}

/// The median of a figure, if all runs have it.
fn middle(all: &[Told], figure: impl Fn(&Told) -> Option<f64>) -> Option<f64> {
    let mut figures: Vec<f64> = all.iter().map(figure).collect::<Option<_>>()?;
    figures.sort_unstable_by(f64::total_cmp);
    Some(figures[figures.len() / 2])
}

/// An ext4 in memory.
struct Ground {
    // Fields are dropped from the first to the last.
    disk: MemoryDisk,
    _mounts: PrivateMounts,
}

impl Ground {
    fn new() -> Ground {
        let mounts = PrivateMounts::enter().expect("mounts of our own");
        Ground { disk: MemoryDisk::new(DISK), _mounts: mounts }
    }

    /// The figures of both programs for a load, in turns; the program that begins alternates.
    fn in_turn(&self, load: &Load) -> (Vec<Told>, Vec<Told>) {
        let (mut ours, mut fio) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            if turn % 2 == 0 {
                ours.push(self.ours(load));
                fio.push(self.fio(load));
            } else {
                fio.push(self.fio(load));
                ours.push(self.ours(load));
            }
        }
        (ours, fio)
    }

    fn ours(&self, load: &Load) -> Told {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diskperf"));
        command.arg("io").args(load.ours.split_whitespace()).args(["--rounds", "1", "--json"]);
        let document = testkit::json_of(command.env(testkit::STORE, "none").current_dir(self.disk.path()));
        let cell = &document["cells"][0];
        let round = &cell["rounds"][0];
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{}: {cell:#}", load.ours));
        let ops = number(&round["ops"]);
        let cpu = number(&round["cpu_s"]["process"]) + round["cpu_s"]["kernel_workers"].as_f64().unwrap_or(0.0);
        Told {
            // fio's clock ends when the last operation has returned.
            rate: ops / number(&round["returned_s"]),
            p50: cell["latency_ns"]["p50"].as_f64(),
            p99: cell["latency_ns"]["p99"].as_f64(),
            cpu: cpu * 1e9 / ops,
        }
    }

    fn fio(&self, load: &Load) -> Told {
        let folder = tempfile::tempdir_in(self.disk.path()).expect("a folder");
        let mut command = Command::new(testkit::tool("fio").expect("fio"));
        command.args(["--name=x", "--thread", "--norandommap", "--randrepeat=0", "--output-format=json"]);
        command.arg("--filename=file").args(load.fio.split_whitespace());
        let document = testkit::json_of(command.current_dir(folder.path()));
        let job = &document["jobs"][0];
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{}: {job:#}", load.fio));
        let ways = [&job["read"], &job["write"]];
        let ops: f64 = ways.iter().map(|way| number(&way["total_ios"])).sum();
        let rate = ways.iter().map(|way| number(&way["iops"])).sum();
        let runtime = number(&job["job_runtime"]) / 1e3;
        // For a mix, use its reads, which are most of it.
        let way = if number(&ways[0]["total_ios"]) > 0.0 { ways[0] } else { ways[1] };
        let percentile = |name: &str| way["clat_ns"]["percentile"][name].as_f64();
        Told {
            rate,
            p50: percentile("50.000000"),
            p99: percentile("99.000000"),
            cpu: (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0 * runtime * 1e9 / ops,
        }
    }
}
