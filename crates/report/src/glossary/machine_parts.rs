//! The parts of a simulated machine.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "processor",
        also: &["cpu of a machine"],
        brief: "takes time for every call and every byte copied",
        says: "Computes for one program at a time: so long for a call, so long for a byte between program and kernel.",
        when: "flat: 500 us a call and 400 ns a byte, both invented.",
        advice: "user and system in explain are its time.",
    },
    Entry {
        word: "drive",
        also: &["arm"],
        brief: "reaches a place and moves bytes",
        says: "An access anywhere but behind the last one costs a seek; bytes pass at one rate.",
        when: "flat: 10 ms a seek and 1,000,000 bytes a second, both invented.",
        advice: "device service and device queue in explain are its time.",
    },
    Entry {
        word: "flat",
        also: &[],
        brief: "the machine with one processor, one drive and no cache",
        says: "Simple enough to check every figure by hand.",
        when: "sim:flat.",
        advice: "Its numbers are invented: no figure of it is one of a real computer.",
    },
];
