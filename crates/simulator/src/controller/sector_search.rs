//! Decides whether a driver lets a drive search for its sector, or takes the data path at once.

/// True if the search is not worth while. 4.2BSD checks whether the *position of the head* is within the window before
/// the end of the track. It should check the distance to the sector: a mistake that was corrected in 1984.
pub(super) fn is_skipped(under_heads: u32, sectors_per_track: u32, window_sectors: u32) -> bool {
    (under_heads + 1) % sectors_per_track > sectors_per_track.saturating_sub(window_sectors)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_window_of_an_eagle_is_at_the_end_of_its_track() {
        let within = |window| (0..48).filter(|&place| is_skipped(place, 48, window)).collect::<Vec<u32>>();
        assert_eq!(within(8), [40, 41, 42, 43, 44, 45, 46]);
        assert_eq!(within(3), [45, 46]);
        assert!(within(0).is_empty());
    }
}
