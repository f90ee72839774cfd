//! What to make of a device that is not overwritten.

use kernel::guard::{GuardFault, Reason, Use};
use kernel::may_administer;

use super::image::as_root;
use super::lacks_rights;
use crate::exit::Exit;
use crate::shell;

/// So many hints are given at once; when they are followed, others may remain.
const SAID: usize = 3;

/// The exit status this stands for.
pub fn exit(fault: &GuardFault) -> Exit {
    match fault {
        GuardFault::Missing(_) | GuardFault::NotADevice(_) => Exit::Usage,
        GuardFault::Unreadable { .. }
        | GuardFault::Refused { .. }
        | GuardFault::NotConfirmed { .. }
        | GuardFault::Changed(..) => Exit::Refused,
        GuardFault::Failed { source, .. } if lacks_rights(source) => Exit::Refused,
        GuardFault::Failed { .. } | GuardFault::Stopped(_) => Exit::Failed,
    }
}

/// What to try. Of several reasons each has its own.
pub fn hint(fault: &GuardFault) -> Option<String> {
    Some(match fault {
        GuardFault::Missing(_) => "lsblk lists the devices there are".to_owned(),
        GuardFault::NotADevice(_) => {
            "for a directory write its path alone; image:FSTYPE,dir=DIRECTORY makes a file system in a file".to_owned()
        }
        GuardFault::Unreadable { source, .. } | GuardFault::Failed { source, .. }
            if lacks_rights(source) && !may_administer() =>
        {
            as_root()
        }
        GuardFault::Unreadable { source, .. } | GuardFault::Failed { source, .. } if lacks_rights(source) => {
            "even root may not open it here; a container must be given the device".to_owned()
        }
        GuardFault::Refused { reasons, identity, .. } => {
            let mut hints: Vec<String> = Vec::new();
            for hint in reasons.iter().map(of_reason) {
                if hints.len() < SAID && !hints.contains(&hint) {
                    hints.push(hint);
                }
            }
            if reasons.iter().all(Reason::can_be_lifted) {
                let identity = shell::word(identity);
                hints.push(format!("to destroy what it holds: --destroy-data --confirm {identity}"));
            }
            hints.join("; ")
        }
        GuardFault::NotConfirmed { what, .. } => {
            format!("lsblk -o NAME,MODEL,SERIAL,SIZE shows it; give its {what} by --confirm")
        }
        GuardFault::Changed(..) => "find out who else is at work on it, and run it again".to_owned(),
        GuardFault::Unreadable { .. } | GuardFault::Failed { .. } | GuardFault::Stopped(_) => return None,
    })
}

/// What to try of one reason. Where something is mounted anybody may have chosen: it is written as a shell takes it.
fn of_reason(reason: &Reason) -> String {
    match reason {
        Reason::Used { by: Use::Mounted { at, is_elsewhere: false, .. }, .. }
            if !at.to_string_lossy().contains(char::is_control) =>
        {
            format!("unmount it: umount {}", shell::word(at))
        }
        _ => reason.hint(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use kernel::guard::{Kinship, Relative};

    use super::*;

    fn refused(reason: Reason, identity: &str) -> String {
        let (device, identity) = ("/dev/sdb".to_owned(), identity.to_owned());
        hint(&GuardFault::Refused { device, reasons: vec![reason], identity }).expect("a hint")
    }

    fn mounted(at: &str) -> Reason {
        let what = Relative { kind: Kinship::Itself, name: "sdb".to_owned() };
        Reason::Used { what, by: Use::Mounted { at: at.into(), file_system: "ext4".to_owned(), is_elsewhere: false } }
    }

    #[test]
    fn a_shell_takes_what_a_device_and_a_folder_are_called_for_words() {
        for called in ["it's a; disk $(reboot)", "`reboot`", "plain"] {
            let said = refused(Reason::Partitions(vec!["sdb1".to_owned()]), called);
            let (_, command) = said.split_once("what it holds: ").expect("a command");
            assert_eq!(shlex::split(command), Some(vec!["--destroy-data".into(), "--confirm".into(), called.into()]));
            let said = refused(mounted(called), "");
            let command = said.strip_prefix("unmount it: ").expect("a command");
            assert_eq!(shlex::split(command), Some(vec!["umount".into(), called.into()]));
        }
        assert!(!refused(mounted("/\u{1b}[2J"), "").contains(char::is_control));
    }

    #[test]
    fn what_may_not_be_written_to_is_refused_and_what_breaks_has_failed() {
        let failed = |number| {
            let source = io::Error::from_raw_os_error(number);
            GuardFault::Failed { action: "open", device: "/dev/sdb".into(), source }
        };
        // From errno.h: EPERM, EACCES, EROFS; EIO.
        for (number, status) in [(1, Exit::Refused), (13, Exit::Refused), (30, Exit::Refused), (5, Exit::Failed)] {
            assert_eq!(exit(&failed(number)), status, "{number}");
        }
        assert!(hint(&failed(13)).is_some() && hint(&failed(5)).is_none());
    }
}
