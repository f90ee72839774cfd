//! Which of a run's targets are devices that are measured as they are, and what is asked of them.

use kernel::PathFault;
use kernel::observe::block_device::Device;
use kernel::sys::name::Shown;

use crate::error::CampaignError;
use crate::presets::Preset;
use crate::request::Workload;
use crate::targets::{Site, Target, is_block_device};

/// Refuses devices where they are not measured as they are, and whatever is none where they are; has those overwritten
/// that are to be, as far as the guard lets them.
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
            // What lies under a file system of ours can be read.
            Site::Image { .. } | Site::Volume(_) if overwrites.is_none() => {}
            _ if is_of_devices => return Err(CampaignError::NoDevice(target.name.clone())),
            _ => {}
        }
    }
    Ok(())
}

/// The same in words that fit the preset: why a target could not be had.
pub fn meant(error: CampaignError, preset: &Preset) -> CampaignError {
    match error {
        CampaignError::Path(PathFault::NotADirectory(path)) if preset.is_of_devices() => {
            CampaignError::NoDevice(path.shown().to_string())
        }
        // Who could not have it measured anyway need not be told who may read it.
        CampaignError::Path(PathFault::Unreadable { path, .. })
            if !preset.is_of_devices() && is_block_device(&path) =>
        {
            CampaignError::IsADevice(path)
        }
        other => other,
    }
}
