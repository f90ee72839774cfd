//! The main job in guests, on disks, stacks and network file systems that this machine does not have: the preset
//! `smoke`, which has every test, and the preset `quick`, which measures. The storage is built on blank disks, and its
//! file system is mounted. `storages` judges the documents.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::guest::{Guest, GuestDisk, Kernel, Plan};

use crate::blank_disks::{self, CONTROLLERS};
use crate::storages::{STORAGES, Storage, deviations, is_since};

/// Disks of the guest: sizes in MiB, by which the script finds them, and devices as QEMU names them. The
/// machine has a controller for SATA.
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

/// The jobs: arguments of `diskperf run`, and true if every test must be measured. The budget is a guess: it
/// measures some tests of each group in a guest.
const JOBS: [(&str, bool); 2] = [("smoke --rounds 1", true), ("quick --budget 20s", false)];

/// The longest step that is not an error: a network file system may wait for ever. The longest job took 30 s.
const STEP: Duration = Duration::from_secs(180);

/// Boots a guest with blank disks.
fn boot(series: &str, kernel: &Kernel, program: &Path) -> Result<Guest, String> {
    let backing = blank_disks::files(DISKS.map(|(mib, ..)| mib));
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
        script: concat!(include_str!("../../tests/guests/steps.sh"), include_str!("jobs.sh")).to_owned(),
        disks: disks.collect(),
        arguments: CONTROLLERS.map(str::to_owned).into(),
        memory_mib: 1024,
        ..Plan::default()
    };
    // QEMU has opened the files when the guest takes commands.
    Guest::boot(kernel, &plan)
}

/// Runs the job on a storage. Returns the deviations, each as a sentence.
fn try_storage(guest: &mut Guest, storage: &Storage) -> Result<Vec<String>, String> {
    let name = storage.name;
    let step = |guest: &mut Guest, command: &str| {
        let ended = guest.run_within(command, STEP)?;
        let is_done = ended.status == Some(0);
        if is_done { Ok(ended.out) } else { Err(format!("{command}: {:?} {} {}", ended.status, ended.out, ended.err)) }
    };
    // The script prints the name of the device that the document must have.
    let device = step(guest, &format!("{name}_up"))?;
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

/// Runs the jobs on all storage of a kernel whose name contains one of the words, or on all if there is no word. Prints
/// each deviation, and a line of JSON with the counts.
pub fn run(series: &str, kernel: &Kernel, program: &Path, words: &[String]) {
    let is_chosen = |storage: &&Storage| {
        is_since(series, storage.since) && (words.is_empty() || words.iter().any(|word| storage.name.contains(word)))
    };
    let chosen: Vec<Storage> = STORAGES.iter().filter(is_chosen).map(|storage| storage.on(series)).collect();
    let mut guest = boot(series, kernel, program).expect("a guest");
    let mut wrong = 0;
    for storage in &chosen {
        let began = Instant::now();
        let found = match try_storage(&mut guest, storage) {
            Ok(found) => found,
            Err(problem) => {
                // It is not known what is left of the storage.
                drop(guest);
                guest = boot(series, kernel, program).expect("a guest");
                vec![format!("{}: {problem}", storage.name)]
            }
        };
        // `cargo xtask prove` keeps standard output for itself.
        found.iter().for_each(|problem| eprintln!("{series} {problem}"));
        wrong += found.len();
        println!("{series} {}: {:.0?}", storage.name, began.elapsed());
    }
    println!("{}", json!({"elsewhere": "jobs", "kernel": series, "storages": chosen.len(), "wrong": wrong}));
}
