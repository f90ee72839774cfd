//! What the documents show is what the program prints: every block of a page that holds a command is run, and compared
//! or written anew (`cargo xtask docs --write`).
//!
//! Policy:
//!   1. a block begins with ```` ```console ````; in it, lines after `$ ` are commands, and what follows is what they
//!      print, on standard output and standard error together. All commands of a page run one after the other, in a
//!      folder of their own, in which `docs` and `examples` lie; those of CONTRIBUTING.md, which only ask, in that of
//!      the project;
//!   2. what is computed is compared letter by letter;
//!   3. what is measured (`<!-- measured -->` above the block) is compared by its shape: `tests/shape` says what that
//!      is. `<!-- measured, checked with: COMMAND -->` runs a quicker command in the place of the first;
//!   4. a picture of the page that its commands have drawn is compared too;
//!   5. written anew is only what is no longer so; of what is measured all, where that is asked for.

mod shape;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

/// The variable that has pages written anew: what is no longer so where it says `write`, and besides all that is
/// measured where it says `measure`.
const MODE: &str = "DISKPERF_DOCS";

/// The pages outside of `docs`.
const PAGES: [&str; 2] = ["README.md", "CONTRIBUTING.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root of the project")
}

fn is_asked_for(mode: &str) -> bool {
    env::var(MODE).is_ok_and(|asked| asked == mode)
}

/// The pages, by their paths from the root.
fn pages() -> Vec<String> {
    let names = testkit::names_in(&root().join("docs")).into_iter().filter(|name| name.ends_with(".md"));
    PAGES.iter().map(|page| (*page).to_owned()).chain(names.map(|name| format!("docs/{name}"))).collect()
}

/// A command of a block, and what it is said to print.
#[derive(Clone, Debug, Default)]
struct Call {
    command: String,
    prints: String,
}

/// A piece of a page.
#[derive(Clone, Debug)]
enum Piece {
    /// Lines that are no block.
    Text(String),
    /// A block: whether it is measured, by which other command its first is checked, and its calls.
    Block { measured: bool, checked_with: Option<String>, calls: Vec<Call> },
}

/// A page in its pieces.
fn pieces(page: &str, text: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece::Text(String::new())];
    let mut comment = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```console" {
            let mut calls: Vec<Call> = Vec::new();
            for line in lines.by_ref().take_while(|line| *line != "```") {
                match (line.strip_prefix("$ "), calls.last_mut()) {
                    (Some(command), _) => calls.push(Call { command: command.to_owned(), prints: String::new() }),
                    (None, Some(call)) => call.prints += &format!("{line}\n"),
                    (None, None) => panic!("{page}: a block begins with no command: {line}"),
                }
            }
            let said = comment.trim_start_matches("<!-- ").trim_end_matches(" -->");
            let checked_with = said.strip_prefix("measured, checked with: ").map(str::to_owned);
            pieces.push(Piece::Block { measured: said.starts_with("measured"), checked_with, calls });
            pieces.push(Piece::Text(String::new()));
        } else if let Some(Piece::Text(text)) = pieces.last_mut() {
            *text += &format!("{line}\n");
        }
        if !line.trim().is_empty() {
            comment = line.to_owned();
        }
    }
    pieces
}

/// The page again.
fn together(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Block { calls, .. } => {
            let calls = calls.iter().map(|Call { command, prints }| format!("$ {command}\n{prints}"));
            format!("```console\n{}```\n", calls.collect::<String>())
        }
    };
    pieces.iter().map(piece).collect()
}

/// Where the commands of a page run.
struct Ground {
    /// Its own, and which it is.
    folder: TempDir,
    stands_in: PathBuf,
    /// Programs and the store, apart from what the commands see.
    beside: TempDir,
}

impl Ground {
    fn of(page: &str) -> Ground {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let stands_in = if page == "CONTRIBUTING.md" { root() } else { folder.path().to_owned() };
        let ground = Ground { folder, stands_in, beside: tempfile::tempdir().expect("a scratch folder") };
        for name in ["docs", "examples"] {
            symlink(root().join(name), ground.folder.path().join(name)).expect("a link");
        }
        let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
        symlink(program, ground.beside.path().join("diskperf")).expect("a link");
        ground
    }

    /// What a command prints, on both streams.
    fn prints(&self, command: &str) -> String {
        let path = env::join_paths(
            [self.beside.path().to_owned()]
                .into_iter()
                .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
        );
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&self.stands_in)
            .env("PATH", path.expect("a search path"))
            .env(testkit::STORE, self.beside.path().join("store.sqlite"))
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The pictures that a page shows, by their names.
fn pictures(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| target.ends_with(".svg"))
}

