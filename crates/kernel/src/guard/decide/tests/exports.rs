//! Devices that the kernel exports to guests and other machines.

use super::*;

#[test]
fn devices_that_the_kernel_exports_are_refused() {
    let nvme = "kernel/config/nvmet/subsystems/nqn.2026-11.a/namespaces/1";
    for (file, text, said) in [
        ("bus/xen-backend/devices/vbd-1-51712/physical_device", "8:10\n", "exported to a Xen guest"),
        (&*format!("{nvme}/device_path"), "/dev/sdb\n", "exported as NVMe over Fabrics"),
        ("kernel/config/target/core/iblock_0/disk/udev_path", "/dev/sdb\n", "exported by LIO (iSCSI)"),
        ("kernel/config/target/core/fileio_1/disk/udev_path", "/dev/sdb\n", "exported by LIO (iSCSI)"),
    ] {
        let recorded = machine();
        recorded.add("pci/sdb", "8:16", &[]);
        recorded.add("pci/sdb/sdb1", "8:17", &[("partition", "1\n")]);
        recorded.write(file, text);
        assert_eq!(refusals(&recorded, (8, 16))[0], format!("it is {said}"));
        assert_eq!(refusals(&recorded, (8, 17)), [format!("sdb, which is below it, is {said}")]);
        assert_eq!(refusals(&recorded, (8, 1)), [""; 0], "it is on another disk");
        let exported = &all(&recorded, &DeviceFacts { number: (8, 16), ..DeviceFacts::default() })[0];
        assert!(!exported.can_be_lifted() && !exported.hint().is_empty());
    }
    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    recorded.write(&format!("{nvme}/device_path"), "/dev/sdb\n");
    recorded.write(&format!("{nvme}/enable"), "0\n");
    assert_eq!(refusals(&recorded, (8, 16)), [""; 0], "its namespace is not enabled");
}
