//! Words about the limit of a rate.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "limited by",
        also: &["limit", "bottleneck"],
        brief: "the bottleneck of a test",
        says: "One word for the resource that limits the rate, from the breakdown of the time and the counters of the \
               device.",
        when: "The column `bottleneck`; limited_by in JSON, with its figures.",
        advice: "diskperf help bottlenecks lists the words.",
    },
    Entry {
        word: "of limit",
        also: &["ceiling", "limit layer"],
        brief: "the rate as a share of what the layer below gives",
        says: "After each round, diskperf does the same work without the file system for a tenth of the time. That \
               is direct I/O on the file of the test (device), copies of memory for cached reads (memory), or direct \
               writes with a flush for commits (flush). The interval is that of the paired rounds.",
        when: "The column `of limit` of quick, io and job files; of_limit in JSON. n.m. if no such work exists, or if \
               the layer below was not steady. Direct I/O is compared with itself, so it is near 100 %.",
        advice: "A low share: larger calls, more programs or another file system can help. A share near 100 %: only a \
                 faster device helps.",
    },
];
