//! Storage on which diskperf runs in guests, and the judgement of its documents. `cargo xtask prove elsewhere` runs the
//! jobs (`benches/elsewhere/jobs.rs`).
//!
//! Policy:
//!   1. every test of `smoke` must be measured. `quick` may leave tests out if its time is short;
//!   2. the document must name the device, its file system and its write cache;
//!   3. a result claims to show a device if its data are cold, read with `O_DIRECT` or durable. If the device is
//!      visible, no such claim is unverified or false: the device's own counters agree. If it is not, every such claim
//!      is unverified. In memory, every such claim has the warning `memory`;
//!   4. if a device was made slow, the bottleneck of the tests that wait for it is the device, or the journal, which
//!      waits for it. Or it is not measured. Commits on an emulated disk may wait for the device together with its
//!      flushes, for which the emulator syncs a file of the machine. A device that serves requests at the same time,
//!      each in the same time, is `latency`. If one of two disks was made slow, the evidence names that disk. A disk
//!      with a hidden limit may be `latency`, which is a known limit (docs/concepts/accuracy.md);
//!   5. if the time of a request is known, the median of random reads is at least that, and at most half as much again:
//!      the rest is the time of an emulated processor;
//!   6. a choice between the storage and a slower disk never names that disk. If the storage is visible, its random
//!      reads are faster;
//!   7. `verify --check` finds the records of a `verify --write` that was killed. The kernel lives on, so this shows
//!      nothing about lost power.

#![allow(dead_code, reason = "the tests judge a recorded document, and the benchmark has all storage")]

use serde_json::{Value, json};

/// Storage in a guest on which the jobs run.
#[derive(Clone, Copy)]
pub struct Storage {
    /// The name of its functions in `jobs.sh`.
    pub name: &'static str,
    /// The type of the file system; none if diskperf reads the device itself.
    pub file_system: Option<&'static str>,
    /// The write cache of the device, as the document names it.
    pub write_cache: Option<&'static str>,
    /// The visibility of its device.
    pub sight: Sight,
    /// The way in which its device was made slow.
    pub slow: Option<Slow>,
    /// The first series of kernels on which it works.
    pub since: &'static str,
    /// The first series of kernels that counts its requests.
    pub counted_since: &'static str,
}

impl Storage {
    /// The storage as a series of kernels shows it: hidden if the kernel does not count the device's requests.
    pub fn on(self, series: &str) -> Storage {
        let is_hidden = self.sight == Sight::Counted && !is_since(series, self.counted_since);
        if is_hidden { Storage { sight: Sight::Hidden, ..self } } else { self }
    }
}

/// True if a series of kernels is not older than another one.
pub fn is_since(series: &str, first: &str) -> bool {
    let numbers = |text: &str| text.split('.').filter_map(|part| part.parse().ok()).collect::<Vec<u32>>();
    numbers(series) >= numbers(first)
}

/// The visibility of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The kernel counts its requests.
    Counted,
    /// It is behind a network, does not exist, or the kernel does not count its requests.
    Hidden,
    /// The data are in memory.
    Memory,
}

/// The way in which a device was made slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// Each request takes this time, in milliseconds.
    Service(u64),
    /// Each request is held back in a layer above the disk.
    Delay,
    /// The emulator limits the operations per second. The guest cannot see that.
    Limit,
    /// One of its two disks has such a limit.
    LimitOfOne,
}

/// Storage with a visible device and an ext4.
const EXT4: Storage = Storage {
    name: "",
    file_system: Some("ext4"),
    write_cache: Some("write back"),
    sight: Sight::Counted,
    slow: None,
    since: "6.1",
    counted_since: "6.1",
};

/// A server of NFS in the same guest, and in another one.
const NFS: Storage =
    Storage { name: "nfs", file_system: Some("nfs4"), write_cache: None, sight: Sight::Hidden, ..EXT4 };
pub const REMOTE: Storage = Storage { name: "remote_nfs", ..NFS };

/// A directory of the machine on which the guest runs.
pub const SHARED: Storage = Storage { name: "shared", file_system: Some("virtiofs"), ..NFS };

