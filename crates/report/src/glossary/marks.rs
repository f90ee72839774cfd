//! The marks: what each `*` says, from which threshold on, and what to do.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cache",
        also: &[],
        brief: "a cold or direct read was served from memory",
        says: "The cell says that its data came from the device, cold or past the page cache, and part of them came \
               from memory: the rate is partly that of memory.",
        when: "Less than 95 % of the bytes read were fetched from the device, beyond 128 KiB that looking up files may read \
               elsewhere. Where blocks are drawn more than once, only what was read for the first time, and not written \
               before, is to come from there: the places are drawn again to count it.",
        advice: "Measure again while nobody else reads the files; name a larger --size, or --drop-caches as root.",
    },
    Entry {
        word: "lower",
        also: &["lower cache"],
        brief: "a cache below the page cache had the data",
        says: "The device under the file system read, and the one that it stands on did not: a cache between the two \
               answered, as that of the file under a loop device.",
        when: "The lower device read less than 95 % of what the upper one read. Caches that cannot be seen (a drive's, \
               a host's) are no mark: the head of the table says lower cache: n.m.",
        advice: "Use direct I/O on the loop device, as image: does where it can; or a file larger than that cache.",
    },
    Entry {
        word: "dirty",
        also: &[],
        brief: "the clock stopped with data in memory only",
        says: "The cell says durable, and data were still only in memory when its clock stopped: a crash then would \
               have lost them.",
        when: "More than 1 % of the pages of the files were not yet written; where no disk can be seen below, when the \
               machine had more to write than at first by over half of what was written.",
        advice: "Look for a file system or a layer below it that answers fsync without doing it (FUSE, network, \
                 nobarrier); take the rate as that of memory.",
    },
    Entry {
        word: "noflush",
        also: &["no flush"],
        brief: "the device was not asked to empty its write cache",
        says: "The cell says durable, the device has a write cache, and nobody asked it to write that out: a power \
               cut then may lose what fsync had promised.",
        when: "Fewer flushes than one for two calls that wait for durability, and than one at all; or a mount without \
               flushes: nobarrier, barrier=0, an overlay with volatile.",
        advice: "Look for the mount options nobarrier or barrier=0, and for write through in queue/write_cache. With a \
                 battery or capacitors the figure is right all the same; then say so beside it.",
    },
    Entry {
        word: "hole",
        also: &["holes"],
        brief: "what was read had never been written",
        says: "Part of the file is a hole or only reserved: reading it gives zeros and no device is asked.",
        when: "More than 5 % of the bytes of the files read.",
        advice: "Give a file that was written in full; cp --sparse=never makes one of it.",
    },
    Entry {
        word: "compress",
        also: &["compressed"],
        brief: "the device moved far fewer bytes than the program",
        says: "The bytes were made smaller on their way, so the rate is not that of the device.",
        when: "The device wrote less than 90 % of what was written; or files that lie compressed for more than 5 % were \
               read, and the device read less than 95 % of that.",
        advice: "Mount without compression, or keep it and say so: programs with compressible data get this too.",
    },
    Entry {
        word: "amplify",
        also: &["amplification"],
        brief: "the device wrote far more bytes than the program",
        says: "For each byte of the program the device wrote much more: journalled data, copies, a RAID, or other \
               programs at work.",
        when: "More than 1.5 times the bytes of a write of 16 MiB or more in calls of 4096 bytes or more.",
        advice: "Look at the mount options (data=journal), at the layers below, and for others who write: with a quiet \
                 machine the mark should stay or go for good.",
    },
    Entry {
        word: "unsteady",
        also: &[],
        brief: "the rate did not settle",
        says: "The cell says that its rate is a steady one, and its last five rounds are too far apart, or still go up or \
               down: the mean of them is no figure of the device.",
        when: "The rule of the SNIA is broken in the last window of five rounds: the largest and the smallest rate within \
               20 % of the mean of each other, and the line through them rising or falling by 10 % of it at most.",
        advice: "Give it more rounds (--rounds, 25 where nothing is said) or longer ones (--time), on a quiet machine; of a \
                 fresh SSD, --write with its conditioning.",
    },
    Entry {
        word: "step",
        also: &["change point"],
        brief: "the rate changed its level in the middle",
        says: "Up to some moment the device did so much, and from then on so much less or more: a credit was used up, a \
               cache was full, somebody set a limit. A mean of both is the speed of neither.",
        when: "In windows of half a second: the level changes by more than 20 % between two of them and stays so for three or \
               more, and the change is three times as large as what neighbours differ by. Of reads in all rounds; of writes \
               in those that the figure is made of.",
        advice: "Look at the rounds and intervals in JSON: which level does your load live on? Run it for longer to have the \
                 second one alone.",
    },
    Entry {
        word: "throttle",
        also: &["throttled"],
        brief: "something held the device below what it can do",
        says: "A limit of a control group on the device was used up, or the device was as hot as it may be and slows down: the \
               figure is that of the limit.",
        when: "Nine tenths of a limit on bytes or requests a second were used, or a sensor of the device reached its own limit. \
               Limits that a container hides are not seen.",
        advice: "Look for blkio.throttle or io.max of the groups in /proc/self/cgroup; cool the device; or keep it, if that \
                 limit is what your programs live with.",
    },
    Entry {
        word: "short",
        also: &[],
        brief: "too short a time for the clock",
        says: "The time measured is not much longer than what the clock shows when nothing is done.",
        when: "A round took less than 100 times that.",
        advice: "Give the programs more to do: --size.",
    },
    Entry {
        word: "few",
        also: &[],
        brief: "too few rounds, or rounds that do not agree",
        says: "The preset promises more rounds than were kept, or rounds that agree better.",
        when: "Fewer rounds than the preset has (quick: 5; classic1983: 2 kept), as after --rounds, --budget or Ctrl-C; \
               in classic1983 also where the kept rounds differ by more than 10 %.",
        advice: "Run it again with all its rounds, on a quieter machine where they did not agree.",
    },
    Entry {
        word: "noise",
        also: &[],
        brief: "more was at work besides the program than for other cells",
        says: "Other programs, other virtual machines or the kernel were at work, and this cell had more of that than \
               the rest of the run. What all cells had is one line below the table.",
        when: "Over twice the usual of the run of any of: devices 2 % more than ours, CPU pressure 10 % of the time, 2 \
               % of the CPU time waited, 1 % stolen, a sleep 5 ms too long, I/O pressure 1 % before, caches dropped, 2 \
               % of the bytes refetched.",
        advice: "Stop what else runs, or run more rounds: each has an order of its own, and the interval says what is \
                 left of it.",
    },
    Entry {
        word: "error",
        also: &["errors"],
        brief: "an operation failed; there is no rate",
        says: "A call failed, moved fewer bytes than it was asked to, or a file did not hold what was written. A fast \
               wrong answer is no answer: the cell is n.m.",
        when: "Once is enough.",
        advice: "Read the reason under the table. No space: free some or name a smaller --size. Wrong content: do not \
                 trust that storage.",
    },
    Entry {
        word: "env",
        also: &["environment"],
        brief: "a setting changed between the rounds",
        says: "The rounds of the cell did not all run under the same settings: scheduler, read-ahead, write cache, \
               mount options and the like.",
        when: "Any of those that were noted differs between two rounds, or between two runs that compare holds against each \
               other.",
        advice: "Find who changes it (a power daemon, udev, another administrator) and run it again.",
    },
    Entry {
        word: "nested",
        also: &[],
        brief: "the file system lies on an image in another one",
        says: "Everything went through two file systems, and the lower one has a cache, a journal and other users of \
               its own. Good for comparing two file systems, no figure of the device.",
        when: "The target is image: or lies on a loop device.",
        advice: "Compare nested cells with nested cells only.",
    },
    Entry {
        word: "uneven",
        also: &[],
        brief: "programs that were to run at once hardly did",
        says: "The rate of several targets at once is a sum, and while one had ended the others ran alone.",
        when: "The shortest ran for less than 90 % of the time of the longest.",
        advice: "Give the same --size to targets that are alike; with targets that are not, read each alone.",
    },
    Entry {
        word: "memory",
        also: &[],
        brief: "what is said to be on a device lies in memory only",
        says: "The file system keeps its files in memory (tmpfs, ramfs), or the device is a piece of memory: nothing \
               there is durable and nothing is cold.",
        when: "The target lies on such a file system or device and the cell claims durable or cold.",
        advice: "Name a directory on a disk; /tmp and /dev/shm often are memory.",
    },
    Entry {
        word: "order",
        also: &[],
        brief: "what is compared did not take turns",
        says: "Cells stand beside each other that ran one after the other: whoever runs later finds another cache, \
               another temperature, other neighbours.",
        when: "There was one round only, or the cells ran in different rounds, or in two runs that compare holds against \
               each other.",
        advice: "Measure them in one run, with two rounds or more; of two targets, diskperf choose.",
    },
    Entry {
        word: "untouched",
        also: &[],
        brief: "a command that never came to the device",
        says: "The command wrote nothing that had to be made durable and read nothing that was not in memory: its time is that \
               of the processor, and the same on any target.",
        when: "A command of your own, where in every round the device under the target moved no byte, or the command, by the \
               kernel's account of it, neither fetched nor changed one. Names that it makes or removes are not in that account.",
        advice: "Let it write where it stands; {} in its words is that folder. --cold has what --prepare made read from the \
                 device.",
    },
];
