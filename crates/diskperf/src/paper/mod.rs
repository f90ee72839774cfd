//! The paper of 1983 and its simulated machines: its tables, the questions that it asks and leaves open, and what
//! it claims.

mod certainty;
mod claims;
mod columns;
mod laboratory;
mod questions;
mod tables;
mod vaxmix;

pub use claims::{Claim, claims};
pub use columns::Column;
pub use laboratory::{FILE_BYTES, PHASES, Test, each, over_phases};
pub use questions::{Answer, QUESTIONS, Question};
pub use tables::{comparisons, published_beside};
pub use vaxmix::approaches;
