//! Causes of processor time. At every moment the processor has exactly one cause or is idle, so the times add up.

/// A cause of processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// System call entry and return, and the program's loop around the call.
    Call,
    /// Finding blocks to read.
    BlockRead,
    /// Finding blocks to write.
    BlockWrite,
    /// Allocating new blocks.
    Allocate,
    /// Clearing new blocks.
    Clear,
    /// Searching directories, updating inodes and freeing blocks.
    Names,
    /// Copying data between program and kernel.
    Copy,
    /// Passing requests to the driver.
    Start,
    /// Context switches, and resuming after a sleep.
    Switch,
    /// Controller interrupts.
    Interrupt,
    /// Clock interrupts.
    Clock,
    /// Waiting for memory while a transfer uses it.
    Slowed,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = Cause::Slowed as usize + 1;

    /// All causes, in declaration order.
    pub const ALL: [Cause; Cause::COUNT] = [
        Cause::Call,
        Cause::BlockRead,
        Cause::BlockWrite,
        Cause::Allocate,
        Cause::Clear,
        Cause::Names,
        Cause::Copy,
        Cause::Start,
        Cause::Switch,
        Cause::Interrupt,
        Cause::Clock,
        Cause::Slowed,
    ];

    /// The name in reports: `block read`.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Call => "call",
            Cause::BlockRead => "block read",
            Cause::BlockWrite => "block write",
            Cause::Allocate => "allocate",
            Cause::Clear => "clear",
            Cause::Names => "names",
            Cause::Copy => "copy",
            Cause::Start => "start",
            Cause::Switch => "switch",
            Cause::Interrupt => "interrupt",
            Cause::Clock => "clock",
            Cause::Slowed => "slowed",
        }
    }

    /// True if 4.2BSD does some of this work at raised processor priority. A context switch does, too.
    pub(crate) const fn has_critical_section(self) -> bool {
        matches!(self, Cause::BlockRead | Cause::BlockWrite | Cause::Allocate | Cause::Start)
    }

    /// True if memory, rather than the processor, limits the speed.
    pub(crate) const fn moves_memory(self) -> bool {
        matches!(self, Cause::Clear | Cause::Copy)
    }
}
