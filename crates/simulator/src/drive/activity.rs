//! What a drive can be doing. At every moment it is one of these, so that its time adds up.

/// What a drive is doing, or what keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    /// Nothing was asked of it.
    Idle,
    /// It waits for the processor: an interrupt that is pending or being served.
    Host,
    /// It waits for the controller to take up a command, or to have done with one.
    Controller,
    /// It waits for a data path or a bus that is busy with another.
    Path,
    /// The arm moves.
    Seek,
    /// The platter turns until the sector comes.
    Rotation,
    /// Data move.
    Transfer,
    /// A sector was missed during a transfer: the platter turns until it comes again.
    LostTurn,
}

impl Activity {
    /// How many there are.
    pub const COUNT: usize = Activity::LostTurn as usize + 1;

    /// All, in the order of their numbers.
    pub const ALL: [Activity; Activity::COUNT] = [
        Activity::Idle,
        Activity::Host,
        Activity::Controller,
        Activity::Path,
        Activity::Seek,
        Activity::Rotation,
        Activity::Transfer,
        Activity::LostTurn,
    ];

    /// `rotation`
    pub const fn name(self) -> &'static str {
        match self {
            Activity::Idle => "idle",
            Activity::Host => "host",
            Activity::Controller => "controller",
            Activity::Path => "path",
            Activity::Seek => "seek",
            Activity::Rotation => "rotation",
            Activity::Transfer => "transfer",
            Activity::LostTurn => "lost turn",
        }
    }
}
