//! The power is cut while a run is stored. When it is on again, the executions that were finished are there once, the
//! store opens, and `resume` finishes the rest. `cargo xtask prove` does it more often.
//!
//! Policy:
//!   1. the store is in an ext4 on a loop device on a file that this process serves, with a write cache
//!      (`testkit::write_cache`); the measured folder is elsewhere;
//!   2. the power is cut at a random flush of all flushes of a run, or a few requests later. Of each sector in the
//!      cache, no version lasts, or a random one, or nearly always the last;
//!   3. an execution is finished if the store showed it to another process before the power cut: a user may have read
//!      it;
//!   4. the run is killed, and the file system is mounted again from the bytes that the disk then has.

mod broken_off;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use broken_off::{Diskperf, Found, Rounds, Tally, rounds};
use kernel::PrivateMounts;
use serde_json::json;
use tempfile::TempDir;
use testkit::fuse::{Knobs, OneFile};
use testkit::loop_disk::{self, LoopDisk, Mounted};
use testkit::write_cache::{Fate, Moment, WriteCache};
use testkit::{Running, run_tool};
use units::Prng;

/// The environment variable with the number of power cuts.
const CUTS: &str = "DISKPERF_POWER_CUTS";

/// The number without the variable: each fate of the cache with each of the runs.
const USUAL: u64 = 6;

/// The most requests after the flush: a transaction makes about as many before the next.
const LATER: u64 = 6;

/// The pause between two reads of the store. Guess: short enough to see most of what is stored, long enough not to
/// delay the run. The start of the reading program adds about as much.
const PAUSE: Duration = Duration::from_millis(10);

/// Bytes of the disk: an ext4 with its journal, and room for the store and its log.
const DISK: u64 = (32 << 20) + testkit::fuse::APART;

/// The runs whose power is cut, and their rounds: one with kernel calls of its own, and one that stores as fast as it
/// can.
const RUNS: [(&[&str], usize); 2] =
    [(&["run", "smoke", "--json"], 2), (&["run", "smoke", "sim:flat", "--rounds", "6", "--json"], 6)];

/// A computer: a folder to measure, and a disk with its store.
struct Computer {
    folder: TempDir,
}

impl Computer {
    /// Makes a computer with a disk of these bytes.
    fn new(disk: &[u8]) -> Computer {
        // In memory if possible: the machine's own disk does not delay it then.
        let folder = testkit::folder_in_memory();
        let computer = Computer { folder };
        for name in ["served", "data", "measured"] {
            fs::create_dir(computer.path(name)).expect("a folder");
        }
        fs::write(computer.path("disk"), disk).expect("a disk");
        computer
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn disk(&self) -> File {
        OpenOptions::new().read(true).write(true).open(self.path("disk")).expect("the disk")
    }

    fn store(&self) -> PathBuf {
        self.path("data").join("store.sqlite")
    }

    /// Mounts the disk: the file itself, or the served file.
    fn mount(&self, file: &Path) -> Mounted {
        let mut device = LoopDisk::attach(file).or_else(|_| LoopDisk::attach_through_cache(file)).expect("a device");
        let mounted = Mounted::mount(device.node(), &self.path("data"), "rw");
        device.leave();
        mounted
    }
}

/// The reason why the power cannot be cut here.
fn cannot() -> Option<String> {
    if !Path::new("/dev/fuse").exists() {
        return Some("needs /dev/fuse".to_owned());
    }
    loop_disk::missing_requirement(&["mkfs.ext4", "mount", "umount"])
}

/// The bytes of a disk with an empty file system on it.
fn blank() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("disk");
    File::create(&path).and_then(|file| file.set_len(DISK)).expect("a file");
    run_tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", &path.to_string_lossy()]);
    fs::read(path).expect("its bytes")
}

/// The rounds of the only run in the store; `None` if there is none yet, or if the store cannot be read just now.
///
/// Another process reads it. SQLite maps a file of the store into memory. The kernel may wait for the disk while it
/// maps a file, and the threads that serve the disk get no memory meanwhile if they belong to the same process.
fn stored_rounds(diskperf: &Diskperf) -> Option<Rounds> {
    if !diskperf.store.exists() {
        return None;
    }
    let shown = diskperf.command(&["show", "last", "--json"]).stderr(Stdio::null()).output().expect("diskperf starts");
    shown.status.success().then(|| rounds(&serde_json::from_slice(&shown.stdout).expect("a document")))
}

