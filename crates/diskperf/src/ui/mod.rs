//! The user interface: announcements, questions, progress, output and its formats.

#[macro_use]
pub mod output;

pub mod announce;
pub mod consent;
pub mod display;
pub mod event_sentences;
pub mod failure;
pub mod layout;
mod progress;
pub mod run_results;
pub mod shell;
pub mod status;
