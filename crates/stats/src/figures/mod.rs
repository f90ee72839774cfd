//! Figures computed from rounds: rates, CPU shares, percentiles, and the breakdown of time.

pub(crate) mod breakdown;
pub(crate) mod histogram;
pub mod summary;
pub mod time_columns;
