//! Exit status and hints for devices that are not overwritten.

use std::ffi::OsString;
use std::path::Path;

use kernel::guard::{GuardFault, Reason, Use};
use kernel::name::Shown;
use kernel::{lacks_rights, may_administer};
use units::Exit;

use super::image::as_root;
use crate::ui::consent::Doubt;
use crate::ui::shell;

/// How many hints are given at once. If you follow them, others may remain.
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

/// What to try. Each of several reasons has its own hint.
pub fn hint(fault: &GuardFault) -> Option<String> {
    Some(match fault {
        GuardFault::Missing(_) => "list the devices: lsblk".to_owned(),
        GuardFault::NotADevice(_) => {
            "for a directory write its path alone; for a file system in a file, image:FSTYPE,dir=DIRECTORY".to_owned()
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
            // Of the disk that the system runs from, nothing may be unmounted.
            if reasons.iter().any(is_of_the_system) {
                return Some(ANOTHER.to_owned());
            }
            let mut hints = of_reasons(reasons);
            if reasons.iter().all(Reason::can_be_lifted) {
                let identity = shell::word(identity);
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
            let device = shell::word(device);
            format!("read dmesg; when the device works again, look for leftovers: diskperf clean {device}")
        }
        GuardFault::Unreadable { .. } | GuardFault::Stopped(_) => return None,
    })
}

/// What to try if the running system needs the device.
const ANOTHER: &str = "this system uses it: choose another device; lsblk -o NAME,SIZE,MODEL,MOUNTPOINTS lists them";

/// Folders in which a running system has its programs and their configuration (Filesystem Hierarchy Standard 3.0, and
/// those of NixOS, Guix and OSTree). What is mounted below them belongs to it too.
const PROGRAMS: [&str; 13] = [
    "/bin", "/boot", "/efi", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/nix", "/ostree", "/sbin", "/sysroot", "/usr",
];

/// Folders that it needs, and below which other disks may be mounted.
const STATE: [&str; 6] = ["/dev", "/home", "/root", "/run", "/srv", "/var"];

/// Whether the device has the root directory, or a folder that a running system needs. If the device is mounted in
/// several places, each of them is a reason.
fn is_of_the_system(reason: &Reason) -> bool {
    let Reason::Used { by: Use::Mounted { at, is_elsewhere: false, .. }, .. } = reason else { return false };
    at == Path::new("/")
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

/// What to try if a run is not resumed. This command started it in this folder.
pub fn hint_on_resuming(
    fault: &GuardFault,
    doubt: Option<Doubt>,
    folder: &Path,
    command: &[OsString],
) -> Option<String> {
    let GuardFault::Refused { reasons, identity, .. } = fault else { return hint(fault) };
    if reasons.iter().any(is_of_the_system) {
        return hint(fault);
    }
    let mut hints = of_reasons(reasons);
    // A file system that was replaced, or of which the notes are gone, is not listed.
    let is_listed = !matches!(doubt, Some(Doubt::Replaced | Doubt::Restarted));
    if is_listed && !reasons.iter().any(Reason::is_known_content) {
        hints.insert(0, "list the leftovers of killed runs: diskperf clean".to_owned());
    }
    if reasons.iter().all(Reason::can_be_lifted) {
        // The words after two dashes are a command of yours.
        let end = command.iter().position(|word| word == "--").unwrap_or(command.len());
        let (own, rest) = command.split_at(end);
        let agreed = ["--destroy-data", "--confirm", identity].map(OsString::from);
        let agreed = if own.iter().any(|word| word == "--destroy-data") { &[][..] } else { &agreed[..] };
        let (folder, line) = (shell::word(folder), shell::line(own.iter().chain(agreed).chain(rest)));
        hints.push(format!("to overwrite its data and start again: cd {folder} && {line}"));
    }
    Some(hints.join("; "))
}

/// What to try for one reason. Any program may have chosen the mount point: it is quoted for a shell.
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
    fn names_of_devices_and_folders_are_quoted_for_a_shell() {
        for called in ["it's a; disk $(reboot)", "`reboot`", "plain"] {
            let said = refused(Reason::Partitions(vec!["sdb1".to_owned()]), called);
            let (_, command) = said.split_once("its data: ").expect("a command");
            assert_eq!(shlex::split(command), Some(vec!["--destroy-data".into(), "--confirm".into(), called.into()]));
            let said = refused(mounted(called), "");
            let command = said.strip_prefix("unmount it: ").expect("a command");
            assert_eq!(shlex::split(command), Some(vec!["umount".into(), called.into()]));
        }
        assert!(!refused(mounted("/\u{1b}[2J"), "").contains(char::is_control));
    }

    #[test]
    fn nothing_is_unmounted_that_a_running_system_needs() {
        for at in ["/", "/usr/local", "/boot/efi", "/var", "/etc/hosts"] {
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
    fn missing_rights_are_a_refusal_and_broken_devices_a_failure() {
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
