//! Converts fio jobs to job files, and back.

mod command_line;
mod detect;
mod export;
mod grouping;
mod import;
mod section_reader;
mod sections;
#[cfg(test)]
mod tests;
mod units;
mod unsupported;
mod words;

pub use command_line::job_of_words;
pub use detect::is_fio;
pub use export::{Exported, export};
pub use import::{Imported, import};
