//! File systems that the guard trusts: their inode numbers identify a file, and their holes contain no data.

/// Facts about one file system.
#[derive(Debug)]
pub(crate) struct TrustedFileSystem {
    /// Its name in a list of mounts.
    name: &'static str,
    /// Its number in statfs(2) (from linux/magic.h, or the file system's own header).
    magic: i64,
    /// True if SEEK_DATA finds all data: also data that are only in the page cache, blocks not allocated yet, and
    /// preallocated blocks that were written since.
    tells_holes: bool,
}

/// File systems on which two different pairs of device and inode number are two different files. Each stores its files
/// itself, and only this machine writes them.
///
/// Not on the list, because one file can have two identities there, or another machine can change it:
///   - overlay, aufs, ecryptfs, unionfs: their files are files of other file systems, where they have other numbers;
///   - FUSE (also fuseblk): a program chooses the numbers, and may serve any file, or a device;
///   - NFS, SMB, ceph, AFS, Lustre, GPFS, 9p, virtiofs, vboxsf: the file is on a server. It may be the disk of this
///     very machine, or a file that this machine also sees by another way;
///   - gfs2, ocfs2: other machines write to the same disk;
///   - file systems unknown to diskperf.
///
/// ext4, xfs, btrfs, f2fs and tmpfs search the page cache for SEEK_DATA (`iomap_seek_data`, `btrfs_file_llseek`,
/// `f2fs_seek_block`, `mapping_seek_hole_data` in Linux). The separate ext2 and ext3 drivers report the whole file as
/// data, which is never too little. ZFS has reported data that were not on the disk yet as a hole (versions 2.1.4 to
/// 2.2.1), so its holes are read. bcachefs (`BCACHEFS_STATFS_MAGIC` of linux/magic.h), hfsplus (`HFSPLUS_SUPER_MAGIC`
/// of linux/magic.h since 6.18, of `fs/hfsplus/hfsplus_raw.h` before) and the old ntfs (`NTFS_SB_MAGIC` of
/// `fs/ntfs/ntfs.h`) store their files on this machine. The other file systems rarely contain images, and their holes
/// are read too.
const TRUSTED: [TrustedFileSystem; 24] = [
    TrustedFileSystem { name: "ext2", magic: 0xEF53, tells_holes: true },
    TrustedFileSystem { name: "ext3", magic: 0xEF53, tells_holes: true },
    TrustedFileSystem { name: "ext4", magic: 0xEF53, tells_holes: true },
    TrustedFileSystem { name: "xfs", magic: 0x5846_5342, tells_holes: true },
    TrustedFileSystem { name: "btrfs", magic: 0x9123_683E, tells_holes: true },
    TrustedFileSystem { name: "f2fs", magic: 0xF2F5_2010, tells_holes: true },
    TrustedFileSystem { name: "tmpfs", magic: 0x0102_1994, tells_holes: true },
    TrustedFileSystem { name: "devtmpfs", magic: 0x0102_1994, tells_holes: true },
    TrustedFileSystem { name: "ramfs", magic: 0x8584_58F6, tells_holes: false },
    TrustedFileSystem { name: "rootfs", magic: 0x8584_58F6, tells_holes: false },
    TrustedFileSystem { name: "zfs", magic: 0x2FC1_2FC1, tells_holes: false },
    TrustedFileSystem { name: "jfs", magic: 0x3153_464A, tells_holes: false },
    TrustedFileSystem { name: "reiserfs", magic: 0x5265_4973, tells_holes: false },
    TrustedFileSystem { name: "nilfs2", magic: 0x3434, tells_holes: false },
    TrustedFileSystem { name: "vfat", magic: 0x4D44, tells_holes: false },
    TrustedFileSystem { name: "exfat", magic: 0x2011_BAB0, tells_holes: false },
    TrustedFileSystem { name: "ntfs3", magic: 0x7366_746E, tells_holes: false },
    TrustedFileSystem { name: "ntfs", magic: 0x5346_544E, tells_holes: false },
    TrustedFileSystem { name: "bcachefs", magic: 0xCA45_1A4E, tells_holes: false },
    TrustedFileSystem { name: "hfsplus", magic: 0x482B, tells_holes: false },
    TrustedFileSystem { name: "squashfs", magic: 0x7371_7368, tells_holes: false },
    TrustedFileSystem { name: "erofs", magic: 0xE0F5_E1E2, tells_holes: false },
    TrustedFileSystem { name: "iso9660", magic: 0x9660, tells_holes: false },
    TrustedFileSystem { name: "udf", magic: 0x1501_3346, tells_holes: false },
];

/// Name of a file system that is in no list of mounts.
pub(crate) const UNKNOWN: &str = "a file system that diskperf cannot see";

/// Returns true if inode numbers identify files on the file system of this name.
pub(crate) fn tells_files(name: &str) -> bool {
    TRUSTED.iter().any(|one| one.name == name)
}

/// Returns true if the file system of this name shows files of other file systems of this machine.
pub(crate) fn is_stacked(name: &str) -> bool {
    ["overlay", "aufs", "ecryptfs"].contains(&name)
}

/// Returns true if the file system of this name answers without a server, which may be gone. An overlay is asked too,
/// because containers are on one; its layers are usually local.
pub(crate) fn is_local(name: &str) -> bool {
    tells_files(name) || is_stacked(name)
}

/// Returns true if inode numbers identify files on the file system with this number of statfs(2).
pub(crate) fn with_magic_tells_files(magic: i64) -> bool {
    TRUSTED.iter().any(|one| one.magic == magic)
}

/// Returns true if SEEK_DATA finds all data of files on the file system with this number of statfs(2).
pub(crate) fn with_magic_tells_holes(magic: i64) -> bool {
    TRUSTED.iter().any(|one| one.magic == magic && one.tells_holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_file_systems_identify_files_reliably() {
        for name in ["ext4", "xfs", "btrfs", "tmpfs", "squashfs", "zfs", "bcachefs", "hfsplus", "ntfs"] {
            assert!(tells_files(name), "{name}");
        }
        for name in
            ["overlay", "fuse", "fuseblk", "fuse.sshfs", "9p", "virtiofs", "nfs", "nfs4", "cifs", "smb3", "ceph"]
        {
            assert!(!tells_files(name), "{name}");
        }
        for name in ["aufs", "ecryptfs", "gfs2", "ocfs2", "lustre", "", UNKNOWN] {
            assert!(!tells_files(name), "{name}");
        }
        // OVERLAYFS_SUPER_MAGIC, FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC, V9FS_MAGIC of linux/magic.h.
        for magic in [0x794C_7630, 0x6573_5546, 0x6969, 0x0102_1997] {
            assert!(!with_magic_tells_files(magic) && !with_magic_tells_holes(magic), "{magic:x}");
        }
        assert!(with_magic_tells_holes(0xEF53) && !with_magic_tells_holes(0x2FC1_2FC1));
    }
}
