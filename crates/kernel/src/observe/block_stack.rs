//! The stack of devices below a device, down to the lowest visible one. The file of a loop device is on a disk, a
//! partition is part of a disk, and a mirror consists of several.

use std::fs;
use std::path::{Path, PathBuf};

use crate::observe::block_device::{Device, Number, number_in};
use crate::sys::name::original;
use crate::sys::read_limited;

/// The folder with the kernel's devices.
pub(crate) const SYS: &str = "/sys";

/// The suffix that the kernel appends to the path of a file that has no name any more.
const NAMELESS: &str = " (deleted)";

/// Returns these devices and all devices below them, each once, with the number of devices above it. `device_of`
/// returns a device that contains a file.
pub(crate) fn under(sys: &Path, tops: &[Device], device_of: &dyn Fn(&Path) -> Option<Device>) -> Vec<(Device, u32)> {
    let mut found: Vec<(Device, u32)> = Vec::new();
    let tops = tops.iter().flat_map(|top| members(sys, top));
    let mut coming: Vec<(Device, u32)> = tops.map(|member| (member, 0)).collect();
    // Breadth first, so that each device is found at its least depth.
    while !coming.is_empty() {
        let mut below = Vec::new();
        for (device, depth) in coming {
            if found.iter().any(|(known, _)| *known == device) {
                continue;
            }
            let devices = directly_below(sys, &device, device_of);
            below.extend(devices.into_iter().map(|device| (device, depth + 1)));
            found.push((device, depth));
        }
        coming = below;
    }
    found
}

/// The device itself, or all members of the btrfs that it belongs to.
fn members(sys: &Path, device: &Device) -> Vec<Device> {
    for system in folders(&sys.join("fs/btrfs")) {
        let members = system.join("devices");
        if members.join(&device.name).exists() {
            let numbers = folders(&members).into_iter().filter_map(|member| number_in(&member));
            return numbers.filter_map(|(major, minor)| Device::in_sys(sys, major, minor)).collect();
        }
    }
    vec![device.clone()]
}

/// The devices directly below a device. The file of a loop device may be on all members of a btrfs.
pub(crate) fn directly_below(sys: &Path, device: &Device, device_of: &dyn Fn(&Path) -> Option<Device>) -> Vec<Device> {
    if let Some(file) = backing_file(device) {
        return device_of(&file).map_or_else(Vec::new, |holder| members(sys, &holder));
    }
    let numbered = |(major, minor): Number| Device::in_sys(sys, major, minor);
    let slaves: Vec<Number> = folders(&device.sys.join("slaves")).iter().filter_map(|slave| number_in(slave)).collect();
    if slaves.is_empty() && device.sys.join("partition").exists() {
        // The folder of a partition is inside that of its disk.
        let disk = device.sys.canonicalize().ok().and_then(|own| own.parent().and_then(number_in));
        return disk.and_then(numbered).into_iter().collect();
    }
    slaves.into_iter().filter_map(numbered).collect()
}

/// The file of a loop device, or the folder where a nameless file was created. `None` for other devices.
pub(crate) fn backing_file(device: &Device) -> Option<PathBuf> {
    read_limited::of_the_kernel(device.sys.join("loop/backing_file")).ok().map(|text| backing(&text))
}

/// The file of a loop device. `None` if the file has no name, and for other devices.
pub(crate) fn named_file(device: &Device) -> Option<PathBuf> {
    named(&read_limited::of_the_kernel(device.sys.join("loop/backing_file")).ok()?)
}

/// Parses the path of a named file. A real name may end in the kernel's mark for nameless files; it counts as a name
/// if such a file exists.
fn named(text: &str) -> Option<PathBuf> {
    let path = PathBuf::from(original(text.trim_end_matches('\n')));
    (!text.trim_end_matches('\n').ends_with(NAMELESS) || path.exists()).then_some(path)
}

fn backing(text: &str) -> PathBuf {
    let path = text.trim_end_matches('\n');
    match path.strip_suffix(NAMELESS) {
        Some(nameless) => Path::new(&original(nameless)).parent().unwrap_or(Path::new("/")).to_owned(),
        None => PathBuf::from(original(path)),
    }
}

