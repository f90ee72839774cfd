//! The time that `show` and `report` take to print ten thousand results with limited memory. Prints a line of JSON for
//! each, which `cargo xtask prove report-10000` judges. A test (`tests/scale`) checks that the instructions grow in
//! proportion.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use testkit::large_documents::Many;

/// A measured document, from which ten thousand results are made. Programs, settings and targets are all multiplied.
const EXAMPLE: &str = include_str!("../../../docs/quick.json");
const MANY: Many = Many { programs: 20, settings: 50, targets: 10, rounds: None };

/// Limit of the program's address space, in bytes. The address space is larger than the memory in use, so that memory
/// is limited too.
const BYTES: u64 = 500_000_000;

fn main() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let example: Value = serde_json::from_str(EXAMPLE).expect("a document");
    let path = folder.path().join("document.json");
    fs::write(&path, MANY.document(&example).to_string()).expect("it is written");
    let (document, page) = (text(&path), folder.path().join("page"));
    for words in [
        &["show", document][..],
        &["show", document, "--format", "csv"],
        &["show", document, "--format", "markdown"],
        &["report", document, "-o", text(&page)],
    ] {
        let program = program_path();
        let limit = format!("--as={BYTES}");
        let began = Instant::now();
        let words_limited = [&[limit.as_str(), text(&program)], words].concat();
        let ended = testkit::run(Path::new("prlimit"), folder.path(), &words_limited);
        let seconds = began.elapsed().as_secs_f64();
        if ended.status != Some(0) {
            eprintln!("{}", ended.err);
        }
        let command = words.iter().filter(|word| !word.starts_with('/')).copied().collect::<Vec<&str>>().join(" ");
        let printed = fs::metadata(&page).map_or(ended.out.len() as u64, |page| page.len());
        let (results, status) = (MANY.results(), ended.status);
        let line = json!({"printed": command, "results": results, "seconds": seconds, "limit_bytes": BYTES,
            "status": status, "bytes": printed});
        println!("{line}");
    }
}

/// The path of the program, from the release build of this benchmark.
fn program_path() -> PathBuf {
    let this = env::current_exe().expect("this benchmark");
    let program = this.ancestors().nth(2).expect("the folder of builds").join("diskperf");
    assert!(program.exists(), "build it first: cargo build --release");
    program
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
