//! Job files: loads written down, to be run as they are.
//!
//! ```text
//!   JOB.toml ── text ──> job (keys are the options of `diskperf io`) ──> rows of a plan
//! ```

mod fault;
mod job;
mod text;

pub use fault::JobFault;
pub use job::{Job, open, schema};
pub use text::{Spot, Text};
