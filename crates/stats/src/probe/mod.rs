//! The constants of a device, estimated from the times of tapes. A wrong constant is worse than none: an estimator that
//! is not certain returns the reason instead.
//!
//! | file | constants |
//! | --- | --- |
//! | `latency.rs` | latency by size |
//! | `gate.rs` | least time per request and per byte at depth |
//! | `knee.rs` | token buckets and write caches |
//! | `flush.rs` | drain rate behind writes |
//! | `stripe.rs` | page and channels |
//! | `rotation.rs`, `track.rs`, `seek.rs` | rotating disks |

pub mod estimate;
pub mod flush;
pub mod gate;
pub mod knee;
pub mod latency;
pub mod rotation;
pub mod row;
pub mod seek;
pub mod stripe;
pub mod track;

pub use estimate::{BELOW_LIMIT, BUCKET_FIRST, Estimate, MOST_CPU_WAIT, Measured, NotMeasured};
pub use row::{PROBE_SCHEMA, ProbeDocument, Row};
