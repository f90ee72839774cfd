//! The presets: what each one measures, and its users.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "quick",
        also: &["main job"],
        brief: "the usual questions about storage, within a minute",
        says: "Sequential reads, writes and rewrites of large files, random reads, commits, small files, and copies \
               with three buffer sizes. Five rounds. Rates of writes include the final sync.",
        when: "The default: diskperf PATH means diskperf run quick PATH.",
        advice: "Start with it. File sizes fit into one minute, 4 GiB and a fiftieth of the free space; --size or a \
                 longer --budget lifts these limits.",
    },
    Entry {
        word: "classic1983",
        also: &["1983", "classic"],
        brief: "the four programs of Kridle & McKusick 1983",
        says: "The paper's four programs and its table: Kbytes/sec and CPU until the last call returned. Three rounds, \
               the first discarded. Several targets are measured alone and all at once.",
        when: "The file is 20 times the memory of the run, which diskperf limits to 64 MiB if it can. In 1983, the \
               file was twice the memory.",
        advice: "--size 8MiB uses the original file size, which fits into every cache of today.",
    },
    Entry {
        word: "lfs",
        also: &[],
        brief: "a course lab of about 2002: raw device, small files, one large file",
        says: "bw, smallfb and largefb with the sizes of the lab, and answers to its four questions, next to the \
               published figures.",
        when: "Three rounds by default.",
        advice: "Run it as root for the rows of the raw device.",
    },
    Entry {
        word: "tlpi",
        also: &[],
        brief: "the buffer sizes of Kerrisk, The Linux Programming Interface, 2010",
        says: "Tables 13-1 and 13-3: 100 million bytes copied through buffers from one byte on, and written with and \
               without O_SYNC. It computes the cost of a call and of a byte.",
        when: "Before it starts, it prints how long it will take; one-byte buffers take long.",
        advice: "--budget 5min leaves out the slowest rows, as n.m.",
    },
    Entry {
        word: "vaxmix",
        also: &["mix", "transactions"],
        brief: "transactions per second of a mix of accesses, next to the programs of 1983",
        says: "The four programs of 1983, and then accesses of several sizes to one file, two thirds of them reads. \
               Their places are uniform (uniform_mix) or have locality (local_mix). Kridle & McKusick 1983 give no \
               parameters of DEC's \"vax mix\"; these are ours.",
        when: "Accesses follow one another, which gives the highest rate. A mix with a rate is repeated at that rate \
               (paced_mix), to measure response times.",
        advice: "--mix sets another mix, --from-trace derives one from a block trace. diskperf paper vaxmix shows \
                 whether the ranking of the controllers of 1983 depends on the method.",
    },
    Entry {
        word: "device",
        also: &["SNIA"],
        brief: "the steady rate of a block device",
        says: "Sequential and random reads with O_DIRECT, at queue depths 1 and 32. Rounds of a fixed time follow \
               until the rate is steady, at most 25. The table shows the steady rate, and that of the first round.",
        when: "diskperf only reads DEVICE. With --write it overwrites all of it, as the SNIA specifies: discard, write \
               it twice sequentially, and measure writes too.",
        advice: "Reading a device needs root. --write needs --destroy-data and --confirm, and refuses a device in use. \
                 --time and --precondition make it shorter.",
    },
    Entry {
        word: "smoke",
        also: &[],
        brief: "every test at its smallest size",
        says: "Shows that all tests work here. Its figures mean nothing.",
        when: "It takes a few seconds and a few megabytes.",
        advice: "Use it to try diskperf, and to look at the JSON.",
    },
];