/// All storage within a guest.
pub const STORAGES: [Storage; 21] = [
    Storage { name: "nvme", ..EXT4 },
    Storage { name: "scsi", ..EXT4 },
    Storage { name: "scsi_through", write_cache: Some("write through"), ..EXT4 },
    Storage { name: "virtio", ..EXT4 },
    Storage { name: "virtio_through", write_cache: Some("write through"), ..EXT4 },
    Storage { name: "sata", since: "6.12", ..EXT4 },
    Storage { name: "nvme_user", ..EXT4 },
    // A disk that may have several paths: Linux 6.1 does not count its requests, and 6.12 does (tried).
    Storage { name: "nvme_tcp", counted_since: "6.12", ..EXT4 },
    Storage { name: "xfs", file_system: Some("xfs"), ..EXT4 },
    Storage { name: "btrfs", file_system: Some("btrfs"), ..EXT4 },
    Storage { name: "crypt", ..EXT4 },
    Storage { name: "thin", ..EXT4 },
    Storage { name: "raid", ..EXT4 },
    Storage { name: "delay", slow: Some(Slow::Delay), ..EXT4 },
    Storage { name: "timed", write_cache: Some("write through"), slow: Some(Slow::Service(TIMED_MS)), ..EXT4 },
    Storage { name: "throttled", slow: Some(Slow::Limit), ..EXT4 },
    Storage { name: "stripe", slow: Some(Slow::LimitOfOne), ..EXT4 },
    Storage { name: "overlay", file_system: Some("overlay"), ..EXT4 },
    Storage { name: "memory", file_system: Some("tmpfs"), write_cache: None, sight: Sight::Memory, ..EXT4 },
    NFS,
    // Debian's 6.1.0-56 does not mount it: its server, ksmbd, has no share IPC$ (BAD_NETWORK_NAME).
    Storage { name: "smb", since: "6.12", file_system: Some("cifs"), write_cache: None, sight: Sight::Hidden, ..EXT4 },
];

/// The time of a request on the disk `timed`, in milliseconds (`jobs.sh`).
const TIMED_MS: u64 = 20;

/// The deviations of a document, each as a sentence. `names` are those of the device and of its slow disk.
pub fn deviations(storage: &Storage, names: &str, document: &Value, is_complete: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    // 2
    let target = &document["run"]["targets"][0];
    let mut names = names.split_whitespace();
    let (device, slow_disk) = (names.next(), names.next());
    let expected = [("file_system", storage.file_system), ("device", device), ("write_cache", storage.write_cache)];
    for (key, expected) in expected {
        if target[key].as_str() != expected {
            wrong.push(format!("{key} is {}, not {expected:?}", target[key]));
        }
    }
    let cells = document["cells"].as_array().map(Vec::as_slice).unwrap_or_default();
    if cells.is_empty() || document["errors"] != json!([]) {
        wrong.push(format!("{} results, errors {}", cells.len(), document["errors"]));
    }
    for cell in cells {
        let test = format!("{} {}", cell["program"], cell["phase"]);
        // 1
        if cell["measured"] != true {
            // Files in memory cannot be read with O_DIRECT.
            let may_lack = !is_complete || storage.sight == Sight::Memory;
            if !may_lack || !cell["reason"].is_string() {
                wrong.push(format!("{test} is not measured: {}", cell["reason"]));
            }
            continue;
        }
        // 3, 4, 5
        let claim = if is_exempt(storage, cell) { None } else { false_claim(storage.sight, cell) };
        let slow = storage.slow.filter(|_| matches!(cell["program"].as_str(), Some("randread" | "commit")));
        let found = match slow {
            Some(slow) => [claim, false_bottleneck(slow, slow_disk, cell), false_time(slow, cell)],
            None => [claim, None, None],
        };
        let keys = ["state", "io", "marks", "limited_by", "latency_ns"];
        let facts = || keys.map(|key| cell[key].to_string()).join(" ");
        wrong.extend(found.into_iter().flatten().map(|problem| format!("{test} {problem}: {}", facts())));
    }
    wrong
}

/// The claim of a result: to show reads of a device, or durable writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Read,
    Durable,
}

/// The claim of a cell (3).
fn claim(cell: &Value) -> Option<Claim> {
    let state = &cell["state"];
    if matches!(state["clock"].as_str(), Some("durable" | "data_durable")) {
        Some(Claim::Durable)
    } else if matches!(state["cache"].as_str(), Some("cold" | "unverified")) || cell["parameters"]["direct"] == true {
        Some(Claim::Read)
    } else {
        None
    }
}

/// True if the bytes of a test need not reach the device, or if its claim is a known limit. Most blocks of a new thin
/// volume do not exist below it. The mix uses some data several times. btrfs keeps small files in its metadata, which
/// no program can drop from memory: `quick` warns of that (`cache`), and the few bytes of `smoke` decide nothing.
fn is_exempt(storage: &Storage, cell: &Value) -> bool {
    let program = cell["program"].as_str();
    let is_thin = storage.name == "thin" && storage.file_system.is_none();
    is_thin || program == Some("local_mix") || (storage.file_system == Some("btrfs") && program == Some("smallfb"))
}

