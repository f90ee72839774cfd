//! The clocks: the three end points of a measurement.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "returned",
        also: &["calls alone", "before sync", "no sync"],
        brief: "the time until the last call returned, without a sync",
        says: "The time until the last call returned. Written data may still be in the page cache.",
        when: "Reads, and all results of classic1983 and tlpi, as in their sources. For writes, other presets show \
               this rate in the column `before sync`.",
        advice: "Use it for the time that a program waits. For writes, it says nothing about the device.",
    },
    Entry {
        word: "data-durable",
        also: &["data durable", "fdatasync"],
        brief: "the time until fdatasync returned",
        says: "The time until fdatasync of every file returned. The data then survive a crash; a new file's name may \
               not.",
        when: "Phases that write and can be synced in this way; data_durable_s in JSON.",
        advice: "Use it for databases, which wait for this at each commit.",
    },
    Entry {
        word: "durable",
        also: &["until durable"],
        brief: "the time until data and metadata are on the device",
        says: "The time until the files, their directories and the file system are synced. Everything then survives a \
               crash.",
        when: "Writes of io, of commands and of all presets but classic1983 and tlpi. With the warning dirty or \
               noflush, it is not true.",
        advice: "Compare storage for writes by this rate.",
    },
];
