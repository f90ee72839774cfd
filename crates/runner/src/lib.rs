//! Runs one workload once, in any world, and measures the cost of measuring. Prints nothing.
//!
//! ```text
//!   execution ── per program ──> recorder (counts and times operations) ──> PhaseResult
//!                     └── per interval ──> live (read by another thread)
//!   overhead: the cost of measuring, by the same path
//! ```
//!
//! The recorder's `record` is in the measured loop: generic and always inlined, whichever crate drives the world.

pub mod ceiling;
pub mod execution;
mod gaps;
mod group;
pub mod live;
mod load_recorder;
mod memory_copy;
pub mod overhead;
pub mod peers;
pub mod recorder;
mod results;
mod streams;
