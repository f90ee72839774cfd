//! The main job in guests, on disks, stacks and network file systems that this machine does not have: the preset
//! `smoke`, which has every test, and the preset `quick`, which measures.
//!
//! Policy:
//!   1. the storage is built on blank disks, and its file system is mounted;
//!   2. the jobs must end well. Every test of `smoke` must be measured. `quick` may leave tests out if its time is
//!      short;
//!   3. the document must name the device, its file system and its write cache;
//!   4. a result claims to show a device if its data are cold, read with `O_DIRECT` or durable. If the device is
//!      visible, no such claim is unverified or false: the device's own counters agree. If it is not, every such claim
//!      is unverified. In memory, every such claim has the warning `memory`;
//!   5. if a device was made slow, the bottleneck of the tests that wait for it is the device, or the journal, which
//!      waits for it. Or it is not measured.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::guest::{Guest, GuestDisk, Kernel, Plan, unnamed};
use testkit::{need_guest, skip};

/// Storage in a guest on which the main job runs.
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
    /// The first series of kernels that has all of its modules.
    pub since: &'static str,
}

/// The visibility of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The kernel counts its requests.
    Counted,
    /// It is behind a network or does not exist.
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
};

/// All storage.
const STORAGES: [Storage; 19] = [
    Storage { name: "nvme", ..EXT4 },
    Storage { name: "scsi", ..EXT4 },
    Storage { name: "scsi_through", write_cache: Some("write through"), ..EXT4 },
    Storage { name: "virtio", ..EXT4 },
    Storage { name: "virtio_through", write_cache: Some("write through"), ..EXT4 },
    Storage { name: "sata", since: "6.12", ..EXT4 },
    Storage { name: "nvme_user", ..EXT4 },
    Storage { name: "nvme_tcp", ..EXT4 },
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
    Storage { name: "smb", file_system: "cifs", write_cache: None, sight: Sight::Hidden, ..EXT4 },
];

/// Disks of the guest: sizes in MiB, by which the script finds them, and devices as QEMU names them.
const DISKS: [(u64, &str, &str); 8] = [
    (1001, "nvme-ns,bus=nvme,nsid=1", ""),
    (1002, "nvme-ns,bus=nvme,nsid=2", ""),
    (1003, "virtio-blk-pci,serial=BACK", ""),
    (1004, "virtio-blk-pci,serial=THROUGH,write-cache=off", ""),
    (1005, "scsi-hd,bus=scsi.0,serial=SBACK", ""),
    (1006, "scsi-hd,bus=scsi.0,serial=STHROUGH,write-cache=off", ""),
    (1007, "ide-hd,serial=SATA", ""),
    (1008, "virtio-blk-pci,serial=SLOW", ",throttling.iops-total=100"),
];

/// The controllers of these disks. The machine has one for SATA.
const CONTROLLERS: [&str; 4] = ["-device", "nvme,id=nvme,serial=NVME", "-device", "virtio-scsi-pci,id=scsi"];

const TOOLS: [&str; 8] =
    ["blkdiscard", "dmsetup", "ksmbd.tools", "lvm", "mdadm", "mkfs.btrfs", "mkfs.ext4", "mkfs.xfs"];

/// Modules of both kernels.
const MODULES: [&str; 24] = [
    "configfs",
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "sd_mod",
    "dm_mod",
    "dm_crypt",
    "dm_thin_pool",
    "dm_delay",
    "raid1",
    "xfs",
    "btrfs",
    "overlay",
    "nfsd",
    "nfsv4",
    "cifs",
    "ksmbd",
    "nvmet_tcp",
    "nvme_tcp",
    "aesni_intel",
    "xts",
    "sha512_generic",
    "ccm",
    "cmac",
];

/// The jobs: arguments of `diskperf run`, and true if every test must be measured (2). The budget is a guess: it
/// measures some tests of each group in a guest.
const JOBS: [(&str, bool); 2] = [("smoke --rounds 1", true), ("quick --budget 20s", false)];

/// The longest step that is not an error: a network file system may wait for ever. The longest job took 30 s.
const STEP: Duration = Duration::from_secs(180);

/// Boots a guest with blank disks.
fn boot(series: &str, kernel: &Kernel, program: &Path) -> Result<Guest, String> {
    let backing = DISKS.map(|(mib, ..)| {
        let file = unnamed().expect("a file");
        file.set_len(mib << 20).expect("a size");
        file
    });
    let disks = backing.iter().zip(DISKS).map(|(file, (_, device, drive))| {
        GuestDisk::on_file(file, device).with_drive(&format!("discard=unmap,detect-zeroes=unmap{drive}"))
    });
    let mut modules: Vec<&str> = MODULES.into();
    if is_since(series, "6.12") {
        modules.push("ahci");
    }
    let plan = Plan {
        tools: TOOLS.into(),
        modules,
        files: vec![("/bin/diskperf".to_owned(), program.to_owned())],
        script: include_str!("jobs.sh").to_owned(),
        disks: disks.collect(),
        arguments: CONTROLLERS.map(str::to_owned).into(),
        memory_mib: 1024,
        ..Plan::default()
    };
    // QEMU has opened the files when the guest takes commands.
    Guest::boot(kernel, &plan)
}

