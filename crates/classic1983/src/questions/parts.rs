//! Q1: the parts that matter most to each test.

use machines::{MachineFault, RESOURCES, Resource};
use workload::programs::classic1983::Classic;

use super::{Answer, Question, gain, row};
use crate::columns::Column;
use crate::published::{Case, FileSystem};
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
    let mut slower = Vec::new();
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
        let errors = Classic::ALL.iter().zip(own).map(|(test, own)| {
            let case = Case { file_system: FileSystem::Block8K, test: *test, drives: 1 };
            let printed = Column::judging(machine).and_then(|column| column.figure(case).kbytes_per_sec);
            printed.map_or_else(|| "n.m.".to_owned(), |printed| gain(printed.into(), own.rate()))
        });
        rows.push([machine.to_owned(), "unchanged: error of the model".to_owned()].into_iter().chain(errors).collect());
        let mut best = vec![("nothing", 1.0); base.len()];
        for (index, (Resource { name, .. }, better)) in RESOURCES.iter().zip(figures).enumerate() {
            let gains = own.iter().zip(better).map(|(own, better)| gain(own.rate(), better.rate()));
            rows.push([machine.to_owned(), (*name).to_owned()].into_iter().chain(gains).collect());
            for (test, (own, better)) in own.iter().zip(better).enumerate().filter(|_| *name == "spindle") {
                if better.rate() < own.rate() * (1.0 - LOSS) {
                    let [before, after] = [&setups[test], &setups[(index + 1) * base.len() + test]];
                    let turns = [own.turns_per_block(&before.describe()?), better.turns_per_block(&after.describe()?)];
                    slower.push((format!("{} on {machine}", Classic::ALL[test].name()), turns));
                }
            }
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
        sentence: format!(
            "The part with the largest effect on one drive, blocks of 8 Kbytes - {}.{}",
            most.join("; "),
            missed(&slower)
        ),
        effect: ("write_8192 on the SC780, blocks of 8 Kbytes: a 10 % faster processor over the usual one", effect),
    })
}

/// The smallest loss that is explained.
const LOSS: f64 = 0.01;

/// The reason why a faster spindle lowers these rates, from the revolutions per block for which they wait before and
/// after. Empty if there are none.
fn missed(slower: &[(String, [f64; 2])]) -> String {
    let one = |(test, [before, after]): &(String, [f64; 2])| {
        let reason = if after > before { "" } else { ", which does not explain it" };
        format!("{test} waits for {after:.2} revolutions per block instead of {before:.2}{reason}")
    };
    match slower {
        [] => String::new(),
        _ => format!(
            " A faster spindle lowers a rate if the next block passes before it is asked for: {}.",
            slower.iter().map(one).collect::<Vec<String>>().join("; ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_a_faster_spindle_lowers_is_explained() {
        assert_eq!(missed(&[]), "");
        let told = missed(&[("read".to_owned(), [0.5, 0.7]), ("write".to_owned(), [0.5, 0.4])]);
        assert!(told.contains("read waits for 0.70 revolutions per block instead of 0.50;"), "{told}");
        assert!(
            told.ends_with("write waits for 0.40 revolutions per block instead of 0.50, which does not explain it.")
        );
    }
}
