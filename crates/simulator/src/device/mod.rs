//! Devices that serve requests without a computer around them: a law, or the drive of a simulated machine.

mod law;
mod replay;

pub use law::LawDevice;
pub use replay::{Moved, NoLaw, Replay, replay};
