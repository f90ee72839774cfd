//! The tables of Kridle & McKusick 1983, section 5, and the drives of its section 2, as printed and never corrected.
//! Some measurements are in several tables. If those differ, both are kept.

use stats::compare::replication::Published;
use workload::programs::classic1983::Classic;

/// A table of rates, as printed: the same four tests on two file systems.
#[derive(Debug)]
pub struct RateTable {
    /// Our name for it; the paper does not number its tables.
    pub id: &'static str,
    /// The paper's title.
    pub title: &'static str,
    /// The headings of its column pairs (one drive, two drives). A line break is written as ` / `.
    pub configurations: &'static [&'static str],
    /// One row per test, for each file system.
    rows: [[&'static str; 4]; 2],
}

/// A file system of the paper, in the order of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileSystem {
    /// Blocks of 8 Kbytes.
    Block8K,
    /// Blocks of 4 Kbytes.
    Block4K,
}

impl FileSystem {
    /// Both, in the order of a table's rows.
    pub const ALL: [FileSystem; 2] = [FileSystem::Block8K, FileSystem::Block4K];

    /// Block size and fragment size.
    pub const fn name(self) -> &'static str {
        match self {
            FileSystem::Block8K => "8K/1K",
            FileSystem::Block4K => "4K/1K",
        }
    }
}

/// The rows of a table, in order.
pub fn rows() -> impl Iterator<Item = (FileSystem, Classic)> {
    FileSystem::ALL.into_iter().flat_map(|file_system| Classic::ALL.map(|test| (file_system, test)))
}

/// An experiment of the paper, on any machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The file system.
    pub file_system: FileSystem,
    /// The test.
    pub test: Classic,
    /// Number of drives: 1 or 2.
    pub drives: usize,
}

impl Case {
    /// All experiments on a machine, row by row.
    pub fn all() -> impl Iterator<Item = Case> {
        rows().flat_map(|(file_system, test)| [1, 2].map(|drives| Case { file_system, test, drives }))
    }
}

/// Footnote of the mark `*` after a figure.
pub const FOOTNOTE: &str = "* the operation of the hardware was suspect during these tests.";

/// All tables of rates.
pub const RATES: [RateTable; 5] = [
    RateTable {
        id: "T1",
        title: "4.2BSD File Systems Tests - VAX 11/750",
        configurations: &["Emulex SC750/Eagle", "UDA50/RA81"],
        rows: [
            [
                "490 (69%)   620 (96%)   310 (44%)   520 (65%)",
                "380 (99%)   370 (99%)   370 (97%)   360 (98%)",
                "470 (99%)   470 (99%)   320 (71%)   410 (83%)",
                "650 (99%)   620 (99%)   310 (50%)   450 (70%)",
            ],
            [
                "300 (60%)   400 (84%)   210 (42%)   340 (77%)",
                "320 (98%)   320 (98%)   220 (67%)   290 (99%)",
                "340 (98%)   340 (99%)   220 (65%)   310 (98%)",
                "450 (99%)   450 (98%)   230 (47%)   340 (78%)",
            ],
        ],
    },
    RateTable {
        id: "T2",
        title: "4.2BSD File Systems Tests - VAX 11/780",
        configurations: &["Emulex SC780/Eagle", "UDA50/RA81", "Sys. Ind. 9900/Eagle"],
        rows: [
            [
                "560 (70%)   480 (58%)   360 (45%)   540 (72%)   340 (41%)   520 (66%)",
                "440 (98%)   440 (98%)   380 (99%)   480 (96%)   490 (96%)   440 (84%)",
                "490 (98%)   490 (98%)   220 (58%)*  480 (92%)   490 (80%)   430 (72%)",
                "760 (100%)  560 (72%)   220 (50%)*  180 (52%)*  490 (60%)   520 (62%)",
            ],
            [
                "490 (77%)   370 (66%)   n.m.        n.m.        200 (31%)   370 (56%)",
                "380 (98%)   370 (98%)   n.m.        n.m.        200 (46%)   370 (88%)",
                "380 (99%)   370 (97%)   n.m.        n.m.        200 (45%)   320 (76%)",
                "490 (87%)   350 (66%)   n.m.        n.m.        200 (31%)   300 (46%)",
            ],
        ],
    },
    RateTable {
        id: "T3",
        title: "4.2BSD File Systems Tests - DEC UDA50 - 750 vs. 780",
        configurations: &["VAX 11/750 UNIBUS", "VAX 11/780 UNIBUS"],
        rows: [
            [
                "310 (44%)   520 (84%)   360 (45%)   540 (72%)",
                "370 (97%)   360 (100%)  380 (99%)   480 (96%)",
                "320 (71%)   410 (96%)   220 (58%)*  480 (92%)",
                "310 (50%)   450 (80%)   220 (50%)*  180 (52%)*",
            ],
            [
                "210 (42%)   342 (77%)   n.m.        n.m.",
                "215 (67%)   294 (99%)   n.m.        n.m.",
                "215 (65%)   305 (98%)   n.m.        n.m.",
                "227 (47%)   336 (78%)   n.m.        n.m.",
            ],
        ],
    },
    RateTable {
        id: "T4",
        title: "4.2BSD File Systems Tests - Emulex - 750 vs. 780",
        configurations: &["VAX 11/750 CMI Bus", "VAX 11/780 SBI Bus"],
        rows: [
            [
                "490 (69%)   620 (96%)   560 (70%)   480 (58%)",
                "380 (99%)   370 (99%)   440 (98%)   440 (98%)",
                "470 (99%)   470 (99%)   490 (98%)   490 (98%)",
                "650 (99%)   620 (99%)   760 (100%)  560 (72%)",
            ],
            [
                "300 (60%)   400 (84%)   490 (77%)   370 (66%)",
                "320 (98%)   320 (98%)   380 (98%)   370 (98%)",
                "340 (98%)   340 (99%)   380 (99%)   370 (97%)",
                "450 (99%)   450 (98%)   490 (87%)   350 (66%)",
            ],
        ],
    },
    RateTable {
        id: "T5",
        title: "4.2BSD File Systems Tests - Emulex SC780 Disk Controller Evolution",
        configurations: &[
            "Inadequate Search Lead / Initial SBI Arbitration",
            "OK Search Lead / Init SBI Arb.",
            "OK Search Lead / Improved SBI Arb.",
        ],
        rows: [
            [
                "320         370         440 (60%)   n.m.        560 (70%)   480 (58%)",
                "250         270         300 (63%)   n.m.        440 (98%)   440 (98%)",
                "250         280         340 (60%)   n.m.        490 (98%)   490 (98%)",
                "250         290         380 (48%)   n.m.        760 (100%)  560 (72%)",
            ],
            [
                "200         220         280         n.m.        490 (77%)   370 (66%)",
                "180         190         300         n.m.        380 (98%)   370 (98%)",
                "180         200         320         n.m.        380 (99%)   370 (97%)",
                "190         200         340         n.m.        490 (87%)   350 (66%)",
            ],
        ],
    },
];

