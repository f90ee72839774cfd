//! `diskperf help [WORD]...`: the first screen, the list of commands, the help of a command, or the meaning of a word.

use campaign::presets::GLOSSARY;
use report::Page;
use report::glossary::{self, Topic};
use report::wrap::{hanging, wrapped};
use units::Exit;

use crate::cli::examples::TASKS;
use crate::cli::help_search;
use crate::error::{ArgumentError, Error};
use crate::ui::output;

/// A heading, and commands in the order of their list.
type Group = (&'static str, &'static [&'static str]);

/// The commands of the first screen.
const FIRST: [Group; 3] = [
    ("Measure", &["run", "io", "import", "choose", "verify", "simulate"]),
    ("Results", &["list", "show", "explain", "compare", "history", "report"]),
    ("More", &["doctor", "help"]),
];

/// All commands but `PROGRAMS`. The last group also gets the commands of no group.
const GROUPS: [Group; 3] = [
    ("Measure", &["run", "io", "choose", "verify", "proof", "probe", "predict", "simulate", "paper"]),
    (
        "Results",
        &["list", "show", "explain", "compare", "history", "report", "export", "import", "resume", "delete", "clean"],
    ),
    ("More", &["doctor", "help"]),
];

/// The commands that repeat an older program.
const PROGRAMS: Group = (
    "Programs of 1983, of a lab of about 2002, and of a book of 2010",
    &["read_8192", "write_4096", "write_8192", "rewrite_8192", "bw", "smallfb", "largefb", "copy"],
);

/// The column at which the descriptions begin.
const INDENT: usize = 17;

/// Runs the command. `words` name a list, a command, or a word of the tables.
pub fn run(words: &[String], command: &clap::Command) -> Result<Exit, Error> {
    let word = words.join(" ");
    let text =
        if word.trim().is_empty() { first_screen(output::page(), command) } else { explained(words, &word, command)? };
    output::print(&text)?;
    Ok(Exit::Done)
}

fn explained(words: &[String], word: &str, command: &clap::Command) -> Result<String, Error> {
    let page = output::page();
    if let Some(list) = commands(word, page, command) {
        return Ok(list);
    }
    if let Some(help) = long_help(words, command) {
        return Ok(help);
    }
    let mut texts: Vec<String> = Topic::named(word).map(|topic| GLOSSARY.list(topic, page)).into_iter().collect();
    texts.extend(GLOSSARY.find(word).into_iter().map(|(topic, entry)| glossary::text(topic, entry, page)));
    if texts.is_empty() {
        return Err(ArgumentError::UnknownWord {
            word: word.to_owned(),
            near: near(word, command),
            mentions: help_search::find(word, command),
        }
        .into());
    }
    Ok(texts.join("\n"))
}

/// The list of commands or of programs, if the word asks for it.
fn commands(word: &str, page: Page, command: &clap::Command) -> Option<String> {
    let listed: Vec<&str> = GROUPS.iter().chain([&PROGRAMS]).flat_map(|(_, names)| names.iter().copied()).collect();
    let others: Vec<&str> =
        command.get_subcommands().map(clap::Command::get_name).filter(|name| !listed.contains(name)).collect();
    let text = match word.trim().to_lowercase().as_str() {
        "commands" => {
            let groups = GROUPS.iter().map(|(heading, names)| group(heading, names, command, page));
            let more = lines(&others, command, page);
            groups.collect::<Vec<String>>().join("\n") + &more + "\n" + &group(PROGRAMS.0, PROGRAMS.1, command, page)
        }
        "programs" => group(PROGRAMS.0, PROGRAMS.1, command, page),
        _ => return None,
    };
    Some(text)
}

/// A heading and a line per command.
fn group(heading: &str, names: &[&str], command: &clap::Command, page: Page) -> String {
    format!("{heading}\n{}", lines(names, command, page))
}

/// A line per command.
fn lines(names: &[&str], command: &clap::Command, page: Page) -> String {
    let known = names.iter().filter_map(|name| command.find_subcommand(name));
    let line = |known: &clap::Command| {
        let about = known.get_about().map(ToString::to_string).unwrap_or_default();
        hanging(page, &format!("  {}", known.get_name()), INDENT, &about)
    };
    known.map(line).collect()
}

/// The --help of the command that these words name.
fn long_help(words: &[String], command: &clap::Command) -> Option<String> {
    let mut found = command;
    for word in words {
        found = found.find_subcommand(word)?;
    }
    let asked = ["diskperf"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    command.clone().try_get_matches_from(asked).err().map(|help| help.to_string())
}

/// Commands and words with a similar spelling.
fn near(word: &str, command: &clap::Command) -> Vec<String> {
    let commands = help_search::near_commands(word, command).into_iter();
    let mut near: Vec<String> = commands.chain(GLOSSARY.near(word).into_iter().map(str::to_owned)).collect();
    near.dedup();
    near
}

/// The output of `diskperf --help` and `diskperf help`.
pub fn first_screen(page: Page, command: &clap::Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = wrapped(&format!("{about}\n"), page) + "\nUsage: diskperf [TARGET]... | COMMAND\n\n";
    text += &hanging(page, "  diskperf", INDENT, "measure the current directory: diskperf run quick .");
    text += &hanging(page, "  diskperf PATH", INDENT, "measure that directory: diskperf run quick PATH");
    text += "\nTasks\n";
    for task in TASKS {
        text += &hanging(page, "", 2, task.question);
        text += &hanging(page, "", 4, task.command);
    }
    for (heading, names) in FIRST {
        text += &format!("\n{}", group(heading, names, command, page));
    }
    text += &hanging(page, "  help commands", INDENT, "all commands, also: export, resume, delete, clean, paper");
    text +=
        &hanging(page, "  help programs", INDENT, &format!("{}: {}", PROGRAMS.0.to_lowercase(), PROGRAMS.1.join(", ")));
    text += "\nTargets\n";
    for entry in GLOSSARY.entries(Topic::Target) {
        text += &hanging(page, &format!("  {}", entry.word), INDENT, entry.brief);
    }
    text += "\nWords\n";
    text += &hanging(page, "  help WORD", INDENT, "any word of a table: help noise, help durable, help margin");
    let topics = Topic::ALL.map(Topic::plural).join(", ");
    text += &hanging(page, "  help LIST", INDENT, &format!("one of: {topics}"));
    let exits: Vec<String> =
        GLOSSARY.entries(Topic::Exit).iter().map(|entry| format!("{} {}", entry.word, short(entry.brief))).collect();
    text += "\nExit status\n";
    text += &hanging(page, "", 2, &exits.join(", "));
    // `-h` and `--help` print the same here.
    let options =
        command.clone().help_template("{options}").render_help().to_string().replace(" (see more with '--help')", "");
    // Shorter, so that the values fit into one line.
    let options = options.replace("[possible values: ", "(").replace(']', ")");
    text + &format!("\nOptions\n{}\n", options.trim_end())
}

/// The first part of a line: before its colon or semicolon.
fn short(brief: &str) -> &str {
    brief.split([':', ';']).next().unwrap_or(brief)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use machines::{Kind, Machine};

    use super::*;
    use crate::cli;
    use campaign::fit::sizes::Sizes;
    use campaign::presets::{self, Settings};
    use campaign::targets::Target;

    /// The whole text of the glossary.
    fn glossary_text() -> String {
        let entries = GLOSSARY.all().map(|(_, entry)| entry);
        entries.map(|entry| [entry.brief, entry.says, entry.when, entry.advice].join("\n") + "\n").collect()
    }

    #[test]
    fn help_names_only_existing_commands() {
        let command = cli::command();
        let said = glossary_text();
        for after in said.split("diskperf ").skip(1) {
            let name: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            // Otherwise, `diskperf` is the subject of a sentence, and a verb follows.
            let is_verb = ["PATH", "s", "ed", "can", "cannot", "could", "did", "only", "still", "elsewhere"];
            let is_verb = is_verb.iter().any(|end| name.ends_with(end));
            assert!(name.is_empty() || is_verb || command.find_subcommand(&name).is_some(), "diskperf {name}");
        }
        for (option, after) in said
            .split("--")
            .skip(1)
            .map(|text| text.split_at(text.find([' ', ',', '.', ':', ';', ')', '=', '\n']).unwrap_or(text.len())))
        {
            let outside = ["sparse", "cpus", "privileged", "bind-to", "cpu-bind"];
            let mut arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
            let known = arguments.any(|argument| argument.get_long() == Some(option));
            assert!(known || outside.contains(&option), "--{option}{after}");
        }
    }

    #[test]
    fn exactly_the_presets_are_explained() {
        let mut words: Vec<&str> = GLOSSARY.entries(Topic::Preset).iter().map(|entry| entry.word).collect();
        let mut names: Vec<&str> = presets::ALL.iter().map(|preset| preset.name).collect();
        words.sort_unstable();
        names.sort_unstable();
        assert_eq!(words, names);
    }

    #[test]
    fn every_rate_unit_is_explained() {
        let arguments = [".".parse(), "sim:flat".parse()].map(|Ok(argument)| argument);
        let targets = Target::resolve_all(&arguments).expect("both are there");
        let settings = Settings { size: None, memory: None, seed: 1, sizes: Sizes::LARGEST };
        let mut units = BTreeSet::new();
        for preset in presets::ALL {
            for target in &targets {
                let rows = preset.rows(&settings, target).expect("the preset's own size");
                units.extend(rows.iter().map(|row| row.unit.name.to_owned()));
            }
            let published = (preset.published)().into_iter();
            units.extend(published.filter_map(|cell| cell.rate).map(|rate| rate.unit));
        }
        assert!(units.len() > 5, "{units:?}");
        for unit in units {
            assert!(Topic::Unit.entry(&unit).is_some(), "{unit}");
        }
    }

    #[test]
    fn every_machine_part_and_unit_is_explained() {
        for kind in Kind::ALL {
            assert!(Topic::MachinePart.entry(kind.key()).is_some(), "{kind}");
        }
        let fields = Machine::all().flat_map(|machine| {
            let parts = Kind::ALL.into_iter().flat_map(|kind| machine.parts(kind).cloned().collect::<Vec<_>>());
            parts.flat_map(|part| part.fields).collect::<Vec<_>>()
        });
        let mut units = BTreeSet::new();
        for field in fields {
            assert!(Topic::MachinePart.entry(field.source.name()).is_some(), "{}", field.source.name());
            units.extend(field.unit);
        }
        assert!(units.len() > 5, "{units:?}");
        for unit in units {
            assert!(GLOSSARY.find(&unit).iter().any(|(topic, _)| *topic == Topic::Unit), "{unit}");
        }
    }

    #[test]
    fn every_exit_status_is_explained() {
        for exit in Exit::ALL {
            assert!(Topic::Exit.entry(&(exit as u8).to_string()).is_some(), "{exit:?}");
        }
        assert_eq!(GLOSSARY.entries(Topic::Exit).len(), Exit::ALL.len());
    }

    #[test]
    fn entries_are_complete_and_words_unique_in_their_topic() {
        for topic in Topic::ALL {
            let mut seen = BTreeSet::new();
            for entry in GLOSSARY.entries(topic) {
                for text in [entry.brief, entry.says, entry.when, entry.advice] {
                    assert!(!text.trim().is_empty(), "{}", entry.word);
                    assert!(!text.contains("  "), "{}: {text}", entry.word);
                }
                // Next to a bar there is less room.
                let room = if topic == Topic::Owner { 32 } else { 80 };
                assert!(entry.brief.len() <= room, "{}: {}", entry.word, entry.brief);
                assert!(seen.insert(entry.word), "{} stands twice among {}", entry.word, topic.plural());
                assert!(GLOSSARY.find(entry.word).contains(&(topic, entry)));
            }
        }
    }

    #[test]
    fn lines_are_wrapped_without_losing_words() {
        for topic in Topic::ALL {
            for entry in GLOSSARY.entries(topic) {
                let text = glossary::text(topic, entry, Page::ENDLESS);
                assert!(
                    text.lines().skip_while(|line| !line.starts_with("  means")).all(|line| line.chars().count() <= 80),
                    "{text}"
                );
                let flowed: Vec<&str> = text.split_whitespace().collect();
                let flowed = flowed.join(" ");
                for part in [entry.says, entry.when, entry.advice] {
                    let part: Vec<&str> = part.split_whitespace().collect();
                    assert!(flowed.contains(&part.join(" ")), "{text}");
                }
            }
        }
    }
}
