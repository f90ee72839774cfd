//! `diskperf help [WORD]...`: the first screen, the help of a command, or a word explained.

use report::Page;
use report::glossary::{self, Topic};
use report::wrap::{hanging, wrapped};

use crate::cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::output;

/// The commands by what a person wants to do. One that is on no list stands under the last; one that this build does
/// not have is left out.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure", &["run", "io", "choose", "verify"]),
    (
        "Runs",
        &["list", "show", "explain", "compare", "history", "report", "export", "import", "resume", "delete", "clean"],
    ),
    ("Simulate", &["simulate", "paper"]),
    (
        "The programs of 1983, of a lab and of a book",
        &["read_8192", "write_4096", "write_8192", "rewrite_8192", "bw", "smallfb", "largefb", "copy"],
    ),
    ("More", &[]),
];

/// Where the descriptions begin.
const INDENT: usize = 16;

/// Runs the command: `words` are a command's name, or a word of the tables.
pub fn run(words: &[String]) -> Result<Exit, Error> {
    let word = words.join(" ");
    let text = if word.trim().is_empty() { first_screen(output::page()) } else { explained(words, &word)? };
    output::print(&text)?;
    Ok(Exit::Done)
}

fn explained(words: &[String], word: &str) -> Result<String, Error> {
    let page = output::page();
    let mut texts: Vec<String> = command(words).into_iter().collect();
    texts.extend(Topic::named(word).map(|topic| glossary::list(topic, page)));
    texts.extend(glossary::find(word).into_iter().map(|(topic, entry)| glossary::text(topic, entry, page)));
    if texts.is_empty() {
        return Err(Error::UnknownWord { word: word.to_owned(), near: near(word) });
    }
    Ok(texts.join("\n"))
}

/// What the command that these words lead to says of itself when it is asked with --help.
fn command(words: &[String]) -> Option<String> {
    let command = cli::command();
    let mut found = &command;
    for word in words {
        found = found.find_subcommand(word)?;
    }
    let asked = ["diskperf"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    command.clone().try_get_matches_from(asked).err().map(|help| help.to_string())
}

/// Commands and words that may have been meant.
fn near(word: &str) -> Vec<String> {
    let commands = near_commands(word).into_iter();
    let mut near: Vec<String> = commands.chain(glossary::near(word).into_iter().map(str::to_owned)).collect();
    near.dedup();
    near
}

/// Commands that may have been meant, as clap itself chooses among them.
pub fn near_commands(word: &str) -> Vec<String> {
    let command = cli::command();
    let commands = command.get_subcommands().map(clap::Command::get_name);
    commands.filter(|name| strsim::jaro(name, word) > 0.7).map(str::to_owned).collect()
}

/// What `diskperf --help` and `diskperf help` print.
pub fn first_screen(page: Page) -> String {
    let command = cli::command();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = wrapped(&format!("{about}\n"), page) + "\nUsage: diskperf [TARGET]... | COMMAND\n\n";
    text += &hanging(page, "  diskperf", INDENT, "measures the directory you stand in: diskperf run quick .");
    text += &hanging(page, "  diskperf PATH", INDENT, "measures that directory: diskperf run quick PATH");
    let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    for (group, names) in GROUPS {
        let others = command.get_subcommands().filter(|known| names.is_empty() && !listed.contains(&known.get_name()));
        let named = names.iter().filter_map(|name| command.find_subcommand(name));
        let lines: String = named
            .chain(others)
            .map(|known| {
                let about = known.get_about().map(ToString::to_string).unwrap_or_default();
                hanging(page, &format!("  {}", known.get_name()), INDENT, &about)
            })
            .collect();
        if !lines.is_empty() {
            text += &format!("\n{group}\n{lines}");
        }
    }
    text += "\nTargets\n";
    for entry in Topic::Target.entries() {
        text += &hanging(page, &format!("  {}", entry.word), INDENT, entry.brief);
    }
    text += "\nWords\n";
    text += &hanging(page, "  help WORD", INDENT, "explains any word of a table: help noise, help durable, help dirty");
    let topics = Topic::ALL.map(Topic::plural).join(", ");
    text += &hanging(page, "  help TOPIC", INDENT, &format!("lists them: {topics}"));
    let exits: Vec<String> =
        Topic::Exit.entries().iter().map(|entry| format!("{} {}", entry.word, short(entry.brief))).collect();
    text += "\nExit status\n";
    text += &hanging(page, "", 2, &exits.join(", "));
    // Here both spellings of the option print the same.
    let options = command.help_template("{options}").render_help().to_string().replace(" (see more with '--help')", "");
    // In fewer letters, so that they fit beside what they are of.
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

    use super::*;
    use crate::budget::Sizes;
    use crate::machines::{Kind, Machine};
    use crate::presets::{self, Settings};
    use crate::published;
    use crate::target::Target;

    /// Everything that the glossary says, in one text.
    fn said() -> String {
        let entries = Topic::ALL.into_iter().flat_map(|topic| topic.entries());
        entries.map(|entry| [entry.brief, entry.says, entry.when, entry.advice].join("\n") + "\n").collect()
    }

    #[test]
    fn only_commands_of_this_build_are_named() {
        let command = cli::command();
        let said = said();
        for after in said.split("diskperf ").skip(1) {
            let name: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            assert!(name.is_empty() || command.find_subcommand(&name).is_some(), "diskperf {name}");
        }
        for (option, after) in said
            .split("--")
            .skip(1)
            .map(|text| text.split_at(text.find([' ', ',', '.', ';', ')', '=', '\n']).unwrap_or(text.len())))
        {
            let outside = ["sparse", "cpus"];
            let mut arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
            let known = arguments.any(|argument| argument.get_long() == Some(option));
            assert!(known || outside.contains(&option), "--{option}{after}");
        }
    }

    #[test]
    fn every_preset_is_explained_and_no_other() {
        let mut words: Vec<&str> = Topic::Preset.entries().iter().map(|entry| entry.word).collect();
        let mut names = presets::ALL.map(|preset| preset.name).to_vec();
        words.sort_unstable();
        names.sort_unstable();
        assert_eq!(words, names);
    }

    #[test]
    fn every_unit_that_a_rate_has_is_explained() {
        let arguments = [".".parse(), "sim:flat".parse()].map(|Ok(argument)| argument);
        let targets = Target::resolve_all(&arguments).expect("both are there");
        let settings = Settings {
            size: None,
            memory: None,
            seed: 1,
            sizes: Sizes::LARGEST,
            load: None,
            command: None,
            mix: None,
            time: None,
        };
        let mut units = BTreeSet::new();
        for preset in presets::ALL {
            for target in &targets {
                let rows = (preset.rows)(&settings, target).expect("the preset's own size");
                units.extend(rows.iter().map(|row| row.unit.name.to_owned()));
            }
            let published = published::cells(preset.name).into_iter();
            units.extend(published.filter_map(|cell| cell.rate).map(|rate| rate.unit));
        }
        assert!(units.len() > 5, "{units:?}");
        for unit in units {
            assert!(Topic::Unit.entry(&unit).is_some(), "{unit}");
        }
    }

    #[test]
    fn every_part_and_every_unit_of_a_machine_is_explained() {
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
            assert!(glossary::find(&unit).iter().any(|(topic, _)| *topic == Topic::Unit), "{unit}");
        }
    }

    #[test]
    fn every_exit_status_is_explained() {
        for exit in Exit::ALL {
            assert!(Topic::Exit.entry(&(exit as u8).to_string()).is_some(), "{exit:?}");
        }
        assert_eq!(Topic::Exit.entries().len(), Exit::ALL.len());
    }
}
