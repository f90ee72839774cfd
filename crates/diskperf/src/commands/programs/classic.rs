//! `read_8192`, `write_4096`, `write_8192`, `rewrite_8192`: the calls of 1983 on one file, and nothing else.
//! No output, no sync, no store. Unlike the originals, every call is checked.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use campaign::error::CampaignError;
use kernel::guard::Given;
use kernel::observe::mount::free_bytes;
use kernel::{PathFault, Posix};
use units::{Bytes, Exit};
use workload::programs::classic1983::{BYTES_1983, Classic};
use workload::{Name, Tally, World};

use crate::documents::user_files;
use crate::error::{Error, ProgramError};

pub fn run(classic: Classic, file: &OsStr) -> Result<Exit, Error> {
    let path = Path::new(file);
    let given = match classic {
        Classic::Read8192 => to_read(classic, path)?,
        _ => to_write(classic, path)?,
    };
    // The flag is never set: Ctrl-C ends this program as it ended the original, and leaves the file.
    let mut world = Posix::on_given(vec![given], classic.call_bytes(), Arc::default())?;
    let mut tally = Tally::default();
    world.run(&mut [classic.steps(Name::given(0), BYTES_1983)], std::slice::from_mut(&mut tally))?;
    match tally.failure {
        None => Ok(Exit::Done),
        Some(failure) => Err(CampaignError::Op { path: path.to_owned(), failure }.into()),
    }
}

/// Checks the file to read, which the original did not do: a short file is read in no time.
fn to_read(classic: Classic, path: &Path) -> Result<Given, Error> {
    let metadata = user_files::existing(path)?;
    if metadata.is_dir() {
        return Err(PathFault::IsADirectory(path.to_owned()).into());
    }
    if metadata.is_file() {
        check_length(classic, path, metadata.len())?;
    } else if !user_files::is_device(&metadata) {
        return Err(PathFault::NotAFile(path.to_owned()).into());
    }
    Ok(Given::Read(path.to_owned()))
}

/// Checks the file to write, which the originals did not do: they would create a mistyped name under /dev, and
/// overwrite a device. The file is found once, checked, and opened as it was found: its name may lead elsewhere by
/// then.
fn to_write(classic: Classic, path: &Path) -> Result<Given, Error> {
    let found = user_files::writable(path)?;
    let metadata = found.as_ref().map(|found| found.metadata()).transpose();
    let metadata = metadata.map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })?;
    if classic == Classic::Rewrite8192 {
        let bytes = metadata.map(|metadata| metadata.len()).ok_or_else(|| PathFault::Missing(path.to_owned()))?;
        check_length(classic, path, bytes)?;
    } else {
        check_room(path, metadata.map_or(0, |metadata| metadata.blocks() * 512))?;
    }
    Ok(found.map_or_else(|| Given::Create(path.to_owned()), Given::Write))
}

/// Refuses a file of less than eight megabytes.
fn check_length(classic: Classic, path: &Path, bytes: u64) -> Result<(), Error> {
    if bytes >= BYTES_1983 {
        return Ok(());
    }
    let (holds, needs) = (Bytes(bytes), Bytes(BYTES_1983));
    Err(ProgramError::TooShort { path: path.to_owned(), program: classic.name(), holds, needs }.into())
}

/// Refuses a folder without room for eight megabytes. `freed` is the size of an old file, whose space becomes free.
fn check_room(path: &Path, freed: u64) -> Result<(), Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(Some(free)) = free_bytes(parent) else { return Ok(()) };
    if free + freed >= BYTES_1983 {
        return Ok(());
    }
    let (free, needed) = (Bytes(free + freed), Bytes(BYTES_1983));
    Err(PathFault::NoRoom { path: parent.to_owned(), free, needed }.into())
}
