//! The settings of two targets: a loop device of diskperf begins with the default attributes, whatever an earlier user
//! left, and every difference between two targets is listed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::loop_disk::{Disk, Mounted};
use testkit::{need_disk, run_tool};

use crate::common::document::document;
use crate::common::{Cli, list};

/// Attributes that Linux keeps when a loop device is detached, with a value that an earlier user may have left.
const LEFT: [(&str, &str); 3] = [("max_sectors_kb", "64"), ("nomerges", "2"), ("rq_affinity", "2")];

/// Folders of the attributes of all detached loop devices.
fn free_queues() -> Vec<PathBuf> {
    let blocks = fs::read_dir("/sys/block").expect("/sys/block").flatten().map(|entry| entry.path());
    let is_free = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy();
        name.starts_with("loop") && !path.join("loop/backing_file").exists()
    };
    blocks.filter(is_free).map(|path| path.join("queue")).collect()
}

/// Attributes that a user has left on the detached loop devices, restored when this is dropped.
struct Left(Vec<(PathBuf, String)>);

impl Left {
    fn on(queues: &[PathBuf]) -> Left {
        let mut before = Vec::new();
        for path in queues.iter().flat_map(|queue| LEFT.map(|(name, _)| queue.join(name))) {
            before.extend(fs::read_to_string(&path).ok().map(|value| (path, value)));
        }
        // Another test may attach or renew a device meanwhile.
        let left = LEFT.iter().flat_map(|(name, value)| queues.iter().map(move |queue| (queue.join(name), value)));
        left.for_each(|(path, value)| drop(fs::write(path, value)));
        Left(before)
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.0.iter().for_each(|(path, value)| drop(fs::write(path, value.trim())));
    }
}

fn queue(document: &Value, target: usize) -> &Value {
    &document["run"]["targets"][target]["queue"]
}

/// The case of issue 18: one of two identical images was on a loop device with attributes of an earlier user.
#[test]
fn images_do_not_inherit_the_attributes_of_an_earlier_user() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let queues = free_queues();
    let left = Left::on(&queues[..queues.len().min(8)]);
    assert!(!left.0.is_empty(), "a detached loop device");
    let targets = ["a=image:ext4,size=16MiB", "b=image:ext4,size=16MiB"];
    let ended = scratch.run(&["run", "smoke", "--rounds", "1", "--json", targets[0], targets[1]]);
    let document = document(&ended);
    for (attribute, value) in LEFT {
        let of = [0, 1].map(|target| queue(&document, target)[attribute].as_str().expect("a value"));
        assert!(of[0] == of[1] && of[0] != value, "{attribute}: {of:?}");
    }
    let table = scratch.well(&["run", "smoke", "--rounds", "1", targets[0], targets[1]]).out;
    assert!(table.contains("\nidentical settings: a, b\n"), "{table}");
}

/// A file system on a disk of the test, mounted at a folder next to its file.
fn mounted(disk: &Disk) -> Mounted {
    run_tool("mkfs.ext4", &["-q", disk.text()]);
    let folder = disk.folder("mounted");
    Mounted::mount(disk.node(), Path::new(&folder), "rw")
}

#[test]
fn a_device_of_the_user_keeps_its_attributes_which_are_listed() {
    need_disk!("mkfs.ext4", "mount", "umount");
    let disks = [Disk::new(32 << 20), Disk::new(32 << 20)];
    let [usual, changed] = disks.each_ref().map(mounted);
    let attribute = Path::new("/sys/block").join(disks[1].name()).join("queue/nomerges");
    let own = fs::read_to_string(&attribute).expect("an attribute");
    let (usual_value, changed_value) = (disks[0].device.attribute("queue/nomerges"), "1");
    fs::write(&attribute, changed_value).expect("changed");
    assert_ne!(usual_value, changed_value);
    let scratch = Cli::new();
    let targets = [format!("a={}", usual.path().display()), format!("b={}", changed.path().display())];
    let ended = scratch.well(&["run", "smoke", "--rounds", "1", &targets[0], &targets[1]]);
    let words = format!("nomerges {changed_value}, not {usual_value}");
    assert!(ended.out.contains("settings of b that differ from a: ") && ended.out.contains(&words), "{}", ended.out);
    assert_eq!(fs::read_to_string(&attribute).expect("an attribute").trim(), changed_value, "it is the user's");
    fs::write(&attribute, own.trim()).expect("restored");
}

#[test]
fn a_directory_given_twice_is_named() {
    let scratch = Cli::new();
    fs::create_dir(scratch.path().join("one")).expect("a folder");
    let words = ["choose", "a=one", "b=one/../one", "--only", "read_8192", "--size", "64KiB", "--rounds", "6"];
    let document = document(&scratch.run(&[&words[..], &["--json"]].concat()));
    assert_eq!(document["run"]["targets"][1]["same_as"], "a");
    let remarks = list(&document["run"]["choice"], "remarks");
    let said = remarks.iter().filter_map(Value::as_str).any(|remark| remark.contains("are the same directory"));
    assert!(
        said && !remarks.iter().any(|remark| remark.as_str().is_some_and(|text| text.contains("share one device")))
    );
}
