//! Q2: the effects of controller and bus on the speed of a subsystem.

use machines::{Machine, MachineFault};
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
    let mut assumed = Vec::new();
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
        let setup = Setup::new(machine, FileSystem::Block8K, Classic::Read8192, 1);
        assumed.extend(own_rate(name, &setup.load()?));
    }
    let own = Setup::new("vax780-sc780", FileSystem::Block8K, Classic::Read8192, 1);
    let unibus = own.with("bus=unibus");
    let effect = spread(&[own, unibus], |figures| figures[1].rate() / figures[0].rate())?;
    let told = gains.iter().map(|(name, bus, mean)| format!("the {name} on the {bus} reaches {:.0} %", 100.0 * mean));
    Ok(Answer {
        headings: row(["controller", "test", "own bus", "other bus", "", "limited by"]),
        rows,
        sentence: format!(
            "Compared with its own bus, with blocks of 8 Kbytes and as the mean of these tests, {}.{}",
            told.collect::<Vec<_>>().join(", "),
            caveat(&assumed)
        ),
        effect: ("read_8192 with one drive on the SC780 of the 11/780, blocks of 8 Kbytes: UNIBUS over SBI", effect),
    })
}

/// Returns the controller and its own data rate, if the model limits the rate in the controller and not in the bus.
fn own_rate(name: &str, machine: &Machine) -> Option<String> {
    let (rate, unit) = machine.value("controller.to_memory")?;
    Some(format!("{name}: {} {unit}", stats::digits::significant(rate, 3)))
}

/// The sentence about rates that the model assumes, so that the experiment cannot decide. Empty without such rates.
fn caveat(own_rates: &[String]) -> String {
    match own_rates {
        [] => String::new(),
        rates => format!(
            " For a controller with a data rate of its own, these machines cannot tell: the model assumes that it \
             keeps that rate on every bus ({}).",
            rates.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_controller_with_its_own_rate_keeps_it() {
        let rates = SWAPS.map(|(machine, name, _)| own_rate(name, &Machine::load(machine).expect("a machine")));
        assert!(rates[0].is_none() && rates[1].is_some() && rates[2].is_some(), "{rates:?}");
        assert_eq!(caveat(&[]), "");
        assert!(caveat(&["UDA50: 5 KiB/s".to_owned()]).ends_with("on every bus (UDA50: 5 KiB/s)."));
    }
}
