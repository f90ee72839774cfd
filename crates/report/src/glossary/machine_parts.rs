//! The parts of a simulated machine, and where their numbers come from.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cpu",
        also: &["processor"],
        brief: "the processor: how much faster or slower than a VAX-11/780 it runs code",
        says: "It runs one program, or the kernel, at a time. Times of code and of copying are told for a VAX-11/780 and \
               multiplied by what the processor says; it also says how much memory there is.",
        when: "cpu.code, cpu.copy and cpu.memory; a file under machines/cpu.",
        advice: "--set cpu=vax-11-750 tries another; user and system in explain are its time.",
    },
    Entry {
        word: "kernel",
        also: &["4.2bsd"],
        brief: "what a call, a block and a copied byte cost, and how large the cache is",
        says: "The operating system as costs: a call, finding a block to read or write, allocating one, copying and \
               clearing, interrupts of the clock, switching programs; and the part of memory that is the buffer cache.",
        when: "kernel.call, kernel.copy_per_kib, kernel.cache and the like; a file under machines/kernel.",
        advice: "What limits a fast disk on these machines: try --sweep kernel.call=0.1ms,0.4ms,1ms.",
    },
    Entry {
        word: "bus",
        also: &["sbi", "cmi", "unibus"],
        brief: "how fast bytes reach memory, and what that costs the processor",
        says: "Two rates, to memory and from it, and by how much the processor slows down while bytes pass; another \
               device's traffic may take a part.",
        when: "bus.to_memory, bus.from_memory, bus.slow_down; a file under machines/bus.",
        advice: "Where it is slower than the drive, bytes back up in the controller: sweep controller.buffer_sectors.",
    },
    Entry {
        word: "controller",
        also: &["massbus", "uda"],
        brief: "finds sectors, holds those that cannot be delivered yet, interrupts",
        says: "Two kinds: a massbus controller is told of each step by the driver and looks for a sector a few ahead; a \
               uda takes whole requests, several at a time, and orders them itself.",
        when: "controller.search_lead, controller.buffer_sectors, controller.command and the like; a file under \
               machines/controller.",
        advice: "Too small a lead or buffer costs whole turns of the platter: --timeline FILE.svg shows one.",
    },
    Entry {
        word: "drive",
        also: &["disk", "arm", "platter"],
        brief: "turns, reaches cylinders and moves bytes",
        says: "Sectors, heads, cylinders and turns a minute; three times of a seek, to the next cylinder, on average and \
               over all. Where the platter stands at a moment is computed exactly.",
        when: "drive.rpm, drive.sectors_per_track, drive.seek_average and the like; a file under machines/drive.",
        advice: "--set drive=ra81 tries another; device service and device queue in explain are its time.",
    },
    Entry {
        word: "file_system",
        also: &["file system", "8k-1k", "4k-1k"],
        brief: "in which blocks files lie, and how far apart",
        says: "Bytes of a block and of a fragment, the time that is left between two blocks of a file (rotational_delay), \
               and when a file goes on in another group of cylinders.",
        when: "file_system.block, file_system.rotational_delay and the like; a file under machines/file-system.",
        advice: "file_system=4k-1k chooses one of the machine's; a delay that is too short costs a turn for each block.",
    },
    Entry {
        word: "flat",
        also: &["sim:flat"],
        brief: "the machine with one processor, one drive and no cache",
        says: "Simple enough to check every figure by hand: 500 us for a call, 400 ns for a byte copied, 10 ms to reach \
               another place on the disk, 1 us for a byte there; nothing of it at the same time.",
        when: "sim:flat.",
        advice: "Its numbers are invented: no figure of it is one of a real computer.",
    },
    Entry {
        word: "published",
        also: &[],
        brief: "somebody printed this number",
        says: "The number stands in a paper, a manual or source code, which is named beside it.",
        when: "--parts, and source in a machine's file.",
        advice: "Trust it as far as its source.",
    },
    Entry {
        word: "inferred",
        also: &["guess"],
        brief: "this number follows from something, or is a guess",
        says: "Nobody printed it; why it is what it is stands beside it.",
        when: "--parts, and source in a machine's file.",
        advice: "--sweep it to see whether anything depends on it.",
    },
    Entry {
        word: "fitted",
        also: &[],
        brief: "this number was chosen to come near measurements",
        says: "The simulated figures were compared with measured ones, and this number moved until they agreed best.",
        when: "--parts, and source in a machine's file.",
        advice: "What it was fitted to proves nothing about it: judge it by the other figures.",
    },
];
