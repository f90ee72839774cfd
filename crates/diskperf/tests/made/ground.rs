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

/// The bytes of a disk, the tool that makes a file system on it, its options, and the options of the mount.
pub struct Format {
    pub bytes: u64,
    pub tool: &'static str,
    pub options: &'static [&'static str],
    pub mount: &'static str,
}

/// An ext4 that is completely written when it is made.
pub const EXT4: Format = Format {
    bytes: DISK,
    tool: "mkfs.ext4",
    options: &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"],
    mount: "defaults",
};

/// A file system on a disk of the test, in a private mount namespace. This process serves the disk from memory: only
/// these runs use it, whatever other programs do.
pub struct Ground {
    point: PathBuf,
    disk: LoopDisk,
    _fuse: Option<OneFile>,
    _folder: TempDir,
}

impl Ground {
    /// Makes an ext4 with its journal on such a disk.
    pub fn new(knobs: Knobs) -> Result<Ground, String> {
        Ground::formatted(Some(knobs), &EXT4)
    }

    /// Makes this file system on such a disk. Without knobs, the disk is a loop device that goes through the page cache
    /// to a file in memory.
    pub fn formatted(knobs: Option<Knobs>, format: &Format) -> Result<Ground, String> {
        let folder = folder()?;
        let Some(knobs) = knobs else {
            let path = folder.path().join(IMAGE);
            let image = OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(no_disk)?;
            image.set_len(format.bytes).map_err(no_disk)?;
            let mut disk = LoopDisk::attach_through_cache(&folder.path().join(IMAGE))?;
            let point = mounted(&mut disk, folder.path(), format)?;
            return Ok(Ground { point, disk, _fuse: None, _folder: folder });
        };
        let below = folder.path().join("below");
        fs::create_dir(&below).map_err(no_disk)?;
        // Without a name, its memory is free again even if this process is killed.
        let image = tempfile::tempfile_in("/dev/shm").map_err(no_disk)?;
        image.set_len(format.bytes).map_err(no_disk)?;
        let fuse = OneFile::mount(&below, image, Knobs::default()).map_err(no_disk)?;
        let mut disk = LoopDisk::attach(&fuse.file())?;
        let point = mounted(&mut disk, folder.path(), format)?;
        fuse.turn(knobs);
        Ok(Ground { point, disk, _fuse: Some(fuse), _folder: folder })
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

/// The name of the file with the content of a disk.
const IMAGE: &str = "image";

/// Enters a private mount namespace, and makes a folder in memory for a disk.
fn folder() -> Result<TempDir, String> {
    if !testkit::is_root() || !Path::new("/dev/fuse").exists() {
        return Err("needs root and /dev/fuse".to_owned());
    }
    PrivateMounts::enter().map_err(|fault| fault.to_string())?;
    tempfile::tempdir_in("/dev/shm").map_err(no_disk)
}

fn no_disk(error: std::io::Error) -> String {
    format!("no disk: {error}")
}

/// Makes a file system on a disk, and mounts it below this folder. Returns the mount point.
fn mounted(disk: &mut LoopDisk, folder: &Path, format: &Format) -> Result<PathBuf, String> {
    let point = folder.join("point");
    fs::create_dir(&point).map_err(no_disk)?;
    let node = disk.node().to_string_lossy().into_owned();
    run_tool(format.tool, &[format.options, &[&node]].concat())?;
    run_tool("mount", &["-o", format.mount, &node, &point.to_string_lossy()])?;
    // The kernel detaches the device when it is unmounted, even if this process is killed.
    disk.leave();
    Ok(point)
}

/// Runs a tool that must succeed.
fn run_tool(name: &str, arguments: &[&str]) -> Result<(), String> {
    let path = tool(name).ok_or_else(|| format!("{name} is not installed"))?;
    let ended = run(&path, Path::new("/"), arguments);
    if ended.status == Some(0) { Ok(()) } else { Err(format!("{name}: {}", ended.err)) }
}
