//! Errors of the guard: message, exit status and hint.

use std::io;
use std::path::PathBuf;

use units::Exit;

use super::reason::{Reason, hints};
use crate::errors::{as_root, lacks_rights, message};
use crate::sys::name::{Shown, shell_word};
use crate::sys::rights::may_administer;

/// An error that keeps the guard from giving permission to overwrite a device.
#[derive(Debug, thiserror::Error)]
pub enum GuardFault {
    /// There is no device of that name, or the name is left of a device that was pulled out. Nothing was created.
    #[error("there is no device {}; nothing was created", .0.shown())]
    Missing(PathBuf),
    /// The path leads to a directory, a file or a pipe.
    #[error("{} is not a block device; nothing was written to it", .0.shown())]
    NotADevice(PathBuf),
    /// This user cannot open the device.
    #[error("cannot inspect {device}: {}", message(source), device = .device.shown())]
    Unreadable {
        /// The device.
        device: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// There are reasons not to overwrite it. Nothing was written.
    #[error("{device} is not overwritten: {}", list(.reasons))]
    Refused {
        /// The device's path and description.
        device: String,
        /// All reasons.
        reasons: Vec<Reason>,
        /// Model, serial number or size that name this device: the value for `--confirm`.
        identity: String,
    },
    /// The typed words do not name the device. Nothing was written.
    #[error("{device} is not overwritten: {}", not_it(.typed, .what))]
    NotConfirmed {
        /// The device's path and description.
        device: String,
        /// The typed words; empty if there were none.
        typed: String,
        /// `model and serial number`, or `size`.
        what: &'static str,
    },
    /// Another device, or another file system, took its place after the inspection.
    #[error("{} has changed since diskperf checked it: {}; diskperf leaves it as it is", .0.shown(), .1)]
    Changed(PathBuf, &'static str),
    /// You stopped diskperf while it read the device.
    #[error("stopped while {} was read; nothing was written to it", .0.shown())]
    Stopped(PathBuf),
    /// Writing or flushing failed.
    #[error("cannot {action} {device}: {}", message(source), device = .device.shown())]
    Failed {
        /// The attempted action: a verb.
        action: &'static str,
        /// The device.
        device: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}

impl GuardFault {
    /// Returns the exit status of a command that the guard refused.
    pub fn exit(&self) -> Exit {
        match self {
            GuardFault::Missing(_) | GuardFault::NotADevice(_) => Exit::Usage,
            GuardFault::Unreadable { .. }
            | GuardFault::Refused { .. }
            | GuardFault::NotConfirmed { .. }
            | GuardFault::Changed(..) => Exit::Refused,
            GuardFault::Failed { source, .. } if lacks_rights(source) => Exit::Refused,
            GuardFault::Failed { .. } | GuardFault::Stopped(_) => Exit::Failed,
        }
    }

    /// Returns the hint for the user. Several reasons have one hint each.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            GuardFault::Missing(_) => "list the devices: lsblk".to_owned(),
            GuardFault::NotADevice(_) => {
                "for a directory write its path alone; for a file system in a file, image:FSTYPE,dir=DIRECTORY"
                    .to_owned()
            }
            GuardFault::Unreadable { source, .. } | GuardFault::Failed { source, .. }
                if lacks_rights(source) && !may_administer() =>
            {
                as_root()
            }
            GuardFault::Unreadable { source, .. } | GuardFault::Failed { source, .. } if lacks_rights(source) => {
                "even root may not open it here; give the device to the container".to_owned()
            }
            GuardFault::Refused { reasons, identity, .. } => {
                // The disk that the system runs from must not be unmounted.
                if reasons.iter().any(Reason::is_of_the_system) {
                    return Some(ANOTHER.to_owned());
                }
                let mut hints = hints(reasons);
                if reasons.iter().all(Reason::can_be_lifted) {
                    let identity = shell_word(identity);
                    hints.push(format!("to overwrite its data: --destroy-data --confirm {identity}"));
                }
                hints.join("; ")
            }
            GuardFault::NotConfirmed { what, .. } => {
                format!("read its {what} with lsblk -o NAME,MODEL,SERIAL,SIZE, and give it with --confirm")
            }
            GuardFault::Changed(..) => "find the program that uses the device, and run diskperf again".to_owned(),
            GuardFault::Failed { device, .. } => {
                // Without --yes: the device may hold a file system that was kept and that you have used since.
                let device = shell_word(device);
                format!("read dmesg; when the device works again, look for leftovers: diskperf clean {device}")
            }
            GuardFault::Unreadable { .. } | GuardFault::Stopped(_) => return None,
        })
    }
}

