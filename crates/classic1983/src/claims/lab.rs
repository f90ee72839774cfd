//! The machines on which claims are judged: unchanged, or with one assumption changed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use machines::{Machine, MachineFault};
use simulator::Description;

use crate::assumptions::Variation;
use crate::simulation::{Figure, Setup, measure_from};

/// Figures that were measured already. Many claims need the same ones, and a variation changes only some of them.
#[derive(Debug, Default)]
pub(super) struct Figures(Mutex<HashMap<String, Figure>>);

impl Figures {
    fn get(&self, key: &str) -> Option<Figure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn keep(&self, key: String, figure: Figure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, figure);
    }
}

/// Measures setups for a claim.
#[derive(Debug)]
pub(super) struct Lab<'a> {
    variation: Option<&'a Variation>,
    phases: u32,
    figures: &'a Figures,
    /// The setups that the claim asked for, without the variation.
    asked: RefCell<Vec<Setup>>,
}

impl<'a> Lab<'a> {
    /// Returns a lab with this variation of its machines, and this number of starting positions of the platters.
    pub(super) fn new(variation: Option<&'a Variation>, phases: u32, figures: &'a Figures) -> Lab<'a> {
        Lab { variation, phases, figures, asked: RefCell::default() }
    }

    /// The setups that were measured.
    pub(super) fn asked(&self) -> Vec<Setup> {
        self.asked.borrow().clone()
    }

    /// Measures all setups in parallel. The figures are in the order of the setups.
    pub(super) fn measure(&self, setups: &[Setup]) -> Result<Vec<Figure>, MachineFault> {
        self.asked.borrow_mut().extend_from_slice(setups);
        let varied = setups.iter().map(|setup| self.varied(setup)).collect::<Result<Vec<Setup>, MachineFault>>()?;
        let key = |setup: &Setup| format!("{setup:?} {}", self.phases);
        let (mut missing, mut keys) = (Vec::new(), Vec::new());
        for setup in &varied {
            let key = key(setup);
            if self.figures.get(&key).is_none() && !keys.contains(&key) {
                missing.push(setup.clone());
                keys.push(key);
            }
        }
        for (key, figure) in keys.into_iter().zip(measure_from(&missing, self.phases)?) {
            self.figures.keep(key, figure);
        }
        Ok(varied.iter().filter_map(|setup| self.figures.get(&key(setup))).collect())
    }

    /// Measures one setup.
    pub(super) fn one(&self, setup: &Setup) -> Result<Figure, MachineFault> {
        Ok(self.measure(std::slice::from_ref(setup))?[0])
    }

    /// Measures the setup unchanged, and with all of these changes.
    pub(super) fn both(&self, setup: &Setup, changes: &[&str]) -> Result<(Figure, Figure), MachineFault> {
        let changed = changes.iter().fold(setup.clone(), |setup, change| setup.with(*change));
        let figures = self.measure(&[setup.clone(), changed])?;
        Ok((figures[0], figures[1]))
    }

    /// Returns the machine of a setup.
    pub(super) fn load(&self, setup: &Setup) -> Result<Machine, MachineFault> {
        self.varied(setup)?.load()
    }

    /// Returns the description that is simulated for a setup.
    pub(super) fn describe(&self, setup: &Setup) -> Result<Description, MachineFault> {
        self.varied(setup)?.describe()
    }

    /// Returns the setup with the variation, if it applies.
    fn varied(&self, setup: &Setup) -> Result<Setup, MachineFault> {
        let varied = self.variation.map(|variation| variation.applied(setup)).transpose()?.flatten();
        Ok(varied.unwrap_or_else(|| setup.clone()))
    }
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;

    use super::*;
    use crate::assumptions::variations;
    use crate::published::FileSystem::Block8K;

    #[test]
    fn a_variation_changes_the_setups_that_have_its_assumption() {
        let [sc, uda] =
            ["vax780-sc780", "vax780-uda50"].map(|machine| Setup::new(machine, Block8K, Classic::Read8192, 1));
        let figures = Figures::default();
        let own = Lab::new(None, 1, &figures);
        let before = own.measure(&[sc.clone(), uda.clone(), sc.clone()]).expect("machines");
        assert_eq!(before[0], before[2]);
        let all = variations(&own.asked()).expect("machines");
        let finish = all.iter().find(|variation| variation.name() == "controller.finish=200us (sc780)");
        let lab = Lab::new(finish, 1, &figures);
        let after = lab.measure(&[sc.clone(), uda]).expect("machines");
        assert!(after[0].simulated != before[0].simulated && after[1] == before[1]);
        assert_eq!(lab.load(&sc).expect("a machine").value("controller.finish"), Some((200.0, "us".to_owned())));
        // One figure of each setup; the second setup is unchanged.
        assert_eq!(figures.0.lock().expect("no panic").len(), 3);
    }
}
