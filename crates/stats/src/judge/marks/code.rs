//! The kinds of warnings: their names, their effect on decisions, and their explanations. A new one is added here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The explanation of a warning, as the glossary prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Other spellings of the name.
    pub also: &'static [&'static str],
    /// The meaning in one line.
    pub brief: &'static str,
    /// The meaning in sentences.
    pub says: &'static str,
    /// The threshold.
    pub when: &'static str,
    /// Advice to the user.
    pub advice: &'static str,
}

/// Warnings. Their names are stable: tables print them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkCode {
    /// Reads labelled as reads from the device came from the page cache.
    Cache,
    /// Reads labelled as reads from the device came from a cache below the page cache.
    Lower,
    /// A durable result: data were still only in memory when the clock stopped.
    Dirty,
    /// A durable result: the device was not asked to flush its cache.
    Noflush,
    /// The test read holes: bytes that were never written.
    Hole,
    /// The device moved far fewer bytes than the programs: the data were compressed.
    Compress,
    /// The device wrote far more bytes than the programs.
    Amplify,
    /// A steady result: the rate did not become steady.
    Unsteady,
    /// The rate changed its level in the middle.
    Step,
    /// The device or the program was throttled.
    Throttle,
    /// The test was too short for the clock.
    Short,
    /// There are fewer rounds than the preset promises, they agree less, or there are too few data (`judge::floor`).
    Few,
    /// More background load than during the other tests.
    Noise,
    /// An operation failed, or a file does not hold what was written; there is no rate.
    Error,
    /// A setting changed between the rounds.
    Env,
    /// The file system is on a loop image in another one.
    Nested,
    /// Programs that should run together did so for less than nine tenths of the time, or a host is slower than the
    /// others.
    Uneven,
    /// Several hosts did not start together.
    Apart,
    /// The data are only in memory, not on a device.
    Memory,
    /// The targets of a comparison ran one after the other, not in turns.
    Order,
    /// The test never reached the device.
    Untouched,
    /// The rate is higher than that of the layer below.
    Above,
    /// The figure leaves out a few rounds that differ strongly from the others.
    Outlier,
}

impl MarkCode {
    /// All warnings, in the order of the glossary. `report/tests/glossary.rs` finds one that is missing.
    pub const ALL: [MarkCode; 23] = [
        MarkCode::Cache,
        MarkCode::Lower,
        MarkCode::Dirty,
        MarkCode::Noflush,
        MarkCode::Hole,
        MarkCode::Compress,
        MarkCode::Amplify,
        MarkCode::Unsteady,
        MarkCode::Step,
        MarkCode::Throttle,
        MarkCode::Short,
        MarkCode::Few,
        MarkCode::Outlier,
        MarkCode::Noise,
        MarkCode::Error,
        MarkCode::Env,
        MarkCode::Nested,
        MarkCode::Uneven,
        MarkCode::Apart,
        MarkCode::Memory,
        MarkCode::Order,
        MarkCode::Above,
        MarkCode::Untouched,
    ];