/// Hint if the running system needs the device.
const ANOTHER: &str = "this system uses it: choose another device; lsblk -o NAME,SIZE,MODEL,MOUNTPOINTS lists them";

fn not_it(typed: &str, what: &str) -> String {
    match typed.trim() {
        "" => format!("you have not named the device by its {what}"),
        typed => format!("{typed:?} is not its {what}"),
    }
}

/// Maximum number of reasons in a message; a disk may be mounted in a hundred containers.
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
    use super::super::reason::{Kinship, Relative, Use};
    use super::*;

    #[test]
    fn only_the_first_of_many_reasons_are_printed() {
        assert_eq!(list(&[Reason::ReadOnly, Reason::Claimed]), format!("{}; {}", Reason::ReadOnly, Reason::Claimed));
        let many = list(&vec![Reason::ReadOnly; 8]);
        assert!(many.ends_with("; and 2 more reasons"), "{many}");
        assert_eq!(many.matches("it is read-only").count(), SAID);
    }

    fn refused(reason: Reason, identity: &str) -> String {
        let (device, identity) = ("/dev/sdb".to_owned(), identity.to_owned());
        GuardFault::Refused { device, reasons: vec![reason], identity }.hint().expect("a hint")
    }

    fn mounted(at: &str) -> Reason {
        let what = Relative { kind: Kinship::Itself, name: "sdb".to_owned() };
        Reason::Used { what, by: Use::Mounted { at: at.into(), file_system: "ext4".to_owned(), is_elsewhere: false } }
    }

    #[test]
    fn names_of_devices_and_folders_are_quoted_for_a_shell() {
        for (called, quoted) in
            [("it's a; disk $(reboot)", r"'it'\''s a; disk $(reboot)'"), ("`reboot`", "'`reboot`'"), ("plain", "plain")]
        {
            let said = refused(Reason::Partitions(vec!["sdb1".to_owned()]), called);
            assert!(said.ends_with(&format!("--destroy-data --confirm {quoted}")), "{said}");
            assert_eq!(refused(mounted(called), ""), format!("unmount it: umount {quoted}"));
        }
        assert!(!refused(mounted("/\u{1b}[2J"), "").contains(char::is_control));
    }

    #[test]
    fn hints_never_unmount_folders_of_the_running_system() {
        for at in ["/", "/usr/local", "/boot/efi", "/var", "/etc/hosts"] {
            let reasons = vec![mounted("/mnt/data"), mounted(at)];
            let hint = GuardFault::Refused { device: String::new(), reasons, identity: String::new() }.hint();
            let hint = hint.expect("a hint");
            assert!(hint == ANOTHER && !hint.contains("umount"), "{at}: {hint}");
        }
        for at in ["/mnt/data", "/run/media/me/stick", "/var/lib/data"] {
            assert_eq!(refused(mounted(at), ""), format!("unmount it: umount {at}"));
        }
    }

    #[test]
    fn missing_rights_are_a_refusal_and_broken_devices_a_failure() {
        let failed = |number| {
            let source = io::Error::from_raw_os_error(number);
            GuardFault::Failed { action: "open", device: "/dev/sdb".into(), source }
        };
        // From errno.h: EPERM, EACCES, EROFS; EIO.
        for (number, status) in [(1, Exit::Refused), (13, Exit::Refused), (30, Exit::Refused), (5, Exit::Failed)] {
            assert_eq!(failed(number).exit(), status, "{number}");
        }
        assert!(failed(5).hint().is_some_and(|hint| hint.ends_with("diskperf clean /dev/sdb")));
    }
}
