//! Why a device is not overwritten.

use std::io;
use std::path::PathBuf;

use crate::sys::name::Shown;

use super::Reason;

use crate::errors::said;

/// Why the guard gives no leave to overwrite a device.
#[derive(Debug, thiserror::Error)]
pub enum GuardFault {
    /// There is no device of that name; nothing was created.
    #[error("there is no device {}; nothing was created", .0.shown())]
    Missing(PathBuf),
    /// A directory, a file, a pipe.
    #[error("{} is not a block device; nothing was written to it", .0.shown())]
    NotADevice(PathBuf),
    /// This user may not look at it.
    #[error("cannot look at {device}: {}", said(source), device = .device.shown())]
    Unreadable {
        /// The device.
        device: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// There are reasons against it. Nothing was written.
    #[error("{device} is not overwritten: {}", list(.reasons))]
    Refused {
        /// Which device: its path, and what it is.
        device: String,
        /// All that forbids it.
        reasons: Vec<Reason>,
        /// The words that name this device: `--confirm` takes them.
        identity: String,
    },
    /// What was typed is not what the device is. Nothing was written.
    #[error("{device} is not overwritten: {}", not_it(.typed, .what))]
    NotConfirmed {
        /// Which device: its path, and what it is.
        device: String,
        /// What was typed; empty if nothing was.
        typed: String,
        /// `model and serial number`, or `size`.
        what: &'static str,
    },
    /// Between the look and the use another device, or another file system, took its place.
    #[error("{} has changed since diskperf checked it: {}; diskperf leaves it as it is", .0.shown(), .1)]
    Changed(PathBuf, &'static str),
    /// You stopped diskperf while it read the device.
    #[error("stopped while {} was read; nothing was written to it", .0.shown())]
    Stopped(PathBuf),
    /// Writing or flushing failed.
    #[error("cannot {action} {device}: {}", said(source), device = .device.shown())]
    Failed {
        /// What was tried.
        action: &'static str,
        /// The device.
        device: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

fn not_it(typed: &str, what: &str) -> String {
    match typed.trim() {
        "" => format!("you have not named the device by its {what}"),
        typed => format!("{typed:?} is not its {what}"),
    }
}

/// How many reasons are printed; a disk may be mounted in a hundred containers.
const SAID: usize = 6;

fn list(reasons: &[Reason]) -> String {
    let mut said: Vec<String> = reasons.iter().take(SAID).map(Reason::to_string).collect();
    match reasons.len().saturating_sub(SAID) {
        0 => {}
        more => said.push(format!("and {more} more reasons")),
    }
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_of_many_reasons_are_printed() {
        assert_eq!(list(&[Reason::ReadOnly, Reason::Claimed]), format!("{}; {}", Reason::ReadOnly, Reason::Claimed));
        let many = list(&vec![Reason::ReadOnly; 8]);
        assert!(many.ends_with("; and 2 more reasons"), "{many}");
        assert_eq!(many.matches("it is read-only").count(), SAID);
    }
}
