//! Errors of changing and restoring block-queue settings.

use std::io;
use std::path::PathBuf;

use crate::errors::said;
use crate::sys::name::Shown;

/// Why a queue was not changed, or not restored. Whatever had been changed before was restored.
#[derive(Debug, thiserror::Error)]
pub enum TuningFault {
    /// The device has none that can be seen.
    #[error("{0} has no block-queue settings (/sys/block/DEV/queue)")]
    NoQueue(String),
    /// There is no such attribute, or it can only be read.
    #[error("the queue of {disk} has no setting {attribute}")]
    Unknown {
        /// What was asked for.
        attribute: String,
        /// The disk.
        disk: String,
        /// Those that can be set.
        known: Vec<String>,
    },
    /// An attribute could not be read.
    #[error("cannot read {attribute} of {disk}: {}", said(source))]
    Read {
        /// Which.
        attribute: String,
        /// The disk.
        disk: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// This user may not.
    #[error("cannot set {setting} for {disk}: {}", said(source))]
    NoRights {
        /// Attribute and value.
        setting: String,
        /// The disk.
        disk: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel does not take that value.
    #[error("the kernel refuses {setting} for {disk}: {}", said(source))]
    Refused {
        /// Attribute and value.
        setting: String,
        /// The disk.
        disk: String,
        /// All that the attribute can be, where the kernel lists it.
        choices: Vec<String>,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel took the value and made another of it.
    #[error("the kernel set {became} instead of {setting} for {disk}")]
    Rounded {
        /// Attribute and value.
        setting: String,
        /// The disk.
        disk: String,
        /// What the attribute was afterwards.
        became: String,
    },
    /// Another process has it changed.
    #[error("another diskperf (process {pid}) is tuning {disk}")]
    InUse {
        /// The disk.
        disk: String,
        /// The process.
        pid: i32,
    },
    /// This process itself has it changed.
    #[error("two targets that run at the same time tune {0}")]
    Twice(String),
    /// The old value could not be written back.
    #[error("cannot restore {setting} of {disk}: {}", said(source))]
    Restore {
        /// Attribute and old value.
        setting: String,
        /// The disk.
        disk: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// What is to be restored after a crash cannot be noted, so nothing was changed.
    #[error("cannot save the settings to restore in {}: {}", folder.shown(), said(source))]
    Notes {
        /// Where.
        folder: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// There is no folder for notes.
    #[error("there is no folder to save the settings to restore in (XDG_RUNTIME_DIR is not set)")]
    NoNotes,
}
