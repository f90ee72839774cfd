//! Statistical inference: differences of rates, steady states, regimes, outlier rounds, costs per byte, bounds of two
//! drives, knees of sweeps.

pub mod buffer_regression;
pub mod outlier;
pub mod ratio_test;
pub mod regimes;
pub mod sample;
pub mod steady_state;
pub mod sweep;
pub mod two_drive_bounds;
pub mod verdict;
