//! The kinds of targets: where tests can run.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "PATH",
        also: &["directory", "folder"],
        brief: "a directory; diskperf uses a private folder in it",
        says: "Tests run in a private folder of this directory, which diskperf removes afterwards.",
        when: "Any directory that you may write to; the default is the current directory.",
        advice: "Choose a directory on the storage that you want to measure. The line above the table names its \
                 device.",
    },
    Entry {
        word: "image:FSTYPE",
        also: &["image", "image:", "image:ext4", "image:xfs", "image:btrfs"],
        brief: "a new file system on a private loop image",
        says: "diskperf writes a file without a name in full, attaches a loop device, makes a file system, and mounts \
               it for this process only. Nothing is left afterwards, even after kill -9.",
        when: "Needs root and mkfs.FSTYPE. Keys: size, dir, block, mount, mkfs, tune.",
        advice: "Use it to compare file systems on one disk. All of them go through the file system below the image, \
                 so compare them only with one another.",
    },
    Entry {
        word: "new:FSTYPE@DEVICE",
        also: &["new", "new:", "new:ext4", "new:xfs", "new:btrfs"],
        brief: "a new file system on a device, erased afterwards",
        says: "diskperf makes a file system on the device and mounts it for this process only. At the end, also after \
               Ctrl-C, it erases the file system. After kill -9, diskperf clean DEVICE does.",
        when: "Needs root and mkfs.FSTYPE. Keys: block, mount, mkfs, tune. diskperf refuses a device in use. A device \
               with data needs --destroy-data and --confirm with its model, serial number or size.",
        advice: "Use --dry-run first: it names the device. --keep leaves the file system there.",
    },
    Entry {
        word: "DEVICE",
        also: &["device target", "block device"],
        brief: "a block device without a file system, for the preset device",
        says: "diskperf reads the device with O_DIRECT and writes nothing. With --write it overwrites all of it: it \
               discards the device, writes it sequentially, and measures writes in every round.",
        when: "The preset device only; reading needs root. --write refuses a device in use, and needs --destroy-data \
               and --confirm with its model, serial number or size.",
        advice: "Use --dry-run first: it names the device.",
    },
    Entry {
        word: "file:PATH",
        also: &["file", "file:"],
        brief: "an existing file, which is only read",
        says: "diskperf reads the file sequentially and randomly, and never writes it. It evicts the file from the \
               page cache only with --cold.",
        when: "Presets with tests that only read: quick, classic1983, smoke. Tests that write are n.m.",
        advice: "Use it for existing data, as on a cloud volume that loads blocks when they are first read.",
    },
    Entry {
        word: "sim:MACHINE",
        also: &["sim", "sim:"],
        brief: "a simulated machine",
        says: "The same tests run on a simulated machine. The result is the same each time, bit for bit.",
        when: "diskperf simulate lists the machines. sim:flat has one processor, one disk, no cache and invented \
               numbers.",
        advice: "Use it to understand a test apart from any hardware.",
    },
    Entry {
        word: "NAME=",
        also: &["name", "name="],
        brief: "before a target: its name in the tables",
        says: "A word of letters, digits, - and _ before a target names it in the tables: old=/mnt/a new=/mnt/b.",
        when: "Before any target.",
        advice: "Use short names: they make narrow tables.",
    },
];
