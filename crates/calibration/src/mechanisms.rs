//! The gain of each mechanism of the model: the errors without it, at the constants of `machines/`. Nothing is fitted
//! again, so a gain shows what the mechanism does with these constants.

use std::fmt::Write;

use classic1983::fitting::{Cell, Machines};

use crate::log::{HEADINGS, line};
use crate::priors::Priors;
use crate::search::PHASES;

/// Returns the errors with all mechanisms, without each of them, and without any.
pub fn table(machines: &Machines, priors: &Priors, cells: &[Cell]) -> Result<String, String> {
    let mut text = format!("  {:<44}{HEADINGS}\n", "");
    let mut add = |name: &str, machines: &Machines| -> Result<(), String> {
        let simulated = machines.simulate(cells, &[], PHASES)?;
        let _ = write!(text, "{}", line(name, cells, &simulated, |_| true));
        Ok(())
    };
    add("all", machines)?;
    let mut none = machines.clone();
    for mechanism in &priors.mechanism {
        add(&format!("without {}", mechanism.what), &mechanism.off.applied(machines)?)?;
        none = mechanism.off.applied(&none)?;
    }
    add("none of them", &none)?;
    for mechanism in &priors.mechanism {
        // All others are off.
        let mut others = priors.mechanism.iter().filter(|other| other.what != mechanism.what);
        let alone = others.try_fold(machines.clone(), |machines, other| other.off.applied(&machines))?;
        add(&format!("only {}", mechanism.what), &alone)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{cpu_error, mean, rate_percent};
    use crate::search::PHASES_SEARCHING;

    /// Without any of the mechanisms, the mean errors of rates (percent) and of CPU shares (points) are together
    /// larger.
    #[test]
    fn every_mechanism_gains() {
        let (machines, priors, cells) = (Machines::new(), Priors::read(), Cell::all());
        let errors = |machines: &Machines| {
            let simulated = machines.simulate(&cells, &[], PHASES_SEARCHING).expect("sound machines");
            let pairs = || cells.iter().zip(&simulated);
            mean(pairs().map(|(cell, one)| rate_percent(cell, *one).abs()))
                + mean(pairs().filter_map(|(cell, one)| cpu_error(cell, *one)).map(f64::abs))
        };
        let all = errors(&machines);
        for mechanism in &priors.mechanism {
            let without = errors(&mechanism.off.applied(&machines).expect("a setting that exists"));
            assert!(without > all, "{}: {without} without it, {all} with it", mechanism.what);
        }
    }
}
