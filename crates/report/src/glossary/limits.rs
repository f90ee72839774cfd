//! The bottlenecks, as the column `bottleneck` shows them (`limited_by` in JSON).

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cpu",
        also: &["processor", "CPU-bound", "both CPU-bound"],
        brief: "CPU: computing, or waiting for a processor",
        says: "The test used CPU time, in the program and in its system calls. Faster storage would hardly help.",
        when: "CPU time is half of the elapsed time, or nine tenths together with waiting for a processor.",
        advice: "Use larger calls: they cost less CPU per byte (see copy and tlpi). Or stop other programs.",
    },
    Entry {
        word: "device",
        also: &["disk", "device-bound", "both device-bound"],
        brief: "waiting for the device",
        says: "At least half of the time, the test waited for the device: in writes, in discards of files that it \
               deleted, in large requests or in overlapping ones. Or the device was busy nine tenths of the time.",
        when: "The counters of the device show it, and at most a fifth of its work was for other programs. For tests \
               that write, the device was busy for half of the time or more, apart from discards in the background \
               or for other programs.",
        advice: "This is the speed of the device. Only a faster device, or less data, helps. If discards take most of \
                 the time, mount without the option discard and run fstrim now and then.",
    },
    Entry {
        word: "latency",
        also: &["one request at a time", "queue depth 1"],
        brief: "one small request at a time (queue depth 1)",
        says: "The test waited for one small request at a time. The device may be able to do more at once: that was \
               not tried. A volume with a hidden limit on operations looks the same.",
        when: "Most of the time was waiting for the device, with requests of 32 KiB or less and one in flight.",
        advice: "Keep more in flight: a larger --iodepth, larger calls, more programs, --together.",
    },
    Entry {
        word: "flush",
        also: &["flush-bound", "flushes per commit", "flushes per call", "flushes per file"],
        brief: "flushing the write cache of the device",
        says: "Most of the time, the test waited for the device to flush its write cache.",
        when: "Half of the elapsed time.",
        advice: "Sync less often, or use a device with power-loss protection.",
    },
    Entry {
        word: "device and flush",
        also: &["bound by device and flush"],
        brief: "writes of the device and its flushes, together",
        says: "The test waited for the device, in part for writes and in part for flushes. Neither part alone explains \
               the time. Small writes that are made durable one by one do that.",
        when: "Half of the elapsed time in all, a tenth for each part, and a device that was busy for half of the \
               time. At most a fifth of the device's work was for other programs.",
        advice: "Sync less often, or use a device with power-loss protection.",
    },
    Entry {
        word: "dirty throttle",
        also: &["dirty throttling"],
        brief: "the kernel slowed down the writer: too much dirty data",
        says: "The page cache held more dirty data than vm.dirty_ratio allows. The kernel slows down writers to the \
               speed of the device (balance_dirty_pages).",
        when: "Half of the elapsed time.",
        advice: "The rate is near that of the device. Look at the durable rate.",
    },
    Entry {
        word: "quota",
        also: &["cgroup limit"],
        brief: "a CPU or I/O limit of a control group",
        says: "A control group limits CPU time, bytes per second or requests per second, and the test reached that \
               limit.",
        when: "The CPU quota took a tenth of the time, or the control group used nine tenths of an I/O limit. Half of \
               the limit is enough if half of the time has no other explanation.",
        advice: "The figure is that of the limit, not of the disk. diskperf doctor lists the limits that are visible \
                 here.",
    },
    Entry {
        word: "memory",
        also: &["memory-bound"],
        brief: "too little page cache: data were read again",
        says: "Pages were evicted from the page cache and read again. More memory would help, a faster disk less so.",
        when: "Half of the bytes that the device read had been in the page cache shortly before, and the test waited \
               for them. First reads of cold files do not count.",
        advice: "Give the run more memory (--cache), or use a smaller --size.",
    },
    Entry {
        word: "server",
        also: &["server CPU", "server-bound", "FUSE server"],
        brief: "CPU time of a program or of kernel threads that serve the I/O",
        says: "The test waited while another program or kernel threads computed for its I/O: a FUSE server, a loop \
               device, encryption, compression. The evidence names them.",
        when: "The test was blocked for half of the time, and one thread of the server computed for two thirds.",
        advice: "A faster device would not help. Use more threads in the server, a cheaper cipher or compression.",
    },
    Entry {
        word: "journal",
        also: &["journal-bound", "commits of the journal"],
        brief: "commits of the file system's journal",
        says: "The test waited for commits of the journal (jbd2: ext4), or for space in a journal that is too small.",
        when: "Commits took two thirds of the time, and flushes and the device explain less than half. Or there were \
               five commits per second, each half full.",
        advice: "Sync less often, or use a larger journal (mkfs.ext4 -J size=).",
    },
    Entry {
        word: "pacing",
        also: &["schedule", "paced"],
        brief: "the schedule of the operations (--rate, think time)",
        says: "The operations started when the schedule wanted them. The rate is the scheduled one.",
        when: "The schedule filled 95 % of the time, and no resource was busy nine tenths of the time.",
        advice: "Look at the latencies. For the highest rate, leave out the schedule.",
    },
    Entry {
        word: "n.m.",
        also: &["nm", "not measured"],
        brief: "not measured: the counters do not show a bottleneck",
        says: "The counters do not show a single bottleneck. diskperf does not guess.",
        when: "Less than 0.1 s. Counters that are not visible here. A device busy for others, or with discards in the \
               background. No part of the time that is clearly larger than the next.",
        advice: "Run diskperf doctor: it lists the missing counters, and how to get them.",
    },
];
