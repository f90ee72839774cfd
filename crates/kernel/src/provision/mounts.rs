//! Mounts that only this process sees, and that end with it.
//!
//! The parent folder of the mount points must not be an ordinary folder. That would outlive a `kill -9`, and a thread
//! that does not see the mount would write into it. So a small tmpfs covers [`GROUND`]. Every Linux has this folder;
//! it is empty, never written to, and cannot contain a target of the user.

use std::cell::Cell;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags,
};
use rustix::thread::UnshareFlags;

use super::image_fault::ImageFault;
use crate::guard::Cleared;
use crate::sys::name::original;
use crate::sys::rights::may_administer;

/// The folder that the tmpfs covers.
const GROUND: &str = "/proc/driver";

/// Longest wait for another process to release a mount. A child process holds all our open files until it runs its
/// own program, including those that we close meanwhile. Guess; this takes about a millisecond.
const PATIENCE: Duration = Duration::from_millis(500);

/// Options of mount(8) that are attributes of the mount; all others are passed to the file system.
const ATTRIBUTES: [(&str, MountAttrFlags); 7] = [
    ("noatime", MountAttrFlags::MOUNT_ATTR_NOATIME),
    ("strictatime", MountAttrFlags::MOUNT_ATTR_STRICTATIME),
    ("relatime", MountAttrFlags::MOUNT_ATTR_RELATIME),
    ("nodiratime", MountAttrFlags::MOUNT_ATTR_NODIRATIME),
    ("nosuid", MountAttrFlags::MOUNT_ATTR_NOSUID),
    ("nodev", MountAttrFlags::MOUNT_ATTR_NODEV),
    ("noexec", MountAttrFlags::MOUNT_ATTR_NOEXEC),
];

thread_local! {
    static ENTERED: Cell<bool> = const { Cell::new(false) };
}

/// Proof that the calling thread has its own mount namespace. Threads that it starts from now on share it. Older
/// threads do not, and do not see its folders. So a program enters on its first thread, before it starts any other.
#[derive(Clone, Debug)]
pub struct PrivateMounts(());

impl PrivateMounts {
    /// Moves the calling thread into its own mount namespace. Mounts made inside are not visible outside. Outside
    /// mounts stay visible. If one is shared (systemd makes all mounts shared), unmounting it outside unmounts it here
    /// too. A private one stays mounted here, so its file system stays in use until this process ends. This cannot be
    /// undone.
    pub fn enter() -> Result<PrivateMounts, ImageFault> {
        if !ENTERED.get() {
            if !may_administer() {
                return Err(ImageFault::NoRights { is_root: rustix::process::geteuid().is_root() });
            }
            let confined = |action| move |errno: Errno| ImageFault::Confined { action, source: errno.into() };
            // The mount call since Linux 5.2; some sandboxes refuse it and allow the older call.
            rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(confined("prepare a mount"))?;
            // SAFETY: of the resources that can be unshared, only the shared descriptor table is a danger to memory
            // safety; it stays shared.
            unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
                .map_err(confined("create a private mount namespace"))?;
            // Downstream propagation instead of private: a private copy would also keep shared mounts of the machine
            // busy.
            let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
            rustix::mount::mount_change("/", downstream).map_err(confined("change the mount propagation of /"))?;
            // If another diskperf started this process, its tmpfs is already there and may hold the target of this
            // process.
            if !is_tmpfs(GROUND).map_err(confined("inspect /proc/driver"))? {
                let options: &CStr = c"size=1m,mode=0700";
                rustix::mount::mount("diskperf", GROUND, "tmpfs", MountFlags::empty(), options)
                    .map_err(confined("mount a tmpfs"))?;
            }
            ENTERED.set(true);
        }
        Ok(PrivateMounts(()))
    }

