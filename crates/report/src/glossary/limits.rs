//! What can keep a rate from being higher, as the column `limited by` says.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cpu",
        also: &["processor"],
        brief: "computing, or waiting for a processor",
        says: "The program and the kernel in its calls computed; faster storage would hardly help.",
        when: "Half of the time, or nine tenths of it with waiting for a processor.",
        advice: "Larger calls cost less per byte; see copy and tlpi. Or stop what else takes the processors.",
    },
    Entry {
        word: "device",
        also: &["disk"],
        brief: "the device can do no more",
        says: "The device was at work nine tenths of the time, or moved large requests one after the other.",
        when: "Its counters say so, and no more than a fifth of its work was for others.",
        advice: "This is the figure of the device: only another one, or less to move, is faster.",
    },
    Entry {
        word: "latency",
        also: &[],
        brief: "one request after the other; the device could do more at once",
        says: "The program waited for one small request at a time.",
        when: "Waiting for the device took most of the time, in requests of 32 KiB or less, one under way.",
        advice: "Ask for more at once: larger calls, more programs, --together.",
    },
    Entry {
        word: "flush",
        also: &[],
        brief: "making data durable",
        says: "Most of the time went by until the device had emptied its write cache.",
        when: "Half of the time.",
        advice: "Sync less often, or use a device with a protected write cache.",
    },
    Entry {
        word: "dirty throttle",
        also: &[],
        brief: "too much waited to be written, and the kernel held the program back",
        says: "The machine was over its limit of unwritten memory (vm.dirty_ratio), and whoever writes is slowed to \
               what the device takes.",
        when: "Half of the time.",
        advice: "The rate is near that of the device; the durable clock says the rest.",
    },
    Entry {
        word: "quota",
        also: &[],
        brief: "a limit that somebody set",
        says: "A control group allows only so much CPU time, or so many bytes or requests a second, and that was used.",
        when: "The CPU quota took a tenth of the time, or nine tenths of an I/O limit were used.",
        advice: "diskperf doctor says which limits can be seen here. The figure is that of the limit, not of the disk.",
    },
    Entry {
        word: "memory",
        also: &[],
        brief: "what was read before did not stay in memory",
        says: "Pages were pushed out and had to be read again: more memory would be faster, not a faster disk.",
        when: "Half of what the device read had been in memory shortly before, and waiting for it was felt.",
        advice: "Give the run more memory (--cache), or a smaller --size.",
    },
    Entry {
        word: "n.m.",
        also: &["nm", "not measured"],
        brief: "it cannot be told",
        says: "Not measured: what was seen does not tell what limited the rate. Nothing is assumed.",
        when: "Less than 0.1 s, counters that cannot be seen here, a device busy for others, or no owner that clearly \
               has more than the next.",
        advice: "diskperf doctor says which counters are missing and how to get them.",
    },
];
