//! Recognizes fio jobs, for commands that do not take one: their error names the command that converts it.

use crate::load_spec::KEYS;

/// Returns whether most fio jobs have this option. A job file of diskperf has no such key, or its value is in quotes.
fn is_telling(name: &str) -> bool {
    let of_keys = [&KEYS.pattern, &KEYS.bs, &KEYS.engine];
    of_keys.iter().any(|key| key.fio.contains(&name)) || ["filename", "directory"].contains(&name)
}

/// True if the text has a `[section]` with one of these options.
pub fn is_fio(text: &str) -> bool {
    let mut is_in_section = false;
    text.lines().any(|line| {
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if line.starts_with('[') {
            is_in_section = !line.starts_with("[[");
        }
        line.split_once('=').is_some_and(|(name, value)| {
            is_in_section && is_telling(name.trim()) && !value.trim_start().starts_with(['"', '\''])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fio_job_is_known_by_its_sections() {
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
    }
}
