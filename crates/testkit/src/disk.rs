//! A loop device on a file of the test's own: a disk that may be limited, filled and broken.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{run, tool};

/// An attached loop device; dropping it detaches it.
#[derive(Debug)]
pub struct LoopDisk {
    node: PathBuf,
    is_ours: bool,
}

impl LoopDisk {
    /// Attaches a free loop device to the file, past the page cache where the file allows it. Needs root.
    pub fn attach(file: &Path) -> Result<LoopDisk, String> {
        LoopDisk::attach_with(file, "--direct-io=on")
    }

    /// The same through the page cache, which is then a cache below whatever stands on the device.
    pub fn attach_through_cache(file: &Path) -> Result<LoopDisk, String> {
        LoopDisk::attach_with(file, "--direct-io=off")
    }

    /// The same, so that it can only be read.
    pub fn attach_read_only(file: &Path) -> Result<LoopDisk, String> {
        LoopDisk::attach_with(file, "--read-only")
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

    /// Leaves it to whoever holds it, a mount for one: when the last lets it go it is detached, also where
    /// this process is killed.
    pub fn leave(&mut self) {
        if std::mem::take(&mut self.is_ours)
            && let Some(losetup) = tool("losetup")
        {
            run(&losetup, Path::new("/"), &["--detach", &self.node.to_string_lossy()]);
        }
    }

    /// Its path under /dev.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Its numbers, as control groups name it: `7:3`.
    pub fn number(&self) -> String {
        self.attribute("dev")
    }

    /// A file of its folder under /sys, as in `queue/read_ahead_kb`; empty where there is none.
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
