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
pub use unsupported::{Form, NO_SUCH_OPTION, reason, without_effect};

/// The bytes of a size as fio writes it: `22m` is 22 MiB. `None` if it is not a size.
pub fn size(text: &str) -> Option<u64> {
    units::bytes(text, units::KbBase::Binary)
}
