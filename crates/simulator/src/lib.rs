//! Simulated machines that run the same streams of ops as the real kernel.
//!
//! ```text
//!   Machine (World) ─┬─ Flat: one CPU, one disk, arithmetic that can be checked by hand
//!                    └─ Computer, made of a description:
//!                         process/ computer/   a system call, state by state
//!                            │          │
//!                         cache/ fs/  cpu/     which buffer, which block, who runs
//!                            │          │
//!                         queue/ controller/   in which order, by which steps
//!                                  │
//!                              bus/ drive/     how fast, and where the heads are
//!                         engine/              one calendar for all; accounts, timeline
//! ```
//!
//! Never touches the real machine: no clock, no file, no thread. The same streams give the same moments,
//! bit for bit, on every platform: time is integer nanoseconds and no float decides anything.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod accounts;
mod breakdown;
mod bus;
mod cache;
mod computer;
mod controller;
mod cpu;
pub mod description;
mod disk;
mod drive;
mod engine;
mod experiment;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(not(feature = "faults"))]
mod faults;
mod flat;
mod fs;
mod machine;
mod namespace;
mod process;
mod queue;
mod timeline;

pub use accounts::{Accounts, AroundReads, ProgramTime};
pub use bus::BusTime;
pub use computer::{Chance, Computer};
pub use cpu::{Cause, CpuSpent};
pub use description::Description;
pub use drive::Activity;
pub use experiment::{Experiment, Outcome, Prepared};
pub use flat::Flat;
pub use machine::Machine;
pub use timeline::{Mark, Track};
