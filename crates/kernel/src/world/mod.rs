//! Runs programs on the kernel: their files and system calls, and the measured loops.

pub(crate) mod barrier;
pub(crate) mod command;
pub(crate) mod engine;
pub(crate) mod mmap_engine;
pub(crate) mod no_command;
pub(crate) mod posix;
pub(crate) mod process;
mod process_tree;
pub(crate) mod program;
pub(crate) mod sync_engine;
pub(crate) mod tape;
pub(crate) mod uring;
pub(crate) mod verify_payload;
