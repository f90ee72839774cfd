//! The drive: geometry, spindle and arm.

use alloc::string::String;

use units::Nanos;

use super::Invalid;

/// Bytes per sector of every drive here: the unit of VAX disks.
pub const SECTOR_BYTES: u32 = 512;

/// Sectors addressable with 28 bits, the most that controllers of the time have: 128 GiB.
const MOST_SECTORS: u64 = 1 << 28;

/// A hundred times the seek time of the slowest arm of the time.
const LONGEST_SEEK: Nanos = Nanos::from_secs(10);

/// A disk drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// The name: `Fujitsu 2351A`.
    pub name: String,
    /// Sectors of 512 bytes per track.
    pub sectors_per_track: u32,
    /// Tracks per cylinder.
    pub heads: u32,
    /// Number of cylinders.
    pub cylinders: u32,
    /// Rotational speed in thousandths of a turn per minute.
    pub milli_rpm: u32,
    /// Deviation of the drives of a computer from that speed, in parts per million. The first is faster, the second
    /// slower, and so on.
    pub speed_deviation_ppm: u32,
    /// Track skew: sectors by which a track begins later than the one before.
    pub track_skew_sectors: u32,
    /// Seek time to the next cylinder.
    pub seek_least: Nanos,
    /// Seek time over a third of the cylinders.
    pub seek_average: Nanos,
    /// Seek time over all cylinders.
    pub seek_most: Nanos,
    /// First sector of the file system's partition.
    pub first_sector: u32,
}

impl Drive {
    /// Sectors per cylinder.
    pub fn sectors_per_cylinder(&self) -> u32 {
        self.sectors_per_track * self.heads
    }

    /// Time of one turn at the nominal speed, rounded down to a nanosecond.
    pub fn turn(&self) -> Nanos {
        Nanos(60_000_000_000_000 / u64::from(self.milli_rpm))
    }

    /// Size of the partition in bytes.
    pub fn bytes(&self) -> u64 {
        let sectors = u64::from(self.sectors_per_cylinder()) * u64::from(self.cylinders);
        sectors.saturating_sub(u64::from(self.first_sector)) * u64::from(SECTOR_BYTES)
    }

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let within = Invalid::unless_within;
        let hint = "check the drive's data sheet";
        within("drive.sectors_per_track", self.sectors_per_track.into(), 1, 1 << 14, hint)?;
        within("drive.heads", self.heads.into(), 1, 1 << 10, hint)?;
        within("drive.cylinders", self.cylinders.into(), 32, 1 << 16, hint)?;
        if !(60_000..=100_000_000).contains(&self.milli_rpm) {
            return Err(Invalid::new("drive.rpm", "not within 60 to 100,000 turns/min", hint));
        }
        within("drive.speed_deviation_ppm", self.speed_deviation_ppm.into(), 0, 100_000, "use at most a tenth")?;
        let skew = self.track_skew_sectors.into();
        within("drive.track_skew_sectors", skew, 0, u64::from(self.sectors_per_track) - 1, "use less than a turn")?;
        let sectors = u64::from(self.sectors_per_cylinder()) * u64::from(self.cylinders);
        if sectors > MOST_SECTORS {
            let what = alloc::format!("{sectors} sectors are more than {MOST_SECTORS}");
            return Err(Invalid::new("drive.cylinders", what, "use fewer cylinders, or fewer sectors per track"));
        }
        within("drive.first_sector", self.first_sector.into(), 0, sectors - 1, "name a sector of the drive")?;
        let seeks = [
            ("drive.seek_least", self.seek_least),
            ("drive.seek_average", self.seek_average),
            ("drive.seek_most", self.seek_most),
        ];
        for (field, time) in seeks {
            Invalid::unless_at_most(field, time, LONGEST_SEEK, hint)?;
        }
        if self.seek_most < self.seek_average {
            return Err(Invalid::new("drive.seek_most", "less than the average seek", hint));
        }
        if self.seek_average < self.seek_least {
            return Err(Invalid::new("drive.seek_average", "less than the minimum seek", hint));
        }
        Ok(())
    }
}
