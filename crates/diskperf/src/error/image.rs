//! What to make of an image that could not be had.

use std::io::{self, ErrorKind};

use kernel::ImageFault;

use super::{failure, guard, lacks_rights};
use crate::exit::Exit;
use crate::shell;

/// The exit status this stands for.
pub fn exit(fault: &ImageFault) -> Exit {
    match fault {
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
        ImageFault::Guard(fault) => guard::exit(fault),
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
pub fn hint(fault: &ImageFault) -> Option<String> {
    Some(match fault {
        ImageFault::NoRights { is_root: false } => as_root(),
        ImageFault::Guard(fault) => return guard::hint(fault),
        ImageFault::Confined { source, .. } | ImageFault::Loop { source, .. } if is_unknown(source) => {
            "images need Linux 5.8 or later, and no sandbox that hides its calls; measure a directory instead"
                .to_owned()
        }
        ImageFault::NoRights { is_root: true } | ImageFault::Confined { .. } => {
            "in a container, start that with --privileged, or measure a directory instead".to_owned()
        }
        ImageFault::BadName(_) | ImageFault::NoTool { package: None, .. } => {
            "check the spelling; image:ext4, image:xfs and image:btrfs work on most machines".to_owned()
        }
        ImageFault::NoTool { package: Some(package), .. } => {
            format!("install it: apt-get install {package} (other systems may call the package otherwise)")
        }
        ImageFault::Unsupported(_) => "/proc/filesystems lists what it can mount without further modules".to_owned(),
        ImageFault::TooSmall { minimum, .. } => {
            format!("ask for {minimum} or more with size=, or name a larger device")
        }
        ImageFault::BlockSize { page, .. } => format!("ask for blocks of at most {page}, or leave block= out"),
        ImageFault::NoRoom { .. } => "ask for less with size=, or put the image elsewhere with dir=".to_owned(),
        ImageFault::NoUnnamed(_) => {
            "put the image elsewhere with dir=; ext4, xfs, btrfs and tmpfs can hold it".to_owned()
        }
        ImageFault::Panics(_) => "leave it out; a setting of the kernel (sysctl), set to 0".to_owned(),
        ImageFault::Elsewhere(_) => "leave it out: one file system on one device is made".to_owned(),
        ImageFault::Mkfs { tool, .. } => format!("mkfs= is passed on to {tool} word by word"),
        ImageFault::Mount { words: Some(_), .. } => "mount= is passed on to the file system".to_owned(),
        ImageFault::File { source, .. } if lacks_rights(source) => {
            "put the image elsewhere with dir=, where you may write".to_owned()
        }
        ImageFault::Loop { source, .. } if source.kind() == ErrorKind::NotFound || lacks_rights(source) => {
            "in a container, start that with --privileged; elsewhere, modprobe loop".to_owned()
        }
        ImageFault::File { source, .. } | ImageFault::Loop { source, .. } | ImageFault::Mount { source, .. } => {
            return failure::of_system(source).map(str::to_owned);
        }
        _ => return None,
    })
}

/// The same command, as root.
pub fn as_root() -> String {
    format!("run it as root: sudo {}", shell::line(std::env::args_os()))
}

/// Whether the kernel does not know the call. Older ones call a request to a loop device that they do not know
/// (LOOP_CONFIGURE, from Linux 5.8 on) an invalid argument.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}
