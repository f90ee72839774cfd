//! Decides whether bus arbitration grants the bus too late for a sector, for a controller without buffers.

use units::Prng;

use super::Direction;
use crate::description::DataLate;

/// Probability of a late grant, in parts per million.
///
/// It is smaller while the processor does not use the bus, and larger for transfers from memory, because memory must be
/// asked first. A transfer from memory takes the bus twice (request and answer), so it competes with the processor
/// twice.
pub(super) fn chance_ppm(late: &DataLate, direction: Direction, cpu_at_work: bool) -> u32 {
    let (asked, times) = match direction {
        Direction::ToMemory => (0, 1),
        Direction::FromMemory => (late.from_memory_ppm, 2),
    };
    asked + if cpu_at_work { times * late.at_work_ppm } else { 0 }
}

/// Draws at random whether the grant is late.
pub(super) fn is_late(chance_ppm: u32, prng: &mut Prng) -> bool {
    chance_ppm > 0 && prng.below(1_000_000) < u64::from(chance_ppm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::Rival;

    const LATE: DataLate = DataLate { at_work_ppm: 20_000, from_memory_ppm: 60_000, rival: Rival::Work, slips: 3 };

    #[test]
    fn an_idle_processor_causes_no_late_data() {
        assert_eq!(chance_ppm(&LATE, Direction::ToMemory, true), 20_000);
        assert_eq!(chance_ppm(&LATE, Direction::ToMemory, false), 0);
        assert_eq!(chance_ppm(&LATE, Direction::FromMemory, true), 100_000);
        assert_eq!(chance_ppm(&LATE, Direction::FromMemory, false), 60_000);
    }

    #[test]
    fn late_data_occur_as_often_as_their_probability() {
        let mut prng = Prng::new(1);
        let late = (0..100_000).filter(|_| is_late(80_000, &mut prng)).count();
        assert!((7_500..8_500).contains(&late), "{late}");
        assert!(!(0..1000).any(|_| is_late(0, &mut prng)));
    }
}
