//! The system that runs on the processor: what its code costs, told for a VAX-11/780.

use units::Nanos;

use super::Invalid;

/// What 4.2BSD spends on each thing it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// A system call, and the program's loop around it.
    pub call: Nanos,
    /// To copy 1024 bytes between program and kernel.
    pub copy_per_kib: Nanos,
    /// To clear 1024 bytes of a new block.
    pub clear_per_kib: Nanos,
    /// To find a block that is read: map, look up, release.
    pub block_read: Nanos,
    /// To find a block, or a piece of one, that is written.
    pub block_write: Nanos,
    /// To choose a new block and note it.
    pub block_allocate: Nanos,
    /// To put another process on the processor.
    pub context_switch: Nanos,
    /// To go on after a sleep.
    pub wakeup: Nanos,
    /// An interrupt of the clock.
    pub clock_tick: Nanos,
    /// Interrupts of the clock in a second.
    pub clock_hertz: u32,
    /// By how much any of these is longer or shorter by chance, at most, in thousandths.
    pub jitter_permille: u32,
    /// The part of memory that holds buffers, in thousandths.
    pub cache_permille: u32,
}

impl Kernel {
    /// The fewest buffers with which every call can go on: a block, the one after it, an indirect block and
    /// a group's header, for two programs, and none to spare.
    pub const LEAST_BUFFERS: u32 = 8;

    /// A thousand times what any of it takes a VAX: no machine that 4.2BSD ran on was half as slow.
    const LONGEST: Nanos = Nanos::from_secs(1);

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let times = [
            ("kernel.call", self.call),
            ("kernel.copy_per_kib", self.copy_per_kib),
            ("kernel.clear_per_kib", self.clear_per_kib),
            ("kernel.block_read", self.block_read),
            ("kernel.block_write", self.block_write),
            ("kernel.block_allocate", self.block_allocate),
            ("kernel.context_switch", self.context_switch),
            ("kernel.wakeup", self.wakeup),
        ];
        for (field, time) in times {
            Invalid::unless_at_most(field, time, Kernel::LONGEST, "4.2BSD takes a millisecond or so on a VAX")?;
        }
        Invalid::unless_within("kernel.clock_hertz", self.clock_hertz.into(), 1, 10_000, "4.2BSD used 100")?;
        Invalid::unless_within("kernel.jitter_permille", self.jitter_permille.into(), 0, 999, "0 is none")?;
        Invalid::unless_within("kernel.cache_permille", self.cache_permille.into(), 1, 1000, "4.2BSD used 100")?;
        let tick = Nanos(1_000_000_000 / u64::from(self.clock_hertz));
        Invalid::unless_at_most("kernel.clock_tick", self.clock_tick, tick, "shorter than from one tick to the next")
    }
}
