//! Sizes that fit into a time and a number of bytes.

pub mod cost;
pub mod duration;
pub mod fitting;
pub mod forecast;
pub mod size_trials;
pub mod sizes;
pub mod unit_costs;
