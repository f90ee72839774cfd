//! Sizes that fit into a time and a number of bytes.

pub mod announcement;
pub mod cost;
pub mod duration_words;
pub mod floor_sizes;
pub mod limits;
pub mod omission;
pub mod size_choice;
pub mod size_trials;
pub mod sizes;
pub mod time_budget;
pub mod unit_costs;
