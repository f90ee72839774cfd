//! What a processor can be busy with. At every moment it is one of these or idle, so that its time adds up.

/// What the processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// System calls as such, and the program's loop around them.
    Call,
    /// To find blocks that are read.
    BlockRead,
    /// To find blocks that are written.
    BlockWrite,
    /// To choose new blocks.
    Allocate,
    /// To clear new blocks.
    Clear,
    /// To copy between program and kernel.
    Copy,
    /// To hand requests to the driver.
    Start,
    /// To put another process on the processor, and to go on after a sleep.
    Switch,
    /// Interrupts of the controller.
    Interrupt,
    /// Interrupts of the clock.
    Clock,
    /// Nothing of its own: it waits for memory while a transfer uses it.
    Slowed,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = Cause::Slowed as usize + 1;

    /// All, in the order of their numbers.
    pub const ALL: [Cause; Cause::COUNT] = [
        Cause::Call,
        Cause::BlockRead,
        Cause::BlockWrite,
        Cause::Allocate,
        Cause::Clear,
        Cause::Copy,
        Cause::Start,
        Cause::Switch,
        Cause::Interrupt,
        Cause::Clock,
        Cause::Slowed,
    ];

    /// `block read`
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Call => "call",
            Cause::BlockRead => "block read",
            Cause::BlockWrite => "block write",
            Cause::Allocate => "allocate",
            Cause::Clear => "clear",
            Cause::Copy => "copy",
            Cause::Start => "start",
            Cause::Switch => "switch",
            Cause::Interrupt => "interrupt",
            Cause::Clock => "clock",
            Cause::Slowed => "slowed",
        }
    }

    /// Whether memory limits it rather than the processor.
    pub(crate) const fn moves_memory(self) -> bool {
        matches!(self, Cause::Clear | Cause::Copy)
    }
}
