//! The Berkeley fast file system of 4.2BSD and its parameters.

use alloc::string::String;

use units::Nanos;

use super::{Drive, Invalid, SECTOR_BYTES};

/// A Berkeley fast file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ffs {
    /// The name, block size and fragment size: `8K/1K`.
    pub name: String,
    /// Block size.
    pub block_bytes: u32,
    /// Fragment size: an eighth, a quarter, a half or the whole of a block.
    pub fragment_bytes: u32,
    /// Interleave, as time: how long the system is expected to take from one block to the next. Consecutive blocks of a
    /// file are placed as far apart as the drive turns in this time.
    pub rotational_delay: Nanos,
    /// Blocks of a file in one cylinder group, before the next group is used.
    pub blocks_per_group: u32,
    /// Minimum number of cylinders per group.
    pub cylinders_per_group: u32,
    /// Bytes of file system per inode.
    pub bytes_per_inode: u32,
    /// Cost of directories and inodes.
    pub names: Names,
}

/// Cost of directories and inodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Names {
    /// Operations on names take only the time of a call. Inodes are never written.
    Free,
    /// Directories are searched, and directories and inodes are read and written, as in 4.2BSD.
    Timed,
}

impl Names {
    /// All kinds with their names.
    pub const NAMES: [(&str, Names); 2] = [("free", Names::Free), ("timed", Names::Timed)];
}

/// Block sizes that 4.2BSD supports (`MINBSIZE`, `MAXBSIZE`).
const BLOCKS: (u32, u32) = (4096, 8192);

/// Maximum fragments per block (`MAXFRAG`).
const FRAGMENTS: u32 = 8;

impl Ffs {
    /// Bytes that files can use in any case: 4.2BSD keeps a tenth free, and another tenth is left for headers and
    /// inodes.
    pub fn room(&self, drive: &Drive) -> u64 {
        drive.bytes() / 10 * 8
    }

    pub(super) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        let (block, fragment) = (self.block_bytes, self.fragment_bytes);
        if !block.is_power_of_two() || block < BLOCKS.0 || block > BLOCKS.1 {
            let what = alloc::format!("4.2BSD has no blocks of {block} bytes");
            return Err(Invalid::new("file_system.block_bytes", what, "use 4096 or 8192"));
        }
        if !fragment.is_power_of_two() || fragment < SECTOR_BYTES || fragment > block || block / fragment > FRAGMENTS {
            let what = alloc::format!("a block of {block} bytes has no fragments of {fragment}");
            return Err(Invalid::new("file_system.fragment_bytes", what, "use an eighth of a block to a whole block"));
        }
        if self.rotational_delay > drive.turn() {
            let what = alloc::format!("{} is longer than a turn of {}", self.rotational_delay, drive.turn());
            return Err(Invalid::new("file_system.rotational_delay", what, "4.2BSD used 2 and 4 ms"));
        }
        let groups = u64::from(self.cylinders_per_group);
        Invalid::unless_within("file_system.blocks_per_group", self.blocks_per_group.into(), 1, 1 << 20, "256")?;
        Invalid::unless_within("file_system.cylinders_per_group", groups, 1, (drive.cylinders / 2).into(), "16")?;
        Invalid::unless_within("file_system.bytes_per_inode", self.bytes_per_inode.into(), 512, 1 << 20, "2048")
    }
}
