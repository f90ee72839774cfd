//! What is fitted and what was believed of it: `priors.toml`, read.

use classic1983::fitting::Change;
use serde::Deserialize;

/// What the file holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priors {
    /// What is fitted.
    pub constant: Vec<Constant>,
    /// What was chosen, and counts as a constant too.
    pub setting: Vec<Setting>,
}

/// One number that is fitted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Its dotted name.
    pub field: String,
    /// Where it is written.
    pub file: String,
    /// What it is told in.
    pub unit: String,
    /// What was believed before any fit.
    pub guess: f64,
    /// It cannot be less.
    pub least: f64,
    /// It cannot be more.
    pub most: f64,
    /// As finely it is written.
    pub decimals: usize,
    /// What it is.
    pub means: String,
    /// Why the guess.
    pub why: String,
    /// What goes with it.
    #[serde(default)]
    pub ties: Vec<Tie>,
}

/// A number that goes with another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tie {
    /// Where it is written.
    pub file: String,
    /// Its dotted name.
    pub field: String,
    /// So many times as large.
    pub factor: f64,
}

/// One of a few values that hardware of the time had.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What was chosen.
    pub what: String,
    /// What else there was.
    pub others: Vec<String>,
    /// Why not that.
    pub why: String,
}

impl Priors {
    /// What was committed before the first fit.
    pub fn read() -> Priors {
        toml::from_str(include_str!("../priors.toml")).expect("priors.toml is tested")
    }

    /// The guesses.
    pub fn guesses(&self) -> Vec<f64> {
        self.constant.iter().map(|constant| constant.guess).collect()
    }

    /// These values and what goes with them, as they are written in the files.
    pub fn changes(&self, values: &[f64]) -> Vec<Change> {
        self.constant.iter().zip(values).flat_map(|(constant, value)| constant.changes(*value)).collect()
    }
}

impl Constant {
    /// The value as finely as it is written, within its bounds.
    pub fn rounded(&self, value: f64) -> f64 {
        let scale = 10f64.powi(self.decimals as i32);
        (self.within(value) * scale).round() / scale
    }

    /// The value, or the bound that it is beyond.
    pub fn within(&self, value: f64) -> f64 {
        value.clamp(self.least, self.most)
    }

    /// It and what goes with it.
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
    use classic1983::fitting::Machines;

    use super::*;

    #[test]
    fn there_are_at_most_24_and_each_stands_in_a_file() {
        let priors = Priors::read();
        assert!(priors.constant.len() + priors.setting.len() <= 24);
        let machines = Machines::new();
        for change in priors.changes(&priors.guesses()) {
            assert!(machines.with(&change.file, &change.field).count() > 0, "{change:?}");
        }
        for constant in &priors.constant {
            assert!(constant.least < constant.guess && constant.guess < constant.most && !constant.why.is_empty());
            assert_eq!(constant.rounded(constant.guess), constant.guess);
        }
        assert!(
            priors.setting.iter().all(|setting| (1..=2).contains(&setting.others.len()) && !setting.why.is_empty())
        );
    }
}
