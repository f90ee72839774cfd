//! The paper of 1983 (Kridle & McKusick) on simulated machines: its tables, its questions, answered and open, and its
//! claims.
//!
//! ```text
//!   published (as printed) ── columns ──> tables, fitting (the cells that judge)
//!   machines ──> simulation ──> tables, questions and claims (uncertainty), vaxmix, fitting
//!   assumptions ──> uncertainty, sensitivity
//! ```

mod assumptions;
mod claims;
mod columns;
pub mod fitting;
mod held_out;
pub mod published;
mod questions;
mod sensitivity;
mod simulation;
mod tables;
mod uncertainty;
mod vaxmix;

pub use assumptions::constants;
pub use claims::{Claim, Verdict, claims, claims_with_certainty};
pub use held_out::held_out;
pub use questions::{Answer, QUESTIONS, Question};
pub use sensitivity::assumptions;
pub use simulation::PHASES;
pub use tables::{comparisons, published_beside};
pub use vaxmix::approaches;
