//! Figures computed from rounds: rates, CPU shares, percentiles, and the breakdown of time.

pub(crate) mod breakdown;
pub mod continuous_load;
pub mod execution_times;
pub mod hdr;
pub(crate) mod histogram;
pub mod hosts;
pub mod rate;
pub mod summary;
