//! Results of a run, and all figures, comparisons and warnings that are computed from them.
//!
//! A [`Document`] holds the [`Cell`]s of one run. A cell holds the [`Round`]s that it is computed from. All code here
//! consists of pure functions of numbers: it reads no clock, file or device.

pub mod compare;
pub mod digits;
pub mod figures;
pub mod inference;
pub mod judge;
mod name;
pub mod predict;
pub mod probe;
mod results;

pub use compare::stages::Stage;
pub use compare::target_comparison::{Choice, Comparison, Need, Purpose, TargetVerdict};
pub use figures::breakdown::{Breakdown, Faster};
pub use inference::verdict::{Estimate, Verdict};
pub use judge::marks::{Mark, MarkCode};
pub use name::Name;
pub use results::bottleneck::{Bottleneck, LimitedBy};
pub use results::cell::{
    CacheState, Cell, CpuPercent, Environment, HostFigures, Io, LowerCache, OperationFigures, Provenance, Rate, State,
    Steadiness,
};
pub use results::checkup::{Ability, CHECKUP_SCHEMA, Check, Checkup};
pub use results::clock::ClockKind;
pub use results::document::{
    Aged, Calibration, Conditioned, Document, HostInfo, ImageInfo, Loaded, Noise, OwnCost, Problem, RunInfo, SCHEMA,
    StoreInfo, TargetInfo, TraceInfo,
};
pub use results::heat_map::{HeatMap, coarse, merged_columns};
pub use results::latency::{Latencies, Latency, LatencyKind, Times};
pub use results::of_limit::{LimitLayer, OfLimit};
pub use results::operation::{OperationKind, RoundOperation};
pub use results::proof::{PROOF_SCHEMA, Proof};
pub use results::rate_interval::{INTERVAL, MOST_INTERVALS, RateInterval};
pub use results::regime::{Regime, are_of_last_regime};
pub use results::remark::{Remark, RemarkKind};
pub use results::round::{CpuSeconds, Round, RoundPart, StartSpread};
pub use results::verification::{Kept, PowerCut, VERIFICATION_SCHEMA, Verification};
pub use workload::{ParameterValue, ProgramTime, RateBase, ResourceTime};
