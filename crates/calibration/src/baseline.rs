//! A baseline that does not simulate a machine. The logarithm of a rate is a sum of numbers: one for each configuration
//! with its number of drives, one for the file system, one for each test, and then some for interactions. It has as
//! many numbers as the simulation has constants. So it shows what is possible without any understanding.
//!
//! The interactions are chosen in two ways. Either they are declared in advance, without regard to the cells: file
//! system with test, drives with file system, drives with test. Or they are chosen greedily, always the one that helps
//! most. The second table has an advantage: its choice of terms is fitted, too.

use std::collections::BTreeSet;

use classic1983::fitting::Cell;
use classic1983::published::{FileSystem, rows};

use crate::linear_equations;
use crate::loss::mean;

/// A term of the sum: for each cell, true if the term's number is added.
type Holds = Vec<bool>;

/// Rounds of reweighting, which turn least squares into least absolute errors, because mean errors are compared.
const ROUNDS: usize = 25;

/// Returns the mean error in percent of such a table with `numbers` numbers and declared interactions.
pub fn declared(cells: &[Cell], numbers: usize) -> f64 {
    let Factors { own, tests, half, .. } = Factors::from_cells(cells);
    let two = column(cells, |cell| cell.drives == 2);
    let with = |other: &Holds| tests.iter().map(|test| and(test, other)).collect::<Vec<Holds>>();
    let interactions = with(&half).into_iter().chain([and(&two, &half)]).chain(with(&two));
    let mut sum: Vec<Holds> = own.into_iter().chain(tests.iter().cloned()).chain([half.clone()]).collect();
    let room = numbers.saturating_sub(sum.len());
    sum.extend(interactions.take(room));
    fit(cells, &sum)
}

/// Returns the mean error in percent of such a table with greedily chosen interactions.
pub fn chosen(cells: &[Cell], numbers: usize) -> f64 {
    let Factors { own, tests, half, machines } = Factors::from_cells(cells);
    let two = column(cells, |cell| cell.drives == 2);
    let wide: Vec<Holds> = own.iter().cloned().chain(machines).chain([two]).collect();
    let mut pairs: Vec<Holds> =
        wide.iter().flat_map(|wide| tests.iter().chain([&half]).map(|one| and(wide, one))).collect();
    pairs.extend(tests.iter().map(|test| and(test, &half)));
    let mut sum: Vec<Holds> = own.into_iter().chain(tests).chain([half]).collect();
    while sum.len() < numbers {
        let with = |pair: &Holds| fit(cells, &[sum.as_slice(), std::slice::from_ref(pair)].concat());
        let best = pairs.iter().map(with).enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((best, _)) = best else { break };
        sum.push(pairs.swap_remove(best));
    }
    fit(cells, &sum)
}

/// The terms without interactions: each configuration with its number of drives, each test but the first, the second
/// file system, and each machine.
struct Factors {
    own: Vec<Holds>,
    tests: Vec<Holds>,
    half: Holds,
    machines: Vec<Holds>,
}

impl Factors {
    fn from_cells(cells: &[Cell]) -> Factors {
        let own: BTreeSet<(&str, usize)> = cells.iter().map(|cell| (cell.machine, cell.drives)).collect();
        let machines: BTreeSet<&str> = cells.iter().map(|cell| cell.machine).collect();
        Factors {
            own: own.into_iter().map(|one| column(cells, |cell| (cell.machine, cell.drives) == one)).collect(),
            tests: rows().take(4).skip(1).map(|(_, test)| column(cells, |cell| cell.test == test)).collect(),
            half: column(cells, |cell| cell.file_system == FileSystem::Block4K),
            machines: machines.into_iter().map(|machine| column(cells, |cell| cell.machine == machine)).collect(),
        }
    }
}

fn column(cells: &[Cell], holds: impl Fn(&Cell) -> bool) -> Holds {
    cells.iter().map(holds).collect()
}

fn and(a: &Holds, b: &Holds) -> Holds {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

/// Returns the mean error in percent of the best numbers for these columns.
fn fit(cells: &[Cell], columns: &[Holds]) -> f64 {
    let wanted: Vec<f64> = cells.iter().map(|cell| cell.kbytes_per_sec.ln()).collect();
    let mut weights = vec![1.0; cells.len()];
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let numbers = solve(columns, &wanted, &weights);
        let sum = |row: usize| -> f64 {
            columns.iter().zip(&numbers).filter(|(holds, _)| holds[row]).map(|(_, number)| number).sum()
        };
        let errors: Vec<f64> = (0..cells.len()).map(|row| wanted[row] - sum(row)).collect();
        least = least.min(100.0 * mean(errors.iter().map(|error| ((-error).exp() - 1.0).abs())));
        weights = errors.iter().map(|error| 1.0 / error.abs().max(1e-3)).collect();
    }
    least
}

/// Solves the weighted least squares. Identical columns share their number.
fn solve(columns: &[Holds], wanted: &[f64], weights: &[f64]) -> Vec<f64> {
    const RIDGE: f64 = 1e-9;
    let count = columns.len();
    let of = |rows: &dyn Fn(usize) -> bool, value: &dyn Fn(usize) -> f64| -> f64 {
        (0..wanted.len()).filter(|row| rows(*row)).map(|row| weights[row] * value(row)).sum()
    };
    let mut matrix: Vec<Vec<f64>> = (0..count)
        .map(|i| {
            let products = (0..count).map(|j| of(&|row| columns[i][row] && columns[j][row], &|_| 1.0));
            products.chain([of(&|row| columns[i][row], &|row| wanted[row])]).collect()
        })
        .collect();
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += RIDGE;
    }
    linear_equations::solve(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_additive_table_is_fitted_exactly() {
        let mut cells = Cell::all();
        for cell in &mut cells {
            let machine = cell.machine.len() as f64;
            cell.kbytes_per_sec = (5.0
                + machine / 10.0
                + cell.drives as f64 / 7.0
                + f64::from(cell.file_system as u8) * 0.3
                + [0.0, 0.2, -0.1, 0.4][cell.test as usize])
                .exp();
        }
        assert!(declared(&cells, 0) < 1e-3 && chosen(&cells, 0) < 1e-3);
        // Two cells that are not such a sum: more numbers help.
        cells[3].kbytes_per_sec *= 2.0;
        cells[4].kbytes_per_sec *= 0.5;
        let (few, more) = (declared(&cells, 0), declared(&cells, 24));
        assert!(few > 0.5 && more < 1.1 * few, "{few} {more}");
        let (none, some) = (chosen(&cells, 0), chosen(&cells, 18));
        assert!(some < none, "{none} {some}");
    }
}
