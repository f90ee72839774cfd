//! The electronics of an IDE drive, with the driver of the system.

use units::Nanos;

use super::{Driver, Invalid};

/// An IDE drive's own controller. It takes one command at a time, and has memory for data that it reads ahead and for
/// data that it has not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ide {
    /// Maximum number of drives.
    pub most_drives: u32,
    /// Processor time of its driver.
    pub driver: Driver,
    /// Time from a command until the drive begins to work on it.
    pub command: Nanos,
    /// Maximum number of sectors of a command. The driver merges consecutive requests up to this size.
    pub most_sectors: u32,
    /// Parts of the drive's memory, each with the data of one place. Zero: the drive reads nothing ahead.
    pub segments: u32,
    /// Sectors of such a part.
    pub segment_sectors: u32,
    /// Sectors that the drive has room for before they are on the platter. Zero: a write ends on the platter.
    pub write_cache_sectors: u32,
}

impl Ide {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let within = Invalid::unless_within;
        within("controller.segments", self.segments.into(), 0, 64, "drives have up to 32")?;
        let hint = "a segment has a few hundred sectors";
        within("controller.segment_sectors", self.segment_sectors.into(), 1, 1 << 16, hint)?;
        let hint = "use 0, or enough sectors for a command";
        within("controller.write_cache_sectors", self.write_cache_sectors.into(), 0, 1 << 20, hint)?;
        if self.write_cache_sectors > 0 && self.write_cache_sectors < self.most_sectors {
            let what = alloc::format!("{} sectors are fewer than those of a command", self.write_cache_sectors);
            return Err(Invalid::new("controller.write_cache_sectors", what, hint));
        }
        Ok(())
    }
}
