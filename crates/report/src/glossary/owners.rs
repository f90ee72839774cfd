//! The parts of a result's elapsed time. They add up to the elapsed time; each is limited to the time that those before
//! it leave. `explain` prints the short meanings next to bars, so they are short.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "user",
        also: &[],
        brief: "CPU time of the program",
        says: "CPU time of the program outside the kernel.",
        when: "The sum of user and system is exact. The kernel samples their division with its clock tick.",
        advice: "It is small here: the tests do nothing but system calls.",
    },
    Entry {
        word: "system",
        also: &["sys"],
        brief: "CPU time of its system calls",
        says: "CPU time of the kernel in the program's system calls: copying bytes, finding blocks, changing metadata.",
        when: "The sum of user and system is exact.",
        advice: "If it is large, use fewer and larger calls.",
    },
    Entry {
        word: "quota",
        also: &["cgroup limit"],
        brief: "held back by a cgroup limit",
        says: "The program was runnable, but its control group had used up its CPU quota; or its requests waited for \
               an I/O limit (io.max, blkio.throttle).",
        when: "cpu.stat counts the first. No counter shows the second: it is the unexplained time while nine tenths of \
               an I/O limit were used, or half of it, if that is most of the time. Without limits, this part is \
               absent.",
        advice: "Raise cpu.max or io.max (for a container: --cpus). The figure is that of the limit.",
    },
    Entry {
        word: "ready",
        also: &["runnable"],
        brief: "waiting for a free processor",
        says: "The program was runnable, but other programs had the processors (run-queue wait).",
        when: "The scheduler counts it exactly (schedstat).",
        advice: "Stop other programs.",
    },
    Entry {
        word: "flush",
        also: &[],
        brief: "flushing the write cache",
        says: "The time of flushes of the device's write cache, in tests that write.",
        when: "The device counts flushes and their time (Linux 5.5 and later).",
        advice: "This is the price of durability. Sync less often, or use a device with power-loss protection.",
    },
    Entry {
        word: "dirty_throttling",
        also: &["dirty throttling"],
        brief: "held back: too much dirty data",
        says: "The kernel stopped the writer because the page cache held more dirty data than allowed \
               (balance_dirty_pages).",
        when: "The program was blocked in its calls over that limit, with hardly anything to read.",
        advice: "The program writes faster than the device. Look at the durable rate.",
    },
    Entry {
        word: "server",
        also: &["server CPU"],
        brief: "a server of the I/O computed",
        says: "Waiting while a program or kernel threads computed for the I/O of this program: a FUSE server, a loop \
               device, encryption, compression.",
        when: "One of its threads computed for two thirds of the time. Less is not counted here.",
        advice: "Use more threads in the server, or a cheaper cipher or compression.",
    },
    Entry {
        word: "device_service",
        also: &["device service"],
        brief: "the device served this program",
        says: "Waiting while the device worked on requests of this program.",
        when: "At most the time that its requests took in the device.",
        advice: "This part is the storage itself.",
    },
    Entry {
        word: "device_queue",
        also: &["device queue"],
        brief: "queued behind other I/O",
        says: "Waiting while the device worked for other programs, or for other tests of this run.",
        when: "Computed from the share of the device's bytes that were not this program's.",
        advice: "Measure while no other program uses the device.",
    },
    Entry {
        word: "journal",
        also: &[],
        brief: "commits of the journal",
        says: "The journal of ext4 (jbd2) committed. Requests and flushes of the device are not counted here.",
        when: "Number of commits and their mean time; from ten commits on.",
        advice: "Sync less often, or use a larger journal.",
    },
    Entry {
        word: "kernel_workers",
        also: &["kernel workers", "kernel", "kernel threads", "kthreads"],
        brief: "kernel threads (upper bound)",
        says: "CPU time of kernel threads on the whole machine: write-back, journal, loop devices. The program waited \
               for them at most this long.",
        when: "The threads are visible in /proc.",
        advice: "The program's own CPU figure does not contain this time; the table prints it next to it.",
    },
    Entry {
        word: "pacing",
        also: &["schedule"],
        brief: "waiting for the scheduled start",
        says: "The program waited for the scheduled start of its next operation, or paused.",
        when: "The unexplained time, if the schedule filled 95 % of the time.",
        advice: "This is idle time that you asked for.",
    },
    Entry {
        word: "rest",
        also: &["unattributed"],
        brief: "not explained by any counter",
        says: "The time that no counter explains. It contains every part that is not visible here.",
        when: "Always; it is small if all counters are visible.",
        advice: "Run diskperf doctor: it lists the counters that are not visible.",
    },
];
