//! Simulated machines that run the same streams of operations as the real kernel.
//!
//! ```text
//!   Machine (World) ─┬─ Flat: one CPU, one disk, arithmetic that can be checked by hand
//!                    └─ Computer, built from a description:
//!                         computer/ tasks/     performs the steps of system calls; the update daemon
//!                            │       │
//!                         fs/ cache/ cpu/      steps and block placement, buffer cache, scheduling
//!                            │          │
//!                         queue/ controller/   order of requests, steps of a request
//!                                  │
//!                              bus/ drive/     transfer rate, position of the heads
//!                         engine/              one calendar for all; accounts, timeline
//!
//!   device/: devices without programs: laws, the replay of block traces, and the raw drive of a machine
//! ```
//!
//! The crate never touches the real machine: no clock, no file, no thread. The same streams give the same moments, bit
//! for bit, on every platform: time is integer nanoseconds, and no result depends on floating point.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod block;
mod bus;
mod cache;
mod computer;
mod controller;
mod cpu;
pub mod description;
mod device;
mod drive;
mod engine;
mod experiment;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(not(feature = "faults"))]
mod faults;
mod flat_disk;
mod flat_machine;
mod fs;
mod machine;
mod namespace;
mod process;
mod queue;
mod tasks;
mod time_accounts;
mod time_breakdown;
mod timeline;

pub use bus::BusTime;
pub use computer::{Chance, Computer};
pub use cpu::{Cause, CpuSpent};
pub use description::Description;
pub use device::{LawDevice, Moved, NoLaw, RawDrive, Replay, replay};
pub use drive::Activity;
pub use experiment::{Experiment, Outcome, Prepared};
pub use flat_machine::Flat;
pub use machine::Machine;
pub use time_accounts::{Accounts, AroundReads, ProgramTime};
pub use timeline::{Mark, Track};
