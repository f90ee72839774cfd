//! Block devices as /sys shows them: which one lies under a number, and what it has moved.

use std::fs;
use std::path::{Path, PathBuf};

use workload::DeviceBytes;

/// The kernel counts in sectors of this size, whatever the device's own is.
const SECTOR: u64 = 512;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// `vda`, `loop0`, `nvme0n1p2`.
    pub name: String,
    /// Its folder under /sys.
    sys: PathBuf,
}

impl Device {
    /// The device of this number, where there is one.
    pub fn numbered(major: u32, minor: u32) -> Option<Device> {
        Device::in_sys(Path::new("/sys"), major, minor)
    }

    fn in_sys(root: &Path, major: u32, minor: u32) -> Option<Device> {
        let sys = root.join(format!("dev/block/{major}:{minor}"));
        let uevent = fs::read_to_string(sys.join("uevent")).ok()?;
        let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME="))?.to_owned();
        Some(Device { name, sys })
    }

    /// Its node under /dev.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> Option<u64> {
        let sectors: u64 = fs::read_to_string(self.sys.join("size")).ok()?.trim().parse().ok()?;
        Some(sectors * SECTOR)
    }

    /// `write back` or `write through`, as the kernel believes; a partition has its disk's.
    pub fn write_cache(&self) -> Option<String> {
        let text = fs::read_to_string(self.queue()?.join("write_cache")).ok()?;
        Some(text.trim().to_owned())
    }

    /// The folder of its queue's attributes; a partition has its disk's.
    pub(crate) fn queue(&self) -> Option<PathBuf> {
        ["queue", "../queue"].into_iter().map(|place| self.sys.join(place)).find(|folder| folder.is_dir())
    }

    /// What it has moved since it appeared, for everybody.
    pub fn counters(&self) -> Option<DeviceBytes> {
        parse_counters(&fs::read_to_string(self.sys.join("stat")).ok()?)
    }
}

/// The fields of `stat` (Documentation/block/stat.rst): the third is sectors read, the seventh sectors
/// written, the sixteenth flushes; kernels before 5.5 have no sixteenth.
fn parse_counters(text: &str) -> Option<DeviceBytes> {
    let fields: Vec<u64> = text.split_whitespace().map_while(|field| field.parse().ok()).collect();
    Some(DeviceBytes {
        read: fields.get(2)? * SECTOR,
        written: fields.get(6)? * SECTOR,
        flushes: fields.get(15).copied().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_their_fields() {
        let stat = "   10  0  80  3   20  0  160  4  0  5  6  0  0  0  0  7  8\n";
        assert_eq!(parse_counters(stat), Some(DeviceBytes { read: 40_960, written: 81_920, flushes: 7 }));
        assert_eq!(parse_counters("1 2 3"), None);
    }

    #[test]
    fn a_device_is_found_by_its_number() {
        let sys = tempfile::tempdir().expect("a scratch folder");
        let device = sys.path().join("dev/block/254:1");
        fs::create_dir_all(&device).expect("folders");
        fs::write(device.join("uevent"), "MAJOR=254\nMINOR=1\nDEVNAME=vda1\nDEVTYPE=partition\n").expect("a file");
        fs::write(device.join("size"), "2048\n").expect("a file");
        let found = Device::in_sys(sys.path(), 254, 1).expect("the device");
        assert_eq!((found.name.as_str(), found.bytes()), ("vda1", Some(1 << 20)));
        assert_eq!(found.node(), Path::new("/dev/vda1"));
        assert_eq!(Device::in_sys(sys.path(), 254, 2), None);
    }
}
