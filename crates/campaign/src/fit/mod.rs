//! Sizes that fit into a time and a number of bytes.

pub mod announcement;
pub mod choice;
pub mod cost;
pub mod duration;
pub mod fitting;
pub mod size_trials;
pub mod sizes;
pub mod thinning;
pub mod unit_costs;
