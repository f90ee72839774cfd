//! The rows and the answers of `diskperf doctor`.

use super::Entry;

/// The place of all these words.
const DOCTOR: &str = "diskperf doctor, in the column `check`.";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "partly",
        also: &["yes", "no", "check", "here", "->"],
        brief: "whether a measurement is possible here: yes, partly or no",
        says: "The answer to each check, for this user, directory and kernel. partly: possible with a limit, which the \
               line names.",
        when: "diskperf doctor, in the column `here`.",
        advice: "The line after -> says how to get the rest.",
    },
    Entry {
        word: "rights",
        also: &["CAP_SYS_ADMIN"],
        brief: "the rights of this user: root, or an ordinary user",
        says: "Directories and files need no special rights. Images, raw devices, tune= and --drop-caches need root.",
        when: DOCTOR,
        advice: "sudo diskperf ...; in a container, start it with --privileged.",
    },
    Entry {
        word: "private folder",
        also: &["private directory"],
        brief: "the folder in which diskperf runs its tests",
        says: "A new folder in the target, which diskperf removes after the run. It touches no other file there.",
        when: DOCTOR,
        advice: "Name a directory that you may write to.",
    },
    Entry {
        word: "page cache seen",
        also: &["drop caches", "cachestat", "mincore"],
        brief: "whether diskperf can see and empty the page cache",
        says: "diskperf asks the kernel which pages of a file are in memory (cachestat, mincore). Without that, a read \
               is neither cold nor warm but unknown.",
        when: DOCTOR,
        advice: "Use a disk file system on the host. --drop-caches needs root.",
    },
    Entry {
        word: "device counters",
        also: &["write cache", "raw device"],
        brief: "the kernel's counters and settings of the device",
        says: "Bytes, requests and flushes of the device, from /sys/block; whether it has a write cache; whether you \
               may read it directly.",
        when: DOCTOR,
        advice: "Without counters, bottlenecks are n.m.: measure on the machine that has the device.",
    },
    Entry {
        word: "private mounts",
        also: &["loop devices", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"],
        brief: "the abilities that image:FSTYPE needs",
        says: "diskperf needs a loop device, a mkfs program for the file system, and the right to mount for its own \
               process only.",
        when: DOCTOR,
        advice: "Run as root, and install the mkfs program that is missing.",
    },
    Entry {
        word: "memory limit",
        also: &["CPU quota seen", "I/O limits seen", "memory seen"],
        brief: "the control-group limits that diskperf can set and see",
        says: "diskperf sets a memory limit for --cache. It reads CPU, I/O and memory limits, because they can be the \
               bottleneck.",
        when: DOCTOR,
        advice: "In a container, the limits of groups above it are not visible: also measure on the host.",
    },
    Entry {
        word: "pressure",
        also: &["run delay", "task I/O"],
        brief: "the kernel's figures of waiting: pressure, run delay, task I/O",
        says: "Pressure is the share of time in which tasks wait for CPU, I/O or memory (/proc/pressure). Run delay is \
               the wait for a processor, task I/O the bytes of one program.",
        when: DOCTOR,
        advice: "Without them, noise is harder to detect.",
    },
    Entry {
        word: "bare machine",
        also: &["file limits"],
        brief: "whether this is a virtual machine or a container, and its file limits",
        says: "The caches and the other guests of a host are not visible in a virtual machine. file limits: the most \
               open files, and the largest file.",
        when: DOCTOR,
        advice: "Also measure on the host.",
    },
];
