//! The clocks: three moments at which a time can end.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "returned",
        also: &["calls alone"],
        brief: "stops when the last call came back",
        says: "The time until the last call returned. What was written may still be in memory.",
        when: "Claimed by classic1983 and tlpi, as their sources did, and by phases that only read. Other presets show \
               it beside as `calls alone`.",
        advice: "Good for what a program feels; no figure of the device for what it writes.",
    },
    Entry {
        word: "data-durable",
        also: &["data durable"],
        brief: "stops when the data are on the device",
        says: "The time until fdatasync of every file came back: the data would survive a crash, their names perhaps not.",
        when: "Measured in every phase that writes and can be synced so; data_durable_s in JSON.",
        advice: "What a database waits for at each commit.",
    },
    Entry {
        word: "durable",
        also: &["until durable"],
        brief: "stops when data and names are on the device",
        says: "The time until files, their directories and the file system are synced: all would survive a crash.",
        when: "Claimed by quick, lfs and smoke for phases that change anything. Marked dirty or noflush where it is \
               not true.",
        advice: "The figure to compare storage by, where anything is written.",
    },
];
