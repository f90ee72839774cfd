//! Commands in hints: words quoted for a shell, and the results database that this command uses.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

pub use kernel::sys::name::shell_word as word;

/// The words as one shell command.
pub fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A diskperf command on the results database that this command uses.
pub fn on_store(command: &str) -> String {
    format!("diskperf {command}{}", store_option())
}

/// The `--store` option of this command, with a space before it; empty if it has none.
pub fn store_option() -> String {
    option_in(std::env::args_os())
}

/// The last `--store` of these words.
fn option_in(words: impl IntoIterator<Item = OsString>) -> String {
    const OPTION: &[u8] = b"--store";
    let words = words.into_iter().take_while(|word| word != "--");
    let (mut named, mut is_next) = (None, false);
    for given in words {
        let after = given.as_bytes().strip_prefix(OPTION);
        if std::mem::take(&mut is_next) {
            named = Some(given);
        } else if let Some(path) = after.and_then(|after| after.strip_prefix(b"=")) {
            named = Some(OsString::from_vec(path.to_vec()));
        } else {
            is_next = after.is_some_and(<[u8]>::is_empty);
        }
    }
    named.map_or_else(String::new, |path| format!(" --store {}", word(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_are_read_back_by_a_shell() {
        let words = ["diskperf", "two words", "it's", "", "$HOME", "a;b", "*", "=ls", "image:ext4,mkfs=-m 0"];
        assert_eq!(shlex::split(&line(words)), Some(words.map(str::to_owned).into()));
    }

    #[test]
    fn hints_repeat_the_store_option() {
        let option = |words: &[&str]| option_in(words.iter().map(OsString::from));
        assert_eq!(option(&["diskperf", "resume"]), "");
        assert_eq!(option(&["diskperf", "resume", "--store", "a.sqlite"]), " --store a.sqlite");
        assert_eq!(option(&["diskperf", "--store=my runs", "list"]), " --store 'my runs'");
        assert_eq!(option(&["diskperf", "run", "--", "--store", "a"]), "");
        assert_eq!(option(&["diskperf", "run", "--no-store"]), "");
    }
}
