//! A loop device on a file, and file systems mounted from it: a private disk of a test that can be limited, filled and
//! broken.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::thread::CapabilitySet;
use tempfile::TempDir;

use crate::{has_tool, run, run_tool, run_tool_when_free, tool};

/// Skips the test if it cannot have a loop device here, or lacks one of the given tools: `need_disk!("mkfs.ext4")`.
#[macro_export]
macro_rules! need_disk {
    ($($tool:expr),*) => {
        if let Some(reason) = $crate::loop_disk::missing_requirement(&[$($tool),*]) {
            return $crate::skip!("{reason}");
        }
    };
}

/// Returns the reason why a test cannot have a loop device, or these tools; `None` if it can. See [`need_disk!`].
pub fn missing_requirement(tools: &[&str]) -> Option<String> {
    let capabilities = rustix::thread::capabilities(None);
    let may = capabilities.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if !may || !Path::new("/dev/loop-control").exists() {
        return Some("needs root and loop devices".to_owned());
    }
    let missing = ["losetup"].iter().chain(tools).find(|name| !has_tool(name))?;
    Some(format!("{missing} is not installed"))
}

/// An attached loop device. Dropping it detaches the device.
#[derive(Debug)]
pub struct LoopDisk {
    node: PathBuf,
    is_ours: bool,
}

impl LoopDisk {
    /// Attaches a free loop device to the file. It bypasses the page cache if the file allows that. Needs root.
    pub fn attach(file: &Path) -> Result<LoopDisk, String> {
        LoopDisk::attach_with(file, "--direct-io=on")
    }

    /// Attaches a loop device that uses the page cache, which is then a cache below the file system on the device.
    pub fn attach_through_cache(file: &Path) -> Result<LoopDisk, String> {
        LoopDisk::attach_with(file, "--direct-io=off")
    }

    /// Attaches a read-only loop device.
    pub fn attach_read_only(file: &Path) -> Result<LoopDisk, String> {
        LoopDisk::attach_with(file, "--read-only")
    }

    /// Takes over a device that a test has attached itself, and detaches it at the end.
    pub fn adopt(node: PathBuf) -> LoopDisk {
        LoopDisk { node, is_ours: true }
    }

    fn attach_with(file: &Path, option: &str) -> Result<LoopDisk, String> {
        let losetup = tool("losetup").ok_or("losetup is not installed")?;
        let file = file.to_str().ok_or("a path that is no text")?;
        let ended = run(&losetup, Path::new("/"), &["--find", "--show", option, file]);
        match ended.status {
            Some(0) => Ok(LoopDisk { node: PathBuf::from(ended.out.trim()), is_ours: true }),
            _ => Err(ended.err),
        }
    }

    /// Detaches the device lazily: the kernel detaches it when its last user, such as a mount, closes it, even if this
    /// process is killed.
    pub fn leave(&mut self) {
        if std::mem::take(&mut self.is_ours)
            && let Some(losetup) = tool("losetup")
        {
            run(&losetup, Path::new("/"), &["--detach", &self.node.to_string_lossy()]);
        }
    }

    /// Returns the path under /dev. The caller must detach the device.
    pub fn give_away(mut self) -> PathBuf {
        self.is_ours = false;
        std::mem::take(&mut self.node)
    }

    /// Returns the path under /dev.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Returns the device number as control groups write it: `7:3`.
    pub fn number(&self) -> String {
        self.attribute("dev")
    }

    /// Returns the content of a file in the device's folder under /sys, such as `queue/read_ahead_kb`; empty if there
    /// is none.
    pub fn attribute(&self, name: &str) -> String {
        let path = Path::new("/sys/block").join(self.node.file_name().unwrap_or_default()).join(name);
        fs::read_to_string(path).unwrap_or_default().trim().to_owned()
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A private disk of a test: a loop device on a sparse file in a temporary folder.
#[derive(Debug)]
pub struct Disk {
    // Fields are dropped in order: the device is detached before the folder is removed.
    /// The loop device.
    pub device: LoopDisk,
    /// The file with the content of the device.
    pub file: PathBuf,
    /// The folder of the file.
    pub folder: TempDir,
}

impl Disk {
    /// A disk of this many bytes, all zero.
    pub fn new(bytes: u64) -> Disk {
        Disk::holding(bytes, &[])
    }

    /// A disk with these bytes at these offsets, otherwise zero.
    pub fn holding(bytes: u64, pieces: &[(u64, &[u8])]) -> Disk {
        Disk::attached(bytes, pieces, LoopDisk::attach)
    }

    /// A disk whose device is attached by `attach`.
    pub fn attached(
        bytes: u64,
        pieces: &[(u64, &[u8])],
        attach: impl FnOnce(&Path) -> Result<LoopDisk, String>,
    ) -> Disk {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("disk");
        let file = File::create_new(&path).expect("a file");
        file.set_len(bytes).expect("its size");
        pieces.iter().for_each(|(at, piece)| file.write_all_at(piece, *at).expect("written"));
        file.sync_all().expect("durable");
        Disk { device: attach(&path).expect("a loop device"), file: path, folder }
    }

    /// Returns the path of the device.
    pub fn node(&self) -> &Path {
        self.device.node()
    }

    /// Returns the path of the device as text.
    pub fn text(&self) -> &str {
        self.node().to_str().expect("a plain path")
    }

    /// Returns the name of the device, such as `loop3`.
    pub fn name(&self) -> &str {
        self.text().trim_start_matches("/dev/")
    }

    /// Creates a folder next to the file.
    pub fn folder(&self, name: &str) -> String {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder).expect("a folder");
        folder.to_str().expect("a plain path").to_owned()
    }
}

/// A mounted file system. Dropping it unmounts it.
#[derive(Debug)]
pub struct Mounted(PathBuf);

impl Mounted {
    /// Mounts the device on the folder with these options.
    pub fn mount(node: &Path, folder: &Path, options: &str) -> Mounted {
        run_tool("mount", &["-o", options, &node.to_string_lossy(), &folder.to_string_lossy()]);
        Mounted(folder.to_owned())
    }

    /// Takes over a file system that a test has mounted itself, and unmounts it at the end.
    pub fn adopt(folder: &Path) -> Mounted {
        Mounted(folder.to_owned())
    }

    /// Mounts a tmpfs on the folder.
    pub fn tmpfs(folder: &Path, options: &str) -> Mounted {
        run_tool("mount", &["-t", "tmpfs", "-o", options, "tmpfs", &folder.to_string_lossy()]);
        Mounted(folder.to_owned())
    }

    /// Mounts a ramfs on the folder: a file system in memory that reserves no space and discards nothing.
    pub fn ramfs(folder: &Path) -> Mounted {
        run_tool("mount", &["-t", "ramfs", "ramfs", &folder.to_string_lossy()]);
        Mounted(folder.to_owned())
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let point = self.0.to_string_lossy();
        if thread::panicking() {
            let umount = tool("umount").unwrap_or_else(|| "umount".into());
            run(&umount, Path::new("/"), &[&point]);
        } else {
            run_tool_when_free("umount", &[&point]);
        }
    }
}
