//! Slow disks: each an ext4 on an image of the test, whose loop device is limited for the members of one control group.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kernel::{Image, ImageSpec, PrivateMounts};
use serde_json::Value;
use tempfile::TempDir;
use units::Bytes;

/// The folder in which the first version of control groups limits block devices
/// (Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
const BLKIO: &str = "/sys/fs/cgroup/blkio";

/// Limits of a disk, per second.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Bytes.
    pub bytes: u64,
    /// Operations.
    pub operations: u64,
}

/// A slow disk.
pub const SLOW: Limits = Limits { bytes: 20 << 20, operations: 100 };

/// A cloud volume. Its burst of 100 ms is larger than a file of 512 KiB.
#[allow(dead_code, reason = "benchmarks do not need it")]
pub const CLOUD: Limits = Limits { bytes: 60 << 20, operations: 1500 };

/// The slow disks. Dropping them removes the group, images and mounts.
pub struct SlowDisks {
    images: Vec<Image>,
    group: PathBuf,
    _folder: TempDir,
}

impl SlowDisks {
    /// The reason why there can be no slow disks here.
    pub fn impossible() -> Option<String> {
        let is_limited = Path::new(BLKIO).join("blkio.throttle.read_iops_device").exists();
        let without = || "no control group of the first version limits block devices here".to_owned();
        testkit::loop_disk::missing_requirement(&["mkfs.ext4"]).or_else(|| (!is_limited).then(without))
    }

    /// Disks of this size, one for each of the limits.
    pub fn new(bytes: Bytes, limits: &[Limits]) -> SlowDisks {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let spec = ImageSpec {
            file_system: "ext4".to_owned(),
            bytes,
            directory: folder.path().to_owned(),
            block: None,
            mount_options: Vec::new(),
            mkfs_options: Vec::new(),
        };
        let mounts = PrivateMounts::enter().expect("mounts of our own");
        let image = |_: &Limits| Image::make(&spec, &mounts, |_| ControlFlow::Continue(())).expect("an image");
        let images = limits.iter().map(image).collect();
        let group = Path::new(BLKIO).join(format!("diskperf-slow-{}", std::process::id()));
        fs::create_dir(&group).expect("a control group");
        let slow = SlowDisks { images, group, _folder: folder };
        for (image, limits) in slow.images.iter().zip(limits) {
            let number = fs::read_to_string(Path::new("/sys/block").join(&image.device().name).join("dev"));
            let number = number.expect("the number of the device");
            for way in ["read", "write"] {
                for (unit, limit) in [("bps", limits.bytes), ("iops", limits.operations)] {
                    let file = slow.group.join(format!("blkio.throttle.{way}_{unit}_device"));
                    fs::write(file, format!("{} {limit}", number.trim())).expect("a limit");
                }
            }
        }
        slow
    }

    /// The mount points.
    pub fn paths(&self) -> Vec<&Path> {
        self.images.iter().map(Image::path).collect()
    }

    /// A command of this program, which is in the group from its first moment on.
    pub fn command(&self, program: &Path) -> Command {
        let enter = "echo $$ > \"$0\" && exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", enter]).arg(self.group.join("cgroup.procs")).arg(program);
        command
    }

    /// The document that these words print, in the folder of the first disk.
    pub fn document(&self, program: &Path, words: &[&str]) -> Value {
        self.document_of(program, words, 0)
    }

    /// The document of a command that ends with this status.
    pub fn document_of(&self, program: &Path, words: &[&str], status: i32) -> Value {
        let output = self
            .command(program)
            .args(words)
            .env(testkit::STORE, "none")
            .current_dir(self.paths()[0])
            .stdin(Stdio::null())
            .output()
            .expect("the program can be started");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{err}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {err}"))
    }
}

impl Drop for SlowDisks {
    fn drop(&mut self) {
        // All members of the group have ended.
        let _ = fs::remove_dir(&self.group);
    }
}
