//! The marks about the machine and the run, as a user meets them: each in a situation made for it, read from the JSON
//! of the built program; and the same without the situation.

mod common;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::ground::ground;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stats::judge::marks::rounds::OVERLAP;
use testkit::{ProgramOutput, names_in, need_disk, skip, wait_until};
use units::Bytes;

use common::document::document;
use common::{Cli, cells, mark, program};

/// The document of a run that ended with this status.
fn ended_with(ended: &ProgramOutput, status: i32) -> Value {
    assert_eq!(ended.status, Some(status), "{}", ended.err);
    document(ended)
}

fn run(folder: &Path, arguments: &[&str]) -> Value {
    ended_with(&testkit::run(&program(), folder, &[&["run", "smoke", "--floor", "0", "--json"], arguments].concat()), 0)
}

/// Starts a run that continues until the test stops it.
fn start(folder: &Path, arguments: &[&str]) -> Child {
    testkit::command(&program())
        .args(["run", "smoke", "--floor", "0", "--rounds", "100000", "--json"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

/// Stops the run with SIGINT, and returns its document.
fn stop(child: Child) -> Value {
    kill_process(Pid::from_child(&child), Signal::INT).expect("the signal is sent");
    let output = child.wait_with_output().expect("its end");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ended_with(&ProgramOutput { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }, 4)
}

/// The most stored rounds of any cell, of the run that began last.
fn rounds(store: &Path) -> usize {
    let store = store.to_str().expect("a plain path");
    let shown = testkit::run(&program(), Path::new("/"), &["show", "last", "--json", "--store", store]);
    // Without a store, or without a run in it, there is no document.
    let Ok(document) = serde_json::from_str::<Value>(&shown.out) else { return 0 };
    cells(&document).iter().filter_map(|cell| Some(cell["rounds"].as_array()?.len())).max().unwrap_or(0)
}

/// The private folder of a run in this directory.
fn workspace(directory: &Path) -> Option<PathBuf> {
    let is_ours = |name: &String| name.starts_with(".diskperf-");
    names_in(directory).into_iter().find(is_ours).map(|name| directory.join(name))
}

/// Processes that only keep processors busy; ended when dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn of_each_processor(count: usize) -> Neighbours {
        let processors = thread::available_parallelism().expect("processors").get();
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        Neighbours((0..count * processors).map(|_| busy()).collect())
    }

    fn signal(&self, signal: Signal) {
        let pids = self.0.iter().map(Pid::from_child);
        pids.for_each(|pid| kill_process(pid, signal).expect("the signal is sent"));
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn other_busy_programs_give_the_noise_warning() {
    let folder = Cli::in_memory();
    let neighbours = Neighbours::of_each_processor(2);
    // Enough work that the clock's ticks show which processes had the processors, in both rounds.
    let document = run(folder.path(), &["--rounds", "2", "--size", "64MiB"]);
    drop(neighbours);
    let said = &document["run"]["noise"];
    // The neighbours cause the first two kinds. In a guest, CPU steal is possible too. diskperf names the kind that is
    // furthest above its threshold.
    let kinds = ["other programs on the CPU", "waiting for a processor", "CPU steal"];
    assert!(kinds.iter().any(|kind| said["kind"] == *kind), "{said}");
    assert!(said["text"].as_str().expect("it is said").contains(said["kind"].as_str().expect("a kind")), "{said}");
    assert_eq!(said["rounds"], Value::from([1, 2]));
    let least = if said["kind"] == "CPU steal" { 0.01 } else { 0.1 };
    assert!(said["value"].as_f64() > Some(least), "{said}");
    // In a second, each processor has run the neighbours. A shorter time has too few ticks.
    let is_long = |seconds: f64| seconds >= 1.0;
    for cell in cells(&document) {
        let rounds = cell["rounds"].as_array().expect("rounds");
        let seconds: Vec<f64> = rounds.iter().filter_map(|round| round["returned_s"].as_f64()).collect();
        let is_noisy = cell["state"]["environment"] == "noisy";
        assert!(is_noisy || !is_long(seconds.iter().sum()), "{cell:#}");
        let is_marked = |round: &Value| mark(round, "noise").is_some();
        let long = rounds.iter().zip(&seconds).filter(|(_, seconds)| is_long(**seconds));
        assert!(long.map(|(round, _)| round).all(is_marked), "{cell:#}");
    }
}

/// The most runs with neighbours during one of three targets, until one run has a star. Chosen: the time of a run may
/// be too short for the clock's ticks, and with a defect in diskperf, no run has a star.
const RUNS: usize = 20;

/// The figures decide which cells get a star; `judge::noise` tests it with recorded ones.
#[test]
fn only_noisy_cells_are_starred_and_never_most_of_them() {
    let is_starred = || {
        let document = run_while_the_third_is_disturbed();
        let measured = || cells(&document).iter().filter(|cell| cell["measured"] == true);
        let starred: Vec<&Value> = measured().filter(|cell| mark(cell, "noise").is_some()).collect();
        // Fewer than half are above twice the median.
        assert!(2 * starred.len() <= measured().count(), "{starred:#?}");
        assert!(starred.iter().all(|cell| cell["state"]["environment"] == "noisy"), "{starred:#?}");
        !starred.is_empty()
    };
    assert!((0..RUNS).any(|_| is_starred()), "no run of {RUNS} has a star");
}

/// A run on three targets, of which the last is disturbed.
fn run_while_the_third_is_disturbed() -> Value {
    let folder = Cli::in_memory();
    let targets = ["a", "b", "c"];
    targets.iter().for_each(|target| fs::create_dir(folder.path().join(target)).expect("a folder"));
    let disturbed = folder.path().join("c");
    let neighbours = Neighbours::of_each_processor(3);
    neighbours.signal(Signal::STOP);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut was_busy = false;
            while !is_over.load(Ordering::Relaxed) {
                // Its private folder has files only while its programs run.
                let files = workspace(&disturbed).and_then(|folder| fs::read_dir(folder).ok());
                let is_busy = files.is_some_and(|mut files| files.next().is_some());
                if is_busy != was_busy {
                    neighbours.signal(if is_busy { Signal::CONT } else { Signal::STOP });
                }
                was_busy = is_busy;
                thread::sleep(Duration::from_millis(1));
            }
        });
        let document = run(folder.path(), &[&["--rounds", "2", "--size", "1MiB"], &targets[..]].concat());
        is_over.store(true, Ordering::Relaxed);
        document
    })
}

