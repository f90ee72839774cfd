//! The operating system: processor time of its code, on a VAX-11/780.

use units::Nanos;

use super::Invalid;

/// Processor time that 4.2BSD needs for each action, and parameters of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// A system call, and the program's loop around it.
    pub call: Nanos,
    /// Copying 1024 bytes between program and kernel.
    pub copy_per_kib: Nanos,
    /// Clearing 1024 bytes of a new block.
    pub clear_per_kib: Nanos,
    /// Finding a block to read: map, look up, release.
    pub block_read: Nanos,
    /// Finding a block, or a part of one, to write.
    pub block_write: Nanos,
    /// Allocating a new block and recording it.
    pub block_allocate: Nanos,
    /// Translating one component of a path name, apart from the search of its directory.
    pub name_component: Nanos,
    /// Comparing one entry of a directory that is searched.
    pub name_entry: Nanos,
    /// Allocating an inode.
    pub inode_allocate: Nanos,
    /// Copying a changed inode into its block.
    pub inode_update: Nanos,
    /// Freeing a block, a part of one, or an inode.
    pub block_free: Nanos,
    /// Time between two wakeups of the update daemon; zero if there is none.
    pub update: Nanos,
    /// A context switch.
    pub context_switch: Nanos,
    /// Resuming after a sleep.
    pub wakeup: Nanos,
    /// A clock interrupt.
    pub clock_tick: Nanos,
    /// Length of the critical section at the end of a piece of kernel code: interrupts of controllers wait for its end.
    pub critical_section: Nanos,
    /// Clock interrupts per second.
    pub clock_hertz: u32,
    /// Maximum random deviation of any of these times, up or down, in thousandths.
    pub jitter_permille: u32,
    /// Share of memory used for the buffer cache, in thousandths.
    pub cache_permille: u32,
}

impl Kernel {
    /// The minimum number of buffers with which every call can proceed. Each of two programs needs a block, the next
    /// block, an indirect block and a group header.
    pub const LEAST_BUFFERS: u32 = 8;

    /// Limit of each time: a thousand times what a VAX takes. No machine that ran 4.2BSD was half as slow.
    const LONGEST: Nanos = Nanos::from_secs(1);

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let times = [
            ("kernel.call", self.call),
            ("kernel.copy_per_kib", self.copy_per_kib),
            ("kernel.clear_per_kib", self.clear_per_kib),
            ("kernel.block_read", self.block_read),
            ("kernel.block_write", self.block_write),
            ("kernel.block_allocate", self.block_allocate),
            ("kernel.name_component", self.name_component),
            ("kernel.name_entry", self.name_entry),
            ("kernel.inode_allocate", self.inode_allocate),
            ("kernel.inode_update", self.inode_update),
            ("kernel.block_free", self.block_free),
            ("kernel.context_switch", self.context_switch),
            ("kernel.wakeup", self.wakeup),
            ("kernel.critical_section", self.critical_section),
        ];
        for (field, time) in times {
            Invalid::unless_at_most(field, time, Kernel::LONGEST, "4.2BSD takes a millisecond or so on a VAX")?;
        }
        if self.update > Nanos::ZERO && self.update < Kernel::LONGEST {
            let what = alloc::format!("{} leaves no time for programs", self.update);
            return Err(Invalid::new("kernel.update", what, "4.2BSD used 30 s; 0 s means no update daemon"));
        }
        Invalid::unless_at_most("kernel.update", self.update, Nanos::from_secs(86_400), "4.2BSD used 30 s")?;
        Invalid::unless_within("kernel.clock_hertz", self.clock_hertz.into(), 1, 10_000, "4.2BSD used 100")?;
        Invalid::unless_within("kernel.jitter_permille", self.jitter_permille.into(), 0, 999, "0 means no jitter")?;
        Invalid::unless_within("kernel.cache_permille", self.cache_permille.into(), 1, 1000, "4.2BSD used a tenth")?;
        let tick = Nanos(1_000_000_000 / u64::from(self.clock_hertz));
        Invalid::unless_at_most("kernel.clock_tick", self.clock_tick, tick, "use less than the time between ticks")
    }
}
