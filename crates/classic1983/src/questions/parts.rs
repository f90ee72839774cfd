//! Q1: the parts that matter most to each test.

use machines::{MachineFault, RESOURCES, Resource};
use workload::programs::classic1983::Classic;

use super::{Answer, Question, gain, row};
use crate::published::FileSystem;
use crate::simulation::{Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q1",
    asks: "Which parts matter most to each test? (Section 1: how do processors, busses, controllers and drives each \
           contribute?)",
    experiment,
};

const MACHINES: [&str; 3] = ["vax780-sc780", "vax750-sc750", "vax750-uda50"];

/// Returns the setup with a resource 10 % faster.
fn better(setup: &Setup, resource: &Resource) -> Result<Setup, MachineFault> {
    Ok(setup.load()?.faster(resource, 1.1).into_iter().fold(setup.clone(), |setup, change| setup.with(change)))
}

fn experiment() -> Result<Answer, MachineFault> {
    let mut rows = Vec::new();
    let mut most = Vec::new();
    for machine in MACHINES {
        let base = Classic::ALL.map(|test| Setup::new(machine, FileSystem::Block8K, test, 1));
        let mut setups = base.to_vec();
        for resource in &RESOURCES {
            for setup in &base {
                setups.push(better(setup, resource)?);
            }
        }
        let figures = measure(&setups)?;
        let mut figures = figures.chunks(base.len());
        let own = figures.next().unwrap_or_default();
        let mut best = vec![("nothing", 1.0); base.len()];
        for (Resource { name, .. }, better) in RESOURCES.iter().zip(figures) {
            let gains = own.iter().zip(better).map(|(own, better)| gain(own.rate(), better.rate()));
            rows.push([machine.to_owned(), (*name).to_owned()].into_iter().chain(gains).collect());
            for (best, (own, better)) in best.iter_mut().zip(own.iter().zip(better)) {
                if better.rate() / own.rate() > best.1 {
                    *best = (name, better.rate() / own.rate());
                }
            }
        }
        let best: Vec<String> =
            Classic::ALL.iter().zip(best).map(|(test, (part, _))| format!("{} the {part}", test.name())).collect();
        most.push(format!("{machine}: {}", best.join(", ")));
    }
    let base = Setup::new("vax780-sc780", FileSystem::Block8K, Classic::Write8192, 1);
    let faster = better(&base, &RESOURCES[0])?;
    let effect = spread(&[base, faster], |figures| figures[1].rate() / figures[0].rate())?;
    let mut headings = row(["machine", "10 % better"]);
    headings.extend(Classic::ALL.iter().map(|test| test.name().to_owned()));
    Ok(Answer {
        headings,
        rows,
        sentence: format!("The part with the largest effect on one drive - {}.", most.join("; ")),
        effect: ("write_8192 on the SC780: a 10 % faster processor over the usual one", effect),
    })
}
