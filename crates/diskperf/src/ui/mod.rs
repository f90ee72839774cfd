//! The user interface: announcements, questions, progress, output and its formats.

#[macro_use]
pub mod output;

pub mod announcement;
pub mod consent;
pub mod event_sentences;
pub mod failure;
pub mod hosts;
mod live_figures;
mod live_line;
pub mod output_format;
mod progress;
pub mod progress_display;
pub mod run_results;
pub mod shell;
pub mod status_line;
