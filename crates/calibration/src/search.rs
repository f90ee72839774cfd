//! The search for constants, over their logarithms. It has three stages: descent from the guesses (`descent.rs`),
//! CMA-ES near the result, then each constant in turn. The first two use few starting positions of the platters, the
//! last uses all.
//!
//! The seed determines everything. A journal keeps the results of all simulations, so that an interrupted search can be
//! repeated without simulating again. The first machine of a search is always simulated. If its result differs from the
//! journal, another program wrote the journal, and a new one begins.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;

use classic1983::fitting::{Cell, Change, Machines};
use cmaes::{CMAESOptions, DVector};
use stats::compare::replication::Simulated;

use crate::descent::descend;
use crate::loss::{loss, residuals};
use crate::priors::Priors;

/// Starting positions of the platters during the search: less than half of the work, and accurate enough for a
/// direction.
pub const PHASES_SEARCHING: u32 = 4;

/// Starting positions of the platters for the final decision, as in `diskperf paper`.
pub const PHASES: u32 = 10;

/// Initial step size of CMA-ES, as a logarithm: a twelfth of a constant.
const FIRST_STEP: f64 = 0.08;

/// Change of a constant to measure its sensitivity.
pub const MOVE: f64 = 0.05;

/// Rounds of moving one constant after another: the change, and the number of starting positions. The last round is
/// repeated until it gains little.
const ROUNDS: [(f64, u32); 4] =
    [(0.20, PHASES_SEARCHING), (0.10, PHASES_SEARCHING), (0.05, PHASES_SEARCHING), (MOVE, PHASES)];

/// Maximum number of moves of a constant in one direction.
const MOVES: usize = 3;

/// Minimum gain of a round for the search to continue, as a share of the loss.
const GAIN: f64 = 0.003;

/// Effort of a search.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Seed of the search.
    pub seed: u64,
    /// Maximum number of steps of the descent.
    pub steps: usize,
    /// Evaluations by CMA-ES.
    pub evaluations: usize,
    /// Maximum number of rounds over all constants.
    pub rounds: usize,
}

/// The fit of some cells.
pub struct Search<'a> {
    machines: &'a Machines,
    priors: &'a Priors,
    cells: &'a [Cell],
    journal: RefCell<Journal>,
}

impl<'a> Search<'a> {
    /// Creates a search for these cells, with the journal file at that path.
    pub fn new(machines: &'a Machines, priors: &'a Priors, cells: &'a [Cell], journal: &Path) -> Result<Self, String> {
        Ok(Search { machines, priors, cells, journal: RefCell::new(Journal::open(journal)?) })
    }

    /// Runs all stages from `start`, and returns the best constants found.
    pub fn run(&self, effort: Effort, start: &[f64]) -> Vec<f64> {
        let found = self.descend(effort.steps, start);
        let found = if effort.evaluations > 0 { self.evolve(effort, &found) } else { found };
        self.polish(found, effort.rounds)
    }

    fn descend(&self, steps: usize, start: &[f64]) -> Vec<f64> {
        let values = |point: &[f64]| -> Vec<f64> {
            let constants = self.priors.constant.iter().zip(point);
            constants.map(|(constant, x)| constant.within(x.exp())).collect()
        };
        let errors = |point: &[f64]| residuals(self.cells, &self.simulate(&values(point), PHASES_SEARCHING));
        let loss = |point: &[f64]| self.loss(&values(point), PHASES_SEARCHING);
        let found = descend(start.iter().map(|value| value.ln()).collect(), steps, errors, loss);
        self.priors.constant.iter().zip(values(&found)).map(|(constant, value)| constant.rounded(value)).collect()
    }

    /// Returns the loss of these constants.
    pub fn loss(&self, values: &[f64], phases: u32) -> f64 {
        loss(self.cells, &self.simulate(values, phases))
    }

