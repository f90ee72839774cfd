//! Q7: does the bus or the controller contend with the processor for memory?

use machines::MachineFault;
use simulator::Cause;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, row};
use crate::columns::Column;
use crate::published::Case;
use crate::published::FileSystem::Block8K;
use crate::simulation::{Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q7",
    asks: "What costs the processor time for every Kbyte, the bus or the controller? (Section 5: \"we do not know if \
           this contention is caused by the UNIBUS controller or the UDA50\".)",
    experiment,
};

/// Each controller on its own bus, and on the bus of the other.
const CASES: [(&str, &str, &[&str]); 4] = [
    ("SC750", "CMI", &[]),
    ("SC750", "UNIBUS", &["bus=unibus"]),
    ("UDA50", "UNIBUS", &[]),
    ("UDA50", "CMI", &["bus=cmi"]),
];

const TEST: Classic = Classic::Read8192;

fn setup((controller, _, changes): (&str, &str, &[&str])) -> Setup {
    changes.iter().fold(Setup::new(machine(controller), Block8K, TEST, 1), |setup, change| setup.with(*change))
}

fn machine(controller: &str) -> &'static str {
    if controller == "SC750" { "vax750-sc750" } else { "vax750-uda50" }
}

/// Formats a time in seconds as `380 us`.
fn us(seconds: f64) -> String {
    format!("{} us", stats::digits::significant(1e6 * seconds, 3))
}

/// Returns the CPU time per Kbyte that the paper's rate and share imply, in seconds.
fn printed(controller: &str) -> Option<f64> {
    let case = Case { file_system: Block8K, test: TEST, drives: 1 };
    let figure = Column::judging(machine(controller))?.figure(case);
    Some(f64::from(figure.cpu_percent?) / 100.0 / f64::from(figure.kbytes_per_sec?))
}

fn experiment() -> Result<Answer, MachineFault> {
    let figures = measure(&CASES.map(setup))?;
    let rows = CASES.iter().zip(&figures).map(|((controller, bus, changes), figure)| {
        let driver = figure.processor_per_kbyte(Cause::Interrupt) + figure.processor_per_kbyte(Cause::Start);
        let printed = printed(controller).filter(|_| changes.is_empty()).map_or_else(|| "n.m.".to_owned(), us);
        let slowed = figure.processor_per_kbyte(Cause::Slowed);
        row([controller, bus, &printed, &us(figure.cpu_per_kbyte()), &us(slowed), &us(driver)])
    });
    let rows = rows.collect();
    let effect =
        spread(&[setup(CASES[0]), setup(CASES[2])], |figures| figures[1].cpu_per_kbyte() / figures[0].cpu_per_kbyte())?;
    let slow_down = |setup: Setup| -> Result<_, MachineFault> { Ok(setup.load()?.value("bus.slow_down")) };
    let is_assumed = slow_down(setup(CASES[0]))? == slow_down(setup(CASES[2]))?;
    let slowed = [0, 1, 2, 3].map(|case: usize| figures[case].processor_per_kbyte(Cause::Slowed));
    let ratio = printed("UDA50").zip(printed("SC750")).map_or(f64::NAN, |(uda, sc)| uda / sc);
    Ok(Answer {
        headings: row(["controller", "bus", "printed CPU per Kbyte", "simulated", "slowed by transfers", "driver"]),
        rows,
        sentence: format!(
            "read_8192 on one drive of the 11/750, blocks of 8 Kbytes. {} The paper's figures give the UDA50 \
             {ratio:.2} times the CPU time of the SC750.",
            conclusion(is_assumed, slowed)
        ),
        effect: ("CPU time per Kbyte, UDA50 on the UNIBUS over SC750 on the CMI", effect),
    })
}

/// The conclusion from the slow-down per Kbyte, in seconds, of each case. If the model assumes the same slow-down on
/// both buses, the cases only show how long the transfers take.
fn conclusion(is_assumed: bool, [sc_cmi, sc_unibus, uda_unibus, uda_cmi]: [f64; 4]) -> String {
    let share = ((sc_unibus - sc_cmi) + (uda_unibus - uda_cmi)) / 2.0 / (uda_unibus - sc_cmi);
    match () {
        () if is_assumed => "These machines cannot tell: the model assumes that a transfer slows down the processor \
                             equally on both buses."
            .to_owned(),
        () if !(0.0..=1.0).contains(&share) => {
            "These machines cannot tell: bus and controller do not add up.".to_owned()
        }
        () => format!("{:.0} % of the difference is due to the bus.", 100.0 * share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumed_slow_down_decides_nothing() {
        assert!(conclusion(true, [50.0, 80.0, 90.0, 60.0]).contains("cannot tell"));
        assert!(conclusion(false, [50.0, 80.0, 90.0, 60.0]).starts_with("75 %"));
        assert!(conclusion(false, [50.0, 20.0, 60.0, 60.0]).contains("do not add up"));
    }

    #[test]
    fn printed_times_follow_from_rate_and_share() {
        let [sc, uda] = ["SC750", "UDA50"].map(|controller| printed(controller).expect("printed"));
        assert_eq!((us(sc), us(uda)), ("1,410 us".to_owned(), "1,420 us".to_owned()));
    }
}
