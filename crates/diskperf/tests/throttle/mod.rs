//! A slow disk: an ext4 of our own on an image whose loop device does 20 MiB/s and 100 operations a second, for
//! whoever is in one control group.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kernel::{Image, ImageSpec, PrivateMounts};
use serde_json::Value;
use tempfile::TempDir;
use units::Bytes;

/// Where the first version of control groups limits block devices (Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
const BLKIO: &str = "/sys/fs/cgroup/blkio";

/// Bytes per second.
const BYTES: u64 = 20 << 20;

/// Operations per second.
pub const OPERATIONS: u64 = 100;

/// The slow disk. The group goes when it is dropped, and so do image and mount.
pub struct SlowDisk {
    image: Image,
    group: PathBuf,
    _folder: TempDir,
}

impl SlowDisk {
    /// Why there can be none here, if there cannot.
    pub fn impossible() -> Option<String> {
        let is_limited = Path::new(BLKIO).join("blkio.throttle.read_iops_device").exists();
        let without = || "no control group of the first version limits block devices here".to_owned();
        testkit::disk::impossible(&["mkfs.ext4"]).or_else(|| (!is_limited).then(without))
    }

    /// A disk of this size.
    pub fn new(bytes: Bytes) -> SlowDisk {
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
        let image = Image::make(&spec, &mounts, |_| ControlFlow::Continue(())).expect("an image");
        let group = Path::new(BLKIO).join(format!("diskperf-slow-{}", std::process::id()));
        fs::create_dir(&group).expect("a control group");
        let slow = SlowDisk { image, group, _folder: folder };
        let number = fs::read_to_string(Path::new("/sys/block").join(&slow.image.device().name).join("dev"));
        let number = number.expect("the number of the device");
        for way in ["read", "write"] {
            for (unit, limit) in [("bps", BYTES), ("iops", OPERATIONS)] {
                let file = slow.group.join(format!("blkio.throttle.{way}_{unit}_device"));
                fs::write(file, format!("{} {limit}", number.trim())).expect("a limit");
            }
        }
        slow
    }

    /// The document of `run quick` on it, with these arguments more.
    pub fn quick(&self, program: &Path, arguments: &[&str]) -> Value {
        // The program is in the group from its first moment on.
        let enter = "echo $$ > \"$0\" && exec \"$@\"";
        let output = Command::new("sh")
            .args(["-c", enter])
            .arg(self.group.join("cgroup.procs"))
            .arg(program)
            .args(["run", "quick", "--json"])
            .args(arguments)
            .env(testkit::STORE, "none")
            .current_dir(self.image.path())
            .stdin(Stdio::null())
            .output()
            .expect("the program can be started");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {err}"))
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        // Whoever was in it has ended.
        let _ = fs::remove_dir(&self.group);
    }
}