    /// Simulates the cells with these constants. A machine is not simulated again if the journal has its result for the
    /// same constants.
    pub fn simulate(&self, values: &[f64], phases: u32) -> Vec<Simulated> {
        let changes = self.priors.changes(values);
        let key = |machine: &str| -> u64 {
            let reaches =
                |change: &&Change| self.machines.with(&change.file, &change.field).any(|with| with == machine);
            let mut hasher = DefaultHasher::new();
            (machine, phases).hash(&mut hasher);
            for cell in self.cells.iter().filter(|cell| cell.machine == machine) {
                (cell.file_system, cell.test, cell.drives).hash(&mut hasher);
            }
            changes.iter().filter(reaches).for_each(|change| (&change.field, &change.value).hash(&mut hasher));
            hasher.finish()
        };
        let machines: BTreeMap<&str, u64> = self.cells.iter().map(|cell| (cell.machine, key(cell.machine))).collect();
        let mut journal = self.journal.borrow_mut();
        let is_new = |cell: &&Cell| !journal.knows(machines[cell.machine]);
        let new: Vec<Cell> = self.cells.iter().filter(is_new).copied().collect();
        let simulated = self.machines.simulate(&new, &changes, phases).expect("bounds keep machines sound");
        let mut of: BTreeMap<u64, Vec<Simulated>> = BTreeMap::new();
        for (cell, simulated) in new.iter().zip(simulated) {
            of.entry(machines[cell.machine]).or_default().push(simulated);
        }
        of.into_iter().for_each(|(key, simulated)| journal.keep(key, simulated));
        let mut of: BTreeMap<&str, _> =
            machines.iter().map(|(machine, key)| (*machine, journal.kept[key].iter())).collect();
        let next = |cell: &Cell| *of.get_mut(cell.machine).and_then(Iterator::next).expect("each cell was simulated");
        self.cells.iter().map(next).collect()
    }

    fn evolve(&self, effort: Effort, start: &[f64]) -> Vec<f64> {
        let values = |point: &DVector<f64>| -> Vec<f64> {
            let one =
                |((constant, x), start): ((&crate::priors::Constant, &f64), &f64)| constant.rounded(start * x.exp());
            self.priors.constant.iter().zip(point.iter()).zip(start).map(one).collect()
        };
        // Penalize a point outside the bounds by its distance, so that it is worse than the bound.
        let beyond = |point: &DVector<f64>| -> f64 {
            let one = |((constant, x), start): ((&crate::priors::Constant, &f64), &f64)| {
                let value = start * x.exp();
                (value / value.clamp(constant.least, constant.most)).ln().abs()
            };
            self.priors.constant.iter().zip(point.iter()).zip(start).map(one).sum()
        };
        let best = RefCell::new((f64::INFINITY, start.to_vec(), 0usize));
        let objective = |point: &DVector<f64>| {
            let values = values(point);
            let loss = self.loss(&values, PHASES_SEARCHING);
            let mut best = best.borrow_mut();
            best.2 += 1;
            if loss < best.0 {
                (best.0, best.1) = (loss, values);
                eprintln!("{:5} evaluations: loss {loss:.5}", best.2);
            }
            loss + beyond(point)
        };
        let options = CMAESOptions::new(vec![0.0; start.len()], FIRST_STEP);
        let options = options.seed(effort.seed).max_function_evals(effort.evaluations);
        let mut state = options.build(objective).expect("a sound start");
        while state.next().is_none() {}
        // The mean of the distribution is often better than the best point evaluated.
        let middle = values(state.mean());
        drop(state);
        let (_, met, _) = best.into_inner();
        let all = [start.to_vec(), met, middle].map(|values| (self.loss(&values, PHASES), values));
        all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(|| start.to_vec(), |(_, values)| values)
    }

