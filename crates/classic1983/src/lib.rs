//! The paper of 1983 (Kridle & McKusick) on simulated machines: its tables, its questions, answered and open, and its
//! claims.
//!
//! ```text
//!   published (as printed) ── columns ──> tables, fitting (the cells that judge)
//!   machines ──> simulation ──> tables, questions (uncertainty), claims, vaxmix, fitting
//! ```

mod claims;
mod columns;
pub mod fitting;
pub mod published;
mod questions;
mod simulation;
mod tables;
mod uncertainty;
mod vaxmix;

pub use claims::{Claim, claims};
pub use questions::{Answer, QUESTIONS, Question};
pub use simulation::PHASES;
pub use tables::{comparisons, published_beside};
pub use vaxmix::approaches;
