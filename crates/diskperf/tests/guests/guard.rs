//! The guard in guests: partitions, LVM, RAID, encryption, bcache and other stacks of a real kernel.
//!
//! Policy:
//!   1. a stack is built on blank disks, and the bytes of its disks are summed;
//!   2. the program must refuse every device that is in use or holds something, with the reason. A device in use is
//!      named with all consent that a user can give;
//!   3. the bytes of the disks are the same afterwards;
//!   4. the program must write to every free device, without consent.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::guest::{Guest, GuestDisk, Kernel, Plan, installed_as};
use testkit::{need_guest, skip};

use crate::blank_disks::{self, CONTROLLERS};
use crate::situations::STACKS;

/// A stack of devices in a guest.
pub struct Stack {
    /// The name of its functions in `stacks.sh`.
    pub name: &'static str,
    /// The disks whose bytes must stay.
    pub disks: &'static str,
    /// The devices that a user names.
    pub situations: &'static [Situation],
}

/// A device that a user names, and the answer.
pub struct Situation {
    /// The situation in words, as in `docs/safety.md`.
    pub situation: &'static str,
    /// The path of the device. It may be a pattern of the shell.
    pub device: &'static str,
    /// The answer.
    pub answer: Answer,
}

/// The answer of the program.
#[derive(Clone, Copy)]
pub enum Answer {
    /// The device is in use, with these words: refused with any consent.
    Used(&'static str),
    /// The device holds something, with these words: refused without consent.
    Holds(&'static str),
    /// There is no device any more, with these words: a usage error.
    Gone(&'static str),
    /// The device is free: measured without consent.
    Free,
}

/// The environment variable with which `cargo xtask prove elsewhere-guard` asks for all stacks: `1`. A list of names
/// chooses: `lvm,raid`.
const CHOICE: &str = "DISKPERF_ELSEWHERE";

/// The value of [`CHOICE`] that chooses everything.
const EVERYTHING: &str = "1";

/// True if the stack of this name is to be tried: the usual ones, unless the variable chooses.
fn is_chosen(name: &str, usual: &[&str]) -> bool {
    match std::env::var(CHOICE) {
        Ok(choice) => choice == EVERYTHING || choice.split(',').any(|one| one == name),
        Err(_) => usual.contains(&name),
    }
}

/// The stacks that `cargo xtask test` tries on Linux 6.1. With those on 6.12, they have the most situations per second
/// (measured). No device of this one is in use.
const USUAL_ON_6_1: [&str; 1] = ["removed"];

/// The stacks that `cargo xtask test` tries on Linux 6.12.
const USUAL_ON_6_12: [&str; 1] = ["partitions"];

/// Disks of the guest: sizes in MiB, each different so that none is taken for another path to one of the others, and
/// devices as QEMU names them. Freed and zeroed ranges are holes in the files.
const DISKS: [(u64, &str); 7] = [
    (24, "virtio-blk-pci,serial=FIRST"),
    (25, "virtio-blk-pci,serial=SECOND"),
    (26, "nvme-ns,bus=nvme,nsid=1"),
    (27, "nvme-ns,bus=nvme,nsid=2"),
    (28, "scsi-hd,bus=scsi.0,serial=THIRD"),
    (29, "scsi-hd,bus=scsi.0,serial=FOURTH"),
    (30, PATH),
];

/// A path to a disk with two. QEMU gets each path as a disk of its own, on the same file.
const PATH: &str = "scsi-hd,bus=scsi.0,serial=TWICE,wwn=0x5000c500a0b0c0d0,share-rw=on";

const TOOLS: [&str; 13] = [
    "blkdiscard",
    "blockdev",
    "cryptsetup",
    "dmsetup",
    "losetup",
    "lvm",
    "make-bcache",
    "mdadm",
    "mkfs.ext4",
    "nbd-client",
    "nbd-server",
    "sfdisk",
    "udevadm",
];

const MODULES: [&str; 25] = [
    "configfs",
    "loop",
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "sd_mod",
    "dm_mod",
    "dm_crypt",
    "dm_thin_pool",
    "dm_snapshot",
    "dm_delay",
    "dm_multipath",
    "dm_round_robin",
    "raid0",
    "raid1",
    "bcache",
    "lzo_rle",
    "zram",
    "nbd",
    "aesni_intel",
    "xts",
    "sha256_generic",
    "sha1_generic",
    "algif_skcipher",
    "algif_hash",
];

/// The rules by which udev names disks.
const RULES: [&str; 3] = ["50-udev-default.rules", "60-block.rules", "60-persistent-storage.rules"];

/// The longest step that is not an error. The longest stack took 98 s in all, on a busy machine.
const STEP: Duration = Duration::from_secs(90);

/// Boots a guest with blank disks.
fn boot(kernel: &Kernel, program: &Path) -> Result<Guest, String> {
    let rules = testkit::guest::folder().join("root/lib/udev");
    let mut files = installed_as("/bin/diskperf", program)?;
    files.extend(RULES.map(|name| (format!("/lib/udev/rules.d/{name}"), rules.join("rules.d").join(name))));
    files.push(("/lib/udev/scsi_id".to_owned(), rules.join("scsi_id")));
    let backing = blank_disks::files(DISKS.map(|(mib, _)| mib));
    let disk = |file, device| {
        GuestDisk::on_file(file, device).with_drive("discard=unmap,detect-zeroes=unmap,file.locking=off")
    };
    let mut disks: Vec<GuestDisk> = backing.iter().zip(DISKS).map(|(file, (_, device))| disk(file, device)).collect();
    disks.extend(backing.last().map(|file| disk(file, PATH)));
    let plan = Plan {
        tools: TOOLS.into(),
        modules: MODULES.into(),
        unloaded: vec!["scsi_debug", "null_blk"],
        files,
        script: concat!(include_str!("steps.sh"), include_str!("stacks.sh")).to_owned(),
        disks,
        arguments: CONTROLLERS.map(str::to_owned).into(),
        ..Plan::default()
    };
    // QEMU has opened the files when the guest takes commands.
    let mut guest = Guest::boot(kernel, &plan)?;
    let named = guest.run("name_disks")?;
    if named.status == Some(0) { Ok(guest) } else { Err(format!("the disks have no names: {}", named.err)) }
}

/// Tries all situations of a stack. Returns the deviations, each as a sentence.
fn try_stack(guest: &mut Guest, stack: &Stack) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let step = |guest: &mut Guest, command: &str| {
        let ended = guest.run_within(command, STEP)?;
        let is_done = ended.status == Some(0);
        if is_done { Ok(ended.out) } else { Err(format!("{command}: {} {}", ended.out, ended.err)) }
    };
    // 1
    step(guest, &format!("{}_up", stack.name))?;
    let checksums = format!("checksums {}", stack.disks);
    let before = step(guest, &checksums)?;
    // 2
    for Situation { situation, device, answer } in stack.situations {
        let (command, words) = match answer {
            Answer::Used(words) | Answer::Gone(words) => (format!("refused '{device}'"), words),
            Answer::Holds(words) => (format!("diskperf run smoke new:ext4@{device} --rounds 1"), words),
            Answer::Free => continue,
        };
        let status = if matches!(answer, Answer::Gone(_)) { 2 } else { 3 };
        let ended = guest.run_within(&command, STEP)?;
        if ended.status != Some(status) || !ended.err.contains(words) || !ended.err.contains("hint: ") {
            wrong.push(format!("{situation} ({device}): status {:?}, {}", ended.status, ended.err));
        }
    }
    // 3
    let after = step(guest, &checksums)?;
    if before != after {
        wrong.push(format!("{}: bytes have changed\n{before}{after}", stack.name));
    }
    // 4
    for Situation { situation, device, answer } in stack.situations {
        if matches!(answer, Answer::Free) {
            let ended = guest.run_within(&format!("accepted {device}"), STEP)?;
            if ended.status != Some(0) {
                wrong.push(format!("{situation} ({device}): status {:?}, {}", ended.status, ended.err));
            }
        }
    }
    step(guest, &format!("{}_down", stack.name))?;
    Ok(wrong)
}

/// Tries the chosen stacks on a kernel, and prints the line that `cargo xtask prove elsewhere-guard` counts.
fn try_stacks(series: &str, kernel: &Kernel, program: PathBuf, usual: &[&str]) {
    let mut guest = boot(kernel, &program).expect("a guest");
    let mut wrong = Vec::new();
    let mut tried = 0;
    for stack in STACKS.iter().filter(|stack| is_chosen(stack.name, usual)) {
        let began = Instant::now();
        let found = match try_stack(&mut guest, stack) {
            Ok(found) => found,
            Err(problem) => {
                // It is not known what is left of the stack.
                drop(guest);
                guest = boot(kernel, &program).expect("a guest");
                vec![format!("{}: {problem}", stack.name)]
            }
        };
        // The test may be ended before it has tried everything.
        found.iter().for_each(|problem| println!("{problem}"));
        wrong.extend(found);
        tried += stack.situations.len();
        println!("{series} {}: {} situations, {:.0?}", stack.name, stack.situations.len(), began.elapsed());
    }
    println!("{}", json!({"elsewhere": "guard", "kernel": series, "situations": tried, "wrong": wrong.len()}));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn devices_in_use_are_refused_on_linux_6_1() {
    let Some(program) = testkit::dist_program() else { return skip!("{}", testkit::NOTHING_MADE) };
    let kernel = need_guest!("6.1");
    try_stacks("6.1", &kernel, program, &USUAL_ON_6_1);
}

#[test]
fn devices_in_use_are_refused_on_linux_6_12() {
    let Some(program) = testkit::dist_program() else { return skip!("{}", testkit::NOTHING_MADE) };
    let kernel = need_guest!("6.12");
    try_stacks("6.12", &kernel, program, &USUAL_ON_6_12);
}

/// The number of situations that `docs/safety.md` promises.
#[test]
fn there_are_enough_situations() {
    let refused = |stack: &Stack| stack.situations.iter().filter(|one| !matches!(one.answer, Answer::Free)).count();
    assert!(STACKS.iter().map(refused).sum::<usize>() >= 40);
    let is_free = |one: &Situation| matches!(one.answer, Answer::Free);
    assert!(STACKS.iter().flat_map(|stack| stack.situations).filter(|one| is_free(one)).count() >= 9);
}
