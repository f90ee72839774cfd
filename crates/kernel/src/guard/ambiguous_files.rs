//! Loop devices whose file has no reliable identity: on overlay, FUSE or a network, two inode numbers may mean one
//! file. Such a device may show any file or disk of its size, or a part of a larger one. Pure.

use super::device_uses::{Block, Machine};
use crate::provision::loop_device::Backing;

/// Sector size of a loop device's size, in bytes: the kernel's unit, whatever the device's own sectors are.
pub(super) const SECTOR: u64 = 512;

/// The end of a device or file, as an offset in the file that has its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileEnd {
    end: u64,
    /// True if the file ends there too. Else the device shows a part of the file.
    is_all: bool,
}

impl FileEnd {
    /// Returns the end of a device. For a loop device, the end in its file.
    pub(crate) fn of_block(block: &Block) -> Option<FileEnd> {
        block.file_bytes.map(FileEnd::of_file).or_else(|| FileEnd::of_window(block))
    }

    /// Returns the end at the time the device was attached: its file may have another size now.
    fn of_window(block: &Block) -> Option<FileEnd> {
        let end = block.window.offset.checked_add(block.bytes?)?;
        Some(FileEnd { end, is_all: block.window.limit.is_none() })
    }

    /// Returns the end of a file of this size, as a loop device would show it.
    pub(crate) fn of_file(bytes: u64) -> FileEnd {
        FileEnd { end: bytes / SECTOR * SECTOR, is_all: true }
    }

    /// Returns true if both may show one file: they have the same end, or one of them shows a part of the file. A file
    /// may end within a sector, and an offset may begin within one, so ends of the same file differ by less than a
    /// sector. An empty file or device shows nothing.
    pub(crate) fn may_meet(self, other: FileEnd) -> bool {
        let (one, other) = if self.is_all { (self, other) } else { (other, self) };
        let can = match (one.is_all, other.is_all) {
            (true, true) => one.end.abs_diff(other.end) < SECTOR,
            (true, false) => one.end.saturating_add(SECTOR) > other.end,
            (false, _) => true,
        };
        can && one.end > 0 && other.end > 0
    }
}

/// Returns the loop devices of other programs that may show a device or file with this end, and their files' file
/// systems. If that device or file `is_unseen` itself, every loop device with a file may show it.
pub(crate) fn may_show(machine: &Machine, own_end: Option<FileEnd>, is_unseen: bool) -> Vec<(&Block, &str)> {
    let meets_one = |other: Option<FileEnd>| match (own_end, other) {
        (Some(one), Some(other)) => one.may_meet(other),
        _ => true,
    };
    let meets = |block: &Block| meets_one(FileEnd::of_block(block)) || meets_one(FileEnd::of_window(block));
    let others = machine.blocks.iter().filter(|block| !block.is_own && meets(block));
    let may = others.filter_map(|block| match &block.unseen {
        Some(file_system) => Some((block, file_system.as_str())),
        None if !is_unseen => None,
        None => matches!(block.backing, Some(Backing::File { .. })).then_some((block, "an ordinary file system")),
    });
    may.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_may_show_files_of_equal_end_or_parts_of_larger_ones() {
        let all = |end| FileEnd { end, is_all: true };
        let part = |end| FileEnd { end, is_all: false };
        for (one, other, may) in [
            (all(4096), all(4096), true),
            (all(4096), all(8192), false),
            // A part of a file ends before the file does.
            (all(8192), part(4096), true),
            (all(4096), part(8192), false),
            (part(4096), part(8192), true),
            // With an offset of 300 bytes, a device of one sector shows a file of 1124 bytes.
            (all(300 + 512), FileEnd::of_file(1124), true),
            (part(300 + 512), FileEnd::of_file(813), true),
            (all(4096), all(4608), false),
            (all(4096), part(4608), false),
            // An empty one shows nothing.
            (all(0), all(0), false),
            (part(0), all(4096), false),
            (FileEnd::of_file(4097), all(4096), true),
            (FileEnd::of_file(5000), all(4608), true),
        ] {
            assert_eq!((one.may_meet(other), other.may_meet(one)), (may, may), "{one:?} {other:?}");
        }
    }
}
