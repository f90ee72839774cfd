//! The processes that have devices, or the files behind loop devices, open for writing. These devices must not be
//! overwritten. The findings are reported, not judged.
//!
//! Not seen: descriptors that are registered with an io_uring or in flight through a socket, mappings whose descriptor
//! was closed, other ways to a disk (/dev/sg*, /dev/ng*, /dev/bsg/*), and processes that /proc does not show. Targets
//! in the kernel (LIO, nvmet, Xen) are not processes: `exports.rs` finds their devices.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use procfs::ProcError;
use procfs::process::Process;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use rustix::io::Errno;

use super::open_files::{self, Descriptors, Program, View};
use crate::observe::block_device::Number;
use crate::provision::loop_device::Backing;
use crate::sys::read_limited;

/// The processes that write, and those that diskperf cannot see.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    pub(crate) open: Vec<Writer>,
    /// Processes that hide some of their open files. Some hide them even from root (a security module, a sandbox).
    pub(crate) hidden: Vec<Program>,
    /// The limits of what /proc shows of other processes.
    pub(crate) view: View,
}

/// A process that has a device, or the file behind a loop device, open for writing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) program: Program,
    pub(crate) what: Backing,
}

/// From linux/sched.h: a thread of the kernel, which has no open files.
const PF_KTHREAD: u32 = 0x0020_0000;

/// Searches the open files of all processes, except this one and its descendants. Besides devices, it looks for
/// `files`.
pub(crate) fn writers(proc: &Path, files: &[Backing]) -> Writers {
    let own = open_files::own(proc);
    let mut found = Writers { view: View::read(proc), ..Writers::default() };
    for pid in open_files::others(proc) {
        let descriptors = open_files::descriptors(proc, pid);
        let (written, is_partly_hidden) = written(&descriptors, files);
        let is_hidden = is_partly_hidden || descriptors.is_hidden && may_have_files(pid);
        if !is_hidden && written.is_empty() || is_started_by(own, pid) {
            continue;
        }
        let name = read_limited::of_the_kernel(proc.join(pid.to_string()).join("comm")).unwrap_or_default();
        let program = Program { pid, name: name.trim().to_owned() };
        found.hidden.extend(is_hidden.then(|| program.clone()));
        found.open.extend(written.into_iter().map(|what| Writer { program: program.clone(), what }));
    }
    found
}

/// Returns the devices and files that a process has open for writing, each once, and true if a descriptor hides its
/// file.
fn written(descriptors: &Descriptors, files: &[Backing]) -> (Vec<Backing>, bool) {
    let mut written: Vec<Backing> = Vec::new();
    let mut is_hidden = false;
    for descriptor in &descriptors.all {
        match what_is(&descriptor.link, files) {
            Ok(Some(what)) if !written.contains(&what) => match is_for_writing(&descriptor.info) {
                Ok(true) => written.push(what),
                Ok(false) => {}
                Err(error) => is_hidden |= !open_files::is_gone(&error),
            },
            // The server of a FUSE file may refuse access. The link itself shows whether the process or the server
            // refused.
            Err(Errno::ACCESS | Errno::PERM) => {
                let link = fs::read_link(&descriptor.link);
                is_hidden |= link.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
            }
            // The file was closed since, or is neither a device nor one of the files.
            _ => {}
        }
    }
    (written, is_hidden)
}

/// Returns the device, or one of `files`, that is open there. Does not ask the server of a network file, which may be
/// gone.
fn what_is(opened: &Path, files: &[Backing]) -> Result<Option<Backing>, Errno> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let stat = rustix::fs::statx(CWD, opened, AtFlags::STATX_DONT_SYNC, wanted)?;
    Ok(match FileType::from_raw_mode(stat.stx_mode.into()) {
        FileType::BlockDevice => Some(Backing::Device((stat.stx_rdev_major, stat.stx_rdev_minor))),
        FileType::RegularFile => {
            let device = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
            let file = Backing::File { device, inode: stat.stx_ino };
            files.contains(&file).then_some(file)
        }
        _ => None,
    })
}

/// Returns true if the descriptor is open for writing: O_WRONLY or O_RDWR in the octal flags of its fdinfo (proc(5)).
fn is_for_writing(fdinfo: &Path) -> io::Result<bool> {
    let text = read_limited::of_the_kernel(fdinfo)?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i64::from_str_radix(flags.trim(), 8).ok());
    let flags = flags.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "fdinfo has no flags"))?;
    Ok(flags & i64::from(libc::O_ACCMODE) != 0)
}

/// Returns true if the process may have open files: it is not a kernel thread, and has not ended.
fn may_have_files(pid: i32) -> bool {
    match Process::new(pid).and_then(|process| process.stat()) {
        Ok(stat) => stat.flags & PF_KTHREAD == 0 && !['Z', 'X'].contains(&stat.state),
        // With hidepid, the processes of other users are not found.
        Err(ProcError::NotFound(_)) => false,
        Err(ProcError::Io(error, _)) => !open_files::is_gone(&error),
        Err(_) => true,
    }
}

/// Returns true if the process is a descendant of `own`.
fn is_started_by(own: Option<i32>, pid: i32) -> bool {
    let mut known = BTreeSet::new();
    let mut pid = pid;
    // PIDs are reused, so the chain of parents may be a circle.
    while pid > 1 && known.insert(pid) {
        let Ok(stat) = Process::new(pid).and_then(|process| process.stat()) else { return false };
        if Some(stat.ppid) == own {
            return true;
        }
        pid = stat.ppid;
    }
    false
}

impl Writer {
    /// Returns true if it has the device of this number open.
    pub(crate) fn has(&self, number: Number) -> bool {
        self.what == Backing::Device(number)
    }
}