/// The entries of a folder, sorted. Empty if the folder does not exist.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort_unstable();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    fn under(recorded: &Recorded, top: &Device, device_of: &dyn Fn(&Path) -> Option<Device>) -> Vec<(String, u32)> {
        under_all(recorded, std::slice::from_ref(top), device_of)
    }

    fn under_all(
        recorded: &Recorded,
        tops: &[Device],
        device_of: &dyn Fn(&Path) -> Option<Device>,
    ) -> Vec<(String, u32)> {
        let found = super::under(recorded.sys(), tops, device_of);
        found.into_iter().map(|(device, depth)| (device.name, depth)).collect()
    }

    fn nowhere(_: &Path) -> Option<Device> {
        None
    }

    fn layers(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
        expected.iter().map(|(name, depth)| ((*name).to_owned(), *depth)).collect()
    }

    #[test]
    fn a_loop_device_is_on_the_disk_of_its_file() {
        let recorded = Recorded::new();
        recorded.add("pci/vda", "254:0", &[]);
        let partition = recorded.add("pci/vda/vda1", "254:1", &[("partition", "1\n")]);
        let top = recorded.add("virtual/loop3", "7:3", &[("loop/backing_file", "/images/a b.img\n")]);
        let on_partition = |file: &Path| (file == Path::new("/images/a b.img")).then(|| partition.clone());
        assert_eq!(under(&recorded, &top, &on_partition), layers(&[("loop3", 0), ("vda1", 1), ("vda", 2)]));
        assert_eq!(under(&recorded, &top, &nowhere), layers(&[("loop3", 0)]));
    }

    #[test]
    fn an_unnamed_file_is_on_the_disk_of_its_folder() {
        assert_eq!(backing("/tmp/#1234 (deleted)\n"), Path::new("/tmp"));
        assert_eq!(backing("/#1234 (deleted)\n"), Path::new("/"));
        assert_eq!(backing("/images/a\n"), Path::new("/images/a"));
    }

    #[test]
    fn a_file_name_may_end_in_deleted() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("a (deleted)");
        let text = format!("{}\n", path.display());
        assert_eq!(named(&text), None);
        fs::write(&path, "").expect("a file");
        assert_eq!(named(&text), Some(path));
        assert_eq!(named("/images/a\n"), Some(PathBuf::from("/images/a")));
    }

    #[test]
    fn a_mirror_has_several_disks_and_shared_ones_count_once() {
        let recorded = Recorded::new();
        recorded.add("pci/sda", "8:0", &[]);
        recorded.add("pci/sda/sda1", "8:1", &[("partition", "1\n")]);
        recorded.add("pci/sda/sda2", "8:2", &[("partition", "2\n")]);
        let top = recorded.add("virtual/dm-0", "253:0", &[]);
        recorded.link("pci/sda/sda1", "devices/virtual/dm-0/slaves/sda1");
        recorded.link("pci/sda/sda2", "devices/virtual/dm-0/slaves/sda2");
        assert_eq!(under(&recorded, &top, &nowhere), layers(&[("dm-0", 0), ("sda1", 1), ("sda2", 1), ("sda", 2)]));
    }

    #[test]
    fn a_btrfs_may_have_many_members() {
        let recorded = Recorded::new();
        let top = recorded.add("pci/sda", "8:0", &[]);
        let other = recorded.add("pci/sdb", "8:16", &[]);
        recorded.link("pci/sda", "fs/btrfs/0b1c/devices/sda");
        recorded.link("pci/sdb", "fs/btrfs/0b1c/devices/sdb");
        fs::create_dir_all(recorded.sys().join("fs/btrfs/features")).expect("folders");
        assert_eq!(under(&recorded, &top, &nowhere), layers(&[("sda", 0), ("sdb", 0)]));
        // A file on it may be on all of them.
        let file = recorded.add("virtual/loop3", "7:3", &[("loop/backing_file", "/pool/a.img\n")]);
        assert_eq!(under(&recorded, &file, &|_| Some(other.clone())), layers(&[("loop3", 0), ("sda", 1), ("sdb", 1)]));
    }

    /// An xfs with its log on a partition of the disk that has the data.
    #[test]
    fn a_file_system_may_have_several_devices() {
        let recorded = Recorded::new();
        recorded.add("pci/sda", "8:0", &[]);
        let [data, log] = [("sda1", "8:1"), ("sda2", "8:2")]
            .map(|(name, number)| recorded.add(&format!("pci/sda/{name}"), number, &[("partition", "1\n")]));
        assert_eq!(under_all(&recorded, &[data, log], &nowhere), layers(&[("sda1", 0), ("sda2", 0), ("sda", 1)]));
    }
}
