//! Whether a file is a fio job: for commands that take none, so that they can name the command that converts it.

use std::path::Path;

use crate::jobs::{JobFault, open};

/// Options of most fio jobs. Job files of diskperf have no such key, or a value in quotes.
const TELLING: [&str; 7] = ["rw", "readwrite", "bs", "blocksize", "filename", "directory", "ioengine"];

/// Whether the text has a `[section]` with one of these options.
fn is_fio(text: &str) -> bool {
    let mut is_in_section = false;
    text.lines().any(|line| {
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if line.starts_with('[') {
            is_in_section = !line.starts_with("[[");
        }
        line.split_once('=').is_some_and(|(name, value)| {
            is_in_section && TELLING.contains(&name.trim()) && !value.trim_start().starts_with(['"', '\''])
        })
    })
}

/// The error for a file that is a fio job by its name, or by this text.
pub fn refuse(path: &Path, text: &str) -> Result<(), JobFault> {
    if path.extension().is_some_and(|extension| extension == "fio") || is_fio(text) {
        return Err(JobFault::OfFio(path.to_owned()));
    }
    Ok(())
}

/// The error for a path at which there is a fio job. Only regular files are read.
pub fn fault(path: &Path) -> Option<JobFault> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let text = is_file.then(|| open(path).ok()).flatten()?;
    refuse(path, &text.text).err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fio_job_is_known_by_its_name_or_its_sections() {
        for text in ["; log\n[global]\nioengine=libaio\n[a]\n", "[a]\nrw = read ; all\n", "[ x y ]\n  bs=4k\r\n"] {
            assert!(is_fio(text), "{text}");
        }
        for text in [
            "",
            "rw=read\n",
            "[a]\nname=x\n",
            "[a]\n# rw=read\n",
            "[load]\nbs = '4KiB'\n",
            "rounds = 3\n[[load]]\npattern = \"read\"\nbs = \"4KiB\"\n",
            "[a]\n[[load]]\nbs = 4\n",
        ] {
            assert!(!is_fio(text), "{text}");
        }
        let is_refused = |path: &str| refuse(Path::new(path), "").is_err();
        assert!(is_refused("a/db.fio") && !is_refused("db.toml") && !is_refused("fio"));
    }
}
