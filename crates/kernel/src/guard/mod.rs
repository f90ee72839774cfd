//! The guard against overwriting data. Every function that makes a file system, mounts a device or writes to one takes
//! a [`Cleared`], and only this module makes one. No other function of the program takes a device by its path to write
//! to it.
//!
//! ```text
//!   inspect(path) ── its content (signatures), its use on this machine (device_uses) ──> Inspected
//!   reasons (decide) ── all reasons not to overwrite it, each with a hint; pure
//!   Cleared::acquire(inspected, permission) ── held exclusively, inspected again, read (blank_check) ──> permission
//! ```
//!
//! A device in use is never overwritten. A device that holds data is overwritten only with your permission
//! ([`Permission`]), which names the device by its model, serial number and size. Any other device must be blank: every
//! byte is zero.

mod ambiguous_files;
mod backing_file;
mod blank_check;
mod cleared;
mod decide;
mod device_uses;
mod exports;
mod fault;
pub(crate) mod open_files;
mod reason;
mod signatures;
pub(crate) mod trusted_file_systems;
mod user_file;
mod uuid;
mod write_detection;
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

pub use blank_check::Watch;
pub use cleared::Cleared;
pub(crate) use cleared::DISCARDED_AT_A_TIME;
#[cfg(test)]
pub(crate) use decide::tests::fuzzed_reasons;
pub use exports::Exporter;
pub use fault::GuardFault;
pub use open_files::Program;
pub use reason::{Kinship, Reason, Relative, Use, hints};
pub use signatures::Signature;
pub(crate) use signatures::are_same;
pub use user_file::{Found, Given, Refusal, judge, may_show_file};
pub use uuid::Uuid;

use crate::observe::block_device::{Device, Number};
use crate::observe::mount;
use crate::provision::loop_device::backing_at;
use crate::sys::name::Shown;
use decide::DeviceFacts;
use device_uses::Machine;
use signatures::OfFile;

// From linux/fs.h.
const BLKROGET: libc::c_ulong = 0x125E;
const BLKRRPART: libc::c_ulong = 0x125F;
const BLKDISCARD: libc::c_ulong = 0x1277;
const BLKGETSIZE64: libc::c_ulong = 0x8008_1272;
const BLKGETDISKSEQ: libc::c_ulong = 0x8008_1280;

/// Your permission to overwrite a device that holds data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// No permission: its data stay.
    #[default]
    None,
    /// Its data may be destroyed, if this is its [`Inspected::identity`].
    Destroy(String),
    /// The file system with this UUID may be destroyed, if the device holds nothing else. A diskperf process made it,
    /// chose the UUID and noted it.
    Made(Uuid),
}

/// The findings about a device. Nothing was written to it.
#[derive(Clone, Debug)]
pub struct Inspected {
    path: PathBuf,
    device: Device,
    number: Number,
    /// The kernel's disk sequence number, which changes with each hot-plug; `None` before Linux 5.15.
    sequence: Option<u64>,
    bytes: u64,
    model: Option<String>,
    serial: Option<String>,
    reasons: Vec<Reason>,
    /// Processes that may have it open for writing, but hide their open files.
    hidden: Vec<Program>,
    /// True if only the processes of one PID namespace were seen.
    is_in_namespace: bool,
}

/// Inspects the block device at the path, and its use on this machine.
pub fn inspect(path: &Path) -> Result<Inspected, GuardFault> {
    let unreadable = |source| GuardFault::Unreadable { device: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(GuardFault::Missing(path.to_owned())),
        metadata => metadata.map_err(unreadable)?,
    };
    // The type is checked before opening: opening a pipe would block, opening a tape would rewind it.
    if !metadata.file_type().is_block_device() {
        return Err(GuardFault::NotADevice(path.to_owned()));
    }
    match open(path, OFlags::RDONLY) {
        Ok(file) => inspect_open(path, &file, false),
        Err(source) => Err(match mount::numbered(metadata.rdev()) {
            Some(device) => in_use(device, metadata.rdev()).unwrap_or_else(|| unreadable(source)),
            None if matches!(source.raw_os_error(), Some(libc::ENXIO | libc::ENODEV)) => {
                GuardFault::Missing(path.to_owned())
            }
            None => unreadable(source),
        }),
    }
}

/// Number of further inspections if a reason may pass, and the time between them: attaching a loop device takes a few
/// milliseconds.
const LOOKS: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(20);

/// Number of further exclusive opens of a device that another program holds, a second in total: udev and other diskperf
/// processes hold a device only for a moment, to look at it.
const LOOKS_AT_CLAIM: u32 = 50;

/// Returns the reasons against a device that cannot be opened, if its use is known.
fn in_use(device: Device, number: u64) -> Option<GuardFault> {
    let number = (rustix::fs::major(number), rustix::fs::minor(number));
    let reasons = decide::reasons(&DeviceFacts { number, ..DeviceFacts::default() }, &Machine::this());
    // A user who lacks the right to open the device cannot see these either.
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
    inspected.check(&Permission::None).err()
}

