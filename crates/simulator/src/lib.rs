//! Simulated machines that run the same streams of ops as the real kernel.
//!
//! ```text
//!   Machine (World) ── per program ──> Namespace: what an op does to names, sizes and open files
//!        │                                 │ the bytes to move, if any
//!        └── one CPU, one disk <───────────┘ what that costs, in integer nanoseconds
//! ```
//!
//! Never touches the real machine: no clock, no file, no thread. The same streams give the same moments,
//! bit for bit, on every platform.

#![no_std]

extern crate alloc;

pub mod description;
mod disk;
mod machine;
mod namespace;

pub use machine::Machine;
