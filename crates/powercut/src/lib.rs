//! Power-cut test: checks that records acknowledged as durable survive a power cut.
//!
//! ```text
//!   writers ── stamped records (record) ── acknowledged when the sync call returns ──> ledger
//!   power cut (image: diskperf cuts it; directory: you do); mounted again
//!   check ── each acknowledged record is read and judged (record) ──> missing, torn, stale, or intact
//! ```
//!
//! Policy:
//!   1. a record is acknowledged when every call that makes it durable has succeeded, and not before;
//!   2. only records acknowledged before the power cut are judged: an overwrite in flight may have happened, in whole
//!      or in part, or not;
//!   3. a record that is replaced by renaming is old or new, never a mixture.
//!
//! The crate prints nothing: results and progress go to the caller.

mod check;
mod directory;
mod error;
mod image;
mod ledger;
mod record;
mod record_paths;
mod writers;

pub use check::check;
pub use directory::{Found, find, write};
pub use error::{PowerCutError, VerifyFault};
pub use image::{Cut, Event, cuts};
pub use ledger::{Ledger, LedgerFault, Log, Note};
pub use record::{Kind, Records, Verdict};
pub use record_paths::Bounds;
pub use writers::Writers;