/// valgrind makes programs read the clock by system calls: a bad clock.
#[test]
fn times_below_the_clock_resolution_get_the_short_warning() {
    let Some(valgrind) = testkit::tool("valgrind") else { return skip!("valgrind is not installed") };
    let folder = Cli::in_memory();
    let binary = program();
    let binary = binary.to_str().expect("a path in UTF-8");
    let smoke = ["--tool=none", "-q", binary, "run", "smoke", "--size", "8192", "--warm", "--json"];
    has_marks_where_short(&ended_with(&testkit::run(&valgrind, folder.path(), &smoke), 0));
}

/// Asserts that exactly the cells whose shortest round is below the resolution of the clock have the mark.
fn has_marks_where_short(document: &Value) {
    let clock = document["run"]["calibration"]["clock_ns"].as_u64().expect("what the clock shows");
    assert!(clock > 0);
    let mut count = 0;
    for cell in cells(document).iter().filter(|cell| cell["measured"] == true) {
        let rounds = cell["rounds"].as_array().expect("rounds").iter();
        let seconds = |round: &Value| {
            let named = ["durable_s", "returned_s"].map(|name| round[name].as_f64());
            if cell["state"]["clock"] == "durable" { named[0].or(named[1]) } else { named[1] }
        };
        let least = rounds.filter_map(seconds).fold(f64::INFINITY, f64::min);
        if cell["state"]["clock"] != "data_durable" {
            assert_eq!(mark(cell, "short").is_some(), least < 100.0 * clock as f64 / 1e9, "{cell}");
            count += 1;
        }
    }
    assert!(count > 0, "{document:#}");
}

/// Another program repeatedly writes zeros to the file that is read. The run ends with the first round in which it
/// writes between diskperf's writing and reading.
#[test]
fn a_file_changed_by_another_program_voids_the_cell() {
    let document = ended_with(&run_while_another_program_writes(), 1);
    let altered = cells(&document).iter().filter(|cell| {
        mark(cell, "error").is_some_and(|text| text.contains("the data read differ from the data written"))
    });
    let mut count = 0;
    for cell in altered {
        assert_eq!((&cell["measured"], &cell["rate"]), (&Value::from(false), &Value::Null), "{cell}");
        count += 1;
    }
    assert!(count > 0, "{document:#}");
    assert!(document["errors"][0]["message"].as_str().expect("a message").contains("f0"), "{document:#}");
}

