//! The operands of a call: the words that are neither options nor their values.

use std::ffi::{OsStr, OsString};

/// The words before `--` that are neither an option of these commands nor the value of one, with their places.
pub fn operands<'a>(
    commands: &[&clap::Command],
    words: impl IntoIterator<Item = &'a OsString>,
) -> impl Iterator<Item = (usize, &'a OsString)> {
    let mut is_value = false;
    words.into_iter().enumerate().take_while(|(_, word)| *word != "--").filter(move |(_, word)| {
        let is_operand = !is_value && !word.as_encoded_bytes().starts_with(b"-");
        is_value = !is_value && takes_next(commands, word);
        is_operand
    })
}

/// True if the next word is the value of this one: of `--size`, `-o` and `-qo`, but not of `--size=1MiB` and `-oq`. An
/// option may have no value, such as `--live`; then its value follows an equals sign.
pub fn takes_next(commands: &[&clap::Command], word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    let mut options = commands.iter().flat_map(|command| command.get_opts()).filter(|option| {
        // `None` if the command is not built yet, and the number is not given: it is one, except for a switch.
        option.get_num_args().map_or_else(|| option.get_action().takes_values(), |number| number.min_values() > 0)
    });
    if let Some(long) = word.strip_prefix("--") {
        return options.any(|option| option.get_long() == Some(long));
    }
    let options: Vec<_> = options.collect();
    let takes_value = |letter: char| options.iter().any(|option| option.get_short() == Some(letter));
    let letters = word.strip_prefix('-').unwrap_or_default();
    letters.find(takes_value).is_some_and(|place| letters[place..].chars().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_not_operands() {
        let mut all = crate::cli::command();
        all.build();
        let command = |name| all.find_subcommand(name).expect("a command");
        for (name, line, expected) in [
            ("run", "old.fio --size 1MiB .", &["old.fio", "."][..]),
            ("run", "--size=1MiB old.fio", &["old.fio"]),
            ("run", "--size 1MiB -o old.fio .", &["."]),
            ("run", "--json old.fio", &["old.fio"]),
            ("run", "-onew old.fio", &["old.fio"]),
            ("run", "-o --json old.fio", &["old.fio"]),
            ("run", ". -- old.fio", &["."]),
            ("io", "--live randread --rate 1 .", &["randread", "."]),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found: Vec<&OsString> = operands(&[command(name)], &words).map(|(_, word)| word).collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
