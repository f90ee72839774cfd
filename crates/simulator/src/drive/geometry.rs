//! Position of a sector: its cylinder, and its angle on the track.

use crate::description;

/// The parameters of a drive that determine the position of a sector.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) sectors_per_track: u32,
    pub(crate) sectors_per_cylinder: u32,
    skew: u32,
}

impl Geometry {
    pub(crate) fn from_drive(drive: &description::Drive) -> Geometry {
        Geometry {
            sectors_per_track: drive.sectors_per_track,
            sectors_per_cylinder: drive.sectors_per_cylinder(),
            skew: drive.track_skew_sectors,
        }
    }

    pub(crate) fn cylinder(&self, sector: u32) -> u32 {
        sector / self.sectors_per_cylinder
    }

    /// Rotational position of the sector, in sectors.
    pub(crate) fn angle(&self, sector: u32) -> u32 {
        let (track, within) = (sector / self.sectors_per_track, sector % self.sectors_per_track);
        // Usually there is no skew.
        if self.skew == 0 {
            return within;
        }
        let skewed = u64::from(within) + u64::from(track) * u64::from(self.skew);
        (skewed % u64::from(self.sectors_per_track)) as u32
    }

    /// Sectors of skew that pass unused when these `sectors` sectors cross the end of a track.
    pub(crate) fn skewed(&self, sector: u32, sectors: u32) -> u32 {
        if self.skew == 0 {
            return 0;
        }
        let track = |sector: u32| sector / self.sectors_per_track;
        (track(sector + sectors.max(1) - 1) - track(sector)) * self.skew
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::samples::eagle;

    #[test]
    fn sectors_follow_each_other_around_the_track() {
        let geometry = Geometry::from_drive(&eagle());
        assert_eq!([0, 47, 48, 959, 960].map(|sector| geometry.angle(sector)), [0, 47, 0, 47, 0]);
        assert_eq!([0, 959, 960].map(|sector| geometry.cylinder(sector)), [0, 0, 1]);
    }

    #[test]
    fn a_skewed_track_begins_later() {
        let geometry = Geometry::from_drive(&description::Drive { track_skew_sectors: 6, ..eagle() });
        assert_eq!([0, 48, 96, 8 * 48].map(|sector| geometry.angle(sector)), [0, 6, 12, 0]);
        assert_eq!((geometry.skewed(40, 8), geometry.skewed(40, 9), geometry.skewed(40, 57)), (0, 6, 12));
    }
}
