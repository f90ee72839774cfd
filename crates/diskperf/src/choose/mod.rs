//! What a comparison of targets is to find out: by how much two must differ, for which use, what is needed, what it costs.
//! Asks of the cells whether that is known yet, and says at the end what came out. Runs nothing.

mod conductor;
mod needs;
mod prices;
mod uses;

use stats::choice::{self, Compared, Row, Weighed, compare, rows};
use stats::{Cell, Choice, Comparison, Purpose, TargetInfo};
use units::Nanos;

use crate::error::Error;
use crate::plan::Plan;

pub use conductor::Conductor;
pub use needs::{Condition, parse_conditions};
pub use prices::{Price, parse_price};
pub use uses::{Use, parse_use};

/// How long a choice takes at most, where nothing else is said.
pub const USUAL: Nanos = Nanos::from_secs(300);

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The part by which two may differ and be the same.
    pub margin: f64,
    /// For which use.
    pub purpose: Option<Use>,
    /// What is needed.
    pub needs: Vec<Condition>,
    /// What they cost.
    pub prices: Vec<Price>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Comparisons that more rounds would tell nothing more about.
    pub decided: usize,
    /// Of how many.
    pub all: usize,
    /// So many rounds more, from the spread so far; nothing where nobody knows or has the patience.
    pub more: Option<u32>,
}

impl Standing {
    /// Whether another round is of no use. Where nothing was compared yet, nobody knows.
    pub fn is_over(&self) -> bool {
        self.all > 0 && self.decided == self.all
    }
}

impl Goal {
    /// How far it is with these cells.
    pub fn standing(&self, cells: &[Cell], names: &[&str]) -> Standing {
        let rows = rows(cells, names);
        let weighed = self.weighed(&rows);
        let all = compare(&rows, names.len(), weighed.as_ref(), self.margin);
        let needed = |one: &Compared| {
            let needed = one.pairs.needed(one.judged.confidence, self.margin)?;
            // One more at least, where it is not narrow yet.
            Some(needed.saturating_sub(one.pairs.count()).max(1) as u32)
        };
        let open = || all.iter().filter(|one| !one.judged.is_narrow);
        let more = open().map(needed).try_fold(0, |most, needed| Some(most.max(needed?)));
        Standing { decided: all.len() - open().count(), all: all.len(), more }
    }

    /// What came out. A round took so many seconds.
    pub fn choice(&self, cells: &[Cell], targets: &[TargetInfo], round_s: Option<f64>) -> Choice {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let rows = rows(cells, &names);
        let weighed = self.weighed(&rows);
        let all = compare(&rows, names.len(), weighed.as_ref(), self.margin);
        let told = |one: &Compared, name: String| one.comparison(&rows, &names, name, self.margin);
        let of_rows = all.iter().filter_map(|one| {
            let cell = rows[one.row?].cells.iter().flatten().next()?;
            Some(told(one, report::cell_name(cell, cells)))
        });
        let purpose = self.purpose.as_ref().map(|purpose| Purpose {
            name: purpose.name.clone(),
            weights: purpose.weights.iter().cloned().collect(),
            missing: purpose.missing(&rows),
            comparisons: all
                .iter()
                .filter(|one| one.row.is_none())
                .map(|one| told(one, purpose.name.clone()))
                .collect::<Vec<Comparison>>(),
        });
        let mut remarks = shared_devices(targets);
        remarks.extend(prices::remarks(&self.prices, &names, purpose.as_ref()));
        Choice {
            margin: self.margin,
            decided: !all.is_empty() && all.iter().all(|one| one.judged.is_narrow),
            round_s,
            comparisons: of_rows.collect(),
            purpose,
            needs: self.needs.iter().flat_map(|need| need.judge(&rows, &names)).collect(),
            remarks,
        }
    }

