//! What programs ask of a file system, as plain data, and the seam to the worlds that run it.
//!
//! ```text
//!   Program ── phases ── Stream ── yields ──> Step ── an Op, a pause, an intended start
//!                                              │
//!                        World::run  <── pulls ┘     reports every op to a Recorder
//! ```
//!
//! No clock and no device is known here, and no world: `kernel` and `simulator` both depend on this crate
//! and have never heard of each other.

#![no_std]

extern crate alloc;

mod apart;
mod between;
mod body;
mod breakdown;
mod cache;
mod churning;
mod first_reads;
mod mixing;
mod op;
mod pace;
mod program;
pub mod programs;
mod recorder;
mod scatter;
mod stream;
mod varied;
mod witness;
mod world;
mod zipf;

pub use apart::Apart;
pub use body::{Body, Layout, Order, Places, Placing};
pub use breakdown::{Breakdown, ProgramTime, ResourceTime};
pub use cache::{Cache, CacheState, Calm, Laid, Residency, Unproven};
pub use churning::{Aging, Churning};
pub use first_reads::first_reads;
pub use mixing::{BadMix, LARGEST_ACCESS, Locality, MOST_MIXED, Mix, Mixing, NEAR, WHOLE};
pub use op::{Access, Directory, Durability, Failure, HANDLES, Handle, Mode, Name, Op, OpKind, Place, Reason};
pub use pace::{Arrivals, FASTEST, LONGEST_SCHEDULE, Pace};
pub use program::{Base, Parameter, Phase, Program, Setting, Unit};
pub use recorder::{Recorder, Tally};
pub use stream::{Issue, Overlap, Step, Steps, Stream};
pub use varied::{Drawing, MOST_SIZES, Sizes, Thousandths, Varied};
pub use witness::{
    Accounts, DeviceBytes, DeviceUse, Dirtiness, IoLimits, Layer, MemoryEvents, Pressure, Quota, Witness, WriteCache,
};
pub use world::{Census, CpuTime, Span, Surroundings, World};
