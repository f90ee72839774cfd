//! Converts fio jobs to job files, and back.

mod command_line;
mod detect;
mod export;
mod grouping;
mod import;
mod limits;
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
pub use limits::{Limits, OnlyOne};
pub use unsupported::{Form, NO_SUCH_OPTION, reason, without_effect};

/// True if fio reads this size as powers of 1000, as 4KiB, and diskperf as powers of 1024.
pub fn is_smaller(size: &str) -> bool {
    size.to_ascii_lowercase().ends_with("ib")
}

/// The bytes of a size as fio writes it: `22m` is 22 MiB. `None` if it is not a size.
pub fn size(text: &str) -> Option<u64> {
    units::bytes(text, units::KbBase::Binary)
}
