//! A block device or file that is only read: its size, and how to read it with direct I/O. Nothing is created or
//! written.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::observe::block_device::Device;
use crate::observe::mount::{self, Place};

/// The traditional unit of addresses in files and devices, in bytes.
const SECTOR: u32 = 512;

/// The assumed alignment of direct I/O if the kernel does not report it: a page. Devices with blocks of 512 bytes and
/// of 4096 bytes both accept it.
const UNSAID: u32 = 4096;

/// A block device or a file that can be read.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Size in bytes.
    pub bytes: u64,
    /// The smallest readable piece in bytes: a logical block of the device, or the file's direct I/O alignment.
    pub block_bytes: u32,
    /// True if it is read past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// True if it is in memory even with `O_DIRECT`: a file on tmpfs.
    pub in_memory: bool,
    /// The device itself, or the device below the file.
    pub device: Option<Device>,
}

impl Storage {
    /// Inspects the path, which must exist. Returns `None` if it is neither a block device nor a regular file.
    pub fn inspect(path: &Path) -> io::Result<Option<Storage>> {
        let metadata = fs::metadata(path)?;
        let kind = metadata.file_type();
        // Checked before opening, because opening a pipe would wait for its other end.
        if !kind.is_block_device() && !kind.is_file() {
            return Ok(None);
        }
        let mut file = File::open(path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        let (aligned, device, in_memory) = if kind.is_block_device() {
            (Some(rustix::fs::ioctl_blksszget(&file)?), mount::numbered(metadata.rdev()), false)
        } else {
            let place = Place::under(path)?;
            let in_memory = place.file_system.as_deref().is_some_and(mount::keeps_in_memory);
            (direct_alignment(path)?, place.device, in_memory)
        };
        let direct = aligned.is_some() && takes_direct(path)?;
        Ok(Some(Storage { bytes, block_bytes: aligned.unwrap_or(SECTOR), direct, in_memory, device }))
    }
}

/// The alignment of direct I/O on a file, in bytes. Returns `None` if the file system has no direct I/O.
fn direct_alignment(path: &Path) -> io::Result<Option<u32>> {
    let statx = match rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN) {
        Ok(statx) => statx,
        Err(Errno::NOSYS) => return Ok(Some(UNSAID)),
        Err(errno) => return Err(errno.into()),
    };
    if statx.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return Ok(Some(UNSAID));
    }
    Ok((statx.stx_dio_offset_align > 0).then_some(statx.stx_dio_offset_align))
}

/// True if the path can be opened for direct I/O. File systems without direct I/O refuse.
fn takes_direct(path: &Path) -> io::Result<bool> {
    match rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()) {
        Ok(_) => Ok(true),
        Err(Errno::INVAL) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_size_and_directories_are_not_storage() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("file");
        fs::write(&path, vec![1; 10_000]).expect("a file");
        let storage = Storage::inspect(&path).expect("readable").expect("a file");
        assert_eq!(storage.bytes, 10_000);
        assert!(storage.block_bytes.is_power_of_two());
        assert!(Storage::inspect(folder.path()).expect("readable").is_none());
        assert!(Storage::inspect(Path::new("/dev/null")).expect("readable").is_none());
        let missing = Storage::inspect(&folder.path().join("missing")).expect_err("nothing there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
