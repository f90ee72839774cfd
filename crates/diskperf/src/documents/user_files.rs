//! Files that the user names: the checks before a command touches one.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use kernel::PathFault;
use kernel::guard::{Found, Refusal, judge};
use kernel::observe::mount::is_under_dev;
use kernel::sys::read_limited;
use units::Bytes;

use super::inputs;

/// The metadata of the path, which must exist.
pub fn existing(path: &Path) -> Result<Metadata, PathFault> {
    find_metadata(path)?.ok_or_else(|| missing(path))
}

/// The metadata of the path, or `None` if a file can be created there. Refuses
///   1. a missing name under /dev: a typing error, never to be created;
///   2. a link to a missing path: the file would appear somewhere else;
///   3. a name in a missing folder, or with a slash at its end.
pub fn creatable(path: &Path) -> Result<Option<Metadata>, PathFault> {
    if let Some(metadata) = find_metadata(path)? {
        return Ok(Some(metadata));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // 1.
    if is_under_dev(path) {
        return Err(missing(path));
    }
    // 2.
    if let Ok(pointed_at) = fs::read_link(path) {
        return Err(missing(&parent.unwrap_or(Path::new("")).join(pointed_at)));
    }
    // 3.
    match parent {
        Some(parent) if !parent.exists() => Err(PathFault::Missing(parent.to_owned())),
        _ if path.as_os_str().as_encoded_bytes().ends_with(b"/") => Err(PathFault::Missing(path.to_owned())),
        _ => Ok(None),
    }
}

/// All bytes of a file, or of a pipe such as a shell's `<(command)`; `-` is standard input. A FIFO is read once it has
/// a writer. `None` if there are more than `most`. Directories, devices and the command's own output file are refused.
pub fn bytes(path: &Path, most: Bytes) -> Result<Option<Vec<u8>>, PathFault> {
    let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
    if path == Path::new("-") {
        // A shell may have opened the output file for it.
        inputs::will_read(Path::new("/dev/stdin"))?;
        return read_limited::bytes(io::stdin().lock(), most).map_err(unreadable);
    }
    let metadata = existing(path)?;
    if metadata.is_dir() {
        return Err(PathFault::IsADirectory(path.to_owned()));
    }
    if is_device(&metadata) {
        return Err(PathFault::NotAFile(path.to_owned()));
    }
    inputs::will_read(path)?;
    read_limited::open_named(path).and_then(|file| read_limited::bytes(file, most)).map_err(unreadable)
}

/// True for a block or character device: writing would destroy its data.
pub fn is_device(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_block_device() || kind.is_char_device()
}

/// The regular file at the path, found and judged before it may be emptied; `None` if a file can be created there, as
/// [`creatable`] says. Directories, devices, FIFOs and files with a loop device on them are refused.
pub fn writable(path: &Path) -> Result<Option<Found>, PathFault> {
    let found = Found::follow(path).map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })?;
    match &found {
        Some(found) => judge(found).map_err(|refusal| refused(path, refusal))?,
        // A file that appears meanwhile is not touched: the file is created, or not opened at all.
        None => {
            creatable(path)?;
        }
    }
    Ok(found)
}

/// Converts the refusal to write a file into the error of a command.
pub fn refused(path: &Path, refusal: Refusal) -> PathFault {
    let path = path.to_owned();
    match refusal {
        Refusal::Directory => PathFault::IsADirectory(path),
        Refusal::BlockDevice | Refusal::CharacterDevice { .. } => PathFault::WouldOverwrite(path),
        Refusal::Shown(device) => PathFault::WouldOverwriteLoop { path, device },
        Refusal::Unseen(errno) => PathFault::Unreadable { path, source: errno },
        Refusal::Fifo | Refusal::Socket | Refusal::Link | Refusal::Unknown => PathFault::NotAFile(path),
    }
}

fn missing(path: &Path) -> PathFault {
    if is_under_dev(path) { PathFault::MissingDevice(path.to_owned()) } else { PathFault::Missing(path.to_owned()) }
}

fn find_metadata(path: &Path) -> Result<Option<Metadata>, PathFault> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(PathFault::Unreadable { path: path.to_owned(), source }),
    }
}
