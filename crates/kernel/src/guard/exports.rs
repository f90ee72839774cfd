//! Devices that targets of the kernel export: to Xen guests (xen-blkback), as NVMe over Fabrics (nvmet), and by LIO
//! (iSCSI, Fibre Channel, vhost). No process has these devices open, and some targets do not hold them exclusively.
//! Regular files that a target exports are not found.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::observe::block_device::Number;
use crate::observe::block_stack::folders;
use crate::sys::read_limited;

/// A target of the kernel that exports devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exporter {
    /// xen-blkback.
    Xen,
    /// nvmet.
    Nvme,
    /// LIO.
    Lio,
}

/// Returns the exported devices, each once. Without configfs in /sys, only those of Xen. `number_of` returns the number
/// of the block device at a path under /dev.
///   1. `/sys/bus/xen-backend/devices/vbd-*/physical_device` has the device number, in hexadecimal digits;
///   2. a namespace of nvmet and a backstore of LIO have the path of their device. Their file `enable` has `0` if the
///      device is not in use. If that cannot be read, the device may be in use.
pub(super) fn exports(sys: &Path, number_of: impl Fn(&str) -> Option<Number>) -> Vec<(Number, Exporter)> {
    // 1.
    let guests = folders(&sys.join("bus/xen-backend/devices")).into_iter();
    let numbers = guests.filter_map(|disk| hexadecimal(&text(&disk.join("physical_device"))?));
    // 2.
    let config = sys.join("kernel/config");
    let subsystems = folders(&config.join("nvmet/subsystems")).into_iter();
    let namespaces = subsystems.flat_map(|subsystem| folders(&subsystem.join("namespaces")));
    let adapters = folders(&config.join("target/core")).into_iter();
    let backstores = adapters.flat_map(|adapter| folders(&adapter));
    let device = |folder: PathBuf, file: &str| {
        let is_enabled = text(&folder.join("enable")).is_none_or(|enable| enable != "0");
        if is_enabled { number_of(&text(&folder.join(file))?) } else { None }
    };
    let mut found: Vec<(Number, Exporter)> = numbers.map(|number| (number, Exporter::Xen)).collect();
    found.extend(namespaces.filter_map(|one| Some((device(one, "device_path")?, Exporter::Nvme))));
    found.extend(backstores.filter_map(|one| Some((device(one, "udev_path")?, Exporter::Lio))));
    found.sort_unstable();
    found.dedup();
    found
}

fn text(file: &Path) -> Option<String> {
    read_limited::of_the_kernel(file).ok().map(|text| text.trim().to_owned())
}

fn hexadecimal(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?))
}

impl Exporter {
    /// Returns the hint for the user.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Exporter::Xen => "detach it from the guest: xl block-list and xl block-detach",
            Exporter::Nvme => "disable its namespace: nvmetcli",
            Exporter::Lio => "delete its backstore: targetcli",
        }
    }
}

impl fmt::Display for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exporter::Xen => "to a Xen guest",
            Exporter::Nvme => "as NVMe over Fabrics",
            Exporter::Lio => "by LIO (iSCSI)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    #[test]
    fn exported_devices_are_found() {
        use Exporter::{Lio, Nvme, Xen};
        let recorded = Recorded::new();
        let number_of = |path: &str| {
            let disks = ["/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"];
            disks.iter().position(|disk| *disk == path).map(|at| (8, 16 * at as u32))
        };
        let found = || exports(recorded.sys(), number_of);
        assert_eq!(found(), [], "there is no configfs");
        recorded.write("bus/xen-backend/devices/vbd-1-51712/physical_device", "fd:1a\n");
        recorded.write("bus/xen-backend/devices/vbd-2-51712/physical_device", "\n");
        recorded.write("bus/xen-backend/devices/vif-1-0/state", "4\n");
        for (number, path, enable) in [(1, "/dev/sdb\n", "1\n"), (2, "/dev/sdc\n", "0\n"), (3, "(null)\n", "0\n")] {
            let namespace = format!("kernel/config/nvmet/subsystems/nqn.2026-11.a/namespaces/{number}");
            recorded.write(&format!("{namespace}/device_path"), path);
            recorded.write(&format!("{namespace}/enable"), enable);
        }
        for (file, text) in [
            ("iblock_0/disk/udev_path", "/dev/sda\n"),
            ("fileio_1/disk/udev_path", "/dev/sdd\n"),
            ("fileio_1/again/udev_path", "/dev/sdd\n"),
            ("fileio_1/image/udev_path", "/srv/disk.img\n"),
            ("fileio_1/hba_info", "HBA Index: 1\n"),
        ] {
            recorded.write(&format!("kernel/config/target/core/{file}"), text);
        }
        assert_eq!(found(), [((8, 0), Lio), ((8, 16), Nvme), ((8, 48), Lio), ((253, 26), Xen)]);
    }
}
