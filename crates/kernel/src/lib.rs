//! The real kernel as a world, and what can be seen of it.
//!
//! ```text
//!   Posix (World) ── per program ──> Process: open files, names, buffers ──> system calls
//!        ├── uring: the same with several reads and writes at once
//!        ├── command: a program of the user's as the load, and all that it starts
//!        ├── reach, quiesce ──> caches: files out of memory or in it, and the proof
//!        ├── laid ──> extents: what lies behind the bytes of files
//!        └── watch ──> counters, workers, devices and the stack of them: on both sides of a measurement
//!   Workspace: the private folder that programs stand in, removed when dropped
//!   left: what processes left behind, told by its tag
//!   guard: what forbids to overwrite a device; Cleared: leave to do it, made nowhere else
//!   Image: a fresh file system on a loop device, gone with the process; Volume: one on a device of somebody's
//!   VolatileImage: one on a device with a write cache, whose power can be cut
//!   tuning: attributes of a device's queue, changed for a while
//!   abilities: what this user can do here and what this kernel shows, tried out
//!   place, storage, machine: what lies under a path, what is behind one, and what machine this is
//!   name: names of any bytes as text, without loss
//!   outlet: files that results are written to, whole or not at all
//!   terminal: how wide the one is that somebody looks at
//!   bounded: how everything is read that others wrote
//! ```
//!
//! The only crate with `unsafe` in it. Never judges, never prints.

pub mod abilities;
mod attribute;
pub mod bounded;
mod caches;
mod clocks;
mod command;
mod content;
mod counters;
mod data;
pub mod devices;
mod elevated;
mod extents;
mod fault;
#[cfg(test)]
mod fuzz;
pub mod guard;
pub mod heat;
mod image;
mod in_turn;
mod incarnation;
mod inherited;
pub mod left;
mod loops;
pub mod machine;
mod mapped;
mod memory;
mod memory_limit;
pub mod name;
mod notes;
mod outlet;
pub mod place;
mod posix;
mod process;
mod program;
mod raw;
#[cfg(test)]
mod recorded;
mod refusal;
mod stack;
mod start;
pub mod storage;
mod tag;
pub mod terminal;
pub mod tuning;
mod uring;
mod volume;
mod workers;
mod workspace;

pub use caches::Means;
pub use clocks::now;
pub use command::{Command, Left, NoCommand};
pub use data::{STAMP_BYTES, STAMP_SPACING, stamp};
pub use elevated::is_elevated;
pub use fault::{Fault, said};
pub use guard::Cleared;
pub use image::{Image, ImageFault, ImageSpec, Lasting, PrivateMounts, VolatileImage, VolumeSpec, may_administer};
pub use incarnation::{Incarnation, NoProcess};
pub use inherited::ignored_signals;
pub use left::{Swept, remove_left};
pub use memory::{check_memory, stack_limit};
pub use memory_limit::{LimitError, MemoryLimit};
pub use notes::hidden_notes;
pub use outlet::{Links, Outlet, OutletFault, stream};
pub use posix::Posix;
pub use program::{Remount, Station};
pub use raw::{CONDITIONING_CALL, NotDiscarded, RawDevice};
pub use uring::{Lack, MOST_BYTES, MOST_DEPTH, NoRing, no_ring, ring_memory};
pub use volume::{LeftVolume, ReplacedVolume, Vacated, Volume, left_volumes, left_volumes_of, replaced_volumes_of};
pub use workspace::Workspace;
