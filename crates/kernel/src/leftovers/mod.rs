//! Leftovers of killed processes: how they are marked and found.

pub(crate) mod notes;
pub mod scan;
pub(crate) mod tag;
