//! A directory whose power somebody else cuts: writing until then, and looking afterwards.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kernel::Workspace;
use kernel::left::{self, Holder};
use kernel::name::Shown;
use kernel::place::Place;
use units::{Bytes, Exit, Prng};

use super::{conclude, document, power_cut, text_of};
use crate::consent::{self, YesArguments};
use crate::error::Error;
use crate::layout::OutputArguments;
use crate::shell;
use crate::signals::Stop;
use crate::target::Target;
use crate::verify::{Bounds, Log, Note, Records, Writers, check as judge};

/// What the folder's name holds.
const LABEL: &str = "verify";

/// How often the writers are looked after.
const PAUSE: Duration = Duration::from_millis(20);

/// Writes in a private folder, and prints what is acknowledged, until the power is cut or somebody says stop.
pub fn write(path: &Path, place: &Place, seed: Option<u64>, said: &YesArguments) -> Result<Exit, Error> {
    if place.in_memory.is_some() {
        return Err(Error::NothingLasts(path.to_owned()));
    }
    if place.free_bytes < Bounds::LEAST {
        let (free, needed) = (Bytes(place.free_bytes), Bytes(Bounds::LEAST));
        return Err(Error::NoRoom { path: path.to_owned(), free, needed });
    }
    lies_elsewhere(path)?;
    consent::ask_place(said, path, place)?;
    let stop = Stop::on_signals()?;
    let folder = Workspace::labelled(path, LABEL)?;
    let failed = |source| Error::Writers { path: path.to_owned(), source };
    File::open(path).and_then(|parent| parent.sync_all()).map_err(failed)?;
    let (records, bounds) = (Records { seed: seed.unwrap_or_else(another) }, Bounds::within(place.free_bytes));
    let name = folder.path().file_name().unwrap_or_default().shown().into_owned();
    remark!(
        "writes in {}; cut the power at any moment, and then: diskperf verify {} --check LOG",
        folder.path().shown(),
        shell::word(path)
    );
    let began = Writers::prepare(folder.path(), records);
    // Until here nothing is promised, and nothing need be left.
    let began = began.and_then(|()| say(&Log::heading(records.seed, bounds.records, &name)));
    let ended = began.and_then(|()| {
        let ended = write_until(&stop, folder.path(), records, bounds);
        leave_or_remove(folder, path, ended.is_ok());
        ended
    });
    match ended {
        Ok(()) => Ok(Exit::Interrupted),
        // Whoever read has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(source) => Err(failed(source)),
    }
}

/// Writes until it is told to stop, and then takes back all that was promised. Fails where a writer does, or where that
/// cannot be printed.
fn write_until(stop: &Stop, folder: &Path, records: Records, bounds: Bounds) -> io::Result<()> {
    let writers = Writers::start(folder, records, bounds, |note| say(&note.to_string()))?;
    while !stop.requested() && !writers.has_one_ended() {
        thread::sleep(PAUSE);
    }
    writers.stop()?;
    Note::all_retired().iter().try_for_each(|note| say(&note.to_string()))
}

/// What is promised stays: else it would be found missing.
fn leave_or_remove(folder: Workspace, path: &Path, is_taken_back: bool) {
    if is_taken_back {
        drop(folder);
        remark!("stopped; nothing is left behind");
    } else {
        remark!(
            "{} stays, because the log refers to it; diskperf clean {} removes it",
            folder.path().shown(),
            shell::word(path)
        );
        folder.leave();
    }
}

/// Holds what is there against what was printed:
///   1. where nothing was promised, or all was taken back, there is nothing to look for;
///   2. a folder that is not there is lost only where that was said: its disk may not be mounted;
///   3. who still writes there has its power;
///   4. nobody can say here whether the disk alone had none for a while;
///   5. what was written is removed where something of it was looked for and nothing was lost.
pub fn check(
    target: &Target,
    path: &Path,
    (log, may_be_lost): (&Path, bool),
    output: &OutputArguments,
) -> Result<Exit, Error> {
    let text = text_of(log)?;
    let log = Log::parse(&text).map_err(|fault| Error::BadLog { path: log.to_owned(), fault })?;
    let folder = path.join(&log.folder);
    let (records, bounds) = (Records { seed: log.seed }, Bounds { records: log.records });
    let failed = |source| Error::Unreadable { path: folder.clone(), source };
    let is_there = !fs::symlink_metadata(&folder).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    // 1 and 2
    if !is_there && !may_be_lost && log.ledger.promises().next().is_some() {
        return Err(Error::NoRecords { path: path.to_owned(), folder: log.folder });
    }
    // 3
    if let Some(Holder::Process(pid)) = left::at(&folder).map(|left| left.holder) {
        return Err(Error::StillWriting { path: folder, pid });
    }
    // 4
    if left::is_of_this_boot(&folder) {
        remark!(
            "this machine was not started again since: unless the disk alone lost its power, and was mounted again, \
             nothing was tested"
        );
    }
    let judged = judge(&folder, records, bounds, &log.ledger).map_err(failed)?;
    let mut found = document(target, log.seed);
    found.cuts.push(power_cut(1, None, &judged));
    let exit = conclude(output, found, Ok(()))?;
    // 5
    if exit != Exit::Done {
        if is_there {
            remark!("{} stays as it was found; diskperf clean {} removes it", folder.shown(), shell::word(path));
        }
    } else if let Err(fault) = left::remove_folder(&folder) {
        remark!("{} stays: {fault}", folder.shown());
    }
    Ok(exit)
}

/// Refuses to print into a file that goes with the power of what is tried.
fn lies_elsewhere(path: &Path) -> Result<(), Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let printed_to = fs::metadata("/proc/self/fd/1").map_err(unreadable)?;
    let tried = fs::metadata(path).map_err(unreadable)?;
    if printed_to.is_file() && printed_to.dev() == tried.dev() {
        return Err(Error::LogIsLost(path.to_owned()));
    }
    Ok(())
}

/// A line on standard output, at once.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

/// A seed that no earlier call has had.
fn another() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    Prng::new(now ^ u64::from(std::process::id()).rotate_left(48)).next_u64()
}
