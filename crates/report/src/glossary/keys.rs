//! The keys that may follow a target.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "size",
        also: &["size="],
        brief: "the size of the loop image",
        says: "Bytes of the image, as in size=2GiB.",
        when: "image: only. The default is twice the space that the tests need, and at least 512 MiB.",
        advice: "xfs needs more than 300 MiB, btrfs about 110 MiB.",
    },
    Entry {
        word: "dir",
        also: &["dir="],
        brief: "the directory of the loop image",
        says: "The directory whose file system holds the image, as in dir=/mnt/disk.",
        when: "image: only. The default is the current directory.",
        advice: "The file system must support files without a name (O_TMPFILE): ext4, xfs, btrfs and tmpfs do, \
                 overlayfs from Linux 6.1 on.",
    },
    Entry {
        word: "block",
        also: &["block="],
        brief: "the block size of the file system",
        says: "Block size in bytes for mkfs, as in block=1KiB.",
        when: "image: and new:, with ext2 to ext4, xfs and btrfs.",
        advice: "Most kernels cannot mount blocks that are larger than a page of memory (4 KiB on x86).",
    },
    Entry {
        word: "mount",
        also: &["mount="],
        brief: "mount options of the file system",
        says: "Options of mount(8), with + instead of a comma: mount=noatime+data=journal.",
        when: "image: and new:.",
        advice: "diskperf refuses options that name another device.",
    },
    Entry {
        word: "mkfs",
        also: &["mkfs="],
        brief: "options of mkfs",
        says: "Options for mkfs, split at spaces, with + instead of a comma: 'mkfs=-O ^has_journal'.",
        when: "image: and new:.",
        advice: "Quote the target for the shell if it contains spaces.",
    },
    Entry {
        word: "tune",
        also: &["tune=", "scheduler", "read_ahead_kb", "nr_requests"],
        brief: "block-queue settings of the device during the run",
        says: "ATTRIBUTE:VALUE, several with + between them, as in tune=scheduler:none+read_ahead_kb:4096. An \
               attribute is a file in /sys/block/DEV/queue. diskperf restores the settings afterwards; after kill -9, \
               the next run does.",
        when: "Any real target, if you may write to these files, which mostly needs root.",
        advice: "Measure with and without the setting in one run: plain=. tuned=.,tune=scheduler:none take turns.",
    },
];
