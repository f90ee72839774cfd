//! The tables of Kridle & McKusick 1983 next to the simulated ones.

use std::collections::HashMap;

use machines::MachineFault;
use stats::compare::replication::{Comparison, Simulated, error_percent};
use stats::{Cell, Document, TargetInfo};
use workload::programs::classic1983::Classic;

use crate::columns::Column;
use crate::published::{Case, FileSystem, RATES, rows};
use crate::simulation::{FILE_BYTES, Setup, measure};

/// An experiment on a machine. It is simulated once for all columns that print it.
type Experiment = (&'static str, Case);

/// A simulated figure and its bottleneck.
type Outcome = (Simulated, &'static str);

/// Compares all cells of these tables, in printed order, and their twins in other tables.
pub fn comparisons(tables: &[&str]) -> Result<Vec<Comparison>, MachineFault> {
    let experiments = experiments(tables);
    let setup = |(machine, case): &Experiment| Setup::of_case(machine, *case);
    let figures = measure(&experiments.iter().map(setup).collect::<Vec<Setup>>())?;
    let outcomes = figures.iter().map(|figure| (figure.simulated, figure.limit()));
    Ok(compare_all(&experiments.into_iter().zip(outcomes).collect()))
}

/// Returns each experiment that these tables need, once.
fn experiments(tables: &[&str]) -> Vec<Experiment> {
    let is_printed = |column: &Column| tables.contains(&column.table.id);
    let columns = || {
        Column::all()
            .filter(|column| column.judges() && (is_printed(column) || column.twins().any(|twin| is_printed(&twin))))
    };
    Case::all().flat_map(|case| columns().map(move |column| (column.machine, case))).collect()
}

/// Returns the paper's figures for the cells of a stored run that simulated one of its machines without any changed
/// part or number. A figure is from the first table that prints it.
pub fn published_beside(document: &Document) -> Vec<Comparison> {
    document.cells.iter().filter_map(|cell| published_of(cell, machine(document, cell))).collect()
}

/// Returns the simulated machine: the target as given, without its own name or `sim:`.
fn machine<'a>(document: &'a Document, cell: &'a Cell) -> &'a str {
    let info = document.run.targets.iter().find(|info| info.name == cell.target);
    let own = info.map_or(cell.target.as_str(), TargetInfo::own_argument);
    own.strip_prefix("sim:").unwrap_or(own)
}

fn published_of(cell: &Cell, machine: &str) -> Option<Comparison> {
    let column = Column::judging(machine)?;
    let is_as_it_stands = cell.parameters.keys().all(|key| OF_EVERY_CELL.contains(&key.as_str()))
        && cell.number("file_bytes") == Some(FILE_BYTES);
    let file_system = FileSystem::ALL.into_iter().find(|known| cell.word("file_system") == Some(known.name()))?;
    let test = Classic::named(&cell.program)?;
    if !cell.is_simulated() || !is_as_it_stands || !(1..=2).contains(&cell.targets) {
        return None;
    }
    let published = column.figure(Case { file_system, test, drives: cell.targets as usize });
    let simulated =
        Simulated { kbytes_per_sec: cell.rate.as_ref()?.per_second / 1024.0, cpu_percent: cell.cpu_percent?.process };
    Some(Comparison {
        table: column.table.id.to_owned(),
        file_system: file_system.name().to_owned(),
        configuration: column.configuration().to_owned(),
        drives: cell.targets,
        test: cell.program.clone(),
        published,
        simulated,
        error_percent: error_percent(published, simulated),
        cpu_percent_judged: None,
        limited_by: cell.limited_by.as_ref().map_or_else(String::new, |limit| limit.what.name().to_owned()),
        judges: published.measured && !published.suspect,
        twins: Vec::new(),
    })
}

/// Parameters that every simulated cell has. A changed part or number adds another one.
const OF_EVERY_CELL: [&str; 5] = ["buffer_bytes", "drives", "engine", "file_bytes", "file_system"];

/// Combines all printed figures with the simulated ones.
fn compare_all(outcomes: &HashMap<Experiment, Outcome>) -> Vec<Comparison> {
    let mut cells = Vec::new();
    for table in &RATES {
        for (file_system, test) in rows() {
            for column in Column::all().filter(|column| column.table.id == table.id) {
                for drives in 1..=2 {
                    let case = Case { file_system, test, drives };
                    let Some(&(simulated, limited_by)) = outcomes.get(&(column.machine, case)) else { continue };
                    let published = column.figure(case);
                    let judged = column.judge_of_cpu(drives).figure(case).cpu_percent;
                    cells.push(Comparison {
                        table: table.id.to_owned(),
                        file_system: file_system.name().to_owned(),
                        configuration: column.configuration().to_owned(),
                        drives: drives as u32,
                        test: test.name().to_owned(),
                        published,
                        simulated,
                        error_percent: error_percent(published, simulated),
                        cpu_percent_judged: judged.filter(|_| judged != published.cpu_percent),
                        limited_by: limited_by.to_owned(),
                        judges: column.judges() && published.measured && !published.suspect,
                        twins: column.twins().map(|twin| twin.table.id.to_owned()).collect(),
                    });
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 192 cells, of which 93 judge rates and 73 judge CPU shares.
    #[test]
    fn each_measurement_of_the_paper_judges_one_cell() {
        let simulated = Simulated { kbytes_per_sec: 1.0, cpu_percent: 1.0 };
        let of = |tables: &[&str]| -> HashMap<Experiment, Outcome> {
            experiments(tables).into_iter().map(|experiment| (experiment, (simulated, "cpu"))).collect()
        };
        let outcomes = of(&RATES.each_ref().map(|table| table.id));
        let cells = compare_all(&outcomes);
        let summary = stats::compare::replication::summary(&cells).expect("cells that judge");
        assert_eq!((cells.len(), summary.rate.cells, summary.cpu.cells), (192, 93, 73));
        assert_eq!(outcomes.len(), 7 * 16);
        // A single table only needs its own machines, and includes the cells of other tables that print the same.
        let third = of(&["T3"]);
        assert_eq!((third.len(), compare_all(&third).len()), (2 * 16, 4 * 16));
        // The CPU share of the 750 with the UDA50 and two drives is judged by table 3.
        let odd = cells.iter().filter(|cell| cell.judges && cell.cpu_percent_judged.is_some()).count();
        assert_eq!(odd, 4);
    }
}
