//! Errors of changing and restoring block-queue settings.

use std::io;
use std::path::PathBuf;

use units::Exit;

use crate::errors::message;
use crate::sys::name::Shown;

/// An error of changing or restoring a queue. Earlier changes have been restored.
#[derive(Debug, thiserror::Error)]
pub enum TuningFault {
    /// The device has no visible queue settings.
    #[error("{0} has no block-queue settings (/sys/block/DEV/queue)")]
    NoQueue(String),
    /// The attribute does not exist or is read-only.
    #[error("the queue of {disk} has no setting {attribute}")]
    Unknown {
        /// The requested attribute.
        attribute: String,
        /// The disk.
        disk: String,
        /// The attributes that can be set.
        known: Vec<String>,
    },
    /// An attribute could not be read.
    #[error("cannot read {attribute} of {disk}: {}", message(source))]
    Read {
        /// The attribute.
        attribute: String,
        /// The disk.
        disk: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// This user may not write the attribute.
    #[error("cannot set {setting} for {disk}: {}", message(source))]
    NoRights {
        /// Attribute and value.
        setting: String,
        /// The disk.
        disk: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel refuses the value.
    #[error("the kernel refuses {setting} for {disk}: {}", message(source))]
    Refused {
        /// Attribute and value.
        setting: String,
        /// The disk.
        disk: String,
        /// All possible values, if the kernel lists them.
        choices: Vec<String>,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel accepted the value but changed it.
    #[error("the kernel set {became} instead of {setting} for {disk}")]
    Rounded {
        /// Attribute and value.
        setting: String,
        /// The disk.
        disk: String,
        /// The value of the attribute afterwards.
        became: String,
    },
    /// Another process has changed the queue.
    #[error("another diskperf (process {pid}) is tuning {disk}")]
    InUse {
        /// The disk.
        disk: String,
        /// The id of that process.
        pid: i32,
    },
    /// This process has changed the queue for another target.
    #[error("two targets that run at the same time tune {0}")]
    Twice(String),
    /// The old value could not be restored.
    #[error("cannot restore {setting} of {disk}: {}", message(source))]
    Restore {
        /// Attribute and old value.
        setting: String,
        /// The disk.
        disk: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The old values could not be noted for recovery after a crash, so nothing was changed.
    #[error("cannot save the settings to restore in {}: {}", folder.shown(), message(source))]
    Notes {
        /// The folder for notes.
        folder: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// No folder for notes exists.
    #[error("there is no folder to save the settings to restore in (XDG_RUNTIME_DIR is not set)")]
    NoNotes,
}

impl TuningFault {
    /// The exit status of a command that needed the settings.
    pub fn exit(&self) -> Exit {
        match self {
            TuningFault::NoQueue(_)
            | TuningFault::Unknown { .. }
            | TuningFault::Refused { .. }
            | TuningFault::Rounded { .. }
            | TuningFault::Twice(_) => Exit::Usage,
            TuningFault::NoRights { .. }
            | TuningFault::InUse { .. }
            | TuningFault::NoNotes
            | TuningFault::Notes { .. } => Exit::Refused,
            TuningFault::Read { .. } | TuningFault::Restore { .. } => Exit::Failed,
        }
    }

    /// A suggestion for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            TuningFault::Unknown { known, .. } => format!("known attributes: {}", known.join(", ")),
            TuningFault::Refused { choices, .. } if !choices.is_empty() => {
                format!("choose one of: {}", choices.join(", "))
            }
            TuningFault::Rounded { setting, became, .. } => {
                let attribute = setting.split(':').next().unwrap_or(setting);
                format!("use the value that the kernel rounds to: {attribute}:{became}")
            }
            TuningFault::NoRights { .. } => "run it as root".to_owned(),
            TuningFault::Twice(_) => "run them in turn: --solo".to_owned(),
            TuningFault::InUse { .. } => "wait until that process ends".to_owned(),
            TuningFault::NoNotes | TuningFault::Notes { .. } => {
                "run it as root, or set XDG_RUNTIME_DIR to a folder of yours".to_owned()
            }
            TuningFault::NoQueue(_)
            | TuningFault::Refused { .. }
            | TuningFault::Read { .. }
            | TuningFault::Restore { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_value_is_named_with_its_attribute() {
        let (setting, disk) = ("nr_requests:3".to_owned(), "sdb".to_owned());
        let fault = TuningFault::Rounded { setting, disk, became: "4".to_owned() };
        assert_eq!(fault.exit(), Exit::Usage);
        assert!(fault.hint().is_some_and(|hint| hint.ends_with("nr_requests:4")));
    }

    #[test]
    fn missing_rights_are_a_refusal_and_lost_settings_a_failure() {
        let (setting, disk) = ("scheduler:none".to_owned(), "sdb".to_owned());
        let source = || io::Error::from_raw_os_error(13);
        let denied = TuningFault::NoRights { setting: setting.clone(), disk: disk.clone(), source: source() };
        assert_eq!(denied.exit(), Exit::Refused);
        assert_eq!(TuningFault::Restore { setting, disk, source: source() }.exit(), Exit::Failed);
    }
}
