//! Cells, what may be said about them, and how it is computed.
//!
//! A [`Document`] holds the [`Cell`]s of one run; a cell holds the [`Round`]s it was computed from. Pure
//! functions of numbers: no clock, no file, no device.

pub mod compare;
pub mod digits;
pub mod figures;
pub mod inference;
pub mod judge;
mod name;
mod results;

pub use compare::choice::{Choice, Comparison, Need, Purpose, Verdict};
pub use compare::stages::Stage;
pub use figures::breakdown::{Breakdown, Faster, ProgramTime, ResourceTime};
pub use judge::marks::{Mark, MarkCode};
pub use name::Name;
pub use results::cell::{
    CacheState, Cell, CpuPercent, Environment, Io, LimitedBy, LowerCache, ParameterValue, Provenance, Rate, RateBase,
    State, Steadiness,
};
pub use results::checkup::{Ability, CHECKUP_SCHEMA, Check, Checkup};
pub use results::clock::ClockKind;
pub use results::document::{
    Aged, Calibration, Conditioned, Document, ImageInfo, Noise, OwnCost, Problem, RunInfo, SCHEMA, StoreInfo,
    TargetInfo,
};
pub use results::interval::{INTERVAL, Interval, MOST_INTERVALS};
pub use results::latency::{Latencies, Latency, LatencyKind, Times};
pub use results::remark::{Remark, RemarkKind};
pub use results::round::{CpuSeconds, Round, RoundPart};
pub use results::verification::{Kept, PowerCut, VERIFICATION_SCHEMA, Verification};
