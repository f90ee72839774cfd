//! Simulates the judging cells of the paper on machines with changed constants. A fit does this repeatedly.

use machines::{Kind, Machine, Place};
use simulator::Description;
use stats::compare::replication::Simulated;
use workload::programs::classic1983::Classic;

use crate::columns::Column;
use crate::published::{Case, FileSystem};
use crate::simulation::{FILE_BYTES, Test, each, over_phases};

/// A cell that judges the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The table that it is judged in.
    pub table: &'static str,
    /// The paper's name for its column.
    pub configuration: &'static str,
    /// The simulated machine.
    pub machine: &'static str,
    /// The file system.
    pub file_system: FileSystem,
    /// The test.
    pub test: Classic,
    /// Number of drives.
    pub drives: usize,
    /// Rate in Kbytes per second, as printed.
    pub kbytes_per_sec: f64,
    /// CPU share in percent, as printed in the column that judges it.
    pub cpu_percent: Option<f64>,
}

impl Cell {
    /// All judging cells, in the order of the tables.
    pub fn all() -> Vec<Cell> {
        let mut cells = Vec::new();
        for column in Column::all().filter(|column| column.judges()) {
            for case in Case::all() {
                let published = column.figure(case);
                let cpu = column.judge_of_cpu(case.drives).figure(case).cpu_percent;
                let Some(rate) = published.kbytes_per_sec.filter(|_| published.measured && !published.suspect) else {
                    continue;
                };
                cells.push(Cell {
                    table: column.table.id,
                    configuration: column.configuration(),
                    machine: column.machine,
                    file_system: case.file_system,
                    test: case.test,
                    drives: case.drives,
                    kbytes_per_sec: rate.into(),
                    cpu_percent: cpu.map(f64::from),
                });
            }
        }
        cells
    }
}

/// A changed number of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Path of the file that it is written in.
    pub file: String,
    /// Its dotted name.
    pub field: String,
    /// The new value, with its unit.
    pub value: String,
}

/// The machines of the tables.
#[derive(Clone, Debug)]
pub struct Machines(Vec<Machine>);

impl Machines {
    /// Loads the machines from `machines/`, unchanged.
    #[expect(clippy::new_without_default, reason = "there is no default machine")]
    pub fn new() -> Machines {
        Machines(Machine::all().filter(|machine| machine.name.starts_with("vax")).collect())
    }

    /// Changes a setting of one machine, as `--set` does.
    pub fn set(&mut self, machine: &str, setting: &str) -> Result<(), String> {
        let known = self.0.iter_mut().find(|known| known.name == machine);
        known.ok_or_else(|| format!("no machine {machine}"))?.set(setting).map_err(|fault| fault.to_string())
    }

    /// Returns the names of the machines that have the field from that file.
    pub fn with(&self, file: &str, field: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |machine| has(machine, file, field)).map(|machine| machine.name.as_str())
    }

    /// Simulates the cells with these changes, and returns the results in the order of the cells. Each change applies
    /// to all machines that have the field from that file. Results are means over `phases` starting positions of the
    /// platters.
    pub fn simulate(&self, cells: &[Cell], changes: &[Change], phases: u32) -> Result<Vec<Simulated>, String> {
        let describe = |machine: &Machine| -> Result<Description, String> {
            let mut changed = machine.clone();
            for change in changes.iter().filter(|change| has(machine, &change.file, &change.field)) {
                changed.set(&format!("{}={}", change.field, change.value)).map_err(|fault| fault.to_string())?;
            }
            changed.describe(2, FILE_BYTES).map_err(|fault| fault.to_string())
        };
        let descriptions = self.0.iter().map(describe).collect::<Result<Vec<Description>, String>>()?;
        let simulated = each(cells, |cell| {
            let description = descriptions.iter().find(|description| description.name == cell.machine);
            let description = description.expect("every column has a machine");
            let figure = over_phases(description, cell.file_system, cell.drives, Test::Classic(cell.test), phases);
            figure.map(|figure| figure.simulated).map_err(|invalid| format!("{}: {invalid}", cell.machine))
        });
        simulated.into_iter().collect()
    }
}

fn has(machine: &Machine, file: &str, field: &str) -> bool {
    let place =
        field.split_once('.').and_then(|(kind, key)| Some(&machine.part(Kind::from_key(kind)?)?.field(key)?.place));
    matches!(place, Some(Place::Line { file: written, .. }) if written == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_three_cells_judge() {
        let cells = Cell::all();
        assert_eq!((cells.len(), cells.iter().filter(|cell| cell.cpu_percent.is_some()).count()), (93, 73));
    }

    #[test]
    fn a_change_reaches_every_machine_that_has_the_part() {
        let machines = Machines::new();
        let with = |file, field| machines.with(file, field).collect::<Vec<_>>();
        assert_eq!(with("machines/kernel/4.2bsd.toml", "kernel.call").len(), 7);
        assert_eq!(with("machines/bus/sbi.toml", "bus.slow_down").len(), 7);
        assert_eq!(with("machines/controller/uda50.toml", "controller.to_memory"), ["vax750-uda50", "vax780-uda50"]);
        assert_eq!(with("machines/controller/si9900.toml", "controller.search_start"), ["vax780-si9900"]);
        let cell = Cell::all().into_iter().find(|cell| cell.machine == "vax780-si9900").expect("a cell of it");
        let change = |value: &str| {
            let (file, field) = ("machines/kernel/4.2bsd.toml".to_owned(), "kernel.copy_per_kib".to_owned());
            machines.simulate(&[cell], &[Change { file, field, value: value.to_owned() }], 1)
        };
        let rate = |value| change(value).expect("simulated")[0].cpu_percent;
        assert!(rate("1200us") > rate("400us"));
        assert!(change("1200heads").is_err());
    }
}
