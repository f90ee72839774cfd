//! Errors of loop images.

use std::io;
use std::path::PathBuf;

use units::Bytes;

use crate::errors::said;
use crate::guard::GuardFault;
use crate::provision::loop_device::LoopFault;
use crate::sys::name::Shown;

/// Why a file system on an image could not be made or used.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    /// Loop devices, mounts and namespaces need the right to administer the system.
    #[error("making and mounting a file system needs CAP_SYS_ADMIN")]
    NoRights {
        /// Whether the user is root all the same, as in a container.
        is_root: bool,
    },
    /// The right is there by name only, as in many containers.
    #[error("cannot {action}, even with CAP_SYS_ADMIN: {}", said(source))]
    Confined {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// No such file system was ever heard of.
    #[error("{0} is not a file system")]
    BadName(String),
    /// The program that makes it is not installed.
    #[error("{tool} is not installed")]
    NoTool {
        /// `mkfs.xfs`.
        tool: String,
        /// The package that brings it, where it is known.
        package: Option<&'static str>,
    },
    /// The kernel has no such file system.
    #[error("this kernel cannot mount {0}")]
    Unsupported(String),
    /// The image would be too small for the file system.
    #[error("{file_system} needs at least {minimum}; this would be {bytes}")]
    TooSmall {
        /// Which.
        file_system: String,
        /// The size that was asked for.
        bytes: Bytes,
        /// The least that its mkfs accepts.
        minimum: Bytes,
    },
    /// A block size that no file system has, or one for a file system whose mkfs is not known to take it.
    #[error("{file_system} with blocks of {block}: {why}")]
    BadBlock {
        /// Which.
        file_system: String,
        /// The size that was asked for.
        block: Bytes,
        /// What is wrong with it.
        why: &'static str,
    },
    /// mkfs makes it, the kernel does not mount it.
    #[error("this kernel cannot mount {file_system} with blocks of {block}; its page size is {page}")]
    BlockSize {
        /// Which.
        file_system: String,
        /// The size that was asked for.
        block: Bytes,
        /// The size of a page.
        page: Bytes,
    },
    /// An option that would let mkfs or the file system write elsewhere.
    #[error("the option {0} names a path or a device; diskperf writes only to the target")]
    Elsewhere(String),
    /// An option by which the file system would stop the machine at the errors that it is to get.
    #[error("{0}: the power cut causes I/O errors, and this option would then stop the machine")]
    Panics(String),
    /// The directory's file system is too full.
    #[error("{} has {free} free; the image needs {needed}", directory.shown())]
    NoRoom {
        /// Where the image was to be.
        directory: PathBuf,
        /// What is left there.
        free: Bytes,
        /// The size of the image.
        needed: Bytes,
    },
    /// The directory's file system has no unnamed files.
    #[error("the file system of {} does not support unnamed files (O_TMPFILE)", .0.shown())]
    NoUnnamed(PathBuf),
    /// The file of the image could not be made, written or named.
    #[error("cannot {action} in {}: {}", directory.shown(), said(source))]
    File {
        /// What was tried.
        action: &'static str,
        /// Where.
        directory: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Loop devices do not work.
    #[error("cannot {action}: {}", said(source))]
    Loop {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// Another program has changed the loop device under us. Nothing was written to it.
    #[error("{} is no longer the device of our image; nothing was written to it", .0.shown())]
    NotOurs(PathBuf),
    /// mkfs could not be started.
    #[error("cannot run {}: {}", tool.shown(), said(source))]
    NotRun {
        /// Its path.
        tool: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// mkfs refused.
    #[error("{tool} says: {words}")]
    Mkfs {
        /// `mkfs.xfs`.
        tool: String,
        /// In its own words.
        words: String,
    },
    /// The kernel refused to mount, remount or unmount it.
    #[error("cannot {action} {file_system}: {}", .words.clone().unwrap_or_else(|| said(source).to_string()))]
    Mount {
        /// What was tried.
        action: &'static str,
        /// Which.
        file_system: String,
        /// What the kernel said in a sentence, where it did.
        words: Option<String>,
        /// What it said in a number.
        source: io::Error,
    },
    /// The guard gave no leave, or the device is not what it was.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// Told to stop while the image was written.
    #[error("stopped while writing the image")]
    Stopped,
}

impl From<LoopFault> for ImageFault {
    fn from(LoopFault { action, source }: LoopFault) -> ImageFault {
        ImageFault::Loop { action, source }
    }
}
