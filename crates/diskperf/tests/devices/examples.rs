//! The examples run as printed.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::{ProgramOutput, run};

use crate::common::program;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/paper-1983.sh");

/// A loop device on an image of the test, detached when dropped.
struct Loop(PathBuf);

impl Loop {
    fn attach(image: &Path) -> Loop {
        fs::File::create(image).and_then(|file| file.set_len(64 << 20)).expect("an image");
        let ended = run(Path::new("losetup"), Path::new("/"), &["--find", "--show", &image.to_string_lossy()]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        Loop(PathBuf::from(ended.out.trim()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run(Path::new("losetup"), Path::new("/"), &["--detach", &self.0.to_string_lossy()]);
    }
}

fn script(device: &Path, mountpoint: &Path) -> ProgramOutput {
    let binary = program();
    let diskperf = format!("DISKPERF_BIN={}", binary.display());
    let (device, mountpoint) = (device.to_string_lossy(), mountpoint.to_string_lossy());
    run(Path::new("env"), Path::new("/"), &[&diskperf, SCRIPT, &device, &mountpoint])
}

#[test]
fn the_script_of_1983_runs_and_refuses_devices_in_use() {
    if !testkit::is_root() {
        return testkit::skip!("mkfs and mount need root");
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mountpoint = folder.path().join("mnt0");
    fs::create_dir(&mountpoint).expect("a folder");
    let device = Loop::attach(&folder.path().join("disk.img"));

    let first = script(&device.0, &mountpoint);
    assert_eq!(first.status, Some(0), "{}", first.err);
    let said: Vec<&str> = first.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(said, ["4K", "write_8192", "read_8192"]);
    let timed =
        first.err.lines().filter(|line| line.ends_with('%') && line.contains("u ") && line.contains("s ")).count();
    assert_eq!(timed, 6, "{}", first.err);
    assert_eq!(testkit::names_in(&mountpoint).len(), 0, "it is unmounted again");

    let second = script(&device.0, &mountpoint);
    assert_eq!(second.status, Some(3), "{}", second.err);
    assert!(second.err.contains("holds something already"), "{}", second.err);
}