/// A claim that is false, or that is called unverified without reason (3).
fn false_claim(sight: Sight, cell: &Value) -> Option<&'static str> {
    let claim = claim(cell)?;
    let is_unverified = cell["state"]["unverified"].is_string();
    let marks: Vec<&str> =
        cell["marks"].as_array().into_iter().flatten().filter_map(|mark| mark["code"].as_str()).collect();
    let denied = ["cache", "lower", "dirty", "noflush", "hole", "memory"];
    let bytes = |key: &str| cell["io"][key].as_u64().unwrap_or(0);
    match sight {
        Sight::Counted if is_unverified => Some("is unverified"),
        Sight::Counted if marks.iter().any(|mark| denied.contains(mark)) => Some("is denied by a warning"),
        // A device may read more, for a file system or ahead of the reader. It never reads less.
        Sight::Counted if claim == Claim::Read && bytes("device_read") < bytes("program_bytes") => {
            Some("claims reads that the device did not serve")
        }
        // The bytes of the program include what a copy or a mix has read.
        Sight::Counted if bytes("device_read") + bytes("device_written") < bytes("program_bytes") => {
            Some("claims writes that the device did not take")
        }
        Sight::Hidden if !is_unverified => Some("is not unverified"),
        Sight::Memory if !marks.contains(&"memory") => Some("has no warning `memory`"),
        Sight::Counted | Sight::Hidden | Sight::Memory => None,
    }
}

/// A bottleneck other than the slow device (4).
fn false_bottleneck(slow: Slow, slow_disk: Option<&str>, cell: &Value) -> Option<&'static str> {
    let may_be_latency = slow != Slow::Delay;
    let may_be_flush = matches!(slow, Slow::Limit | Slow::LimitOfOne) && cell["program"] == "commit";
    let what = cell["limited_by"]["what"].as_str();
    match what.map(|what| if what == "device and flush" && may_be_flush { "device" } else { what }) {
        Some("device" | "latency") if slow == Slow::LimitOfOne => {
            let evidence = cell["limited_by"]["evidence"].as_str().unwrap_or_default();
            let is_named = slow_disk.is_some_and(|disk| evidence.contains(disk));
            (!is_named).then_some("does not name the slow disk")
        }
        Some("latency") if may_be_latency => None,
        Some("device" | "journal" | "n.m.") => None,
        _ => Some("has another bottleneck than the slow device"),
    }
}

/// A median time that the device cannot have (5).
fn false_time(slow: Slow, cell: &Value) -> Option<&'static str> {
    let Slow::Service(millis) = slow else { return None };
    let is_read = cell["program"] == "randread";
    let (least, median) = (millis * 1_000_000, cell["latency_ns"]["p50"].as_u64().unwrap_or_default());
    (is_read && !(least..=least + least / 2).contains(&median)).then_some("has another time than the device")
}

/// The deviations of a choice between the storage and a slower disk, of the name [`SLOWER`] (6).
pub fn false_choices(storage: &Storage, document: &Value) -> Vec<String> {
    let comparisons = document["run"]["choice"]["comparisons"].as_array().cloned().unwrap_or_default();
    let is_faster = |one: &Value, name: &str| one["verdict"] == "faster" && one["faster"] == name;
    let is_wrong = |one: &&Value| is_faster(one, SLOWER);
    let mut wrong: Vec<String> =
        comparisons.iter().filter(is_wrong).map(|one| format!("false choice: {one}")).collect();
    let mut reads = comparisons.iter().filter(|one| one["program"] == "randread");
    if storage.sight == Sight::Counted && !reads.any(|one| is_faster(one, CHOSEN)) {
        wrong.push(format!("random reads are not faster than on the slower disk: {comparisons:?}"));
    }
    wrong
}

/// The names of the targets of a choice: the storage, and a slower disk.
pub const CHOSEN: &str = "chosen";
pub const SLOWER: &str = "slower";

