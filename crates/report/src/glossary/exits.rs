//! The exit statuses, for scripts.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "0",
        also: &["done", "exit 0"],
        brief: "done",
        says: "Everything that was asked for was done. Starred cells and n.m. are no failure.",
        when: "Also where nobody reads the output any more (a closed pipe).",
        advice: "A script that must not take starred cells looks at marks in the JSON.",
    },
    Entry {
        word: "1",
        also: &["failed", "exit 1"],
        brief: "a measurement failed",
        says: "An operation failed while it was measured, or the results could not be written. The cells it belongs to \
               are n.m.; what other programs and targets gave is shown.",
        when: "Disk full, quota used up, errors of the device, a file system that became read-only or was unmounted.",
        advice: "Read the reason under the table, or errors in the JSON.",
    },
    Entry {
        word: "2",
        also: &["usage", "exit 2"],
        brief: "the command makes no sense as it was typed",
        says: "Nothing was measured and nothing was touched.",
        when: "Unknown words, impossible sizes, targets that are not there.",
        advice: "The hint on standard error says what can be typed.",
    },
    Entry {
        word: "3",
        also: &["refused", "exit 3"],
        brief: "refused for safety or for lack of rights",
        says: "It could be done by somebody with more rights, or would have destroyed something.",
        when: "No right to write or to mount, no room, no memory, a device where a file is wanted.",
        advice: "diskperf doctor says what this user may do, and how to get the rest.",
    },
    Entry {
        word: "4",
        also: &["interrupted", "exit 4"],
        brief: "told to stop; what was finished is shown",
        says: "Ctrl-C, or the signal TERM or HUP, unless it was to be ignored (nohup). Private folders and images are \
               gone. A second Ctrl-C ends it at once, and may leave a private folder.",
        when: "While it was running.",
        advice: "The figures shown are good, with fewer rounds: see the mark few.",
    },
    Entry {
        word: "5",
        also: &["unmet", "exit 5"],
        brief: "everything was done, and what should hold does not",
        says: "The test itself went well; what it found is not what was wanted.",
        when: "diskperf verify, where data that were acknowledged as durable are lost; choose --need, where no target has \
               all of it; compare --fail-if.",
        advice: "Read what was lost, what is not enough, or what is slower; standard error names it.",
    },
];
