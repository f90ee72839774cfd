//! What to make of a queue that could not be tuned.

use kernel::tuning::TuningFault;

use crate::exit::Exit;

/// The exit status this stands for.
pub fn exit(fault: &TuningFault) -> Exit {
    match fault {
        TuningFault::NoQueue(_)
        | TuningFault::Unknown { .. }
        | TuningFault::Refused { .. }
        | TuningFault::Rounded { .. }
        | TuningFault::Twice(_) => Exit::Usage,
        TuningFault::NoRights { .. } | TuningFault::InUse { .. } | TuningFault::NoNotes | TuningFault::Notes { .. } => {
            Exit::Refused
        }
        TuningFault::Read { .. } | TuningFault::Restore { .. } => Exit::Failed,
    }
}

/// What to try.
pub fn hint(fault: &TuningFault) -> Option<String> {
    Some(match fault {
        TuningFault::Unknown { known, .. } => format!("there are: {}", known.join(", ")),
        TuningFault::Refused { choices, .. } if !choices.is_empty() => format!("it can be: {}", choices.join(", ")),
        TuningFault::Rounded { setting, became, .. } => {
            let attribute = setting.split(':').next().unwrap_or(setting);
            format!("ask for what the kernel makes of it: {attribute}:{became}")
        }
        TuningFault::NoRights { .. } => "run it as root".to_owned(),
        TuningFault::Twice(_) => "run them in turn: --solo".to_owned(),
        TuningFault::InUse { .. } => "wait until that has ended".to_owned(),
        TuningFault::NoNotes | TuningFault::Notes { .. } => {
            "run it as root, or give yourself a folder of your own in XDG_RUNTIME_DIR".to_owned()
        }
        TuningFault::NoQueue(_)
        | TuningFault::Refused { .. }
        | TuningFault::Read { .. }
        | TuningFault::Restore { .. } => return None,
    })
}
