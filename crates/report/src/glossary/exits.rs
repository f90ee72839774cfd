//! The exit statuses, for scripts.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "0",
        also: &["done", "exit 0"],
        brief: "done",
        says: "diskperf did everything. Results may have warnings or be n.m.",
        when: "At the end of a command, also if its output pipe was closed.",
        advice: "A script that must not use results with warnings checks marks in the JSON.",
    },
    Entry {
        word: "1",
        also: &["failed", "exit 1"],
        brief: "a measurement failed",
        says: "An operation failed during a measurement, or diskperf could not write the results. Failed tests are \
               n.m.; the results of other tests and targets are printed.",
        when: "Disk full, quota exceeded, I/O errors, a file system that became read-only or was unmounted.",
        advice: "Read the reason below the table, or errors in the JSON.",
    },
    Entry {
        word: "2",
        also: &["usage", "exit 2"],
        brief: "wrong command line",
        says: "diskperf did not understand the command. It measured and changed nothing.",
        when: "Unknown words, impossible sizes, missing targets.",
        advice: "Follow the hint on standard error.",
    },
    Entry {
        word: "3",
        also: &["refused", "exit 3"],
        brief: "refused: for safety, or for lack of rights",
        says: "The command needs more rights, or would have destroyed data. diskperf changed nothing.",
        when: "No permission to write or to mount, no space, no memory, a device in use.",
        advice: "Run diskperf doctor: it lists what this user may do, and how to get the rest.",
    },
    Entry {
        word: "4",
        also: &["interrupted", "exit 4"],
        brief: "interrupted; finished results are printed",
        says: "Ctrl-C or a signal (TERM, HUP) ended the run. diskperf removed its folders and images, and printed the \
               finished results. A second Ctrl-C ends it at once and may leave a folder.",
        when: "During a run. A signal that the caller ignores (nohup) does not end it.",
        advice: "The printed figures are valid, from fewer rounds; see the warning few. diskperf resume finishes the \
                 run.",
    },
    Entry {
        word: "5",
        also: &["unmet", "exit 5"],
        brief: "a check failed",
        says: "The command itself succeeded, but a condition does not hold.",
        when: "verify: durable data are lost. choose --need: no target clearly meets all needs; they are not met, or \
               not known. compare --fail-if: a test is slower.",
        advice: "Standard error names the lost data, the unmet need or the slower test.",
    },
];
