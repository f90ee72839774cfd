//! Judges results: whether a figure is what its label says, and what limited it.

pub mod bottleneck;
pub mod ceiling;
pub mod floor;
pub mod marks;
pub mod noise;
