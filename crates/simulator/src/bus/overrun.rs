//! Length of an unbroken transfer, in sectors, over a bus that is slower than the platter.

use units::Nanos;

/// Returns the number of sectors that pass in time before one is too late; `None` if none is.
///
/// The platter delivers (or wants) a sector every `media`, and the bus needs `bus` for each. The controller buffers
/// `buffer` sectors between the two. The buffer is full or empty when the transfer begins, whichever is better.
pub(crate) fn sectors_in_time(media: Nanos, bus: Nanos, buffer: u32) -> Option<u32> {
    // Each sector puts the bus `behind` farther back. A buffer of `buffer` sectors absorbs that many bus times.
    let behind = bus.0.checked_sub(media.0).filter(|behind| *behind > 0)?;
    let forgiven = bus.0.saturating_mul(buffer.into());
    Some((forgiven / behind).clamp(1, u32::MAX.into()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_as_fast_as_the_platter_is_never_late() {
        assert_eq!(sectors_in_time(Nanos(300), Nanos(300), 1), None);
        assert_eq!(sectors_in_time(Nanos(300), Nanos(200), 1), None);
    }

    #[test]
    fn a_larger_buffer_passes_more_sectors() {
        // Half as fast: while two sectors pass, the bus moves one.
        assert_eq!(sectors_in_time(Nanos(300), Nanos(600), 1), Some(2));
        assert_eq!(sectors_in_time(Nanos(300), Nanos(600), 52), Some(104));
        // Only slightly slower.
        assert_eq!(sectors_in_time(Nanos(300), Nanos(301), 1), Some(301));
    }

    #[test]
    fn some_sector_always_passes() {
        assert_eq!(sectors_in_time(Nanos(1), Nanos(1_000_000), 1), Some(1));
    }
}
