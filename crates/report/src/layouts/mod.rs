//! The tables of a run: one layout per preset.

pub(crate) mod classic1983;
pub(crate) mod device;
pub mod hosts;
pub(crate) mod lfs;
pub mod lfs_programs;
pub(crate) mod plain;
pub(crate) mod simulated;
pub(crate) mod tlpi;
