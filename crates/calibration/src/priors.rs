//! The constants to fit, with guesses and bounds from before the fit: reads `priors.toml`.

use classic1983::fitting::{Change, Machines};
use serde::Deserialize;

/// Content of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priors {
    /// The constants to fit.
    pub constant: Vec<Constant>,
    /// Choices between a few values. Each counts as a constant, too.
    pub setting: Vec<Setting>,
    /// Mechanisms of the model that can be switched off.
    pub mechanism: Vec<Mechanism>,
}

/// A constant to fit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Dotted name of the field.
    pub field: String,
    /// Path of the file that it is written in.
    pub file: String,
    /// Unit of its values.
    pub unit: String,
    /// Guess from before any fit.
    pub guess: f64,
    /// Lower bound.
    pub least: f64,
    /// Upper bound.
    pub most: f64,
    /// Number of decimals in the file.
    pub decimals: usize,
    /// Meaning of the constant.
    pub means: String,
    /// Reason for the guess.
    pub why: String,
    /// Numbers proportional to it.
    #[serde(default)]
    pub ties: Vec<Tie>,
}

/// A number that is proportional to a constant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tie {
    /// Path of the file that it is written in.
    pub file: String,
    /// Dotted name of the field.
    pub field: String,
    /// Ratio to the constant.
    pub factor: f64,
}

/// A choice among a few values that hardware of the time had.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The chosen value.
    pub what: String,
    /// The alternatives.
    pub others: Vec<Other>,
    /// Reason for the choice.
    pub why: String,
}

/// An alternative to a setting.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    /// The value.
    pub what: String,
    /// The machines that it concerns.
    pub machines: Vec<String>,
    /// Settings, as `--set` takes them.
    pub set: Vec<String>,
}

/// A mechanism of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanism {
    /// Its name in reports.
    pub what: String,
    /// The machines without it.
    pub off: Other,
}

impl Other {
    /// Returns the machines with this alternative.
    pub fn applied(&self, machines: &Machines) -> Result<Machines, String> {
        let mut changed = machines.clone();
        for machine in &self.machines {
            self.set.iter().try_for_each(|setting| changed.set(machine, setting))?;
        }
        Ok(changed)
    }
}

impl Priors {
    /// Reads `priors.toml`. Its header says which guesses were committed before which fit.
    pub fn read() -> Priors {
        toml::from_str(include_str!("../priors.toml")).expect("priors.toml is tested")
    }

    /// Returns the guesses of all constants.
    pub fn guesses(&self) -> Vec<f64> {
        self.constant.iter().map(|constant| constant.guess).collect()
    }

    /// Returns the changes of all constants and their ties to these values, as written in the files.
    pub fn changes(&self, values: &[f64]) -> Vec<Change> {
        self.constant.iter().zip(values).flat_map(|(constant, value)| constant.changes(*value)).collect()
    }
}

impl Constant {
    /// Returns the value within its bounds, rounded to its decimals.
    pub fn rounded(&self, value: f64) -> f64 {
        let scale = 10f64.powi(self.decimals as i32);
        (self.within(value) * scale).round() / scale
    }

    /// Clamps the value to its bounds.
    pub fn within(&self, value: f64) -> f64 {
        value.clamp(self.least, self.most)
    }

    /// Returns the changes of this constant and its ties.
    fn changes(&self, value: f64) -> Vec<Change> {
        let decimals = self.decimals;
        let change = |file: &str, field: &str, value: f64| Change {
            file: file.to_owned(),
            field: field.to_owned(),
            value: format!("{value:.decimals$}{}", self.unit),
        };
        let ties = self.ties.iter().map(|tie| change(&tie.file, &tie.field, value * tie.factor));
        std::iter::once(change(&self.file, &self.field, value)).chain(ties).collect()
    }
}

#[cfg(test)]
mod tests {
    use classic1983::fitting::Cell;

    use super::*;

    #[test]
    fn at_most_26_priors_exist_and_each_is_in_a_file() {
        let priors = Priors::read();
        assert!(priors.constant.len() + priors.setting.len() <= 26);
        let machines = Machines::new();
        for change in priors.changes(&priors.guesses()) {
            assert!(machines.with(&change.file, &change.field).count() > 0, "{change:?}");
        }
        for constant in &priors.constant {
            assert!(constant.least < constant.guess && constant.guess < constant.most && !constant.why.is_empty());
            assert_eq!(constant.rounded(constant.guess), constant.guess);
        }
        for setting in &priors.setting {
            assert!((1..=2).contains(&setting.others.len()) && !setting.why.is_empty(), "{setting:?}");
            assert!(setting.others.iter().all(|other| changes_something(other, &machines)), "{setting:?}");
        }
        for mechanism in &priors.mechanism {
            assert!(changes_something(&mechanism.off, &machines), "{mechanism:?}");
        }
    }

    /// Simulates a cell of each machine with and without the alternative.
    fn changes_something(other: &Other, machines: &Machines) -> bool {
        let cells: Vec<Cell> =
            Cell::all().into_iter().filter(|cell| other.machines.iter().any(|name| name == cell.machine)).collect();
        let rates = |machines: &Machines| machines.simulate(&cells, &[], 1).expect("sound machines");
        rates(machines) != rates(&other.applied(machines).expect("a setting that exists"))
    }
}