/// Runs until the power is cut; if the run ends first, the power is cut then. Returns the rounds that the store showed
/// before, and the number of flushes.
fn run_until_cut(computer: &Computer, arguments: &[&str], cache: WriteCache) -> (Rounds, u64) {
    let fuse = OneFile::mount(&computer.path("served"), computer.disk(), Knobs::default()).expect("a mount");
    let mounted = computer.mount(&fuse.file());
    rustix::fs::syncfs(File::open(mounted.path()).expect("the mounted folder")).expect("everything is on the disk");
    fuse.put(cache);
    let diskperf = Diskperf { folder: &computer.path("measured"), store: &computer.store() };
    let mut command = diskperf.command(arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("diskperf starts");
    let mut running = Running(child);
    let mut finished = Rounds::new();
    loop {
        let has_ended = running.0.try_wait().expect("its state").is_some();
        let told = stored_rounds(&diskperf);
        // Rounds that are read after the power cut are not promised.
        if fuse.power().0 {
            break;
        }
        if let Some(told) = told {
            finished = told;
        }
        if has_ended {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    let (_, flushes) = fuse.power();
    fuse.cut().expect("the disk below takes what lasts");
    drop(running);
    drop(mounted);
    (finished, flushes)
}

/// The version of each cached sector that lasts.
fn fate(index: u64, mut random: Prng) -> Fate {
    match index % 3 {
        0 => Box::new(|_| 0),
        1 => Box::new(move |versions| random.below(versions as u64) as usize),
        // One sector in sixteen loses its last version. By chance, it is one that all others depend on.
        _ => Box::new(move |versions| match random.below(16) {
            0 => random.below(versions as u64) as usize,
            _ => versions - 1,
        }),
    }
}

/// Starts the computer again, and adds the outcome of the run to the tally.
fn start_again(computer: &Computer, finished: &Rounds, of: usize, tally: &mut Tally) -> Found {
    let _mounted = computer.mount(&computer.path("disk"));
    tally.add(&Diskperf { folder: &computer.path("measured"), store: &computer.store() }, finished, of)
}

#[test]
fn finished_executions_survive_power_cuts_and_runs_are_resumed() {
    if let Some(reason) = cannot() {
        return testkit::skip!("{reason}");
    }
    PrivateMounts::enter().expect("mounts of our own");
    let cuts: u64 = std::env::var(CUTS).map_or(USUAL, |cuts| cuts.parse().expect("a number"));
    let mut random = Prng::new(cuts);
    let blank = blank();
    let whole = RUNS.map(|(arguments, _)| {
        let cache = WriteCache::new(Moment::NEVER, fate(0, Prng::new(0)));
        let (finished, flushes) = run_until_cut(&Computer::new(&blank), arguments, cache);
        assert!(!finished.is_empty() && flushes > 10, "{} finished, {flushes} flushes", finished.len());
        flushes
    });
    let mut tally = Tally::default();
    let (mut promised, mut left_behind) = (0, 0);
    for cut in 0..cuts {
        let which = (cut / 3 % 2) as usize;
        let (arguments, of) = RUNS[which];
        // Some moments are after the end of the run.
        let at = Moment { flush: 1 + random.below(whole[which]), later: random.below(LATER) };
        let computer = Computer::new(&blank);
        let cache = WriteCache::new(at, fate(cut, Prng::new(random.next_u64())));
        let (finished, _) = run_until_cut(&computer, arguments, cache);
        promised += finished.len();
        let found = start_again(&computer, &finished, of, &mut tally);
        // The program went on for a moment after the power cut, on its own disk. If its run was lost completely, it may
        // have made the folder then, which a computer without power does not do.
        if found != Found::NotBegun {
            left_behind += testkit::names_in(&computer.path("measured")).len();
        }
    }
    let Tally { not_begun, finished, resumed, stored, lost, doubled, unmeasured } = tally;
    println!(
        "{}",
        json!({
            "power_cuts": cuts, "not_begun": not_begun, "finished": finished, "resumed": resumed, "promised": promised,
            "stored": stored, "lost": lost, "doubled": doubled, "unmeasured": unmeasured, "left_behind": left_behind,
        })
    );
    assert_eq!((lost, doubled, unmeasured, left_behind), (0, 0, 0, 0));
    assert_eq!(not_begun + finished + resumed, cuts);
    assert!(resumed > 0 && promised > 0, "some were cut while they measured: {resumed} of {cuts}");
}

/// A disk that acknowledges flushes and does nothing must be noticed, or the test above would prove nothing.
#[test]
fn a_disk_that_ignores_flushes_loses_finished_executions() {
    if let Some(reason) = cannot() {
        return testkit::skip!("{reason}");
    }
    PrivateMounts::enter().expect("mounts of our own");
    let computer = Computer::new(&blank());
    let cache = WriteCache::new(Moment::NEVER, fate(0, Prng::new(0))).deaf();
    let (finished, _) = run_until_cut(&computer, RUNS[1].0, cache);
    assert!(!finished.is_empty(), "nothing was promised");
    let mut tally = Tally::default();
    start_again(&computer, &finished, RUNS[1].1, &mut tally);
    assert_eq!(tally.lost as usize, finished.len(), "{tally:?}");
}
