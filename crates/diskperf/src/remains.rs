//! Leftovers of killed processes of a stored run: private folders, file systems on devices, tuned queues. Their tags and
//! notes hold the run's name. Leftovers of other runs stay, and so does what a running process made.

use std::path::{Path, PathBuf};

use kernel::name::Shown;
use kernel::tuning::{self, restore_left, restore_left_of};
use kernel::{Vacated, left_volumes_of, remove_left};

use crate::error::Error;
use crate::ui::shell;

/// Removes what killed processes of this run left in these folders, on devices and in queues, and prints it. If one cannot
/// be removed, the others are; the last such error is returned. Only the holder of the run may call it. The devices stay
/// held until the returned values are dropped.
pub fn remove(run: &str, folders: impl IntoIterator<Item = PathBuf>) -> Result<Vec<Vacated>, Error> {
    let mut outcome = Ok(());
    for folder in folders {
        match remove_left(&folder, run) {
            Ok(swept) => {
                swept.removed.iter().for_each(|path| remark!("removed {}, left by {run}", path.shown()));
                for path in swept.kept {
                    let (path, folder) = (path.shown(), shell::word(&folder));
                    remark!("{path} stays: no tag proves that {run} made it; diskperf clean {folder} asks for it");
                }
            }
            Err(fault) => outcome = Err(fault.into()),
        }
    }
    outcome.and(release(run))
}

/// The same for devices and queues only. Their notes show whether the process still runs.
pub fn release(run: &str) -> Result<Vec<Vacated>, Error> {
    let waits = |node: &Path| remark!("waiting for the mkfs that {run} started on {}", node.shown());
    let mut outcome = Ok(Vec::new());
    // Without notes nothing was made, or nothing can be recognised.
    for volume in left_volumes_of(run, waits).unwrap_or_default() {
        let erased = match volume {
            Ok(volume) => volume.erase().map(|vacated| (volume, vacated)).map_err(Error::from),
            Err((_, fault)) => Err(fault.into()),
        };
        match erased {
            Ok((volume, vacated)) => {
                let (file_system, node, pid) = (&volume.file_system, volume.node(), volume.pid);
                remark!("erased the {file_system} on {}, left by {run} (process {pid})", node.shown());
                if let Ok(all) = &mut outcome {
                    all.push(vacated);
                }
            }
            Err(error) => outcome = Err(error),
        }
    }
    say(restore_left_of(run).unwrap_or_default());
    outcome
}

/// Restores the queues that killed processes of any run have left changed, and prints it.
pub fn restore_queues() {
    // Runs that tune a queue report unreadable notes themselves.
    say(restore_left(|_| true).unwrap_or_default());
}

fn say(restored: Vec<tuning::Left>) {
    for left in restored {
        match left.outcome {
            Ok(()) => remark!("restored the queue of {}, left tuned by process {}", left.disk, left.pid),
            Err(fault) => {
                remark!("cannot restore the queue of {}, left tuned by process {}: {fault}", left.disk, left.pid)
            }
        }
    }
}
