//! Cells, what may be said about them, and how it is computed.
//!
//! A [`Document`] holds the [`Cell`]s of one run; a cell holds the [`Round`]s it was computed from. Pure
//! functions of numbers: no clock, no file, no device.

pub mod bounds;
mod breakdown;
mod cell;
mod checkup;
pub mod choice;
mod clock;
pub mod compared;
pub mod comparison;
pub mod digits;
mod document;
pub mod environment;
pub mod execution;
pub mod fit;
mod histogram;
pub mod history;
mod interval;
mod latency;
pub mod level;
pub mod limits;
pub mod marks;
mod name;
pub mod noise;
pub mod replication;
mod round;
pub mod stages;
pub mod steady;
pub mod summary;
mod verification;

pub use breakdown::{Breakdown, Faster, ProgramTime, ResourceTime};
pub use cell::{
    CacheState, Cell, CpuPercent, Environment, Io, LimitedBy, LowerCache, ParameterValue, Provenance, Rate, RateBase,
    State, Steadiness,
};
pub use checkup::{Ability, CHECKUP_SCHEMA, Check, Checkup};
pub use choice::{Choice, Comparison, Need, Purpose, Verdict};
pub use clock::ClockKind;
pub use document::{
    Aged, Calibration, Conditioned, Document, ImageInfo, Noise, OwnCost, Problem, RunInfo, SCHEMA, StoreInfo,
    TargetInfo,
};
pub use interval::{INTERVAL, Interval, MOST_INTERVALS};
pub use latency::{Latencies, Latency, LatencyKind, Times};
pub use marks::{Mark, MarkCode};
pub use name::Name;
pub use round::{CpuSeconds, Round, RoundPart};
pub use stages::Stage;
pub use verification::{Kept, PowerCut, VERIFICATION_SCHEMA, Verification};
