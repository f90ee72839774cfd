//! All settings and limits of a device's queue, so that two targets can be compared in each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::observe::block_device::Device;
use crate::observe::sysfs_attribute::chosen;
use crate::sys::read_limited;

/// The folder with the settings of the scheduler, inside the folder of the queue.
const SCHEDULER: &str = "iosched";

/// Settings of the device's share of dirty memory, in the folder `bdi` of the disk
/// (Documentation/ABI/testing/sysfs-class-bdi). The others there are copies, or change with the dirty memory.
const WRITEBACK: [&str; 3] = ["max_ratio", "min_ratio", "strict_limit"];

/// Reads every readable attribute of the queue of a device; for a partition, its disk's. Those of the scheduler begin
/// with `iosched/`, those of dirty memory with `bdi/`. Empty if no queue is visible.
pub fn queue_settings(device: &Device) -> BTreeMap<String, String> {
    let Some(queue) = device.queue() else { return BTreeMap::new() };
    let writeback = queue.join("../bdi");
    let of_writeback = WRITEBACK.iter().filter_map(|name| Some((format!("bdi/{name}"), value(&writeback.join(name))?)));
    let of_queue = attributes(&queue, "");
    let of_scheduler = attributes(&queue.join(SCHEDULER), "iosched/");
    of_queue.into_iter().chain(of_scheduler).chain(of_writeback).collect()
}

/// Reads the attributes in this folder. Their names begin with `prefix`.
fn attributes(folder: &Path, prefix: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((format!("{prefix}{}", entry.file_name().to_str()?), value(&entry.path())?)))
        .collect()
}

/// Reads the current value. `None` for folders, and for attributes that the kernel does not support for this device.
fn value(path: &Path) -> Option<String> {
    Some(chosen(&read_limited::of_the_kernel(path).ok()?)).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    #[test]
    fn every_attribute_of_the_queue_is_read() {
        let recorded = Recorded::new();
        let files = [
            ("queue/scheduler", "none [mq-deadline] kyber\n"),
            ("queue/nomerges", "2\n"),
            ("queue/zone_append_max_bytes", "\n"),
            ("queue/iosched/read_expire", "500\n"),
            ("queue/crypto/max_dun_bits", "64\n"),
            ("bdi/max_ratio", "100\n"),
            ("bdi/max_bytes", "1234\n"),
            ("loop3p1/partition", "1\n"),
        ];
        let disk = recorded.add("loop3", "7:3", &files);
        let expected =
            [("bdi/max_ratio", "100"), ("iosched/read_expire", "500"), ("nomerges", "2"), ("scheduler", "mq-deadline")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let partition = recorded.add("loop3/loop3p1", "259:0", &[]);
        for device in [disk, partition] {
            assert_eq!(queue_settings(&device), BTreeMap::from(expected.clone()));
        }
        assert!(queue_settings(&recorded.add("zero", "1:5", &[])).is_empty());
    }
}
