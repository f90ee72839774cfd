//! The parts of the time on a simulated machine, and the words of the tables of 1983.

use super::Entry;

/// The places of most of these words.
const SIMULATED: &str = "diskperf explain for a simulated result; below a simulated rate of diskperf paper, if it is \
                         the largest wait.";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "rotation",
        also: &["waiting rotation"],
        brief: "waiting while the platter turns to the sector",
        says: "Time, in ms, until the first sector of a request is below the head. A random request waits half a \
               revolution on average.",
        when: SIMULATED,
        advice: "Change drive.rpm or file_system.rotational_delay with --set, and compare.",
    },
    Entry {
        word: "seek",
        also: &["waiting seek"],
        brief: "waiting while the arm moves to the cylinder",
        says: "Time, in ms, until the heads of a drive are at the cylinder of a request.",
        when: SIMULATED,
        advice: "Use more drives, or place the files closer together.",
    },
    Entry {
        word: "transfer",
        also: &["waiting transfer"],
        brief: "waiting while data move from or to the platter",
        says: "Time, in ms, in which sectors pass below the head and their data move. The drive sets its rate.",
        when: SIMULATED,
        advice: "Only a drive with more bytes per second on the track makes it shorter.",
    },
    Entry {
        word: "host",
        also: &["waiting host"],
        brief: "waiting while a drive waits for the processor",
        says: "Time, in ms, in which a drive or controller has finished a step, and the processor has not yet answered \
               its interrupt.",
        when: SIMULATED,
        advice: "A faster processor helps, or a controller that needs fewer interrupts.",
    },
    Entry {
        word: "path",
        also: &["waiting path", "data path"],
        brief: "waiting while another drive uses the data path",
        says: "Time, in ms, in which a drive could transfer, but its controller transfers for another drive.",
        when: SIMULATED,
        advice: "A controller with a buffer or with several data paths helps; compare with one drive.",
    },
    Entry {
        word: "controller",
        also: &["waiting controller", "commands"],
        brief: "waiting while the controller works on a command",
        says: "Time, in ms, that the controller needs to start and to finish a command.",
        when: SIMULATED,
        advice: "Change controller.command or controller.finish with --set, and compare.",
    },
    Entry {
        word: "idle",
        also: &["waiting idle"],
        brief: "a resource or a drive without work",
        says: "Time, in ms or in percent of the elapsed time, in which a resource had nothing to do.",
        when: "diskperf explain for a simulated result.",
        advice: "A resource that is idle most of the time does not limit the rate.",
    },
    Entry {
        word: "busy",
        also: &["blocked"],
        brief: "working; blocked is waiting for another resource",
        says: "Percent of the elapsed time in which a simulated resource worked (busy), or could not continue because \
               another resource was not ready (blocked). The causes are in parentheses.",
        when: "diskperf explain for a simulated result, below `by resource`. For real devices: busy is the time with a \
               request in flight, from /sys/block.",
        advice: "Look first at the resource with the largest sum of both.",
    },
    Entry {
        word: "lost turn",
        also: &["waiting lost turn", "lost revolution"],
        brief: "a whole revolution lost because the sector had just passed",
        says: "Time, in ms, until a sector comes back that had passed before the controller or the bus was ready.",
        when: SIMULATED,
        advice: "diskperf simulate MACHINE --timeline FILE.svg draws one.",
    },
    Entry {
        word: "copy",
        also: &["copying"],
        brief: "the processor copies data between program and kernel",
        says: "CPU time, in ms, for copies between the buffers of the program and of the kernel.",
        when: "diskperf explain for a simulated result.",
        advice: "cpu.copy and kernel.copy_per_kib set it; fewer bytes are the only other remedy.",
    },
    Entry {
        word: "block read",
        also: &["block write", "allocate", "clear", "names"],
        brief: "the processor finds, allocates or clears blocks of a file, or handles names",
        says: "CPU time, in ms, of the file system: finding a block to read or write, choosing a new one (allocate), \
               zeroing it (clear), and searching directories, updating inodes and freeing blocks (names).",
        when: "diskperf explain for a simulated result.",
        advice: "Larger blocks need less of it: compare 8K/1K with 4K/1K.",
    },
    Entry {
        word: "call",
        also: &["start", "switch"],
        brief: "the processor makes system calls, starts requests, switches programs",
        says: "CPU time, in ms: system calls and the loop around them (call), handing requests to the driver (start), \
               and context switches (switch).",
        when: "diskperf explain for a simulated result.",
        advice: "Larger calls need less of it: compare write_4096 with write_8192.",
    },
    Entry {
        word: "interrupt",
        also: &["interrupted", "clock"],
        brief: "the processor serves interrupts of the controller or the clock",
        says: "CPU time, in ms, of interrupts. `interrupted` is the part that delayed the test's own program.",
        when: "diskperf explain for a simulated result.",
        advice: "A controller that moves more data per interrupt needs less of it.",
    },
    Entry {
        word: "slowed",
        also: &["memory contention"],
        brief: "the processor waits for memory that a transfer uses",
        says: "Time, in ms, that the processor loses because a transfer uses the memory at the same moment.",
        when: "diskperf explain for a simulated result; `memory` below the resource cpu.",
        advice: "bus.slow_down sets it.",
    },
    Entry {
        word: "pause",
        also: &[],
        brief: "the program sleeps by its own request",
        says: "Time, in ms, between two operations of a program that waits before the next one, such as `local_mix`.",
        when: "diskperf explain for a simulated result.",
        advice: "It is part of the workload. No hardware makes it shorter.",
    },
    Entry {
        word: "by program",
        also: &["by resource", "none"],
        brief: "the two views of a simulated time",
        says: "`by program` divides the elapsed time of the program; `by resource` divides the time of each part of \
               the machine. The line `none` lists parts that took no time.",
        when: "diskperf explain for a simulated result.",
        advice: "Look at the resource that is never idle, then at the part of the program that waits for it.",
    },
    Entry {
        word: "spindle",
        also: &["drive1", "drive2", "10 % better", "10 % faster"],
        brief: "the part of a drive that turns the platters",
        says: "A 10 % faster spindle means 10 % more revolutions per minute. Question Q1 and explain make each part of \
               a machine 10 % faster in turn.",
        when: "diskperf paper Q1; the last lines of diskperf explain for a simulated result.",
        advice: "Improve the part with the largest gain.",
    },
    Entry {
        word: "suspect",
        also: &["healthy"],
        brief: "printed in 1983 although the hardware was not working properly",
        says: "The authors marked this figure with * because they suspected the hardware. `healthy` below it means: \
               the simulation shows the rate of working hardware, and computes no error.",
        when: "The tables of diskperf paper.",
        advice: "Do not compare the two figures.",
    },
    Entry {
        word: "predicted",
        also: &[],
        brief: "simulated, with no measured figure to compare",
        says: "The paper prints n.m. here, so the simulated rate is a prediction and has no error.",
        when: "The tables of diskperf paper.",
        advice: "Trust it as far as the errors of the other results of this machine allow.",
    },
    Entry {
        word: "agrees",
        also: &["disagrees", "these tests cannot tell", "printed", "certainty"],
        brief: "the result of a check of the paper: the simulation agrees or not",
        says: "`printed` has the paper's figures, `simulated` ours. agrees or disagrees: the simulation supports or \
               contradicts the sentence; these tests cannot tell: it does neither.",
        when: "diskperf paper claims; `Certainty` is the last line of each question, and of each claim with \
               --certainty.",
        advice: "Read `Certainty`: the range of the answer if a fitted constant is 10 % off or a guess or setting \
                 differs.",
    },
    Entry {
        word: "Drive",
        also: &["1 Drive", "2 Drives", "Test", "1 drive, 4 programs", "2 drives, 4 programs on each", "as VMS"],
        brief: "the number of drives and programs that are busy at once",
        says: "1 Drive: one program on one drive. 2 Drives: one program on each of two drives, rates added. As VMS: no \
               driver sorts the requests.",
        when: "The tables of diskperf paper and of classic1983.",
        advice: "If two drives are hardly faster than one, look at the word below the rate.",
    },
    Entry {
        word: "transactions/sec.",
        also: &["direct", "indirect", "uniform places", "with locality", "rank"],
        brief: "transactions per second: accesses drawn from a mix",
        says: "direct: the four programs of 1983. indirect: small accesses at random places, either uniform or with \
               locality. The number in parentheses is the rank of the controller.",
        when: "diskperf paper vaxmix.",
        advice: "Compare the ranks, not the rates.",
    },
    Entry {
        word: "search lead",
        also: &[
            "OK Search Lead",
            "Inadequate Search Lead",
            "Initial SBI Arbitration",
            "Init SBI Arb.",
            "Improved SBI Arb.",
        ],
        brief: "versions of the SC780 controller in the paper of 1983",
        says: "The search lead is the number of sectors by which a controller is ready before a sector passes. The \
               arbitration decides which device uses the bus of the VAX-11/780 (SBI) next.",
        when: "The column headings of diskperf paper T4 and T5.",
        advice: "Compare the columns: a lead that is too short costs a revolution per block.",
    },
    Entry {
        word: "drive characteristics",
        also: &[
            "Mbytes",
            "Mbytes/sec",
            "RPM",
            "Peak Transfer Rate",
            "Rotational Speed",
            "Data Sectors/Track",
            "Cylinders",
            "Logical Cylinders",
            "Data Heads",
            "Logical Data Heads",
            "Data Capacity",
            "Minimum Seek Time",
            "Average Seek Time",
            "Maximum Seek Time",
        ],
        brief: "data sheet of a drive, as the paper of 1983 prints it",
        says: "Rates in Mbytes/sec, revolutions per minute (RPM), sectors of 512 bytes per track, seek times in ms.",
        when: "diskperf paper D1 and D2.",
        advice: "diskperf simulate MACHINE --parts prints the numbers that the simulation uses.",
    },
];
