//! Devices that several of the compared targets share.

use stats::TargetInfo;

/// A remark for each device that several targets share: that compares only the layers above it.
pub fn shared_devices(targets: &[TargetInfo]) -> Vec<String> {
    let device = |info: &TargetInfo| match &info.image {
        Some(image) => image.host_device.clone(),
        None => info.device.clone(),
    };
    let mut devices: Vec<(String, Vec<&str>)> = Vec::new();
    for info in targets.iter().filter(|info| !info.argument.contains("sim:")) {
        let Some(device) = device(info) else { continue };
        match devices.iter_mut().find(|(other, _)| *other == device) {
            Some((_, names)) => names.push(&info.name),
            None => devices.push((device, vec![&info.name])),
        }
    }
    let line = |(device, names): &(String, Vec<&str>)| {
        let (last, others) = names.split_last().filter(|(_, others)| !others.is_empty())?;
        let names = others.join(", ");
        Some(format!("{names} and {last} share one device ({device}): the comparison shows only the layers above it"))
    };
    devices.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, device: &str) -> TargetInfo {
        let device = Some(device.to_owned());
        TargetInfo { name: name.to_owned(), argument: name.to_owned(), device, ..TargetInfo::default() }
    }

    #[test]
    fn a_device_shared_by_several_targets_is_named_once() {
        let said = shared_devices(&[info("a", "vda"), info("b", "vdb"), info("c", "vda"), info("d", "vda")]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("a, c and d share one device (vda): "), "{said:?}");
        assert_eq!(shared_devices(&[info("a", "vda"), info("b", "vdb")]), Vec::<String>::new());
    }
}
