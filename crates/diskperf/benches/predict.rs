//! `diskperf predict` on disks of known law: seven commands are recorded on each disk, predicted on another one, and
//! run there. Prints a line of JSON for each prediction, and one for all: `cargo bench --bench predict`. Takes about
//! ten minutes.

#[allow(dead_code, reason = "shared with tests")]
#[path = "../tests/made/ground.rs"]
mod ground;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ground::Ground;
use serde_json::{Value, json};
use testkit::fuse::Knobs;
use testkit::token_bucket::{Limit, Throttle};

/// The name of a test, the command that prepares its folder, and the command.
type Test = (&'static str, Option<&'static str>, &'static [&'static str]);

/// The commands.
const TESTS: [Test; 7] = [
    ("archive", Some("cp -r TREE tree"), &["tar", "cf", "x.tar", "tree"]),
    ("unpack", None, &["tar", "xf", "TAR"]),
    ("sqlite", None, &["sqlite3", "x.db", "SQL"]),
    ("git", Some("cp -r TREE tree"), &["sh", "-c", "cd tree && git init -q . && git add ."]),
    ("copy", Some("cp -r TREE tree"), &["cp", "-r", "tree", "copy"]),
    ("grep", Some("cp -r TREE tree"), &["sh", "-c", "grep -rc zzyzx tree > counts"]),
    ("dd", None, &["dd", "if=/dev/zero", "of=big", "bs=64K", "count=320", "conv=fsync", "status=none"]),
];

/// SQL with 40 transactions, each with its own sync.
const INSERTS: usize = 40;

/// Files of the tree, and the bytes of each.
const TREE: (usize, usize) = (300, 12_000);

/// The disks: the service time in microseconds, operations per second, and bytes per second.
const DISKS: [(u64, u64, u64); 4] =
    [(200, 4000, 200 << 20), (1000, 2000, 100 << 20), (500, 800, 60 << 20), (2000, 400, 30 << 20)];

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    if std::env::args().all(|word| word != "--bench") {
        return;
    }
    if let Some(reason) = testkit::loop_disk::missing_requirement(&["mkfs.ext4", "tar"]) {
        println!("skipped: {reason}");
        return;
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let disks: Vec<Ground> = DISKS.iter().map(|disk| made(*disk)).collect();
    let laws: Vec<PathBuf> =
        disks.iter().enumerate().map(|(index, disk)| probed(index, disk, scratch.path())).collect();
    let source = tree(scratch.path());
    let mut lines = Vec::new();
    for (from, here) in disks.iter().enumerate() {
        // Each disk is predicted from another one.
        let to = (from + 1) % disks.len();
        for test in TESTS.iter().filter(|test| testkit::has_tool(test.2[0])) {
            let line = predicted(test, &source, (here, &laws[from]), (&disks[to], &laws[to]), scratch.path());
            println!("{line}");
            lines.push(line);
        }
    }
    println!("{}", summary(&lines));
}

/// A disk with this service time and these limits.
fn made((service, operations, bytes): (u64, u64, u64)) -> Ground {
    // A tenth of a second of burst.
    let limit = |rate: u64| Some(Limit::new(rate / 10, rate));
    let throttle = Some(Throttle::new(limit(bytes), limit(operations)));
    let knobs = Knobs { throttle, service: Duration::from_micros(service), ..Knobs::default() };
    Ground::new(knobs).unwrap_or_else(|reason| panic!("no disk: {reason}"))
}

/// The law of a disk, as `probe` measures it.
fn probed(index: usize, disk: &Ground, scratch: &Path) -> PathBuf {
    let file = scratch.join(format!("disk{index}.toml"));
    let ended = run(disk.point(), &["probe", text(disk.point()), "-o", text(&file)]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    file
}

/// A tree of files and its archive, outside of the disks.
fn tree(scratch: &Path) -> [String; 2] {
    let (tree, archive) = (scratch.join("tree"), scratch.join("tree.tar"));
    for index in 0..TREE.0 {
        let folder = tree.join(format!("d{}", index % 10));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(index.to_string()), "some text\n".repeat(TREE.1 / 10)).expect("a file");
    }
    testkit::run_tool("tar", &["cf", text(&archive), "-C", text(scratch), "tree"]);
    [text(&tree).to_owned(), text(&archive).to_owned()]
}

/// Records the test on one disk, predicts it on the other, and runs it there.
fn predicted(
    (name, prepare, command): &Test,
    [tree, archive]: &[String; 2],
    (here, from): (&Ground, &Path),
    (there, on): (&Ground, &Path),
    scratch: &Path,
) -> Value {
    let sql = "insert into t values(1);".repeat(INSERTS);
    let sql = format!("create table t(a);{sql}");
    let fill = |word: &str| word.replace("TREE", tree).replace("TAR", archive).replace("SQL", &sql);
    let prepare = prepare.map(fill);
    let store = scratch.join("store.sqlite");
    let mut words = vec!["run", "--record", text(here.point()), "--rounds", "6", "--json", "--store", text(&store)];
    words.extend(prepare.iter().flat_map(|line| ["--prepare", line.as_str()]));
    words.push("--");
    let command: Vec<String> = command.iter().map(|word| fill(word)).collect();
    words.extend(command.iter().map(String::as_str));
    let recorded = run(here.point(), &words);
    assert_eq!(recorded.status, Some(0), "{}", recorded.err);
    let predict = ["predict", "last", "--from", text(from), "--on", text(on), "--check", text(there.point())];
    let ended = run(there.point(), &[&predict[..], &["--json", "--store", text(&store)]].concat());
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    let one = &document["predictions"][0];
    json!({
        "predicted_command": name, "here_s": one["here_s"], "replayed_s": one["replayed_s"],
        "predicted_s": one["predicted_s"], "low_s": one["low_s"], "high_s": one["high_s"],
        "measured_s": one["measured_s"], "reason": one["reason"],
    })
}

/// The errors of all predictions, as shares of the measured times.
fn summary(lines: &[Value]) -> Value {
    let of = |line: &Value, name: &str| line[name].as_f64();
    let mut errors: Vec<f64> = lines
        .iter()
        .filter_map(|line| Some((of(line, "predicted_s")? / of(line, "measured_s")? - 1.0).abs()))
        .collect();
    errors.sort_by(f64::total_cmp);
    let stated: Vec<bool> = lines
        .iter()
        .filter_map(|line| Some((of(line, "low_s")?..=of(line, "high_s")?).contains(&of(line, "measured_s")?)))
        .collect();
    json!({
        "predictions": lines.len(), "refused": lines.len() - errors.len(),
        "median_error": errors.get(errors.len() / 2),
        "within_a_fifth": errors.iter().filter(|error| **error <= 0.2).count(),
        "with_range": stated.len(), "within_range": stated.iter().filter(|is| **is).count(),
    })
}

fn run(folder: &Path, words: &[&str]) -> testkit::ProgramOutput {
    testkit::run(&testkit::program(env!("CARGO_BIN_EXE_diskperf")), folder, words)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
