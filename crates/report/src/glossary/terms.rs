//! Other words of tables, JSON and help.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "fresh",
        also: &[],
        brief: "the rate of the first round, before the rate was steady",
        says: "The rate of a device in the first round: right after it was discarded and written, or as it was found.",
        when: "A column of the preset device; the first of the rounds in JSON.",
        advice: "If it is far from the steady rate, a short test of this device shows the wrong one.",
    },
    Entry {
        word: "no single cause found",
        also: &["no cause"],
        brief: "one target is faster, and the counters do not show why",
        says: "The bottlenecks are the same or not measured. The work that diskperf compares for this bottleneck \
               (flushes, bytes written or CPU time) differs by less than 20 % or does not explain the order.",
        when: "The column why of choose, in a test that one target wins.",
        advice: "Compare the time breakdown of both targets: diskperf explain last.",
    },
    Entry {
        word: "block trace",
        also: &["trace"],
        brief: "the requests of a device while a command ran",
        says: "Reads, writes and flushes that went to the device below the target, with their times. They include \
               requests of other processes. diskperf predict replays them on another device.",
        when: "After the table of a run with --record; the key traces in JSON.",
        advice: "Record on an idle device. If it is n.m., the reason follows.",
    },
    Entry {
        word: "law",
        also: &["device file"],
        brief: "a device as data: latencies, rate limits, flush and write cache",
        says: "The time of a request follows from its kind, its size and the requests before it. diskperf probe \
               measures a law, and diskperf ships some.",
        when: "The options --on and --from of predict.",
        advice: "Measure the law of the device that you ask about: diskperf probe TARGET -o disk.toml.",
    },
    Entry {
        word: "all workloads",
        also: &["sum", "sum_of", "beside", "group_settings", "all loads"],
        brief: "the sum of workloads that ran at the same time",
        says: "Bytes or operations of all workloads of a group, from the start of the first workload to the end of the \
               last. Only this row has the CPU time of kernel threads, and the bytes of the device. It has no latency \
               and no bottleneck: each workload has its own.",
        when: "The last rows of a job file with together = true or group. In JSON, sum_of names the workloads; each \
               workload has group, beside (the others) and group_settings (a checksum of all workloads).",
        advice: "Let all workloads end together (time plus start): the sum also counts the time after one has ended.",
    },
    Entry {
        word: "knee",
        also: &["sweep"],
        brief: "the value of a swept option from which on more adds little",
        says: "The smallest value that no larger value beats by more than 10 %, as the 95 % intervals show. All \
               smaller values must be too small. Over block sizes, the rates are bytes per second.",
        when: "Below the table of io with several values of an option, and in the charts of its page.",
        advice: "If it is not decided, use more --rounds, a longer --time, or larger values.",
    },
    Entry {
        word: "sizes",
        also: &[],
        brief: "how to type a size: 4k, 4KiB, 4kB",
        says: "k, M, G, T (upper or lower case) and KiB, MiB, GiB, TiB are powers of 1024, as in fio: 4k is 4096 \
               bytes. kB, MB, GB, TB are powers of 1000. A bare number is in bytes. kb, mb, gb and tb are refused, \
               because tools disagree on them.",
        when: "Every option, key and argument that is a size, and job files. Tables print powers of 1024.",
        advice: "Fractions are allowed: 1.5G.",
    },
    Entry {
        word: "age",
        also: &["aged", "aging", "not aged", "churn", "churns"],
        brief: "how a file system was aged before the first round",
        says: "A new file system is not aged. With --fill or --age, diskperf fills it with files and changes them: \
               each change (churn) removes a file, rewrites one at half its size, appends to one, and adds files up to \
               the same level.",
        when: "The lines above the table, for image: and new:; aged in JSON, with the files made, removed and written.",
        advice: "Used file systems may rank differently from new ones: compare with --fill 70% --age 1000 too.",
    },
    Entry {
        word: "command",
        also: &["own program", "{}", "prepare"],
        brief: "a command of your own as the test",
        says: "diskperf runs the command once per round, in an empty private folder of the target; {} in its words is \
               the path of the folder. CPU is the CPU time of all its processes that were waited for. The first round, \
               which reads the command itself into memory, does not count.",
        when: "diskperf run and diskperf choose, with two dashes before the command. --prepare names a command that \
               creates its files, which is not measured.",
        advice: "Write full paths for files elsewhere; use sh -c 'LINE' for shell syntax. Output goes to /dev/null; \
                 grep and tar notice this and do less, so let them write a file. A command that fails has no figure; \
                 the reason below the table is the end of its output.",
    },
    Entry {
        word: "*",
        also: &["star", "asterisk", "warning"],
        brief: "a warning: do not trust this figure as labelled",
        says: "A label of this figure (cold, durable, number of rounds) is not true, or its rounds were disturbed. The \
               reason is below the table.",
        when: "After a figure. Noise counts if it was higher than during the other tests.",
        advice: "diskperf help warnings lists all warnings.",
    },
    Entry {
        word: "n.m.",
        also: &["nm", "not measured"],
        brief: "not measured; the reason is below the table",
        says: "diskperf has no figure, or could not see a part of it. n.m. never means zero.",
        when: "Instead of a rate, a CPU figure, a percentile or a state.",
        advice: "Read the reason below the table. diskperf doctor lists everything that can be measured here.",
    },
    Entry {
        word: "+-",
        also: &["±", "±95 %", "interval", "confidence", "95 % interval", "confidence interval"],
        brief: "the 95 % confidence interval, in % of the rate",
        says: "If you repeated the run 100 times, about 95 of the intervals would contain the true mean (Student t \
               interval of the rounds). A rate shows only the digits that its interval supports.",
        when: "From two rounds on. >100 % means that the interval includes zero.",
        advice: "If two intervals overlap, the rates may be the same. More rounds make intervals narrower.",
    },
    Entry {
        word: "state",
        also: &["condition"],
        brief: "the condition of a rate: its page cache, or its end point",
        says: "For reads: cold cache or warm cache. For writes, the end point: durable, fdatasync, or no sync.",
        when: "The column `condition`; state in JSON has all of it.",
        advice: "diskperf help states and diskperf help clocks list the words.",
    },
    Entry {
        word: "rate",
        also: &["per_second", "geometric mean"],
        brief: "the mean rate of the rounds that count",
        says: "The work of a round divided by its time, up to the end point in the column `condition`. For targets \
               that are busy at once, the sum. Beside a ratio: the geometric mean of the rounds, so that the rates \
               have that ratio. With the warning outlier: the trimmed mean. If its interval is wider than \
               ±50 %: the slowest and the fastest round.",
        when: "The column of that name; computed from the rounds in JSON.",
        advice: "Read it together with its condition and its interval.",
    },
    Entry {
        word: "CPU",
        also: &["cpu_percent", "CPU + kthreads"],
        brief: "the CPU time of the test, in % of one processor",
        says: "User and system CPU time of the test, in percent of the elapsed time, as in 1983. After the + is the \
               CPU time of kernel threads on the whole machine.",
        when: "The column of that name. n.m. if all rounds together took less than 0.1 s.",
        advice: "Near 100 %, the test measures the processor. diskperf explain shows the parts.",
    },
    Entry {
        word: "tool",
        also: &["this tool", "own", "overhead", "diskperf overhead"],
        brief: "the CPU time of diskperf's own code",
        says: "After the last round, each phase is replayed without its system calls, with the same loop, clocks and \
               histogram. The CPU time of this replay is diskperf's own overhead, in percent of the CPU time of the \
               tests.",
        when: "Below a table of real targets. \"of the time\", if only the timing of operations is known, as with \
               io_uring and --rate; n.m. if not even that.",
        advice: "If it is some percent, do not trust differences that are smaller.",
    },
    Entry {
        word: "p50 / p99",
        also: &[
            "p50",
            "p90",
            "p99",
            "p999",
            "percentile",
            "p50/p99",
            "latency p50/p99",
            "service p50/p99",
            "response p50/p99",
        ],
        brief: "latency percentiles: half, and 99 %, of the operations were faster",
        says: "Percentiles of the latency of single operations.",
        when: "p99 from 1000 operations on, p99.9 from 10,000; otherwise n.m.",
        advice: "See service and response for the start of a latency.",
    },
    Entry {
        word: "operations",
        also: &["histogram", "hdrhistogram", "heat map", "heat_map", "CDF"],
        brief: "reads, writes, fsyncs and fdatasyncs, each with its rate and latencies",
        says: "Each kind of operation is timed separately. Every round keeps its whole histogram, and the latencies of \
               units of work over time (heat map).",
        when: "Rows below a workload of io or a job file with several kinds; operations and heat_map in JSON; \
               diskperf export --format hdr.",
        advice: "A database waits for its syncs: look at fsync or fdatasync, not at the mean of all calls.",
    },
    Entry {
        word: "range",
        also: &["within"],
        brief: "the range of a prediction, and whether the measured time was within it",
        says: "The range contains the measured time in 9 of 10 predictions. It comes from the stored checks.",
        when: "diskperf predict; n.m. before the ninth check.",
        advice: "Check predictions on the other device: diskperf predict RUN --on DEVICE --check TARGET.",
    },
    Entry {
        word: "round",
        also: &["rounds", "random order"],
        brief: "each test once on each target, in random order",
        says: "Every round runs each test once on each target. The order is random and differs between rounds, so that \
               none always runs first.",
        when: "--rounds; the line below the table has their number.",
        advice: "The same --seed gives the same orders.",
    },
    Entry {
        word: "cell",
        also: &["cells", "result", "results"],
        brief: "a result: one phase of one test on one target",
        says: "A result has a rate, CPU time, warnings, and the values of all rounds.",
        when: "A row of the table; an element of cells in JSON.",
        advice: "diskperf explain shows where its time went.",
    },
    Entry {
        word: "together",
        also: &["overlap", "2 drives"],
        brief: "several targets busy at once",
        says: "Rate and CPU are sums. overlap is the shortest time divided by the longest.",
        when: "--together, and classic1983 with several targets.",
        advice: "Compare with the sum of the single rates: a lower figure shows what the targets share.",
    },
    Entry {
        word: "effect",
        also: &["checksum"],
        brief: "a checksum of what the test did",
        says: "It is the same on every machine for the same test, so a test that skipped work is caught.",
        when: "effect in JSON.",
        advice: "Do not compare results with different effects: they did different work.",
    },
    Entry {
        word: "acknowledged",
        also: &["power cut", "records"],
        brief: "records that were durable before the power cut",
        says: "Every call that makes the record durable had returned successfully before the power cut. Other records \
               may be there, wholly, in part or not at all.",
        when: "The table of diskperf verify.",
        advice: "missing, torn and stale say how such a record was lost.",
    },
    Entry {
        word: "intact",
        also: &[],
        brief: "acknowledged records that survived the power cut",
        says: "The record is there, complete and in its last version.",
        when: "The table of diskperf verify.",
        advice: "All acknowledged records should be intact.",
    },
    Entry {
        word: "missing",
        also: &["lost", "cannot be mounted"],
        brief: "acknowledged records that are gone after the power cut",
        says: "Its file is missing, ends before the record, or has other data in its place. A file system that cannot \
               be mounted has lost all records.",
        when: "The table of diskperf verify.",
        advice: "Check that the device was flushed: nobarrier, and devices that ignore flushes, lose the last writes.",
    },
    Entry {
        word: "torn",
        also: &[],
        brief: "acknowledged records that are partly overwritten or missing",
        says: "Some sectors of 512 bytes are right; others are older, of another record, or zeros. In a file replaced \
               by rename, old and new data are mixed.",
        when: "The table of diskperf verify.",
        advice: "A program that cannot bear this needs checksums, and storage that loses nothing.",
    },
    Entry {
        word: "stale",
        also: &[],
        brief: "acknowledged records of which an older version is there",
        says: "The record is complete, but it had been overwritten or replaced by a durable newer one.",
        when: "The table of diskperf verify.",
        advice: "The data alone do not show this; only a list of the acknowledged records does.",
    },
    Entry {
        word: "control",
        also: &[],
        brief: "one more power cut, with losses made on purpose",
        says: "The device claims to have no write cache, so the kernel never flushes it, and the last writes are lost.",
        when: "Below the table of diskperf verify, if nothing was lost.",
        advice: "If the control finds no loss either, the test proves nothing, and the exit status is 1.",
    },
    Entry {
        word: "base",
        also: &["then", "now", "new run", "since the one before", "since the run before"],
        brief: "the earlier of two runs that are compared; `new` is the later one",
        says: "A ratio is the later rate divided by the earlier one: below 1 means slower. The difference is sure if \
               the interval excludes 1. The result is the same if the whole interval is within the margin.",
        when: "The tables of diskperf compare and diskperf history.",
        advice: "The lines above the table list the changes around the runs. A change that was not recorded is in the \
                 ratio too.",
    },
    Entry {
        word: "ratio",
        also: &["as fast"],
        brief: "one rate divided by another, with its 95 % interval",
        says: "1.17x (1.12-1.23): 1.17 times as fast, and with 95 % confidence 1.12 to 1.23 times.",
        when: "diskperf choose: from pairs of rates of the same round. diskperf compare: new run to base run.",
        advice: "If the interval includes 1, the difference is not sure.",
    },
    Entry {
        word: "margin",
        also: &["within the margin", "maybe by less than", "by little perhaps"],
        brief: "the difference that does not matter to you; 5 % by default",
        says: "Two rates are the same if the whole interval of their ratio is within the margin. A rate is faster if \
               the interval excludes 1; the table adds \"maybe by less than 5 %\" if the interval reaches into the \
               margin.",
        when: "--margin of diskperf choose and diskperf compare.",
        advice: "Choose a margin before you look at the result. A smaller one needs more rounds.",
    },
    Entry {
        word: "verdict",
        also: &[
            "faster",
            "slower",
            "same",
            "not decided",
            "undecided",
            "too noisy",
            "too noisy to decide here",
            "same within",
            "identical",
        ],
        brief: "the result of a comparison: faster, slower, same or undecided",
        says: "faster and slower: the interval of the ratio excludes 1. same: the whole interval is within the margin. \
               undecided: neither. too noisy: it would take more than ten times the rounds, or more than an hour.",
        when: "diskperf choose and diskperf compare; verdict of the comparisons in JSON.",
        advice: "Choose the target that is faster by more than the margin; if they are the same, choose by price.",
    },
    Entry {
        word: "why",
        also: &["reason"],
        brief: "the reason for a verdict, from the bottlenecks of both results",
        says: "The bottleneck of each result, or the setting that explains the difference.",
        when: "The column of that name of diskperf choose and diskperf compare.",
        advice: "If both are CPU-bound, the test says nothing about the disks. diskperf explain shows more.",
    },
    Entry {
        word: "pairs",
        also: &["pair"],
        brief: "rounds in which both targets were measured",
        says: "Each round gives one ratio. Whatever slowed the whole round affects both rates and cancels out.",
        when: "A column of diskperf choose. A verdict needs at least six.",
        advice: "More of them make the interval narrower: --budget, --rounds.",
    },
    Entry {
        word: "stage",
        also: &["stages", "all stages together", "nothing changed"],
        brief: "a setup that changes the one before it",
        says: "Each column header has the stage's number and its change. x1.17 (1.12-1.23) below a rate is the ratio \
               to the stage before, with its interval. The last column compares the last stage with the first.",
        when: "diskperf choose --stages; stages in JSON.",
        advice: "Change one thing per stage, or the effects cannot be separated.",
    },
    Entry {
        word: "changed",
        also: &["changes", "of"],
        brief: "settings that differ between two runs",
        says: "Kernel, device, file system, mount options, queue settings and other recorded settings, with both \
               values.",
        when: "A table of diskperf compare; a column of diskperf history.",
        advice: "A difference in rates may come from any of them. Change one at a time.",
    },
    Entry {
        word: "course",
        also: &["trend"],
        brief: "a bar per run: the highest rate of all has the longest bar",
        says: "A bar of characters for each run; the highest rate has twenty.",
        when: "A column of diskperf history.",
        advice: "If the bars change, look at the column changed, and compare those two runs.",
    },
    Entry {
        word: "run id",
        also: &["stored run", "began", "began (UTC)"],
        brief: "a stored run, by its id",
        says: "The id of a run in the results database. The beginning of an id is enough, or the name of a run; `last` \
               is the latest run.",
        when: "diskperf list and diskperf history; in show, explain, compare, report and others as an argument.",
        advice: "diskperf list prints all ids, with the time at which each run began.",
    },
    Entry {
        word: "finished",
        also: &["running", "killed", "not finished"],
        brief: "how far a stored run got",
        says: "finished: all rounds are done, or the budget is spent. running: a diskperf still measures it. \
               interrupted: Ctrl-C or a signal ended it. killed: its process is gone.",
        when: "The column state of diskperf list.",
        advice: "diskperf resume finishes an interrupted or killed run.",
    },
    Entry {
        word: "seed",
        also: &[],
        brief: "the start of every random order",
        says: "The order of the rounds, the random places and the data follow from it.",
        when: "--seed; the line below the table.",
        advice: "Use another seed to check that the result does not depend on it.",
    },
    Entry {
        word: "elapsed",
        also: &["elapsed time"],
        brief: "the time of all rounds of a result together",
        says: "The time from the first to the last call of each round, and the final sync, summed over the rounds.",
        when: "diskperf explain.",
        advice: "Its parts are in diskperf help breakdown.",
    },
    Entry {
        word: "engine",
        also: &["posix", "uring", "io_uring", "sqpoll", "mmap"],
        brief: "the way to issue operations: plain calls, io_uring, mmap or none",
        says: "posix: plain calls, one at a time. uring: io_uring, several in flight. sqpoll: io_uring with a polling \
               kernel thread. mmap: copies from and to the mapped file. null: no I/O, which shows diskperf's overhead.",
        when: "engine in JSON; --engine of io. On a simulated machine it is simulated.",
        advice: "Compare only rates of the same engine. diskperf io PATTERN --engine null shows the overhead.",
    },
    Entry {
        word: "jobs",
        also: &[],
        brief: "threads that run the same workload at once",
        says: "Each thread has its own file (or all share the file of file:PATH) and its own random places. Rates and \
               CPU times are sums, latencies are over all threads, and --rate is for all together.",
        when: "--jobs of io, and jobs in JSON.",
        advice: "Several jobs show lock contention in the file system. --iodepth keeps more in flight in one thread.",
    },
    Entry {
        word: "order",
        also: &["zipf", "permutation", "replacement"],
        brief: "the order of random blocks",
        says: "replacement draws each block from all blocks. permutation touches each block once, then each again in \
               another order. zipf:THETA has hot blocks: the n-th hottest is drawn in proportion to 1/n^THETA.",
        when: "--order of io; order in JSON if it is not replacement.",
        advice: "A cache smaller than the file helps least with permutation, and most with zipf.",
    },
    Entry {
        word: "iodepth",
        also: &["depth", "queue depth", "in flight"],
        brief: "queue depth: the most operations in flight at once",
        says: "Many drives reach their full rate only with several operations in flight. Each then takes longer, \
               because it also waits for others.",
        when: "randread at iodepth 32 of quick; --iodepth of io; otherwise 1.",
        advice: "Depth 1 shows the latency of one operation, a large depth the highest rate of the drive.",
    },
    Entry {
        word: "CPU steal",
        also: &["steal", "CPU pressure", "I/O pressure", "other load"],
        brief: "time in which the host ran other virtual machines",
        says: "CPU steal is the share of time in which this virtual machine could run but the host ran others, from \
               /proc/stat. Pressure is the share of time in which tasks waited, from /proc/pressure.",
        when: "The lines `noise` below a table, in percent of the elapsed time.",
        advice: "Measure at a quieter time, or run more rounds. See the warning noise.",
    },
    Entry {
        word: "Not tested",
        also: &["aging and fullness", "reliability", "support", "continuous load"],
        brief: "questions that the run does not answer",
        says: "Rates of new or given file systems say nothing about aging, fullness, reliability and support. A burst \
               credit or a cache may last longer than the longest load without a pause for another target.",
        when: "Below the table; the second line only in diskperf choose.",
        advice: "--sustained loads a target for longer, --fill and --age test aging, diskperf verify tests \
                 reliability after a power cut.",
    },
    Entry {
        word: "randread",
        also: &["random read", "random reads"],
        brief: "a test: random 4 KiB reads of one file",
        says: "Each read is at a random place. In the presets and with --direct, it bypasses the page cache \
            (O_DIRECT). The unit \
               is ops/s.",
        when: "The presets quick and smoke, and diskperf io randread --direct; without --direct, the page cache may \
            answer.",
        advice: "Compare databases and virtual machines by it; iodepth 32 shows the highest rate.",
    },
    Entry {
        word: "commit",
        also: &["commits"],
        brief: "a test: 4 KiB appends, each followed by fdatasync",
        says: "Each operation is a write and an fdatasync, as a database does at every commit. The unit is ops/s.",
        when: "The presets quick and smoke, and diskperf io commit.",
        advice: "Compare storage for databases by its p99, for example --need 'commit.p99<=5ms'.",
    },
    Entry {
        word: "smallfb creat",
        also: &["smallfb read", "smallfb delete", "creat"],
        brief: "a test: creating, reading and deleting small files",
        says: "creat makes the files and writes 1 KiB to each, read reads them all, delete removes them. The unit is \
               files/s.",
        when: "The presets quick, lfs and smoke, and diskperf smallfb.",
        advice: "Compare storage for builds, mail and source trees by it.",
    },
    Entry {
        word: "read",
        also: &["write"],
        brief: "tests of io: sequential reads or writes of one file",
        says: "diskperf io read reads a file from its beginning, diskperf io write writes one. smallfb read is another \
            test: it \
               reads small files. write in the preset tlpi writes a file in small calls.",
        when: "Workloads of diskperf io and of job files; write also in the presets tlpi and smoke.",
        advice: "Set the size of a call with --bs; --direct bypasses the page cache.",
    },
    Entry {
        word: "largefb read sequential",
        also: &[
            "largefb write sequential",
            "largefb write random",
            "largefb read random",
            "largefb read sequential again",
        ],
        brief: "a test: sequential and random I/O on one large file",
        says: "The file is written and read sequentially, then randomly, then read sequentially again, in calls of \
               4096 bytes.",
        when: "The presets lfs and smoke, and diskperf largefb.",
        advice: "If the last read is slower than the first, random writes have scattered the file.",
    },
    Entry {
        word: "local_mix",
        also: &["uniform_mix"],
        brief: "a test: small accesses drawn from a mix; `write` writes a file",
        says: "local_mix reads and writes at places that are often near earlier ones. write writes a file of tlpi in \
               small calls.",
        when: "The presets vaxmix (local_mix), tlpi (write) and smoke (both).",
        advice: "diskperf help vaxmix and diskperf help tlpi say more.",
    },
    Entry {
        word: "create",
        also: &["append", "overwrite", "replace", "power cuts", "not flushed"],
        brief: "the four writers of verify: create, append, overwrite, replace",
        says: "create makes a new file and syncs it and its directory. append and overwrite write into a file and call \
               fdatasync; replace writes a new file, syncs it and renames it over the old one.",
        when: "The rows of diskperf verify; the figures are numbers of records.",
        advice: "If only replace or create loses records, check for missing fsync of directories or for nobarrier.",
    },
    Entry {
        word: "weights",
        also: &["use", "database", "build"],
        brief: "the share of each test in the verdict for a use",
        says: "--use NAME weights the ratios of the tests that this use depends on, in percent. The verdict `For NAME` \
               is their weighted geometric mean. The purpose is not decided if tests with more than half of the weight \
               are missing or undecided.",
        when: "The first lines of diskperf choose --use.",
        advice: "diskperf choose /mnt/a /mnt/b --use database; --use also takes your own weights.",
    },
    Entry {
        word: "open loop",
        also: &["rate of io", "arrivals", "poisson", "closed loop", "coordinated omission"],
        brief: "operations start on schedule, whether or not earlier ones finished",
        says: "In a closed loop, an operation starts when an earlier one returns. A stall then delays operations that \
               are not counted (coordinated omission). In an open loop they start on schedule, and their wait counts.",
        when: "--rate of io, with equal or random times between starts (--arrivals constant or poisson).",
        advice: "Use a rate below that of a closed loop. Above it, waiting grows without bound.",
    },
    Entry {
        word: "intervals",
        also: &[],
        brief: "the operations of each quarter of a second",
        says: "Operations, bytes, p50, p99 and the longest latency of every 250 ms of a round.",
        when: "intervals of the rounds in JSON, if single operations are timed.",
        advice: "Look there for stalls and for rates that changed.",
    },
];
