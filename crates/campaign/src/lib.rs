//! Running what was planned, in any world. Prints nothing.
//!
//! ```text
//!   runner ── per program ──> recorder (counts and times operations) ──> PhaseRun
//!   overhead: what measuring costs, by the runner's own path
//! ```
//!
//! The recorder's `record` is in the measured loop: generic and always inlined, whichever crate drives the world.

pub mod overhead;
pub mod recorder;
pub mod runner;
