//! The points of a sweep: every combination of the swept values. A point is made when it is needed, because all of them
//! may not fit into memory.

use std::ops::Range;

use machines::{Machine, MachineFault, Sweep};

/// The points of a machine. The values of the last sweep change first.
#[derive(Debug)]
pub struct Points {
    machine: Machine,
    sweeps: Vec<Sweep>,
    count: usize,
}

/// A machine, and its values of the swept fields.
pub type Point = (Machine, Vec<(String, String)>);

impl Points {
    /// The points of a machine; one without sweeps. `None` if there are more than `most`.
    pub fn new(machine: Machine, sweeps: &[Sweep], most: usize) -> Option<Points> {
        let count = sweeps.iter().try_fold(1usize, |count, sweep| count.checked_mul(sweep.values.len()));
        let count = count.filter(|count| *count <= most)?;
        Some(Points { machine, sweeps: sweeps.to_vec(), count })
    }

    /// The indices of all points.
    pub fn all(&self) -> Range<usize> {
        0..self.count
    }

    /// The point of this index. An error if the machine does not take a value.
    pub fn point(&self, index: usize) -> Result<Point, MachineFault> {
        let mut machine = self.machine.clone();
        let mut swept = Vec::with_capacity(self.sweeps.len());
        // The number of points with the same value of this sweep and of those before it.
        let mut same = self.count;
        for Sweep { key, values } in &self.sweeps {
            same /= values.len();
            let value = &values[index / same % values.len()];
            machine.set(&format!("{key}={value}"))?;
            swept.push((key.clone(), value.clone()));
        }
        Ok((machine, swept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(sweeps: &[&str], most: usize) -> Option<Points> {
        let sweeps: Vec<Sweep> = sweeps.iter().map(|sweep| sweep.parse().expect("a sweep")).collect();
        Points::new(Machine::load("vax750-uda50").expect("a machine"), &sweeps, most)
    }

    #[test]
    fn every_combination_is_a_point() {
        let points = points(&["drive=ra81,eagle", "controller.buffer_sectors=16..64*2"], 6).expect("six points");
        let values = |index| {
            let (_, swept) = points.point(index).expect("a point");
            swept.into_iter().map(|(_, value)| value).collect::<Vec<String>>().join(" ")
        };
        let all: Vec<String> = points.all().map(values).collect();
        assert_eq!(all, ["ra81 16", "ra81 32", "ra81 64", "eagle 16", "eagle 32", "eagle 64"]);
    }

    #[test]
    fn a_machine_without_sweeps_is_one_point_and_many_points_are_none() {
        assert_eq!(points(&[], 1).expect("a point").all(), 0..1);
        let large = ["drive.heads=1..10000", "cpu.code=1..10000"];
        assert!(points(&large, 99_999_999).is_none());
        assert_eq!(points(&large, 100_000_000).expect("points").all(), 0..100_000_000);
        assert!(points(&["drive.heads=1..10000"; 6], usize::MAX).is_none());
    }
}
