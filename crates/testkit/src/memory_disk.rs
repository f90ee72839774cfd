//! An ext4 on a device in memory: a loop device over a file in /dev/shm. Its speed does not depend on other programs
//! that use a disk.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use tempfile::TempDir;

use crate::loop_disk::{LoopDisk, Mounted, missing_requirement};
use crate::run_tool;

/// The mounted file system. Dropping it removes all.
#[derive(Debug)]
pub struct MemoryDisk {
    // Fields are dropped from the first to the last.
    mounted: Mounted,
    _device: LoopDisk,
    _folder: TempDir,
}

impl MemoryDisk {
    /// The reason why there can be no such device; `None` if there is none. The tools are needed as well.
    pub fn missing(tools: &[&str]) -> Option<String> {
        missing_requirement(&[&["mkfs.ext4"], tools].concat())
    }

    /// Makes a device of this many MiB. The caller is in a mount namespace of its own.
    pub fn new(mebibytes: usize) -> MemoryDisk {
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
        let [image, point] = ["image", "point"].map(|name| folder.path().join(name));
        fs::create_dir(&point).expect("a folder");
        // Written completely: in a file with holes, the first write of a page costs more than later ones.
        let zeros = vec![0; 1 << 20];
        let mut file = File::create_new(&image).expect("an image");
        (0..mebibytes).for_each(|_| file.write_all(&zeros).expect("bytes"));
        let device = LoopDisk::attach(&image).expect("a loop device");
        let options = ["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"];
        run_tool("mkfs.ext4", &[&options[..], &[&device.node().to_string_lossy()]].concat());
        let mounted = Mounted::mount(device.node(), &point, "noatime");
        MemoryDisk { mounted, _device: device, _folder: folder }
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}
