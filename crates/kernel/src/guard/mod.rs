//! The guard. Whatever makes a file system, mounts a device or writes to one takes a [`Cleared`], and only this
//! module makes one. No other function of the program takes a device by its path to write to it.
//!
//! ```text
//!   inspect(path) ── what it is (signatures), what its machine does with it (machine) ──> Inspected
//!   reasons (decide) ── all that forbids to overwrite it, each with a hint; pure
//!   Cleared::over(inspected, leave) ── held exclusively, looked at again, read (blank) ──> leave to write
//! ```
//!
//! What is in use is never overwritten. What only holds something is, where a person says so ([`Leave`]) and names
//! the device by what is printed on it. A device of which no person has said so must be blank: every byte of it is zero.

mod blank;
mod cleared;
mod decide;
mod fault;
mod file;
mod file_systems;
mod machine;
pub(crate) mod processes;
mod signatures;
mod unseen;
mod uuid;
mod writers;

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, Mode, OFlags};
use rustix::io::Errno;
use units::Bytes;

pub use blank::Watch;
pub use cleared::Cleared;
pub(crate) use cleared::DISCARDED_AT_A_TIME;
#[cfg(test)]
pub(crate) use decide::tests::fuzzed_reasons;
pub use decide::{Kinship, Program, Reason, Relative, Use};
pub use fault::GuardFault;
pub use file::{Found, Given, Refusal, judge, may_show_file};
pub use signatures::Signature;
pub(crate) use signatures::are_same;
pub use uuid::Uuid;

use crate::devices::Device;
use crate::loops::backing_at;
use crate::name::Shown;
use crate::place;
use decide::Seen;
use machine::{Machine, Number};
use signatures::OfFile;

// From linux/fs.h.
const BLKROGET: libc::c_ulong = 0x125E;
const BLKRRPART: libc::c_ulong = 0x125F;
const BLKDISCARD: libc::c_ulong = 0x1277;
const BLKGETSIZE64: libc::c_ulong = 0x8008_1272;
const BLKGETDISKSEQ: libc::c_ulong = 0x8008_1280;

/// What a person says about a device that holds something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Leave {
    /// Nothing: what it holds stays.
    #[default]
    None,
    /// What it holds may go, if the device is what was typed: [`Inspected::identity`].
    Destroy(String),
    /// The file system of this number may go, if the device holds it and nothing else: a process of ours made it, chose
    /// the number and noted it.
    Made(Uuid),
}

/// A device that was looked at. Nothing was written to it.
#[derive(Clone, Debug)]
pub struct Inspected {
    path: PathBuf,
    device: Device,
    number: Number,
    /// Counted up whenever another disk takes the place of this one; nothing before Linux 5.15.
    sequence: Option<u64>,
    bytes: u64,
    model: Option<String>,
    serial: Option<String>,
    reasons: Vec<Reason>,
    /// Processes that may have it open for writing without showing it.
    hidden: Vec<Program>,
    /// Whether only the processes of one PID namespace were seen.
    is_in_namespace: bool,
}

/// Looks at what lies at the path, which must be a block device, and at what this machine does with it.
pub fn inspect(path: &Path) -> Result<Inspected, GuardFault> {
    let unreadable = |source| GuardFault::Unreadable { device: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(GuardFault::Missing(path.to_owned())),
        metadata => metadata.map_err(unreadable)?,
    };
    // Asked before opening: a pipe would wait, a tape would rewind.
    let Some(device) = place::numbered(metadata.rdev()).filter(|_| metadata.file_type().is_block_device()) else {
        return Err(GuardFault::NotADevice(path.to_owned()));
    };
    match open(path, OFlags::RDONLY) {
        Ok(file) => look(path, &file, false),
        Err(source) => Err(in_use(device, metadata.rdev()).unwrap_or_else(|| unreadable(source))),
    }
}

/// How often it is looked again where something cannot be seen, and how long after: to attach a loop device takes a few
/// milliseconds.
const LOOKS: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(20);

