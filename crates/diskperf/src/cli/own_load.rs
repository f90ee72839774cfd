//! `choose TARGET... io PATTERN [OPTION]...`: a workload of your own, with the options of `diskperf io`. The words
//! after `io` are divided: options of a workload belong to it, and all others to `choose`. So both can be mixed.
//!
//! `choose` has its own --rounds, --seed and --size; they mean the same for the workload. Options with several values
//! make a sweep (`own_sweep`).

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory, Parser};
use jobs::LoadSpec;

use super::operands::{operands, takes_next};
use super::own_sweep;

/// The option of `choose` that has the workload as JSON. Hidden: the words after `io` become it.
pub const OPTION: &str = "io-load";

/// The options that both have.
const OF_BOTH: [&str; 3] = ["rounds", "seed", "size"];

/// The words after `io`.
#[derive(Parser)]
#[command(name = "diskperf choose TARGET... io", no_binary_name = true, disable_help_flag = true)]
struct OwnLoad {
    #[command(flatten)]
    load: LoadSpec,
}

/// Reads a workload from JSON.
pub fn parse_load(text: &str) -> Result<LoadSpec, String> {
    serde_json::from_slice(text.as_bytes()).map_err(|error| error.to_string())
}

/// Replaces the words after `io` in a call of `choose`. `choose` is its grammar. Words of other calls stay as they are.
pub fn divided(
    words: Vec<OsString>,
    choose: &clap::Command,
    has_fio_words: bool,
) -> Result<Vec<OsString>, clap::Error> {
    if words.get(1).is_none_or(|word| word != "choose") {
        return Ok(words);
    }
    let Some(at) = place_of_io(&words, choose) else { return Ok(words) };
    let grammar = OwnLoad::command();
    let (mut of_load, mut of_choose) = (Vec::new(), words[..at].to_vec());
    let mut rest = words[at + 1..].iter();
    let mut has_pattern = false;
    while let Some(word) = rest.next() {
        let own = option(word, &grammar).filter(|own| !OF_BOTH.contains(&own.get_long().unwrap_or_default()));
        let is_pattern = !has_pattern && !word.as_encoded_bytes().starts_with(b"-");
        has_pattern |= is_pattern;
        let side = if own.is_some() || is_pattern { &mut of_load } else { &mut of_choose };
        side.push(word.clone());
        if takes_next(&[&grammar, choose], word) {
            side.extend(rest.next().cloned());
        }
    }
    // --help is about `choose`.
    if !has_pattern && of_choose.iter().any(|word| word == "--help" || word == "-h") {
        return Ok(of_choose);
    }
    if let Some(other) = other_workload(&of_choose, choose) {
        let why = format!("{other} cannot be used with io: both say which workload to run");
        return Err(choose.clone().error(ErrorKind::ArgumentConflict, why));
    }
    let (of_load, swept) = own_sweep::divided(of_load, has_fio_words);
    let OwnLoad { load } = OwnLoad::try_parse_from(of_load)?;
    let json = serde_json::to_string(&load).expect("plain data");
    let options = [format!("--{OPTION}={json}").into()].into_iter().chain(own_sweep::hidden_option(&swept));
    of_choose.splice(2..2, options);
    Ok(of_choose)
}

/// The word for another workload than the one after `io`. Clap would name the hidden option.
fn other_workload(words: &[OsString], choose: &clap::Command) -> Option<String> {
    let named = |word: &OsString| match option(word, choose).and_then(Arg::get_long) {
        Some(long @ ("preset" | "load")) => Some(format!("--{long}")),
        _ => (word == "--").then(|| "a command after --".to_owned()),
    };
    words.iter().find_map(named)
}

/// The option that a word names, as in `--bs` or `--bs=4k`.
fn option<'a>(word: &OsStr, grammar: &'a clap::Command) -> Option<&'a Arg> {
    let name = word.to_str()?.strip_prefix("--")?.split('=').next()?;
    grammar.get_arguments().find(|argument| argument.get_long() == Some(name))
}

