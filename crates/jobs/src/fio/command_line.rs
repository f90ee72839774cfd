//! The command line of fio as a fio job: an option is a setting, and `--name` begins a section.

use super::unsupported::{Form, without_effect};

/// Returns the text of the job that these words describe, or the first word that is neither an option nor its value. A
/// program name in front is left out. Options before the first `--name` belong to all sections. Control characters
/// become spaces: a setting is one line.
pub fn job_of_words(words: &[String]) -> Result<String, &str> {
    let is_program = |word: &&String| !word.starts_with('-') && word.rsplit('/').next() == Some("fio");
    let words = if words.first().is_some_and(|word| is_program(&word)) { &words[1..] } else { words };
    let mut text = String::from("[global]\n");
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            return Err(word);
        }
        let name = word.trim_start_matches('-');
        let is_switch = without_effect(name) == Some(Form::Switch);
        let is_value = |next: &str| if is_switch { next == "0" || next == "1" } else { !next.starts_with('-') };
        let setting = match rest.next_if(|next| !name.contains('=') && is_value(next)) {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        };
        let setting = setting.replace(char::is_control, " ");
        text += &match setting.strip_prefix("name=") {
            // These would end the name, or the line.
            Some(name) => format!("[{}]\n", name.replace(['[', ']', ';', '#'], "-")),
            None => format!("{setting}\n"),
        };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_begins_a_section() {
        let words =
            ["/usr/bin/fio", "--bs=4k", "--name=a]", "--rw", "read", "--direct=1", "--time_based", "--name", "b#1;2"];
        let words = words.map(str::to_owned);
        let text = job_of_words(&words);
        assert_eq!(text, Ok("[global]\nbs=4k\n[a-]\nrw=read\ndirect=1\ntime_based\n[b-1-2]\n".to_owned()));
    }

    #[test]
    fn a_job_file_among_the_words_is_refused() {
        for line in ["fio db.fio", "fio --bs=4k db.fio", "fio --bs 4k db.fio", "fio --thread db.fio --bs=4k"] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(job_of_words(&words), Err("db.fio"), "{line}");
        }
        assert!(job_of_words(&["--thread", "1"].map(str::to_owned)).is_ok());
    }
}
