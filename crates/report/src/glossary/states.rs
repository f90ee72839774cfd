//! The states: the conditions of a result. diskperf proves each, or does not claim it.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cold",
        also: &["cold cache"],
        brief: "cold page cache: no page of the files was in it",
        says: "Before the measurement, no page of the files was in the page cache. diskperf evicted and then checked \
               them.",
        when: "Phases that read, if diskperf can check it (diskperf doctor shows where); all phases with --cold.",
        advice: "Metadata may still be cached; --drop-caches evicts it too.",
    },
    Entry {
        word: "warm",
        also: &["warm cache"],
        brief: "warm page cache: all pages of the files were in it",
        says: "Before the measurement, all pages of the files were in the page cache. A read then measures memory and \
               system calls.",
        when: "With --warm, if diskperf checked it.",
        advice: "Use it for the cost of system calls, not for the speed of a disk.",
    },
    Entry {
        word: "unknown",
        also: &["O_DIRECT"],
        brief: "the state of the page cache is not known",
        says: "The page cache does not matter for this phase (a write, or O_DIRECT), or diskperf cannot check it here.",
        when: "Phases that only write, O_DIRECT, tmpfs, and file systems that do not report their cached pages.",
        advice: "diskperf doctor PATH shows what diskperf can check there.",
    },
    Entry {
        word: "unverified",
        also: &["blind spot"],
        brief: "no block device is visible, so cold, O_DIRECT or durable cannot be checked",
        says: "The result would be cold, O_DIRECT or durable, but no counter shows the storage. A server may have \
               answered from its memory, or not have written anything. The rate is that of the whole path.",
        when: "FUSE, 9p, virtiofs, NFS and other file systems without a block device here. An overlay, unless a new \
               file appears in its upper layer. A loop device without direct I/O whose file is on one of these. A \
               device whose queue/iostats is 0. With --need it may be too slow, but it is never proven fast enough. \
               choose and compare decide nothing between it and a verified result.",
        advice: "Measure on the machine that has the disks. Between targets that are all unverified, compare only \
                 the paths.",
    },
    Entry {
        word: "steady",
        also: &[],
        brief: "the rate was steady",
        says: "The rate changed so little over the last five rounds that their mean stands for it. Earlier rounds are \
               in the JSON. The first of them is in the column fresh.",
        when: "The preset device, by the rule of the SNIA: all rates within 20 % of their mean, and a slope of at most \
               10 % of it. Other presets do not run until the rate is steady.",
        advice: "Use it for the long run, and fresh for the first minutes.",
    },
    Entry {
        word: "transient",
        also: &[],
        brief: "the rate was still changing",
        says: "The rate was still rising or falling, for example because a cache filled up or credits ran out.",
        when: "The preset device, if the last five rounds break the rule of the SNIA; see the warning unsteady.",
        advice: "Run more or longer rounds before you use the figure.",
    },
    Entry {
        word: "quiet",
        also: &[],
        brief: "no other load",
        says: "The counters of processors and devices show hardly any work of other programs.",
        when: "Every counter is below its threshold of the warning noise.",
        advice: "Nothing to do: this is how it should be.",
    },
    Entry {
        word: "noisy",
        also: &[],
        brief: "other load during the measurement",
        says: "Other programs, other virtual machines (CPU steal) or the kernel were active during the measurement.",
        when: "A counter is above its threshold of the warning noise.",
        advice: "Stop other programs. Trust the interval more than the figure.",
    },
    Entry {
        word: "measured",
        also: &[],
        brief: "measured on this machine",
        says: "The test ran on the kernel and the storage of this machine.",
        when: "provenance in JSON.",
        advice: "Compare it with other measured figures.",
    },
    Entry {
        word: "simulated",
        also: &[],
        brief: "computed by a simulated machine",
        says: "The same test ran on a simulated machine.",
        when: "provenance in JSON, for targets sim:MACHINE.",
        advice: "Use it to understand causes. diskperf simulate MACHINE --parts shows the parts.",
    },
    Entry {
        word: "published",
        also: &[],
        brief: "taken from a publication",
        says: "A figure that a publication printed, exactly as printed.",
        when: "provenance in JSON; the columns of 1983, the lab and the book in classic1983, lfs and tlpi.",
        advice: "It holds for their machines and their definitions.",
    },
    Entry {
        word: "service",
        also: &["service time"],
        brief: "latency from the issue of each operation",
        says: "Latency counts from the moment when an operation is issued. Operations delayed by a stall are not \
               counted, so long waits are underestimated (coordinated omission).",
        when: "Without --rate, at any queue depth: the next operation is issued when an earlier one returns. \
               Also with --rate, for fsync and fdatasync. latency_ns in JSON has it as kind.",
        advice: "Read p99 as the tail of the device, not as the wait of a user. Use io --rate for that.",
    },
    Entry {
        word: "response",
        also: &["response time", "latency from intended start"],
        brief: "latency from the intended start of each operation",
        says: "Latency counts from the moment when an operation should have been issued. A stall counts for every \
               operation that it delayed.",
        when: "With --rate. latency_ns in JSON has it as kind.",
        advice: "Use it for promises to users.",
    },
];