    /// Refuses words of a use of one's own, or of what is needed, that mean no program of the plan.
    pub fn check(&self, plan: &Plan) -> Result<(), Error> {
        let rows = plan.alternatives.iter().map(|alternative| &alternative.row.program);
        let keys: Vec<(&str, &str)> =
            rows.flat_map(|program| program.phases.iter().map(|phase| (program.name, phase.name))).collect();
        let weights = self.purpose.iter().filter(|purpose| purpose.is_own).flat_map(|purpose| &purpose.weights);
        let words = weights.map(|(word, _)| word).chain(self.needs.iter().map(|need| &need.program));
        let Some(name) = words.into_iter().find(|word| matching(word, &keys).is_empty()) else { return Ok(()) };
        let mut known: Vec<&'static str> =
            plan.alternatives.iter().map(|alternative| alternative.row.program.name).collect();
        known.sort_unstable();
        known.dedup();
        Err(Error::UnknownProgram { name: name.clone(), preset: plan.preset, known })
    }

    fn weighed(&self, rows: &[Row]) -> Option<Weighed> {
        self.purpose.as_ref().map(|purpose| purpose.weighed(rows))
    }
}

/// Which of these programs and phases a person means:
///   1. a program of that name, with all its phases;
///   2. a phase of a program, as in `smallfb.read`;
///   3. programs whose names go on behind it, as `read` means `read_8192`;
///   4. phases of that name, or whose name is its beginning, as `create` means `creat`.
pub fn matching(word: &str, keys: &[(&str, &str)]) -> Vec<usize> {
    let way = |(program, phase): &(&str, &str)| match word {
        // 1
        _ if *program == word => Some(1),
        // 2
        _ if word.split_once('.') == Some((*program, *phase)) => Some(2),
        // 3
        _ if program.strip_prefix(word).is_some_and(|rest| rest.starts_with('_')) => Some(3),
        // 4
        _ => word.starts_with(phase).then_some(4),
    };
    let first = keys.iter().filter_map(way).min();
    let is_meant = |key: &(&str, &str)| first.is_some() && way(key) == first;
    keys.iter().enumerate().filter(|(_, key)| is_meant(key)).map(|(place, _)| place).collect()
}

/// The keys of rows, as `matching` takes them.
fn keys<'a>(rows: &[Row<'a>]) -> Vec<(&'a str, &'a str)> {
    rows.iter().map(|row| (row.key.0, row.key.1)).collect()
}

/// What is to be said of targets that share a device: that is allowed, and tells of everything above it only.
pub fn shared_devices(targets: &[TargetInfo]) -> Vec<String> {
    let device = |info: &TargetInfo| match &info.image {
        Some(image) => image.host_device.clone(),
        None => info.device.clone(),
    };
    let is_real = |info: &&TargetInfo| !info.argument.contains("sim:");
    let devices: Vec<(&str, String)> =
        targets.iter().filter(is_real).filter_map(|info| Some((info.name.as_str(), device(info)?))).collect();
    let shared = choice::every_two(devices.len()).filter(|(first, second)| devices[*first].1 == devices[*second].1);
    let mut lines: Vec<String> = Vec::new();
    for (first, second) in shared {
        let device = &devices[first].1;
        lines.push(format!(
            "{} and {} lie on one device ({device}): what differs is what stands above it, and where on it they lie",
            devices[first].0, devices[second].0
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_what_a_person_means() {
        let keys = [
            ("read_8192", "read"),
            ("write_4096", "write"),
            ("write_8192", "write"),
            ("randread", "randread"),
            ("smallfb", "creat"),
            ("smallfb", "read"),
            ("smallfb", "delete"),
        ];
        for (word, meant) in [
            ("read", &[0][..]),
            ("write", &[1, 2]),
            ("randread", &[3]),
            ("smallfb", &[4, 5, 6]),
            ("smallfb.read", &[5]),
            ("create", &[4]),
            ("delete", &[6]),
            ("xyzzy", &[]),
        ] {
            assert_eq!(matching(word, &keys), meant, "{word}");
        }
    }
}
