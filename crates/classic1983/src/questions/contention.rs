//! Q7: does the bus or the controller contend with the processor for memory?

use machines::MachineFault;
use simulator::Cause;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, row};
use crate::published::FileSystem;
use crate::simulation::{FILE_BYTES, Figure, PHASES, Setup, measure};
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

fn setup((controller, _, changes): (&str, &str, &[&str])) -> Setup {
    let machine = if controller == "SC750" { "vax750-sc750" } else { "vax750-uda50" };
    changes
        .iter()
        .fold(Setup::new(machine, FileSystem::Block8K, Classic::Read8192, 1), |setup, change| setup.with(*change))
}

/// Returns the processor time per Kbyte, in microseconds: slowdown by transfers, and interrupts with driver.
fn costs(figure: &Figure) -> (f64, f64) {
    let kbytes = (FILE_BYTES / 1024) as f64 * f64::from(PHASES);
    let per_kbyte = |seconds: f64| 1e6 * seconds / kbytes;
    let of = |cause: Cause| figure.processor[cause as usize] as f64 / 1e9;
    (per_kbyte(of(Cause::Slowed)), per_kbyte(of(Cause::Interrupt) + of(Cause::Start)))
}

fn experiment() -> Result<Answer, MachineFault> {
    let figures = measure(&CASES.map(setup))?;
    let rows = CASES.iter().zip(&figures).map(|((controller, bus, _), figure)| {
        let (slowed, driver) = costs(figure);
        let seconds = figure.time.cpu().as_secs_f64();
        let all = 1e6 * seconds / ((FILE_BYTES / 1024) as f64 * f64::from(PHASES));
        let us = |value: f64| format!("{} us", stats::digits::significant(value, 2));
        row([controller, bus, &us(all), &us(slowed), &us(driver)])
    });
    let rows = rows.collect();
    let effect = spread(&[setup(CASES[0]), setup(CASES[1]), setup(CASES[2])], |figures| {
        let [own, swapped, other] = [0, 1, 2].map(|index| costs(&figures[index]).0);
        // The part of the difference that is due to the bus.
        (swapped - own) / (other - own)
    })?;
    let (slow_cmi, _) = costs(&figures[0]);
    let (slow_unibus, _) = costs(&figures[2]);
    let by = |setup: Setup| -> Result<Option<(f64, String)>, MachineFault> { Ok(setup.load()?.value("bus.slow_down")) };
    let model = match by(setup(CASES[0]))? == by(setup(CASES[2]))? {
        true => " In the model, a transfer slows down the processor equally on both busses; only its duration differs.",
        false => "",
    };
    let share = match effect.low >= 0.0 && effect.high <= 1.0 {
        true => format!("{:.0} % of the difference is due to the bus", 100.0 * effect.value),
        false => "these machines cannot tell how much of the difference is due to the bus".to_owned(),
    };
    Ok(Answer {
        headings: row(["controller", "bus", "CPU per Kbyte", "slowed by transfers", "driver"]),
        rows,
        sentence: format!(
            "A Kbyte slows down the processor by {slow_cmi:.0} us over the CMI and by {slow_unibus:.0} us over the \
             UNIBUS; {share}.{model}",
        ),
        effect: ("the share of the difference that is due to the bus", effect),
    })
}
