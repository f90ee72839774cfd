//! Words of commands, quoted for a shell, so that a command in a hint can be typed as it is printed.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::name::is_command;

/// Quotes a word if a shell would change it. Our own targets, such as `image:ext4,size=1GiB`, need no quotes.
pub fn word(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%".contains(byte);
    let Ok(text) = str::from_utf8(bytes) else { return in_c(bytes) };
    if text.contains(is_command) {
        return in_c(bytes);
    }
    if !bytes.is_empty() && bytes[0] != b'=' && bytes.iter().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A word that a terminal cannot show, in the quotes of bash, zsh and POSIX 2024: `$'a\377'`. The numbers are octal,
/// because hexadecimal digits may follow in the name.
fn in_c(bytes: &[u8]) -> String {
    let shown = bytes.iter().map(|&byte| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).into(),
        _ => format!("\\{byte:03o}"),
    });
    format!("$'{}'", shown.collect::<String>())
}

/// Quotes the words of a command and joins them.
pub fn line<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_if_a_shell_would_change_them() {
        for plain in ["./a-b_c.1", "a=image:ext4,size=64MiB", "--fail-if"] {
            assert_eq!(word(plain.as_bytes()), plain);
        }
        for (changed, quoted) in [
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
            ("=ls", "'=ls'"),
            ("größe", "'größe'"),
        ] {
            assert_eq!(word(changed.as_bytes()), quoted);
        }
        assert_eq!(line([&b"umount"[..], b"/mnt/a b"]), "umount '/mnt/a b'");
    }

    #[test]
    fn unprintable_words_are_quoted_with_c_escapes() {
        for (odd, quoted) in [
            (&b"a\xffb"[..], r"$'a\377b'"),
            (b"\xff1 it's \\ $x", r"$'\3771 it\'s \\ $x'"),
            (b"a\nb", r"$'a\012b'"),
            ("\u{202e}é".as_bytes(), r"$'\342\200\256\303\251'"),
        ] {
            assert_eq!(word(odd), quoted);
        }
    }
}