/// Why a device must not be overwritten that cannot even be opened, where its use tells.
fn in_use(device: Device, number: u64) -> Option<GuardFault> {
    let number = (rustix::fs::major(number), rustix::fs::minor(number));
    let reasons = decide::reasons(&Seen { number, ..Seen::default() }, &Machine::this());
    // What cannot be seen is for want of the same rights.
    let is_unseen = |reason: &Reason| {
        use Reason::{HiddenProcesses, LeftOutProcesses, MayShow, Unseen, UnseenFile};
        matches!(reason, Unseen | HiddenProcesses(_) | LeftOutProcesses | MayShow { .. } | UnseenFile { .. })
    };
    if reasons.iter().all(|reason| reason.can_be_lifted() || is_unseen(reason)) {
        return None;
    }
    let (bytes, model, serial) = (device.bytes().unwrap_or(0), device.model(), device.serial());
    let path = device.node();
    let (sequence, hidden, is_in_namespace) = (None, Vec::new(), false);
    let inspected =
        Inspected { path, device, number, sequence, bytes, model, serial, reasons, hidden, is_in_namespace };
    inspected.check(&Leave::None).err()
}

/// What tells the disk behind a name from another that gets the same name later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiskMark {
    pub(crate) bytes: u64,
    /// The kernel's number of the disk: another one after every hot-plug. None before Linux 5.15.
    pub(crate) sequence: Option<u64>,
    /// The disk's unique name, or its model and serial number.
    pub(crate) identity: Option<String>,
}

impl Inspected {
    /// What tells this disk from another of the same name.
    pub(crate) fn mark(&self) -> DiskMark {
        DiskMark { bytes: self.bytes, sequence: self.sequence, identity: self.device.identity() }
    }

    /// Its path under /dev, whatever it was called by.
    pub fn node(&self) -> PathBuf {
        self.device.node()
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All that forbids to overwrite it.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// Processes that do not show, not even to the administrator, whether they have it open for writing.
    pub fn hidden(&self) -> &[Program] {
        &self.hidden
    }

    /// Whether only the processes of one PID namespace were seen, as in a container. A program outside of it may have the
    /// device open for writing.
    pub fn is_in_namespace(&self) -> bool {
        self.is_in_namespace
    }

    /// Whether nothing forbids it that a person cannot lift, and something does that a person can.
    pub fn asks(&self) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(Reason::can_be_lifted)
    }

    /// Whether nothing forbids it but that it holds the file system of this number.
    pub fn holds_only(&self, uuid: Uuid) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(|reason| is_of(reason, uuid))
    }

    /// Whether it holds the file system of this number, whatever else forbids it.
    pub fn holds(&self, uuid: Uuid) -> bool {
        self.reasons.iter().any(|reason| is_of(reason, uuid))
    }

    /// Whether it holds something of a known format, or partitions: more than data that a run of ours may have left.
    pub fn holds_known(&self) -> bool {
        self.reasons.iter().any(Reason::is_known_content)
    }

    /// What a person types to say that this device is meant: its model and serial number; its size too where there is
    /// no serial number or that is its disk's, since others have the same words.
    pub fn identity(&self) -> String {
        let size = self.is_told_by_size().then(|| Bytes(self.bytes).to_string());
        [self.printed(), size.unwrap_or_default()].join(" ").trim().to_owned()
    }

    /// What [`Inspected::identity`] is.
    pub fn identity_is(&self) -> &'static str {
        match (&self.model, &self.serial, self.is_told_by_size()) {
            (Some(_), Some(_), true) => "model, serial number and size",
            (Some(_), Some(_), false) => "model and serial number",
            (Some(_), None, _) => "model and size",
            (None, Some(_), true) => "serial number and size",
            (None, Some(_), false) => "serial number",
            (None, None, _) => "size",
        }
    }

    fn is_told_by_size(&self) -> bool {
        self.serial.is_none() || self.device.is_partition()
    }

    /// The words that are printed on it.
    fn printed(&self) -> String {
        let words: Vec<&str> = self.model.iter().chain(&self.serial).map(String::as_str).collect();
        words.join(" ")
    }

    /// Its path and what it is, for a person to recognise: `/dev/sdb (Samsung SSD 860, S3Z9NB0K, 465.76 GiB)`.
    pub fn described(&self) -> String {
        let size = Bytes(self.bytes).to_string();
        let words: Vec<&str> = self.model.iter().chain(&self.serial).map(String::as_str).chain([&*size]).collect();
        format!("{} ({})", self.node().shown(), words.join(", "))
    }

    /// Whether it may be overwritten: nothing that can be seen forbids it, or only what the leave lifts. A leave is for what
    /// it names, also if the device seems to hold nothing: it spares reading all of it.
    pub fn check(&self, leave: &Leave) -> Result<(), GuardFault> {
        let is_free = self.reasons.is_empty();
        match leave {
            Leave::None if is_free => Ok(()),
            Leave::Destroy(typed) if is_free || self.asks() => self.confirm(typed),
            Leave::Made(uuid) if self.holds_only(*uuid) => Ok(()),
            Leave::Made(_) if is_free => {
                Err(GuardFault::Changed(self.node(), "it does not hold the file system that was made on it"))
            }
            _ => {
                let (device, reasons) = (self.described(), self.reasons.clone());
                Err(GuardFault::Refused { device, reasons, identity: self.identity() })
            }
        }
    }

    /// Whether what was typed names this device.
    pub fn confirm(&self, typed: &str) -> Result<(), GuardFault> {
        let typed_words = typed.split_whitespace().collect::<Vec<_>>().join(" ");
        let rest = typed_words.strip_prefix(&self.printed());
        let is_it = if self.is_told_by_size() {
            rest.is_some_and(|size| decide::is_size(size.trim(), self.bytes))
        } else {
            rest == Some("")
        };
        if is_it {
            return Ok(());
        }
        let (device, what) = (self.described(), self.identity_is());
        Err(GuardFault::NotConfirmed { device, typed: typed.to_owned(), what })
    }
}

