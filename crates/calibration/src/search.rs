//! The search for constants: from the guesses, by CMA-ES over their logarithms with few ways for the platters to stand,
//! then constant by constant with all of them.
//!
//! Everything follows from the seed. What an evaluation came to is kept in a journal, so that a search that was
//! interrupted goes through the same evaluations again without simulating them. A journal of another program is known by
//! its first evaluation, which is always simulated, and begun anew.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;

use cmaes::{CMAESOptions, DVector};
use diskperf::fitting::{Cell, Change, Machines};
use stats::replication::Simulated;

use crate::loss::loss;
use crate::priors::Priors;

/// How many ways the platters stand while searching: a third of the work, and near enough to know where to go.
const PHASES_SEARCHING: u32 = 3;

/// And where it is decided: as `diskperf paper` has them.
pub const PHASES: u32 = 10;

/// The first step: about a sixth of a constant.
const FIRST_STEP: f64 = 0.16;

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
    /// Evaluations with few phases.
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
    known: RefCell<BTreeMap<Key, Vec<Simulated>>>,
}

/// A machine, the ways its platters stand, and what was set of it.
type Key = (&'static str, u32, Vec<String>);

impl<'a> Search<'a> {
    /// Of these cells, with its journal in that file.
    pub fn new(machines: &'a Machines, priors: &'a Priors, cells: &'a [Cell], journal: &Path) -> Result<Self, String> {
        Ok(Search {
            machines,
            priors,
            cells,
            journal: RefCell::new(Journal::open(journal)?),
            known: RefCell::default(),
        })
    }

    /// The best constants there are.
    pub fn run(&self, effort: Effort) -> Vec<f64> {
        let found = self.evolve(effort, &self.priors.guesses());
        self.polish(found, effort.rounds)
    }

    /// The loss of these constants.
    pub fn loss(&self, values: &[f64], phases: u32) -> f64 {
        let changes = self.priors.changes(values);
        let mut hasher = DefaultHasher::new();
        (changes.iter().map(|change| &change.value).collect::<Vec<_>>(), phases).hash(&mut hasher);
        self.journal.borrow_mut().ask(hasher.finish(), || loss(self.cells, &self.simulate(&changes, phases)))
    }

    /// The cells with these changes. What a machine gives without any that reaches it changed is known already.
    fn simulate(&self, changes: &[Change], phases: u32) -> Vec<Simulated> {
        let key = |cell: &Cell| -> Key {
            let reaches = |change: &&Change| {
                self.machines.with(&change.file, &change.field).any(|machine| machine == cell.machine)
            };
            (cell.machine, phases, changes.iter().filter(reaches).map(|change| change.value.clone()).collect())
        };
        let keys: BTreeMap<&str, Key> = self.cells.iter().map(|cell| (cell.machine, key(cell))).collect();
        let mut known = self.known.borrow_mut();
        let is_new = |cell: &&Cell| !known.contains_key(&keys[cell.machine]);
        let new: Vec<Cell> = self.cells.iter().filter(is_new).copied().collect();
        let simulated = self.machines.simulate(&new, changes, phases).expect("bounds keep machines sound");
        for (cell, simulated) in new.iter().zip(simulated) {
            known.entry(keys[cell.machine].clone()).or_default().push(simulated);
        }
        let mut of: BTreeMap<&str, _> = keys.iter().map(|(machine, key)| (*machine, known[key].iter())).collect();
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
        if self.loss(&middle, PHASES) < self.loss(&met, PHASES) { middle } else { met }
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

/// What evaluations came to, in the order in which they were asked for.
struct Journal {
    file: File,
    kept: Vec<(u64, f64)>,
    asked: usize,
}

impl Journal {
    fn open(path: &Path) -> Result<Journal, String> {
        let failed = |error| format!("cannot use {}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let line = |line: &str| {
            let (key, loss) = line.split_once(' ')?;
            Some((u64::from_str_radix(key, 16).ok()?, f64::from_bits(u64::from_str_radix(loss, 16).ok()?)))
        };
        let text = fs::read_to_string(path).unwrap_or_default();
        let kept = text.lines().map_while(line).collect();
        let file = File::options().append(true).create(true).open(path).map_err(failed)?;
        Ok(Journal { file, kept, asked: 0 })
    }

    fn ask(&mut self, key: u64, simulate: impl FnOnce() -> f64) -> f64 {
        let index = self.asked;
        self.asked += 1;
        let kept = self.kept.get(index).filter(|(kept, _)| *kept == key).map(|(_, loss)| *loss);
        if let Some(loss) = kept.filter(|_| index > 0) {
            return loss;
        }
        let loss = simulate();
        if kept != Some(loss) {
            let is_stale = index < self.kept.len();
            self.kept.truncate(index);
            self.kept.push((key, loss));
            self.write(if is_stale { 0 } else { index });
        }
        loss
    }

    /// Writes the lines from there on; from the first, instead of what the file holds. A journal that cannot be
    /// written costs time after the next interruption, and nothing else.
    fn write(&mut self, from: usize) {
        if from == 0 {
            let _ = self.file.set_len(0);
        }
        for (key, loss) in &self.kept[from..] {
            let _ = writeln!(self.file, "{key:016x} {:016x}", loss.to_bits());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_answers_what_it_was_asked_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).expect("a journal");
        assert_eq!((journal.ask(1, || 0.5), journal.ask(2, || 0.25), journal.ask(3, || 0.125)), (0.5, 0.25, 0.125));
        // The first is simulated again; as it is the same, the rest holds.
        let mut journal = Journal::open(&path).expect("a journal");
        assert_eq!((journal.ask(1, || 0.5), journal.ask(2, || 9.0), journal.ask(4, || 0.75)), (0.5, 0.25, 0.75));
        let mut journal = Journal::open(&path).expect("a journal");
        assert_eq!((journal.ask(1, || 0.6), journal.ask(2, || 9.0)), (0.6, 9.0));
        let mut journal = Journal::open(&path).expect("a journal");
        assert_eq!((journal.ask(1, || 0.6), journal.ask(2, || 8.0)), (0.6, 9.0));
    }
}
