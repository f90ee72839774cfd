//! The results of a run: documents, cells, rounds, and the latencies of single operations.

pub mod bottleneck;
pub mod cell;
pub mod checkup;
pub mod clock;
pub mod document;
pub mod heat_map;
pub mod latency;
pub mod of_limit;
pub mod operation;
pub mod proof;
pub mod rate_interval;
pub mod regime;
pub mod remark;
pub mod round;
pub mod verification;
