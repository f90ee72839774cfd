//! Private control groups of a test (version 1) that restrict the program under test.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{ProgramOutput, run};

/// A control group with one controller. Dropping it removes the group, when no process is left in it.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// Creates a group for this controller: `cpu`, `blkio`, `memory`, `cpuacct`. Needs root.
    pub fn new(controller: &str) -> Result<Group, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("diskperf-test-{}-{number}", std::process::id());
        let folder = Path::new("/sys/fs/cgroup").join(controller).join(name);
        fs::create_dir(&folder).map_err(|error| format!("no control group of {controller}: {error}"))?;
        Ok(Group { folder })
    }

    /// Creates a group with one limit.
    pub fn limited(controller: &str, file: &str, limit: &str) -> Result<Group, String> {
        let group = Group::new(controller)?;
        group.set(file, limit)?;
        Ok(group)
    }

    /// Returns the folder of the group.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes one of the group's files.
    pub fn set(&self, file: &str, value: &str) -> Result<(), String> {
        fs::write(self.folder.join(file), value).map_err(|error| format!("cannot set {file} to {value}: {error}"))
    }

    /// Reads one of the group's files.
    pub fn get(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.folder.join(file)).map(|text| text.trim().to_owned())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let removed = fs::remove_dir(&self.folder);
        assert!(std::thread::panicking() || removed.is_ok(), "{}: {removed:?}", self.folder.display());
    }
}

/// Runs a program to its end in these groups. The shell enters the groups before it executes the program, so no part of
/// the program runs outside of them.
pub fn run_in(groups: &[&Group], program: &Path, folder: &Path, arguments: &[&str]) -> ProgramOutput {
    const ENTER: &str = "while [ \"$1\" != -- ]; do echo $$ > \"$1/cgroup.procs\" || exit 125; shift; done; \
                         shift; exec \"$@\"";
    let groups: Vec<&str> = groups.iter().map(|group| group.folder.to_str().expect("plain words")).collect();
    let program = program.to_str().expect("a path that is text");
    let words = [&["-c", ENTER, "sh"], &groups[..], &["--", program], arguments].concat();
    run(Path::new("/bin/sh"), folder, &words)
}
