//! The test of a directory whose disk loses power by other means: writing until then, and checking the records
//! afterwards.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kernel::leftovers::scan::{self, Owner};

use crate::error::VerifyFault;
use crate::ledger::{Log, Note};
use crate::record::Records;
use crate::record_paths::Bounds;
use crate::writers::Writers;

/// The interval at which the writers are checked.
const PAUSE: Duration = Duration::from_millis(20);

/// Writes in a prepared folder until `stop` is set, and then retires all records. Fails if a writer or `say` fails.
pub fn write(
    stop: &AtomicBool,
    folder: &Path,
    records: Records,
    bounds: Bounds,
    say: impl Fn(Note) -> io::Result<()> + Clone + Send + 'static,
) -> io::Result<()> {
    let writers = Writers::start(folder, records, bounds, say.clone())?;
    while !stop.load(Ordering::Relaxed) && !writers.has_one_ended() {
        thread::sleep(PAUSE);
    }
    writers.stop()?;
    Note::all_retired().into_iter().try_for_each(say)
}

/// The folder that a log names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path of the folder.
    pub folder: PathBuf,
    /// True if the folder exists.
    pub is_there: bool,
}

/// Finds the folder of a log's records:
///   1. if nothing is promised, or everything is retired, the folder need not exist;
///   2. a missing folder counts as lost only if the user said so: its disk may not be mounted;
///   3. if a process still writes there, the power was not cut.
pub fn find(path: &Path, log: &Log, may_be_lost: bool) -> Result<Found, VerifyFault> {
    let folder = path.join(&log.folder);
    let is_there = !fs::symlink_metadata(&folder).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    // 1 and 2
    if !is_there && !may_be_lost && log.ledger.promises().next().is_some() {
        return Err(VerifyFault::NoRecords { path: path.to_owned(), folder: log.folder.clone() });
    }
    // 3
    if let Some(Owner::Process(pid)) = scan::find_leftover(&folder).map(|left| left.owner) {
        return Err(VerifyFault::StillWriting { path: folder, pid });
    }
    Ok(Found { folder, is_there })
}
