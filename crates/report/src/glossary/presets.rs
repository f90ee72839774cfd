//! The presets: what each measures and whom it is for.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "quick",
        also: &["main job"],
        brief: "what one wants to know first about the storage one stands on",
        says: "Large files read, written and rewritten, single blocks at random, commits, small files, copies through \
               three buffers; five rounds, until durable where anything changes.",
        when: "It is what the program does where no command is named, in the directory you stand in.",
        advice: "Begin here. It ends within a minute: files are as large as fits into that, into 4 GiB and into a \
                 fiftieth of the free space; --size or a longer --budget lifts that.",
    },
    Entry {
        word: "classic1983",
        also: &["1983", "classic"],
        brief: "the four programs of Kridle & McKusick 1983",
        says: "The paper's four programs in its table: Kbytes/sec and CPU until the last call returned; three rounds of \
               which the first is discarded; several targets alone and all at once.",
        when: "The file is 20 times the memory, which is made 64 MiB where it can be, as in 1983 it was twice.",
        advice: "--size 8MiB gives the letter: that file fits into every cache of today.",
    },
    Entry {
        word: "lfs",
        also: &[],
        brief: "a course lab of about 2002: raw device, small files, one large file",
        says: "bw, smallfb and largefb with the lab's sizes, and its four questions answered from what was measured, \
               beside what was published.",
        when: "Five rounds where nothing else is asked for.",
        advice: "Run it where you may read the device (as root) to have the raw rows too.",
    },
    Entry {
        word: "tlpi",
        also: &[],
        brief: "the buffer sizes of Kerrisk, The Linux Programming Interface, 2010",
        says: "Tables 13-1 and 13-3: 100 million bytes copied through buffers from one byte on, and written with and \
               without O_SYNC; then what a call and what a byte costs.",
        when: "It says how long it takes before it begins: one-byte buffers are dear.",
        advice: "--budget 5min leaves the dearest rows out, as n.m.",
    },
    Entry {
        word: "vaxmix",
        also: &["mix", "transactions"],
        brief: "accesses drawn from a mix: the indirect approach of Kridle & McKusick 1983",
        says: "The four programs of 1983, and then accesses of several sizes to one file, two of three of them reads, at \
               places drawn uniformly (uniform_mix) and with locality (local_mix): transactions a second. The paper \
               prints no parameters of DEC's \"vax mix\"; these are ours.",
        when: "One access after the other, which gives the highest rate; a mix with a rate is run once more at that rate \
               (paced_mix), which gives response times.",
        advice: "--mix says another mix, --from-trace derives one from a block trace; diskperf paper vaxmix asks whether \
                 the ranking of the controllers of 1983 depends on the approach.",
    },
    Entry {
        word: "device",
        also: &["SNIA"],
        brief: "what a block device does in the long run",
        says: "Reads in order and at random past the page cache, one at a time and 32 at once, in rounds of a fixed time until \
               their rate is steady, 25 at most: the steady rate, and that of the first round beside it.",
        when: "DEVICE is only read. With --write all of it is overwritten, as the SNIA measures: discarded, written in order \
               twice over, and then written to in rounds, too.",
        advice: "Reading needs leave to read the device (root); --write asks for --destroy-data and --confirm, and refuses \
                 what is in use. --time and --precondition make it shorter.",
    },
    Entry {
        word: "smoke",
        also: &[],
        brief: "every program at its smallest",
        says: "Shows that all programs work here; its figures say nothing.",
        when: "A few seconds, a few megabytes.",
        advice: "For tests and for looking at the JSON.",
    },
];
