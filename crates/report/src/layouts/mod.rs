//! The tables of a run: one layout per preset. `probe` has the table of a device's constants.

pub(crate) mod classic1983;
pub(crate) mod device;
pub(crate) mod lfs;
pub mod lfs_programs;
pub(crate) mod plain;
pub mod probe;
pub(crate) mod simulated;
pub(crate) mod tlpi;
