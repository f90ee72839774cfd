//! A device with a known law: a queue with a single server, 200 us for each request, in front of a file that the test
//! serves; and the prediction of queueing theory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kernel::PrivateMounts;
use serde_json::Value;
use tempfile::TempDir;
use testkit::fuse::{Knobs, OneFile, Queue};
use testkit::loop_disk::{LoopDisk, Mounted};

/// Time of the server for each request.
pub const SERVICE: Duration = Duration::from_micros(200);

/// Bytes of the disk.
const DISK: u64 = (96 << 20) + testkit::fuse::APART;
/// Bytes of its file.
pub const FILE: usize = 64 << 20;

/// An ext4 with one file, on a loop device over a file that is served at the pace of the law.
pub struct LawDisk {
    // Dropped from the first to the last: unmounted, detached, no longer served, gone.
    mounted: Mounted,
    _device: LoopDisk,
    _fuse: OneFile,
    _folder: TempDir,
    _mounts: PrivateMounts,
}

impl LawDisk {
    /// The reason why there can be no such device here.
    pub fn impossible() -> Option<String> {
        let without = || "needs /dev/fuse".to_owned();
        testkit::loop_disk::missing_requirement(&["mkfs.ext4"])
            .or_else(|| (!Path::new("/dev/fuse").exists()).then(without))
    }

    /// Makes the disk, with its file written completely.
    pub fn new() -> LawDisk {
        let mounts = PrivateMounts::enter().expect("mounts of our own");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let [served, point] = ["served", "point"].map(|name| folder.path().join(name));
        [&served, &point].into_iter().for_each(|path| fs::create_dir(path).expect("a folder"));
        let below = File::options().read(true).write(true).create_new(true).open(folder.path().join("below"));
        let below = below.expect("a file");
        below.set_len(DISK).expect("its bytes");
        let fuse = OneFile::mount(&served, below, Knobs::default()).expect("a mount");
        let device = LoopDisk::attach(&fuse.file()).expect("a loop device");
        testkit::run_tool("mkfs.ext4", &["-q", &device.node().to_string_lossy()]);
        let mounted = Mounted::mount(device.node(), &point, "noatime");
        let disk = LawDisk { mounted, _device: device, _fuse: fuse, _folder: folder, _mounts: mounts };
        fs::write(disk.file(), incompressible(FILE)).expect("the file");
        File::open(disk.file()).and_then(|file| file.sync_all()).expect("durable");
        disk._fuse.turn(Knobs { service: SERVICE, queue: Queue::OneArm, ..Knobs::default() });
        disk
    }

    /// The file to read.
    pub fn file(&self) -> PathBuf {
        self.mounted.path().join("file")
    }

    /// The cell of random reads past the page cache, with these options of `io`.
    pub fn read(&self, program: &Path, options: &str) -> Value {
        let target = format!("file:{}", self.file().display());
        let output = Command::new(program)
            .args(["io", "randread", &target, "--direct", "--json"])
            .args(options.split(' '))
            .env(testkit::STORE, "none")
            .output()
            .expect("the program can be started");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        let mut document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {err}"));
        document["cells"][0].take()
    }
}

fn incompressible(bytes: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(bytes);
    File::open("/dev/urandom").expect("random numbers").take(bytes as u64).read_to_end(&mut data).expect("bytes");
    data
}

/// The waiting time that this percentage of the requests of an M/D/1 queue does not exceed. Requests come at random,
/// keep the server busy for a share `load` of the time, and take `service` each (Erlang 1909; L. Kleinrock, Queueing
/// Systems, volume 1, section 5.12, with the distribution solved for constant service).
pub fn waiting(load: f64, service: Duration, percent: f64) -> Duration {
    let below = |services: f64| -> f64 {
        let mut sum = 0.0;
        let mut factorial = 1.0;
        for k in 0..=services.floor() as i32 {
            factorial *= f64::from(k.max(1));
            let part = load * (services - f64::from(k));
            sum += (-part).powi(k) / factorial * part.exp();
        }
        (1.0 - load) * sum
    };
    let (mut low, mut high) = (0.0, 25.0);
    if below(low) >= percent / 100.0 {
        return Duration::ZERO;
    }
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if below(middle) < percent / 100.0 { low = middle } else { high = middle }
    }
    service.mul_f64(high)
}
