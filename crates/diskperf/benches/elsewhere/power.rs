//! A real power cut: the guest is killed while `verify PATH --write` runs, and its disk loses what was not flushed.
//!
//! Policy:
//!   1. the disk is a file that this process serves, with a write cache (`testkit::write_cache`). QEMU writes to it at
//!      once, and passes each flush of the guest on;
//!   2. the log of the promised records leaves the guest through its third serial line;
//!   3. the guest is killed after a random number of records and a random time. Of each sector that was not flushed,
//!      the disk then has no new version, a random one, or the last;
//!   4. the next guest mounts the disk, checks every record of the log, and becomes the next one that is killed;
//!   5. with barriers no promised record may be lost. Without them (`barrier=0`) the file system flushes nothing, and
//!      losses must be found: otherwise the test proves nothing.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kernel::PrivateMounts;
use serde_json::{Value, json};
use testkit::fuse::{Knobs, OneFile};
use testkit::guest::{Guest, GuestDisk, Kernel, Plan, SILENCE, installed_as, unnamed};
use testkit::write_cache::{Fate, Moment, WriteCache};
use units::Prng;

/// Bytes of the disk: an ext4 with a small journal, and room for the records.
const DISK: u64 = (96 << 20) + testkit::fuse::APART;

/// Cuts with each setting of the file system.
const CUTS: u32 = 30;

/// The most records before a cut: a second of writing in a guest. Guess.
const RECORDS: u64 = 150;

/// The longest time after that number of records, in milliseconds: several transactions of the file system. Guess.
const LATER_MS: u64 = 300;

/// The counts of all cuts with one setting.
#[derive(Debug, Default)]
struct Tally {
    cuts: u32,
    promised: u64,
    lost: u64,
    /// Cuts after which the file system could not be mounted.
    ruined: u32,
}

/// A computer whose disk loses what was not flushed.
struct Computer<'a> {
    kernel: &'a Kernel,
    program: &'a Path,
    disk: &'a OneFile,
    random: Prng,
}

impl Computer<'_> {
    /// Boots the guest, with the log of its previous boot.
    fn boot(&self, log: &str) -> Guest {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("log");
        fs::write(&path, log).expect("the log");
        let mut files = installed_as("/bin/diskperf", self.program).expect("the program");
        files.push(("/log".to_owned(), path));
        let plan = Plan {
            tools: vec!["mkfs.ext4"],
            modules: vec!["virtio_pci", "virtio_blk"],
            files,
            // 1
            disks: vec![GuestDisk::on_path(&self.disk.file(), "virtio-blk-pci").with_drive("file.locking=off")],
            ..Plan::default()
        };
        Guest::boot(self.kernel, &plan).expect("a guest")
    }

    /// Makes a file system, writes records and kills the guest. Returns the log.
    fn live(&mut self, mut guest: Guest, options: &str) -> String {
        let made = guest
            .run(&format!(
                "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 -J size=4 /dev/vda && sync && \
                 mount -t ext4 -o {options} /dev/vda /mnt"
            ))
            .expect("a guest that lives");
        assert_eq!(made.status, Some(0), "{}", made.err);
        guest.start("diskperf verify /mnt --write > /dev/ttyS2").expect("a guest that lives");
        let records = 1 + self.random.below(RECORDS) as usize;
        let began = Instant::now();
        while guest.journal().lines().count() <= records {
            assert!(began.elapsed() < SILENCE, "no records: {} {}", guest.journal(), guest.log());
            thread::sleep(Duration::from_millis(5));
        }
        // 3
        thread::sleep(Duration::from_millis(self.random.below(LATER_MS)));
        let log = guest.cut();
        self.disk.cut().expect("the disk below takes what lasts");
        // 2. The terminal of the guest may add carriage returns.
        log.replace('\r', "")
    }

    /// Looks for the records of the log.
    fn check(&self, guest: &mut Guest, tally: &mut Tally) {
        let checked = guest
            .run(
                "mount -t ext4 /dev/vda /mnt && diskperf verify /mnt --check /log --lost-folder --json; status=$?
                 umount /mnt; exit $status",
            )
            .expect("a guest that lives");
        tally.cuts += 1;
        let Ok(found) = serde_json::from_str::<Value>(&checked.out) else {
            tally.ruined += 1;
            return;
        };
        let kinds = found["cuts"][0]["kinds"].as_array().cloned().unwrap_or_default();
        let sum = |key: &str| kinds.iter().filter_map(|kind| kind[key].as_u64()).sum::<u64>();
        let lost = sum("missing") + sum("torn") + sum("stale");
        tally.promised += sum("acknowledged");
        tally.lost += lost;
        let expected = if lost > 0 { 5 } else { 0 };
        assert_eq!(checked.status, Some(expected), "{}{}", checked.out, checked.err);
    }
}

/// The version of each unflushed sector that lasts (3).
fn fate(cut: u32, mut random: Prng) -> Fate {
    match cut % 3 {
        0 => Box::new(|_| 0),
        1 => Box::new(move |versions| random.below(versions as u64) as usize),
        _ => Box::new(move |versions| if random.below(16) == 0 { 0 } else { versions - 1 }),
    }
}

/// Cuts the power of guests. Prints a line of JSON for each setting of the file system. Changes the mounts of this
/// process.
pub fn run(kernel: &Kernel, program: &Path) {
    PrivateMounts::enter().expect("mounts of our own");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let below = unnamed().expect("a file");
    below.set_len(DISK).expect("a size");
    let disk = OneFile::mount(folder.path(), below, Knobs::default()).expect("a mount");
    let mut computer = Computer { kernel, program, disk: &disk, random: Prng::new(u64::from(CUTS)) };
    let put = |computer: &mut Computer, cut: u32| {
        disk.put(WriteCache::new(Moment::NEVER, fate(cut, Prng::new(computer.random.next_u64()))));
    };
    put(&mut computer, 0);
    let mut guest = computer.boot("");
    let settings = ["barrier=1", "barrier=0"];
    let mut tallies = [Tally::default(), Tally::default()];
    for (options, tally) in settings.into_iter().zip(&mut tallies) {
        for cut in 0..CUTS {
            let log = computer.live(guest, options);
            put(&mut computer, cut + 1);
            // 4
            guest = computer.boot(&log);
            computer.check(&mut guest, tally);
        }
        let Tally { cuts, promised, lost, ruined } = *tally;
        println!(
            "{}",
            json!({"elsewhere": "power", "options": options, "cuts": cuts, "promised": promised, "lost": lost,
                   "ruined": ruined})
        );
    }
}
