//! Errors of loop images: message, exit status and hint.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use units::{Bytes, Exit};

use crate::errors::{as_root, hint_of, lacks_rights, message};
use crate::guard::GuardFault;
use crate::provision::loop_device::LoopFault;
use crate::sys::name::Shown;

/// An error of making or using a file system on an image or device.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    /// Loop devices, mounts and namespaces need the right to administer the system.
    #[error("making and mounting a file system needs CAP_SYS_ADMIN")]
    NoRights {
        /// True if the user is root without this right, as in a container.
        is_root: bool,
    },
    /// The process has the right only in name, as in many containers.
    #[error("cannot {action}, even with CAP_SYS_ADMIN: {}", message(source))]
    Confined {
        /// The failed action.
        action: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The name is not that of a file system.
    #[error("{0} is not a file system")]
    BadName(String),
    /// The mkfs program is not installed.
    #[error("{tool} is not installed")]
    NoTool {
        /// `mkfs.xfs`.
        tool: String,
        /// The package that has it, if known.
        package: Option<&'static str>,
    },
    /// The kernel does not support the file system.
    #[error("this kernel cannot mount {0}")]
    Unsupported(String),
    /// The image would be too small for the file system.
    #[error("{file_system} needs at least {minimum}; this would be {bytes}")]
    TooSmall {
        /// The file system.
        file_system: String,
        /// The requested size.
        bytes: Bytes,
        /// The smallest size that its mkfs accepts.
        minimum: Bytes,
    },
    /// An impossible block size, or one for a file system whose mkfs option for it is not known.
    #[error("{file_system} with blocks of {block}: {why}")]
    BadBlock {
        /// The file system.
        file_system: String,
        /// The requested block size.
        block: Bytes,
        /// The reason.
        why: &'static str,
    },
    /// The kernel cannot mount this block size, although mkfs makes it.
    #[error("this kernel cannot mount {file_system} with blocks of {block}; its page size is {page}")]
    BlockSize {
        /// The file system.
        file_system: String,
        /// The requested block size.
        block: Bytes,
        /// The page size.
        page: Bytes,
    },
    /// An option that would let mkfs or the file system write to another device or file.
    #[error("the option {0} names a path or a device; diskperf writes only to the target")]
    Elsewhere(String),
    /// An option that stops the machine at the I/O errors of a power cut.
    #[error("{0}: the power cut causes I/O errors, and this option would then stop the machine")]
    Panics(String),
    /// The directory's file system has not enough free space, or keeps files in memory and too little is left.
    #[error("{} has room for {free}; the image needs {needed}", directory.shown())]
    NoRoom {
        /// The directory of the image.
        directory: PathBuf,
        /// Free space of the directory's file system.
        free: Bytes,
        /// The size of the image.
        needed: Bytes,
    },
    /// The directory's file system does not support unnamed files.
    #[error("the file system of {} does not support unnamed files (O_TMPFILE)", .0.shown())]
    NoUnnamed(PathBuf),
    /// The file of the image could not be created, written or named.
    #[error("cannot {action} in {}: {}", directory.shown(), message(source))]
    File {
        /// The failed action.
        action: &'static str,
        /// The directory.
        directory: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Loop devices do not work.
    #[error("cannot {action}: {}", message(source))]
    Loop {
        /// The failed action.
        action: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// Another program has reused our loop device. Nothing was written to it.
    #[error("{} no longer has diskperf's image; nothing was written to it", .0.shown())]
    NotOurs(PathBuf),
    /// mkfs could not be started.
    #[error("cannot run {}: {}", tool.shown(), message(source))]
    NotRun {
        /// The path of mkfs.
        tool: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// mkfs failed.
    #[error("{tool} says: {words}")]
    Mkfs {
        /// `mkfs.xfs`.
        tool: String,
        /// Its message.
        words: String,
    },
    /// The kernel refused to mount, remount or unmount it.
    #[error("cannot {action} {file_system}: {}", .words.clone().unwrap_or_else(|| message(source).to_string()))]
    Mount {
        /// The failed action.
        action: &'static str,
        /// The file system.
        file_system: String,
        /// The message of the file system, if it gave one.
        words: Option<String>,
        /// The kernel's error.
        source: io::Error,
    },
    /// The guard refused, or the device has changed.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// The user stopped it while the image was written.
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

    /// A suggestion for the user.
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

/// True if the kernel does not support the call. For unknown requests to a loop device (LOOP_CONFIGURE, since Linux
/// 5.8), older kernels return "invalid argument".
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_a_missing_tool_is_named() {
        let fault = |package| ImageFault::NoTool { tool: "mkfs.xfs".to_owned(), package };
        assert_eq!((fault(Some("xfsprogs")).exit(), fault(None).exit()), (Exit::Refused, Exit::Usage));
        assert!(fault(Some("xfsprogs")).hint().is_some_and(|hint| hint.contains("apt-get install xfsprogs")));
        assert!(fault(None).hint().is_some_and(|hint| hint.contains("image:ext4")));
    }

    /// From errno.h: EACCES, EINVAL, ENOSPC.
    #[test]
    fn loop_devices_without_permission_or_support_are_a_refusal() {
        let fault =
            |number| ImageFault::Loop { action: "attach a loop device", source: io::Error::from_raw_os_error(number) };
        for (number, status) in [(13, Exit::Refused), (22, Exit::Refused), (28, Exit::Failed)] {
            assert_eq!(fault(number).exit(), status, "{number}");
            assert!(fault(number).hint().is_some(), "{number}");
        }
    }
}
