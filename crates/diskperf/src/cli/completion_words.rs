//! Words that a shell completes and that no script can know: ids and names of runs, targets, machines, and words of
//! the help.

use std::ffi::{OsStr, OsString};

use campaign::presets::GLOSSARY;
use clap::Command;
use machines::Machine;
use report::glossary::Topic;
use store::LAST;

use super::operands::takes_next;
use crate::documents::store_arguments::StoreArguments;

/// The kinds of such words, each with the names of the arguments that take them.
const KINDS: [(Kind, &[&str]); 4] = [
    (Kind::Run, &["RUN", "RUN|FILE", "THEN", "NOW"]),
    (Kind::Target, &["TARGET"]),
    (Kind::Machine, &["MACHINE"]),
    (Kind::Word, &["WORD"]),
];

/// The lists of commands, which are not topics.
const LISTS: [&str; 2] = ["commands", "programs"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The id of a stored run.
    Run,
    /// A target that is not a path.
    Target,
    /// The name of a simulated machine.
    Machine,
    /// A command, topic or word of the help.
    Word,
}

/// The commands with arguments that take such words.
pub fn commands(grammar: &Command) -> impl Iterator<Item = &str> {
    grammar.get_subcommands().filter(|command| kinds(command).next().is_some()).map(Command::get_name)
}

/// The words that the arguments of this command take; none for other commands. `line` is the command line before the
/// word to complete, if the shell passes it: the value of an option is not such an argument, and `--store` names the
/// runs.
pub fn words(name: &OsStr, line: &[OsString], grammar: &Command) -> Vec<String> {
    let Some(command) = grammar.find_subcommand(name) else { return Vec::new() };
    if line.last().is_some_and(|word| takes_next(&[command], word)) {
        return Vec::new();
    }
    let store = StoreArguments::named_in(line);
    let mut words: Vec<String> = kinds(command).flat_map(|kind| of_kind(kind, grammar, &store)).collect();
    // A shell would split the others, or run them as commands.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ":/@._+-=,".contains(letter);
    words.retain(|word| !word.is_empty() && word.chars().all(is_plain));
    words.sort_unstable();
    words.dedup();
    words
}

fn kinds(command: &Command) -> impl Iterator<Item = Kind> {
    let names: Vec<&str> = command
        .get_positionals()
        .flat_map(|argument| argument.get_value_names().into_iter().flatten())
        .map(|name| name.as_str())
        .collect();
    KINDS.into_iter().filter(move |(_, own)| own.iter().any(|own| names.contains(own))).map(|(kind, _)| kind)
}

fn of_kind(kind: Kind, grammar: &Command, store: &StoreArguments) -> Vec<String> {
    match kind {
        Kind::Run => runs(store),
        Kind::Target => targets(),
        Kind::Machine => Machine::all().map(|machine| machine.name).collect(),
        Kind::Word => {
            let topics = LISTS.into_iter().chain(Topic::ALL.into_iter().map(Topic::plural));
            let entries = GLOSSARY.all().map(|(_, entry)| entry.word);
            let commands = grammar.get_subcommands().map(|command| command.get_name().to_owned());
            topics.chain(entries).map(str::to_owned).chain(commands).collect()
        }
    }
}

/// The ids and names of stored runs. None if the database cannot be read: a shell has no place for an error.
fn runs(store: &StoreArguments) -> Vec<String> {
    let listed = store.to_read().ok().flatten().and_then(|store| store.list().ok());
    let ids = listed.into_iter().flatten().flat_map(|run| [run.id].into_iter().chain(run.info.name));
    let ids: Vec<String> = ids.collect();
    if ids.is_empty() { ids } else { ids.into_iter().chain([LAST.to_owned()]).collect() }
}

fn targets() -> Vec<String> {
    let images = kernel::file_systems().flat_map(|name| [format!("image:{name}"), format!("new:{name}@/dev/")]);
    let machines = Machine::all().map(|machine| format!("sim:{}", machine.name));
    images.chain(machines).chain(["file:/".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn grammar() -> Command {
        let mut grammar = cli::command();
        grammar.build();
        grammar
    }

    #[test]
    fn arguments_have_words() {
        let grammar = grammar();
        let words = |command: &str, line: &[&str]| {
            let line: Vec<OsString> = line.iter().map(OsString::from).collect();
            words(command.as_ref(), &line, &grammar)
        };
        let has = |command: &str, word: &str| words(command, &[]).iter().any(|known| known == word);
        assert!(has("help", "knee") && has("help", "commands") && has("help", "choose"));
        assert!(has("io", "image:ext4") && has("choose", "sim:vax750-uda50") && has("simulate", "vax750-uda50"));
        assert!(words("schema", &[]).is_empty() && words("nonsense", &[]).is_empty());
        assert!(words("io", &["d", "io", "--size"]).is_empty() && words("io", &["d", "io", "-o"]).is_empty());
        assert!(!words("io", &["d", "io", "--size", "1MiB", "--json"]).is_empty());
        let all: Vec<&str> = commands(&grammar).collect();
        for command in ["show", "explain", "compare", "report", "export", "delete", "resume", "run", "io", "help"] {
            assert!(all.contains(&command), "{command}: {all:?}");
        }
    }
}
