//! Looks for files that diskperf did not make in a file system that a killed process left. A user may have mounted it
//! and copied files to it since.
//!
//! The device must not change, so it is mounted read-only and its journal is not replayed. Limit: if the device failed
//! or was pulled out while it was mounted, files whose names are only in the journal are not seen.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;

use rustix::io::Errno;

use crate::guard::{Cleared, GuardFault};
use crate::provision::image_fault::ImageFault;
use crate::provision::mounts::{NotMounted, PrivateMounts};
use crate::provision::workspace;

/// The folder of ext2, ext3, ext4 and others for files that a check found. mkfs makes it, and it is empty.
const FOUND: &str = "lost+found";

/// The file that mkfs.nilfs2 makes for its cleaner.
const OF_NILFS: &str = ".nilfs";

/// Mount options by which a file system writes nothing to its device, and shows its own root folder
/// (Documentation/filesystems and Documentation/admin-guide of Linux; btrfs(5)). A damaged ext4 must not stop the
/// machine.
fn options(file_system: &str) -> &'static [&'static str] {
    match file_system {
        "ext2" => &["ro", "errors=continue"],
        "ext3" | "ext4" => &["ro", "noload", "errors=continue"],
        "btrfs" => &["ro", "rescue=nologreplay", "subvolid=5"],
        "xfs" | "f2fs" | "nilfs2" => &["ro", "norecovery"],
        _ => &["ro"],
    }
}

/// True if the file system on the device has files of others. False if mkfs was killed before it was whole
/// (`is_unfinished`). Fails if it cannot be mounted otherwise, or if another program writes to the device meanwhile.
pub(super) fn exist(cleared: &mut Cleared, file_system: &str, is_unfinished: bool) -> Result<bool, ImageFault> {
    // In a thread of its own, because its mount namespace ends with it.
    let look =
        |cleared: &Cleared| thread::scope(|scope| scope.spawn(|| look(cleared, file_system, is_unfinished)).join());
    let failed = io::Error::other("the attempt failed");
    cleared.lend(look)?.unwrap_or_else(|_| Err(unseen(cleared, failed)))
}

fn look(cleared: &Cleared, file_system: &str, is_unfinished: bool) -> Result<bool, ImageFault> {
    let mounts = PrivateMounts::enter()?;
    let folder = mounts.folder().map_err(|source| ImageFault::Confined { action: "create a folder", source })?;
    let options: Vec<String> = options(file_system).iter().map(|&option| option.to_owned()).collect();
    let mut mounted = match mounts.mount(cleared, file_system, &options, &folder) {
        Ok(mounted) => mounted,
        Err(NotMounted { errno, .. }) if is_unfinished && is_of_unfinished(errno) => return Ok(false),
        Err(NotMounted { errno, .. }) => return Err(unseen(cleared, errno.into())),
    };
    if !cleared.contains(&folder) {
        let why = "the mounted file system is on another device";
        return Err(GuardFault::Changed(cleared.node(), why).into());
    }
    let found = has_others(&folder).map_err(|source| unseen(cleared, source));
    mounted.unmount().map_err(|errno| unseen(cleared, errno.into()))?;
    found
}

/// True for the errors of a mount that finds no whole file system: no superblock, wrong checksums or structures, or an
/// unused root inode (fs/ext4, fs/xfs, fs/btrfs and fs/f2fs of Linux). Others, such as EIO and EBUSY, say nothing about
/// the files.
fn is_of_unfinished(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::UCLEAN | Errno::BADMSG | Errno::STALE)
}

fn has_others(root: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(root)? {
        if !is_ours(&entry?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True for a private folder of diskperf, and for an entry that mkfs makes.
fn is_ours(entry: &DirEntry) -> io::Result<bool> {
    let (name, is_folder) = (entry.file_name(), entry.file_type()?.is_dir());
    if is_folder && name == FOUND {
        return Ok(fs::read_dir(entry.path())?.next().is_none());
    }
    let is_private = |name: &OsStr| name.as_bytes().starts_with(workspace::PREFIX.as_bytes());
    Ok(if is_folder { is_private(&name) } else { name == OF_NILFS })
}

fn unseen(cleared: &Cleared, source: io::Error) -> ImageFault {
    GuardFault::Failed { action: "look at the files on", device: cleared.node(), source }.into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use testkit::loop_disk::{Disk, Mounted};
    use testkit::{need_disk, run_tool, run_tool_when_free};

    use super::*;
    use crate::guard::{Permission, inspect};

    #[test]
    fn only_damage_means_that_mkfs_never_finished() {
        assert!([Errno::INVAL, Errno::UCLEAN, Errno::BADMSG, Errno::STALE].into_iter().all(is_of_unfinished));
        let others = [Errno::IO, Errno::BUSY, Errno::PERM, Errno::ACCESS, Errno::NOMEM, Errno::NODEV, Errno::NXIO];
        assert!(!others.into_iter().any(is_of_unfinished));
    }

    /// The checksum of the disk's bytes, by a tool, because tests are not optimised.
    fn checksum(disk: &Disk) -> String {
        run_tool("cksum", &[disk.file.to_str().expect("a plain path")]).out
    }

    #[test]
    fn files_of_others_are_found_without_changing_the_device() {
        for (file_system, mib) in [("ext2", 16), ("ext4", 16), ("xfs", 320), ("btrfs", 128)] {
            let (tool, force) =
                (format!("mkfs.{file_system}"), if file_system.starts_with("ext") { "-F" } else { "-f" });
            need_disk!(&tool);
            let disk = Disk::new(mib << 20);
            let at = tempfile::tempdir().expect("a folder");
            let look = |is_unfinished| {
                let permission = Permission::Destroy(format!("{mib} MiB"));
                // A mount namespace of a test beside this one may still have the file system mounted.
                let free = (0..600).find_map(|_| {
                    let inspected = inspect(disk.node()).expect("it can be looked at");
                    let cleared = Cleared::acquire(&inspected, &permission);
                    cleared.inspect_err(|_| thread::sleep(Duration::from_millis(100))).ok()
                });
                let mut cleared = free.expect("it is free");
                let before = checksum(&disk);
                let found = exist(&mut cleared, file_system, is_unfinished);
                drop(cleared);
                assert_eq!(checksum(&disk), before, "{file_system}: something was written");
                found
            };
            let has = || look(false).expect(file_system);
            assert!(!look(true).expect(file_system), "{file_system}: mkfs never finished");
            look(false).expect_err("it cannot be mounted, and may be damaged");
            run_tool_when_free(&tool, &["-q", force, disk.text()]);
            assert!(!has(), "{file_system}: it is empty");
            let change = |change: &dyn Fn(&Path) -> io::Result<()>| {
                let mounted = Mounted::mount(disk.node(), at.path(), "rw");
                change(mounted.path()).expect("changed");
            };
            change(&|root| fs::create_dir(root.join(".diskperf-x")));
            change(&|root| fs::write(root.join(".diskperf-x/tst2"), "data"));
            assert!(!has(), "{file_system}: it has a folder of diskperf");
            for name in ["thesis", ".diskperf-file"] {
                change(&|root| fs::write(root.join(name), ""));
                assert!(has(), "{file_system}: it has {name}");
                change(&|root| fs::rename(root.join(name), root.join(".diskperf-x").join(name)));
            }
            change(&|root| fs::create_dir_all(root.join("lost+found/here")));
            assert!(has(), "{file_system}: something was found");
        }
    }
}
