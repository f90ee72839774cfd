//! The open files of other processes, and the limits of what /proc shows. Nothing is judged here.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::thread::CapabilitySet;

use crate::observe::mount;
use crate::sys::name::plain_text;

/// The first PID namespace and the first user namespace: PROC_PID_INIT_INO and PROC_USER_INIT_INO of linux/proc_ns.h.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

/// From linux/kcmp.h: compares the descriptor tables of two threads.
const KCMP_FILES: libc::c_int = 2;

/// Another process, and its name in the kernel: the first 15 bytes of the program's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its PID.
    pub pid: i32,
    /// Its name in the kernel (`comm`).
    pub name: String,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, plain_text(&self.name))
    }
}

/// The limits of what /proc shows of other processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// True if this process may not read the open files of other users' processes.
    pub(crate) lacks_rights: bool,
    /// True if /proc hides other users' processes from processes without rights (hidepid).
    pub(crate) leaves_out: bool,
    /// True if /proc shows one PID namespace only, and not the first one, which contains all processes.
    pub(crate) is_of_namespace: bool,
}

impl View {
    pub(crate) fn read(proc: &Path) -> View {
        let namespace = |name: &str| fs::read_link(proc.join(name)).ok();
        let is_first = |name: &str, first: &str| namespace(name).is_some_and(|link| link == Path::new(first));
        let capabilities = rustix::thread::capabilities(None);
        let may_trace = capabilities.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE));
        View {
            // A capability of another user namespace is valid for the processes of that namespace only. A kernel
            // without user namespaces has no link.
            lacks_rights: !may_trace
                || namespace("self/ns/user").is_some_and(|link| link != Path::new(FIRST_USER_NAMESPACE)),
            leaves_out: has_hidepid(proc),
            // A container may have been given the host's /proc, whose process 1 is of the first namespace.
            is_of_namespace: !["self/ns/pid", "1/ns/pid"].iter().any(|name| is_first(name, FIRST_PID_NAMESPACE)),
        }
    }
}

/// Returns true if /proc is mounted with `hidepid`, or if the list of mounts cannot be read.
fn has_hidepid(proc: &Path) -> bool {
    let lines = mount::mount_lines(&proc.join("thread-self")).ok();
    let Some(mounts) = lines.and_then(|lines| mount::mounts_in(&lines)) else { return true };
    // The last of several mounts at one place is the visible one.
    let mount = mounts.into_iter().rfind(|mount| mount.fs_type == "proc" && proc == mount.mount_point);
    let option = mount.and_then(|mount| mount.super_options.get("hidepid").cloned());
    option.is_some_and(|value| !matches!(value.as_deref(), Some("0" | "off")))
}

/// Returns the PID of this process in `proc`.
pub(crate) fn own(proc: &Path) -> Option<i32> {
    fs::read_link(proc.join("self")).ok()?.to_str()?.parse().ok()
}

/// Returns the PIDs of all processes that `proc` shows, except this one.
pub(crate) fn others(proc: &Path) -> Vec<i32> {
    let own = own(proc);
    numbers(proc).unwrap_or_default().into_iter().filter(|pid| Some(*pid) != own).collect()
}

/// A file descriptor of a process.
#[derive(Debug)]
pub(crate) struct Descriptor {
    /// The link to the open file, `fd/N`.
    pub(crate) link: PathBuf,
    /// The file with its open flags, `fdinfo/N`.
    pub(crate) info: PathBuf,
}

/// The file descriptors of a process.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    pub(crate) all: Vec<Descriptor>,
    /// True if the process may have more.
    pub(crate) is_hidden: bool,
}

/// Returns the descriptors of a process and of its threads. Threads that share the process's table are skipped, because
/// a process may have thousands. If the kernel cannot compare tables, none is skipped.
pub(crate) fn descriptors(proc: &Path, pid: i32) -> Descriptors {
    let process = proc.join(pid.to_string());
    let mut found = Descriptors::default();
    found.add(&process);
    match numbers(&process.join("task")) {
        Ok(threads) => {
            for thread in threads.into_iter().filter(|thread| *thread != pid && !share_descriptors(pid, *thread)) {
                found.add(&process.join("task").join(thread.to_string()));
            }
        }
        Err(error) => found.is_hidden |= !is_gone(&error),
    }
    found
}

