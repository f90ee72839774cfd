//! Another thread switches a name between two devices in a tight loop. Every write must go to the device that was
//! checked, and never to the other.
//!
//! 15 tries of each kind; `DISKPERF_RACES` sets another number, 2,000 in `cargo xtask prove races`.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kernel::RawDevice;
use kernel::guard::{GuardFault, Permission, inspect};
use rustix::fs::{CWD, FileType, Mode, RenameFlags};
use testkit::loop_disk::Disk;
use testkit::{need_disk, skip, wait_until};

const MIB: u64 = 1 << 20;

/// Default number of tries. Each needs 0.1 s of CPU time, because it inspects all devices and processes of the machine
/// several times.
const TRIES: u32 = 15;

/// The data that each try destroys: the signatures of a boot sector and of an LVM label.
const PIECES: [(u64, &[u8]); 2] = [(510, &[0x55, 0xAA]), (512, b"LABELONE")];

fn tries() -> u32 {
    std::env::var("DISKPERF_RACES").ok().and_then(|tries| tries.parse().ok()).unwrap_or(TRIES)
}

/// Counts of the tries by their outcome.
#[derive(Debug, Default)]
struct Tally {
    written: u32,
    refused: u32,
    changed: u32,
}

impl Tally {
    /// Prints the line for `cargo xtask prove`, and fails if a try is missing or a byte of the decoy has changed.
    fn judge(&self, race: &str, decoy_bytes: usize) {
        let Tally { written, refused, changed } = self;
        let (tries, refused) = (tries(), refused + changed);
        println!(
            "{{\"race\": \"{race}\", \"tries\": {tries}, \"written\": {written}, \"refused\": {refused}, \
             \"decoy_bytes\": {decoy_bytes}}}"
        );
        assert_eq!(decoy_bytes, 0, "the decoy was written to: {self:?}");
        assert_eq!(written + refused, tries, "{self:?}");
    }
}

/// Stops a thread on drop, also if the test fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Overwrites `disk` repeatedly under a name that another thread switches between it and `decoy`. No byte of the decoy
/// may change.
fn race(what: &str, disk: &Disk, decoy: &Disk, name: &Path, other: &Path) {
    let leave = Permission::Destroy(inspect(disk.node()).expect("a device").identity());
    let before = fs::read(&decoy.file).expect("its bytes");
    // Without a race, the disk is overwritten and the decoy is refused. A guard that refused everything would pass
    // below.
    for _ in 0..2 {
        let leads_to_disk = inspect(name).expect("a device").node() == disk.node();
        let outcome = inspect(name).and_then(|inspected| RawDevice::claim(&inspected, &leave));
        assert_eq!(outcome.is_ok(), leads_to_disk, "{outcome:?}");
        drop(outcome);
        rustix::fs::renameat_with(CWD, name, CWD, other, RenameFlags::EXCHANGE).expect("exchanged");
    }
    let (is_over, has_swapped) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, name, CWD, other, RenameFlags::EXCHANGE).expect("exchanged");
                has_swapped.store(true, Ordering::Relaxed);
            }
        });
        let ending = Ending(&is_over);
        wait_until("the name is switched", || has_swapped.load(Ordering::Relaxed));
        let device = File::options().write(true).open(disk.node()).expect("the device");
        for _ in 0..tries() {
            PIECES.iter().for_each(|(at, piece)| device.write_all_at(piece, *at).expect("written"));
            let outcome = inspect(name).and_then(|inspected| RawDevice::claim(&inspected, &leave));
            match outcome {
                Ok(raw) => {
                    assert_eq!(raw.device().node(), disk.node());
                    tally.written += 1;
                }
                Err(GuardFault::Changed(..)) => tally.changed += 1,
                Err(GuardFault::Refused { .. } | GuardFault::NotConfirmed { .. }) => tally.refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        drop(ending);
        swapper.join().expect("the swapper");
    });
    rustix::fs::sync();
    let after = fs::read(&decoy.file).expect("its bytes");
    assert_eq!(after.len(), before.len());
    tally.judge(what, before.iter().zip(&after).filter(|(before, after)| before != after).count());
}

/// A disk that may be overwritten, and a decoy with data and another size, so that the typed words do not name it.
fn disks() -> (Disk, Disk) {
    let decoy = Disk::holding(6 * MIB, &[PIECES[0], PIECES[1], (3 * MIB, b"precious")]);
    (Disk::holding(4 * MIB, &PIECES), decoy)
}

#[test]
fn a_changing_link_never_leads_to_the_decoy() {
    need_disk!();
    let (disk, decoy) = disks();
    let (name, other) = (disk.folder.path().join("name"), disk.folder.path().join("other"));
    symlink(disk.node(), &name).and_then(|()| symlink(decoy.node(), &other)).expect("links");
    race("link to a device", &disk, &decoy, &name, &other);
}

#[test]
fn a_changing_node_never_leads_to_the_decoy() {
    need_disk!();
    let (disk, decoy) = disks();
    let (name, other) = (disk.folder.path().join("name"), disk.folder.path().join("other"));
    for (path, disk) in [(&name, &disk), (&other, &decoy)] {
        let number = rustix::fs::stat(disk.node()).expect("the device").st_rdev;
        if rustix::fs::mknodat(CWD, path, FileType::BlockDevice, Mode::RUSR | Mode::WUSR, number).is_err() {
            return skip!("no node can be made in the temporary folder");
        }
    }
    if File::open(&name).is_err() {
        return skip!("nodes in the temporary folder are not devices");
    }
    race("device node", &disk, &decoy, &name, &other);
}
