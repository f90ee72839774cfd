//! A disk of the test with a file system on it.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use kernel::PrivateMounts;
use tempfile::TempDir;
use testkit::fuse::{Knobs, OneFile};
use testkit::loop_disk::LoopDisk;
use testkit::{run, tool};

/// Bytes of the disks: room for a journal and the largest file of these runs.
const DISK: u64 = (320 << 20) + testkit::fuse::APART;

/// A file system on a disk of the test, in a private mount namespace. This process serves the disk from memory: only
/// these runs use it, whatever other programs do.
pub struct Ground {
    point: PathBuf,
    disk: LoopDisk,
    _fuse: OneFile,
    _folder: TempDir,
}

impl Ground {
    /// Makes an ext4 with its journal on such a disk.
    pub fn new(knobs: Knobs) -> Result<Ground, String> {
        if !testkit::is_root() || !Path::new("/dev/fuse").exists() {
            return Err("needs root and /dev/fuse".to_owned());
        }
        PrivateMounts::enter().map_err(|fault| fault.to_string())?;
        let made = |error: std::io::Error| format!("no disk: {error}");
        let folder = tempfile::tempdir_in("/dev/shm").map_err(made)?;
        let path = |name: &str| folder.path().join(name);
        for name in ["below", "point"] {
            fs::create_dir(path(name)).map_err(made)?;
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path("image")).map_err(made)?;
        file.set_len(DISK).map_err(made)?;
        let fuse = OneFile::mount(&path("below"), file, Knobs::default()).map_err(made)?;
        let mut disk = LoopDisk::attach(&fuse.file())?;
        let node = disk.node().to_string_lossy().into_owned();
        let point = path("point");
        run_tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", &node])?;
        run_tool("mount", &[&node, &point.to_string_lossy()])?;
        disk.leave();
        fuse.turn(knobs);
        Ok(Ground { point, disk, _fuse: fuse, _folder: folder })
    }

    /// The mount point.
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// The disk.
    pub fn disk(&self) -> &LoopDisk {
        &self.disk
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let unmounted = run_tool("umount", &[&self.point.to_string_lossy()]);
        assert!(std::thread::panicking() || unmounted.is_ok(), "{unmounted:?}");
    }
}

/// Runs a tool that must succeed.
fn run_tool(name: &str, arguments: &[&str]) -> Result<(), String> {
    let path = tool(name).ok_or_else(|| format!("{name} is not installed"))?;
    let ended = run(&path, Path::new("/"), arguments);
    if ended.status == Some(0) { Ok(()) } else { Err(format!("{name}: {}", ended.err)) }
}
