//! Workloads as text: the options of `diskperf io`, job files, fio jobs and block traces. This crate opens no file and
//! prints nothing. It gets texts, and returns loads, other texts, and errors with their place.
//!
//! ```text
//!   options ────────────────────────────────> load_spec ── resolved_load ──> Load (workload)
//!   ranges ── load_sweep ──> several load_spec
//!   JOB.toml ── source_span ──> job_file ──────┘   │
//!       ^                          │               └── job_file_writer ──> JOB.toml
//!       │                          └──> fio/export ──> JOB.fio
//!       └── fio/import <── fio/sections <── JOB.fio
//!   blkparse ── blktrace/parse ──> blktrace/derive ──> Mix (workload)
//!                      └───────────────────────────┐
//!   blkparse, MSR's CSV, ftrace ──> events ── block_trace/requests ──> BlockTrace (workload)
//! ```

pub mod blktrace;
pub mod block_trace;
mod error;
pub mod fio;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod group_tests;
mod groups;
mod job_file;
mod job_file_writer;
mod load_spec;
mod load_sweep;
mod load_words;
mod queue_depth;
mod resolved_load;
mod schema;
mod source_span;

pub use error::{JobError, LoadError};
pub use groups::NamedLoad;
pub use job_file::{Job, LARGEST};
pub use load_spec::{LoadSpec, MOST_ROUNDS, ROUNDS, SEED, SIZE};
pub use load_sweep::{Axis, LoadSweep, MOST_POINTS, PointLoad, SweptKey};
pub use load_words::{PatternName, Rate, Time};
pub use queue_depth::{Host, RingLimits};
pub use schema::schema;
pub use source_span::{Source, SourceSpan};
