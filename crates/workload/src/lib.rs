//! Workloads as plain data: the operations that a program asks of a file system, and the traits that a world implements
//! to run it.
//!
//! ```text
//!   Program ── phases ── Stream ── yields ──> Step ── an Op, a pause, an intended start
//!                                              │
//!                        World::run  <── pulls ┘     reports every op to a Recorder
//! ```
//!
//! This crate knows no clock, no device and no world. `kernel` and `simulator` both depend on it, and do not know each
//! other.

#![no_std]

extern crate alloc;

mod access;
mod block_trace;
mod cache_padded;
mod cache_state;
mod ceiling;
mod counters;
mod failure;
mod file_churn;
mod first_reads;
mod group;
mod op;
mod program;
pub mod programs;
mod recorder;
mod step;
mod stream;
mod stream_body;
mod tape;
mod time_breakdown;
mod world;

pub use access::mix::{BadMix, LARGEST_ACCESS, Mix};
pub use access::order::{Drawing, Locality, NEAR, Order, STEEPEST, Thousandths, WHOLE};
pub use access::pattern::{AccessPattern, Accesses};
pub use access::schedule::{Arrivals, FASTEST, LONGEST_SCHEDULE, Pace, Rates};
pub use access::sizes::{MOST_SIZES, Sizes};
pub use block_trace::{BlockTrace, TracedRequest};
pub use cache_padded::CachePadded;
pub use cache_state::{Allocation, Cache, CacheState, Quiescence, Residency, Unproven};
pub use ceiling::{Ceiling, Done, LARGE_CALL, LARGE_DEPTH, ceiling};
pub use counters::{
    Accounts, Counters, DeviceBytes, DeviceUse, Dirtiness, IoKind, IoLimit, Journal, Layer, MemoryEvents, Pressure,
    Quota, Server, Traffic, WriteCache,
};
pub use failure::{Failure, Reason, TARGET_GONE};
pub use file_churn::{Aging, FileChurn};
pub use first_reads::first_reads;
pub use op::{Access, Directory, Durability, HANDLES, Handle, Mode, Name, Op, OpKind, PositionedIo};
pub use program::{Member, Parameter, ParameterValue, Phase, Program, RateBase, Unit};
pub use recorder::{Recorder, Tally};
pub use step::{Issue, Overlap, Step, Steps};
pub use stream::Stream;
pub use stream_body::{Body, FileOrder, Layout};
pub use tape::{Served, Tape, TapeKind, TapePlayer, TapeRequest};
pub use time_breakdown::{ProgramTime, ResourceTime, TimeBreakdown};
pub use world::{CpuTime, FolderForOthers, MachineSettings, Span, TreeCounts, World};
