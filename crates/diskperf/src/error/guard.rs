//! What to make of a device that is not overwritten.

use std::ffi::OsString;
use std::path::Path;

use kernel::guard::{GuardFault, Reason, Use};
use kernel::may_administer;
use kernel::name::Shown;

use super::image::as_root;
use super::lacks_rights;
use crate::consent::is_same;
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
            // Whatever else is mounted of the disk that the system runs from, nothing of it is to be unmounted.
            if reasons.iter().any(is_of_the_system) {
                return Some(ANOTHER.to_owned());
            }
            let mut hints = of_reasons(reasons);
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
        GuardFault::Failed { device, .. } => {
            // Without --yes: the device may hold a file system that was kept and has been used since.
            let device = shell::word(device);
            format!("dmesg says what the kernel saw; once it works, see what a run left there: diskperf clean {device}")
        }
        GuardFault::Unreadable { .. } | GuardFault::Stopped(_) => return None,
    })
}

/// What to try if a device cannot be given up.
const ANOTHER: &str = "this system uses it: choose another device; lsblk -o NAME,SIZE,MODEL,MOUNTPOINTS lists them";

/// Folders in which a running system has its programs and their configuration (Filesystem Hierarchy Standard 3.0, and those
/// of NixOS, Guix and OSTree). What is mounted below them belongs to it too.
const PROGRAMS: [&str; 13] = [
    "/bin", "/boot", "/efi", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/nix", "/ostree", "/sbin", "/sysroot", "/usr",
];

/// Folders that it needs, and in which disks of any kind may be mounted.
const STATE: [&str; 6] = ["/dev", "/home", "/root", "/run", "/srv", "/var"];

/// Whether the device has the root of all files, or a folder that a running system needs. A folder may be mounted in more
/// than one place: the root is known by its numbers too.
fn is_of_the_system(reason: &Reason) -> bool {
    let Reason::Used { by: Use::Mounted { at, is_elsewhere: false, .. }, .. } = reason else { return false };
    is_same(at, Path::new("/"))
        || PROGRAMS.iter().any(|folder| at.starts_with(folder))
        || STATE.iter().any(|folder| at == Path::new(folder))
}

fn of_reasons(reasons: &[Reason]) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for hint in reasons.iter().map(of_reason) {
        if hints.len() < SAID && !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}

/// What to try where a run is not gone on with, which this command began in this folder.
pub fn hint_on_resuming(fault: &GuardFault, folder: &Path, command: &[OsString]) -> Option<String> {
    let GuardFault::Refused { reasons, identity, .. } = fault else { return hint(fault) };
    if reasons.iter().any(is_of_the_system) {
        return hint(fault);
    }
    let mut hints = of_reasons(reasons);
    if !reasons.iter().any(Reason::is_known_content) {
        hints.insert(0, "diskperf clean lists what killed runs may have left there".to_owned());
    }
    if reasons.iter().all(Reason::can_be_lifted) {
        // What stands behind two dashes is a command of the user's own.
        let end = command.iter().position(|word| word == "--").unwrap_or(command.len());
        let (own, rest) = command.split_at(end);
        let agreed = ["--destroy-data", "--confirm", identity].map(OsString::from);
        let agreed = if own.iter().any(|word| word == "--destroy-data") { &[][..] } else { &agreed[..] };
        let (folder, line) = (shell::word(folder), shell::line(own.iter().chain(agreed).chain(rest)));
        hints.push(format!("to destroy what it holds and start again: cd {folder} && {line}"));
    }
    Some(hints.join("; "))
}

/// What to try of one reason. Where something is mounted anybody may have chosen: it is written as a shell takes it.
fn of_reason(reason: &Reason) -> String {
    match reason {
        Reason::Used { by: Use::Mounted { at, is_elsewhere: false, .. }, .. }
            if !at.shown().contains(char::is_control) =>
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
    fn nothing_is_unmounted_that_a_running_system_needs() {
        for at in ["/", "/usr/local", "/boot/efi", "/var", "/proc/self/root", "/etc/hosts"] {
            let reasons = vec![mounted("/mnt/data"), mounted(at)];
            let hint = hint(&GuardFault::Refused { device: String::new(), reasons, identity: String::new() });
            let hint = hint.expect("a hint");
            assert!(hint == ANOTHER && !hint.contains("umount"), "{at}: {hint}");
        }
        for at in ["/mnt/data", "/run/media/me/stick", "/var/lib/data"] {
            assert_eq!(refused(mounted(at), ""), format!("unmount it: umount {at}"));
        }
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
        assert!(hint(&failed(5)).is_some_and(|hint| hint.ends_with("diskperf clean /dev/sdb")));
    }
}
