//! Commands as a shell takes them.

/// Words as a shell takes them. The program is called by its name, wherever it lay.
pub fn line(words: &[String]) -> String {
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let words = words.iter().enumerate().map(|(place, one)| word(&if place == 0 { name(one) } else { one.clone() }));
    words.collect::<Vec<String>>().join(" ")
}

/// A word as a shell takes it.
pub fn word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%".contains(&byte);
    if !word.is_empty() && !word.starts_with('=') && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_the_words_as_they_were_given() {
        let words = ["/opt/diskperf", "choose", "a=image:ext4,size=1GiB", "--need", "read>=5/s", "it's", ""];
        assert_eq!(
            line(&words.map(str::to_owned)),
            "diskperf choose a=image:ext4,size=1GiB --need 'read>=5/s' 'it'\\''s' ''"
        );
    }
}
