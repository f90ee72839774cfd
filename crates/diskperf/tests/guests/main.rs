//! The static program on kernels and stacks that this machine does not have: in guests. `cargo xtask test` runs the
//! guard once on each kernel, with half of the stacks on each. `cargo xtask prove elsewhere` runs everything.
//!
//! The thread that boots a guest must live as long as the guest (`testkit::guest`).

mod guard;
mod power;
mod situations;

/// The environment variable with which `cargo xtask prove elsewhere` asks for everything.
const EVERYTHING: &str = "DISKPERF_ELSEWHERE";
