//! Control groups of the test's own (version 1), in which it runs the program under test with less.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Ended, run};

/// A group of one controller; dropping it removes it, when nothing runs in it any more.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// A new group of the controller: `cpu`, `blkio`, `memory`, `cpuacct`. Needs root.
    pub fn new(controller: &str) -> Result<Group, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("diskperf-test-{}-{number}", std::process::id());
        let folder = Path::new("/sys/fs/cgroup").join(controller).join(name);
        fs::create_dir(&folder).map_err(|error| format!("no control group of {controller}: {error}"))?;
        Ok(Group { folder })
    }

    /// The same, with a limit set.
    pub fn limited(controller: &str, file: &str, limit: &str) -> Result<Group, String> {
        let group = Group::new(controller)?;
        group.set(file, limit)?;
        Ok(group)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets one of its files.
    pub fn set(&self, file: &str, value: &str) -> Result<(), String> {
        fs::write(self.folder.join(file), value).map_err(|error| format!("cannot set {file} to {value}: {error}"))
    }

    /// Reads one of its files.
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

/// Runs a program to its end in these groups. It enters them before it is the program: nothing of it runs
/// outside.
pub fn run_in(groups: &[&Group], program: &Path, folder: &Path, arguments: &[&str]) -> Ended {
    const ENTER: &str = "while [ \"$1\" != -- ]; do echo $$ > \"$1/cgroup.procs\" || exit 125; shift; done; \
                         shift; exec \"$@\"";
    let groups: Vec<&str> = groups.iter().map(|group| group.folder.to_str().expect("plain words")).collect();
    let program = program.to_str().expect("a path that is text");
    let words = [&["-c", ENTER, "sh"], &groups[..], &["--", program], arguments].concat();
    run(Path::new("/bin/sh"), folder, &words)
}
