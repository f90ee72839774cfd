//! diskperf in guests, on disks, stacks and network file systems that this machine does not have. The storage is built
//! on blank disks, and its file system is mounted. `storages` judges the documents of these commands:
//!
//!   - the preset `smoke`, which has every test, and the preset `quick`, which measures;
//!   - `verify --write`, which is killed, and `verify --check`. That is no power cut: it shows that both work;
//!   - `choose` between the storage and a slower disk;
//!   - the preset `device`, which reads the device itself, if it is visible.
//!
//! Afterwards, the first storage is tried again with one processor and with four, and so are NFS with a server in
//! another guest, and a directory of this machine (virtiofs).

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::guest::{Guest, GuestDisk, Kernel, Plan, installed_as};

use crate::blank_disks::{self, CONTROLLERS};
use crate::storages::{
    CHOSEN, REMOTE, SHARED, SLOWER, STORAGES, Sight, Storage, deviations, false_choices, false_records, is_since,
};

/// Disks of the guest: sizes in MiB, by which the script finds them, and devices as QEMU names them. The
/// machine has a controller for SATA.
const DISKS: [(u64, &str, &str); 9] = [
    (1001, "nvme-ns,bus=nvme,nsid=1", ""),
    (1002, "nvme-ns,bus=nvme,nsid=2", ""),
    (1003, "virtio-blk-pci,serial=BACK", ""),
    (1004, "virtio-blk-pci,serial=THROUGH,write-cache=off", ""),
    (1005, "scsi-hd,bus=scsi.0,serial=SBACK", ""),
    (1006, "scsi-hd,bus=scsi.0,serial=STHROUGH,write-cache=off", ""),
    (1007, "ide-hd,serial=SATA", ""),
    (1008, "virtio-blk-pci,serial=SLOW", ",throttling.iops-total=100"),
    (1009, "virtio-blk-pci,serial=SLOWER", ""),
];

const TOOLS: [&str; 8] =
    ["blkdiscard", "dmsetup", "ksmbd.tools", "lvm", "mdadm", "mkfs.btrfs", "mkfs.ext4", "mkfs.xfs"];

/// Modules of both kernels.
const MODULES: [&str; 27] = [
    "configfs",
    "virtio_pci",
    "virtio_blk",
    "virtio_net",
    "virtio_scsi",
    "sd_mod",
    "dm_mod",
    "dm_crypt",
    "dm_thin_pool",
    "dm_delay",
    "raid0",
    "raid1",
    "xfs",
    "btrfs",
    "virtiofs",
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

/// The daemon of Debian's package qemu-system-common.
const VIRTIOFSD: &str = "/usr/lib/qemu/virtiofsd";

/// The longest step that is not an error: a network file system may wait for ever. A choice has a budget of two
/// minutes, and prepares its targets before.
const STEP: Duration = Duration::from_secs(300);

/// The memory of a guest in MiB.
const MEMORY_MIB: u32 = 1024;

/// The processors of a guest, and those of the guests that try the first storage again.
const PROCESSORS: u32 = 2;
const OTHER_PROCESSORS: [u32; 2] = [1, 4];

/// The kernel and the program of guests.
struct Machine<'a> {
    series: &'a str,
    kernel: &'a Kernel,
    program: &'a Path,
}

/// The hardware in which guests differ.
struct Hardware {
    processors: u32,
    /// More arguments of QEMU.
    arguments: Vec<String>,
}

impl Hardware {
    fn with(processors: u32) -> Hardware {
        Hardware { processors, arguments: Vec::new() }
    }
}

