//! The paper of 1983 (Kridle & McKusick) on simulated machines: its tables, its questions, answered and open, and its
//! claims.
//!
//! ```text
//!   published (as printed) ── columns ──> tables, fitting (the cells that judge)
//!   machines ──> laboratory ──> tables, questions (certainty), claims, vaxmix, fitting
//! ```

mod certainty;
mod claims;
mod columns;
pub mod fitting;
mod laboratory;
pub mod published;
mod questions;
mod tables;
mod vaxmix;

pub use claims::{Claim, claims};
pub use laboratory::PHASES;
pub use questions::{Answer, QUESTIONS, Question};
pub use tables::{comparisons, published_beside};
pub use vaxmix::approaches;