/// Whether the reason is the file system of this number.
pub(crate) fn is_of(reason: &Reason, uuid: Uuid) -> bool {
    matches!(reason, Reason::Holds(signature) if signature.uuid == Some(uuid.0))
}

/// The names of loop devices that show this file: writing to it would change them.
pub fn shown_by(file: &Path) -> Vec<String> {
    backing_at(file).map(|wanted| file::devices_showing(&wanted)).unwrap_or_default()
}

/// Looks at an open device. `is_ours` says that we have it exclusively; else that is tried where nothing else
/// forbids to overwrite it.
fn look(path: &Path, file: &File, is_ours: bool) -> Result<Inspected, GuardFault> {
    let unreadable = |source| GuardFault::Unreadable { device: path.to_owned(), source };
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.file_type().is_block_device() {
        return Err(GuardFault::NotADevice(path.to_owned()));
    }
    let number = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
    let device = Device::numbered(number.0, number.1)
        .ok_or_else(|| unreadable(io::Error::new(ErrorKind::NotFound, "/sys does not show it")))?;
    let bytes = ask(file, BLKGETSIZE64).map_err(unreadable)?;
    if is_ours {
        forget(file).map_err(unreadable)?;
    }
    let mut seen = Seen {
        number,
        // The kernel writes an int, the lower half of what is read.
        read_only: ask(file, BLKROGET).map_err(unreadable)? != 0,
        is_claimed: is_ours.then_some(false),
        signatures: found(file, bytes).map_err(unreadable)?,
    };
    let mut machine = Machine::this();
    let mut reasons = decide::reasons(&seen, &machine);
    // Another device that is just being attached or detached lies on nothing that can be told, for a moment. A program that
    // only looks may have a device open for as long.
    for _ in 0..LOOKS {
        if !reasons.iter().any(Reason::may_pass) {
            break;
        }
        thread::sleep(BETWEEN);
        machine = Machine::this();
        reasons = decide::reasons(&seen, &machine);
    }
    if !is_ours && reasons.iter().all(Reason::can_be_lifted) {
        seen.is_claimed = Some(match again(file, OFlags::RDONLY | OFlags::EXCL) {
            Ok(_) => false,
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => true,
            Err(source) => return Err(unreadable(source)),
        });
        reasons = decide::reasons(&seen, &machine);
    }
    let (model, serial) = (device.model(), device.serial());
    let sequence = sequence(file);
    let (path, is_in_namespace) = (path.to_owned(), machine.writers.view.is_of_namespace);
    let hidden = machine.writers.hidden;
    Ok(Inspected { path, device, number, sequence, bytes, model, serial, reasons, hidden, is_in_namespace })
}

