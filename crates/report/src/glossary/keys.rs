//! The keys that may follow a target.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "size",
        also: &["size="],
        brief: "how large the image is",
        says: "Bytes of the image, as in size=2GiB.",
        when: "Of image: only. Without it, twice what the programs need, 512 MiB at least.",
        advice: "xfs needs more than 300 MiB, btrfs about 110 MiB.",
    },
    Entry {
        word: "dir",
        also: &["dir="],
        brief: "in which directory the image lies",
        says: "The directory whose file system holds the image, as in dir=/mnt/disk.",
        when: "Of image: only. Without it, the directory you stand in.",
        advice: "It must allow files without a name: ext4, xfs, btrfs and tmpfs do, overlayfs from Linux 6.1 on.",
    },
    Entry {
        word: "block",
        also: &["block="],
        brief: "the block size of the file system",
        says: "Bytes of a block, given to mkfs, as in block=1KiB.",
        when: "Of image: and new: only; ext2 to ext4, xfs and btrfs.",
        advice: "Blocks larger than a page of memory can be made but mostly not mounted.",
    },
    Entry {
        word: "mount",
        also: &["mount="],
        brief: "options to mount the file system with",
        says: "As mount(8) has them, with + for a comma: mount=noatime+data=journal.",
        when: "Of image: and new: only.",
        advice: "Options that lead to another device are refused.",
    },
    Entry {
        word: "mkfs",
        also: &["mkfs="],
        brief: "options for the program that makes the file system",
        says: "Passed on word by word, with + for a comma: 'mkfs=-O ^has_journal'.",
        when: "Of image: and new: only.",
        advice: "Quote the target for the shell where there are spaces.",
    },
    Entry {
        word: "tune",
        also: &["tune=", "scheduler", "read_ahead_kb", "nr_requests"],
        brief: "attributes of the device's queue while it is measured",
        says: "ATTRIBUTE:VALUE, several with + between, as in tune=scheduler:none+read_ahead_kb:4096: files in \
               /sys/block/DISK/queue. They are restored afterwards, by the next run where this one was killed.",
        when: "Behind every real target; needs the right to write there, mostly root.",
        advice: "Measure with and without it in one run: plain=. tuned=.,tune=scheduler:none take turns.",
    },
];