fn run_while_another_program_writes() -> ProgramOutput {
    let folder = Cli::in_memory();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let file = workspace(folder.path()).map(|workspace| workspace.join("f0"));
                if let Some(file) = file.and_then(|path| OpenOptions::new().write(true).open(path).ok()) {
                    // diskperf may have removed it meanwhile.
                    let _ = file.write_all_at(&[0; 4096], 0);
                }
            }
        });
        let run = ["run", "smoke", "--only", "read_8192", "--rounds", "100000", "--budget", "120s", "--json"];
        let ended = folder.run(&run);
        is_over.store(true, Ordering::Relaxed);
        ended
    })
}

#[test]
fn a_setting_changed_during_the_run_is_reported() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let ground = ground("ext4", folder.path(), Bytes::mib(32));
    let path = ground.path().to_str().expect("a plain path");
    let read_ahead = Path::new("/sys/block").join(&ground.device().name).join("queue/read_ahead_kb");
    let change_queue = || fs::write(&read_ahead, "68").expect("the queue is changed");
    let change_mount = || {
        let mounted = testkit::run(Path::new("mount"), Path::new("/"), &["-o", "remount,noatime", path]);
        assert_eq!(mounted.status, Some(0), "{}", mounted.err);
    };
    let changes: [(&dyn Fn(), [&str; 3]); 2] = [
        (&change_queue, ["read_ahead_kb of loop", "to 68", "by round"]),
        (&change_mount, ["mount options", "noatime", "by round"]),
    ];
    for (change, words) in changes {
        // One round, then the change, then a whole other round.
        let data = Cli::new();
        let store = data.path().join("store.sqlite");
        let child = start(folder.path(), &["--store", store.to_str().expect("a plain path"), path]);
        wait_until("a round is stored", || rounds(&store) >= 1);
        change();
        let before = rounds(&store);
        wait_until("two more rounds are stored", || rounds(&store) >= before + 2);
        let document = stop(child);
        let texts: Vec<&str> = cells(&document).iter().filter_map(|cell| mark(cell, "env")).collect();
        assert!(texts.iter().any(|text| words.iter().all(|word| text.contains(word))), "{texts:?} {document:#}");
    }
    let document = run(folder.path(), &[path]);
    assert!(cells(&document).iter().all(|cell| mark(cell, "env").is_none()), "{document:#}");
}

#[test]
fn an_image_names_the_file_system_below_it() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let ground = ground("ext4", folder.path(), Bytes::mib(32));
    let document = run(folder.path(), &["a=image:ext4,size=32MiB", &format!("b={}", ground.path().display())]);
    for (index, target) in ["a", "b"].into_iter().enumerate() {
        let info = &document["run"]["targets"][index];
        let host = info["nested_in"].as_str().expect("a host");
        assert!(host.contains(document["run"]["targets"][0]["image"]["host_file_system"].as_str().expect("its name")));
        for cell in cells(&document).iter().filter(|cell| cell["target"] == target && cell["measured"] == true) {
            assert!(mark(cell, "nested").expect("a mark").ends_with(host), "{cell}");
        }
    }
    let table = folder.run(&["run", "smoke", "a=image:ext4,size=32MiB"]);
    assert!(table.out.contains("nested: loop image on "), "{}", table.out);
}

#[test]
fn tmpfs_is_not_a_device() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return skip!("there is no /dev/shm") };
    let document = run(folder.path(), &[]);
    if document["run"]["targets"][0]["file_system"] != "tmpfs" {
        return skip!("/dev/shm is no tmpfs");
    }
    assert_eq!(document["run"]["targets"][0]["in_memory"], "tmpfs");
    for cell in cells(&document).iter().filter(|cell| cell["measured"] == true) {
        let claims = cell["state"]["clock"] != "returned";
        assert_eq!(mark(cell, "memory").is_some(), claims, "{cell}");
        assert_eq!(mark(cell, "nested"), None);
    }
    assert!(cells(&document).iter().any(|cell| mark(cell, "memory").is_some_and(|text| text.contains("(tmpfs)"))));
    // A target that is not in memory is not reported as such.
    let folder = Cli::new();
    let document = run(folder.path(), &[]);
    let is_memory = document["run"]["targets"][0]["in_memory"].is_string();
    assert_eq!(cells(&document).iter().any(|cell| mark(cell, "memory").is_some()), is_memory);
}

