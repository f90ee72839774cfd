//! Paths by which bytes enter or leave this machine and that neither its disks nor its networks count: folders of the
//! host (9p, virtiofs), sockets between a virtual machine and its host (vsock), and persistent memory that programs map
//! (DAX). A FUSE server may use any of them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io};

use rustix::io::Errno;

use super::Source;
use crate::observe::mount::mounts_in;

/// True if the machine may have such a path.
pub(super) fn exist(source: &Source) -> bool {
    let mounts = source.text("proc/self/mountinfo");
    let has_vsock = source.text("proc/net/protocols").is_none_or(|text| text.contains("AF_VSOCK"));
    mounts.is_none_or(|lines| are_mounted(&lines))
        || has_vsock && !matches!(vsock_is_used(&source.inside(Path::new("/proc"))), Ok(false))
}

/// True if a line of the mount table shows such a file system, or if a line cannot be parsed.
fn are_mounted(lines: &str) -> bool {
    let Some(mounts) = mounts_in(lines) else { return true };
    mounts.iter().any(|mount| {
        let is_of_host = matches!(mount.fs_type.as_str(), "9p" | "virtiofs");
        let is_memory = mount.mount_source.as_deref().is_some_and(|node| node.starts_with("/dev/pmem"));
        let dax = mount.super_options.get("dax").or(mount.mount_options.get("dax"));
        is_of_host || is_memory || dax.is_some_and(|value| value.as_deref() != Some("never"))
    })
}

/// The extended attribute of a socket that names its protocol (net/socket.c).
const PROTOCOL: &str = "system.sockprotoname";

/// True if a process has a vsock socket. An error if the descriptors of a process cannot be read.
fn vsock_is_used(proc: &Path) -> io::Result<bool> {
    for process in fs::read_dir(proc)?.flatten() {
        if !process.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let files = match fs::read_dir(process.path().join("fd")) {
            // The process has ended.
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::SRCH)) => continue,
            files => files?,
        };
        if files.flatten().any(|file| is_vsock(&file.path())) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a descriptor under /proc is a vsock socket.
fn is_vsock(descriptor: &Path) -> bool {
    let is_socket = fs::read_link(descriptor).is_ok_and(|link| link.as_os_str().as_bytes().starts_with(b"socket:"));
    let mut name = [0_u8; 64];
    let length = if is_socket { rustix::fs::getxattr(descriptor, PROTOCOL, &mut name) } else { Ok(0) };
    length.is_ok_and(|length| name[..length].starts_with(b"AF_VSOCK"))
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use super::super::tests::recorded;
    use super::*;

    #[test]
    fn folders_of_the_host_and_mapped_memory_are_not_counted() {
        let line =
            |source: &str, kind: &str, options: &str| format!("36 35 0:98 / /mnt rw - {kind} {source} {options}\n");
        let plain = line("/dev/vda", "ext4", "rw");
        assert!(!are_mounted(&plain));
        for (source, kind, options) in [
            ("share", "9p", "rw,trans=virtio"),
            ("share", "virtiofs", "rw"),
            ("/dev/pmem0", "ext4", "rw"),
            ("/dev/vdb", "xfs", "rw,dax=always"),
            ("/dev/vdb", "ext4", "rw,dax"),
        ] {
            assert!(are_mounted(&(plain.clone() + &line(source, kind, options))), "{kind} {options}");
        }
        assert!(!are_mounted(&line("/dev/vdb", "xfs", "rw,dax=never")));
        assert!(are_mounted("not a mount table"));
    }

    #[test]
    fn vsock_counts_only_if_the_machine_has_it() {
        let mounts = ("proc/self/mountinfo", "36 35 0:98 / /mnt rw - ext4 /dev/vda rw\n");
        assert!(!exist(&recorded(&[mounts, ("proc/net/protocols", "protocol size\nTCP 2432\n")]).source));
        assert!(!exist(&recorded(&[mounts, ("proc/net/protocols", "AF_VSOCK 1240\n")]).source), "no process uses it");
        let hidden = ("proc/7/fd", "its descriptors cannot be listed");
        assert!(exist(&recorded(&[mounts, hidden, ("proc/net/protocols", "AF_VSOCK 1240\n")]).source));
        assert!(exist(&recorded(&[("proc/net/protocols", "TCP 2432\n")]).source), "unknown mounts");
    }

    #[test]
    fn a_vsock_socket_is_seen() {
        // SAFETY: creates a descriptor, and touches no memory.
        let socket = unsafe { libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return testkit::skip!("no vsock");
        }
        // SAFETY: the descriptor is new, and belongs to nothing else.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let other = fs::File::open("/proc/self/stat").expect("a file");
        let of = |descriptor: &dyn AsRawFd| is_vsock(Path::new(&format!("/proc/self/fd/{}", descriptor.as_raw_fd())));
        assert!(of(&socket) && !of(&other));
        let (stream, _) = std::os::unix::net::UnixStream::pair().expect("sockets");
        assert!(!of(&stream));
    }
}