impl Descriptors {
    /// Adds the descriptors of one thread.
    fn add(&mut self, thread: &Path) {
        let mut names = || {
            for entry in fs::read_dir(thread.join("fd"))? {
                let name = entry?.file_name();
                self.all
                    .push(Descriptor { link: thread.join("fd").join(&name), info: thread.join("fdinfo").join(&name) });
            }
            Ok(())
        };
        let names: io::Result<()> = names();
        self.is_hidden |= names.is_err_and(|error| !is_gone(&error));
    }
}

/// Returns true if a process, a thread or a descriptor has ended since. Every other error may hide something.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Returns true if both threads share one descriptor table. False also if the kernel cannot compare them.
fn share_descriptors(one: i32, other: i32) -> bool {
    // SAFETY: the call takes numbers only.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0 }
}

/// Returns the names in a folder that are numbers.
fn numbers(folder: &Path) -> io::Result<Vec<i32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The view of a /proc in which this process and process 1 are in these namespaces, with these lines of mounts.
    fn view(own: &str, first: &str, mounts: &str) -> View {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let proc = folder.path();
        for (process, namespace) in [("self", own), ("1", first)] {
            fs::create_dir_all(proc.join(process).join("ns")).expect("folders");
            symlink(namespace, proc.join(process).join("ns/pid")).expect("a link");
        }
        symlink(FIRST_USER_NAMESPACE, proc.join("self/ns/user")).expect("a link");
        fs::create_dir_all(proc.join("thread-self")).expect("a folder");
        let mounts = mounts.replace("PROC", proc.to_str().expect("a plain path"));
        fs::write(proc.join("thread-self/mountinfo"), mounts).expect("lines");
        View::read(proc)
    }

    #[test]
    fn proc_of_a_pid_namespace_shows_only_some_processes() {
        let other = "pid:[4026532201]";
        for (own, first, is_of_namespace) in [
            (FIRST_PID_NAMESPACE, FIRST_PID_NAMESPACE, false),
            (other, other, true),
            // The host's /proc in a container; and a container's /proc without this process.
            (other, FIRST_PID_NAMESPACE, false),
            ("gone", other, true),
        ] {
            assert_eq!(view(own, first, "").is_of_namespace, is_of_namespace, "{own} {first}");
        }
    }

    #[test]
    fn hidepid_is_read_from_the_last_mount_of_proc() {
        let line = |options: &str| format!("2 1 0:21 / PROC rw - proc proc rw{options}\n");
        for (options, leaves_out) in [
            (vec![""], false),
            (vec![",hidepid=invisible"], true),
            (vec![",gid=4,hidepid=2"], true),
            (vec![",hidepid=ptraceable"], true),
            (vec![",hidepid=off"], false),
            (vec![",hidepid=2", ""], false),
            (vec!["", ",hidepid=1"], true),
        ] {
            let lines: String = options.iter().map(|options| line(options)).collect();
            assert_eq!(view(FIRST_PID_NAMESPACE, FIRST_PID_NAMESPACE, &lines).leaves_out, leaves_out, "{lines}");
        }
        assert!(view(FIRST_PID_NAMESPACE, FIRST_PID_NAMESPACE, "a line of a kernel to come\n").leaves_out);
    }

    #[test]
    fn threads_share_descriptors_unless_they_unshare_them() {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let thread = || rustix::thread::gettid().as_raw_nonzero().get();
        let shared = std::thread::spawn(move || share_descriptors(pid, thread())).join().expect("an answer");
        let own = std::thread::spawn(move || {
            // SAFETY: every descriptor stays open in this thread, and the thread closes none of the others.
            unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) }.expect("a table");
            share_descriptors(pid, thread())
        });
        assert!(!own.join().expect("an answer"));
        if !shared {
            testkit::skip!("the kernel does not compare tables of descriptors");
        }
    }
}
