//! Exit statuses and hints for loop images.

use std::io::{self, ErrorKind};

use kernel::{ImageFault, lacks_rights};
use units::Exit;

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
pub fn hint(fault: &ImageFault) -> Option<String> {
    Some(match fault {
        ImageFault::NoRights { is_root: false } => kernel::as_root(),
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
            return kernel::hint_of(source).map(str::to_owned);
        }
        _ => return None,
    })
}

/// Whether the kernel does not know the call. Older ones call a request to a loop device that they do not know
/// (LOOP_CONFIGURE, from Linux 5.8 on) an invalid argument.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}
