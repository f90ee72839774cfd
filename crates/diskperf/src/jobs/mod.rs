//! Job files: loads written down, to be run as they are, taken from fio and given to it.
//!
//! ```text
//!   JOB.toml ── text ──> job (keys are the options of `diskperf io`) ──> rows of a plan
//!   JOB.fio ── fio/sections ──> fio/import ──> JOB.toml
//!   JOB.toml ──> fio/export ──> JOB.fio
//! ```

mod fault;
pub mod fio;
mod job;
mod text;

pub use fault::JobFault;
#[cfg(test)]
pub use job::schema;
pub use job::{Job, open, open_own};
pub use text::{Spot, Text};
