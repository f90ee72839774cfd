//! How figures are computed: rates, CPU shares, percentiles, and where time went.

pub(crate) mod breakdown;
pub mod execution;
pub(crate) mod histogram;
pub mod summary;
