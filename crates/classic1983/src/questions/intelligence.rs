//! Q5: does the intelligence of a controller make it slower?

use machines::MachineFault;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, gain, rate, row};
use crate::published::FileSystem;
use crate::simulation::{Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q5",
    asks: "Is intelligence in the controller penalised? (Section 6: it seems to hinder UNIX more than it helps.)",
    experiment,
};

/// Costs of the intelligence that are removed step by step.
const STEPS: [(&str, &[&str]); 4] = [
    ("unchanged", &[]),
    ("no time between commands", &["controller.turnaround=0ms", "controller.turnaround_shared=0ms"]),
    (
        "and none for commands",
        &[
            "controller.turnaround=0ms",
            "controller.turnaround_shared=0ms",
            "controller.command=0ms",
            "controller.response=0ms",
        ],
    ),
    ("unchanged, 16 sectors of buffer", &["controller.buffer_sectors=16", "controller.fetched_writes=1"]),
];

fn setup(changes: &[&str], test: Classic, drives: usize) -> Setup {
    changes
        .iter()
        .fold(Setup::new("vax780-uda50", FileSystem::Block8K, test, drives), |setup, change| setup.with(*change))
}

fn experiment() -> Result<Answer, MachineFault> {
    let cases: Vec<(Classic, usize)> =
        Classic::ALL.into_iter().flat_map(|test| [1, 2].map(|drives| (test, drives))).collect();
    let setups =
        STEPS.iter().flat_map(|(_, changes)| cases.iter().map(move |&(test, drives)| setup(changes, test, drives)));
    let figures = measure(&setups.collect::<Vec<Setup>>())?;
    let own = &figures[..cases.len()];
    let mut rows = Vec::new();
    for ((step, _), figures) in STEPS.iter().zip(figures.chunks(cases.len())) {
        let cells = figures.iter().zip(own).map(|(figure, own)| match figure == own {
            true => rate(figure.rate()),
            false => format!("{} {}", rate(figure.rate()), gain(own.rate(), figure.rate())),
        });
        rows.push([(*step).to_owned()].into_iter().chain(cells).collect());
    }
    let mut headings = row(["UDA50 on the 11/780"]);
    headings.extend(cases.iter().map(|(test, drives)| format!("{} x{drives}", test.name())));
    let pair = [setup(STEPS[0].1, Classic::Read8192, 1), setup(STEPS[2].1, Classic::Read8192, 1)];
    let effect = spread(&pair, |figures| figures[1].rate() / figures[0].rate())?;
    let buffered = figures[3 * cases.len() + 1].rate() / own[1].rate();
    Ok(Answer {
        headings,
        rows,
        sentence: format!(
            "If its microcode took no time, the read rate of the UDA50 would change by {:+.0} % on one drive; with 16 \
             sectors of buffer, which hold one block, by {:+.0} % on two drives.",
            100.0 * (effect.value - 1.0),
            100.0 * (buffered - 1.0)
        ),
        effect: ("read_8192 on one drive: without microcode over with it", effect),
    })
}
