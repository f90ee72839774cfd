//! The target of a fio call: its directory and file name.

use std::ffi::OsStr;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::error::ArgumentError;

/// The target for a directory and a file name of fio, and a remark. fio joins them, even if the file name is absolute.
pub(super) fn place(
    directory: Option<&str>,
    file: Option<&str>,
) -> Result<(Option<String>, Option<String>), ArgumentError> {
    let (target, remark) = match (directory, file) {
        (None, None) => return Ok((None, None)),
        (Some(directory), None) => return Ok((Some(directory.to_owned()), None)),
        (None, Some(file)) => target(file, folder_of(file))?,
        (Some(directory), Some(file)) => {
            let joined = format!("{}/{}", directory.trim_end_matches('/'), file.trim_start_matches('/'));
            let folder = folder_of(&joined);
            target(&joined, if Path::new(folder).is_dir() { folder } else { directory })?
        }
    };
    Ok((Some(target), remark))
}

/// The folder of a path.
fn folder_of(path: &str) -> &str {
    match Path::new(path).parent().map(Path::as_os_str).and_then(OsStr::to_str) {
        Some("") | None => ".",
        Some(folder) => folder,
    }
}

/// The target for a file name of fio: an existing file, a device, or else this folder. In the folder, diskperf creates
/// a file of its own, and a remark says so.
fn target(name: &str, folder: &str) -> Result<(String, Option<String>), ArgumentError> {
    match Path::new(name).metadata() {
        Ok(metadata) if metadata.file_type().is_block_device() => return Ok((name.to_owned(), None)),
        Ok(_) => return Ok((format!("file:{name}"), None)),
        Err(_) => {}
    }
    let whole = Path::new(folder).canonicalize().unwrap_or_else(|_| folder.into());
    // In /dev, only /dev/shm has files to measure.
    if whole.starts_with("/dev") && !whole.starts_with("/dev/shm") {
        return Err(ArgumentError::NoSuchDevice(name.to_owned()));
    }
    let remark = format!("{name} does not exist: diskperf measures a file of its own in {folder}");
    Ok((folder.to_owned(), Some(remark)))
}
