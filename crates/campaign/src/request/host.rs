//! Properties of this machine that decide how a workload can run.

use std::num::NonZero;
use std::thread::available_parallelism;

use jobs::{Host, Job, JobError, RingLimits, Source};
use units::Bytes;

/// The limits of io_uring, which every workload must keep.
pub const LIMITS: RingLimits =
    RingLimits { depth: kernel::MOST_DEPTH, bytes: Bytes(kernel::MOST_BYTES), needed: kernel::ring_memory };

/// Properties of this machine that decide how a workload can run.
pub fn host() -> Host {
    let processors = available_parallelism().map_or(1, NonZero::get);
    Host { no_ring: kernel::no_ring().map(|why| why.to_string()), processors, limits: LIMITS }
}

/// The workloads of a job file, as this machine can run them.
pub fn read(text: &Source) -> Result<Job, JobError> {
    Job::read(text, &host())
}
