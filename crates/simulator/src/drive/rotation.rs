//! The spindle. Its angle is computed from the time, exactly, and never accumulated, so errors cannot grow.
//!
//! A turn is divided into as many steps as a thousand minutes have nanoseconds. So a spindle of `n` milli-rpm moves
//! exactly `n` steps per nanosecond.

use units::{Moment, Nanos, Virtual};

/// Steps per turn.
const TURN: u64 = 60_000_000_000_000;

/// A spindle that turns at a constant speed.
#[derive(Clone, Debug)]
pub(crate) struct Rotation {
    steps_per_nano: u64,
    sectors: u64,
    phase: u64,
    /// Time of one turn, and of one sector.
    turn: Nanos,
    sector: Nanos,
}

impl Rotation {
    pub(crate) fn new(milli_rpm: u32, sectors_per_track: u32, phase_ppm: u32) -> Rotation {
        let (steps_per_nano, sectors) = (u64::from(milli_rpm), u64::from(sectors_per_track));
        Rotation {
            steps_per_nano,
            sectors,
            phase: TURN / 1_000_000 * u64::from(phase_ppm % 1_000_000),
            turn: Nanos(TURN.div_ceil(steps_per_nano)),
            sector: passing(1, sectors, steps_per_nano),
        }
    }

    /// Returns the first moment, to the nanosecond and not before `from`, at which position `place` of the track is
    /// under the heads.
    pub(crate) fn reaches(&self, place: u32, from: Moment<Virtual>) -> Moment<Virtual> {
        let wanted = (u64::from(place) * TURN).div_ceil(self.sectors);
        let angle = self.angle(from);
        // A position that came under the heads within this nanosecond is not missed.
        let past = within_turn(angle + TURN - wanted);
        if past < self.steps_per_nano {
            return from;
        }
        from + Nanos((TURN - past).div_ceil(self.steps_per_nano))
    }

    pub(crate) fn under_heads(&self, moment: Moment<Virtual>) -> u32 {
        (self.angle(moment) * self.sectors / TURN) as u32
    }

    pub(crate) fn turn(&self) -> Nanos {
        self.turn
    }

    pub(crate) fn sector(&self) -> Nanos {
        self.sector
    }

    /// Time that `sectors` sectors take to pass.
    pub(crate) fn passing(&self, sectors: u32) -> Nanos {
        passing(sectors.into(), self.sectors, self.steps_per_nano)
    }

    fn angle(&self, moment: Moment<Virtual>) -> u64 {
        let (nanos, steps) = (moment.since_zero().0, self.steps_per_nano);
        // Products of the first hour fit into 64 bits, where division is much cheaper.
        let turned = match nanos.checked_mul(steps) {
            Some(turned) => turned % TURN,
            None => (u128::from(nanos) * u128::from(steps) % u128::from(TURN)) as u64,
        };
        within_turn(turned + self.phase)
    }
}

/// The position on the track after less than two turns.
fn within_turn(steps: u64) -> u64 {
    if steps < TURN { steps } else { steps - TURN }
}

/// Time that `sectors` sectors take to pass on a track of `on_track` sectors.
fn passing(sectors: u64, on_track: u64, steps_per_nano: u64) -> Nanos {
    // Some thousand turns fit into 64 bits, where division is much cheaper.
    match (sectors.checked_mul(TURN), on_track.checked_mul(steps_per_nano)) {
        (Some(steps), Some(per_nano)) => Nanos(steps.div_ceil(per_nano)),
        _ => {
            let steps = u128::from(sectors) * u128::from(TURN);
            Nanos(steps.div_ceil(u128::from(on_track) * u128::from(steps_per_nano)) as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moment_at(nanos: u64) -> Moment<Virtual> {
        Moment::from_zero(Nanos(nanos))
    }

    #[test]
    fn a_turn_at_3600_rpm_stays_a_sixtieth_of_a_second() {
        let rotation = Rotation::new(3_600_000, 60, 0);
        assert_eq!(rotation.turn(), Nanos(16_666_667));
        // After an hour of whole turns the same position is under the heads, to the nanosecond.
        let hour = 3_600_000_000_000;
        assert_eq!(rotation.reaches(0, moment_at(hour)), moment_at(hour));
        assert_eq!(rotation.reaches(15, moment_at(hour)), moment_at(hour + 4_166_667));
        assert_eq!(rotation.under_heads(moment_at(hour)), 0);
    }

    #[test]
    fn a_phase_rotates_the_platter() {
        let rotation = Rotation::new(3_600_000, 60, 250_000);
        assert_eq!(rotation.under_heads(moment_at(0)), 15);
        assert_eq!(rotation.reaches(15, moment_at(0)), moment_at(0));
    }

    proptest! {
        #[test]
        fn a_sector_is_reached_exactly_when_it_is_under_the_heads(
            milli_rpm in 100_000u32..20_000_000, sectors in 1u32..200, place in 0u32..200, phase in 0u32..1_000_000,
            from in 0u64..10_000_000_000_000,
        ) {
            let place = place % sectors;
            let rotation = Rotation::new(milli_rpm, sectors, phase);
            let reached = rotation.reaches(place, moment_at(from));
            let waited = reached.since(moment_at(from));
            prop_assert!(waited <= rotation.turn());
            prop_assert_eq!(rotation.under_heads(reached), place);
            if waited.0 > 1 {
                // Two nanoseconds earlier another sector is there, unless the track has only one.
                let sooner = rotation.under_heads(moment_at(reached.since_zero().0 - 2));
                prop_assert!(sooner != place || sectors == 1);
            }
        }

        #[test]
        fn all_sectors_of_a_track_pass_in_a_turn(milli_rpm in 100_000u32..20_000_000, sectors in 1u32..200) {
            let rotation = Rotation::new(milli_rpm, sectors, 0);
            prop_assert_eq!(rotation.passing(sectors), rotation.turn());
            prop_assert_eq!(rotation.passing(0), Nanos::ZERO);
        }
    }
}