/// True if a series of kernels is not older than another one.
fn is_since(series: &str, first: &str) -> bool {
    let numbers = |text: &str| text.split('.').filter_map(|part| part.parse().ok()).collect::<Vec<u32>>();
    numbers(series) >= numbers(first)
}

/// Runs the job on a storage. Returns the deviations, each as a sentence.
fn try_storage(guest: &mut Guest, storage: &Storage) -> Result<Vec<String>, String> {
    let name = storage.name;
    let step = |guest: &mut Guest, command: &str| {
        let ended = guest.run_within(command, STEP)?;
        let is_done = ended.status == Some(0);
        if is_done { Ok(ended.out) } else { Err(format!("{command}: {:?} {} {}", ended.status, ended.out, ended.err)) }
    };
    // 1. The script prints the name of the device that the document must have.
    let device = step(guest, &format!("{name}_up"))?;
    // 2
    let mut wrong = Vec::new();
    for (job, is_complete) in JOBS {
        let ended = guest.run_within(&format!("job {name} {job}"), STEP)?;
        match serde_json::from_str(&ended.out) {
            Ok(document) if ended.status == Some(0) => {
                wrong.extend(deviations(storage, device.trim(), &document, is_complete));
            }
            _ => wrong.push(format!("{job}: status {:?}: {} {}", ended.status, ended.out, ended.err)),
        }
    }
    step(guest, &format!("{name}_down"))?;
    Ok(wrong.into_iter().map(|wrong| format!("{name}: {wrong}")).collect())
}

/// The deviations of a document, each as a sentence.
fn deviations(storage: &Storage, device: &str, document: &Value, is_complete: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    // 3
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
        // 2
        if cell["measured"] != true {
            // Files in memory cannot be read with O_DIRECT.
            let may_lack = !is_complete || storage.sight == Sight::Memory;
            if !may_lack || !cell["reason"].is_string() {
                wrong.push(format!("{test} is not measured: {}", cell["reason"]));
            }
            continue;
        }
        // 4, 5
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

/// The claim of a cell (4).
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

/// A claim that is false, or that is called unverified without reason (4).
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

/// A bottleneck other than the slow device (5).
fn false_bottleneck(storage: &Storage, cell: &Value) -> Option<&'static str> {
    let waits = storage.is_slow && matches!(cell["program"].as_str(), Some("randread" | "commit"));
    let what = cell["limited_by"]["what"].as_str();
    (waits && !matches!(what, Some("device" | "journal" | "n.m.")))
        .then_some("has another bottleneck than the slow device")
}

/// Runs the job on the chosen storage, and prints the line that `cargo xtask prove elsewhere` counts.
fn try_storages(series: &str, kernel: &Kernel, program: PathBuf) {
    let is_possible = |storage: &&Storage| is_since(series, storage.since) && crate::is_chosen(storage.name, &[]);
    let chosen: Vec<&Storage> = STORAGES.iter().filter(is_possible).collect();
    if chosen.is_empty() {
        return println!("the jobs of guests run in cargo xtask prove elsewhere");
    }
    let mut guest = boot(series, kernel, &program).expect("a guest");
    let mut wrong = Vec::new();
    for storage in &chosen {
        let began = Instant::now();
        let found = match try_storage(&mut guest, storage) {
            Ok(found) => found,
            Err(problem) => {
                // It is not known what is left of the storage.
                drop(guest);
                guest = boot(series, kernel, &program).expect("a guest");
                vec![format!("{}: {problem}", storage.name)]
            }
        };
        // The test may be ended before it has tried everything.
        found.iter().for_each(|problem| println!("{problem}"));
        wrong.extend(found);
        println!("{series} {}: {:.0?}", storage.name, began.elapsed());
    }
    println!("{}", json!({"elsewhere": "jobs", "kernel": series, "storages": chosen.len(), "wrong": wrong.len()}));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn jobs_describe_storage_on_linux_6_1() {
    let Some(program) = testkit::dist_file(testkit::PROGRAM_END) else { return skip!("{}", testkit::NOTHING_MADE) };
    let kernel = need_guest!("6.1");
    try_storages("6.1", &kernel, program);
}

#[test]
fn jobs_describe_storage_on_linux_6_12() {
    let Some(program) = testkit::dist_file(testkit::PROGRAM_END) else { return skip!("{}", testkit::NOTHING_MADE) };
    let kernel = need_guest!("6.12");
    try_storages("6.12", &kernel, program);
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
}
