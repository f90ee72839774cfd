//! Devices and directories that several of the compared targets share.

use stats::TargetInfo;

/// A remark for each directory that was given twice, and for each device that several targets share: that compares only
/// the layers above it.
pub fn shared_devices(targets: &[TargetInfo]) -> Vec<String> {
    same_directories(targets).into_iter().chain(of_devices(targets)).collect()
}

/// The remarks about directories that were given twice. They may be meant to differ in the settings of their queues.
fn same_directories(targets: &[TargetInfo]) -> Vec<String> {
    let line = |info: &TargetInfo| {
        let first = targets.iter().find(|first| Some(&first.name) == info.same_as.as_ref())?;
        let alike = if info.tuning == first.tuning { ": differences are chance" } else { ", with different settings" };
        Some(format!("{} and {} are the same directory{alike}", first.name, info.name))
    };
    targets.iter().filter_map(line).collect()
}

fn of_devices(targets: &[TargetInfo]) -> Vec<String> {
    let device = |info: &TargetInfo| match &info.image {
        Some(image) => image.host_device.clone(),
        None => info.device.clone(),
    };
    let mut devices: Vec<(String, Vec<&str>)> = Vec::new();
    for info in targets.iter().filter(|info| !info.argument.contains("sim:") && info.same_as.is_none()) {
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
    fn a_directory_given_twice_is_named() {
        let again = |name: &str, tuning: Option<&str>| TargetInfo {
            same_as: Some("a".to_owned()),
            tuning: tuning.map(str::to_owned),
            ..info(name, "vda")
        };
        let said = shared_devices(&[info("a", "vda"), again("b", None), again("c", Some("scheduler:none"))]);
        let expected = [
            "a and b are the same directory: differences are chance",
            "a and c are the same directory, with different settings",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_device_shared_by_several_targets_is_named_once() {
        let said = shared_devices(&[info("a", "vda"), info("b", "vdb"), info("c", "vda"), info("d", "vda")]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("a, c and d share one device (vda): "), "{said:?}");
        assert_eq!(shared_devices(&[info("a", "vda"), info("b", "vdb")]), Vec::<String>::new());
    }
}