/// What the device shows of what it holds: known formats, and data where a few samples are taken. Nothing found proves
/// nothing.
fn found(file: &File, bytes: u64) -> io::Result<Vec<Signature>> {
    let device = OfFile(file, bytes);
    match signatures::find(&device)? {
        found if found.is_empty() => Ok(signatures::sample(&device)?.into_iter().collect()),
        found => Ok(found),
    }
}

/// Opens what exists; never creates, never waits.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty()).map_err(|errno: Errno| io::Error::from(errno))?.into())
}

/// Opens once more what is open already, whatever its name leads to meanwhile.
fn again(file: &File, flags: OFlags) -> io::Result<File> {
    open(&place::through(file), flags)
}

/// Has the page cache forget what it knows of a device, so that the device itself is read: another machine, or
/// whoever is below, may have changed it.
fn forget(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Has the kernel read the partition table again, which is gone: what it knew of partitions goes too.
fn forget_partitions(file: &File) -> io::Result<()> {
    // SAFETY: this request takes no argument.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), BLKRRPART as _) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has a device forget so many bytes from there on.
fn discard(file: &File, at: u64, length: u64) -> io::Result<()> {
    let range = [at, length];
    // SAFETY: the kernel reads two numbers of 64 bits, which live until the call returns.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn sequence(file: &File) -> Option<u64> {
    ask(file, BLKGETDISKSEQ).ok()
}

/// Asks a device for a number.
fn ask(file: &File, request: libc::c_ulong) -> io::Result<u64> {
    let mut answer = 0_u64;
    // SAFETY: each of these requests writes at most eight bytes, which are exclusively ours.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), request as _, &raw mut answer) };
    if done == 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Recorded;

    const MIB: u64 = 1 << 20;

    fn inspected(device: Device, bytes: u64) -> Inspected {
        let (path, model, serial) = (device.node(), device.model(), device.serial());
        Inspected {
            path,
            device,
            number: (8, 0),
            sequence: None,
            bytes,
            model,
            serial,
            reasons: Vec::new(),
            hidden: Vec::new(),
            is_in_namespace: false,
        }
    }

    #[test]
    fn the_size_is_said_too_where_other_devices_have_the_same_words() {
        let recorded = Recorded::new();
        let model = ("device/model", "WDC WD40\n");
        let disk = inspected(recorded.add("pci/sda", "8:0", &[model, ("device/serial", "WX12\n")]), 64 * MIB);
        let partition = inspected(recorded.add("pci/sda/sda1", "8:1", &[("partition", "1\n")]), 48 * MIB);
        let without_serial = inspected(recorded.add("pci/sdb", "8:16", &[model]), 64 * MIB);
        let plain = inspected(recorded.add("virtual/loop0", "7:0", &[]), 64 * MIB);
        for (device, identity, what) in [
            (&disk, "WDC WD40 WX12", "model and serial number"),
            (&partition, "WDC WD40 WX12 48 MiB", "model, serial number and size"),
            (&without_serial, "WDC WD40 64 MiB", "model and size"),
            (&plain, "64 MiB", "size"),
        ] {
            assert_eq!((device.identity().as_str(), device.identity_is()), (identity, what));
            let confirmed: Vec<bool> =
                [&disk, &partition, &without_serial, &plain].map(|other| other.confirm(identity).is_ok()).into();
            assert_eq!(confirmed.iter().filter(|is_it| **is_it).count(), 1, "{identity}");
            assert!(device.confirm(&format!(" {} ", identity.replace(' ', "  "))).is_ok());
        }
        assert!(partition.confirm("WDC WD40 WX12 48MiB").is_ok());
        for typed in ["", "WDC WD40", "WDC WD40 WX1", "WDC WD40 WX12 64 MiB", "48 MiB"] {
            assert!(partition.confirm(typed).is_err() && disk.confirm(typed).is_err(), "{typed}");
        }
    }
}
