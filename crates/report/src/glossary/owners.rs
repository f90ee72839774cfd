//! Who can have a part of a cell's time. All parts together are the elapsed time; each owner gets no more than those
//! before it have left.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "user",
        also: &[],
        brief: "computing in the program itself",
        says: "CPU time of the program outside of the kernel.",
        when: "Exact together with system; the division of the two is sampled by the clock's tick.",
        advice: "Hardly any here: the programs do nothing but call.",
    },
    Entry {
        word: "system",
        also: &["sys"],
        brief: "computing in the kernel, in its calls",
        says: "CPU time of the kernel on the program's behalf: copying bytes, finding blocks, making names.",
        when: "Exact together with user.",
        advice: "Much of it is the price of calls; larger calls need fewer.",
    },
    Entry {
        word: "quota",
        also: &[],
        brief: "a limit that somebody set was used up",
        says: "The program could have run, and its control group had used up its share of the CPU; or its requests \
               waited for a limit of the device (io.max, blkio.throttle), where nobody counts them.",
        when: "The first told by cpu.stat of its groups; the second is what nothing else explains, where nine tenths \
               of such a limit were used. Absent where no group has a limit.",
        advice: "Raise cpu.max or io.max (of a container: --cpus): the figure is that of the limit.",
    },
    Entry {
        word: "ready",
        also: &[],
        brief: "could run, and no processor was free",
        says: "The program could have run, and others had the processors.",
        when: "Told by the scheduler (schedstat), exactly.",
        advice: "Stop what else runs.",
    },
    Entry {
        word: "flush",
        also: &[],
        brief: "waiting until the device had made data durable",
        says: "Time of flushes of the device's write cache, where anything was written.",
        when: "The device counts flushes and their time (Linux 5.5 and later).",
        advice: "The price of durability: fewer syncs, or a protected write cache.",
    },
    Entry {
        word: "dirty_throttling",
        also: &["dirty throttling"],
        brief: "held back: too much waited to be written",
        says: "The kernel kept the writing program waiting, as the machine was over its limit of unwritten memory.",
        when: "Blocked in its calls while over the limit, with hardly anything to read.",
        advice: "It writes faster than the device; the durable clock gives the rate that lasts.",
    },
    Entry {
        word: "device_service",
        also: &["device service"],
        brief: "the device did its work",
        says: "Waiting while the device worked on this program's requests.",
        when: "No longer than its requests took.",
        advice: "This part is the storage itself.",
    },
    Entry {
        word: "device_queue",
        also: &["device queue"],
        brief: "the device did other work first",
        says: "Waiting while the device worked for others, or for other programs of this run.",
        when: "The share of the device's bytes that were not this program's.",
        advice: "Measure while nobody else uses the device.",
    },
    Entry {
        word: "kernel_workers",
        also: &["kernel workers", "kernel"],
        brief: "waiting, at most so long, for kernel threads",
        says: "CPU time of kernel threads (write-back, journal, loop devices), of the whole machine: an upper bound of \
               what this program waited for them.",
        when: "The threads can be seen in /proc.",
        advice: "Under +% in the table it stands beside CPU: a program's own CPU figure does not contain it.",
    },
    Entry {
        word: "rest",
        also: &[],
        brief: "nothing that was seen explains this",
        says: "What is left of the time. It contains the part of every owner that could not be seen here.",
        when: "Always; small where everything can be seen.",
        advice: "diskperf doctor says what cannot be seen here.",
    },
];