    /// Creates a folder to mount on.
    pub(crate) fn folder(&self) -> io::Result<PathBuf> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(GROUND).join(format!("{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(folder)
    }

    /// Mounts the device on one of our folders. A busy device is tried again for a while: another program that attaches
    /// a file to a free loop device may reserve a device for a moment that was free when it looked.
    pub(crate) fn mount(
        &self,
        cleared: &Cleared,
        file_system: &str,
        options: &[String],
        folder: &Path,
    ) -> Result<Mounted, NotMounted> {
        let began = Instant::now();
        loop {
            match attempt(cleared, file_system, options, folder) {
                Err(NotMounted { errno: Errno::BUSY, .. }) if began.elapsed() < PATIENCE => {
                    thread::sleep(PATIENCE / 100);
                }
                outcome => return outcome.map(|()| Mounted { folder: folder.to_owned(), is_mounted: true }),
            }
        }
    }
}

/// Tries once to mount the device. After a failure, the kernel refuses all further calls for the same context.
fn attempt(cleared: &Cleared, file_system: &str, options: &[String], folder: &Path) -> Result<(), NotMounted> {
    let context = rustix::mount::fsopen(file_system, FsOpenFlags::FSOPEN_CLOEXEC)?;
    let mount = || {
        let mut attributes = MountAttrFlags::empty();
        rustix::mount::fsconfig_set_string(context.as_fd(), "source", cleared.node())?;
        for option in options {
            match (ATTRIBUTES.iter().find(|(name, _)| name == option), option.split_once('=')) {
                (Some((_, attribute)), _) => attributes |= *attribute,
                (None, Some((key, value))) => {
                    rustix::mount::fsconfig_set_string(context.as_fd(), key, original(value))?;
                }
                (None, None) => rustix::mount::fsconfig_set_flag(context.as_fd(), option.as_str())?,
            }
        }
        rustix::mount::fsconfig_create(context.as_fd())?;
        let mount = rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        rustix::mount::move_mount(mount, c"", CWD, folder, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    };
    mount().map_err(|errno| NotMounted { errno, words: words(&context) })
}

fn is_tmpfs(path: &str) -> Result<bool, Errno> {
    Ok(rustix::fs::statfs(path)?.f_type == libc::TMPFS_MAGIC)
}

/// True if the kernel supports the file system. Loads its module if there is one.
pub(crate) fn knows(file_system: &str) -> bool {
    rustix::mount::fsopen(file_system, FsOpenFlags::FSOPEN_CLOEXEC).err() != Some(Errno::NODEV)
}

/// The reason why a mount failed.
#[derive(Debug)]
pub(crate) struct NotMounted {
    pub(crate) errno: Errno,
    /// The file system's message, if it gave one.
    pub(crate) words: Option<String>,
}

impl From<Errno> for NotMounted {
    fn from(errno: Errno) -> NotMounted {
        NotMounted { errno, words: None }
    }
}

/// Reads the messages of the file system during setup: one per read, each starting with a letter for its kind.
fn words(context: &OwnedFd) -> Option<String> {
    let mut messages = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = rustix::io::read(context, &mut buffer) {
        let message = units::name::text(&buffer[..length]);
        messages.push(message.trim_start_matches(['e', 'w', 'i']).trim().to_owned());
    }
    (!messages.is_empty()).then(|| messages.join("; "))
}

/// A mounted file system; unmounted when this is dropped.
#[derive(Debug)]
pub(crate) struct Mounted {
    folder: PathBuf,
    is_mounted: bool,
}

impl Mounted {
    /// Unmounts the file system. Fails while a file in it is open.
    pub(crate) fn unmount(&mut self) -> Result<(), Errno> {
        let began = Instant::now();
        loop {
            match rustix::mount::unmount(&self.folder, UnmountFlags::empty()) {
                Err(Errno::BUSY) if began.elapsed() < PATIENCE => thread::sleep(PATIENCE / 100),
                outcome => {
                    self.is_mounted = outcome.is_err();
                    return outcome;
                }
            }
        }
    }
}

/// Removes the mount at once, and the file system as soon as no file in it is open any more.
impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_mounted {
            // The error is ignored: the namespace ends with the process.
            let _ = rustix::mount::unmount(&self.folder, UnmountFlags::DETACH);
        }
    }
}
