//! Sizes that fit into a time and a number of bytes.

pub mod budget;
pub mod duration;
pub mod forecast;
pub mod sized;
pub mod sizing;
pub mod trials;
