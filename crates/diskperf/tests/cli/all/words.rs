//! `diskperf help WORD` explains every word of the tables: words are collected from the output of each command that
//! prints one. Targets are simulated, or a folder with small files.

use std::collections::BTreeSet;
use std::fs;

use crate::common::Cli;

type Words = BTreeSet<String>;

/// The output of a command that ends with this status.
fn ended_with(cli: &Cli, words: &str, status: i32) -> String {
    let ended = cli.run(&words.split(' ').collect::<Vec<&str>>());
    assert_eq!(ended.status, Some(status), "{words}: {}", ended.err);
    ended.out
}

/// The output of a command that succeeds.
fn output_of(cli: &Cli, words: &str) -> String {
    ended_with(cli, words, 0)
}

/// True if `diskperf help` explains this word.
fn is_explained(word: &str) -> bool {
    let words: Vec<&str> = word.split_whitespace().collect();
    Cli::in_folder("/").run(&[&["help"], &words[..]].concat()).status == Some(0)
}

/// Asserts that each word is explained, and that there are at least `least` words.
fn all_explained(words: &Words, least: usize) {
    assert!(words.len() >= least, "{words:?}");
    let unknown: Vec<&String> = words.iter().filter(|word| !is_explained(word)).collect();
    assert!(unknown.is_empty(), "diskperf help does not know {unknown:?} of {words:?}");
}

/// The tables in Markdown: headings, then rows.
fn tables(markdown: &str) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.replace('\\', "");
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut tables: Vec<(Vec<String>, Vec<Vec<String>>)> = Vec::new();
    let mut lines = markdown.lines().filter(|line| line.starts_with('|')).peekable();
    while let Some(line) = lines.next() {
        if lines.next_if(|line| line.starts_with("| --- |")).is_some() {
            tables.push((cells(line), Vec::new()));
        } else if let Some((_, rows)) = tables.last_mut() {
            rows.push(cells(line));
        }
    }
    tables
}

/// The words of a table that `help` must explain: headings, rows, units, conditions, bottlenecks, verdicts and reasons.
fn words_of(headings: &[String], rows: &[Vec<String>]) -> Words {
    let mut words: Words = headings.iter().filter(|heading| !heading.is_empty()).cloned().collect();
    for (heading, cell) in rows.iter().flat_map(|row| headings.iter().zip(row)) {
        let cell = cell.trim_end_matches('*');
        let word = match heading.as_str() {
            "condition" | "state" | "bottleneck" | "limited by" => {
                let word =
                    ["limited by: ", "limited by ", "bottleneck: "].iter().find_map(|label| cell.strip_prefix(label));
                word.unwrap_or(cell).split(':').next().unwrap_or(cell)
            }
            // Noise is described in a sentence.
            "base" | "new" if cell.contains(" (up to ") => continue,
            "rate" | "then" | "now" | "base" | "new" => cell.rsplit(' ').next().unwrap_or(cell),
            "" => cell.split(" on ").next().and_then(|row| row.split(',').next()).unwrap_or(cell),
            "why" => {
                words.extend(reasons(cell));
                continue;
            }
            "changed" => cell,
            "verdict" => cell.split(|c: char| c == ',' || c.is_ascii_digit()).next().unwrap_or(cell),
            _ => continue,
        };
        words.insert(word.split(" (").next().unwrap_or(word).trim().to_owned());
    }
    words.remove("");
    words
}

/// The reasons of a cell such as `a: device-bound, b: CPU-bound` or `a: 1.0 bytes written per byte, b: 1.3`.
fn reasons(cell: &str) -> Vec<String> {
    let parts = cell.split(", ").filter_map(|part| part.split_once(": "));
    parts.flat_map(|(_, reason)| without_figures(reason)).collect()
}

/// The cells of a line of a table on a terminal: two spaces or more separate them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty())
}

/// The words of a cell without its figures: `+9 % rotation` and `healthy, rotation`, but not `560 (70%)*` or a name
/// with a slash, which is a configuration of the machine.
fn without_figures(cell: &str) -> Vec<String> {
    let parts = cell.split(", ").map(|part| {
        let words = part.split(' ').skip_while(|word| !word.contains(char::is_alphabetic));
        words.collect::<Vec<&str>>().join(" ")
    });
    parts.filter(|part| !part.is_empty() && !part.contains('/')).collect()
}

/// The words of the tables of 1983: rows, headings, and the words below the rates. Prose continues after two spaces,
/// and a long row after three; names of configurations are not words.
fn words_of_1983(text: &str) -> Words {
    let is_table = |line: &&str| {
        let indent = line.len() - line.trim_start().len();
        (indent == 1 || indent > 2) && !(indent == 3 && line.trim_start().starts_with(char::is_numeric))
    };
    let cells = text.lines().filter(is_table).flat_map(cells);
    let known = cells.filter(|cell| !cell.contains("/Eagle") && !cell.ends_with(','));
    known.map(str::to_owned).flat_map(words_of_cell).collect()
}

