//! A directory whose power the user cuts: writes until then, and checks afterwards.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use campaign::signals::Stop;
use campaign::targets::Target;
use kernel::leftovers::scan;
use kernel::observe::mount::Place;
use kernel::sys::name::Shown;
use kernel::{PathFault, Workspace};
use powercut::{Bounds, Cut, Found, Log, Note, Records, VerifyFault, Writers, check as judge};
use units::{Bytes, Exit, Prng};

use super::{conclude, document, power_cut, text_of};
use crate::error::{Error, VerifyError};
use crate::ui::consent;
use crate::ui::output;
use crate::ui::output_format::OutputArguments;
use crate::ui::shell;

/// The label in the folder's name.
const LABEL: &str = "verify";

/// Writes in a private folder, and prints the acknowledged records, until the power is cut or a signal stops it.
pub fn write(path: &Path, place: &Place, seed: Option<u64>, is_agreed: bool) -> Result<Exit, Error> {
    if place.in_memory.is_some() {
        return Err(VerifyError::NothingLasts(path.to_owned()).into());
    }
    let free = place.free_bytes.unwrap_or(u64::MAX);
    if free < Bounds::LEAST {
        let (free, needed) = (Bytes(free), Bytes(Bounds::LEAST));
        return Err(PathFault::NoRoom { path: path.to_owned(), free, needed }.into());
    }
    lies_elsewhere(path)?;
    consent::ask_place(is_agreed, path, place)?;
    let stop = Stop::on_signals()?;
    let folder = Workspace::labelled(path, LABEL)?;
    let failed = |source| VerifyFault::Writers { path: path.to_owned(), source };
    File::open(path).and_then(|parent| parent.sync_all()).map_err(failed)?;
    let (records, bounds) = (Records { seed: seed.unwrap_or_else(another) }, Bounds::within(free));
    let name = folder.path().file_name().unwrap_or_default().shown().into_owned();
    output::remark(&format!(
        "writes in {}; cut the power at any moment, and then: diskperf verify {} --check LOG",
        folder.path().shown(),
        shell::word(path)
    ));
    let began = Writers::prepare(folder.path(), records);
    // Before this line is printed, no record is promised, so the folder need not stay.
    let began = began.and_then(|()| output::log_line(&Log::heading(records.seed, bounds.records, &name)));
    let ended = began.and_then(|()| {
        let ended = powercut::write(&stop.flag(), folder.path(), records, bounds, print_note);
        leave_or_remove(folder, path, ended.is_ok());
        ended
    });
    match ended {
        Ok(()) => Ok(Exit::Interrupted),
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(source) => Err(failed(source).into()),
    }
}

/// Prints a note. The power cut may also erase the page cache of a log on this machine. A retirement must survive that,
/// because its records are removed later: the check would report them as missing.
fn print_note(note: Note) -> io::Result<()> {
    output::log_line(&note.to_string())?;
    match note {
        Note::Retired { .. } => output::sync_log(),
        Note::Acknowledged { .. } => Ok(()),
    }
}

/// Removes the folder if its records were taken back. Otherwise the records are promised and must stay, because the
/// check would report them as missing.
fn leave_or_remove(folder: Workspace, path: &Path, is_taken_back: bool) {
    if is_taken_back {
        drop(folder);
        output::remark("stopped; nothing is left behind");
    } else {
        output::remark(&format!(
            "{} stays, because the log refers to it; diskperf clean {} removes it",
            folder.path().shown(),
            shell::word(path)
        ));
        folder.leave();
    }
}

/// Compares the records with the log, in the folder that `powercut::find` finds:
///   1. this machine cannot tell whether the disk alone had no power for a while;
///   2. the records are removed if the folder was there and nothing was lost.
pub fn check(
    target: &Target,
    path: &Path,
    (log, may_be_lost): (&Path, bool),
    output: &OutputArguments,
) -> Result<Exit, Error> {
    let text = text_of(log)?;
    let log = Log::parse(&text).map_err(|fault| VerifyFault::BadLog { path: log.to_owned(), fault })?;
    let Found { folder, is_there } = powercut::find(path, &log, may_be_lost)?;
    let (records, bounds) = (Records { seed: log.seed }, Bounds { records: log.records });
    let failed = |source| PathFault::Unreadable { path: folder.clone(), source };
    // 1
    if scan::is_of_this_boot(&folder) {
        output::remark(
            "this machine was not restarted since: unless only the disk lost its power and was mounted again, nothing \
             was tested",
        );
    }
    let judged = judge(&folder, records, bounds, &log.ledger).map_err(failed)?;
    let mut found = document(&target.typed, log.seed);
    found.cuts.push(power_cut(1, Cut { unflushed_bytes: None, unmountable: None, judged }));
    let exit = conclude(output, found, Ok(()))?;
    // 2
    if exit != Exit::Done {
        if is_there {
            output::remark(&format!(
                "{} stays as it was found; diskperf clean {} removes it",
                folder.shown(),
                shell::word(path)
            ));
        }
    } else if let Err(fault) = scan::remove_folder(&folder) {
        output::remark(&format!("{} stays: {fault}", folder.shown()));
    }
    Ok(exit)
}

/// Refuses if standard output is a file on the tested file system: the power cut might destroy it, too.
fn lies_elsewhere(path: &Path) -> Result<(), Error> {
    let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
    let printed_to = fs::metadata("/proc/self/fd/1").map_err(unreadable)?;
    let tried = fs::metadata(path).map_err(unreadable)?;
    if printed_to.is_file() && printed_to.dev() == tried.dev() {
        return Err(VerifyError::LogIsLost(path.to_owned()).into());
    }
    Ok(())
}

/// A seed that differs from those of earlier calls.
fn another() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    Prng::new(now ^ u64::from(std::process::id()).rotate_left(48)).next_u64()
}
