//! The first words that a fio user types: sizes such as `4k`, and a path alone.

use std::fs;

use serde_json::{Value, json};

use crate::common::Cli;
use crate::common::document::document;

#[test]
fn sizes_have_binary_units_as_in_fio_and_decimal_si_units() {
    let cli = Cli::new();
    let here = cli.path();
    for (size, bytes, bs, block) in [
        ("64k", 65_536, "4k", 4096),
        ("1m", 1 << 20, "4K", 4096),
        ("1M", 1 << 20, "4kib", 4096),
        ("0.0625G", 1 << 26, "4096b", 4096),
        ("512kB", 512_000, "1kB", 1000),
    ] {
        let found = cli.document(&["io", "randread", "sim:flat", "--bs", bs, "--size", size, "--json"]);
        let parameters = &found["cells"][0]["parameters"];
        assert_eq!((&parameters["file_bytes"], &parameters["buffer_bytes"]), (&json!(bytes), &json!(block)), "{size}");
    }
    let job = "targets = ['sim:flat']\n[[load]]\npattern = 'randread'\nbs = '8k'\nsize = '1m'\n";
    fs::write(here.join("job.toml"), job).expect("a job");
    let of_job = cli.document(&["run", "job.toml", "--json"]);
    assert_eq!(of_job["cells"][0]["parameters"]["buffer_bytes"], json!(8192));
    for (size, words) in [
        ("4kb", ["ambiguous unit kb", "KiB (powers of 1024)", "kB (powers of 1000)"]),
        ("99999999999999999999", ["size too large (more than 64 bits)"; 3]),
        ("99999999T", ["size too large (more than 64 bits)"; 3]),
        ("4q", ["unknown unit of size", "KiB", "kB"]),
    ] {
        let refused = cli.run(&["io", "randread", "sim:flat", "--size", size]);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{size}: {}", refused.err);
        assert!(words.iter().all(|word| refused.err.contains(word)), "{size}: {}", refused.err);
    }
    for help in [&["help", "run"][..], &["help", "io"], &["help", "sizes"]] {
        let help = cli.run(help).out;
        assert!(help.contains("powers of 1024") && help.contains("powers of 1000"), "{help}");
    }
    assert_eq!(cli.names(), ["job.toml"]);
}

/// The text without sizes, times and numbers of files: they depend on the free space, which other programs change.
/// Numbers of tests and rounds stay.
fn without_sizes(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let is_kept = |&at: &usize| {
        let counted = words[at..].iter().find(|word| !is_number(word) && **word != "of");
        let is_count = counted.is_some_and(|word| word.starts_with("round") || word.starts_with("test"));
        !words[at].ends_with("iB") && words[at] != "B" && (is_count || !is_number(words[at]))
    };
    (0..words.len()).filter(is_kept).map(|at| words[at]).collect::<Vec<&str>>().join(" ")
}

#[test]
fn a_path_alone_means_run_quick() {
    let cli = Cli::new();
    let here = cli.path();
    for name in ["data", "run", "data/list"] {
        fs::create_dir(here.join(name)).expect("a folder");
    }
    let data = here.join("data").to_str().expect("text").to_owned();
    for (words, same) in [
        (vec!["data"], vec!["data"]),
        (vec![data.as_str()], vec![data.as_str()]),
        (vec!["data", "--only", "randread"], vec!["data", "--only", "randread"]),
        (vec!["--only", "randread", "data"], vec!["data", "--only", "randread"]),
        (vec!["--seed=7", "data", "--rounds", "2"], vec!["data", "--seed", "7", "--rounds", "2"]),
        (vec!["data", "a=data/list"], vec!["data", "a=data/list"]),
        // After a path, the name of a command is a path.
        (vec!["data/list", "run"], vec!["data/list", "run"]),
        (vec!["./run"], vec!["./run"]),
        (vec!["file:/bin/true"], vec!["file:/bin/true"]),
        (vec!["sim:vax780-sc780"], vec!["sim:vax780-sc780"]),
    ] {
        let [short, long] = [(&[][..], words), (&["run", "quick"][..], same)].map(|(before, words)| {
            let words = [before, &words, &["--dry-run", "--no-store"]].concat();
            let ended = cli.run(&words);
            (ended.status, without_sizes(&ended.err))
        });
        assert_eq!(short.0, long.0, "{short:?}");
        assert_eq!(short.1, long.1);
    }
    let planned = cli.run(&["data", "--only", "randread", "--dry-run"]);
    assert!(planned.status == Some(0) && planned.err.contains("data"), "{}{}", planned.out, planned.err);
    let found = cli.document(&["sim:flat", "--only", "randread", "--json", "--rounds", "1"]);
    let command: Vec<&str> =
        found["run"]["command"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert_eq!(command[1..4], ["run", "quick", "sim:flat"], "it can be repeated and resumed as it is written down");
    assert_eq!(found["run"]["preset"], "quick");
    // A command of the user replaces the preset here too.
    let own = cli.run(&["data", "--rounds", "1", "--", "true"]);
    assert!(own.status == Some(0) && own.out.contains("true"), "{}{}", own.out, own.err);
    // The name of a command takes precedence over a path, also behind options.
    for words in [&["run"][..], &["run", "--json"]] {
        let refused = cli.run(words);
        assert!(refused.status == Some(2) && refused.err.contains("PRESET|JOB.toml"), "{}", refused.err);
    }
    let refused = cli.run(&["--no-store", "run"]);
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("run is a command") && refused.err.contains("./run"), "{}", refused.err);
    // A word without any meaning.
    for (word, near) in [("runn", "diskperf run"), ("lits", "diskperf list"), ("xyzzy", "diskperf help")] {
        let refused = cli.run(&[word]);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
        let said = format!("error: {word} is not a command, and no directory or device here has that name");
        assert!(refused.err.contains(&said) && refused.err.contains(near), "{}", refused.err);
    }
    let missing = cli.run(&["./none", "--only", "randread"]);
    assert!(missing.status == Some(2) && missing.err.contains("there is no ./none"), "{}", missing.err);
    let unknown = cli.run(&["data", "--bogus"]);
    assert!(unknown.status == Some(2) && unknown.err.contains("--bogus"), "{}", unknown.err);
    let help = cli.run(&["data", "--help"]);
    assert!(help.status == Some(0) && help.out.contains("PRESET|JOB.toml"), "{}", help.out);
    for help in [&["--help"][..], &["-h"], &["help"], &["man"]] {
        let text = cli.run(help).out.replace("\\-", "-");
        assert!(text.contains("diskperf PATH") && text.contains("run quick PATH"), "{help:?}: {text}");
    }
    for (shell, paths) in [
        ("bash", "-o default diskperf"),
        ("zsh", "_alternative 'commands:: _diskperf_commands' 'files:: _files'"),
        ("fish", "__fish_diskperf_needs_command\" -F\n"),
    ] {
        assert!(cli.run(&["completions", shell]).out.contains(paths), "{shell} completes no path");
    }
    let mut names = cli.names();
    names.retain(|name| name.starts_with('.'));
    assert_eq!(names, [""; 0]);
}

