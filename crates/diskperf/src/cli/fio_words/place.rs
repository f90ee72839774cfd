//! The target of a fio call: its directory and file name, and the page cache of an existing file.

use std::ffi::{OsStr, OsString};
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

/// True if this target is an existing file.
pub(super) fn is_given(target: Option<&str>) -> bool {
    target.is_some_and(|target| target.starts_with("file:"))
}

/// The option with which diskperf evicts an existing file, as fio does (`invalidate`) before it reads one through the
/// page cache. fio does not if it fills the page cache first. `ours` are the other words of diskperf. The grammar
/// refuses `--invalidate=0` without such a file: diskperf always evicts its own.
pub(super) fn eviction(
    target: Option<&str>,
    ours: &[OsString],
    is_read: bool,
    invalidates: bool,
) -> Option<&'static str> {
    let has = |option: &str| ours.iter().any(|word| word == option);
    match invalidates {
        _ if has("--warm") => None,
        true => (is_given(target) && is_read && !has("--direct")).then_some("--cold"),
        false => (!is_given(target)).then_some("--invalidate=0"),
    }
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

#[cfg(test)]
mod tests {
    use super::super::translated;
    use super::*;

    #[test]
    fn an_existing_file_is_evicted_as_in_fio() {
        let file = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<OsString>>();
        for (options, expected) in [
            ("--rw=randread", "randread --cold"),
            ("--rw=read --invalidate=1", "read --cold"),
            ("--rw=read --invalidate=0 --invalidate", "read --cold"),
            ("--rw=read --cold", "read --cold"),
            ("--rw=read --invalidate=0", "read"),
            ("--rw=read --invalidate=0 --direct=1", "read --direct"),
            ("--rw=read --direct=1", "read --direct"),
            ("--rw=read --pre_read=1", "read --warm"),
            ("--rw=read --pre_read=1 --invalidate=0", "read --warm"),
            // The run refuses to write an existing file.
            ("--rw=randwrite", "randwrite"),
        ] {
            let line = words(&format!("diskperf io {options} --runtime=9 --filename={file}"));
            let ours = translated(&line).expect("a call of fio").words;
            let has_file = ours.last().is_some_and(|word| *word == *format!("file:{file}"));
            let ours = ours.into_iter().filter(|word| word != "--time" && word != "9s").collect::<Vec<_>>();
            assert!(has_file && ours[..ours.len() - 1] == words(&format!("diskperf io {expected}")), "{ours:?}");
        }
        let choose = words(&format!("diskperf choose --cold . io --rw=read --runtime=9 --filename={file}"));
        let ours = translated(&choose).expect("a call of fio").words;
        assert_eq!(ours.iter().filter(|word| *word == "--cold").count(), 1, "{ours:?}");
    }

    #[test]
    fn a_file_of_diskperf_is_always_evicted() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<OsString>>();
        let kept = translated(&words("diskperf io --rw=read --invalidate=0 .")).expect("a call of fio").words;
        assert!(kept.iter().any(|word| word == "--invalidate=0"), "{kept:?}");
        let evicted = translated(&words("diskperf io --rw=read --invalidate=1 .")).expect("a call of fio").words;
        assert_eq!(evicted, words("diskperf io read ."));
    }

    #[test]
    fn fio_reads_an_existing_file_to_its_end() {
        let file = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
        let remarks = |options: &str| {
            let line = format!("diskperf io --rw=randread --filename={file}{options}");
            translated(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).expect("a call of fio").remarks
        };
        let said = remarks("");
        assert!(said.len() == 1 && said[0].starts_with("without --runtime, fio ends at the end of the"), "{said:?}");
        assert!(remarks(" --runtime=9").is_empty() && remarks(" --time 9s").is_empty());
    }
}
