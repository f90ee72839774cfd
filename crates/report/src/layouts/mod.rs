//! The tables of a run: one layout per preset.

pub(crate) mod book;
pub(crate) mod device;
pub mod lab;
pub(crate) mod lfs;
pub(crate) mod paper;
pub(crate) mod rows;
pub(crate) mod simulated;
