//! Other words that stand in tables, documents and help.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "fresh",
        also: &[],
        brief: "what the first round gave, before the rate was steady",
        says: "The rate of a device in the first round: right after it was discarded and conditioned, or as it was found.",
        when: "A column of device; in JSON the first of the rounds.",
        advice: "Where it is far from the steady one, a short test of this device shows the wrong one of the two.",
    },
    Entry {
        word: "sizes",
        also: &[],
        brief: "how a size is typed: 4k, 4KiB, 4kB",
        says: "k, M, G and T, in either case, and KiB, MiB, GiB and TiB are powers of 1024: 4k is 4096 bytes, as in fio. kB, MB, \
               GB and TB are powers of 1000. A bare number counts bytes. kb, mb, gb and tb are refused: fio takes them for \
               powers of 1024, and other programs for powers of 1000.",
        when: "In every option, key and argument that is a size, and in job files. Tables print powers of 1024.",
        advice: "Fractions can be typed too: 1.5G.",
    },
    Entry {
        word: "age",
        also: &["aged", "churn", "churns"],
        brief: "how a file system of our own was used before it was measured",
        says: "fresh is as mkfs made it. Where --fill or --age was given, it was filled with files first and these were \
               changed: a churn removes one, empties one and writes it again half as long, appends to one, and makes \
               others until it is as full as before. The seed says which.",
        when: "In the head of the table, of image: and new:; aged in JSON, with what was made, removed and written.",
        advice: "What is faster on fresh file systems may be slower on used ones: compare with --fill 70% --age 1000 too.",
    },
    Entry {
        word: "command",
        also: &["own program", "{}", "prepare"],
        brief: "a command of your own as the load",
        says: "It is run once in each round, in an empty private folder of the target, whose path stands for {} in its words. \
               CPU is that of all its processes, as far as somebody waited for them; what it leaves running is ended outside \
               the clock. The first round, in which the command itself is read into memory, does not count.",
        when: "diskperf run and diskperf choose, with two dashes before the command. --prepare names what makes the folder \
               ready, which is not measured.",
        advice: "Name files elsewhere by paths from the root, and give sh the line where it needs a shell. What it prints goes \
                 to /dev/null, which grep and tar notice, and then do less: have them write a file. A command that ends \
                 with another status than 0, or by a signal, has no figure: the end of what it said is the reason.",
    },
    Entry {
        word: "*",
        also: &["star", "asterisk"],
        brief: "the cell has a mark: a claim of it is false",
        says: "Something that the figure claims (cold, durable, so many rounds) is not true; the reason stands below \
               the table.",
        when: "Behind a rate. A figure that is only rough is not starred: its interval is printed.",
        advice: "diskperf help marks lists the reasons.",
    },
    Entry {
        word: "n.m.",
        also: &["nm", "not measured"],
        brief: "not measured, with the reason below",
        says: "There is no figure, or part of it could not be seen. It is never zero and never assumed.",
        when: "Instead of a rate, a CPU share, a percentile or a state.",
        advice: "Read the reason under the table; diskperf doctor says what can be seen here.",
    },
    Entry {
        word: "+-",
        also: &["interval", "confidence"],
        brief: "half the width of the 95 % interval, in % of the rate",
        says: "If everything were repeated, 95 of 100 such intervals would contain the true mean (Student's t over the \
               rounds). A rate has no more digits than its interval supports.",
        when: "From two kept rounds on; >100 % where the interval reaches down to nothing.",
        advice: "Two rates whose intervals overlap are not shown to differ. More rounds make it narrower.",
    },
    Entry {
        word: "state",
        also: &[],
        brief: "what the rate claims: where data came from, or when the clock stopped",
        says: "cold or warm for what was read, durable or data durable for what was written; returned where neither is \
               claimed, and the clock stopped when the last call came back.",
        when: "The column of that name; state in JSON has all of it.",
        advice: "diskperf help states and diskperf help clocks list the words.",
    },
    Entry {
        word: "rate",
        also: &["per_second"],
        brief: "how fast: the mean of the rounds that count",
        says: "What a round did divided by its time, up to the moment that the state claims; of targets busy at once, \
               the sum.",
        when: "The column of that name. Computed from rounds in JSON, and from nothing else.",
        advice: "Read it with its state and its interval, or not at all.",
    },
    Entry {
        word: "CPU",
        also: &["cpu_percent"],
        brief: "of one processor: what the program took of it",
        says: "The program's time in itself and in the kernel on its behalf, in percent of the elapsed time: the figure \
               of 1983.",
        when: "The column of that name. n.m. where all rounds together took less than 0.1 s.",
        advice: "What the kernel's own threads took stands beside it, under kernel.",
    },
    Entry {
        word: "tool",
        also: &["this tool", "own", "overhead"],
        brief: "what diskperf's own code took of the CPU",
        says: "Each phase is gone through once more, after the last round, the way it was measured but without a call: the \
               same stream, loop, clocks and histogram. What that takes, for as many operations, in percent of the CPU time of \
               the programs; calls that a bare program would make are not in it.",
        when: "Below a table of real targets. \"of the time\" where only the timing of operations is known, as of rings and \
               of schedules; n.m. where not even that.",
        advice: "Where it is some percent, a bare program would be faster by about as much: believe no difference that is \
                 smaller.",
    },
    Entry {
        word: "p50 / p99",
        also: &["p50", "p90", "p99", "p999", "percentile", "service p50/p99", "response p50/p99"],
        brief: "half, and 99 %, of the operations took no longer",
        says: "Percentiles of the time of single units of work.",
        when: "p99 from 1000 operations on, p99.9 from 10,000; else n.m.",
        advice: "See service and response for when an operation's time begins.",
    },
    Entry {
        word: "round",
        also: &["rounds"],
        brief: "every program once on every target, in shuffled order",
        says: "All alternatives take turns, in an order of its own each round, so that no one always runs first.",
        when: "--rounds; the line under the table says how many there were.",
        advice: "The same --seed gives the same orders.",
    },
    Entry {
        word: "cell",
        also: &["cells"],
        brief: "one printed figure with all that makes it believable",
        says: "Rate, CPU, marks and n.m. are independent facts of one phase of one program on one target.",
        when: "A row of the table; an element of cells in JSON.",
        advice: "diskperf explain says where each millisecond of it went.",
    },
    Entry {
        word: "together",
        also: &["overlap", "2 drives"],
        brief: "several targets busy at once",
        says: "Rate and CPU are sums; overlap is the shortest time divided by the longest.",
        when: "--together, and classic1983 with several targets.",
        advice: "Compare with the sum of each alone: what is missing is what they share.",
    },
    Entry {
        word: "effect",
        also: &["checksum"],
        brief: "a checksum of what was done",
        says: "The same in every world for the same program: a fast wrong answer shows.",
        when: "effect in JSON.",
        advice: "Cells with different effects did different work: do not compare them.",
    },
    Entry {
        word: "acknowledged",
        also: &["power cut"],
        brief: "every call that makes a record durable had returned well before the power went",
        says: "What a program may rely on: it must be there when the power is back. What was still on its way may be \
               there, wholly, in part or not at all.",
        when: "The table of diskperf verify.",
        advice: "missing, torn and stale say how such a record was lost.",
    },
    Entry {
        word: "missing",
        also: &["lost"],
        brief: "nothing of an acknowledged record is there after a power cut",
        says: "Its file is not there, ends before it, or holds nothing of it in that place.",
        when: "The table of diskperf verify.",
        advice: "Was anything flushed? Options such as nobarrier, and devices that lie, lose what was written last.",
    },
    Entry {
        word: "torn",
        also: &[],
        brief: "part of an acknowledged record is something else after a power cut",
        says: "Some of its sectors of 512 bytes are right, and others are older, of another record, or zeros. Of a \
               record that is replaced by renaming, old and new are mixed.",
        when: "The table of diskperf verify.",
        advice: "A program that cannot bear it needs checksums of its own, and a place that loses nothing.",
    },
    Entry {
        word: "stale",
        also: &[],
        brief: "an older version of an acknowledged record is there after a power cut",
        says: "It is whole, and it had been overwritten or replaced, durably as it was said.",
        when: "The table of diskperf verify.",
        advice: "It cannot be seen by looking at the data alone: only who knows what was acknowledged finds it.",
    },
    Entry {
        word: "control",
        also: &[],
        brief: "one more power cut in which losses are made, to see that they are found",
        says: "The device is said to have no write cache, so that nothing flushes it, and what was written last is lost.",
        when: "Under the table of diskperf verify, where nothing was lost.",
        advice: "Where the control finds nothing either, the test has shown nothing, and its exit status is 1.",
    },
    Entry {
        word: "then",
        also: &["now", "since the one before"],
        brief: "the earlier run of two that are compared; now is the later one",
        says: "A ratio is the later rate divided by the earlier: below 1 it is slower. Its interval leaves out 1 where that is \
               sure; the same is said where all of the interval lies within the margin, whatever else it says.",
        when: "The tables of diskperf compare and diskperf history.",
        advice: "What has changed around the runs stands above the table; what nobody recorded is in the ratio too.",
    },
    Entry {
        word: "course",
        also: &[],
        brief: "how high the rate was each time: the longest bar is the highest of all",
        says: "A bar of characters for each run; the highest rate of the series has twenty.",
        when: "A column of diskperf history.",
        advice: "Where it bends, the column changed says what else did; compare those two runs.",
    },
    Entry {
        word: "seed",
        also: &[],
        brief: "what every random order begins with",
        says: "Orders of rounds, of blocks and the data follow from it.",
        when: "--seed; the line under the table.",
        advice: "Name another to see that nothing hangs on it.",
    },
    Entry {
        word: "limited by",
        also: &["limit"],
        brief: "what kept the rate from being higher",
        says: "One word, from who had the time and what the device was seen to do.",
        when: "The column of that name, and limited_by in JSON with the figures that tell.",
        advice: "diskperf help limits lists the words.",
    },
    Entry {
        word: "engine",
        also: &["posix", "uring", "io_uring"],
        brief: "who issues the operations: plain calls (posix), io_uring, or nobody (null)",
        says: "Plain calls come one after the other. io_uring has several under way at once. By null each operation \
               counts as done at once, and no file is touched: what is left is what this program costs.",
        when: "engine in JSON; --engine of io. simulated on a simulated machine.",
        advice: "Compare rates of one engine only; diskperf io PATTERN --engine null tells how much of a time is ours.",
    },
    Entry {
        word: "jobs",
        also: &[],
        brief: "how many programs do the same load at once on a target",
        says: "Each is a thread with a file of its own, but where a file was given, and with random places of its own. \
               Rates and CPU time are sums, latencies those of all, and --rate is of all together.",
        when: "--jobs of io, and jobs in JSON.",
        advice: "Several jobs show what waits for a lock in the file system; --iodepth has more under way in one.",
    },
    Entry {
        word: "order",
        also: &["zipf", "permutation", "replacement"],
        brief: "in which order blocks are touched at random",
        says: "replacement draws each out of all. permutation touches each once, and then again in another order. \
               zipf:THETA touches few often: the n-th most frequent as often as 1/n^THETA says.",
        when: "--order of io, and order in JSON where it is not replacement.",
        advice: "A cache smaller than the file has its share of it where each is drawn out of all, hardly any of a \
                 permutation, and far more than its share with zipf.",
    },
    Entry {
        word: "iodepth",
        also: &["depth", "queue depth"],
        brief: "how many operations are under way at once, at most",
        says: "A drive that does many at once is busy only where many are asked for. Each then takes longer, as it also \
               waits for others.",
        when: "randread, iodepth 32 of quick; --iodepth of io; else one at a time.",
        advice: "Depth 1 tells the time of one operation, a deep queue tells the rate that a drive can reach.",
    },
    Entry {
        word: "open loop",
        also: &["rate of io", "arrivals", "poisson", "closed loop"],
        brief: "operations begin by a schedule, whatever has become of the ones before",
        says: "In a closed loop the next operation begins when one has returned, so a stall keeps others from beginning \
               and hides them. In an open loop they begin on time, and wait.",
        when: "--rate of io, with starts always as far apart or as chance has it (--arrivals poisson).",
        advice: "Ask for a rate below what a closed loop reached: above that, waiting grows without end.",
    },
    Entry {
        word: "intervals",
        also: &[],
        brief: "what returned in each quarter of a second",
        says: "Operations, bytes, p50, p99 and the longest time of every whole 250 ms of a round.",
        when: "intervals of the rounds in JSON, where single operations are timed.",
        advice: "Look there for stalls, and for a rate that did not hold.",
    },
    Entry {
        word: "verdict",
        also: &["faster", "same", "not decided", "undecided", "same within"],
        brief: "what a comparison came to: faster, the same within the margin, or not decided",
        says: "faster: the interval of the ratio leaves out 1. same: all of it lies within the margin. not decided: neither, \
               and so many rounds more would tell. by little perhaps: faster, but not surely by more than the margin.",
        when: "diskperf choose; verdict of the comparisons in JSON.",
        advice: "Choose by what is surely faster by more than the margin, and by price where it is the same.",
    },
    Entry {
        word: "pairs",
        also: &["pair"],
        brief: "rounds in which both of two targets were measured",
        says: "Each gives one ratio; what made the whole round slow is in both rates and falls out of it.",
        when: "The column of that name of diskperf choose; six at least decide anything.",
        advice: "More of them make the interval of the ratio narrower: --budget, --rounds.",
    },
    Entry {
        word: "stage",
        also: &["stages", "all stages together", "nothing changed"],
        brief: "a setup that is made of the one before it by changing something",
        says: "The number and what changed stand above its column; x1.17 (1.12-1.23) under a rate is how many times as fast \
               it is as the stage before, with the interval. The last column compares the last stage with the first.",
        when: "diskperf choose --stages; stages in JSON.",
        advice: "Change one thing at a time, or what a stage gave is due to all that changed at it.",
    },
];