/// Boots a guest with blank disks, and prepares the slower disk of choices.
fn boot(machine: &Machine, hardware: Hardware) -> Result<Guest, String> {
    let backing = blank_disks::files(DISKS.map(|(mib, ..)| mib));
    let disks = backing.iter().zip(DISKS).map(|(file, (_, device, drive))| {
        GuestDisk::on_file(file, device).with_drive(&format!("discard=unmap,detect-zeroes=unmap{drive}"))
    });
    let mut modules: Vec<&str> = MODULES.into();
    if is_since(machine.series, "6.12") {
        modules.push("ahci");
    }
    let plan = Plan {
        tools: TOOLS.into(),
        modules,
        unloaded: vec!["null_blk"],
        files: installed_as("/bin/diskperf", machine.program)?,
        script: concat!(include_str!("../../tests/guests/steps.sh"), include_str!("jobs.sh")).to_owned(),
        disks: disks.collect(),
        arguments: CONTROLLERS.map(str::to_owned).into_iter().chain(hardware.arguments).collect(),
        memory_mib: MEMORY_MIB,
        processors: hardware.processors,
    };
    // QEMU has opened the files when the guest takes commands.
    let mut guest = Guest::boot(machine.kernel, &plan)?;
    step(&mut guest, "slower_up")?;
    Ok(guest)
}

/// The output of a step of the script, which must succeed.
fn step(guest: &mut Guest, command: &str) -> Result<String, String> {
    let ended = guest.run_within(command, STEP)?;
    let is_done = ended.status == Some(0);
    if is_done { Ok(ended.out) } else { Err(format!("{command}: {:?} {} {}", ended.status, ended.out, ended.err)) }
}

/// Runs the commands on a storage. Returns the deviations, each as a sentence.
fn try_storage(guest: &mut Guest, storage: &Storage) -> Result<Vec<String>, String> {
    let name = storage.name;
    // The script prints the name of the device that the document must have, and that of its slow disk.
    let device = step(guest, &format!("{name}_up"))?;
    let mut wrong = Vec::new();
    let mut judge = |guest: &mut Guest, command: &str, deviations: &dyn Fn(&Value) -> Vec<String>| {
        let ended = guest.run_within(command, STEP)?;
        match serde_json::from_str(&ended.out) {
            Ok(document) if ended.status == Some(0) => wrong.extend(deviations(&document)),
            _ => wrong.push(format!("{command}: status {:?}: {} {}", ended.status, ended.out, ended.err)),
        }
        Ok::<(), String>(())
    };
    for (job, is_complete) in JOBS {
        let job = format!("job {name} {job}");
        judge(guest, &job, &|document| deviations(storage, &device, document, is_complete))?;
    }
    if storage.sight != Sight::Memory {
        judge(guest, &format!("records {name}"), &|document| false_records(document).into_iter().collect())?;
    }
    judge(guest, &format!("choice {CHOSEN} {SLOWER}"), &|document| false_choices(storage, document))?;
    if let Some(node) = device.split_whitespace().next().filter(|_| storage.sight == Sight::Counted) {
        let raw = Storage { file_system: None, ..*storage };
        judge(guest, &format!("raw {node}"), &|document| deviations(&raw, &device, document, true))?;
    }
    step(guest, &format!("{name}_down"))?;
    Ok(wrong.into_iter().map(|wrong| format!("{name}: {wrong}")).collect())
}

/// Tries storage in a guest of its own. Returns the deviations.
type Try = fn(&Machine) -> Result<Vec<String>, String>;

/// Tries NFS with a server in another guest.
fn try_remote(machine: &Machine) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let socket = folder.path().join("network").display().to_string();
    let boot_host = |number: usize| {
        let is_server = if number == 0 { "on" } else { "off" };
        let network = [
            "-netdev".to_owned(),
            format!("stream,id=net,server={is_server},addr.type=unix,addr.path={socket}"),
            "-device".to_owned(),
            format!("virtio-net-pci,netdev=net,mac=52:54:00:00:00:0{number}"),
        ];
        boot(machine, Hardware { arguments: network.into(), ..Hardware::with(PROCESSORS) })
    };
    let (mut server, mut client) = (boot_host(0)?, boot_host(1)?);
    step(&mut server, "network_up 10.0.0.1; nfs_serve 10.0.0.2")?;
    step(&mut client, "network_up 10.0.0.2")?;
    try_storage(&mut client, &REMOTE)
}

