//! Names of files as text. A name on Linux is a sequence of bytes, mostly UTF-8. This module maps each name to one
//! text, and the text back to the same bytes. So names can be compared, stored and printed as text.
//!
//! A name in UTF-8 is its own text. In other names, each byte that is not UTF-8 becomes a private character, U+10FE00
//! plus the byte. It is printed as `\xFF`. Two cases would be ambiguous and are escaped in the same way: these private
//! characters themselves, and a backslash that begins a text such as `\xFF`.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The private character of byte 0. It is in plane 16, which Unicode reserves for private use.
const FIRST: u32 = 0x10_FE00;

/// Returns the byte that a private character stands for, or `None` for any other character.
pub fn byte(character: char) -> Option<u8> {
    u8::try_from(u32::from(character).checked_sub(FIRST)?).ok()
}

/// True if a terminal obeys the character instead of showing it, or if the character changes the order of words
/// (Unicode's UAX #9).
pub fn is_command(character: char) -> bool {
    let is_order =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || is_order || byte(character).is_some()
}

/// Returns the text of a name.
pub fn text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(name) = str::from_utf8(name)
        && !name.contains(|character| byte(character).is_some())
        && !(0..name.len()).any(|at| looks_escaped(&name.as_bytes()[at..]))
    {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    let mut place = 0;
    for chunk in name.utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            let bytes = &name[place + at..];
            if byte(character).is_some() || looks_escaped(bytes) {
                text.extend(bytes[..character.len_utf8()].iter().map(|byte| private(*byte)));
            } else {
                text.push(character);
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| private(*byte)));
        place += chunk.valid().len() + chunk.invalid().len();
    }
    Cow::Owned(text)
}

/// Returns the name of a text, the inverse of [`text`].
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(|character| byte(character).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut name = Vec::with_capacity(text.len());
    for character in text.chars() {
        match byte(character) {
            Some(byte) => name.push(byte),
            None => name.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(name)
}

fn private(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).expect("a character of plane 16")
}

/// True if the bytes begin as an escaped byte is printed: a backslash, `x` and two hexadecimal digits.
fn looks_escaped(bytes: &[u8]) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    matches!(bytes, [b'\\', b'x', high, low, ..] if is_digit(high) && is_digit(low))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Prints a name as `report::sanitize` does.
    fn printed(name: &[u8]) -> String {
        let mut printed = String::new();
        for character in text(name).chars() {
            match byte(character) {
                Some(byte) => printed.push_str(&alloc::format!("\\x{byte:02X}")),
                None => printed.push(character),
            }
        }
        printed
    }

    #[test]
    fn only_bytes_that_are_not_utf_8_are_escaped() {
        for (name, expected) in [
            (&b"a b"[..], "a b"),
            ("größe".as_bytes(), "größe"),
            (b"a\xffb", "a\\xFFb"),
            (b"\xe2\x82", "\\xE2\\x82"),
            (br"a\xFFb", "a\\x5CxFFb"),
            (br"dev-disk-by\x2duuid", r"dev-disk-by\x2duuid"),
            ("\u{10FEFF}".as_bytes(), "\\xF4\\x8F\\xBB\\xBF"),
        ] {
            assert_eq!(printed(name), expected);
        }
        assert!(matches!(text("größe".as_bytes()), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn every_name_is_read_back(name in proptest::collection::vec(any::<u8>(), 0..12)) {
            let text = text(&name);
            prop_assert_eq!(&*bytes(&text), &name[..]);
        }

        #[test]
        fn different_names_are_printed_differently(
            one in r"(\\|x|F|\\xFF|\u{10FEFF}){0,4}", other in proptest::collection::vec(
                prop_oneof![Just(b'\\'), Just(b'x'), Just(b'F'), Just(0xff)], 0..6)
        ) {
            prop_assert_eq!(printed(one.as_bytes()) == printed(&other), one.as_bytes() == other);
        }
    }
}
