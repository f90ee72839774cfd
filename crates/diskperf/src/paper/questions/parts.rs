//! Q1: which parts matter most to each test.

use workload::programs::mckusick::Classic;

use super::super::certainty::{scaled, spread};
use super::super::laboratory::{Setup, measure};
use super::{Answer, Question, gain, row};
use crate::machines::MachineFault;

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

/// The setup with a part a tenth better, of whatever numbers its machine has.
fn better(setup: &Setup, part: &str) -> Result<Setup, MachineFault> {
    let machine = setup.load()?;
    let (_, times, rates) = PARTS.iter().find(|(name, ..)| *name == part).copied().unwrap_or(("", &[], &[]));
    let factors = times.iter().map(|field| (field, 1.0 / 1.1)).chain(rates.iter().map(|field| (field, 1.1)));
    Ok(factors.fold(setup.clone(), |setup, (field, factor)| match machine.value(field) {
        Some((value, unit)) => scaled(&setup, field, value * factor, &unit),
        None => setup,
    }))
}

fn experiment() -> Result<Answer, MachineFault> {
    let mut rows = Vec::new();
    let mut most = Vec::new();
    for machine in MACHINES {
        let base = Classic::ALL.map(|test| Setup::of(machine, 0, test, 1));
        let mut setups = base.to_vec();
        for (part, ..) in PARTS {
            for setup in &base {
                setups.push(better(setup, part)?);
            }
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
    let faster = better(&base, "processor")?;
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