    /// Moves one constant after another, as long as that reduces the loss.
    fn polish(&self, mut values: Vec<f64>, rounds: usize) -> Vec<f64> {
        for round in 0..rounds {
            let (by, phases) = ROUNDS[round.min(ROUNDS.len() - 1)];
            let mut least = self.loss(&values, phases);
            let before = least;
            for index in 0..values.len() {
                for factor in [1.0 - by, 1.0 + by] {
                    let mut helped = false;
                    for _ in 0..MOVES {
                        let moved = self.moved(&values, index, factor);
                        let loss = self.loss(&moved, phases);
                        if loss >= least {
                            break;
                        }
                        (least, values, helped) = (loss, moved, true);
                    }
                    if helped {
                        break;
                    }
                }
            }
            eprintln!("round {}: loss {least:.5}", round + 1);
            if round + 1 >= ROUNDS.len() && before - least < GAIN * before {
                break;
            }
        }
        values
    }

    /// Returns the constants with one of them multiplied by `factor`.
    pub fn moved(&self, values: &[f64], index: usize, factor: f64) -> Vec<f64> {
        let mut moved = values.to_vec();
        moved[index] = self.priors.constant[index].rounded(values[index] * factor);
        moved
    }
}

/// Results of simulated machines, by a hash of their constants.
struct Journal {
    file: File,
    kept: BTreeMap<u64, Vec<Simulated>>,
    /// True once a simulation was repeated with the recorded result, or the journal was cleared.
    holds: bool,
}

impl Journal {
    fn open(path: &Path) -> Result<Journal, String> {
        let failed = |error| format!("cannot use {}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let kept = text.lines().map_while(entry).collect();
        let file = File::options().append(true).create(true).open(path).map_err(failed)?;
        Ok(Journal { file, kept, holds: false })
    }

    fn knows(&self, key: u64) -> bool {
        self.holds && self.kept.contains_key(&key)
    }

    /// Records a result in memory and in the file. A failed write only costs time after the next interruption.
    fn keep(&mut self, key: u64, simulated: Vec<Simulated>) {
        if !self.holds {
            if self.kept.get(&key) != Some(&simulated) {
                self.kept.clear();
                let _ = self.file.set_len(0);
            }
            self.holds = true;
        }
        let number =
            |one: &Simulated| format!(" {:016x} {:016x}", one.kbytes_per_sec.to_bits(), one.cpu_percent.to_bits());
        if !self.kept.contains_key(&key) {
            let _ = writeln!(self.file, "{key:016x}{}", simulated.iter().map(number).collect::<String>());
        }
        self.kept.insert(key, simulated);
    }
}

/// Parses a line of the journal; `None` if it was cut short.
fn entry(line: &str) -> Option<(u64, Vec<Simulated>)> {
    let mut numbers = line.split(' ').map(|word| (word.len() == 16).then(|| u64::from_str_radix(word, 16).ok())?);
    let key = numbers.next()??;
    let numbers = numbers.map(|number| number.map(f64::from_bits)).collect::<Option<Vec<f64>>>()?;
    let pairs = numbers.chunks(2).map(|pair| match *pair {
        [kbytes_per_sec, cpu_percent] => Some(Simulated { kbytes_per_sec, cpu_percent }),
        _ => None,
    });
    Some((key, pairs.collect::<Option<Vec<Simulated>>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_valid_until_a_result_differs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let of = |kbytes_per_sec| vec![Simulated { kbytes_per_sec, cpu_percent: 1.0 }];
        let mut journal = Journal::open(&path).expect("a journal");
        (1..4).for_each(|key| journal.keep(key, of(key as f64)));
        // The first key is simulated again. Its result is the same, so the other entries are valid.
        let mut journal = Journal::open(&path).expect("a journal");
        assert!(!journal.knows(2));
        journal.keep(1, of(1.0));
        assert!(journal.knows(2) && journal.kept[&3] == of(3.0));
        let mut journal = Journal::open(&path).expect("a journal");
        journal.keep(1, of(1.5));
        assert!(journal.knows(1) && !journal.knows(2));
        assert_eq!(Journal::open(&path).expect("a journal").kept.len(), 1);
        assert!(entry("0000000000000001 0000").is_none());
    }
}
