//! The program on kernels and stacks that this machine does not have: in guests. `cargo xtask test` tries the
//! guard on the cheapest stacks, some on each kernel. `cargo xtask prove elsewhere-guard` tries all.
//!
//! The thread that boots a guest must live as long as the guest (`testkit::guest`).

mod blank_disks;
mod guard;
mod situations;
mod storages;
