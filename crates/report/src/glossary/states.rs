//! The states: what a figure claims about its circumstances, each proven or else not claimed.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cold",
        also: &[],
        brief: "no page of the files was in memory before",
        says: "Before the clock started no page of the files was in memory, and that was looked at, not only asked for.",
        when: "Phases that read, wherever it can be proven (diskperf doctor says where); all phases with --cold.",
        advice: "Names and directories may still be in memory: --drop-caches has them cold too.",
    },
    Entry {
        word: "warm",
        also: &[],
        brief: "all pages of the files were in memory before",
        says: "Before the clock started every page of the files was in memory: a read then measures memory and calls.",
        when: "With --warm, where it was seen to be so.",
        advice: "Use it to see what the calls cost; not for the speed of a disk.",
    },
    Entry {
        word: "unknown",
        also: &[],
        brief: "what was in memory before is not known",
        says: "Nobody asked for a state of the cache, or nobody can look at it here.",
        when: "Phases that only write; tmpfs, and places where no probe tells the truth.",
        advice: "diskperf doctor PATH says what can be seen there.",
    },
    Entry {
        word: "steady",
        also: &[],
        brief: "the rate had settled",
        says: "The rate moved by so little over the last five rounds that their mean stands for it. What came before is in \
               JSON and left out of the figure; its first round, fresh, stands beside it.",
        when: "The preset device, by the rule of the SNIA: within 20 % of the mean of each other, their line moving by 10 % of \
               it at most. Of other presets steadiness is n.m.: their rounds are not made to settle.",
        advice: "Take it for what the device does in the long run, and fresh for what it does at first.",
    },
    Entry {
        word: "transient",
        also: &[],
        brief: "the rate was still moving",
        says: "The rate was still rising or falling, as while a cache fills or credits run out.",
        when: "The preset device, where the rule of the SNIA does not hold in its last five rounds: the cell is marked \
               unsteady then.",
        advice: "Give it more rounds, or longer ones, before believing one number.",
    },
    Entry {
        word: "quiet",
        also: &[],
        brief: "nothing else of weight was at work",
        says: "Processors and devices were seen, and neither did much for others.",
        when: "None of the thresholds of the mark noise was reached.",
        advice: "Nothing: this is how it should be.",
    },
    Entry {
        word: "noisy",
        also: &[],
        brief: "other work was going on",
        says: "Other programs, virtual machines or the kernel were at work during the measurement.",
        when: "One of the thresholds of the mark noise was reached.",
        advice: "Stop what else runs, or trust the interval rather than the figure.",
    },
    Entry {
        word: "measured",
        also: &[],
        brief: "the figure comes from a real kernel",
        says: "The programs ran on this machine's kernel and storage.",
        when: "provenance in JSON.",
        advice: "Compare measured with measured figures.",
    },
    Entry {
        word: "simulated",
        also: &[],
        brief: "the figure was computed on a simulated machine",
        says: "The same programs ran on a machine that exists as a description only.",
        when: "provenance in JSON, of targets that begin with sim:.",
        advice: "Good for asking why; see the parts of the machine for what is in it.",
    },
    Entry {
        word: "published",
        also: &[],
        brief: "the figure was taken from a publication",
        says: "What others measured and printed, as printed there and never corrected.",
        when: "provenance in JSON; the 1983, lab and book columns of classic1983, lfs and tlpi.",
        advice: "Read it as what was said, on their machines, in their words.",
    },
    Entry {
        word: "service",
        also: &["service time"],
        brief: "an operation's time from its issue",
        says: "Each operation's time begins when it was issued. Operations that a stall kept from being issued are \
               not seen, so long waits count too little.",
        when: "kind of latency_ns in JSON, of programs that issue the next call when the last has returned.",
        advice: "Read p99 as the tail of the device, not as what a user behind a queue would wait.",
    },
    Entry {
        word: "response",
        also: &["response time"],
        brief: "an operation's time from its intended start",
        says: "Each operation's time begins when it should have been issued, so a stall counts for all it kept waiting.",
        when: "kind of latency_ns in JSON, of programs with a schedule.",
        advice: "The figure for promises to users.",
    },
];
