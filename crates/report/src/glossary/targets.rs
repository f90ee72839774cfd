//! The kinds of targets: where programs can run.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "PATH",
        also: &["directory", "folder"],
        brief: "a directory: a private folder is made in it and removed",
        says: "Programs run in a folder of their own inside this directory, which is removed afterwards.",
        when: "Any directory that you may write to; the one you stand in where no target is named.",
        advice: "Name a directory on the storage you mean; the head of the table says which device that is.",
    },
    Entry {
        word: "image:FSTYPE",
        also: &["image", "image:", "image:ext4", "image:xfs", "image:btrfs"],
        brief: "a fresh file system on an image that nobody else sees",
        says: "A file without a name is written in full, a loop device put on it, a file system made and mounted where \
               only this process sees it. Nothing of it is left, not even after kill -9.",
        when: "Needs root and mkfs.FSTYPE; keys: size, dir, block, mount, mkfs, tune.",
        advice: "The way to compare file systems on one disk. All of them go through the file system that holds the \
                 image: compare them with each other only.",
    },
    Entry {
        word: "new:FSTYPE@DEVICE",
        also: &["new", "new:", "new:ext4", "new:xfs", "new:btrfs"],
        brief: "a fresh file system on a device, erased afterwards",
        says: "A file system is made on the device and mounted where only this process sees it. At the end, also after \
               Ctrl-C, nothing on the device tells of it; after kill -9 the next run asks about it.",
        when: "Needs root and mkfs.FSTYPE; keys: block, mount, mkfs, tune. A device in use is refused always, and one \
               that holds anything until --destroy-data and --confirm name it by its model, serial number or size.",
        advice: "See with --dry-run what would be done to which device. --keep leaves the file system there.",
    },
    Entry {
        word: "DEVICE",
        also: &["device target", "block device"],
        brief: "a block device as it is, for the preset device",
        says: "The device is read past the page cache and nothing is written to it. With --write all of it is overwritten: \
               discarded, written in order, and then in every round.",
        when: "Only the preset device takes it, and needs leave to read it (root). --write is refused for a device in use, and \
               wants --destroy-data and --confirm with its model, serial number or size.",
        advice: "See with --dry-run what would be done to which device.",
    },
    Entry {
        word: "file:PATH",
        also: &["file", "file:"],
        brief: "an existing file, for programs that only read",
        says: "The file is read in order and at random and never written; it leaves memory only with --cold.",
        when: "Presets with programs that only read: quick, classic1983, smoke; what writes is n.m.",
        advice: "Use it for data that are there already, as on a volume that is loaded when first touched.",
    },
    Entry {
        word: "sim:MACHINE",
        also: &["sim", "sim:", "sim:flat"],
        brief: "a simulated machine",
        says: "The same programs on a machine that is computed: bit for bit the same each time.",
        when: "sim:flat is the first: one processor, one disk, no cache, with invented numbers.",
        advice: "Use it to see what a program asks for, apart from any hardware.",
    },
    Entry {
        word: "NAME=",
        also: &["name", "name="],
        brief: "before a target: what the tables call it",
        says: "A word of letters, digits, - and _ before a target names its column: old=/mnt/a new=/mnt/b.",
        when: "Before every kind of target.",
        advice: "Name them where two would be called alike.",
    },
];
