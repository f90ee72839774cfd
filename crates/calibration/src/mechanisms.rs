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

    /// Each mechanism reduces the loss: it has a line of its own, and the tables are farther from the paper without it.
    #[test]
    fn every_mechanism_gains() {
        let (machines, priors, cells) = (Machines::new(), Priors::read(), Cell::all());
        let loss = |machines: &Machines| {
            crate::loss::loss(&cells, &machines.simulate(&cells, &[], PHASES).expect("sound machines"))
        };
        let all = loss(&machines);
        for mechanism in &priors.mechanism {
            let without = loss(&mechanism.off.applied(&machines).expect("a setting that exists"));
            assert!(without > all, "{}: {without} without it, {all} with it", mechanism.what);
        }
    }
}
