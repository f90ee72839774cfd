//! `diskperf predict` on disks of known law. Prints a line of JSON for each prediction, and one for all. Takes about a
//! quarter of an hour.
//!
//!   - *predictions*: seven commands are recorded on each disk, predicted on another one, and run there;
//!   - *what-if*: commands are predicted on their own disk with a changed constant, and run on a disk that has it;
//!   - *noisy*: a command is recorded ten times while others use all processors. Each prediction must be refused.
//!
//! ```text
//!   cargo bench --package diskperf --bench predict                 all three
//!   cargo bench --package diskperf --bench predict -- what-if      one of them
//!   cargo bench --package diskperf --bench predict -- dd git 0     two of the commands, recorded on the first disk
//! ```
//!
//! The laws, the results database and the lines are in the folder that `DISKPERF_PROVE_STATE` names. With the same
//! folder, an interrupted benchmark continues. Otherwise they are temporary. The disks are in memory, and their
//! files have no name: a kill leaves empty folders behind.

#[allow(dead_code, reason = "shared with tests")]
#[path = "../tests/made/ground.rs"]
mod ground;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ground::{EXT4, Format, Ground};
use serde_json::{Value, json};
use testkit::busy::while_busy;
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
    ("grep", Some("cp -r TREE tree"), &["sh", "-c", "grep -rc text tree > counts"]),
    ("dd", None, &["dd", "if=/dev/zero", "of=big", "bs=64K", "count=320", "conv=fsync", "status=none"]),
];

/// The tools of the commands.
const TOOLS: [&str; 6] = ["mkfs.ext4", "tar", "sqlite3", "git", "grep", "dd"];

/// SQL with 40 transactions, each with its own sync.
const INSERTS: usize = 40;

/// Files of the tree, and the bytes of each.
const TREE: (usize, usize) = (300, 12_000);

/// The disks: the service time in microseconds, operations per second, and bytes per second.
const DISKS: [(u64, u64, u64); 4] =
    [(200, 4000, 200 << 20), (1000, 2000, 100 << 20), (500, 800, 60 << 20), (2000, 400, 30 << 20)];

/// The disk of the what-ifs, as in [`DISKS`].
const HERE: (u64, u64, u64) = DISKS[1];

