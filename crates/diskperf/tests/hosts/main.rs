//! Several hosts: `diskperf-mpi` with Open MPI and MPICH on one computer. `cargo xtask test` builds the bridge.

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../throttle/mod.rs"]
mod throttle;

mod failures;
mod ranks;
mod refusals;
mod runs;
