//! The processes that have devices open for writing, and the files behind loop devices: none of them may be overwritten.
//! What is found is told, not judged.
//!
//! Not seen: descriptors that are registered with an io_uring or on their way through a socket, mappings whose
//! descriptor was closed, threads with a table of descriptors of their own, and processes of other PID namespaces that
//! /proc does not show.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use procfs::process::Process;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use super::decide::Program;
use super::machine::Number;
use crate::bounded;
use crate::loops::Backing;
use crate::stack::folders;

/// Who writes, and how many processes could not be asked.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    pub(crate) open: Vec<Writer>,
    /// Processes that do not show their open files.
    pub(crate) hidden: Vec<Program>,
    /// Whether that is for want of rights. Some hide themselves from the administrator too (a security module, a sandbox).
    pub(crate) lacks_rights: bool,
}

/// A process that has a device open for writing, or the file behind a loop device.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) program: Program,
    pub(crate) what: Backing,
}

/// From linux/sched.h: a thread of the kernel, which has no open files.
const PF_KTHREAD: u32 = 0x0020_0000;

/// Looks through all open files of all processes but this one and those that it has started. `files` are those that are
/// looked for besides devices.
pub(crate) fn writers(proc: &Path, files: &[Backing]) -> Writers {
    let may_see =
        rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE));
    let mut found = Writers { lacks_rights: !may_see, ..Writers::default() };
    let own = fs::read_link(proc.join("self")).ok().and_then(|own| own.to_str()?.parse().ok());
    let pids = folders(proc).into_iter().filter_map(|folder| folder.file_name()?.to_str()?.parse::<i32>().ok());
    for pid in pids.filter(|pid| Some(*pid) != own) {
        let folder = proc.join(pid.to_string());
        let program = || {
            let name = bounded::of_the_kernel(folder.join("comm")).unwrap_or_default().trim().to_owned();
            Program { pid, name }
        };
        let opened = match fs::read_dir(folder.join("fd")) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let is_hidden = may_have_files(pid) && !is_started_by(own, pid);
                found.hidden.extend(is_hidden.then(program));
                continue;
            }
            // It has ended meanwhile.
            Err(_) => continue,
        };
        let names = opened.flatten().map(|entry| entry.file_name());
        let mut written: Vec<Backing> = Vec::new();
        let mut is_hidden = false;
        for name in names {
            match what_is(&folder.join("fd").join(&name), files) {
                Ok(Some(what)) if !written.contains(&what) && is_for_writing(&folder.join("fdinfo").join(&name)) => {
                    written.push(what);
                }
                // The server of a FUSE file may refuse others; the link itself shows who refuses.
                Err(Errno::ACCESS | Errno::PERM) => {
                    let link = fs::read_link(folder.join("fd").join(&name));
                    is_hidden |= link.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
                }
                // It is closed meanwhile, or of no interest.
                _ => {}
            }
        }
        if (is_hidden || !written.is_empty()) && is_started_by(own, pid) {
            continue;
        }
        found.hidden.extend(is_hidden.then(program));
        found.open.extend(written.into_iter().map(|what| Writer { program: program(), what }));
    }
    found
}

/// The device that is open there, or which of the files. The server of a file on a network is not asked: it may be gone.
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

/// Whether the descriptor is open for writing: O_WRONLY or O_RDWR in the octal flags of its fdinfo (proc(5)).
fn is_for_writing(fdinfo: &Path) -> bool {
    let text = bounded::of_the_kernel(fdinfo).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i64::from_str_radix(flags.trim(), 8).ok()).unwrap_or(0);
    flags & i64::from(libc::O_ACCMODE) != 0
}

/// Whether the process is one with open files: neither of the kernel nor ended.
fn may_have_files(pid: i32) -> bool {
    let stat = Process::new(pid).and_then(|process| process.stat());
    stat.is_ok_and(|stat| stat.flags & PF_KTHREAD == 0 && !['Z', 'X'].contains(&stat.state))
}

/// Whether `own` has started the process, or one of those that it has started did.
fn is_started_by(own: Option<i32>, pid: i32) -> bool {
    let mut known = BTreeSet::new();
    let mut pid = pid;
    // Numbers of processes are used again, so the line may lead in a circle.
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
    /// Whether it has the device of this number open.
    pub(crate) fn has(&self, number: Number) -> bool {
        self.what == Backing::Device(number)
    }
}
