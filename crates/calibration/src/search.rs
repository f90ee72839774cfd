//! The search for constants, over their logarithms: down from the guesses (`descent.rs`), then about there by CMA-ES,
//! both with few ways for the platters to stand; then constant by constant with all of them.
//!
//! Everything follows from the seed. What a machine came to is kept in a journal, so that a search that was interrupted
//! goes the same way again without simulating it. The first machine of a search is always simulated. If its
//! result differs from the journal, another program wrote the journal, and a new one begins.

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

/// How many ways the platters stand while searching: less than half of the work, and near enough to know where to go.
const PHASES_SEARCHING: u32 = 4;

/// And where it is decided: as `diskperf paper` has them.
pub const PHASES: u32 = 10;

/// The first step of CMA-ES: a twelfth of a constant.
const FIRST_STEP: f64 = 0.08;

/// How much a constant is moved to see how much depends on it.
pub const MOVE: f64 = 0.05;

/// The rounds of moving one after the other: by how much, and with how many ways for the platters to stand. The last is
/// repeated until it gains little.
const ROUNDS: [(f64, u32); 4] =
    [(0.20, PHASES_SEARCHING), (0.10, PHASES_SEARCHING), (0.05, PHASES_SEARCHING), (MOVE, PHASES)];

/// So often one is moved on in the direction that helps.
const MOVES: usize = 3;

/// What moving one constant must gain for the search to go on, of the loss.
const GAIN: f64 = 0.003;

/// What is searched, and with how much effort.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The seed of the search.
    pub seed: u64,
    /// Steps down from the guesses, at most.
    pub steps: usize,
    /// Evaluations by CMA-ES.
    pub evaluations: usize,
    /// Rounds over all constants with all phases, at most.
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
    /// Of these cells, with its journal in that file.
    pub fn new(machines: &'a Machines, priors: &'a Priors, cells: &'a [Cell], journal: &Path) -> Result<Self, String> {
        Ok(Search { machines, priors, cells, journal: RefCell::new(Journal::open(journal)?) })
    }

    /// The best constants there are.
    pub fn run(&self, effort: Effort) -> Vec<f64> {
        let found = self.descend(effort.steps);
        let found = self.evolve(effort, &found);
        self.polish(found, effort.rounds)
    }

    fn descend(&self, steps: usize) -> Vec<f64> {
        let guesses = self.priors.guesses();
        let values = |point: &[f64]| -> Vec<f64> {
            let constants = self.priors.constant.iter().zip(point);
            constants.map(|(constant, x)| constant.within(x.exp())).collect()
        };
        let errors = |point: &[f64]| residuals(self.cells, &self.simulate(&values(point), PHASES_SEARCHING));
        let loss = |point: &[f64]| self.loss(&values(point), PHASES_SEARCHING);
        let found = descend(guesses.iter().map(|guess| guess.ln()).collect(), steps, errors, loss);
        self.priors.constant.iter().zip(values(&found)).map(|(constant, value)| constant.rounded(value)).collect()
    }

    /// The loss of these constants.
    pub fn loss(&self, values: &[f64], phases: u32) -> f64 {
        loss(self.cells, &self.simulate(values, phases))
    }

    /// The cells with these constants. What a machine gives without any that reaches it changed is known already.
    pub fn simulate(&self, values: &[f64], phases: u32) -> Vec<Simulated> {
        let changes = self.priors.changes(values);
        let key = |machine: &str| -> u64 {
            let reaches =
                |change: &&Change| self.machines.with(&change.file, &change.field).any(|with| with == machine);
            let mut hasher = DefaultHasher::new();
            (machine, phases).hash(&mut hasher);
            for cell in self.cells.iter().filter(|cell| cell.machine == machine) {
                (cell.half, cell.test, cell.drives).hash(&mut hasher);
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
        // What lies beyond a bound is as bad as the bound, and a little worse with every step.
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
        // The middle of where it looks is often better than the best that it met.
        let middle = values(state.mean());
        drop(state);
        let (_, met, _) = best.into_inner();
        let all = [start.to_vec(), met, middle].map(|values| (self.loss(&values, PHASES), values));
        all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(|| start.to_vec(), |(_, values)| values)
    }

    /// Moves one constant after the other, as long as that gains something.
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

    /// The constants with one of them so many times as large.
    pub fn moved(&self, values: &[f64], index: usize, factor: f64) -> Vec<f64> {
        let mut moved = values.to_vec();
        moved[index] = self.priors.constant[index].rounded(values[index] * factor);
        moved
    }
}

/// What machines came to, by a number made of what was set of them.
struct Journal {
    file: File,
    kept: BTreeMap<u64, Vec<Simulated>>,
    /// Something of it was simulated again, and came to the same.
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

    /// Keeps it also in the file. One that cannot be written costs time after the next interruption, and nothing else.
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

/// A line of the journal; nothing where it was cut short.
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
    fn a_journal_holds_until_something_comes_to_something_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let of = |kbytes_per_sec| vec![Simulated { kbytes_per_sec, cpu_percent: 1.0 }];
        let mut journal = Journal::open(&path).expect("a journal");
        (1..4).for_each(|key| journal.keep(key, of(key as f64)));
        // The first is simulated again; as it is the same, the rest holds.
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
