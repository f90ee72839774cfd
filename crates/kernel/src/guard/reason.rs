//! One reason not to overwrite a device: message and hint.

use std::fmt;
use std::path::{Path, PathBuf};

use super::exports::Exporter;
use super::open_files::Program;
use super::signatures::Signature;
use crate::sys::name::{Shown, plain_text, shell_word};

/// One reason not to overwrite a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is in use, or a device that shares bytes with it is.
    Used {
        /// The device in use.
        what: Relative,
        /// The kind of use.
        by: Use,
    },
    /// Another loop device shows the same file.
    SameFile(String),
    /// It shows a file that may have a second identity: other device and inode numbers.
    UnseenFile {
        /// The device that shows the file: this one, or one below.
        what: Relative,
        /// The file system that the file is on.
        file_system: String,
    },
    /// Another loop device may show the same bytes: its file may be the one behind this device.
    MayShow {
        /// The other device.
        device: String,
        /// True if it shows only a part of its file. Else it has the size of this device.
        is_part: bool,
        /// The file system that its file is on.
        file_system: String,
    },
    /// It is read-only.
    ReadOnly,
    /// An unknown program has it open exclusively.
    Claimed,
    /// Mounts or devices cannot be read, so its use is unknown.
    Unseen,
    /// This many processes hide their open files from this user. They may have it open for writing.
    HiddenProcesses(usize),
    /// /proc hides other users' processes from this user (hidepid). One of them may have it open for writing.
    LeftOutProcesses,
    /// It holds data.
    Holds(Signature),
    /// The file system that diskperf made on it has files of others.
    OtherFiles,
    /// It has partitions.
    Partitions(Vec<String>),
    /// The kernel does not count writes to it. The path is the file that switches counting on, if there is one.
    Uncounted(Option<PathBuf>),
    /// Writes of other programs to this cannot be detected: its disk, or the file behind it.
    UnseenWrites(String),
}

/// Folders that contain a running system's programs and their configuration (Filesystem Hierarchy Standard 3.0, and
/// those of NixOS, Guix and OSTree). Mounts below them belong to the system too.
const PROGRAMS: [&str; 13] = [
    "/bin", "/boot", "/efi", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/nix", "/ostree", "/sbin", "/sysroot", "/usr",
];

/// Folders that a running system needs. Other disks may be mounted below them.
const STATE: [&str; 6] = ["/dev", "/home", "/root", "/run", "/srv", "/var"];

/// A device that shares bytes with the one that is to be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relative {
    /// Its relation to that device.
    pub kind: Kinship,
    /// Its kernel name.
    pub name: String,
}

/// The relation of a device to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// The same device.
    Itself,
    /// The disk that it is a partition of, or another device below.
    Below,
    /// A partition of it.
    Partition,
    /// A device on top of it, or of a partition of it.
    Above,
    /// A partition that shares sectors with it, or with a device below. Sun, SGI and BSD disk labels have one for the
    /// whole disk.
    Overlapping,
    /// The same disk, or the same disk as one below, by another path.
    Twin,
}

/// A use of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// A file system on it is mounted.
    Mounted {
        /// The mount point.
        at: PathBuf,
        /// The type of the file system.
        file_system: String,
        /// True if it is mounted in another mount namespace only.
        is_elsewhere: bool,
    },
    /// The kernel has a file system on it in use that is in no visible list of mounts.
    Alive(String),
    /// It is used as swap.
    Swap,
    /// It is a member of a btrfs in use.
    Btrfs(String),
    /// It is the log or journal of a file system on another device.
    Journal,
    /// Another device is built on it: a mapped one, a RAID, a cache.
    Held(String),
    /// It is the backing device of a loop device.
    Loop(String),
    /// The kernel exports it to guests or other machines.
    Exported(Exporter),
    /// A process has it open for writing.
    Open(Program),
    /// A process has the file behind it open for writing.
    FileOpen(Program),
}

