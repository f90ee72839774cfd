//! Judges results: whether a figure is what its label says, what limited it, and its regimes.

pub mod bottleneck;
pub mod ceiling;
pub mod floor;
pub mod marks;
pub mod noise;
pub mod regimes;