/// `1 Drive` is a heading, not a figure.
fn words_of_cell(cell: String) -> Vec<String> {
    match cell.strip_suffix(", as VMS") {
        Some(row) => vec![row.to_owned(), "as VMS".to_owned()],
        None if cell.to_lowercase().contains("drive") => vec![cell],
        None => without_figures(&cell),
    }
}

/// The words of an explained simulated result: parts of the program's time, resources, and their activities.
fn words_of_explained(text: &str) -> Words {
    let flowed = text.split_whitespace().collect::<Vec<&str>>().join(" ").replace("% idle ", "% idle, ");
    let mut words = Words::new();
    let bars = text.lines().skip_while(|line| line.trim() != "by program").skip(1);
    for line in bars.take_while(|line| line.trim() != "by resource") {
        let part = cells(line).next().filter(|_| line.starts_with("  ") && !line.starts_with("   "));
        words.extend(part.map(|part| part.split(':').next().unwrap_or(part).to_owned()));
    }
    let none = flowed.split("none: ").nth(1).and_then(|rest| rest.split(" by resource").next());
    words.extend(none.into_iter().flat_map(|list| list.split(", ")).map(str::to_owned));
    let resources = flowed.split(" by resource ").nth(1).unwrap_or_default();
    for part in resources.split(" most of it").next().unwrap_or_default().split([',', '(', ')', ':', '%']) {
        let is_word = |word: &&str| word.starts_with(char::is_alphabetic) && *word != "ms";
        let name: Vec<&str> = part.split(' ').filter(|word| !word.is_empty()).filter(is_word).collect();
        words.insert(name.join(" "));
    }
    words.remove("");
    words
}

#[test]
fn every_word_of_a_printed_table_is_explained() {
    let cli = Cli::new();
    let mut words = Words::new();
    output_of(&cli, "run smoke . sim:flat --rounds 2 --no-store --json -o base.json");
    for call in [
        "run smoke . sim:flat --rounds 2 --store s.sqlite --format markdown",
        "io randread . --size 1MiB --time 50ms --rounds 2 --iodepth 4 --rate 100 --no-store --format markdown",
        "choose a=sim:flat b=sim:vax780-sc780 --only read_8192 --only commit --preset smoke --no-store --format \
         markdown",
        "compare base.json last --store s.sqlite --format markdown",
        "history read --store s.sqlite --format markdown",
        "explain last --store s.sqlite --format markdown",
    ] {
        let tables = tables(&output_of(&cli, call));
        assert!(!tables.is_empty(), "{call}");
        words.extend(tables.iter().flat_map(|(headings, rows)| words_of(headings, rows)));
    }
    for reason in ["device-bound", "CPU-bound"] {
        assert!(words.contains(reason), "{words:?}");
    }
    let list = output_of(&cli, "list --store s.sqlite");
    words.extend(list.lines().take(1).flat_map(cells).map(str::to_owned));
    words.extend(["finished".to_owned()].into_iter().filter(|word| list.contains(word.as_str())));
    // Two targets are columns of their own, and an empty cell has no words.
    for name in ["", "a", "b"] {
        words.remove(name);
    }
    // There are fewer words if all tests have the same bottleneck.
    all_explained(&words, 40);
    let table = "| | rate | nonsense |\n| --- | ---: | --- |\n| rows | 5 furlongs\\* | b |\n";
    let (headings, rows) = &tables(table)[0];
    let found = words_of(headings, rows);
    assert_eq!(found, ["furlongs", "nonsense", "rate", "rows"].map(str::to_owned).into());
    assert!(!is_explained("nonsense") && !is_explained("furlongs"));
}

#[test]
fn every_word_around_a_table_is_explained() {
    let cli = Cli::new();
    let mut words = Words::new();
    for call in [
        "run smoke . sim:flat --rounds 1 --no-store",
        "choose a=sim:flat b=sim:flat --only read_8192 --preset smoke --no-store",
    ] {
        let text = output_of(&cli, call);
        let labels = text.lines().filter_map(|line| line.split_once(": ").map(|(label, _)| label));
        let labels = labels.map(|label| label.trim_start_matches("* "));
        words.extend(labels.filter(|label| !label.contains([' ', '/']) || *label == "Not tested").map(str::to_owned));
    }
    assert!(words.contains("Not tested") && words.contains("few"), "{words:?}");
    all_explained(&words, 4);
    // Lines that are printed only on a disturbed machine.
    all_explained(&["CPU steal", "CPU pressure", "I/O pressure", "noise"].map(str::to_owned).into(), 4);
}

