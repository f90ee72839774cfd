//! Q3: the buffer size that a controller needs.

use machines::MachineFault;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, rate, row};
use crate::published::FileSystem;
use crate::simulation::{Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q3",
    asks: "How much buffer does a controller need, on a slow bus and on a fast one, alone on it and with others? \
           (Section 6: buffering smooths slow busses, and on a fast one little is needed.)",
    experiment,
};

const SECTORS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The bus, and the percentage of it that other devices use.
const BUSES: [(&str, u32); 4] = [("unibus", 0), ("unibus", 30), ("sbi", 0), ("sbi", 60)];

const TESTS: [Classic; 2] = [Classic::Read8192, Classic::Rewrite8192];

fn setup(bus: (&str, u32), sectors: u32, test: Classic) -> Setup {
    Setup::new("vax780-sc780", FileSystem::Block8K, test, 1)
        .with(format!("bus={}", bus.0))
        .with(format!("bus.other_traffic={}percent", bus.1))
        .with(format!("controller.buffer_sectors={sectors}"))
}

fn experiment() -> Result<Answer, MachineFault> {
    let columns: Vec<((&str, u32), Classic)> =
        BUSES.into_iter().flat_map(|bus| TESTS.map(|test| (bus, test))).collect();
    let setups =
        SECTORS.into_iter().flat_map(|sectors| columns.iter().map(move |&(bus, test)| setup(bus, sectors, test)));
    let figures = measure(&setups.collect::<Vec<Setup>>())?;
    let mut headings = row(["sectors"]);
    headings.extend(columns.iter().map(|((bus, others), test)| {
        let others = if *others == 0 { String::new() } else { format!(", {others} % others") };
        format!("{} {}{others}", bus.to_uppercase(), test.name().trim_end_matches("_8192"))
    }));
    let rows: Vec<Vec<String>> = SECTORS
        .iter()
        .zip(figures.chunks(columns.len()))
        .map(|(sectors, row)| {
            [sectors.to_string()].into_iter().chain(row.iter().map(|figure| rate(figure.rate()))).collect()
        })
        .collect();
    // More buffer is useless from the first size that reaches 97 % of the rate with the largest.
    let enough = |column: usize| {
        let rates: Vec<f64> = figures.chunks(columns.len()).map(|row| row[column].rate()).collect();
        let last = rates[rates.len() - 1];
        SECTORS.iter().zip(&rates).find(|(_, rate)| **rate >= 0.97 * last).map_or(0, |(sectors, _)| *sectors)
    };
    let effect = spread(&[setup(BUSES[0], 1, Classic::Read8192), setup(BUSES[0], 64, Classic::Read8192)], |figures| {
        figures[1].rate() / figures[0].rate()
    })?;
    Ok(Answer {
        headings,
        rows,
        sentence: format!(
            "The electronics of the SC780 with one Eagle on the 11/780, blocks of 8 Kbytes, which are 16 sectors. To \
             read within 3 % of the rate with {} sectors of buffer, it needs {} sectors on the UNIBUS and {} on the \
             SBI. It needs {} and {} if other devices use {} % and {} % of the bus.",
            SECTORS[SECTORS.len() - 1],
            enough(0),
            enough(4),
            enough(2),
            enough(6),
            BUSES[1].1,
            BUSES[3].1
        ),
        effect: ("read_8192 over the UNIBUS of the 11/780, blocks of 8 Kbytes: 64 sectors of buffer over one", effect),
    })
}
