//! The order, the sizes and the timing of accesses to a file.

pub(crate) mod feistel;
pub(crate) mod mix;
pub(crate) mod order;
pub(crate) mod pacing;
pub(crate) mod pattern;
pub(crate) mod schedule;
pub(crate) mod sizes;
pub(crate) mod zipf;
