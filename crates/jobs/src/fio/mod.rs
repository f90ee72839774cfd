//! Converts fio jobs to job files, and back.

mod detect;
mod export;
mod import;
mod section_reader;
mod sections;
#[cfg(test)]
mod tests;
mod units;
mod unsupported;

pub use detect::is_fio;
pub use export::{Exported, export};
pub use import::{Imported, import};
