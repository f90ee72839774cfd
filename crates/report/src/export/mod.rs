//! Results in the formats of other tools.

pub mod hdr_log;
pub mod junit;
