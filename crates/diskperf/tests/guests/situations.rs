//! The situations in which the guard decides in a guest: the stack, the device that a user names, and the answer.

use super::guard::{Answer, Situation, Stack};

/// A device in use: refused, even if the user names it and gives up its data.
const fn used(situation: &'static str, device: &'static str, words: &'static str) -> Situation {
    Situation { situation, device, answer: Answer::Used(words) }
}

/// A device that is not in use and holds something: refused, until the user gives it up.
const fn holds(situation: &'static str, device: &'static str, words: &'static str) -> Situation {
    Situation { situation, device, answer: Answer::Holds(words) }
}

/// A node without a device: a usage error.
const fn gone(situation: &'static str, device: &'static str, words: &'static str) -> Situation {
    Situation { situation, device, answer: Answer::Gone(words) }
}

/// A free device: measured.
const fn free(situation: &'static str, device: &'static str) -> Situation {
    Situation { situation, device, answer: Answer::Free }
}

/// All stacks, by the names of their functions in `stacks.sh`, with the disks whose bytes must stay.
pub const STACKS: [Stack; 10] = [
    Stack {
        name: "partitions",
        disks: "vda nvme0n1 sda",
        situations: &[
            used("the disk of a mounted GPT partition", "/dev/vda", "is mounted at /mnt/gpt"),
            used("a mounted GPT partition", "/dev/vda1", "it is mounted at /mnt/gpt"),
            used("a partition used as swap", "/dev/vda3", "it is used as swap"),
            holds("an ext4 partition next to a mounted one", "/dev/vda4", "it holds ext4"),
            used("the disk of a mounted logical partition", "/dev/nvme0n1", "is mounted at /mnt/logical"),
            used("a mounted logical partition", "/dev/nvme0n1p5", "it is mounted at /mnt/logical"),
            used("the extended partition around a mounted one", "/dev/nvme0n1p2", "has 1 KiB"),
            holds("a disk with a partition table that nothing uses", "/dev/sda", "partition"),
            used(
                "a disk by its serial number, as udev names it",
                "/dev/disk/by-id/virtio-FIRST",
                "is mounted at /mnt/gpt",
            ),
            used(
                "a partition by its disk's serial number",
                "/dev/disk/by-id/virtio-FIRST-part1",
                "it is mounted at /mnt/gpt",
            ),
            used("a disk by the slot of its controller, as udev names it", "/tmp/slot", "is mounted at /mnt/logical"),
            used("a link of a user's to a disk in use", "/tmp/link", "is mounted at /mnt/gpt"),
            used("another node of a disk in use, outside /dev", "/tmp/nodes/disk", "is mounted at /mnt/gpt"),
            free("a blank GPT partition next to a mounted one", "/dev/vda2"),
            free("a blank logical partition next to a mounted one", "/dev/nvme0n1p6"),
        ],
    },
    Stack {
        name: "lvm",
        disks: "vda vdb nvme0n1 nvme0n2 sda sdb",
        situations: &[
            used("a physical volume in use", "/dev/vda", "vg-used"),
            used("a mounted logical volume", "/dev/vg/used", "it is mounted at /mnt/used"),
            used("the same by its mapped name", "/dev/mapper/vg-used", "it is mounted at /mnt/used"),
            used("the hidden origin of a snapshot", "/dev/mapper/vg-used-real", "vg-used"),
            used("the hidden store of a snapshot", "/dev/mapper/vg-snap-cow", "vg-snap"),
            holds("a snapshot of a mounted volume", "/dev/vg/snap", "it holds ext4"),
            used("the physical volume of a thin pool", "/dev/sdb", "thin-pool"),
            used("the data of a thin pool", "/dev/mapper/thin-pool_tdata", "thin-pool"),
            used("the metadata of a thin pool", "/dev/mapper/thin-pool_tmeta", "thin-pool"),
            used("a thin pool", "/dev/mapper/thin-pool-tpool", "thin-used"),
            used("a mounted thin volume", "/dev/thin/used", "it is mounted at /mnt/thin"),
            holds("a volume group that is not active", "/dev/nvme0n1", "LVM"),
            holds("an exported volume group", "/dev/nvme0n2", "LVM"),
            holds("a physical volume without a group", "/dev/vdb", "LVM"),
            holds("a physical volume of an active group, whose volumes are elsewhere", "/dev/sda", "LVM"),
            free("a blank logical volume next to a mounted one", "/dev/vg/free"),
            free("a new thin volume next to a mounted one", "/dev/thin/free"),
        ],
    },
    Stack {
        name: "raid",
        disks: "vda vdb nvme0n1 nvme0n2 sda sdb",
        situations: &[
            used("the first member of a mounted RAID 1", "/dev/vda", "md0"),
            used("the second member of a mounted RAID 1", "/dev/vdb", "md0"),
            used("a mounted RAID 1", "/dev/md0", "it is mounted at /mnt/raid"),
            used("a member of an assembled RAID that nothing uses", "/dev/sda", "md1"),
            holds("a member of a stopped RAID", "/dev/nvme0n1", "RAID"),
            holds("the other member of a stopped RAID", "/dev/nvme0n2", "RAID"),
            free("a blank RAID 1", "/dev/md1"),
        ],
    },
    Stack {
        name: "mapped",
        disks: "vda vdb nvme0n1 nvme0n2 sda sdb",
        situations: &[
            used("the disk below an encrypted file system", "/dev/vda", "secret"),
            used("a mounted encrypted device", "/dev/mapper/secret", "it is mounted at /mnt/secret"),
            holds("a closed LUKS 2 disk", "/dev/vdb", "LUKS"),
            used("an open LUKS 1 disk", "/dev/sda", "opened"),
            used("the disk below dm-delay", "/dev/nvme0n1", "slow"),
            used("the disk below two linear maps", "/dev/nvme0n2", "part"),
            used("a mounted linear map", "/dev/mapper/part", "it is mounted at /mnt/part"),
            used("another map of the sectors of a mounted one", "/dev/mapper/again", "part"),
            free("a map of other sectors of the same disk", "/dev/mapper/rest"),
            free("a blank dm-delay", "/dev/mapper/slow"),
        ],
    },
    Stack {
        name: "paths",
        disks: "sdc",
        situations: &[
            used("a mounted SCSI disk", "/dev/sdc", "it is mounted at /mnt/path"),
            used("the other path to a mounted SCSI disk", "/dev/sdd", "is mounted at /mnt/path"),
        ],
    },
    Stack {
        name: "multipath",
        disks: "sdc",
        situations: &[
            used("one path of a multipath disk", "/dev/sdc", "many"),
            used("the other path of a multipath disk", "/dev/sdd", "many"),
            free("a blank multipath disk", "/dev/mapper/many"),
        ],
    },
    Stack {
        name: "removed",
        disks: "vdb",
        situations: &[
            gone("a disk that was pulled out", "/tmp/gone", "there is no device"),
            used("a read-only disk", "/dev/vdb", "read-only"),
        ],
    },
    Stack {
        name: "bcache",
        // The kernel writes the journal of the cache (sda) whenever it likes.
        disks: "vda nvme0n1",
        situations: &[
            used("the backing disk of a bcache", "/dev/vda", "bcache0"),
            used("the cache of a bcache", "/dev/sda", "bcache"),
            used("a mounted bcache", "/dev/bcache0", "it is mounted at /mnt/cached"),
            holds("the backing disk of a bcache that is not registered", "/dev/nvme0n1", "bcache"),
        ],
    },
    Stack {
        name: "memory",
        disks: "vda loop0",
        situations: &[
            used("swap on zram", "/dev/zram0", "it is used as swap"),
            used("a mounted disk in memory", "/dev/nullb0", "it is mounted at /mnt/null"),
            used("a mounted network disk", "/dev/nbd1", "it is mounted at /mnt/net"),
            used("the disk that a network disk shows", "/dev/vda", "is open for writing in process"),
            used("a file that a network disk shows", "/dev/loop0", "open for writing in process"),
            used("a network disk without a server", "/dev/nbd5", "0 B"),
            free("blank compressed memory", "/dev/zram1"),
        ],
    },
    Stack {
        name: "programs",
        disks: "vda vdb nvme0n1 nvme0n2 sda sdb",
        situations: &[
            used("a mounted ext4 with another disk as journal", "/dev/vdb", "it is mounted at /mnt/log"),
            used("the disk with the journal of a mounted ext4", "/dev/vda", "journal"),
            used("a disk that a program writes to", "/dev/sda", "is open for writing in process"),
            used(
                "an NVMe namespace that a program has open for writing",
                "/dev/nvme0n1",
                "is open for writing in process",
            ),
            used("an NVMe namespace below a loop device", "/dev/nvme0n2", "loop1"),
            used("a loop device that is read-only", "/dev/loop1", "read-only"),
            used("a disk that only another mount namespace has mounted", "/dev/sdb", "is mounted at /mnt/held"),
        ],
    },
];