/// A question: its name, the settings of `predict`, and the disk that has them.
type Question = (&'static str, &'static [&'static str], (u64, u64, u64));

/// The questions.
const QUESTIONS: [Question; 2] = [
    ("half the latency", &["read_latency=x0.5", "write_latency=x0.5"], (HERE.0 / 2, HERE.1, HERE.2)),
    // The burst is a tenth of a second.
    ("half the bytes per second", &["bucket.bytes.rate=x0.5", "bucket.bytes.burst=x0.5"], (HERE.0, HERE.1, HERE.2 / 2)),
];

/// The commands of the what-ifs.
const ASKED: [&str; 2] = ["unpack", "dd"];

/// Runs that are disturbed, and threads that disturb them for each processor.
const NOISY: usize = 10;
const BURNERS: usize = 3;

/// A file system with room for the file of `probe`, which takes a tenth of it.
const ROOMY: Format = Format { bytes: (1 << 30) + testkit::fuse::APART, ..EXT4 };

/// The variable with the folder in which an interrupted benchmark continues.
const STATE: &str = "DISKPERF_PROVE_STATE";

/// A part of the experiment, with the words of the command.
type Mode = fn(&mut Lab, &[String]);

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    let words: Vec<String> = std::env::args().collect();
    if words.iter().all(|word| word != "--bench") {
        return;
    }
    if let Some(reason) = testkit::loop_disk::missing_requirement(&TOOLS) {
        println!("{}", json!({"not_measured": reason}));
        return;
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let state = std::env::var_os(STATE).map_or_else(|| scratch.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&state).expect("a folder");
    let mut lab = Lab { kept: Kept::open(state.join("lines.jsonl")), source: tree(scratch.path()), state };
    let modes: [(&str, Mode); 3] = [("predictions", predictions), ("what-if", what_if), ("noisy", noisy)];
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let names_predictions = words.iter().skip(1).any(|word| !word.starts_with('-')) && !is_named("what-if");
    let names_predictions = names_predictions && !is_named("noisy");
    let all = !names_predictions && !modes.iter().any(|(name, _)| is_named(name));
    for (name, mode) in modes {
        if all || is_named(name) || (name == "predictions" && names_predictions) {
            mode(&mut lab, &words);
        }
    }
    lab.kept.lines.iter().for_each(|line| println!("{line}"));
    println!("{}", summary(&lab.kept.lines));
}

/// The folders of the benchmark, and its lines so far.
struct Lab {
    state: PathBuf,
    /// The tree of files and its archive.
    source: [String; 2],
    kept: Kept,
}

/// Predicts each disk from another one.
fn predictions(lab: &mut Lab, words: &[String]) {
    let chosen = chosen(words);
    let all = chosen.len();
    let mut disks: Vec<Option<Ground>> = DISKS.iter().map(|_| None).collect();
    for (count, (test, from)) in chosen.into_iter().enumerate() {
        let to = (from + 1) % disks.len();
        let key = format!("{} from disk {from} on disk {to}", test.0);
        if lab.kept.has(&key) {
            continue;
        }
        eprintln!("prediction {} of {all}: {key}", count + 1);
        for index in [from, to] {
            disks[index].get_or_insert_with(|| made(DISKS[index]));
        }
        let (Some(here), Some(there)) = (&disks[from], &disks[to]) else { continue };
        let laws = [(from, here), (to, there)].map(|(index, disk)| probed(&format!("disk{index}"), disk, &lab.state));
        let recorded = record(test, lab, here);
        let on = ["--on", text(&laws[1])];
        let line = recorded.and_then(|()| predict(lab, &laws[0], &on, Some(there)));
        lab.kept.add(&key, json!({"predicted_command": test.0}), line);
    }
}

/// Predicts commands on a changed disk.
fn what_if(lab: &mut Lab, _: &[String]) {
    let mut here = None;
    for (name, settings, changed) in QUESTIONS {
        let mut there = None;
        for test in TESTS.iter().filter(|test| ASKED.contains(&test.0)) {
            let key = format!("{} with {name}", test.0);
            if lab.kept.has(&key) {
                continue;
            }
            eprintln!("what-if: {key}");
            let here = here.get_or_insert_with(|| made(HERE));
            let there = there.get_or_insert_with(|| made(changed));
            let law = probed("what-if", here, &lab.state);
            let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
            let recorded = record(test, lab, here);
            let line = recorded.and_then(|()| predict(lab, &law, &set, Some(there)));
            lab.kept.add(&key, json!({"what_if": name, "command": test.0}), line);
        }
    }
}

/// Predicts from disturbed runs.
fn noisy(lab: &mut Lab, _: &[String]) {
    let key = "noisy";
    if lab.kept.has(key) {
        return;
    }
    let here = made(DISKS[0]);
    let law = probed("noisy", &here, &lab.state);
    let (mut refused, mut reasons) = (0, Vec::new());
    for count in 0..NOISY {
        eprintln!("noisy: run {} of {NOISY}", count + 1);
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let recorded = while_busy(BURNERS * processors, || record(&TESTS[1], lab, &here));
        let line = recorded.and_then(|()| predict(lab, &law, &["--on", text(&law)], None));
        let reason = line.map_or_else(|reason| reason, |line| line["reason"].as_str().unwrap_or_default().to_owned());
        let is_refused = ["waited for a processor", "misses the measured time"].iter().any(|why| reason.contains(why));
        refused += usize::from(is_refused);
        reasons.push(reason);
    }
    lab.kept.add(key, json!({"noisy": NOISY, "refused": refused, "reasons": reasons}), Ok(json!({})));
}

/// The predictions: all, or those of the tests and of the first disks that are named.
fn chosen(words: &[String]) -> Vec<(&'static Test, usize)> {
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let any_test = !TESTS.iter().any(|test| is_named(test.0));
    let any_disk = !(0..DISKS.len()).any(|disk| is_named(&disk.to_string()));
    let tests = |from: usize| TESTS.iter().map(move |test| (test, from));
    let is_chosen =
        |(test, from): &(&Test, usize)| (any_test || is_named(test.0)) && (any_disk || is_named(&from.to_string()));
    (0..DISKS.len()).flat_map(tests).filter(is_chosen).collect()
}

/// The lines that are made so far, in a file.
struct Kept {
    path: PathBuf,
    lines: Vec<Value>,
}

impl Kept {
    /// Reads the lines of an interrupted benchmark. A line that was cut off is made again.
    fn open(path: PathBuf) -> Kept {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, whole).expect("a file");
        Kept { path, lines }
    }

    fn has(&self, key: &str) -> bool {
        self.lines.iter().any(|line| line["key"] == key)
    }

    /// Adds a line with the figures, or with the reason why there are none.
    fn add(&mut self, key: &str, mut line: Value, figures: Result<Value, String>) {
        line["key"] = key.into();
        match figures {
            Ok(figures) => figures.as_object().into_iter().flatten().for_each(|(name, figure)| {
                line[name] = figure.clone();
            }),
            Err(reason) => line["reason"] = reason.into(),
        }
        eprintln!("  {line}");
        let mut file = fs::File::options().append(true).open(&self.path).expect("the file");
        writeln!(file, "{line}").expect("it has room");
        self.lines.push(line);
    }
}

/// A disk with this service time and these limits.
fn made((service, operations, bytes): (u64, u64, u64)) -> Ground {
    // A tenth of a second of burst.
    let limit = |rate: u64| Some(Limit::new(rate / 10, rate));
    let throttle = Some(Throttle::new(limit(bytes), limit(operations)));
    let knobs = Knobs { throttle, service: Duration::from_micros(service), ..Knobs::default() };
    Ground::formatted(Some(knobs), &ROOMY).unwrap_or_else(|reason| panic!("no disk: {reason}"))
}

/// Attempts to probe a disk. A busy machine may hide all latencies.
const ATTEMPTS: usize = 3;

/// The law of a disk, as `probe` measures it when the disk is first needed.
fn probed(name: &str, disk: &Ground, state: &Path) -> PathBuf {
    let file = state.join(format!("{name}.toml"));
    let store = state.join("store.sqlite");
    for attempt in 1..=ATTEMPTS {
        if file.exists() {
            break;
        }
        eprintln!("  probing {name}, attempt {attempt}");
        let ended = run(disk.point(), &["probe", text(disk.point()), "-o", text(&file), "--store", text(&store)]);
        eprintln!("{}{}", ended.out, ended.err);
    }
    assert!(file.exists(), "{name} has no law: the machine is too busy; the next call continues");
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

/// Records a test on a disk.
fn record((_, prepare, command): &Test, lab: &Lab, here: &Ground) -> Result<(), String> {
    let [tree, archive] = &lab.source;
    let sql = "insert into t values(1);".repeat(INSERTS);
    let sql = format!("create table t(a);{sql}");
    let fill = |word: &str| word.replace("TREE", tree).replace("TAR", archive).replace("SQL", &sql);
    let (prepare, store) = (prepare.map(fill), lab.state.join("store.sqlite"));
    let mut words = vec!["run", "--record", text(here.point()), "--rounds", "6", "--json", "--store", text(&store)];
    words.extend(prepare.iter().flat_map(|line| ["--prepare", line.as_str()]));
    words.push("--");
    let command: Vec<String> = command.iter().map(|word| fill(word)).collect();
    words.extend(command.iter().map(String::as_str));
    let ended = run(here.point(), &words);
    if ended.status == Some(0) { Ok(()) } else { Err(ended.err) }
}

/// Predicts the last run with these words, and runs it on a disk.
fn predict(lab: &Lab, law: &Path, on: &[&str], there: Option<&Ground>) -> Result<Value, String> {
    let store = lab.state.join("store.sqlite");
    let mut words = vec!["predict", "last", "--json", "--store", text(&store), "--from", text(law)];
    words.extend(on);
    words.extend(there.iter().flat_map(|there| ["--check", text(there.point())]));
    let ended = run(&lab.state, &words);
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_default();
    let one = document["predictions"].get(0).ok_or(ended.err)?;
    let figures = ["here_s", "replayed_s", "waited", "predicted_s", "low_s", "high_s", "measured_s", "reason"];
    Ok(Value::Object(figures.iter().map(|name| ((*name).to_owned(), one[*name].clone())).collect()))
}

/// The errors of all predictions, as shares of the measured times.
fn summary(lines: &[Value]) -> Value {
    let lines: Vec<&Value> = lines.iter().filter(|line| !line["predicted_command"].is_null()).collect();
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
