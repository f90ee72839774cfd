//! Commands, quoted for a shell. Names in results are text; a shell needs their bytes.

use std::borrow::Cow;

use units::name;

/// Returns a command line. The program is reduced to its file name.
pub fn line(words: &[String]) -> String {
    let words: Vec<Cow<'_, [u8]>> = words
        .iter()
        .enumerate()
        .map(|(index, word)| match index {
            0 => name::bytes(word.rsplit('/').next().unwrap_or(word)),
            _ => name::bytes(word),
        })
        .collect();
    units::shell::line(words.iter().map(AsRef::as_ref))
}

/// Returns the word, quoted if a shell would change it.
pub fn word(word: &str) -> String {
    units::shell::word(&name::bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_called_by_its_name_and_names_by_their_bytes() {
        let words = ["/opt/diskperf", "choose", "a=image:ext4,size=1GiB", "--need", "read>=5/s"].map(str::to_owned);
        assert_eq!(line(&words), "diskperf choose a=image:ext4,size=1GiB --need 'read>=5/s'");
        assert_eq!(word(&name::text(b"a\xff")), r"$'a\377'");
    }
}
