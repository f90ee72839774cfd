//! The parts of a simulated machine, and the sources of their numbers.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "cpu",
        also: &["processor"],
        brief: "the processor: its speed relative to a VAX-11/780, and the memory",
        says: "It runs one program, or the kernel, at a time. Times of code and of copies are those of a VAX-11/780, \
               multiplied by factors of the processor. It also sets the size of the memory.",
        when: "cpu.code, cpu.copy and cpu.memory; a file in machines/cpu.",
        advice: "--set cpu=vax-11-750 uses another one. Its time is user and system in explain.",
    },
    Entry {
        word: "kernel",
        also: &["4.2bsd"],
        brief: "the costs of the operating system, and the size of its cache",
        says: "Costs of a call, of finding and allocating a block, of copying and clearing, of clock interrupts and of \
               context switches; and the part of memory that is the buffer cache.",
        when: "kernel.call, kernel.copy_per_kib, kernel.cache and others; a file in machines/kernel.",
        advice: "It limits a fast disk on these machines: try --sweep kernel.call=0.1ms,0.4ms,1ms.",
    },
    Entry {
        word: "bus",
        also: &["sbi", "cmi", "unibus"],
        brief: "the bus: its rates to and from memory, and its load on the processor",
        says: "Two rates, to memory and from memory, and how much the processor slows down during a transfer. Traffic \
               of other devices may take a part.",
        when: "bus.to_memory, bus.from_memory, bus.slow_down; a file in machines/bus.",
        advice: "If it is slower than the drive, bytes wait in the controller: sweep controller.buffer_sectors.",
    },
    Entry {
        word: "controller",
        also: &["massbus", "uda"],
        brief: "the controller: finds sectors, buffers them, interrupts",
        says: "Two kinds. A massbus controller gets each step from the driver, and starts its search a few sectors \
               ahead. A uda takes whole requests, several at a time, and orders them itself.",
        when: "controller.search_lead, controller.buffer_sectors, controller.command and others; a file in \
               machines/controller.",
        advice: "If the lead or the buffer is too small, the drive loses revolutions: --timeline FILE.svg shows one.",
    },
    Entry {
        word: "drive",
        also: &["disk", "arm", "platter"],
        brief: "the drive: rotation, seeks and transfer",
        says: "Sectors, heads, cylinders, revolutions per minute, and three seek times: to the next cylinder, average, \
               full. The rotational position is computed exactly.",
        when: "drive.rpm, drive.sectors_per_track, drive.seek_average and others; a file in machines/drive.",
        advice: "--set drive=ra81 uses another one. Its time is device service and device queue in explain.",
    },
    Entry {
        word: "file_system",
        also: &["file system", "8k-1k", "4k-1k"],
        brief: "the file system: block size and placement of files",
        says: "Bytes of a block and of a fragment, and the gap between two blocks of a file (rotational_delay). After \
               some length, a file continues in another cylinder group.",
        when: "file_system.block, file_system.rotational_delay and others; a file in machines/file-system.",
        advice: "file_system=4k-1k chooses one of the machine's. If the gap is too short, each block costs a \
                 revolution.",
    },
    Entry {
        word: "flat",
        also: &["sim:flat"],
        brief: "the simplest machine: one processor, one drive, no cache",
        says: "Simple enough to check each figure by hand: 500 us for a call, 400 ns to copy a byte, 10 ms to reach \
               another place on the disk, 1 us for a byte there. Nothing overlaps.",
        when: "sim:flat.",
        advice: "Its numbers are invented: no figure is that of a real computer.",
    },
    Entry {
        word: "published",
        also: &[],
        brief: "a number from a publication",
        says: "The number is printed in a paper, a manual or source code, which is named next to it.",
        when: "--parts, and source in a machine's file.",
        advice: "It is as reliable as its source.",
    },
    Entry {
        word: "inferred",
        also: &["guess"],
        brief: "a number that follows from others, or a guess",
        says: "No source has the number. The reason for it is next to it.",
        when: "--parts, and source in a machine's file.",
        advice: "--sweep it to see whether a result depends on it.",
    },
    Entry {
        word: "fitted",
        also: &[],
        brief: "a number that was fitted to measurements",
        says: "The number was varied until the simulated figures were closest to measured ones.",
        when: "--parts, and source in a machine's file.",
        advice: "The measurements it was fitted to are no test of it; other figures are.",
    },
];
