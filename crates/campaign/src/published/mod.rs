//! Figures from publications, as cells, which the same code prints and interprets next to measured ones. The figures
//! are as printed, never corrected. An average has no single rounds.

pub mod lfs;
pub mod tlpi;
