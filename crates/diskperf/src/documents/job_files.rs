//! Job files of the user, and fio jobs: reads their texts, and tells the two apart.

use std::path::Path;

use jobs::{JobError, Source, fio};
use kernel::sys::name::Shown;

use super::user_files;
use crate::error::Error;
use crate::ui::shell;

/// The text of a fio job.
pub fn open(path: &Path) -> Result<Source, Error> {
    read(path, true)
}

/// The text of a job file of diskperf or fio. Errors of `import` have another hint.
fn read(path: &Path, is_for_import: bool) -> Result<Source, Error> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.shown().to_string() };
    let bytes = user_files::bytes(path, jobs::LARGEST)?;
    let bytes = bytes.ok_or_else(|| JobError::TooLarge { name: name.clone(), most: jobs::LARGEST, is_for_import })?;
    let text = String::from_utf8(bytes).map_err(|_| JobError::NotText { name: name.clone(), is_for_import })?;
    Ok(Source::new(name, text))
}

/// The text of a job file of diskperf. A fio job is refused.
pub fn open_own(path: &Path) -> Result<Source, Error> {
    let text = read(path, false)?;
    if is_fio(path, &text) {
        return Err(to_convert(path).into());
    }
    Ok(text)
}

/// The error for a path to a fio job; `None` for other paths. Only regular files are read.
pub fn fio_job(path: &Path) -> Option<JobError> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let text = is_file.then(|| open(path).ok()).flatten()?;
    is_fio(path, &text).then(|| to_convert(path))
}

/// True if a file is a fio job, by its name or its text.
fn is_fio(path: &Path, text: &Source) -> bool {
    has_fio_name(path) || fio::is_fio(&text.text)
}

fn has_fio_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "fio")
}

/// The error for a fio job, with the command that converts it.
fn to_convert(path: &Path) -> JobError {
    let name = if has_fio_name(path) { path.file_stem() } else { path.file_name() };
    let mut to = name.unwrap_or_default().to_owned();
    to.push(".toml");
    let import = format!("diskperf import {} -o {}", shell::word(path), shell::word(to));
    JobError::FioJob { name: path.shown().to_string(), import }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fio_job_is_recognized_by_its_name_or_its_text() {
        let is = |path: &str, text: &str| is_fio(Path::new(path), &Source::new(path, text));
        assert!(is("a/db.fio", "") && is("db.toml", "[a]\nrw=read\n"));
        assert!(!is("db.toml", "") && !is("fio", ""));
    }
}