/// A table of a drive's characteristics, as printed.
#[derive(Debug)]
pub struct DriveTable {
    /// Our name for it.
    pub id: &'static str,
    /// The paper's title.
    pub title: &'static str,
    /// Characteristic, value, unit.
    pub rows: [(&'static str, &'static str, &'static str); 9],
}

/// The two drives of the paper.
pub const DRIVES: [DriveTable; 2] = [
    DriveTable {
        id: "D1",
        title: "DEC RA81 Disk Drive Characteristics",
        rows: [
            ("Peak Transfer Rate", "2.2", "Mbytes/sec"),
            ("Rotational Speed", "3600", "RPM"),
            ("Data Sectors/Track", "51", ""),
            ("Logical Cylinders", "1248", ""),
            ("Logical Data Heads", "14", ""),
            ("Data Capacity", "456", "Mbytes"),
            ("Minimum Seek Time", "6", "ms"),
            ("Average Seek Time", "28", "ms"),
            ("Maximum Seek Time", "52", "ms"),
        ],
    },
    DriveTable {
        id: "D2",
        title: "Fujitsu 2351A Disk Drive Characteristics",
        rows: [
            ("Peak Transfer Rate", "1.859", "Mbytes/sec"),
            ("Rotational Speed", "3961", "RPM"),
            ("Data Sectors/Track", "48", ""),
            ("Cylinders", "842", ""),
            ("Data Heads", "20", ""),
            ("Data Capacity", "404", "Mbytes"),
            ("Minimum Seek Time", "5", "ms"),
            ("Average Seek Time", "18", "ms"),
            ("Maximum Seek Time", "35", "ms"),
        ],
    },
];

impl RateTable {
    /// Returns the figures of a row: for each configuration, with one drive and with two.
    pub(crate) fn row(&self, file_system: FileSystem, test: Classic) -> Vec<Published> {
        figures(self.rows[file_system as usize][test as usize])
    }
}

/// Parses the figures of a row: `490 (69%)`, `220 (58%)*`, `320`, `n.m.`
fn figures(row: &str) -> Vec<Published> {
    let mut figures: Vec<Published> = Vec::new();
    for word in row.split_whitespace() {
        match word.strip_prefix('(') {
            Some(share) => {
                let last = figures.last_mut().expect("a share stands behind its rate");
                last.suspect = share.ends_with('*');
                last.cpu_percent = share.trim_end_matches(['*', ')', '%']).parse().ok();
            }
            None => {
                let rate = word.parse().ok();
                figures.push(Published { kbytes_per_sec: rate, measured: rate.is_some(), ..Published::default() });
            }
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(&'static str, Published)> {
        let mut all = Vec::new();
        for table in &RATES {
            for row in table.rows.iter().flatten() {
                let figures = figures(row);
                assert_eq!(figures.len(), 2 * table.configurations.len(), "{}: {row}", table.id);
                all.extend(figures.into_iter().map(|figure| (table.id, figure)));
            }
        }
        all
    }

    /// The counts in the paper: 192 cells, 24 of them not measured, 148 with a CPU share, 6 suspect.
    #[test]
    fn every_printed_cell_is_present() {
        let all = all();
        let count = |is: fn(&Published) -> bool| all.iter().filter(|(_, figure)| is(figure)).count();
        assert_eq!(all.len(), 192);
        assert_eq!(count(|figure| !figure.measured), 24);
        assert_eq!(count(|figure| figure.cpu_percent.is_some()), 148);
        assert_eq!(count(|figure| figure.suspect), 6);
        assert!(all.iter().all(|(_, figure)| figure.cpu_percent.is_none_or(|share| share <= 100)));
    }

    #[test]
    fn a_figure_is_found_where_it_is_printed() {
        let suspect = RATES[1].row(FileSystem::Block8K, Classic::Rewrite8192)[3];
        assert_eq!(
            (suspect.kbytes_per_sec, suspect.cpu_percent, suspect.suspect, suspect.measured),
            (Some(180), Some(52), true, true)
        );
        let [one, two] = [2, 3].map(|index| RATES[4].row(FileSystem::Block4K, Classic::Read8192)[index]);
        assert_eq!((one.kbytes_per_sec, one.cpu_percent, two), (Some(280), None, Published::default()));
    }
}
