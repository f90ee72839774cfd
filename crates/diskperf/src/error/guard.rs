//! What to make of a device that is not overwritten.

use kernel::guard::{GuardFault, Reason};
use kernel::may_administer;

use super::image::as_root;
use super::lacks_rights;
use crate::exit::Exit;

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
        GuardFault::Failed { .. } => Exit::Failed,
    }
}

/// What to try. Of several reasons each has its own.
pub fn hint(fault: &GuardFault) -> Option<String> {
    Some(match fault {
        GuardFault::Missing(_) => "lsblk lists the devices there are".to_owned(),
        GuardFault::NotADevice(_) => {
            "for a directory write its path alone; image:FSTYPE,dir=DIRECTORY makes a file system in a file".to_owned()
        }
        GuardFault::Unreadable { source, .. } if lacks_rights(source) && !may_administer() => as_root(),
        GuardFault::Unreadable { source, .. } if lacks_rights(source) => {
            "even root may not open it here; a container must be given the device".to_owned()
        }
        GuardFault::Refused { reasons, identity, .. } => {
            let mut hints: Vec<String> = Vec::new();
            for hint in reasons.iter().map(Reason::hint) {
                if hints.len() < SAID && !hints.contains(&hint) {
                    hints.push(hint);
                }
            }
            if reasons.iter().all(Reason::can_be_lifted) {
                hints.push(format!("to destroy what it holds: --destroy-data --confirm '{identity}'"));
            }
            hints.join("; ")
        }
        GuardFault::NotConfirmed { what, .. } => {
            format!("lsblk -o NAME,MODEL,SERIAL,SIZE shows it; give its {what} by --confirm")
        }
        GuardFault::Changed(..) => "find out who else is at work on it, and run it again".to_owned(),
        GuardFault::Unreadable { .. } | GuardFault::Failed { .. } => return None,
    })
}
