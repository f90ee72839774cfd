//! How far an unbroken transfer gets over a bus that is slower than the platter.

use units::Nanos;

/// Sectors that pass in time before one comes too late; nothing where all do. The platter brings a sector (or
/// wants one) every `media`, the bus takes `bus` for each, and the controller holds `buffer` of them between
/// the two, full or empty as it is best when the transfer begins.
pub(super) fn sectors_in_time(media: Nanos, bus: Nanos, buffer: u32) -> Option<u32> {
    // Each sector leaves the bus this much farther behind; a buffer of so many sectors forgives so much.
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
    fn a_larger_buffer_gets_farther() {
        // Half as fast: of two sectors that pass, the bus has moved one.
        assert_eq!(sectors_in_time(Nanos(300), Nanos(600), 1), Some(2));
        assert_eq!(sectors_in_time(Nanos(300), Nanos(600), 52), Some(104));
        // Hardly slower.
        assert_eq!(sectors_in_time(Nanos(300), Nanos(301), 1), Some(301));
    }

    #[test]
    fn some_sector_always_passes() {
        assert_eq!(sectors_in_time(Nanos(1), Nanos(1_000_000), 1), Some(1));
    }
}
