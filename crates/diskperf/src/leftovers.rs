//! Leftovers of a stored run's killed processes: private folders, file systems on devices, tuned queues. Their tags and
//! notes hold the run's name. Leftovers of other runs and of running processes stay.

use std::path::{Path, PathBuf};

use campaign::events::Event;
use campaign::targets::{TargetArgument, TargetKind};
use kernel::provision::queue_tuning::{self, restore_left, restore_left_of};
use kernel::{Vacated, left_volumes_of, remove_left};
use stats::TargetInfo;

use crate::error::Error;

/// The paths among the targets of a stored run that was started in `folder`: directories, and devices.
pub fn paths(targets: &[TargetInfo], folder: &Path) -> impl Iterator<Item = PathBuf> {
    targets.iter().filter_map(move |target| match TargetArgument::from(target.argument.clone()).kind {
        TargetKind::Directory(path) => Some(folder.join(path)),
        _ => None,
    })
}

/// Removes what killed processes of this run left in these folders, on devices and in queues, and reports it. If one
/// cannot be removed, the others are still removed, and the last such error is returned. Only the holder of the run may
/// call this function. The devices stay held until the returned values are dropped.
pub fn remove(
    run: &str,
    folders: impl IntoIterator<Item = PathBuf>,
    notify: &mut dyn FnMut(Event),
) -> Result<Vec<Vacated>, Error> {
    let mut outcome = Ok(());
    for folder in folders {
        match remove_left(&folder, run) {
            Ok(swept) => {
                swept.removed.iter().for_each(|path| notify(Event::FolderRemoved { run, path }));
                swept.kept.iter().for_each(|path| notify(Event::FolderStays { run, path, within: &folder }));
            }
            Err(fault) => outcome = Err(fault.into()),
        }
    }
    outcome.and(release(run, notify))
}

/// Like `remove`, but for devices and queues only. Their notes show whether the process still runs.
pub fn release(run: &str, notify: &mut dyn FnMut(Event)) -> Result<Vec<Vacated>, Error> {
    let mut waits = |node: &Path| notify(Event::MkfsRuns { run, node });
    let mut outcome = Ok(Vec::new());
    // If the notes cannot be read, no file system was made, or none can be recognised.
    for volume in left_volumes_of(run, &mut waits).unwrap_or_default() {
        let erased = match volume {
            Ok(volume) => volume.erase().map(|vacated| (volume, vacated)).map_err(Error::from),
            Err((_, fault)) => Err(fault.into()),
        };
        match erased {
            Ok((volume, vacated)) => {
                notify(Event::VolumeErased { run, volume: &volume });
                if let Ok(all) = &mut outcome {
                    all.push(vacated);
                }
            }
            Err(error) => outcome = Err(error),
        }
    }
    report(&restore_left_of(run).unwrap_or_default(), notify);
    outcome
}

/// Restores the queues that killed processes of any run left tuned, and reports it. Removes their instances of the
/// kernel's tracer.
pub fn restore_queues(notify: &mut dyn FnMut(Event)) {
    // Runs that tune a queue report unreadable notes themselves.
    report(&restore_left(|_| true).unwrap_or_default(), notify);
    // An instance that stays takes memory.
    kernel::remove_left_instances();
}

fn report(restored: &[queue_tuning::Restored], notify: &mut dyn FnMut(Event)) {
    restored.iter().for_each(|left| notify(Event::QueueLeft(left)));
}
