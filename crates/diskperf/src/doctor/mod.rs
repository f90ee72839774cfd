//! The checks of `diskperf doctor`, and the Linux versions that they name.

pub mod checks;
pub mod kernel_versions;
