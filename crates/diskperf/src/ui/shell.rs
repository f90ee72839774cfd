//! Commands that a person is told to type: every word as a shell takes it, and on the same store.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use report::plain::is_command;

/// A word. shlex quotes some that no shell would change inside a line, our own targets among them (`image:ext4,size=1GiB`):
/// these stay as they are.
pub fn word(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%".contains(byte);
    let Ok(text) = str::from_utf8(bytes) else { return in_c(bytes) };
    if text.contains(is_command) {
        return in_c(bytes);
    }
    if !bytes.is_empty() && bytes[0] != b'=' && bytes.iter().all(is_plain) {
        return text.to_owned();
    }
    // Only a zero byte cannot be quoted, and no word of a command has one.
    shlex::Quoter::new().allow_nul(true).quote(text).unwrap_or_default().into_owned()
}

/// A word that no terminal shows as it is, in the quotes of bash, zsh and POSIX of 2024: `$'a\xff'`. Octal, for more hexadecimal
/// digits may follow in the name.
fn in_c(bytes: &[u8]) -> String {
    let shown = bytes.iter().map(|&byte| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    });
    format!("$'{}'", shown.collect::<String>())
}

/// A line of words.
pub fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// `diskperf WHAT`, on the store that this command was told to use.
pub fn on_store(what: &str) -> String {
    format!("diskperf {what}{}", store_option(std::env::args_os()))
}

/// The option that names the store, as these words have it, last one of many.
fn store_option(words: impl IntoIterator<Item = OsString>) -> String {
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
    fn words_are_quoted_where_a_shell_would_change_them() {
        assert_eq!(line(["diskperf", "run", "./a-b_c.1"]), "diskperf run ./a-b_c.1");
        assert_eq!(word("a=image:ext4,size=64MiB"), "a=image:ext4,size=64MiB");
        for changed in ["two words", "it's", "", "$HOME", "a;b", "*", "=ls", "image:ext4,mkfs=-m 0"] {
            assert_eq!(
                shlex::split(&format!("x {} y", word(changed))),
                Some(["x", changed, "y"].map(str::to_owned).into())
            );
        }
    }

    #[test]
    fn words_that_no_terminal_shows_are_quoted_as_in_c() {
        for (odd, quoted) in [
            (&b"a\xffb"[..], r"$'a\377b'"),
            (b"\xff1 it's \\ $x", r"$'\3771 it\'s \\ $x'"),
            (b"a\nb", r"$'a\012b'"),
            ("\u{202e}é".as_bytes(), r"$'\342\200\256\303\251'"),
        ] {
            assert_eq!(word(OsStr::from_bytes(odd)), quoted);
        }
    }

    #[test]
    fn a_store_is_named_where_it_was_named() {
        let option = |words: &[&str]| store_option(words.iter().map(OsString::from));
        assert_eq!(option(&["diskperf", "resume"]), "");
        assert_eq!(option(&["diskperf", "resume", "--store", "a.sqlite"]), " --store a.sqlite");
        assert_eq!(option(&["diskperf", "--store=my runs", "list"]), " --store 'my runs'");
        assert_eq!(option(&["diskperf", "run", "--", "--store", "a"]), "");
        assert_eq!(option(&["diskperf", "run", "--no-store"]), "");
    }
}
