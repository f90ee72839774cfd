//! Q1: which parts matter most to each test.

use workload::programs::mckusick::Classic;

use super::super::certainty::spread;
use super::super::laboratory::{Setup, measure};
use super::{Answer, Question, gain, row};
use crate::machines::{Machine, MachineFault};

pub const QUESTION: Question = Question {
    id: "Q1",
    asks: "Which parts matter most to each test? (Section 1: how do processors, busses, controllers and drives each \
           contribute?)",
    experiment,
};

const MACHINES: [&str; 3] = ["vax780-sc780", "vax750-sc750", "vax750-uda50"];

/// A part, and the numbers that are made a tenth better with it: times smaller, rates larger.
const PARTS: [(&str, &[&str], &[&str]); 6] = [
    ("processor", &["cpu.code"], &[]),
    ("memory", &["cpu.copy"], &[]),
    ("bus", &["bus.slow_down"], &["bus.to_memory", "bus.from_memory"]),
    (
        "controller",
        &[
            "controller.command",
            "controller.finish",
            "controller.search_start",
            "controller.response",
            "controller.turnaround",
            "controller.turnaround_shared",
        ],
        &[],
    ),
    ("arm", &["drive.seek_least", "drive.seek_average", "drive.seek_most"], &[]),
    ("spindle", &[], &["drive.rpm"]),
];

/// The changes that make a part of this machine a tenth better, of what it has.
pub fn better(machine: &str, part: &str) -> Result<Vec<String>, MachineFault> {
    let machine = Machine::load(machine)?;
    let (_, times, rates) = PARTS.iter().find(|(name, ..)| *name == part).copied().unwrap_or(("", &[], &[]));
    let change = |field: &&str, factor: f64| {
        machine.value(field).map(|(value, unit)| format!("{field}={:.6}{unit}", value * factor))
    };
    let smaller = times.iter().filter_map(|field| change(field, 1.0 / 1.1));
    Ok(smaller.chain(rates.iter().filter_map(|field| change(field, 1.1))).collect())
}

fn experiment() -> Result<Answer, MachineFault> {
    let mut rows = Vec::new();
    let mut most = Vec::new();
    for machine in MACHINES {
        let base = Classic::ALL.map(|test| Setup::of(machine, 0, test, 1));
        let mut setups = base.to_vec();
        for (part, ..) in PARTS {
            let changes = better(machine, part)?;
            setups.extend(base.iter().map(|setup| changes.iter().fold(setup.clone(), |setup, change| setup.with(change))));
        }
        let figures = measure(&setups)?;
        let mut figures = figures.chunks(base.len());
        let own = figures.next().unwrap_or_default();
        let mut best = vec![("nothing", 1.0); base.len()];
        for ((part, ..), better) in PARTS.iter().zip(figures) {
            let gains = own.iter().zip(better).map(|(own, better)| gain(own.rate(), better.rate()));
            rows.push([machine.to_owned(), (*part).to_owned()].into_iter().chain(gains).collect());
            for (best, (own, better)) in best.iter_mut().zip(own.iter().zip(better)) {
                if better.rate() / own.rate() > best.1 {
                    *best = (part, better.rate() / own.rate());
                }
            }
        }
        let best: Vec<String> =
            Classic::ALL.iter().zip(best).map(|(test, (part, _))| format!("{} the {part}", test.name())).collect();
        most.push(format!("{machine}: {}", best.join(", ")));
    }
    let base = Setup::of("vax780-sc780", 0, Classic::Write8192, 1);
    let faster = better("vax780-sc780", "processor")?.iter().fold(base.clone(), |setup, change| setup.with(change));
    let effect = spread(&[base, faster], |figures| figures[1].rate() / figures[0].rate())?;
    let mut headings = row(["machine", "a tenth better"]);
    headings.extend(Classic::ALL.iter().map(|test| test.name().to_owned()));
    Ok(Answer {
        headings,
        rows,
        sentence: format!("What helps most on one drive - {}.", most.join("; ")),
        effect: ("write_8192 on the SC780: a processor a tenth faster over the usual one", effect),
    })
}
