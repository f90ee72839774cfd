//! The columns about several hosts.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "all busy",
        also: &["stonewall"],
        brief: "the rate of several hosts until the first one ended",
        says: "The rate of all hosts together includes the end, when only slow hosts still work. This rate leaves out \
               the time after the first host ended.",
        when: "Several hosts, in rounds of 5 s or more. Shorter rounds are n.m., and so are writes that must be \
               durable.",
        advice: "If it is much higher than the rate together, look for a slow host.",
    },
    Entry {
        word: "slowest host",
        also: &["of median", "straggler"],
        brief: "the host with the lowest rate, as a share of the median host",
        says: "Each host has a rate of its own, from its first operation to its last. The median of these rates is 1.",
        when: "Several hosts. Below 0.8 in every round, the result has the warning uneven.",
        advice: "diskperf show --hosts prints the rate of each host.",
    },
    Entry {
        word: "started",
        also: &["agreed start"],
        brief: "the time within which all hosts started",
        says: "Several hosts start at an agreed moment. This is the longest time between the first operations of the \
               first and of the last host, with the uncertainty of their clocks.",
        when: "Several hosts. Above 1 % of a round, the result has the warning apart.",
        advice: "Use longer rounds, and hosts with a free processor.",
    },
];
