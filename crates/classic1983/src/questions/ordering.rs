//! Q4: should the system or the controller order requests?

use machines::MachineFault;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, rate, row};
use crate::published::FileSystem;
use crate::simulation::{Setup, Test, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q4",
    asks: "Who should order requests, the system or the controller - in files read and written from end to end, in \
           blocks at random places, and for a system that orders nothing, as VMS? (Section 6 blames the UDA50 for \
           ordering requests again that UNIX had ordered.)",
    experiment,
};

/// Name, order of the driver, order of the controller.
const CASES: [(&str, &str, &str); 5] = [
    ("neither", "fifo", "fifo"),
    ("UNIX", "disksort", "fifo"),
    ("controller, as under VMS", "fifo", "disksort"),
    ("both", "disksort", "disksort"),
    ("UNIX, reads first", "reads-first", "fifo"),
];

const TESTS: [Test; 4] =
    [Test::Classic(Classic::Read8192), Test::Classic(Classic::Write8192), Test::RandomReads, Test::RandomWrites];

/// The setup with blocks of 4 Kbytes, the size of the random tests.
fn setup((_, queue, order): (&str, &str, &str), test: Test, drives: usize) -> Setup {
    Setup { test, ..Setup::new("vax780-uda50", FileSystem::Block4K, Classic::Read8192, drives) }
        .with(format!("controller.queue={queue}"))
        .with(format!("controller.order={order}"))
}

fn experiment() -> Result<Answer, MachineFault> {
    let columns: Vec<(Test, usize)> = TESTS.into_iter().flat_map(|test| [1, 2].map(|drives| (test, drives))).collect();
    let setups = CASES.iter().flat_map(|case| columns.iter().map(move |&(test, drives)| setup(*case, test, drives)));
    let figures = measure(&setups.collect::<Vec<Setup>>())?;
    let mut headings = row(["who orders"]);
    headings.extend(columns.iter().map(|(test, drives)| format!("{} x{drives}", test.name())));
    let rows = CASES.iter().zip(figures.chunks(columns.len())).map(|((who, ..), figures)| {
        [(*who).to_owned()].into_iter().chain(figures.iter().map(|figure| rate(figure.rate()))).collect()
    });
    let rows = rows.collect();
    let pair = [setup(CASES[0], Test::RandomWrites, 1), setup(CASES[1], Test::RandomWrites, 1)];
    let effect = spread(&pair, |figures| figures[1].rate() / figures[0].rate())?;
    let over_neither =
        |case: usize, column: usize| figures[case * columns.len() + column].rate() / figures[column].rate();
    let by_controller = over_neither(2, 6);
    // Sequential files, with any order: the columns before the random tests.
    let most = (1..CASES.len())
        .flat_map(|case| (0..4).map(move |column| (case, column)))
        .map(|(case, column)| (over_neither(case, column) - 1.0).abs())
        .fold(0.0, f64::max);
    Ok(Answer {
        headings,
        rows,
        sentence: format!(
            "The UDA50 with RA81s on the 11/780, blocks of 4 Kbytes. For sequential files, the order changes at most \
             {:.0} %. Random writes on one drive reach {:.0} % of the rate without any order if UNIX orders requests, \
             and {:.0} % if the controller does.",
            100.0 * most,
            100.0 * effect.value,
            100.0 * by_controller
        ),
        effect: ("random writes on one drive of the UDA50, blocks of 4 Kbytes: ordered by UNIX over unordered", effect),
    })
}
