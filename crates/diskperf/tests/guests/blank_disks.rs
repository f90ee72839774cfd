//! Blank disks of guests.

use std::fs::File;

use testkit::guest::unnamed;

/// The controllers of NVMe and SCSI disks (`nvme-ns,bus=nvme` and `scsi-hd,bus=scsi.0`), as arguments of QEMU.
pub const CONTROLLERS: [&str; 4] = ["-device", "nvme,id=nvme,serial=NVME", "-device", "virtio-scsi-pci,id=scsi"];

/// Unnamed files for disks of these sizes in MiB. A blank range is a hole.
pub fn files<const N: usize>(sizes: [u64; N]) -> [File; N] {
    sizes.map(|mib| {
        let file = unnamed().expect("a file");
        file.set_len(mib << 20).expect("a size");
        file
    })
}