/// Tries a directory of this machine, which a daemon serves to the guest.
fn try_shared(machine: &Machine) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (socket, shared) = (folder.path().join("socket"), folder.path().join("shared"));
    fs::create_dir(&shared).map_err(|error| error.to_string())?;
    let mut daemon = Command::new(testkit::tool("setpriv").ok_or("setpriv is not installed")?);
    daemon.args(["--pdeathsig", "KILL", "--", VIRTIOFSD, "-f", "-o"]).arg(format!("source={}", shared.display()));
    daemon.arg(format!("--socket-path={}", socket.display())).stdout(Stdio::null());
    let mut daemon = testkit::Running(daemon.spawn().map_err(|error| format!("{VIRTIOFSD}: {error}"))?);
    let began = Instant::now();
    while !socket.exists() {
        if began.elapsed() > STEP || daemon.0.try_wait().is_ok_and(|ended| ended.is_some()) {
            return Err(format!("{VIRTIOFSD} does not start"));
        }
        thread::sleep(Duration::from_millis(100));
    }
    let arguments = [
        // The daemon reads and writes the memory of the guest.
        "-object".to_owned(),
        format!("memory-backend-memfd,id=memory,size={MEMORY_MIB}M,share=on"),
        "-numa".to_owned(),
        "node,memdev=memory".to_owned(),
        "-chardev".to_owned(),
        format!("socket,id=shared,path={}", socket.display()),
        "-device".to_owned(),
        "vhost-user-fs-pci,chardev=shared,tag=shared".to_owned(),
    ];
    let found = boot(machine, Hardware { arguments: arguments.into(), ..Hardware::with(PROCESSORS) })
        .and_then(|mut guest| try_storage(&mut guest, &SHARED));
    drop(daemon);
    // The daemon names this file after its socket. An error means that it wrote none.
    let _ = fs::remove_file(format!("/run/virtiofsd/{}.pid", socket.display().to_string().replace('/', ".")));
    found
}

/// Runs the commands on all storage of a kernel whose name contains one of the words, or on all if there is no word.
/// Prints each deviation, and a line of JSON with the counts.
pub fn run(series: &str, kernel: &Kernel, program: &Path, words: &[String]) {
    let machine = Machine { series, kernel, program };
    let is_chosen = |storage: &&Storage| {
        is_since(series, storage.since) && (words.is_empty() || words.iter().any(|word| storage.name.contains(word)))
    };
    let chosen: Vec<Storage> = STORAGES.iter().filter(is_chosen).map(|storage| storage.on(series)).collect();
    let mut guest = None;
    let (mut storages, mut wrong) = (chosen.len(), 0);
    let mut report = |name: &str, began: Instant, found: Result<Vec<String>, String>| {
        let found = found.unwrap_or_else(|problem| vec![format!("{name}: {problem}")]);
        // `cargo xtask prove` keeps standard output for itself.
        found.iter().for_each(|problem| eprintln!("{series} {problem}"));
        wrong += found.len();
        println!("{series} {name}: {:.0?}", began.elapsed());
    };
    let again = OTHER_PROCESSORS.into_iter().filter_map(|processors| Some((chosen.first()?, processors)));
    let mut processors_now = PROCESSORS;
    for (storage, processors) in chosen.iter().map(|storage| (storage, PROCESSORS)).chain(again) {
        let began = Instant::now();
        guest = guest.filter(|_| processors == processors_now);
        processors_now = processors;
        let guest_now = guest.get_or_insert_with(|| boot(&machine, Hardware::with(processors)).expect("a guest"));
        let found = try_storage(guest_now, storage);
        if found.is_err() {
            // It is not known what is left of the storage.
            guest = None;
        }
        report(&format!("{}, {processors} processors", storage.name), began, found);
    }
    drop(guest);
    let outside: [(Storage, Try); 2] = [(REMOTE, try_remote), (SHARED, try_shared)];
    for (storage, try_it) in outside.into_iter().filter(|(storage, _)| is_chosen(&storage)) {
        storages += 1;
        report(storage.name, Instant::now(), try_it(&machine));
    }
    println!("{}", json!({"elsewhere": "jobs", "kernel": series, "storages": storages, "wrong": wrong}));
}