/// The place of `io` in a call of `choose`, whose grammar must be built. The value of an option, or a target behind
/// `--`, may have the same name.
pub fn place_of_io(words: &[OsString], choose: &clap::Command) -> Option<usize> {
    operands(&[choose], &words[2..]).find(|(_, word)| *word == "io").map(|(place, _)| place + 2)
}

#[cfg(test)]
mod tests {
    use jobs::{LoadSpec, Time};
    use units::Nanos;

    use super::*;
    use crate::cli;

    fn divide(line: &str) -> Result<Vec<String>, clap::Error> {
        let mut grammar = cli::command();
        grammar.build();
        let choose = grammar.find_subcommand("choose").expect("a command").clone();
        let words = line.split_whitespace().map(OsString::from).collect();
        divided(words, &choose, false)
            .map(|words| words.into_iter().map(|word| word.into_string().expect("text")).collect())
    }

    #[test]
    fn options_go_to_their_command() {
        let words =
            divide("diskperf choose a=. io randrw --json --fsync 8 --margin 3% --rounds=6 --direct --time=1s b=/x");
        let words = words.expect("words");
        assert_eq!(words[..2], ["diskperf", "choose"]);
        assert_eq!(words[3..], ["a=.", "--json", "--margin", "3%", "--rounds=6", "b=/x"]);
        let json = words[2].strip_prefix("--io-load=").expect("the workload");
        let LoadSpec { pattern, fsync, direct, time, rounds, .. } = parse_load(json).expect("a workload");
        assert_eq!((pattern, fsync, direct), (jobs::PatternName::Randrw, Some(8), true));
        assert_eq!((time, rounds), (Some(Time(Nanos::from_secs(1))), None));
    }

    #[test]
    fn the_word_behind_a_switch_is_no_value() {
        let words = divide("diskperf choose a=. b=/x io randread --direct --bs 4k").expect("words");
        let json = words[2].strip_prefix("--io-load=").expect("the workload");
        let LoadSpec { direct, bs, .. } = parse_load(json).expect("a workload");
        assert!(direct && bs.is_some(), "{words:?}");
        assert_eq!(words[3..], ["a=.", "b=/x"]);
    }

    #[test]
    fn options_before_io_may_have_values_of_their_own() {
        for line in ["--yes", "--margin=3%", "--margin 3% --dry-run", "-o io"] {
            let words = divide(&format!("diskperf choose a=. b=/x {line} io randread")).expect("words");
            assert!(words[2].starts_with("--io-load={"), "{words:?}");
            assert_eq!(words[3..].join(" "), format!("a=. b=/x {line}"));
        }
    }

    #[test]
    fn several_values_are_an_option_of_their_own() {
        let words = divide("diskperf choose . /x io randread --bs 4k..64k*4 --iodepth 8 --budget 1min").expect("words");
        assert!(words[2].starts_with("--io-load={") && words[2].contains("\"iodepth\":8"), "{words:?}");
        assert_eq!(words[3], "--io-sweep=[[\"bs\",\"4k..64k*4\"]]");
        assert_eq!(words[4..], [".", "/x", "--budget", "1min"]);
        let line = "diskperf choose . /x io randread --bs 4k..64k*4";
        assert_eq!(cli::refusal(&line.split(' ').map(OsString::from).collect::<Vec<_>>()), None);
    }

    #[test]
    fn other_words_stay() {
        for line in
            ["diskperf choose . /tmp", "diskperf run io", "diskperf choose --only io . x", "diskperf choose . -- io x"]
        {
            assert_eq!(divide(line).expect("words").join(" "), line);
        }
        for (line, said) in [
            ("diskperf choose . /x --preset quick io randread", "--preset cannot be used with io"),
            ("diskperf choose . /x io randread --load=x.toml", "--load cannot be used with io"),
            ("diskperf choose . /x io randread -- true", "a command after -- cannot be used with io"),
        ] {
            let error = divide(line).expect_err(line).to_string();
            assert!(error.contains(said) && !error.contains("io-load"), "{error}");
        }
        assert!(divide("diskperf choose . /x io sideways").is_err());
        assert!(divide("diskperf choose . /x io").is_err());
    }
}