    /// The name that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            MarkCode::Cache => "cache",
            MarkCode::Lower => "lower",
            MarkCode::Dirty => "dirty",
            MarkCode::Noflush => "noflush",
            MarkCode::Hole => "hole",
            MarkCode::Compress => "compress",
            MarkCode::Amplify => "amplify",
            MarkCode::Unsteady => "unsteady",
            MarkCode::Step => "step",
            MarkCode::Throttle => "throttle",
            MarkCode::Short => "short",
            MarkCode::Few => "few",
            MarkCode::Noise => "noise",
            MarkCode::Error => "error",
            MarkCode::Env => "env",
            MarkCode::Nested => "nested",
            MarkCode::Uneven => "uneven",
            MarkCode::Apart => "apart",
            MarkCode::Memory => "memory",
            MarkCode::Order => "order",
            MarkCode::Untouched => "untouched",
            MarkCode::Above => "above",
            MarkCode::Outlier => "outlier",
        }
    }

    /// True if the result is not the one that its label names, such as a disk's rate that came from a cache. Such a
    /// result decides nothing in a choice, for a requirement or for a condition on two runs. `noise`, `few` and
    /// `outlier` leave the label true: they widen the interval. `above` is not a proof: the layer below is measured by
    /// other calls, and a limit may slow only these. If the device's counters show a cache, there is `lower`. A cell
    /// below the floor decides nothing either (`Cell::undeciding`).
    pub const fn decides_nothing(self) -> bool {
        match self {
            MarkCode::Cache
            | MarkCode::Lower
            | MarkCode::Dirty
            | MarkCode::Noflush
            | MarkCode::Hole
            | MarkCode::Compress
            | MarkCode::Short
            | MarkCode::Error
            | MarkCode::Uneven
            | MarkCode::Memory
            | MarkCode::Untouched
            | MarkCode::Step => true,
            MarkCode::Amplify
            | MarkCode::Unsteady
            | MarkCode::Throttle
            | MarkCode::Few
            | MarkCode::Noise
            | MarkCode::Env
            | MarkCode::Nested
            | MarkCode::Order
            | MarkCode::Above
            | MarkCode::Apart
            | MarkCode::Outlier => false,
        }
    }

    /// True if a lower value means that the claim is further from the truth.
    pub const fn is_worse_lower(self) -> bool {
        matches!(
            self,
            MarkCode::Cache
                | MarkCode::Lower
                | MarkCode::Noflush
                | MarkCode::Compress
                | MarkCode::Short
                | MarkCode::Uneven
                | MarkCode::Order
        )
    }

    /// The meaning, the threshold, and how to react.
    pub const fn explanation(self) -> Explanation {
        match self {
            MarkCode::Cache => Explanation {
                also: &[],
                brief: "part of a cold or direct read came from the page cache",
                says: "The result is labelled cold or O_DIRECT, but part of the data came from the page cache. The \
                       rate is partly that of memory.",
                when: "The device delivered less than 95 % of the bytes read, apart from 128 KiB for metadata. If \
                       blocks are read more than once, only first reads count.",
                advice: "Measure again while no other program reads the files. Use a larger --size, or --drop-caches \
                         as root.",
            },
            MarkCode::Lower => Explanation {
                also: &["lower cache", "cache below the OS"],
                brief: "a cache below the page cache had the data",
                says: "The device below the file system read data, but the device below that did not. A cache between \
                       the two answered, such as that of the file under a loop device.",
                when: "The lower device read less than 95 % of the bytes of the upper one. On FUSE or an overlay \
                       without a visible device: all disks and networks together delivered less than half of the \
                       bytes. Caches of the drive or of a host are not visible; the lines above the table say so.",
                advice: "Use direct I/O on the loop device, as image: does if it can; or a file larger than that \
                         cache.",
            },
            MarkCode::Dirty => Explanation {
                also: &[],
                brief: "data were still in memory when the time ended",
                says: "The result is labelled durable, but data were only in memory when the clock stopped. A crash \
                       would have lost them.",
                when: "More than 1 % of the pages of the files were dirty. If no disk is visible below: the dirty \
                       memory of the machine grew by more than half of the bytes written. On FUSE or an overlay \
                       without a visible device: all disks and networks together took less than half of them.",
                advice: "Look for a layer that answers fsync without doing it (FUSE, network). Treat the rate as that \
                         of memory.",
            },
            MarkCode::Noflush => Explanation {
                also: &["no flush"],
                brief: "the write cache of the device was not flushed",
                says: "The result is labelled durable and the device has a volatile write cache, but the kernel did \
                       not flush it. A power cut may lose data that fsync had promised.",
                when: "The device got fewer flushes than half the number of sync calls, or none; or the file system is \
                       mounted without barriers: nobarrier, barrier=0, an overlay with volatile.",
                advice: "Check the mount options, and queue/write_cache for write through. With power-loss protection \
                         in the device, the rate is right anyway.",
            },
            MarkCode::Hole => Explanation {
                also: &["holes"],
                brief: "the file has holes: bytes that were never written",
                says: "Part of the file is a hole or only preallocated. Reading it returns zeros and does not touch \
                       the device.",
                when: "More than 5 % of the bytes of the files read.",
                advice: "Use a file that was written in full; cp --sparse=never makes one.",
            },
            MarkCode::Compress => Explanation {
                also: &["compressed"],
                brief: "the device moved far fewer bytes than the test",
                says: "Something compressed the data, so the rate is not that of the device.",
                when: "The device wrote less than 90 % of the bytes written. For reads: more than 5 % of the files is \
                       compressed, and the device read less than 95 % of the bytes.",
                advice: "Mount without compression; or keep it, and say so with the result.",
            },
            MarkCode::Amplify => Explanation {
                also: &["amplification", "bytes written per byte"],
                brief: "the device wrote far more bytes than the test",
                says: "The device wrote much more than the test: a data journal, copies, a RAID, or other programs.",
                when: "A sequential write of 16 MiB or more in calls of 4096 bytes or more. The device wrote more than \
                       1.5 times the bytes, not counting 192 KiB of metadata for each sync. So small commits are not \
                       judged: a device that writes twice the bytes gets the warning only if a test writes more than \
                       384 KiB between syncs.",
                advice: "Check the mount options (data=journal), the layers below, and other programs. If the warning \
                         is gone on a quiet machine, another program was the cause.",
            },
            MarkCode::Unsteady => Explanation {
                also: &[],
                brief: "the rate did not become steady",
                says: "The last five rounds are too far apart, or still rise or fall. Their mean is not a figure of \
                       the device.",
                when: "The last five rounds break the rule of the SNIA: all rates within 20 % of their mean, and a \
                       slope of at most 10 % of it.",
                advice: "Use more rounds (--rounds; the default is at most 25) or longer ones (--time), on a quiet \
                         machine. For a new SSD, use --write, which conditions it.",
            },
            MarkCode::Step => Explanation {
                also: &["change point"],
                brief: "the rate jumped to another level during the test",
                says: "The rate changed its level and stayed there: credits were used up, a cache was full, or a limit \
                       was set. The warning names each level with its bytes and seconds. The figure is that of the \
                       last level, if two whole rounds show it. It decides something only then, and only if that level \
                       is lower: a rate that rose may be that of a cache that warmed up.",
                when: "Between rounds, or in the quarters of a second of long rounds. Two levels differ by more than \
                       20 %, and last for three points and a tenth of the time or of the work. Chance explains it in \
                       less than 1 of 100 runs. Also if all tests of a target change together, because they share a \
                       credit.",
                advice: "Compare the last level: earlier ones do not last. To reach it before the first round, use \
                         --sustained. The regimes are in the JSON.",
            },
            MarkCode::Throttle => Explanation {
                also: &["throttled"],
                brief: "a limit or heat slowed down the device",
                says: "An I/O limit of a control group was used up, or the device reached its temperature limit and \
                       slowed down.",
                when: "Nine tenths of a limit on bytes or requests per second were used, or a temperature sensor \
                       reached its own limit. Limits of groups above a container are not visible.",
                advice: "Check blkio.throttle or io.max of the groups in /proc/self/cgroup; cool the device. If your \
                         programs run under that limit, the figure is theirs.",
            },
            MarkCode::Short => Explanation {
                also: &[],
                brief: "too short to measure",
                says: "The measured time is not much longer than the clock's own overhead.",
                when: "A round took less than 100 times that overhead.",
                advice: "Use a larger --size.",
            },
            MarkCode::Few => Explanation {
                also: &[],
                brief: "too few data or rounds, or rounds that disagree",
                says: "The result has too few data, fewer rounds than its preset needs, or rounds that disagree. With \
                       too few data, it decides nothing: not in choose, not for --need, and not for compare --fail-if.",
                when: "Too few data: less than 1 s in all rounds, or 100 ms in one. A round that moves less than 64 \
                       MiB in less than 1 s. Random places in less than 256 MiB. Fewer than 1,000 single operations, \
                       or 10 runs of a command, in less than 5 s. Fewer rounds than the preset has (quick: 5; \
                       classic1983: 2 after the discarded one), after --rounds, --budget or Ctrl-C. In classic1983, \
                       also rounds that differ by more than 10 %.",
                advice: "Use a larger --size or more --rounds, or let quick choose the sizes. If rounds disagree, use \
                         a quieter machine.",
            },
            MarkCode::Outlier => Explanation {
                also: &["outliers", "trimmed mean"],
                brief: "a few rounds differ from all others",
                says: "A few rounds are so far from the others that they would determine the mean. The figure is the \
                       trimmed mean instead: without the slowest and the fastest fifth of the rounds. A comparison \
                       keeps all rounds; outliers widen its interval.",
                when: "At most a fifth of five or more rounds of one level, by Rosner's test for outliers (one false \
                       alarm in 1,000 results), if they move the mean by more than 5 %.",
                advice: "Find the cause: a first round may have met a burst or a cache. More rounds show which rate \
                         lasts.",
            },
            MarkCode::Noise => Explanation {
                also: &[],
                brief: "more other load than during the rest of the run",
                says: "Other programs, other virtual machines (CPU steal) or the kernel were active, more than during \
                       the other tests. The line below the table shows the other load of the whole run.",
                when: "Twice the run's usual value, and above one of these thresholds. Device traffic of others: 2 %. \
                       CPU pressure: 10 % of the time. Wait for a processor: 2 % of the CPU time. CPU steal: 1 %. A \
                       sleep: 5 ms too long. I/O pressure before: 1 %. Bytes read again: 2 %. Or the caches were \
                       dropped.",
                advice: "Stop other programs, or run more rounds. Their order is random, and the interval shows the \
                         noise that is left.",
            },
            MarkCode::Error => Explanation {
                also: &["errors"],
                brief: "an operation failed, so there is no rate",
                says: "A call failed, moved fewer bytes than asked, or a file did not hold the data that were written. \
                       The result is n.m.: a fast wrong answer does not count.",
                when: "One failure is enough.",
                advice: "Read the reason below the table. No space: free some, or use a smaller --size. Wrong content: \
                         do not trust that storage.",
            },
            MarkCode::Env => Explanation {
                also: &["environment"],
                brief: "a setting changed between the rounds",
                says: "The rounds ran under different settings: scheduler, read-ahead, write cache, mount options or \
                       others.",
                when: "A recorded setting differs between two rounds, or between the two runs of compare.",
                advice: "Find the cause (a power daemon, udev, another administrator) and run it again.",
            },
            MarkCode::Nested => Explanation {
                also: &["loop image"],
                brief: "the file system is on a loop image in another file system",
                says: "All I/O went through two file systems. The lower one has a cache, a journal and other users of \
                       its own. The figure is not that of the device.",
                when: "The target is image:, or is on a loop device.",
                advice: "Compare such results only with one another.",
            },
            MarkCode::Uneven => Explanation {
                also: &[],
                brief: "tests that should run at once hardly overlapped",
                says: "The rate of several targets at once is a sum. Here, one target ended early and the others ran \
                       alone. On several hosts: one host was slower than the others. If each does a fixed amount of \
                       work, the others wait for it.",
                when: "The shortest test ran for less than 90 % of the time of the longest. On several hosts: in every \
                       round, a host had less than 0.8 of the median rate of all hosts.",
                advice: "Use the same --size for similar targets. For different targets, look at the rate of each \
                         alone. Measure a slow host alone, and compare its network, its CPU and its mount options with \
                         another one.",
            },
            MarkCode::Apart => Explanation {
                also: &["start spread"],
                brief: "the hosts did not start together",
                says: "Several hosts agreed on a moment, but a host began its first operation later. For that time, \
                       fewer hosts were at work than the label says.",
                when: "The time between the first operations of the first and of the last host, with the uncertainty \
                       of their clocks, is more than 1 % of a round.",
                advice: "Use longer rounds, or hosts with a free processor. A launcher that binds ranks to one \
                         processor delays them: --bind-to none, or --cpu-bind=none.",
            },
            MarkCode::Memory => Explanation {
                also: &[],
                brief: "the storage is memory, not a disk",
                says: "The file system keeps its files in memory (tmpfs, ramfs), or the device is a RAM disk. Nothing \
                       there is durable or cold.",
                when: "The target is on such storage, or the upper layer of its overlay is; and the result is labelled \
                       durable, cold or O_DIRECT.",
                advice: "Use a directory on a disk; /tmp and /dev/shm are often in memory.",
            },
            MarkCode::Order => Explanation {
                also: &[],
                brief: "the results were not measured in turns",
                says: "The compared results ran one after another. The later one may have met another cache, \
                       temperature or load.",
                when: "One round only, results from different rounds, or the two runs of compare.",
                advice: "Measure them in one run with two rounds or more; for two targets, use diskperf choose.",
            },
            MarkCode::Above => Explanation {
                also: &["above the limit"],
                brief: "the rate is higher than that of the layer below",
                says: "The test was faster than direct I/O on the same file in the same rounds. A cache below had part \
                       of the data, the file system compressed them, or a limit slows only direct I/O.",
                when: "The whole interval of `of limit` is above 105 %.",
                advice: "Use a larger --size than that cache, or --direct. The rate is not that of the device.",
            },
            MarkCode::Untouched => Explanation {
                also: &[],
                brief: "the command did not use the device",
                says: "The command wrote nothing that needed a sync and read only from the page cache. Its time is \
                       that of the processor, and the same on any target.",
                when: "A command of your own: in every round, the device moved no byte, or the kernel counted no read \
                       and no write of the command. Created and removed names are not counted.",
                advice: "Make the command write in its folder, whose path is {}. With --cold, files of --prepare are \
                         read from the device.",
            },
        }
    }
}
