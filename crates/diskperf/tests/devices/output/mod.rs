//! Code that the tests of output files share.

mod files;
mod inputs;
mod races;
mod streams;

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};
use serde_json::Value;
use testkit::ProgramOutput;
use testkit::loop_disk::Disk;

use crate::common::{Cli, program, text};

/// The content of an old file.
pub const OLD: &str = "old results\n";

/// A command with results of some 80,000 bytes.
pub const SMOKE: [&str; 6] = ["run", "smoke", "sim:flat", "--rounds", "1", "--json"];

/// Writes the results of [`SMOKE`] to a file.
pub fn smoke_to(folder: &Path, name: &str) -> ProgramOutput {
    Cli::in_folder(folder).run(&[&SMOKE[..], &["-o", name]].concat())
}

/// Runs a script in which `$0` is the program.
pub fn shell(folder: &Path, script: &str) -> ProgramOutput {
    testkit::run(Path::new("/bin/sh"), folder, &["-c", script, text(&program())])
}

pub fn refuses(folder: &Path, arguments: &[&str], says: &str) {
    let ended = Cli::in_folder(folder).run(arguments);
    assert_eq!(ended.status, Some(3), "{arguments:?}: {}", ended.err);
    assert!(ended.err.contains(says) && ended.err.contains("\nhint: "), "{arguments:?}: {}", ended.err);
}

/// Asserts that the file has its old content or, if that is expected, all results of [`SMOKE`].
pub fn assert_whole(path: &Path, is_new: bool) {
    let text = fs::read_to_string(path).expect("the file");
    if is_new {
        let document: Value = serde_json::from_str(&text).expect("all of a document");
        assert!(text.ends_with("}\n") && document["cells"].as_array().is_some_and(|cells| !cells.is_empty()));
    } else {
        assert_eq!(text, OLD);
    }
}

/// A disk full of a pattern, which nothing may change.
pub struct Decoy {
    pub disk: Disk,
    before: Vec<u8>,
}

impl Decoy {
    pub fn new() -> Decoy {
        // Larger than the files of the programs of 1983.
        let before: Vec<u8> = (0..9 << 20).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        Decoy { disk: Disk::holding(before.len() as u64, &[(0, &before)]), before }
    }

    /// The folder with the disk's file and the names that lead to it.
    pub fn folder(&self) -> &Path {
        self.disk.folder.path()
    }

    /// The number of ways in which a name can lead to it.
    pub fn ways(&self) -> usize {
        4
    }

    /// The error for a name that leads to it.
    pub fn says(&self, way: usize) -> &'static str {
        match way {
            0 | 1 => "is a device, and this would overwrite it",
            _ => "is the backing file of ",
        }
    }

    /// Makes a name lead to it: a link to the device, its node, a link to the file, the file itself. Another file with
    /// this name loses it.
    pub fn lead(&self, way: usize, name: &str) {
        let (beside, name) = (self.folder().join("beside"), self.folder().join(name));
        match way {
            0 => symlink(self.disk.node(), &beside).expect("a link"),
            1 => {
                let number = fs::metadata(self.disk.node()).expect("the device").rdev();
                rustix::fs::mknodat(CWD, &beside, FileType::BlockDevice, Mode::RUSR | Mode::WUSR, number)
                    .expect("a node");
            }
            2 => symlink(&self.disk.file, &beside).expect("a link"),
            _ => fs::hard_link(&self.disk.file, &beside).expect("a second name"),
        }
        replace(&beside, &name);
    }

    /// Compares every byte of the file and of the device.
    pub fn assert_unchanged(&self) {
        for path in [self.disk.file.as_path(), self.disk.node()] {
            let mut now = vec![0; self.before.len()];
            let file = File::open(path).expect("it can be read");
            rustix::fs::fsync(&file).expect("durable");
            file.read_exact_at(&mut now, 0).expect("all of it");
            assert!(now == self.before, "{} has changed", path.display());
        }
        let file = fs::metadata(&self.disk.file).expect("the file");
        assert!(file.is_file() && file.len() == self.before.len() as u64);
    }
}

/// Renames. If both names are of one file, rename(2) leaves both, and this function removes the first.
pub fn replace(from: &Path, to: &Path) {
    fs::rename(from, to).expect("renamed");
    if fs::symlink_metadata(from).is_ok() {
        rustix::fs::unlink(from).expect("a name less");
    }
}
