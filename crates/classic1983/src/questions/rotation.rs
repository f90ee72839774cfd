//! Q8: the best rotational delay between the blocks of a file.

use machines::MachineFault;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, gain, rate, row};
use crate::published::Case;
use crate::simulation::{Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q8",
    asks: "How far apart should the blocks of a file be, with one drive and with two? (Section 5 suspects the \
           rotational delay wherever two drives are slower than one.)",
    experiment,
};

/// Rotational delays, in milliseconds.
const DELAYS: std::ops::RangeInclusive<u32> = 0..=8;

const MACHINE: &str = "vax780-sc780";

/// Reads and rewrites, which transfer one block directly after another.
const TESTS: [Classic; 2] = [Classic::Read8192, Classic::Rewrite8192];

fn setup(case: Case, delay: u32) -> Setup {
    Setup::of_case(MACHINE, case).with(format!("file_system.rotational_delay={delay}ms"))
}

fn experiment() -> Result<Answer, MachineFault> {
    let columns: Vec<Case> = Case::all().filter(|case| TESTS.contains(&case.test)).collect();
    let setups = DELAYS.flat_map(|delay| columns.iter().map(move |case| setup(*case, delay)));
    let figures = measure(&setups.collect::<Vec<Setup>>())?;
    let mut headings = row(["ms"]);
    headings.extend(columns.iter().map(|Case { file_system, test, drives }| {
        format!("{} {} x{drives}", &file_system.name()[..2], test.name().trim_end_matches("_8192"))
    }));
    let mut rows = Vec::new();
    for (delay, figures) in DELAYS.zip(figures.chunks(columns.len())) {
        rows.push([delay.to_string()].into_iter().chain(figures.iter().map(|figure| rate(figure.rate()))).collect());
    }
    // Ratio of both drives to one alone, at four and at eight milliseconds, for reads of large blocks.
    let pair = |delay| [0, 1].map(|column| setup(columns[column], delay));
    let [one, two] = pair(4);
    let [far_one, far_two] = pair(8);
    let helped = spread(&[one, two, far_one, far_two], |figures| {
        (figures[3].rate() / figures[2].rate()) / (figures[1].rate() / figures[0].rate())
    })?;
    let best = |column: usize| {
        let rates = DELAYS.zip(figures.chunks(columns.len())).map(|(delay, row)| (delay, row[column].rate()));
        rates.fold((0, 0.0), |best, other| if other.1 > best.1 { other } else { best })
    };
    let (best_one, best_two) = (best(0), best(1));
    // The loss of one program with the delay that is best for two, and the reverse.
    let at = |column: usize, delay: u32| figures[delay as usize * columns.len() + column].rate();
    let (lost_one, lost_two) = (gain(best_one.1, at(0, best_two.0)), gain(best_two.1, at(1, best_one.0)));
    Ok(Answer {
        headings,
        rows,
        sentence: format!(
            "The SC780 with Eagles on the 11/780. For read_8192 and blocks of 8 Kbytes, the best rotational delay is \
             {} ms for one program ({}) and {} ms for two ({}). With the delay that is best for the other, one program \
             reads {lost_one}, and two {lost_two}.",
            best_one.0,
            rate(best_one.1),
            best_two.0,
            rate(best_two.1),
        ),
        effect: ("read_8192, blocks of 8 Kbytes: two drives over one at 8 ms, against the same at 4 ms", helped),
    })
}
