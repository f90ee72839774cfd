//! Simulates a small memory: a control group that limits the memory of this process, including page cache. The
//! machines of 1983 had 4 MB, half the size of the file they wrote. Today a file fits into memory many times over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use procfs::ProcError;
use procfs::process::Process;

use crate::errors::message;
use crate::sys::name::Shown;
use crate::sys::read_limited;

/// Mount points of control groups, and the limit files: first the hierarchy with only the memory controller, then the
/// unified one.
const HIERARCHIES: [(&str, &str); 3] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup/unified", "memory.max"),
    ("/sys/fs/cgroup", "memory.max"),
];

/// The reason why memory cannot be limited here.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// No control group hierarchy has the memory controller.
    #[error("no control group of this system limits memory")]
    NoController,
    /// The kernel or the owner of the groups refused.
    #[error("{path}: {}", message(source), path = .path.shown())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// This process's own groups could not be read.
    #[error("the groups of this process: {0}")]
    Unreadable(#[from] ProcError),
}

/// A control group with this process in it. Dropping it moves the process back and removes the group.
#[derive(Debug)]
pub struct MemoryLimit {
    group: PathBuf,
    parent: PathBuf,
}

impl MemoryLimit {
    /// Limits this process, with all its threads, to `bytes` bytes.
    pub fn new(bytes: u64) -> Result<MemoryLimit, LimitError> {
        let (parent, limit_file) = own_group()?;
        remove_left(&parent);
        let group = parent.join(format!("diskperf-{}", std::process::id()));
        fs::create_dir(&group).map_err(|source| refused(&group, source))?;
        // From here on, dropping `limit` cleans up.
        let limit = MemoryLimit { group, parent };
        write(&limit.group.join(limit_file), &bytes.to_string())?;
        enter(&limit.group)?;
        Ok(limit)
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // A failure cannot be handled here, and an empty group does no harm.
        let _ = enter(&self.parent);
        let _ = fs::remove_dir(&self.group);
    }
}

/// Removes the groups of runs that were killed. A group that still contains a process cannot be removed.
fn remove_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("diskperf-")).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Returns the group of this process in the first hierarchy that can limit memory, and the name of its limit file.
fn own_group() -> Result<(PathBuf, &'static str), LimitError> {
    let groups = Process::myself()?.cgroups()?.0;
    for (mount, limit_file) in HIERARCHIES {
        let is_unified = limit_file == "memory.max";
        let mine = groups.iter().find(|group| {
            if is_unified { group.hierarchy == 0 } else { group.controllers.iter().any(|name| name == "memory") }
        });
        let Some(mine) = mine else { continue };
        let own = Path::new(mount).join(mine.pathname.trim_start_matches('/'));
        // The root of the unified hierarchy has no limit of its own, but its children do.
        let limits = if is_unified { own.join("cgroup.controllers") } else { own.join(limit_file) };
        let has_memory = read_limited::of_the_kernel(&limits).is_ok_and(|text| !is_unified || text.contains("memory"));
        if has_memory {
            return Ok((own, limit_file));
        }
    }
    Err(LimitError::NoController)
}

fn enter(group: &Path) -> Result<(), LimitError> {
    write(&group.join("cgroup.procs"), &std::process::id().to_string())
}

fn write(path: &Path, text: &str) -> Result<(), LimitError> {
    fs::write(path, text).map_err(|source| refused(path, source))
}

fn refused(path: &Path, source: io::Error) -> LimitError {
    LimitError::Refused { path: path.to_owned(), source }
}
