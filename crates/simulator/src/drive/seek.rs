//! Seek time: `a + b √d + c d` over a distance of `d` cylinders. The curve goes through the three times of a data
//! sheet: to the next cylinder, over a third of the cylinders, and over all of them.

use units::Nanos;

use crate::description;

/// Fractional bits of a square root.
const FRACTION: u32 = 16;

/// The seek curve as integers, so that it is the same on every platform: `least + (b (√d - 1) + c (d - 1)) / divisor`.
#[derive(Clone, Debug)]
pub(crate) struct SeekCurve {
    least: i128,
    root: i128,
    linear: i128,
    divisor: i128,
}

impl SeekCurve {
    pub(crate) fn from_drive(drive: &description::Drive) -> SeekCurve {
        let [least, average, most] =
            [drive.seek_least, drive.seek_average, drive.seek_most].map(|time| i128::from(time.0));
        let third = drive.cylinders / 3;
        let all = drive.cylinders - 1;
        // Solves two equations for b and c by determinants.
        let (root_third, third) = (square_root(third) - ONE, i128::from(third) - 1);
        let (root_all, all) = (square_root(all) - ONE, i128::from(all) - 1);
        let (average, most) = (average - least, most - least);
        SeekCurve {
            least,
            root: average * all - most * third,
            linear: root_third * most - root_all * average,
            divisor: root_third * all - root_all * third,
        }
    }

    pub(crate) fn time(&self, distance: u32) -> Nanos {
        if distance == 0 {
            return Nanos::ZERO;
        }
        let over = self.root * (square_root(distance) - ONE) + self.linear * (i128::from(distance) - 1);
        Nanos((self.least + over / self.divisor).max(0) as u64)
    }
}

/// The square root of one.
const ONE: i128 = 1 << FRACTION;

fn square_root(distance: u32) -> i128 {
    i128::from((u64::from(distance) << (2 * FRACTION)).isqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::samples::{eagle, ra81};

    #[test]
    fn the_curve_goes_through_the_data_sheet() {
        for drive in [eagle(), ra81()] {
            let curve = SeekCurve::from_drive(&drive);
            assert_eq!(curve.time(0), Nanos::ZERO);
            assert_eq!(curve.time(1), drive.seek_least);
            assert_eq!(curve.time(drive.cylinders / 3), drive.seek_average);
            assert_eq!(curve.time(drive.cylinders - 1), drive.seek_most);
        }
    }

    #[test]
    fn longer_seeks_take_longer_but_less_per_cylinder() {
        for drive in [eagle(), ra81()] {
            let curve = SeekCurve::from_drive(&drive);
            let times: alloc::vec::Vec<u64> = (1..drive.cylinders).map(|distance| curve.time(distance).0).collect();
            assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
            assert!(times[2] - times[1] > times[401] - times[400]);
        }
    }
}
