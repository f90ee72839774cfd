//! The paper of 1983 and its simulated machines: its tables, the questions that it asks and leaves open, and what
//! it claims.

mod claims;
mod columns;
mod laboratory;
mod questions;
mod tables;

pub use claims::{Claim, Verdict, claims};
pub use questions::{Question, questions};
pub use tables::{Paper, paper};
