//! Whether the arbitration of a bus lets a controller without buffers wait too long for a sector.

use units::Prng;

use super::Direction;
use crate::description::DataLate;

/// The chance, in millionths: smaller while the processor does not ask for the bus itself.
pub(super) fn chance_ppm(late: &DataLate, direction: Direction, cpu_at_work: bool) -> u32 {
    let chance = match direction {
        Direction::ToMemory => late.to_memory_ppm,
        Direction::FromMemory => late.from_memory_ppm,
    };
    if cpu_at_work { chance } else { (u64::from(chance) * u64::from(late.idle_permille) / 1000) as u32 }
}

/// Throws the dice.
pub(super) fn is_late(chance_ppm: u32, prng: &mut Prng) -> bool {
    chance_ppm > 0 && prng.below(1_000_000) < u64::from(chance_ppm)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: DataLate = DataLate { to_memory_ppm: 20_000, from_memory_ppm: 80_000, idle_permille: 250 };

    #[test]
    fn an_idle_processor_leaves_the_bus_alone() {
        assert_eq!(chance_ppm(&LATE, Direction::ToMemory, true), 20_000);
        assert_eq!(chance_ppm(&LATE, Direction::FromMemory, true), 80_000);
        assert_eq!(chance_ppm(&LATE, Direction::FromMemory, false), 20_000);
    }

    #[test]
    fn the_dice_are_fair() {
        let mut prng = Prng::new(1);
        let late = (0..100_000).filter(|_| is_late(80_000, &mut prng)).count();
        assert!((7_500..8_500).contains(&late), "{late}");
        assert!(!(0..1000).any(|_| is_late(0, &mut prng)));
    }
}