/// Runs a page. What differs, in words; where it is to be written anew, the new page and the new pictures.
fn check(page: &str, writes: bool) -> Vec<String> {
    let path = root().join(page);
    let text = fs::read_to_string(&path).expect("the page");
    let mut pieces = pieces(page, &text);
    let ground = Ground::of(page);
    let mut wrong = Vec::new();
    for piece in &mut pieces {
        let Piece::Block { measured, checked_with, calls } = piece else { continue };
        for (index, call) in calls.iter_mut().enumerate() {
            let other = checked_with.as_ref().filter(|_| index == 0);
            let mut printed = ground.prints(other.unwrap_or(&call.command));
            let difference = match measured {
                true => shape::difference(&call.prints, &printed),
                false => (call.prints != printed).then(|| first_difference(&call.prints, &printed)),
            };
            let again = (*measured && is_asked_for("measure")).then(|| "  measured again".to_owned());
            let Some(difference) = difference.or(again) else { continue };
            wrong.push(format!("{page}: $ {}\n{difference}", call.command));
            if writes && other.is_some() {
                printed = ground.prints(&call.command);
            }
            call.prints = printed;
        }
    }
    for name in pictures(&text) {
        let drawn = fs::read(ground.folder.path().join(name)).unwrap_or_default();
        let kept = path.with_file_name(name);
        if fs::read(&kept).ok().as_ref() != Some(&drawn) {
            wrong.push(format!("{page}: {name} is not what its command draws"));
            if writes {
                fs::write(kept, drawn).expect("the picture is written");
            }
        }
    }
    if writes && !wrong.is_empty() {
        fs::write(path, together(&pieces)).expect("the page is written");
    }
    wrong
}

/// The first line that differs.
fn first_difference(said: &str, printed: &str) -> String {
    let (mut said, mut printed) = (said.lines(), printed.lines());
    loop {
        match (said.next(), printed.next()) {
            (said, printed) if said == printed && said.is_some() => {}
            (said, printed) => {
                let [said, printed] = [said, printed].map(|line| line.unwrap_or("(nothing more)"));
                return format!("  the page says  {said}\n  and printed is {printed}");
            }
        }
    }
}

/// The runs that pages show: the files of their documents, and what they are of.
const RECORDED: [(&str, &str); 2] = [
    ("quick.json", "diskperf run quick ."),
    (
        "tuned.json",
        "diskperf choose usual=image:ext4 ahead=image:ext4,tune=read_ahead_kb:4096 --only read_8192 --only randread --only smallfb --rounds 12",
    ),
];

/// Measures the runs that pages show, and keeps them without what tells whose machine it was.
fn record() {
    let ground = Ground::of("docs/choose.md");
    for (name, command) in RECORDED {
        println!("$ {command}\n{}", ground.prints(command));
        let document = ground.prints("diskperf export last --anonymous");
        assert!(document.starts_with('{'), "{document}");
        fs::write(root().join("docs").join(name), document).expect("the document is written");
    }
}

#[test]
fn documents_show_what_is_printed() {
    let writes = is_asked_for("write") || is_asked_for("measure");
    if is_asked_for("measure") {
        record();
    }
    let pages = pages();
    let wrong: Vec<String> = if writes {
        // One after the other: what is measured anew is not disturbed.
        pages.iter().flat_map(|page| check(page, true)).collect()
    } else {
        thread::scope(|scope| {
            let checks: Vec<_> = pages.iter().map(|page| scope.spawn(|| check(page, false))).collect();
            checks.into_iter().flat_map(|check| check.join().expect("the page was read")).collect()
        })
    };
    if writes {
        println!("{}", wrong.join("\n"));
    } else {
        assert!(wrong.is_empty(), "{}\ncargo xtask docs --write writes them anew", wrong.join("\n"));
    }
}

/// A page says which command a recorded run is of.
#[test]
fn recorded_runs_are_of_the_commands_that_the_pages_name() {
    for (name, command) in RECORDED {
        let text = fs::read_to_string(root().join("docs").join(name)).expect("the document");
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let words = document["run"]["command"].as_array().expect("words").iter();
        let words: Vec<&str> = words.map(|word| word.as_str().expect("a word")).collect();
        assert_eq!(words.join(" "), command, "{name}");
    }
}

/// A block that nobody runs would say what it likes.
#[test]
fn what_documents_show_is_in_blocks_that_are_run() {
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).expect("the page");
        let opened = text.lines().filter(|line| line.starts_with("```") && *line != "```");
        for line in opened {
            assert_eq!(line, "```console", "{page}");
        }
        let commands = text.lines().filter(|line| line.trim_start().starts_with("$ "));
        let run = pieces(&page, &text).into_iter().map(|piece| match piece {
            Piece::Block { calls, .. } => calls.len(),
            Piece::Text(_) => 0,
        });
        assert_eq!(commands.count(), run.sum::<usize>(), "{page}: a command outside of a block that is run");
    }
}

#[test]
fn a_page_in_pieces_is_the_page_again() {
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).expect("the page");
        assert_eq!(together(&pieces(&page, &text)), text, "{page}");
    }
}

#[test]
fn the_readme_names_every_command() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the page");
    let table: String = readme.lines().skip_while(|line| *line != "## What you can ask").collect();
    let help = Ground::of("README.md").prints("diskperf help");
    let commands = help.lines().take_while(|line| *line != "Targets");
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty());
    for name in names {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        assert!(table.split(|c| !is_word(c)).any(|word| word == name), "the README says nothing of {name}");
    }
}
