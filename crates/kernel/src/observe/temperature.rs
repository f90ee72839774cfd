//! The temperature of a device, and whether it has reached its limit. Drives throttle themselves at the limit.
//!
//! Drives report it as hwmon sensors of the kernel (Documentation/hwmon/sysfs-interface.rst): NVMe since Linux 5.5,
//! SATA if the module drivetemp is loaded. Virtual drives have no sensors.

use std::fs;
use std::path::{Path, PathBuf};

use crate::observe::block_device::Device;
use crate::sys::name::Shown;
use crate::sys::read_limited;

/// Prefix of the setting names that tell whether a device has reached its temperature limit: `heat of sda`.
pub const HEAT: &str = "heat of ";

/// The value of such a setting if the limit is reached.
pub const AT_LIMIT: &str = "at its limit";

/// Highest limit that is believed, in degrees Celsius. The kernel reports 65,261.85 for NVMe drives without a limit.
const BELIEVABLE: i64 = 200;

/// The sensor readings of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temperature {
    /// The highest temperature, in degrees Celsius.
    pub celsius: i64,
    /// The lowest limit of its sensors, in degrees Celsius. `None` if no sensor reports one.
    pub limit: Option<i64>,
    /// True if a sensor has reached its own limit or reports an alarm.
    pub is_reached: bool,
}

impl Temperature {
    /// Reads the sensors of the device; for a partition, those of its disk. Returns `None` if no sensor is visible.
    pub fn read(device: &Device) -> Option<Temperature> {
        let places = ["device", "device/device", "../device", "../device/device"];
        let below = places.iter().flat_map(|place| monitors(&device.sys.join(place)));
        let readings: Vec<Temperature> =
            below.flat_map(|monitor| (1..=9).filter_map(move |n| sensor(&monitor, n))).collect();
        readings.into_iter().reduce(|one, other| Temperature {
            celsius: one.celsius.max(other.celsius),
            limit: [one.limit, other.limit].into_iter().flatten().min(),
            is_reached: one.is_reached || other.is_reached,
        })
    }
}

/// Returns the hwmon folders of a device folder: `hwmon3` in it, or in its folder `hwmon`.
fn monitors(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_monitor = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.shown().into_owned()).unwrap_or_default();
        name.strip_prefix("hwmon").is_some_and(|number| !number.is_empty() && number.parse::<u32>().is_ok())
    };
    inside(folder.to_owned()).chain(inside(folder.join("hwmon"))).filter(is_monitor).collect()
}

/// Reads one sensor of a monitor. The kernel reports thousandths of a degree.
fn sensor(monitor: &Path, number: u32) -> Option<Temperature> {
    let read = |what: &str| {
        read_limited::of_the_kernel(monitor.join(format!("temp{number}_{what}"))).ok()?.trim().parse::<i64>().ok()
    };
    let input = read("input")?;
    let limit = read("max").or_else(|| read("crit")).filter(|limit| (1..=1000 * BELIEVABLE).contains(limit));
    let is_reached = limit.is_some_and(|limit| input >= limit) || read("alarm").is_some_and(|alarm| alarm != 0);
    Some(Temperature { celsius: input / 1000, limit: limit.map(|limit| limit / 1000), is_reached })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    #[test]
    fn sensors_of_nvme_and_ata_drives_are_found() {
        let recorded = Recorded::new();
        let nvme = recorded.add(
            "pci/nvme/nvme0/nvme0n1",
            "259:0",
            &[
                ("device/hwmon1/temp1_input", "41850\n"),
                ("device/hwmon1/temp1_max", "81850\n"),
                ("device/hwmon1/temp1_alarm", "0\n"),
                ("device/hwmon1/temp2_input", "52850\n"),
                ("device/hwmon1/temp2_max", "65261850\n"),
            ],
        );
        assert_eq!(Temperature::read(&nvme), Some(Temperature { celsius: 52, limit: Some(81), is_reached: false }));
        let sata = recorded.add(
            "pci/ata1/sda",
            "8:0",
            &[("device/hwmon/hwmon0/temp1_input", "61000\n"), ("device/hwmon/hwmon0/temp1_max", "60000\n")],
        );
        assert_eq!(Temperature::read(&sata), Some(Temperature { celsius: 61, limit: Some(60), is_reached: true }));
        let alarmed = recorded.add(
            "pci/nvme/nvme1/nvme1n1",
            "259:1",
            &[("device/hwmon2/temp1_input", "30000\n"), ("device/hwmon2/temp1_alarm", "1\n")],
        );
        assert_eq!(Temperature::read(&alarmed), Some(Temperature { celsius: 30, limit: None, is_reached: true }));
        let plain = recorded.add("virtual/loop0", "7:0", &[("queue/scheduler", "none\n")]);
        assert_eq!(Temperature::read(&plain), None);
    }

    #[test]
    fn a_partition_has_the_temperature_of_its_disk() {
        let recorded = Recorded::new();
        recorded.add(
            "pci/ata1/sda",
            "8:0",
            &[("device/hwmon/hwmon0/temp1_input", "35000\n"), ("device/hwmon/hwmon0/temp1_crit", "70000\n")],
        );
        let partition = recorded.add("pci/ata1/sda/sda1", "8:1", &[("partition", "1\n")]);
        assert_eq!(
            Temperature::read(&partition),
            Some(Temperature { celsius: 35, limit: Some(70), is_reached: false })
        );
    }
}
