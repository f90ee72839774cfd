//! `read_8192`, `write_4096`, `write_8192`, `rewrite_8192`: the calls of 1983 on one file, and nothing else.
//! No output, no sync, no store. Unlike the originals, every call is checked.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use kernel::Posix;
use kernel::place::free_bytes;
use units::Bytes;
use workload::programs::mckusick::{BYTES_1983, Classic};
use workload::{Name, Tally, World};

use crate::commands::given;
use crate::error::Error;
use crate::exit::Exit;

pub fn run(classic: Classic, file: &OsStr) -> Result<Exit, Error> {
    let path = Path::new(file);
    check(classic, path)?;
    // Nobody sets the flag: Ctrl-C ends this program as it ended the original, and leaves the file.
    let mut world = Posix::on_given(vec![path.to_owned()], classic.call_bytes(), Arc::default())?;
    let mut tally = Tally::default();
    world.run(&mut [classic.steps(Name::given(0), BYTES_1983)], std::slice::from_mut(&mut tally))?;
    match tally.failure {
        None => Ok(Exit::Done),
        Some(failure) => Err(Error::Op { path: path.to_owned(), failure }),
    }
}

/// What the originals did not look at: a name under /dev is a typing error and would be created, a device
/// would be overwritten, and a short file "reads" 8 MB in no time.
fn check(classic: Classic, path: &Path) -> Result<(), Error> {
    let needs_file = matches!(classic, Classic::Read8192 | Classic::Rewrite8192);
    let metadata = if needs_file { Some(given::existing(path)?) } else { given::creatable(path)? };
    let Some(metadata) = metadata else { return check_room(path, 0) };
    if metadata.is_dir() {
        return Err(Error::IsADirectory(path.to_owned()));
    }
    if given::is_device(&metadata) && classic != Classic::Read8192 {
        return Err(Error::WouldOverwrite(path.to_owned()));
    }
    if classic != Classic::Read8192 {
        given::shown_by_no_device(path)?;
    }
    if !metadata.is_file() && !given::is_device(&metadata) {
        return Err(Error::NotAFile(path.to_owned()));
    }
    if metadata.is_file() && needs_file && metadata.len() < BYTES_1983 {
        let (holds, needs) = (Bytes(metadata.len()), Bytes(BYTES_1983));
        return Err(Error::TooShort { path: path.to_owned(), program: classic.name(), holds, needs });
    }
    if needs_file { Ok(()) } else { check_room(path, metadata.blocks() * 512) }
}

/// Refuses where eight megabytes have no room; what an old file of that name takes up will be free.
fn check_room(path: &Path, freed: u64) -> Result<(), Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(free) = free_bytes(parent) else { return Ok(()) };
    if free + freed >= BYTES_1983 {
        return Ok(());
    }
    let (free, needed) = (Bytes(free + freed), Bytes(BYTES_1983));
    Err(Error::NoRoom { path: parent.to_owned(), free, needed })
}
