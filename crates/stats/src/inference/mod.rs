//! Statistical inference: differences of rates, steady states, change points, costs per byte, bounds of two drives.

pub mod bounds;
pub mod change_point;
pub mod fit;
pub mod ratio_test;
pub mod steady;
pub mod verdict;
