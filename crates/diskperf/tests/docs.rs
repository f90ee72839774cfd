//! The documents show the output of the program: this test runs every command in a block of a page and compares its
//! output, or updates the page (`cargo xtask docs --write`).
//!
//! Policy:
//!   1. a block begins with ```` ```console ````. Lines after `$ ` are commands; the lines below are their output,
//!      standard output and standard error together. The commands of a page run in order, in a folder of their own that
//!      contains `docs` and `examples`; those of CONTRIBUTING.md run in the root of the project;
//!   2. computed output is compared character by character;
//!   3. measured output (`<!-- measured -->` above the block) is compared by its shape, see `tests/shape`.
//!      `<!-- measured, checked with: COMMAND -->` runs a quicker command instead of the first;
//!   4. `<!-- recorded: FILE -->` shows the command of a recorded run with the output of `diskperf show FILE`; a filter
//!      after FILE shortens it (`<!-- recorded: FILE | head -->`);
//!   5. `cargo xtask test` leaves out blocks that compute for many seconds (`<!-- slow -->`). `cargo xtask docs` runs
//!      them;
//!   6. pictures that the commands of a page draw are compared too;
//!   7. `docs/reference/commands.md` and `words.md` are generated as a whole: `tests/reference`;
//!   8. an update changes only differing blocks, and all measured blocks if that is asked for.

mod reference;
mod shape;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

/// The variable that asks for more: `all` compares slow blocks too, `write` also updates differing blocks, and
/// `measure` all measured blocks too.
const MODE: &str = "DISKPERF_DOCS";

/// The pages outside of `docs`.
const PAGES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root of the project")
}

fn is_asked_for(mode: &str) -> bool {
    env::var(MODE).is_ok_and(|asked| asked == mode)
}

/// The pages, by their paths from the root.
fn pages() -> Vec<String> {
    PAGES.iter().map(|page| (*page).to_owned()).chain(pages_in("docs")).collect()
}

/// The pages of a folder and of the folders in it.
fn pages_in(folder: &str) -> Vec<String> {
    let mut pages = Vec::new();
    for name in testkit::names_in(&root().join(folder)) {
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            pages.extend(pages_in(&path));
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).expect("the page")
}

/// A command of a block, and the output in the page.
#[derive(Clone, Debug, Default)]
struct Call {
    command: String,
    prints: String,
}