#[test]
fn an_image_on_tmpfs_gets_the_nested_and_memory_warnings() {
    need_disk!("mkfs.ext4");
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return skip!("there is no /dev/shm") };
    let target = format!("image:ext4,size=32MiB,dir={}", folder.path().display());
    let ended = Cli::in_folder(folder.path()).run(&["run", "smoke", "--json", &target]);
    let document = ended_with(&ended, 0);
    let durable: Vec<&Value> = cells(&document).iter().filter(|cell| cell["state"]["clock"] == "durable").collect();
    assert!(!durable.is_empty());
    for cell in durable {
        assert!(mark(cell, "nested").expect("a mark").contains("tmpfs"), "{cell}");
        let memory = mark(cell, "memory").expect("a mark");
        assert!(memory.contains("(loop") && memory.contains("on tmpfs)"), "{cell}");
    }
}

#[test]
fn direct_reads_in_memory_get_the_memory_warning() {
    need_disk!("mkfs.ext4");
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return skip!("there is no /dev/shm") };
    let target = format!("image:ext4,size=32MiB,dir={}", folder.path().display());
    let load = ["io", "randread", "--direct", "--size", "4MiB", "--time", "50ms", "--rounds", "1", "--json", &target];
    let document = ended_with(&Cli::in_folder(folder.path()).run(&load), 0);
    let cell = &cells(&document)[0];
    assert!(mark(cell, "memory").is_some_and(|text| text.contains("on tmpfs)")), "{cell:#}");
}

/// One of two programs that begin at once works in memory, and ends long before the other has done one commit on its
/// disk. The device counters do not measure both writers.
#[test]
fn programs_that_end_far_apart_get_the_uneven_warning() {
    if !Path::new("/dev/shm").is_dir() {
        return skip!("there is no /dev/shm");
    }
    let memory = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let disk = tempfile::tempdir_in(".").expect("a folder on a disk");
    let targets = [memory.path(), disk.path()].map(|path| path.to_str().expect("a plain name"));
    let document = run(disk.path(), &[&["--rounds", "2", "--size", "1MiB", "--together"], &targets[..]].concat());
    let (together, alone): (Vec<&Value>, Vec<&Value>) =
        cells(&document).iter().partition(|cell| cell["together"] == true);
    assert!(alone.iter().all(|cell| mark(cell, "uneven").is_none()));
    assert!(together.iter().any(|cell| cell["program"] == "commit" && cell["overlap"].is_number()), "{document:#}");
    // The program in memory may wait for the processor as long as the other waits for its disk. The overlap shows it.
    for cell in &together {
        let overlap = cell["overlap"].as_f64();
        let text = mark(cell, "uneven");
        assert_eq!(text.is_some(), overlap.is_some_and(|overlap| overlap < OVERLAP), "{cell}");
        assert!(text.is_none_or(|text| text.contains("of the longest one's time")), "{cell}");
        if text.is_some() {
            assert!(mark(cell, "compress").is_none() && mark(cell, "amplify").is_none(), "{cell}");
        }
    }
}

#[test]
fn targets_in_comparisons_take_turns() {
    let folder = Cli::in_memory();
    ["a", "b"].iter().for_each(|target| fs::create_dir(folder.path().join(target)).expect("a folder"));
    let marked = |arguments: &[&str]| {
        let document = run(folder.path(), arguments);
        let real = |cell: &&Value| cell["provenance"] == "measured" && cell["measured"] == true;
        let real: Vec<bool> = cells(&document).iter().filter(real).map(|cell| mark(cell, "order").is_some()).collect();
        assert!(!real.is_empty());
        assert!(real.iter().all(|marked| *marked == real[0]), "{document:#}");
        let simulated = cells(&document).iter().filter(|cell| cell["provenance"] == "simulated");
        assert!(simulated.into_iter().all(|cell| mark(cell, "order").is_none()), "{document:#}");
        real[0]
    };
    assert!(marked(&["a", "b", "--rounds", "1"]));
    assert!(!marked(&["a", "b", "--rounds", "2"]));
    assert!(!marked(&["a", "--rounds", "1"]));
    assert!(!marked(&["a", "sim:flat", "--rounds", "1"]));
}
