//! Runs workloads on the real kernel (the `World` trait), and observes the machine.
//!
//! ```text
//!   sys         clocks, file names, payload of writes, bounded reading, this process
//!   observe     mounts, block devices and their stacks, counters, temperatures, kernel threads
//!   page_cache  puts files into memory or out of it, and proves it; extents of files; waits for quiet devices
//!   world       Posix (World) ── per program ──> Process: open files, names, buffers ──> system calls
//!                 engine, chosen before the clock starts: sync_engine (one call at a time), uring (several in
//!                 flight) or mmap_engine; command: your own program
//!   guard       reasons not to overwrite a device; Cleared: permission to do it, made nowhere else
//!   provision   private folders, images, volumes, raw devices, power cuts, queue settings, memory limits
//!   leftovers   files and folders that killed processes left, found by their tag; notes of changes to undo
//!   errors      why the world failed; errno: why one operation failed
//!   path_fault  why a path that you named cannot be used
//!   doctor      probes: what this user can do here, and what this kernel shows
//!   output_file files that results are written to, whole or not at all, at once or in steps
//! ```
//!
//! This is the only crate with `unsafe`. It never judges a result and never prints.

pub mod doctor;
mod errno;
mod errors;
#[cfg(test)]
mod fuzz;
pub mod guard;
pub mod leftovers;
pub mod observe;
mod output_file;
mod page_cache;
mod path_fault;
pub mod provision;
#[cfg(test)]
mod recorded_machine;
pub mod sys;
mod world;

pub use errors::{Fault, as_root, hint_of, lacks_rights, message};
pub use guard::Cleared;
pub use leftovers::notes::hidden_notes;
pub use leftovers::scan::{Swept, remove_left};
pub use observe::memory::{check_memory, free_on, stack_limit};
pub use observe::tracefs::remove_left_instances;
pub use output_file::{Links, OutputFile, OutputFileFault, OutputSteps, Wait, stream};
pub use page_cache::{EvictionMethods, never_written};
pub use path_fault::PathFault;
pub use provision::image::{Image, ImageSpec};
pub use provision::image_fault::ImageFault;
pub use provision::memory_limit::{LimitError, MemoryLimit};
pub use provision::mkfs::file_systems;
pub use provision::mounted_fs::VolumeSpec;
pub use provision::mounts::PrivateMounts;
pub use provision::power_cut_disk::{Surviving, VolatileImage};
pub use provision::raw_device::{CONDITIONING_CALL, NotDiscarded, RawDevice};
pub use provision::volume::{
    LeftoverVolume, ReplacedVolume, Vacated, Volume, left_volumes, left_volumes_of, replaced_volumes_of,
};
pub use provision::workspace::Workspace;
pub use sys::clocks::now;
pub use sys::inherited_pipe::{PEERS_VARIABLE, inherited_pipe};
pub use sys::payload::{STAMP_BYTES, STAMP_SPACING, stamp};
pub use sys::process_identity::{NoProcess, ProcessIdentity};
pub use sys::rights::may_administer;
pub use sys::setuid::is_elevated;
pub use sys::signal_dispositions::ignored_signals;
pub use world::command::{Command, Leftovers};
pub use world::no_command::NoCommand;
pub use world::posix::Posix;
pub use world::program::{Remount, Station};
pub use world::tape::{TapeFault, TapeFile, cpu_wait};
pub use world::uring::{Degradation, MOST_BYTES, MOST_DEPTH, NoRing, no_ring, ring_memory};
