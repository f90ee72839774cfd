//! Q2: the effects of controller and bus on the speed of a subsystem.

use machines::MachineFault;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, gain, rate, row};
use crate::published::FileSystem;
use crate::simulation::{Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q2",
    asks: "How fast would the SC780's electronics be on a UNIBUS, and the UDA50's on an SBI or a CMI? (Section 1 asks \
        for \
           the effects of bus and controller; these combinations were not sold.)",
    experiment,
};

/// Machine, controller, and another bus for it.
const SWAPS: [(&str, &str, &str); 3] = [
    ("vax780-sc780", "SC780, 11/780", "unibus"),
    ("vax780-uda50", "UDA50, 11/780", "sbi"),
    ("vax750-uda50", "UDA50, 11/750", "cmi"),
];

fn experiment() -> Result<Answer, MachineFault> {
    let cases: Vec<(Classic, usize)> =
        Classic::ALL.into_iter().flat_map(|test| [1, 2].map(|drives| (test, drives))).collect();
    let mut rows = Vec::new();
    let mut gains = Vec::new();
    for (machine, name, bus) in SWAPS {
        let own = cases.iter().map(|&(test, drives)| Setup::new(machine, FileSystem::Block8K, test, drives));
        let other = own.clone().map(|setup| setup.with(format!("bus={bus}")));
        let figures = measure(&own.chain(other).collect::<Vec<Setup>>())?;
        let (own, other) = figures.split_at(cases.len());
        for ((test, drives), (own, other)) in cases.iter().zip(own.iter().zip(other)) {
            rows.push(row([
                name,
                &format!("{} x{drives}", test.name()),
                &rate(own.rate()),
                &format!("{} on {}", rate(other.rate()), bus.to_uppercase()),
                &gain(own.rate(), other.rate()),
                other.limit(),
            ]));
        }
        let mean =
            own.iter().zip(other).map(|(own, other)| other.rate() / own.rate()).sum::<f64>() / cases.len() as f64;
        gains.push((name, bus.to_uppercase(), mean));
    }
    let own = Setup::new("vax780-uda50", FileSystem::Block8K, Classic::Read8192, 2);
    let sbi = own.with("bus=sbi");
    let effect = spread(&[own, sbi], |figures| figures[1].rate() / figures[0].rate())?;
    let told = gains.iter().map(|(name, bus, mean)| format!("the {name} on the {bus} reaches {:.0} %", 100.0 * mean));
    Ok(Answer {
        headings: row(["controller", "test", "own bus", "other bus", "", "limited by"]),
        rows,
        sentence: format!("Compared with its own bus, {}.", told.collect::<Vec<_>>().join(", ")),
        effect: ("read_8192 with two drives on the UDA50: SBI over UNIBUS", effect),
    })
}