/// Identifies the disk behind a name, so that another disk with the same name later is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiskMark {
    pub(crate) bytes: u64,
    /// The kernel's disk sequence number, which changes with each hot-plug; `None` before Linux 5.15.
    pub(crate) sequence: Option<u64>,
    /// The disk's unique name, or its model and serial number.
    pub(crate) identity: Option<String>,
}

impl Inspected {
    /// Returns the mark of this disk.
    pub(crate) fn mark(&self) -> DiskMark {
        DiskMark { bytes: self.bytes, sequence: self.sequence, identity: self.device.identity() }
    }

    /// Returns its path under /dev.
    pub fn node(&self) -> PathBuf {
        self.device.node()
    }

    /// Returns the device, for its counters and attributes.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns all reasons not to overwrite it.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// Returns the processes that may have it open for writing, but hide their open files even from root.
    pub fn hidden(&self) -> &[Program] {
        &self.hidden
    }

    /// Returns true if only the processes of one PID namespace were seen, as in a container. A program outside of it
    /// may have the device open for writing.
    pub fn is_in_namespace(&self) -> bool {
        self.is_in_namespace
    }

    /// Returns true if there are reasons not to overwrite it, and `--destroy-data` overrides all of them.
    pub fn needs_permission(&self) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(Reason::can_be_lifted)
    }

    /// Returns true if the only reason is the file system with this UUID.
    pub fn holds_only(&self, uuid: Uuid) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(|reason| is_of(reason, uuid))
    }

    /// Returns true if the file system with this UUID is one of the reasons.
    pub fn holds(&self, uuid: Uuid) -> bool {
        self.reasons.iter().any(|reason| is_of(reason, uuid))
    }

    /// Returns true if it holds a known format, or partitions: more than data that a run of ours may have left.
    pub fn holds_known(&self) -> bool {
        self.reasons.iter().any(Reason::is_known_content)
    }

    /// Returns true if it holds no known format, no partitions, and no data at its beginning, as after erasing it.
    pub fn is_erased(&self) -> bool {
        let is_at_beginning = |reason: &Reason| matches!(reason, Reason::Holds(signature) if signature.at == 0);
        !self.holds_known() && !self.reasons.iter().any(is_at_beginning)
    }

    /// Returns the words that name this device: its model and serial number. The size is added if it has no serial
    /// number or is a partition, because other devices may have the same words.
    pub fn identity(&self) -> String {
        let size = self.is_told_by_size().then(|| Bytes(self.bytes).to_string());
        [self.printed(), size.unwrap_or_default()].join(" ").trim().to_owned()
    }

    /// Describes what the words of [`Inspected::identity`] are.
    pub fn identity_kind(&self) -> &'static str {
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

    /// Returns the model and serial number, which are printed on the disk.
    fn printed(&self) -> String {
        let words: Vec<&str> = self.model.iter().chain(&self.serial).map(String::as_str).collect();
        words.join(" ")
    }

    /// Returns its path and description: `/dev/sdb (Samsung SSD 860, S3Z9NB0K, 465.76 GiB)`.
    pub fn described(&self) -> String {
        let size = Bytes(self.bytes).to_string();
        let words: Vec<&str> = self.model.iter().chain(&self.serial).map(String::as_str).chain([&*size]).collect();
        format!("{} ({})", self.node().shown(), words.join(", "))
    }

    /// Checks that it may be overwritten: there is no reason against it, or `permission` overrides all reasons.
    /// `permission` must name the device even if the device seems to hold nothing, because it then is not read.
    pub fn check(&self, permission: &Permission) -> Result<(), GuardFault> {
        let is_free = self.reasons.is_empty();
        match permission {
            Permission::None if is_free => Ok(()),
            Permission::Destroy(typed) if is_free || self.needs_permission() => self.confirm(typed),
            Permission::Made(uuid) if self.holds_only(*uuid) => Ok(()),
            Permission::Made(_) if is_free => {
                Err(GuardFault::Changed(self.node(), "it no longer holds the file system that diskperf made"))
            }
            _ => {
                let (device, reasons) = (self.described(), self.reasons.clone());
                Err(GuardFault::Refused { device, reasons, identity: self.identity() })
            }
        }
    }

    /// Checks that the typed words name this device.
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
        let (device, what) = (self.described(), self.identity_kind());
        Err(GuardFault::NotConfirmed { device, typed: typed.to_owned(), what })
    }
}

/// Returns true if the reason is the file system with this UUID.
pub(crate) fn is_of(reason: &Reason, uuid: Uuid) -> bool {
    matches!(reason, Reason::Holds(signature) if signature.uuid == Some(uuid.0))
}

/// Returns the names of the loop devices that show this file: writing to it would change them.
pub fn shown_by(file: &Path) -> Vec<String> {
    backing_at(file).map(|wanted| user_file::devices_showing(&wanted)).unwrap_or_default()
}

