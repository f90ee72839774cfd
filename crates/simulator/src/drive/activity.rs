//! Activities of a drive. At every moment a drive has exactly one, so its times add up.

use units::Nanos;

/// Times by activity, in the order of [`Activity::ALL`].
pub(crate) type Times = [Nanos; Activity::COUNT];

/// Begins to add the times of an account to a sum, by subtracting the times until now. `stop_counting` adds the times
/// until then. In between, the sum is meaningless and may wrap below zero. So no copy of the account is needed.
#[inline]
pub(crate) fn start_counting(sum: &mut Times, account: &Times) {
    sum.iter_mut().zip(account).for_each(|(sum, time)| sum.0 = sum.0.wrapping_sub(time.0));
}

/// Completes the sum with the times of the account since `start_counting`.
#[inline]
pub(crate) fn stop_counting(sum: &mut Times, account: &Times) {
    sum.iter_mut().zip(account).for_each(|(sum, time)| sum.0 = sum.0.wrapping_add(time.0));
}

/// An activity of a drive, or what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    /// No request.
    Idle,
    /// Waiting for the processor: an interrupt is pending or being served.
    Host,
    /// Waiting for the controller to start or to finish a command.
    Controller,
    /// Waiting for a data path or a bus that is busy with another drive.
    Path,
    /// Seek: the arm moves.
    Seek,
    /// Rotational delay: the platter turns until the sector comes.
    Rotation,
    /// Data transfer.
    Transfer,
    /// A sector was missed during a transfer: the platter turns until it comes again.
    LostTurn,
}

impl Activity {
    /// Number of activities.
    pub const COUNT: usize = Activity::LostTurn as usize + 1;

    /// All activities, in declaration order.
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

    /// The name in reports: `rotation`.
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
