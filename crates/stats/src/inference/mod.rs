//! What figures say: differences, steady states, changes of level, costs per byte, and bounds of two drives.

pub mod bounds;
pub mod comparison;
pub mod fit;
pub mod level;
pub mod steady;
