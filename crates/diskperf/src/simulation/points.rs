//! The points of a sweep: every combination of the swept values. A point is made when it is needed, because all of them
//! may not fit into memory.

use std::ops::Range;

use machines::{Kind, Machine, MachineFault, Sweep};

/// The points of a machine. The values of the last sweep change first.
#[derive(Debug)]
pub struct Points {
    machine: Machine,
    /// The settings of the machine.
    settings: Vec<(String, String)>,
    sweeps: Vec<Sweep>,
    count: usize,
}

/// A machine, and its settings with the swept ones.
pub type Point = (Machine, Vec<(String, String)>);

impl Points {
    /// The points of a machine that has these settings; one without sweeps. `None` if there are more than `most`.
    pub fn new(machine: Machine, mut settings: Vec<(String, String)>, sweeps: &[Sweep], most: usize) -> Option<Points> {
        settings.retain(|(key, value)| machine.has(key, value));
        let count = sweeps.iter().try_fold(1usize, |count, sweep| count.checked_mul(sweep.values.len()));
        let count = count.filter(|count| *count <= most)?;
        Some(Points { machine, settings, sweeps: sweeps.to_vec(), count })
    }

    /// The indices of all points.
    pub fn all(&self) -> Range<usize> {
        0..self.count
    }

    /// The settings that no point has, because no swept part has their field. An error as of [`Points::point`].
    pub fn lost(&self) -> Result<Vec<&str>, MachineFault> {
        // Only the parts matter, and they have few combinations.
        let sweeps: Vec<Sweep> = self.sweeps.iter().filter(|sweep| !sweep.key.contains('.')).cloned().collect();
        let count = sweeps.iter().map(|sweep| sweep.values.len()).product();
        let parts = Points { machine: self.machine.clone(), settings: self.settings.clone(), sweeps, count };
        let mut lost: Vec<&str> = self.settings.iter().map(|(key, _)| key.as_str()).collect();
        for index in parts.all() {
            if lost.is_empty() {
                break;
            }
            let (_, settings) = parts.point(index)?;
            lost.retain(|key| !settings.iter().any(|(known, _)| known == key));
        }
        Ok(lost)
    }

    /// The point of this index. An error if the machine does not take a value. A new part has none of the fields that
    /// were set before:
    ///   1. swept parts are set first;
    ///   2. then the machine's settings are set again, if the new part has the field;
    ///   3. then swept fields are set;
    ///   4. settings that the machine does not have are left out.
    pub fn point(&self, index: usize) -> Result<Point, MachineFault> {
        let mut swept = Vec::with_capacity(self.sweeps.len());
        // The number of points with the same value of this sweep and of those before it.
        let mut same = self.count;
        for Sweep { key, values } in &self.sweeps {
            same /= values.len();
            swept.push((key.clone(), values[index / same % values.len()].clone()));
        }
        let (fields, parts): (Vec<_>, Vec<_>) = swept.iter().partition(|(key, _)| key.contains('.'));
        let mut machine = self.machine.clone();
        // 1.
        for (key, value) in parts {
            machine.set(&format!("{key}={value}"))?;
        }
        // 2.
        for (key, value) in &self.settings {
            if is_unset(&machine, key) {
                machine.set(&format!("{key}={value}"))?;
            }
        }
        // 3.
        for (key, value) in fields {
            machine.set(&format!("{key}={value}"))?;
        }
        // 4.
        let mut settings = last_of_each(self.settings.iter().cloned().chain(swept));
        settings.retain(|(key, value)| machine.has(key, value));
        Ok((machine, settings))
    }
}

/// True if the machine has this field, with the value of its file.
fn is_unset(machine: &Machine, key: &str) -> bool {
    let field = key.split_once('.').and_then(|(kind, field)| machine.part(Kind::from_key(kind)?)?.field(field));
    field.is_some_and(|field| !field.is_typed())
}

/// The settings without those that a later one replaces.
fn last_of_each(settings: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut last: Vec<(String, String)> = Vec::new();
    for (key, value) in settings {
        last.retain(|(known, _)| *known != key);
        last.push((key, value));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(sweeps: &[&str], most: usize) -> Option<Points> {
        points_with(&[], sweeps, most)
    }

    fn points_with(set: &[(&str, &str)], sweeps: &[&str], most: usize) -> Option<Points> {
        let sweeps: Vec<Sweep> = sweeps.iter().map(|sweep| sweep.parse().expect("a sweep")).collect();
        let mut machine = Machine::load("vax750-uda50").expect("a machine");
        set.iter().for_each(|(key, value)| machine.set(&format!("{key}={value}")).expect("a setting"));
        let settings = set.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Points::new(machine, settings, &sweeps, most)
    }

    /// The settings of each point, as in `drive.rpm=1800 drive=ra81`. Each field has the value that the settings say.
    fn settings(points: &Points) -> Vec<String> {
        let of_point = |index| {
            let (machine, settings) = points.point(index).expect("a point");
            for (key, value) in settings.iter().filter(|(key, _)| key.contains('.')) {
                let number = machine.value(key).map(|(number, _)| number.to_string());
                assert_eq!(number.as_ref(), Some(value), "{key} of {settings:?}");
            }
            let all: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
            all.join(" ")
        };
        points.all().map(of_point).collect()
    }

    #[test]
    fn swept_parts_keep_the_other_settings() {
        let set = points_with(&[("drive.rpm", "1800")], &["drive=ra81,eagle"], 2).expect("two points");
        assert_eq!(settings(&set), ["drive.rpm=1800 drive=ra81", "drive.rpm=1800 drive=eagle"]);
        let swept = points(&["drive.rpm=1800,3000", "drive=eagle"], 2).expect("two points");
        assert_eq!(settings(&swept), ["drive.rpm=1800 drive=eagle", "drive.rpm=3000 drive=eagle"]);
    }

    /// The SC750 has no field `response`. A part discards the fields that were set before it.
    #[test]
    fn settings_that_a_machine_does_not_have_are_left_out() {
        let points = points_with(&[("controller.response", "2")], &["controller=uda50,sc750"], 2).expect("two points");
        assert_eq!(settings(&points), ["controller.response=2 controller=uda50", "controller=sc750"]);
        assert!(points.lost().expect("parts").is_empty());
        let sweeps = ["controller=sc750", "drive.rpm=1800,3600"];
        let points = points_with(&[("controller.response", "2"), ("drive.rpm", "1800")], &sweeps, 2).expect("points");
        assert_eq!(points.lost().expect("parts"), ["controller.response"]);
        let points = points_with(&[("drive.rpm", "1800"), ("drive", "eagle")], &[], 1).expect("a point");
        assert_eq!(settings(&points), ["drive=eagle"]);
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
