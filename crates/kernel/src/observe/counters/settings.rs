//! Settings that affect performance and must not change during a run: of the queues below the programs, their mounts,
//! the processors and the kernel. They are read by name, so that a report can name the changed ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use workload::MachineSettings;

use super::Source;
use super::cgroups::Groups;
use crate::observe::block_device::Device;
use crate::observe::mount;
use crate::observe::sysfs_attribute::chosen;
use crate::observe::temperature::{AT_LIMIT, HEAT, Temperature};
use crate::sys::read_limited;

/// Queue attributes that affect performance (Documentation/ABI/stable/sysfs-block).
const QUEUE: [&str; 6] = ["scheduler", "read_ahead_kb", "write_cache", "nr_requests", "max_sectors_kb", "wbt_lat_usec"];

/// Kernel settings that control when data are written back and what stays in memory
/// (Documentation/admin-guide/sysctl/vm.rst).
const MEMORY: [&str; 8] = [
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "swappiness",
    "vfs_cache_pressure",
];

const PROCESSORS: &str = "sys/devices/system/cpu";

impl Source {
    /// Reads all visible settings of these devices, folders and the kernel.
    pub(crate) fn settings(&self, devices: &[(Device, u32)], folders: &[&Path]) -> MachineSettings {
        let mut found = MachineSettings::new();
        let mut add = |name: String, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                found.insert(name, value);
            }
        };
        let mut loops = 0;
        for (device, _) in devices {
            // After `resume`, an image may be on a loop device with another number. So loop devices are numbered from
            // the top of the stack.
            let name = if device.name.starts_with("loop") {
                loops += 1;
                if loops == 1 { "loop".to_owned() } else { format!("loop {loops}") }
            } else {
                device.name.clone()
            };
            for attribute in QUEUE {
                let text = device.queue().and_then(|queue| read_limited::of_the_kernel(queue.join(attribute)).ok());
                add(format!("{attribute} of {name}"), text.map(|text| chosen(&text)));
            }
        }
        for (device, heat) in devices.iter().filter_map(|(device, _)| Some((device, Temperature::read(device)?))) {
            add(format!("{HEAT}{}", device.name), Some(if heat.is_reached { AT_LIMIT } else { "below" }.to_owned()));
        }
        for (index, folder) in folders.iter().enumerate() {
            let which = if folders.len() > 1 { format!(" of program {}", index + 1) } else { String::new() };
            add(format!("mount options{which}"), mount::mount_options(folder).map(|options| options.join(",")));
        }
        add("processors online".to_owned(), self.text(&format!("{PROCESSORS}/online")).map(|text| chosen(&text)));
        for (name, limits) in Groups::read(self).limits() {
            add(name.to_owned(), Some(limits));
        }
        found.extend(self.kernel_settings());
        found
    }

    /// Reads the settings of the kernel for all devices: write-back, memory and processor frequency.
    pub(crate) fn kernel_settings(&self) -> MachineSettings {
        let of_memory = MEMORY.into_iter().filter_map(|setting| {
            let text = self.text(&format!("proc/sys/vm/{setting}"))?;
            Some((format!("vm.{setting}"), text.trim().to_owned()))
        });
        let governors = self.governors().map(|governors| ("governor".to_owned(), governors));
        of_memory.chain(governors).filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The frequency governors of the processors: all different ones.
    fn governors(&self) -> Option<String> {
        let policies = fs::read_dir(self.0.join(PROCESSORS).join("cpufreq")).ok()?.flatten();
        let governors =
            policies.filter_map(|policy| read_limited::of_the_kernel(policy.path().join("scaling_governor")).ok());
        let different: BTreeSet<String> = governors.map(|text| text.trim().to_owned()).collect();
        Some(different.into_iter().collect::<Vec<String>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::recorded;
    use super::*;

    #[test]
    fn settings_of_several_devices_have_distinct_names() {
        let recorded = recorded(&[
            ("sys/dev/block/7:3/uevent", "DEVNAME=loop3\n"),
            ("sys/dev/block/7:3/queue/scheduler", "none [mq-deadline]\n"),
            ("sys/dev/block/7:9/uevent", "DEVNAME=loop9\n"),
            ("sys/dev/block/7:9/queue/scheduler", "[none] mq-deadline\n"),
            ("sys/dev/block/8:0/uevent", "DEVNAME=sda\n"),
            ("sys/dev/block/8:0/queue/read_ahead_kb", "128\n"),
            ("sys/dev/block/8:0/device/hwmon/hwmon0/temp1_input", "61000\n"),
            ("sys/dev/block/8:0/device/hwmon/hwmon0/temp1_max", "60000\n"),
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n"),
            ("proc/thread-self/cgroup", "4:memory:/job\n"),
            ("proc/thread-self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "67108864\n"),
        ]);
        let devices = [(recorded.device(7, 9), 0), (recorded.device(7, 3), 1), (recorded.device(8, 0), 2)];
        let found = recorded.source.settings(&devices, &[]);
        let expected = [
            ("governor", "performance, powersave"),
            ("heat of sda", "at its limit"),
            ("memory limit", "67108864"),
            ("processors online", "0-3"),
            ("read_ahead_kb of sda", "128"),
            ("scheduler of loop", "none"),
            ("scheduler of loop 2", "mq-deadline"),
            ("vm.dirty_ratio", "20"),
        ];
        assert!(found.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected), "{found:?}");
    }

    #[test]
    fn mount_options_are_recorded() {
        let found = Source::default().settings(&[], &[Path::new("/proc")]);
        assert!(found["mount options"].contains("rw"), "{found:?}");
    }
}
