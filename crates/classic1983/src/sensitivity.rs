//! Errors over all cells that judge, if an assumption that no fit varies has another value.

use machines::MachineFault;
use stats::compare::replication::{Assumed, Assumptions, Errors, Summary};

use crate::assumptions::{Variation, unfitted};
use crate::fitting::Cell;
use crate::published::Case;
use crate::simulation::{FEW_PHASES, Figure, Setup, measure_from};

/// Returns the errors with each other value, without a new fit. Values that change no machine are left out.
pub fn assumptions() -> Result<Assumptions, MachineFault> {
    Ok(varied(&Cell::all(), FEW_PHASES)?.expect("93 cells judge"))
}

/// Like [`assumptions`], for these cells and starting positions; `None` without a rate or a CPU share.
fn varied(cells: &[Cell], phases: u32) -> Result<Option<Assumptions>, MachineFault> {
    let setup = |cell: &Cell| {
        let Cell { file_system, test, drives, .. } = *cell;
        Setup::of_case(cell.machine, Case { file_system, test, drives })
    };
    let own: Vec<Setup> = cells.iter().map(setup).collect();
    // The cells unchanged, and then those that each variation changes.
    let mut all = own.clone();
    let mut changes = Vec::new();
    for (assumption, variation) in unfitted() {
        let mut places: Vec<usize> = (0..own.len()).collect();
        let mut before = None;
        for (place, setup) in places.iter_mut().zip(&own) {
            let Some(changed) = variation.applied(setup)? else { continue };
            before.get_or_insert(variation.own(setup)?);
            *place = all.len();
            all.push(changed);
        }
        if let Some(before) = before {
            changes.push((assumption, variation, before, places));
        }
    }
    let figures = measure_from(&all, phases)?;
    let changed = changes.iter().filter_map(|(assumption, variation, before, places)| {
        let changed: Vec<Figure> = places.iter().map(|place| figures[*place]).collect();
        Some(row(assumption.kind.name(), variation, before, errors(cells, &changed)?))
    });
    let changed = changed.collect();
    let unchanged = errors(cells, &figures[..own.len()]);
    Ok(unchanged.map(|unchanged| Assumptions { phases, unchanged, changed }))
}

fn row(kind: &str, variation: &Variation, own: &str, errors: Summary) -> Assumed {
    let other = variation.value().to_owned();
    let (field, part) = (variation.field().to_owned(), variation.part().to_owned());
    Assumed { kind: kind.to_owned(), field, part, own: own.to_owned(), other, errors }
}

/// Returns the errors of these figures of the cells: rates and CPU shares.
fn errors(cells: &[Cell], figures: &[Figure]) -> Option<Summary> {
    let pairs = || cells.iter().zip(figures);
    let rate = pairs().map(|(cell, figure)| 100.0 * (figure.rate() / cell.kbytes_per_sec - 1.0));
    let cpu = pairs().filter_map(|(cell, figure)| Some(figure.simulated.cpu_percent - cell.cpu_percent?));
    Some(Summary { rate: Errors::from_errors(rate)?, cpu: Errors::from_errors(cpu)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells_of_an_early_stage() -> Vec<Cell> {
        Cell::all().into_iter().filter(|cell| cell.machine.ends_with("initial-arbitration")).collect()
    }

    #[test]
    fn other_values_change_the_errors_of_machines_that_have_them() {
        let Assumptions { phases, unchanged, changed } =
            varied(&cells_of_an_early_stage(), 1).expect("machines").expect("cells");
        assert_eq!((phases, unchanged.rate.cells), (1, 8));
        let lead: Vec<&Assumed> = changed.iter().filter(|one| one.field == "controller.search_lead").collect();
        assert_eq!(lead.iter().map(|one| one.other.as_str()).collect::<Vec<_>>(), ["6sectors", "7sectors"]);
        assert!(lead.iter().all(|one| one.own == "5sectors" && one.errors != unchanged), "{lead:?} {unchanged:?}");
        assert!(changed.iter().all(|one| !["uda50", "si9900"].contains(&one.part.as_str())), "{changed:?}");
    }

    /// A figure that equals the printed one has no error, and cells without a CPU share count for the rate only.
    #[test]
    fn errors_compare_each_cell_with_its_own_figure() {
        let cells = cells_of_an_early_stage();
        let case = |cell: &Cell| Case { file_system: cell.file_system, test: cell.test, drives: cell.drives };
        let setups: Vec<Setup> = cells.iter().map(|cell| Setup::of_case(cell.machine, case(cell))).collect();
        let mut figures = measure_from(&setups, 1).expect("machines");
        for (figure, cell) in figures.iter_mut().zip(&cells) {
            figure.simulated.kbytes_per_sec = 1.1 * cell.kbytes_per_sec;
            figure.simulated.cpu_percent = cell.cpu_percent.unwrap_or_default() - 2.0;
        }
        let Summary { rate, cpu } = errors(&cells, &figures).expect("cells");
        assert!((rate.mean - 10.0).abs() < 1e-9 && (cpu.mean - 2.0).abs() < 1e-9);
        assert_eq!((rate.cells, cpu.cells), (8, 4));
    }
}
