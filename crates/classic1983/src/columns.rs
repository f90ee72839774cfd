//! Maps each column of the published tables to a simulated machine.

use stats::compare::replication::Published;

use crate::published::{Case, RATES, RateTable};

/// The machine of each column, by its name under `machines/`, in the order of the tables.
const MACHINES: [&[&str]; 5] = [
    &["vax750-sc750", "vax750-uda50"],
    &["vax780-sc780", "vax780-uda50", "vax780-si9900"],
    &["vax750-uda50", "vax780-uda50"],
    &["vax750-sc750", "vax780-sc780"],
    &["vax780-sc780-inadequate-lead", "vax780-sc780-initial-arbitration", "vax780-sc780"],
];

/// A pair of columns: one and two drives of one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The table that it belongs to.
    pub table: &'static RateTable,
    /// Index of the pair in the table.
    pub index: usize,
    /// The simulated machine.
    pub machine: &'static str,
}

impl Column {
    /// All column pairs, in the order of the tables.
    pub fn all() -> impl Iterator<Item = Column> {
        RATES.iter().zip(MACHINES).flat_map(|(table, machines)| {
            machines.iter().enumerate().map(move |(index, machine)| Column { table, index, machine })
        })
    }

    /// The column of a machine whose cells judge the simulation; `None` if the paper did not measure the machine.
    pub fn judging(machine: &str) -> Option<Column> {
        Column::all().find(|column| column.machine == machine)
    }

    /// Returns the figure of an experiment.
    pub fn figure(self, Case { file_system, test, drives }: Case) -> Published {
        self.table.row(file_system, test)[2 * self.index + drives - 1]
    }

    /// The paper's name for it.
    pub fn configuration(self) -> &'static str {
        self.table.configurations[self.index]
    }

    /// True if its cells judge the simulation: those of the first two tables, and the stages of the last table that no
    /// other table prints. The other columns repeat them.
    pub fn judges(self) -> bool {
        Column::judging(self.machine).is_some_and(|first| self.is(&first))
    }

    /// The other columns that print the same measurements.
    pub fn twins(self) -> impl Iterator<Item = Column> {
        Column::all().filter(move |other| other.machine == self.machine && !self.is(other))
    }

    fn is(self, other: &Column) -> bool {
        (self.table.id, self.index) == (other.table.id, other.index)
    }

    /// The column whose CPU shares judge this one's cells with two drives. For the UDA50 on the 750, tables 1 and 3
    /// differ. In table 1, a program needs less CPU per Kbyte next to another program than alone, which is less
    /// plausible.
    pub fn judge_of_cpu(self, drives: usize) -> Column {
        let third = self.twins().find(|twin| twin.table.id == "T3");
        third.filter(|_| drives == 2 && self.machine == "vax750-uda50").unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_machines_and_measurements_judge_once() {
        for (table, machines) in RATES.iter().zip(MACHINES) {
            assert_eq!(table.configurations.len(), machines.len(), "{}", table.id);
        }
        let judging: Vec<(&str, usize)> =
            Column::all().filter(|column| column.judges()).map(|column| (column.table.id, column.index)).collect();
        assert_eq!(judging, [("T1", 0), ("T1", 1), ("T2", 0), ("T2", 1), ("T2", 2), ("T5", 0), ("T5", 1)]);
    }

    /// The paper prints most measurements twice. Eleven cells differ between the tables, all of the UDA50 on the 750:
    /// seven rates, which table 1 rounds to tens, and four CPU shares.
    #[test]
    fn twins_differ_in_eleven_cells() {
        let mut rates = 0;
        let mut shares = 0;
        for column in Column::all().filter(|column| column.judges()) {
            for twin in column.twins() {
                for case in Case::all() {
                    let [here, there] = [column, twin].map(|column| column.figure(case));
                    rates += usize::from(here.kbytes_per_sec != there.kbytes_per_sec);
                    shares += usize::from(here.cpu_percent != there.cpu_percent);
                    assert!(here == there || column.machine == "vax750-uda50");
                }
            }
        }
        assert_eq!((rates, shares), (7, 4));
    }
}