/// A piece of a page.
#[derive(Clone, Debug)]
enum Piece {
    /// Lines outside of blocks.
    Text(String),
    /// A block: whether it is measured or slow, the command that is run instead of the first, and its calls.
    Block { measured: bool, slow: bool, checked_with: Option<String>, calls: Vec<Call> },
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
            let recorded = said.strip_prefix("recorded: ").map(|file| format!("diskperf show {file}"));
            let checked_with = said.strip_prefix("measured, checked with: ").map(str::to_owned).or(recorded);
            let (measured, slow) = (said.starts_with("measured"), said == "slow");
            pieces.push(Piece::Block { measured, slow, checked_with, calls });
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

/// Joins the pieces to a page.
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

/// The folders in which the commands of a page run.
struct Ground {
    /// The temporary folder, and the current directory of the commands.
    folder: TempDir,
    stands_in: PathBuf,
    /// Programs and the database, where the commands do not see them.
    beside: TempDir,
}

impl Ground {
    fn for_page(page: &str) -> Ground {
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

    /// The output of a command, on both streams.
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

/// Runs a page and returns the differences as text. If `writes`, updates the page and its pictures.
fn check(page: &str, writes: bool) -> Vec<String> {
    let path = root().join(page);
    let text = fs::read_to_string(&path).expect("the page");
    let mut pieces = pieces(page, &text);
    let ground = Ground::for_page(page);
    let mut wrong = Vec::new();
    for piece in &mut pieces {
        let Piece::Block { measured, slow, checked_with, calls } = piece else { continue };
        if *slow && env::var_os(MODE).is_none() {
            continue;
        }
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
            if writes && other.is_some() && *measured {
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

/// Recorded runs: their files in `docs`, and their commands. Pages show the first two, tests use all.
const RECORDED: [(&str, &str); 3] = [
    ("quick.json", "diskperf run quick ."),
    (
        "choice.json",
        "diskperf choose ext4=image:ext4 btrfs=image:btrfs --only read_8192 --only write_8192 --only smallfb",
    ),
    (
        "tuned.json",
        "diskperf choose usual=image:ext4 ahead=image:ext4,tune=read_ahead_kb:4096 --only read_8192 --only randread \
            --only smallfb --rounds 12",
    ),
];

/// Measures the runs that pages show, and keeps them without anything that identifies the machine.
fn record() {
    let ground = Ground::for_page("README.md");
    for (name, command) in RECORDED {
        println!("$ {command}\n{}", ground.prints(command));
        let document = ground.prints("diskperf export last --anonymous");
        assert!(document.starts_with('['), "{document}");
        fs::write(root().join("docs").join(name), document).expect("the document is written");
    }
}

#[test]
fn pages_show_the_real_output() {
    let writes = is_asked_for("write") || is_asked_for("measure");
    if is_asked_for("measure") {
        record();
    }
    let pages: Vec<String> = pages().into_iter().filter(|page| !reference::PAGES.contains(&page.as_str())).collect();
    let mut wrong = reference::check(&Ground::for_page("README.md"), &root(), writes);
    wrong.extend(if writes {
        // One after the other, so that they do not disturb measurements.
        pages.iter().flat_map(|page| check(page, true)).collect::<Vec<_>>()
    } else {
        thread::scope(|scope| {
            let checks: Vec<_> = pages.iter().map(|page| scope.spawn(|| check(page, false))).collect();
            checks.into_iter().flat_map(|check| check.join().expect("the page was read")).collect()
        })
    });
    if writes {
        println!("{}", wrong.join("\n"));
    } else {
        assert!(wrong.is_empty(), "{}\ncargo xtask docs --write updates them", wrong.join("\n"));
    }
}

/// Recorded runs are of the commands in `RECORDED`, and pages show no other command for them.
#[test]
fn recorded_runs_have_the_commands_on_the_pages() {
    for (name, command) in RECORDED {
        let text = fs::read_to_string(root().join("docs").join(name)).expect("the document");
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let words = document["run"]["command"].as_array().expect("words").iter();
        let words: Vec<&str> = words.map(|word| word.as_str().expect("a word")).collect();
        assert_eq!(words.join(" "), command, "{name}");
    }
    for page in pages() {
        for piece in pieces(&page, &read(&page)) {
            let Piece::Block { measured: false, checked_with: Some(shown), calls, .. } = piece else { continue };
            let command = RECORDED.iter().find(|(name, _)| shown.contains(&format!(" docs/{name}"))).map(|run| run.1);
            assert_eq!(Some(calls[0].command.trim_start_matches("sudo ")), command, "{page}");
        }
    }
}

/// A block of another kind would not be checked.
#[test]
fn all_commands_on_pages_are_in_console_blocks() {
    for page in pages() {
        let text = read(&page);
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
fn joined_pieces_of_a_page_are_the_page() {
    for page in pages() {
        let text = read(&page);
        assert_eq!(together(&pieces(&page, &text)), text, "{page}");
    }
}

/// The text of a page without its blocks.
fn prose(page: &str) -> String {
    let text = |piece| if let Piece::Text(text) = piece { text } else { String::new() };
    pieces(page, &read(page)).into_iter().map(text).collect()
}

/// Commands in the text: in backquotes, and in indented lines.
fn commands_in(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    commands.extend(text.lines().filter_map(|line| line.strip_prefix("    ")).map(|line| line.trim().to_owned()));
    let parts = commands.iter().flat_map(|line| line.split(" && ")).flat_map(|line| line.split("; "));
    let parts = parts.filter_map(|part| part.trim_start_matches("sudo ").strip_prefix("diskperf "));
    parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Commands that the pages name exist, and so do their options.
#[test]
fn commands_on_the_pages_exist() {
    let ground = Ground::for_page("README.md");
    let helps: BTreeMap<String, String> = reference::commands(&ground)
        .into_iter()
        .map(|name| (name.clone(), ground.prints(&format!("diskperf help {name}"))))
        .collect();
    let mut options_seen = 0;
    for page in pages().into_iter().filter(|page| !reference::PAGES.contains(&page.as_str())) {
        for command in commands_in(&prose(&page)) {
            let (name, rest) = command.split_once(' ').unwrap_or((&command, ""));
            let help = helps.get(name).or_else(|| {
                let is_command = name.starts_with(|c: char| c.is_ascii_lowercase());
                assert!(!is_command, "{page}: diskperf {command}: there is no {name}");
                helps.get("run")
            });
            let own = if rest.starts_with("-- ") { "" } else { rest.split(" -- ").next().unwrap_or_default() };
            for option in own.split([' ', '=']).filter(|word| word.starts_with("--") && word.len() > 2) {
                // `choose` takes the options of `io` behind that word.
                let of_io = helps.get("io").filter(|_| name == "choose" && own.split(' ').any(|word| word == "io"));
                let lists = |help: &&String| help.split([' ', '\n', ',']).any(|word| word == option);
                let is_known = help.iter().chain(&of_io).any(lists);
                let taker = if of_io.is_some() { "io" } else { name };
                // No help lists the options of fio that `io` takes.
                let is_taken =
                    || !ground.prints(&format!("diskperf {taker} {option} x")).contains("unexpected argument");
                assert!(is_known || is_taken(), "{page}: diskperf {command}: there is no {option}");
                options_seen += 1;
            }
        }
    }
    assert!(options_seen > 20, "options were found: {options_seen}");
}

/// Targets of links, from the page's own folder, without those on other sites.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

#[test]
fn links_are_valid_and_the_index_lists_every_page() {
    for page in pages() {
        for link in links(&page) {
            let path = root().join(&page).with_file_name("").join(link.split('#').next().unwrap_or_default());
            assert!(path.exists(), "{page}: the link {link} leads nowhere");
        }
    }
    let index = links("docs/README.md");
    for page in pages_in("docs").iter().filter(|page| *page != "docs/README.md") {
        let name = page.trim_start_matches("docs/");
        assert!(index.iter().any(|link| link == name), "docs/README.md has no link to {page}");
    }
}

/// The README's limit, so that it can be read in a few minutes; details belong in `docs/`. Chosen.
const README_BYTES: usize = 9 * 1024;

#[test]
fn the_readme_is_short() {
    let bytes = read("README.md").len();
    assert!(bytes <= README_BYTES, "README.md has {bytes} bytes, at most {README_BYTES}");
}

/// The README explains columns only if the table above has them. Warnings and n.m. depend on the machine.
#[test]
fn the_readme_explains_only_printed_columns() {
    let readme = read("README.md");
    let legend = readme.lines().skip_while(|line| *line != "| column | meaning |").skip(2);
    let columns: Vec<&str> = legend
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| line.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .filter(|column| !["*", "n.m."].contains(column))
        .collect();
    assert!(columns.len() >= 5, "{columns:?}");
    let table =
        readme.split("$ diskperf . --only").nth(1).and_then(|rest| rest.split("```").next()).expect("the first table");
    for column in columns {
        assert!(table.contains(column), "the README explains {column}, which the table above does not have");
    }
}
