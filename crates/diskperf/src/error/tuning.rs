//! Exit statuses and hints for block-queue settings.

use kernel::tuning::TuningFault;
use units::Exit;

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
        TuningFault::Unknown { known, .. } => format!("known attributes: {}", known.join(", ")),
        TuningFault::Refused { choices, .. } if !choices.is_empty() => format!("choose one of: {}", choices.join(", ")),
        TuningFault::Rounded { setting, became, .. } => {
            let attribute = setting.split(':').next().unwrap_or(setting);
            format!("use the value that the kernel rounds to: {attribute}:{became}")
        }
        TuningFault::NoRights { .. } => "run it as root".to_owned(),
        TuningFault::Twice(_) => "run them in turn: --solo".to_owned(),
        TuningFault::InUse { .. } => "wait until that process ends".to_owned(),
        TuningFault::NoNotes | TuningFault::Notes { .. } => {
            "run it as root, or set XDG_RUNTIME_DIR to a folder of yours".to_owned()
        }
        TuningFault::NoQueue(_)
        | TuningFault::Refused { .. }
        | TuningFault::Read { .. }
        | TuningFault::Restore { .. } => return None,
    })
}
