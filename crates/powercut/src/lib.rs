//! Whether what was acknowledged as durable is there after a power cut.
//!
//! ```text
//!   writers ── stamped records (record) ── acknowledged when the call for durability is back ──> ledger
//!   power cut (image: we cut it; directory: you do); mounted again
//!   check ── each acknowledged record is read and judged (record) ──> missing, torn, stale, or intact
//! ```
//!
//! Policy:
//!   1. a record is acknowledged when every call that makes it durable has returned well, and not before;
//!   2. what was acknowledged before the power went is judged, and nothing else: an overwrite that was on its way may
//!      have happened, wholly or in part, or not;
//!   3. a record that was replaced by renaming is old or new, never something between.
//!
//! Prints nothing: results and progress go to the caller.

mod check;
mod directory;
mod error;
mod image;
mod ledger;
mod places;
mod record;
mod writers;

pub use check::check;
pub use directory::{Found, find, write};
pub use error::{PowerCutError, VerifyFault};
pub use image::{Cut, Event, cuts};
pub use ledger::{Ledger, LedgerFault, Log, Note};
pub use places::Bounds;
pub use record::{Kind, Records, Verdict};
pub use writers::Writers;
