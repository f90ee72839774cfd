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
pub use sections::is_global;
pub use unsupported::{Form, NO_SUCH_OPTION, reason, without_effect};
pub use words::{PACED_BY_BYTES, after_ramp};

/// Characters between the sizes of a mix or a sweep, in fio's words or ours.
const BETWEEN_SIZES: [char; 7] = [',', ':', '/', '.', '*', '+', ' '];

/// The base in which fio reads one of these sizes if diskperf reads it in the other: 1000 for `4KiB`, 1024 for `4kB`.
/// The text is a size, a mix or a sweep. `None` if the sizes mean the same in both.
pub fn other_base(sizes: &str) -> Option<u64> {
    sizes.split(BETWEEN_SIZES).find_map(|size| {
        let unit = size.to_ascii_lowercase();
        let unit = unit.trim_start_matches(|start: char| start.is_ascii_digit());
        match unit.strip_suffix('b')?.len() {
            1 => Some(1024),
            2 if unit.ends_with("ib") => Some(1000),
            _ => None,
        }
    })
}

/// The bytes of a size as fio writes it: `22m` is 22 MiB. `None` if it is not a size.
pub fn size(text: &str) -> Option<u64> {
    units::bytes(text, units::KbBase::Binary)
}
