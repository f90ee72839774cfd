//! Storage on which the main job runs in guests, and the judgement of its documents. `cargo xtask prove elsewhere` runs
//! the jobs (`benches/elsewhere/jobs.rs`).
//!
//! Policy:
//!   1. every test of `smoke` must be measured. `quick` may leave tests out if its time is short;
//!   2. the document must name the device, its file system and its write cache;
//!   3. a result claims to show a device if its data are cold, read with `O_DIRECT` or durable. If the device is
//!      visible, no such claim is unverified or false: the device's own counters agree. If it is not, every such claim
//!      is unverified. In memory, every such claim has the warning `memory`;
//!   4. if a device was made slow, the bottleneck of the tests that wait for it is the device, or the journal, which
//!      waits for it. Or it is not measured.

#![allow(dead_code, reason = "the tests judge a recorded document, and the benchmark has all storage")]

use serde_json::{Value, json};

/// Storage in a guest on which the main job runs.
#[derive(Clone, Copy)]
pub struct Storage {
    /// The name of its functions in `jobs.sh`.
    pub name: &'static str,
    /// The type of the file system.
    pub file_system: &'static str,
    /// The write cache of the device, as the document names it.
    pub write_cache: Option<&'static str>,
    /// The visibility of its device.
    pub sight: Sight,
    /// True if its device was made slow.
    pub is_slow: bool,
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

/// Storage with a visible device and an ext4.
const EXT4: Storage = Storage {
    name: "",
    file_system: "ext4",
    write_cache: Some("write back"),
    sight: Sight::Counted,
    is_slow: false,
    since: "6.1",
    counted_since: "6.1",
};

/// All storage.
pub const STORAGES: [Storage; 19] = [
    Storage { name: "nvme", ..EXT4 },
    Storage { name: "scsi", ..EXT4 },
    Storage { name: "scsi_through", write_cache: Some("write through"), ..EXT4 },
    Storage { name: "virtio", ..EXT4 },
    Storage { name: "virtio_through", write_cache: Some("write through"), ..EXT4 },
    Storage { name: "sata", since: "6.12", ..EXT4 },
    Storage { name: "nvme_user", ..EXT4 },
    // A disk that may have several paths: Linux 6.1 does not count its requests, and 6.12 does (tried).
    Storage { name: "nvme_tcp", counted_since: "6.12", ..EXT4 },
    Storage { name: "xfs", file_system: "xfs", ..EXT4 },
    Storage { name: "btrfs", file_system: "btrfs", ..EXT4 },
    Storage { name: "crypt", ..EXT4 },
    Storage { name: "thin", ..EXT4 },
    Storage { name: "raid", ..EXT4 },
    Storage { name: "delay", is_slow: true, ..EXT4 },
    Storage { name: "throttled", is_slow: true, ..EXT4 },
    Storage { name: "overlay", file_system: "overlay", ..EXT4 },
    Storage { name: "memory", file_system: "tmpfs", write_cache: None, sight: Sight::Memory, ..EXT4 },
    Storage { name: "nfs", file_system: "nfs4", write_cache: None, sight: Sight::Hidden, ..EXT4 },
    // Debian's 6.1.0-56 does not mount it: its server, ksmbd, has no share IPC$ (BAD_NETWORK_NAME).
    Storage { name: "smb", since: "6.12", file_system: "cifs", write_cache: None, sight: Sight::Hidden, ..EXT4 },
];

/// The deviations of a document, each as a sentence.
pub fn deviations(storage: &Storage, device: &str, document: &Value, is_complete: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    // 2
    let target = &document["run"]["targets"][0];
    let device = Some(device).filter(|device| !device.is_empty());
    let expected =
        [("file_system", Some(storage.file_system)), ("device", device), ("write_cache", storage.write_cache)];
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
        // 3, 4
        let claim = if is_exempt(storage, cell) { None } else { false_claim(storage.sight, cell) };
        let found = [claim, false_bottleneck(storage, cell)];
        let facts = || ["state", "io", "marks", "limited_by"].map(|key| cell[key].to_string()).join(" ");
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

/// True if the bytes of a test need not reach the device, or if its claim is a known limit. The mix uses some data
/// several times. btrfs keeps small files in its metadata, which no program can drop from memory: `quick` warns of that
/// (`cache`), and the few bytes of `smoke` decide nothing.
fn is_exempt(storage: &Storage, cell: &Value) -> bool {
    let program = cell["program"].as_str();
    program == Some("local_mix") || (storage.file_system == "btrfs" && program == Some("smallfb"))
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
fn false_bottleneck(storage: &Storage, cell: &Value) -> Option<&'static str> {
    let waits = storage.is_slow && matches!(cell["program"].as_str(), Some("randread" | "commit"));
    let what = cell["limited_by"]["what"].as_str();
    (waits && !matches!(what, Some("device" | "journal" | "n.m.")))
        .then_some("has another bottleneck than the slow device")
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
    let slow = found(Storage { is_slow: true, ..EXT4 }, "vda", "/cells/5/limited_by/what", json!("cpu"));
    assert!(slow.contains("another bottleneck"), "{slow}");
    assert!(deviations(&EXT4, "sda", &document, true)[0].contains("device is"));
    let counted_later = Storage { counted_since: "6.12", ..EXT4 };
    assert_eq!(["6.1", "6.12"].map(|series| counted_later.on(series).sight), [Sight::Hidden, Sight::Counted]);
}