#[test]
fn usage_errors_are_documents_if_json_is_requested() {
    let cli = Cli::new();
    for words in [
        "--json --bogus",
        "--format json --bogus",
        "nothing-like-it --json",
        "run --json",
        "run nonsense --json",
        "run smoke sim:flat --json --rounds 0",
        "run smoke sim:flat --json --size 4kb",
        "run smoke missing --format=json",
        "run smoke sim:flat --json -o .",
        "simulate vax --json",
        "simulate vax780-sc780 --json -o .",
        "io sideways --json",
        "choose . --json",
        "list --json --store missing.sqlite",
        "list --json --bogus",
        "show xyzzy --json",
        "compare missing.json missing.json --json",
        "history read --json --store missing.sqlite",
        "explain missing.json --json",
        "doctor missing --json",
        "verify missing --json",
        "paper T9 --json",
        "paper --json --bogus",
        "resume --json",
        "bogus --json",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = cli.run(&words);
        assert_eq!(ended.status, Some(2), "{words:?}: {}{}", ended.out, ended.err);
        let found = document(&ended);
        assert_eq!(found["schema"], "diskperf/1", "{words:?}");
        let errors = found["errors"].as_array().expect("errors");
        let message = errors[0]["message"].as_str().expect("a message");
        assert!(errors.len() == 1 && !message.is_empty() && !message.contains("error: "), "{words:?}: {errors:?}");
        let first: String = ended.err.split_whitespace().skip(1).take(3).collect::<Vec<_>>().join(" ");
        assert!(ended.err.starts_with("error: ") && message.starts_with(&first), "{words:?}: {message} {}", ended.err);
        assert_eq!(found["cells"], json!([]), "{words:?}");
        let command = found["run"]["command"].as_array().expect("words").len();
        assert!(command > words.len(), "{words:?}");
        // Without JSON, standard output is empty.
        let plain: Vec<&str> = words.into_iter().filter(|word| !word.contains("json") || word.contains('.')).collect();
        if !plain.contains(&"--format") && plain != ["resume"] {
            assert_eq!(cli.run(&plain).out, "", "{plain:?}");
        }
    }
    // The document goes to the file of the results, which may have older results.
    for (words, message) in [
        ("run smoke sim:flat --json -o out.json --bogus", "unexpected argument"),
        ("list --json --output=out.json --store missing.sqlite", "there is no results database"),
        ("compare missing.json missing.json --json -oout.json", "there is no missing.json"),
    ] {
        fs::write(cli.path().join("out.json"), "old").expect("a file");
        let ended = cli.typed(words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{words}: {}", ended.err);
        let out = fs::read_to_string(cli.path().join("out.json")).expect("the file");
        let found: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words}: {error}: {out}"));
        assert!(found["errors"][0]["message"].as_str().is_some_and(|said| said.contains(message)), "{found}");
    }
    // Inputs, and files of a command that are not its results, stay.
    fs::write(cli.path().join("out.json"), "old").expect("a file");
    for words in [
        "show out.json --json -o out.json --bogus",
        "run smoke old=file:./out.json --json -o out.json --bogus",
        "compare missing.json out.json --json -o ./out.json",
        "probe missing --json -o out.json --bogus",
    ] {
        let ended = cli.typed(words);
        assert_eq!(ended.status, Some(2), "{words}: {}", ended.err);
        assert!(document(&ended)["errors"][0]["message"].is_string(), "{words}: {}", ended.out);
        assert_eq!(fs::read_to_string(cli.path().join("out.json")).expect("the file"), "old", "{words}");
    }
    // Words of a user's command do not ask for JSON.
    let refused = cli.run(&["run", "--bogus", "--", "ls", "--json"]);
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""));
    assert_eq!(cli.names(), ["out.json"]);
}