/// The deviation of a document of `verify --check` (7).
pub fn false_records(document: &Value) -> Option<String> {
    let kinds = document["cuts"][0]["kinds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sum = |key: &str| kinds.iter().filter_map(|kind| kind[key].as_u64()).sum::<u64>();
    let (promised, lost) = (sum("acknowledged"), sum("missing") + sum("torn") + sum("stale"));
    (promised == 0 || lost > 0).then(|| format!("{lost} of {promised} records are lost: {document}"))
}

/// The recorded run is one on ext4 on a virtio disk with a write-back cache.
#[test]
fn deviations_of_a_document_are_found() {
    let document: Value = serde_json::from_str(include_str!("../../../../docs/quick.json")).expect("a document");
    assert_eq!(deviations(&EXT4, "vda", &document, true), [""; 0]);
    let found = |storage: Storage, device: &str, part: &str, value: Value| {
        let mut document = document.clone();
        *document.pointer_mut(part).expect("a part") = value;
        deviations(&storage, device, &document, true).join("\n")
    };
    for (part, value, words) in [
        ("/run/targets/0/write_cache", json!("write through"), "write_cache is"),
        ("/errors", json!(["no"]), "errors"),
        ("/cells/0/measured", json!(false), "is not measured"),
        ("/cells/0/state/cache_reason", json!("x"), ""),
        ("/cells/0/marks", json!([{"code": "lower"}]), "is denied by a warning"),
        ("/cells/0/io/device_read", json!(0), "the device did not serve"),
        ("/cells/1/io/device_written", json!(0), "the device did not take"),
    ] {
        let found = found(EXT4, "vda", part, value);
        assert!(found.is_empty() == words.is_empty() && found.contains(words), "{part}: {found}");
    }
    let hidden = deviations(&Storage { sight: Sight::Hidden, ..EXT4 }, "vda", &document, true);
    assert_eq!(hidden.len(), 13, "{hidden:?}");
    // A commit, and random reads one at a time.
    let slow = |slow: Slow, names: &str, cell: usize, part: &str, value: Value| {
        let mut document = document.clone();
        document["cells"] = json!([document["cells"][cell]]);
        *document.pointer_mut(&format!("/cells/0{part}")).expect("a part") = value;
        deviations(&Storage { slow: Some(slow), ..EXT4 }, names, &document, true).join("\n")
    };
    let bottleneck = |kind: Slow, names: &str, what: &str| slow(kind, names, 5, "/limited_by/what", json!(what));
    assert!(bottleneck(Slow::Limit, "vda", "cpu").contains("another bottleneck"));
    assert!(bottleneck(Slow::Delay, "vda", "latency").contains("another bottleneck"));
    assert_eq!([Slow::Limit, Slow::Service(20)].map(|slow| bottleneck(slow, "vda", "latency")), [""; 2]);
    assert!(bottleneck(Slow::Service(20), "vda", "cpu").contains("another bottleneck"));
    assert!(bottleneck(Slow::Limit, "vda", "flush").contains("another bottleneck"));
    assert!(bottleneck(Slow::Service(20), "vda", "device and flush").contains("another bottleneck"));
    let of_reads = slow(Slow::Limit, "vda", 4, "/limited_by/what", json!("device and flush"));
    assert!(of_reads.contains("another bottleneck"), "{of_reads}");
    assert_eq!(bottleneck(Slow::Limit, "vda", "device and flush"), "");
    assert_eq!(bottleneck(Slow::LimitOfOne, "vda vda", "device"), "");
    assert!(bottleneck(Slow::LimitOfOne, "vda vdb", "device and flush").contains("does not name"));
    assert!(bottleneck(Slow::LimitOfOne, "vda vdb", "device").contains("does not name"));
    let time = |millis: u64| slow(Slow::Service(20), "vda", 4, "/latency_ns/p50", json!(millis * 1_000_000));
    assert!(!time(21).contains("another time"));
    assert!([19, 31].into_iter().all(|millis| time(millis).contains("another time")));
    assert!(deviations(&EXT4, "sda", &document, true)[0].contains("device is"));
    let counted_later = Storage { counted_since: "6.12", ..EXT4 };
    assert_eq!(["6.1", "6.12"].map(|series| counted_later.on(series).sight), [Sight::Hidden, Sight::Counted]);
}

#[test]
fn a_choice_of_the_slower_disk_is_found() {
    let found = |storage: Storage, faster: Option<&str>| {
        let verdict = if faster.is_some() { "faster" } else { "undecided" };
        let comparison = json!({"program": "randread", "verdict": verdict, "faster": faster});
        false_choices(&storage, &json!({"run": {"choice": {"comparisons": [comparison]}}})).len()
    };
    let hidden = Storage { sight: Sight::Hidden, ..EXT4 };
    assert_eq!([Some(CHOSEN), Some(SLOWER), None].map(|faster| found(EXT4, faster)), [0, 2, 1]);
    assert_eq!([Some(CHOSEN), Some(SLOWER), None].map(|faster| found(hidden, faster)), [0, 1, 0]);
}

#[test]
fn lost_records_and_no_records_are_found() {
    let found = |promised: u64, torn: u64| {
        let kind = json!({"acknowledged": promised, "missing": 0, "torn": torn, "stale": 0});
        false_records(&json!({"cuts": [{"kinds": [kind]}]})).is_some()
    };
    assert_eq!([found(9, 0), found(9, 1), found(0, 0)], [false, true, true]);
}