/// Inspects an open device. `is_ours` says that this process has it open exclusively. If not, and if there is no other
/// reason not to overwrite it, tries to open it exclusively, and the device behind a loop device.
fn inspect_open(path: &Path, file: &File, is_ours: bool) -> Result<Inspected, GuardFault> {
    let unreadable = |source| GuardFault::Unreadable { device: path.to_owned(), source };
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.file_type().is_block_device() {
        return Err(GuardFault::NotADevice(path.to_owned()));
    }
    let number = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
    let device = Device::numbered(number.0, number.1)
        .ok_or_else(|| unreadable(io::Error::new(ErrorKind::NotFound, "it is not in /sys")))?;
    let bytes = ask(file, BLKGETSIZE64).map_err(unreadable)?;
    if is_ours {
        forget(file).map_err(unreadable)?;
    }
    let mut facts = DeviceFacts {
        number,
        // The kernel writes an int into the lower half of the number.
        read_only: ask(file, BLKROGET).map_err(unreadable)? != 0,
        is_claimed: is_ours.then_some(false),
        signatures: found(file, bytes).map_err(unreadable)?,
    };
    let mut machine = Machine::this();
    let mut reasons = decide::reasons(&facts, &machine);
    // While a loop device is being attached or detached, its backing is unknown for a moment. A program may also open a
    // device only briefly, to read it.
    for _ in 0..LOOKS {
        if !reasons.iter().any(Reason::may_pass) {
            break;
        }
        thread::sleep(BETWEEN);
        machine = Machine::this();
        reasons = decide::reasons(&facts, &machine);
    }
    if !is_ours && reasons.iter().all(Reason::can_be_lifted) {
        let exclusively = OFlags::RDONLY | OFlags::EXCL;
        let is_claimed = |machine: &Machine| -> Result<bool, GuardFault> {
            let behind = decide::devices_behind(number, machine).into_iter();
            let opened = behind.map(|behind| open(&node_of(behind)?, exclusively));
            let opened = opened.chain([reopen(file, exclusively)]);
            let claims = opened.map(|opened| match opened {
                Ok(_) => Ok(false),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(true),
                Err(source) => Err(unreadable(source)),
            });
            Ok(claims.collect::<Result<Vec<bool>, GuardFault>>()?.contains(&true))
        };
        let mut looks = 0;
        facts.is_claimed = Some(loop {
            if !is_claimed(&machine)? {
                break false;
            }
            if looks == LOOKS_AT_CLAIM {
                break true;
            }
            thread::sleep(BETWEEN);
            looks += 1;
        });
        if looks > 0 {
            // The program may have mounted it since.
            machine = Machine::this();
        }
        reasons = decide::reasons(&facts, &machine);
    }
    let (model, serial) = (device.model(), device.serial());
    let sequence = sequence(file);
    let (path, is_in_namespace) = (path.to_owned(), machine.writers.view.is_of_namespace);
    let hidden = machine.writers.hidden;
    Ok(Inspected { path, device, number, sequence, bytes, model, serial, reasons, hidden, is_in_namespace })
}

/// Returns the path of a device under /dev. Fails if that name belongs to another device.
fn node_of(number: Number) -> io::Result<PathBuf> {
    let node = Device::numbered(number.0, number.1).map(|device| device.node());
    let node = node.filter(|node| mount::block_number(node) == Some(number));
    node.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "a device behind it is not in /dev"))
}

/// Finds the known formats on a device, or else data in a few samples. Finding none proves nothing.
fn found(file: &File, bytes: u64) -> io::Result<Vec<Signature>> {
    let device = OfFile(file, bytes);
    match signatures::find(&device)? {
        found if found.is_empty() => Ok(signatures::sample(&device)?.into_iter().collect()),
        found => Ok(found),
    }
}

/// Opens an existing file. Never creates one, never blocks.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty()).map_err(|errno: Errno| io::Error::from(errno))?.into())
}

/// Opens an open file again, even if its name leads to another file now.
fn reopen(file: &File, flags: OFlags) -> io::Result<File> {
    open(&mount::through(file), flags)
}

/// Drops the page cache of a device, so that reads reach the device itself: another machine, or a device below, may
/// have changed it.
fn forget(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Makes the kernel read the partition table again. The table is erased, so the kernel removes the partitions.
fn forget_partitions(file: &File) -> io::Result<()> {
    // SAFETY: this request takes no argument.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), BLKRRPART as _) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Discards `length` bytes at `at`.
fn discard(file: &File, at: u64, length: u64) -> io::Result<()> {
    let range = [at, length];
    // SAFETY: the kernel reads two numbers of 64 bits, which live until the call returns.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn sequence(file: &File) -> Option<u64> {
    ask(file, BLKGETDISKSEQ).ok()
}

/// Reads a number from a device with this ioctl request.
fn ask(file: &File, request: libc::c_ulong) -> io::Result<u64> {
    let mut answer = 0_u64;
    // SAFETY: each of these requests writes at most eight bytes, which are exclusively ours.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), request as _, &raw mut answer) };
    if done == 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

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
    fn the_identity_includes_the_size_if_it_is_ambiguous() {
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
            assert_eq!((device.identity().as_str(), device.identity_kind()), (identity, what));
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
