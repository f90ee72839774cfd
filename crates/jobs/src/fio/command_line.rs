//! The command line of fio as a fio job: an option is a setting, and `--name` begins a section.

/// Returns the text of the job that these words describe. A program name in front is left out. Options before the first
/// `--name` belong to all sections. Control characters become spaces: a setting is one line.
pub fn job_of_words(words: &[String]) -> String {
    let is_program = |word: &&String| !word.starts_with('-') && word.rsplit('/').next() == Some("fio");
    let words = if words.first().is_some_and(|word| is_program(&word)) { &words[1..] } else { words };
    let mut text = String::from("[global]\n");
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let name = word.trim_start_matches('-');
        let has_value = rest.peek().is_some_and(|next| !next.starts_with('-'));
        let setting = if name.contains('=') || !has_value {
            name.to_owned()
        } else {
            format!("{name}={}", rest.next().map_or("", String::as_str))
        };
        let setting = setting.replace(char::is_control, " ");
        text += &match setting.strip_prefix("name=") {
            Some(name) => format!("[{}]\n", name.replace(['[', ']'], "-")),
            None => format!("{setting}\n"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_begins_a_section() {
        let words =
            ["/usr/bin/fio", "--bs=4k", "--name=a]", "--rw", "read", "--direct=1", "--time_based", "--name", "b"];
        let text = job_of_words(&words.map(str::to_owned));
        assert_eq!(text, "[global]\nbs=4k\n[a-]\nrw=read\ndirect=1\ntime_based\n[b]\n");
    }
}
