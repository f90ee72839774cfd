//! Errors of loop images: message, exit status and hint.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use units::{Bytes, Exit};

use crate::errors::{as_root, hint_of, lacks_rights, said};
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

impl ImageFault {
    /// The exit status of a command that needed the image.
    pub fn exit(&self) -> Exit {
        match self {
            ImageFault::BadName(_)
            | ImageFault::NoTool { package: None, .. }
            | ImageFault::TooSmall { .. }
            | ImageFault::BadBlock { .. }
            | ImageFault::Elsewhere(_)
            | ImageFault::Mkfs { .. }
            | ImageFault::Mount { words: Some(_), .. } => Exit::Usage,
            ImageFault::NoRights { .. }
            | ImageFault::Confined { .. }
            | ImageFault::NoTool { .. }
            | ImageFault::Unsupported(_)
            | ImageFault::BlockSize { .. }
            | ImageFault::NoRoom { .. }
            | ImageFault::NoUnnamed(_)
            | ImageFault::Panics(_)
            | ImageFault::NotOurs(_) => Exit::Refused,
            ImageFault::Guard(fault) => fault.exit(),
            ImageFault::File { source, .. } | ImageFault::Loop { source, .. } if lacks_rights(source) => Exit::Refused,
            ImageFault::Loop { source, .. } if is_unknown(source) => Exit::Refused,
            ImageFault::File { .. }
            | ImageFault::Loop { .. }
            | ImageFault::NotRun { .. }
            | ImageFault::Mount { .. }
            | ImageFault::Stopped => Exit::Failed,
        }
    }

    /// What to try.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            ImageFault::NoRights { is_root: false } => as_root(),
            ImageFault::Guard(fault) => return fault.hint(),
            ImageFault::Confined { source, .. } | ImageFault::Loop { source, .. } if is_unknown(source) => {
                "measure a directory instead; images need Linux 5.8 or later, and no sandbox that hides its calls"
                    .to_owned()
            }
            ImageFault::NoRights { is_root: true } | ImageFault::Confined { .. } => {
                "start the container with --privileged, or measure a directory".to_owned()
            }
            ImageFault::BadName(_) | ImageFault::NoTool { package: None, .. } => {
                "check the spelling; image:ext4, image:xfs and image:btrfs work on most machines".to_owned()
            }
            ImageFault::NoTool { package: Some(package), .. } => {
                format!("install it: apt-get install {package} (the package may have another name elsewhere)")
            }
            ImageFault::Unsupported(_) => "/proc/filesystems lists the file systems of this kernel".to_owned(),
            ImageFault::TooSmall { minimum, .. } => {
                format!("use size={minimum} or more, or a larger device")
            }
            ImageFault::BlockSize { page, .. } => format!("use blocks of at most {page}, or leave block= out"),
            ImageFault::NoRoom { .. } => "use a smaller size=, or another folder with dir=".to_owned(),
            ImageFault::NoUnnamed(_) => "use another folder with dir=, on ext4, xfs, btrfs or tmpfs".to_owned(),
            ImageFault::Panics(_) => "leave it out; set a kernel setting (sysctl) to 0".to_owned(),
            ImageFault::Elsewhere(_) => "leave it out; diskperf makes one file system on one device".to_owned(),
            ImageFault::Mkfs { tool, .. } => format!("check mkfs=; its words are passed to {tool}"),
            ImageFault::Mount { words: Some(_), .. } => {
                "check mount=; its options are passed to the file system".to_owned()
            }
            ImageFault::File { source, .. } if lacks_rights(source) => {
                "use dir= with a folder that you may write to".to_owned()
            }
            ImageFault::Loop { source, .. } if source.kind() == ErrorKind::NotFound || lacks_rights(source) => {
                "run modprobe loop; in a container, start it with --privileged".to_owned()
            }
            ImageFault::File { source, .. } | ImageFault::Loop { source, .. } | ImageFault::Mount { source, .. } => {
                return hint_of(source).map(str::to_owned);
            }
            ImageFault::NotOurs(_) | ImageFault::NotRun { .. } | ImageFault::BadBlock { .. } | ImageFault::Stopped => {
                return None;
            }
        })
    }
}

/// Whether the kernel does not know the call. Older ones call a request to a loop device that they do not know
/// (LOOP_CONFIGURE, from Linux 5.8 on) an invalid argument.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_for_a_tool_that_is_not_installed() {
        let fault = |package| ImageFault::NoTool { tool: "mkfs.xfs".to_owned(), package };
        assert_eq!((fault(Some("xfsprogs")).exit(), fault(None).exit()), (Exit::Refused, Exit::Usage));
        assert!(fault(Some("xfsprogs")).hint().is_some_and(|hint| hint.contains("apt-get install xfsprogs")));
        assert!(fault(None).hint().is_some_and(|hint| hint.contains("image:ext4")));
    }

    /// From errno.h: EACCES, EINVAL, ENOSPC.
    #[test]
    fn a_loop_device_that_this_user_or_kernel_does_not_have_is_a_refusal() {
        let fault =
            |number| ImageFault::Loop { action: "attach a loop device", source: io::Error::from_raw_os_error(number) };
        for (number, status) in [(13, Exit::Refused), (22, Exit::Refused), (28, Exit::Failed)] {
            assert_eq!(fault(number).exit(), status, "{number}");
            assert!(fault(number).hint().is_some(), "{number}");
        }
    }
}
