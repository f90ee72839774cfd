//! Devices that serve requests without a computer around them: a law, or the drive of a simulated machine.

mod law;
mod raw_drive;
mod replay;

pub use law::LawDevice;
pub use raw_drive::RawDrive;
pub use replay::{Moved, NoLaw, Replay, replay};