impl Reason {
    /// Returns true if `--destroy-data` overrides it. Nothing overrides a use.
    pub fn can_be_lifted(&self) -> bool {
        matches!(
            self,
            Reason::Holds(_)
                | Reason::OtherFiles
                | Reason::Partitions(_)
                | Reason::Uncounted(_)
                | Reason::UnseenWrites(_)
        )
    }

    /// Returns true if it may disappear within a moment.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Reason::Unseen | Reason::Used { by: Use::Open(_) | Use::FileOpen(_), .. })
    }

    /// Returns true for a known format, or partitions.
    pub fn is_known_content(&self) -> bool {
        match self {
            Reason::Holds(signature) => !signature.is_unknown(),
            Reason::OtherFiles | Reason::Partitions(_) => true,
            _ => false,
        }
    }

    /// Returns true if the device contains the root directory, or a folder that a running system needs. A device that
    /// is mounted in several places has a reason for each.
    pub fn is_of_the_system(&self) -> bool {
        let Reason::Used { by: Use::Mounted { at, is_elsewhere: false, .. }, .. } = self else { return false };
        at == Path::new("/")
            || PROGRAMS.iter().any(|folder| at.starts_with(folder))
            || STATE.iter().any(|folder| at == Path::new(folder))
    }

    /// Returns the hint for the user.
    pub fn hint(&self) -> String {
        match self {
            Reason::Used { by: Use::Mounted { is_elsewhere: true, .. }, .. } => {
                "a container or a service has it mounted; list the mounts of a process: findmnt --task PID".to_owned()
            }
            // Any program may have chosen the mount point.
            Reason::Used { by: Use::Mounted { at, .. }, .. } if !at.shown().contains(char::is_control) => {
                format!("unmount it: umount {}", shell_word(at))
            }
            Reason::Used { by: Use::Mounted { .. }, .. } => "list all mounts: findmnt".to_owned(),
            Reason::Used { by: Use::Alive(_), .. } => {
                "end the programs that still have files on it open: it was unmounted before they closed them".to_owned()
            }
            Reason::Used { by: Use::Swap, what } => format!("stop using it as swap: swapoff /dev/{}", what.name),
            Reason::Used { by: Use::Btrfs(_) | Use::Journal, .. } => "unmount the file system it belongs to".to_owned(),
            Reason::Used { by: Use::Held(by), .. } => {
                format!("stop {by} first (dmsetup, vgchange, mdadm, cryptsetup), or name it as the target")
            }
            Reason::Used { by: Use::Loop(by), .. } | Reason::SameFile(by) => {
                format!("detach the other loop device: losetup --detach /dev/{by}")
            }
            Reason::Used { by: Use::Exported(by), .. } => by.hint().to_owned(),
            Reason::Used { by: Use::Open(program) | Use::FileOpen(program), .. } => {
                format!("end that program first; look at it: ps -fp {}", program.pid)
            }
            Reason::UnseenFile { .. } => {
                "attach a loop device to a file on ext4, xfs, btrfs or tmpfs, and name that device".to_owned()
            }
            Reason::MayShow { device, .. } => {
                format!("if /dev/{device} is not needed, detach it: losetup --detach /dev/{device}")
            }
            Reason::HiddenProcesses(_) | Reason::LeftOutProcesses => {
                "run it as root and outside of containers, to see the open files of all processes".to_owned()
            }
            Reason::ReadOnly => "list read-only devices: lsblk -o NAME,RO".to_owned(),
            Reason::Claimed => {
                "a program, ZFS or a mount that is hidden from this user or container uses it".to_owned()
            }
            Reason::Unseen => "run it as root and outside of containers, with all of /proc, /sys and /dev".to_owned(),
            Reason::Holds(_) | Reason::Partitions(_) | Reason::Uncounted(None) | Reason::UnseenWrites(_) => {
                "check the device: lsblk --fs".to_owned()
            }
            Reason::OtherFiles => "mount it, copy them to another disk, and delete them here".to_owned(),
            Reason::Uncounted(Some(switch)) => format!("turn on I/O counting: echo 1 > {}", plain(switch)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Used { what, by } => match by {
                Use::Mounted { at, file_system, is_elsewhere } => {
                    let space = if *is_elsewhere { " in another mount namespace" } else { "" };
                    write!(f, "{what} is mounted at {}{space} ({file_system})", plain(at))
                }
                Use::Alive(file_system) => {
                    write!(f, "{what} has a file system in use ({file_system}) without a visible mount")
                }
                Use::Swap => write!(f, "{what} is used as swap"),
                Use::Btrfs(uuid) => write!(f, "{what} is a member of a btrfs in use ({uuid})"),
                Use::Journal => write!(f, "{what} is the journal of a file system in use"),
                Use::Held(by) => write!(f, "{what} is part of {by}"),
                Use::Loop(by) => write!(f, "{what} is the backing device of {by}"),
                Use::Exported(by) => write!(f, "{what} is exported {by}"),
                Use::Open(program) => write!(f, "{what} is open for writing in {program}"),
                Use::FileOpen(program) => write!(f, "{what} has a backing file that is open for writing in {program}"),
            },
            Reason::UnseenFile { what, file_system } => {
                write!(
                    f,
                    "{what} has a backing file on {}, which may be in use under another name",
                    printable_name(file_system)
                )
            }
            Reason::MayShow { device, is_part: true, file_system } => {
                write!(
                    f,
                    "{device} may share bytes with it: {device} is a part of a file on {}",
                    printable_name(file_system)
                )
            }
            Reason::MayShow { device, is_part: false, file_system } => {
                write!(
                    f,
                    "{device} has the same size and may have the same bytes: its backing file is on {}",
                    printable_name(file_system)
                )
            }
            Reason::HiddenProcesses(1) => {
                write!(f, "1 process does not show whether it has the device open for writing")
            }
            Reason::HiddenProcesses(count) => {
                write!(f, "{count} processes do not show whether they have the device open for writing")
            }
            Reason::LeftOutProcesses => {
                write!(f, "/proc hides other users' processes (hidepid), which may have the device open for writing")
            }
            Reason::SameFile(other) => write!(f, "{other} has the same backing file"),
            Reason::ReadOnly => write!(f, "it is read-only"),
            Reason::Claimed => write!(f, "another program has it, or a device behind it, open exclusively"),
            Reason::Unseen => write!(f, "diskperf cannot see which programs use it"),
            Reason::Holds(Signature { format, label: Some(label), .. }) => write!(f, "it holds {format} {label:?}"),
            Reason::Holds(Signature { format, .. }) => write!(f, "it holds {format}"),
            Reason::OtherFiles => write!(f, "it holds files that diskperf did not make"),
            Reason::Partitions(names) => write!(f, "it has partitions ({})", names.join(", ")),
            Reason::Uncounted(_) => {
                write!(f, "the kernel does not count writes to it, so diskperf cannot check that it is blank")
            }
            Reason::UnseenWrites(what) => {
                let what = plain_text(what);
                write!(f, "diskperf cannot see whether another program writes to {what}, or check that it is blank")
            }
        }
    }
}

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kinship::Itself => write!(f, "it"),
            Kinship::Below => write!(f, "{}, which is below it,", self.name),
            Kinship::Partition => write!(f, "its partition {}", self.name),
            Kinship::Above => write!(f, "{}, which is on top of it,", self.name),
            Kinship::Overlapping => write!(f, "{}, which shares sectors with it,", self.name),
            Kinship::Twin => write!(f, "{}, which is another path to the same disk,", self.name),
        }
    }
}

/// Returns the name of a file system without control characters. A FUSE server may have chosen it.
fn printable_name(file_system: &str) -> String {
    plain_text(file_system)
}

/// Returns a path without control characters, which a terminal would obey.
fn plain(path: &Path) -> String {
    plain_text(&path.shown())
}

/// Maximum number of hints at once. If you follow them, others may remain.
const HINTS: usize = 3;

/// Returns the first hints for these reasons, each once.
pub fn hints(reasons: &[Reason]) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for hint in reasons.iter().map(Reason::hint) {
        if hints.len() < HINTS && !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}