#[test]
fn every_word_of_the_tables_of_1983_is_explained() {
    testkit::compute_only!();
    let cli = Cli::in_folder("/");
    let mut words = Words::new();
    for call in [
        "paper T1 T2 T3 T4 T5 D1 D2",
        "paper vaxmix",
        "simulate vax780-sc780 --program read_8192 --no-store",
        "simulate vax750-uda50 --sweep controller.buffer_sectors=16..64*2 --program read_8192 --no-store",
    ] {
        words.extend(words_of_1983(&output_of(&cli, call)));
    }
    for word in ["healthy", "predicted", "rotation", "host", "transfer", "path", "controller", "1 Drive", "n.m."] {
        assert!(words.contains(word), "{word}: {words:?}");
    }
    let titles = output_of(&cli, "paper T2");
    let unit = titles.split('(').find_map(|part| part.split(')').next().filter(|unit| unit.contains("sec.")));
    words.extend(unit.map(str::to_owned));
    words.extend(titles.contains("was suspect").then(|| "suspect".to_owned()));
    let claims = output_of(&cli, "paper claims");
    words.extend(claims.lines().filter_map(|line| line.trim().strip_prefix("-> ")).map(str::to_owned));
    assert!(words.contains("agrees") && words.contains("Kbytes/sec.") && words.contains("suspect"), "{words:?}");
    words.retain(|word| !word.starts_with("VAX ") && !word.contains("9900") && !word.contains("controller."));
    all_explained(&words, 30);
    let found = words_of_1983(" rows   180 (52%)*   UDA50/RA81\n    healthy, furlongs  +3 % miles\n");
    assert_eq!(found, ["furlongs", "healthy", "miles", "rows"].map(str::to_owned).into());
}

#[test]
fn every_part_of_a_simulated_time_is_explained() {
    let cli = Cli::new();
    output_of(&cli, "run smoke sim:vax780-sc780 --only read_8192 --rounds 1 --no-store --json -o run.json");
    let text = output_of(&cli, "explain run.json");
    let words = words_of_explained(&text);
    for word in ["copy", "waiting rotation", "waiting lost turn", "bus", "drive1", "blocked", "idle", "seek"] {
        assert!(words.contains(word), "{word}: {words:?} of {text}");
    }
    all_explained(&words, 30);
    let found =
        words_of_explained("  by program\n  miles  3 ms\n  by resource\n  bus  5 ms: 2.0 % furlongs (rods 2.0)\n");
    assert_eq!(found, ["bus", "furlongs", "miles", "rods"].map(str::to_owned).into());
}

#[test]
fn every_check_of_doctor_is_explained() {
    let cli = Cli::new();
    let text = output_of(&cli, "doctor");
    let rows = text.lines().skip_while(|line| !line.starts_with("check")).filter(|line| !line.starts_with(' '));
    let words: Words = rows.flat_map(|line| cells(line).take(2)).map(str::to_owned).collect();
    let words: Words = words.into_iter().filter(|word| !word.contains("-> tells")).collect();
    assert!(words.contains("rights") && words.contains("yes"), "{words:?}");
    all_explained(&words, 20);
}

#[test]
fn every_word_of_the_lab_programs_and_verify_is_explained() {
    let cli = Cli::new();
    let here = cli.path();
    fs::write(here.join("file"), [1; 1 << 20]).expect("a file");
    let mut words = Words::new();
    for call in ["bw -b file 1", "smallfb 10 1024", "largefb 1"] {
        let text = output_of(&cli, call);
        let units: Words = text
            .lines()
            .filter_map(|line| line.rsplit_once(' ').filter(|_| line.contains(" = ")))
            .map(|(_, unit)| unit.to_owned())
            .collect();
        assert!(!units.is_empty(), "{call}: {text}");
        words.extend(units);
        let phases = text.lines().filter_map(|line| line.split_once(':')).map(|(phase, _)| phase);
        words.extend(phases.filter(|phase| !phase.contains(' ')).map(str::to_owned));
    }
    let log = "diskperf-verify 1 9 512 .diskperf-verify-x\ncreate 1 1\nappend 1 1\noverwrite 1 1\nreplace 1 1\n";
    fs::write(here.join("log"), log).expect("a log");
    let table = ended_with(&cli, "verify . --check log --lost-folder", 5);
    let rows = table.lines().take_while(|line| !line.contains("power cut")).filter(|line| line.starts_with(' '));
    words.extend(rows.flat_map(cells).flat_map(without_figures));
    for word in ["files/sec", "KB/sec", "MB/sec", "creat", "acknowledged", "stale", "replace"] {
        assert!(words.contains(word), "{word}: {words:?}");
    }
    all_explained(&words, 14);
}
