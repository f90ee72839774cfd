//! Checks which targets are measured as whole devices, and marks those that will be overwritten.

use kernel::PathFault;
use kernel::observe::block_device::Device;
use kernel::sys::name::Shown;

use crate::error::CampaignError;
use crate::presets::Preset;
use crate::request::Workload;
use crate::targets::{Site, Target, is_block_device};

/// Returns an error for a device if the preset does not measure devices, and for anything else if it does. Marks
/// devices to be overwritten if the workload overwrites; the guard may refuse that.
pub fn check(workload: &Workload, targets: &mut [Target]) -> Result<(), CampaignError> {
    let (is_of_devices, overwrites) = (workload.preset().is_of_devices(), workload.overwrites());
    let node = |target: &Target| match &target.site {
        Site::Device(device) => device.device().map(Device::node),
        _ => None,
    };
    for (index, target) in targets.iter().enumerate() {
        let is_same = |other: &&Target| node(target).is_some() && node(other) == node(target);
        if let Some(other) = targets[..index].iter().find(is_same) {
            let (first, second) = (other.name.clone(), target.name.clone());
            return Err(CampaignError::SameDevice { first, second });
        }
    }
    for target in targets {
        match &mut target.site {
            Site::Device(device) if !is_of_devices => return Err(CampaignError::IsADevice(device.path.clone())),
            Site::Device(device) => overwrites.map_or(Ok(()), |times| device.overwrite(times))?,
            // The device under a file system of ours can be read.
            Site::Image { .. } | Site::Volume(_) if overwrites.is_none() => {}
            _ if is_of_devices => return Err(CampaignError::NoDevice(target.name.clone())),
            _ => {}
        }
    }
    Ok(())
}

/// Converts the error of a target into one that fits the preset.
pub fn for_preset(error: CampaignError, preset: &Preset) -> CampaignError {
    match error {
        CampaignError::Path(PathFault::NotADirectory(path)) if preset.is_of_devices() => {
            CampaignError::NoDevice(path.shown().to_string())
        }
        // The preset does not measure devices, so the missing permission does not matter.
        CampaignError::Path(PathFault::Unreadable { path, .. })
            if !preset.is_of_devices() && is_block_device(&path) =>
        {
            CampaignError::IsADevice(path)
        }
        other => other,
    }
}
