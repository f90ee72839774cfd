//! The real kernel as a world, and what can be seen of it.
//!
//! ```text
//!   sys         clocks, names, payload of files, bounded reading, this process
//!   observe     mounts, block devices and the stack of them, counters, temperatures, kernel threads
//!   page_cache  files out of memory or in it, and the proof; extents of files; waiting for quiet devices
//!   world       Posix (World) ── per program ──> Process: open files, names, buffers ──> system calls
//!                 engine: chosen before the clock begins: sync_engine (one call after the other), uring (several at
//!                 once) or mmap_engine; command: a program of yours
//!   guard       what forbids to overwrite a device; Cleared: leave to do it, made nowhere else
//!   provision   private folders, images, volumes, raw devices, power cuts, queue settings, memory limits
//!   leftovers   what processes left behind, told by its tag; notes of what to undo
//!   errors      why the world failed; errno: why one operation did
//!   path_fault  why a path that you named cannot be used
//!   doctor      what this user can do here and what this kernel shows, tried out
//!   outlet      files that results are written to, whole or not at all
//! ```
//!
//! The only crate with `unsafe` in it. Never judges, never prints.

pub mod doctor;
mod errno;
mod errors;
#[cfg(test)]
mod fuzz;
pub mod guard;
pub mod leftovers;
pub mod observe;
mod outlet;
mod page_cache;
mod path_fault;
pub mod provision;
#[cfg(test)]
mod recorded;
pub mod sys;
mod world;

pub use errors::{Fault, as_root, hint_of, lacks_rights, said};
pub use guard::Cleared;
pub use leftovers::notes::hidden_notes;
pub use leftovers::scan::{Swept, remove_left};
pub use observe::memory::{check_memory, stack_limit};
pub use outlet::{Links, Outlet, OutletFault, stream};
pub use page_cache::Means;
pub use path_fault::PathFault;
pub use provision::image::{Image, ImageSpec};
pub use provision::image_fault::ImageFault;
pub use provision::memory_limit::{LimitError, MemoryLimit};
pub use provision::mounted_fs::VolumeSpec;
pub use provision::mounts::PrivateMounts;
pub use provision::power_cut_disk::{Lasting, VolatileImage};
pub use provision::raw_device::{CONDITIONING_CALL, NotDiscarded, RawDevice};
pub use provision::volume::{
    LeftVolume, ReplacedVolume, Vacated, Volume, left_volumes, left_volumes_of, replaced_volumes_of,
};
pub use provision::workspace::Workspace;
pub use sys::clocks::now;
pub use sys::payload::{STAMP_BYTES, STAMP_SPACING, stamp};
pub use sys::process_identity::{Incarnation, NoProcess};
pub use sys::rights::may_administer;
pub use sys::setuid::is_elevated;
pub use sys::signal_dispositions::ignored_signals;
pub use world::command::{Command, Left};
pub use world::no_command::NoCommand;
pub use world::posix::Posix;
pub use world::program::{Remount, Station};
pub use world::uring::{Lack, MOST_BYTES, MOST_DEPTH, NoRing, no_ring, ring_memory};
