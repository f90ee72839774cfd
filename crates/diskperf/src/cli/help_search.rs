//! Finds the tasks, commands and glossary words whose help mentions a word that is not a topic.

use campaign::presets::GLOSSARY;
use report::glossary::{self, Entry};

use super::examples::{TASKS, Task};

/// Limits of the listed tasks, commands and glossary words.
const MOST: [usize; 3] = [1, 3, 3];

/// The tasks, commands and topics whose text contains these words, in this order, each as a phrase.
pub fn find(words: &str, command: &clap::Command) -> Vec<String> {
    let wanted = spaced_words(words);
    if wanted.trim().is_empty() {
        return Vec::new();
    }
    let has = |text: &str| spaced_words(text).contains(&wanted);
    let tasks = TASKS.iter().filter(|task| has(task.question) || has(task.command)).map(task_line);
    let commands = command.get_subcommands().filter(|known| has(&help_text(known)));
    let commands = commands.map(|known| format!("diskperf help {}", known.get_name()));
    let entries = GLOSSARY.all().map(|(_, entry)| entry).filter(|entry| has(&entry_text(entry)));
    let entries = entries.map(|entry| format!("diskperf help {}", entry.word));
    tasks.take(MOST[0]).chain(commands.take(MOST[1])).chain(entries.take(MOST[2])).collect()
}

/// Commands with a similar spelling.
pub fn near_commands(word: &str, command: &clap::Command) -> Vec<String> {
    let commands = command.get_subcommands().map(clap::Command::get_name);
    commands.filter(|name| glossary::is_close(name, word)).map(str::to_owned).collect()
}

/// The command of a task, and its page.
fn task_line(task: &Task) -> String {
    format!("`{}` ({})", task.command, task.page)
}

/// The text that `help` prints for a command, without its options.
fn help_text(command: &clap::Command) -> String {
    let texts = [command.get_about(), command.get_long_about(), command.get_after_help()];
    texts.into_iter().flatten().map(|text| text.to_string() + "\n").collect()
}

fn entry_text(entry: &Entry) -> String {
    [entry.word, entry.brief, entry.says, entry.when, entry.advice].join("\n")
}

/// The words of a text in lower case, with a space before and after each, so that only whole words are found.
fn spaced_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + word + " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentions_of(words: &str) -> Vec<String> {
        find(words, &crate::cli::command())
    }

    #[test]
    fn whole_words_are_found_in_tasks_commands_and_words() {
        let noatime = mentions_of("noatime");
        assert!(noatime[0].contains("choose image:ext4 image:ext4,mount=noatime"), "{noatime:?}");
        assert!(noatime[0].contains("docs/guides/choose.md"), "{noatime:?}");
        assert!(noatime.contains(&"diskperf help mount".to_owned()), "{noatime:?}");
        assert!(mentions_of("fio").iter().any(|found| found.contains("diskperf import ")), "{:?}", mentions_of("fio"));
        assert!(mentions_of("power-loss protection").contains(&"diskperf help noflush".to_owned()));
        // A part of a word, an unknown word, words in another order, and no words.
        for word in ["noatim", "xyzzy", "loss power", "", "?"] {
            assert_eq!(mentions_of(word), [""; 0], "{word}");
        }
    }

    #[test]
    fn lists_are_short() {
        assert_eq!(mentions_of("the").len(), MOST.iter().sum::<usize>());
    }
}
