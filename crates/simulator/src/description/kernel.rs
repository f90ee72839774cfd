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

    pub(super) fn check(&self) -> Result<(), Invalid> {
        Invalid::unless_within("kernel.clock_hertz", self.clock_hertz.into(), 1, 10_000, "4.2BSD used 100")?;
        Invalid::unless_within("kernel.jitter_permille", self.jitter_permille.into(), 0, 999, "0 is none")?;
        Invalid::unless_within("kernel.cache_permille", self.cache_permille.into(), 1, 1000, "4.2BSD used 100")?;
        if self.clock_tick.0.saturating_mul(u64::from(self.clock_hertz)) >= 100_000_000 {
            return Err(Invalid::new(
                "kernel.clock_tick",
                "takes a tenth of the processor or more",
                "a clock is cheap",
            ));
        }
        Ok(())
    }
}
