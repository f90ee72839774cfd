//! Claims about the stages of the SC780: search lead, arbitration, rotational delay.

use machines::MachineFault;
use workload::programs::classic1983::Classic::{self, Read8192};

use super::lab::Lab;
use super::{
    BAD_LEAD, Claim, EARLY, SC780, Verdict, all_tests, arrow, claim, cpu_ms, is_new, mean, ms_per_8k, printed, raises,
    verdict,
};
use crate::published::Case;
use crate::published::FileSystem::{Block4K, Block8K};
use crate::simulation::{Figure, Setup};
use crate::uncertainty::SAME;

/// The controller requests the bus early enough. No other change.
const ARBITRATION: &str = "bus=sbi";

/// The rotational delay between blocks before and after it was increased (4.2BSD mkfs.c 2.13 and 2.14).
const DELAYS: [&str; 2] = ["file_system.rotational_delay=2ms", "file_system.rotational_delay=4ms"];

pub(super) fn delay_explains_two_drives(lab: &Lab) -> Result<Claim, MachineFault> {
    let setup = Setup::new(SC780, Block8K, Read8192, 2);
    let longer = LONGER_DELAYS.map(|delay| setup.with(format!("file_system.rotational_delay={delay}ms")));
    let rates: Vec<f64> = lab.measure(&longer)?.iter().map(Figure::rate).collect();
    let (alone, own) = (lab.one(&Setup { drives: 1, ..setup.clone() })?.rate(), lab.one(&setup)?.rate());
    let error = own / printed(SC780, Read8192, 2) - 1.0;
    let shown: Vec<String> = rates.iter().map(|rate| stats::digits::significant(*rate, 3)).collect();
    Ok(claim(
        5,
        "Two drives on the SC780 are slower than one, because the rotational delay is too short.",
        format!(
            "read_8192, blocks of 8 Kbytes: {} with one, {} with two",
            printed(SC780, Read8192, 1),
            printed(SC780, Read8192, 2)
        ),
        format!(
            "{} with one, {} with two ({:+.0} %); two drives at {} to {} ms instead of 4: {}",
            stats::digits::significant(alone, 3),
            stats::digits::significant(own, 3),
            100.0 * error,
            LONGER_DELAYS[0],
            LONGER_DELAYS[LONGER_DELAYS.len() - 1],
            shown.join(", ")
        ),
        delay_explains(alone, own, &rates, error),
    ))
}

/// Rotational delays that are longer than that of the SC780, in milliseconds.
const LONGER_DELAYS: [u32; 4] = [5, 6, 7, 8];

/// The verdict from the rates of one drive, of two, and of two with longer delays. `error` is the relative error of the
/// simulated rate of two drives: the model cannot prove a gain that is smaller.
fn delay_explains(alone: f64, own: f64, longer: &[f64], error: f64) -> Verdict {
    let gains = || longer.iter().map(|rate| rate / own - 1.0);
    let mean = gains().sum::<f64>() / longer.len() as f64;
    match () {
        // Two drives are as fast as one, so there is no loss to explain.
        () if own >= alone * (1.0 - SAME) => Verdict::CannotTell,
        () if mean > error.abs().max(SAME) && gains().all(|gain| gain > -SAME) => Verdict::Agrees,
        () if gains().all(|gain| gain <= SAME) => Verdict::Disagrees,
        () => Verdict::CannotTell,
    }
}

pub(super) fn small_lead_loses_turns(lab: &Lab) -> Result<Claim, MachineFault> {
    let setups = [BAD_LEAD, EARLY].map(|machine| Setup::new(machine, Block8K, Read8192, 1));
    let figures = lab.measure(&setups)?;
    let description = lab.describe(&setups[0])?;
    Ok(claim(
        5,
        "A search lead that is too short costs an extra revolution between seek and transfer.",
        format!("read_8192 {}", arrow(printed(BAD_LEAD, Read8192, 1), printed(EARLY, Read8192, 1))),
        format!(
            "{}; lost revolutions per block: {:.2} -> {:.2}",
            arrow(figures[0].rate(), figures[1].rate()),
            figures[0].turns_per_block(&description),
            figures[1].turns_per_block(&description)
        ),
        raises(figures[0].rate(), figures[1].rate()),
    ))
}

pub(super) fn earlier_arbitration_helps(lab: &Lab) -> Result<Claim, MachineFault> {
    let setups = all_tests(EARLY, &[1]);
    let early = lab.measure(&setups)?;
    // Change the bus only: the last stage also has another rotational delay and other firmware.
    let late = lab.measure(&setups.iter().map(|setup| setup.with(ARBITRATION)).collect::<Vec<Setup>>())?;
    let higher = early.iter().zip(&late).filter(|(early, late)| late.rate() > early.rate()).count();
    Ok(claim(
        5,
        "The new arbitration for the SBI raised the rates of the SC780.",
        "higher in all 8 rows with one drive".to_owned(),
        format!(
            "with no other change, higher in {higher} of {}; mean {}",
            late.len(),
            arrow(mean(&early), mean(&late))
        ),
        verdict(higher == late.len()),
    ))
}

pub(super) fn more_delay_was_needed(lab: &Lab) -> Result<Claim, MachineFault> {
    // Compare the gain of a longer delay with late bus grants and with grants in time.
    let small: Vec<Setup> = all_tests(EARLY, &[1]).into_iter().filter(|setup| setup.file_system == Block4K).collect();
    let gain = |bus: &[&str]| -> Result<(f64, f64), MachineFault> {
        let with = |delay: &str| -> Result<f64, MachineFault> {
            let setups = small.iter().map(|setup| bus.iter().fold(setup.with(delay), |setup, bus| setup.with(*bus)));
            Ok(mean(&lab.measure(&setups.collect::<Vec<Setup>>())?))
        };
        Ok((with(DELAYS[0])?, with(DELAYS[1])?))
    };
    let (late, in_time) = (gain(&[])?, gain(&[ARBITRATION])?);
    let by = |(short, long): (f64, f64)| long / short - 1.0;
    Ok(claim(
        5,
        "With the faster transfers, the rotational delay between blocks had to be longer.",
        String::new(),
        format!(
            "blocks of 4 Kbytes, delay 2 -> 4 ms, mean of the tests: {} with the initial arbitration, {} with the new \
                one",
            arrow(late.0, late.1),
            arrow(in_time.0, in_time.1)
        ),
        // The longer delay was needed if it brings a gain, and a larger one than before.
        match (by(in_time), by(in_time) - by(late)) {
            (now, more) if now > SAME && more > SAME => Verdict::Agrees,
            (now, more) if now < -SAME || more < -SAME => Verdict::Disagrees,
            _ => Verdict::CannotTell,
        },
    ))
}

pub(super) fn contention_needed_it(lab: &Lab) -> Result<Claim, MachineFault> {
    // The need from the previous claim. All tests, because writes move data while the processor works.
    let tests: Vec<Setup> = all_tests(EARLY, &[1]).into_iter().filter(|setup| setup.file_system == Block4K).collect();
    let with = |changes: &[&str]| -> Result<Vec<Figure>, MachineFault> {
        let changed = tests.iter().map(|setup| changes.iter().fold(setup.clone(), |setup, change| setup.with(*change)));
        lab.measure(&changed.collect::<Vec<Setup>>())
    };
    let (before, own) = (with(&[DELAYS[0]])?, with(&[DELAYS[0], ARBITRATION])?);
    let free = with(&[DELAYS[0], ARBITRATION, "bus.slow_down=0percent"])?;
    let long = with(&[DELAYS[1], ARBITRATION])?;
    let slowed = |figures: &[Figure]| {
        let shares = figures.iter().map(|figure| figure.processor_in(simulator::Cause::Slowed));
        100.0 * shares.sum::<f64>() / figures.len() as f64
    };
    let closed = (mean(&free) - mean(&own)) / (mean(&long) - mean(&own));
    // CPU time per 8 Kbytes in both stages, as printed and as simulated. If contention grew, it must have risen.
    let cases = Classic::ALL.map(|test| Case { file_system: Block8K, test, drives: 1 });
    let stages = [EARLY, SC780];
    let setups = stages.map(|machine| cases.map(|case| Setup::of_case(machine, case)));
    let figures = lab.measure(&setups.concat())?;
    let ms = |figure: &Figure| ms_per_8k(figure.rate(), figure.simulated.cpu_percent);
    let simulated = cases.iter().enumerate().map(|(index, _)| [ms(&figures[index]), ms(&figures[cases.len() + index])]);
    let simulated: Vec<[f64; 2]> = simulated.collect();
    let in_print: Vec<[f64; 2]> =
        cases.iter().map(|case| stages.map(|machine| cpu_ms(machine, *case).unwrap_or(f64::NAN))).collect();
    let each_test = |ms: &[[f64; 2]]| {
        let one = |(case, [from, to]): (&Case, &[f64; 2])| format!("{} {from:.1} -> {to:.1}", case.test.name());
        cases.iter().zip(ms).map(one).collect::<Vec<String>>().join(", ")
    };
    let rise = |ms: &[[f64; 2]]| {
        let new = || cases.iter().zip(ms).filter(|(case, _)| is_new(case.test)).map(|(_, [from, to])| to / from - 1.0);
        new().sum::<f64>() / new().count() as f64
    };
    Ok(claim(
        5,
        "The delay had to be longer because contention for memory slowed down the processor.",
        format!(
            "CPU ms per 8 Kbytes, blocks of 8 Kbytes on one drive, initial -> new arbitration: {}",
            each_test(&in_print)
        ),
        format!(
            "{}. Mean of the tests with blocks of 4 Kbytes, 2 ms apart: slowed down for {:.1} % of the time with late \
             bus requests, and {:.1} % with early ones. Without any contention {}; 4 ms bring {}, so contention \
             explains {:.0} % of the need",
            each_test(&simulated),
            slowed(&before),
            slowed(&own),
            arrow(mean(&own), mean(&free)),
            stats::digits::significant(mean(&long), 3),
            100.0 * closed
        ),
        contention(&Contention {
            needed: mean(&long) > mean(&own) * (1.0 + SAME),
            closed,
            grew: slowed(&own) > slowed(&before),
            printed_rise: rise(&in_print),
            simulated_rise: rise(&simulated),
        }),
    ))
}

/// Figures for the verdict about contention.
struct Contention {
    /// The longer delay brings a gain.
    needed: bool,
    /// Share of that gain that a machine without any contention has with the short delay.
    closed: f64,
    /// The new arbitration made contention grow.
    grew: bool,
    /// Relative rise of the CPU time of the tests that write new files, as printed.
    printed_rise: f64,
    /// The same, simulated.
    simulated_rise: f64,
}

/// Our interpretation of a cause that explains most of its effect.
const MOST: f64 = 2.0 / 3.0;

fn contention(figures: &Contention) -> Verdict {
    match () {
        // If the longer delay brings no gain, it was not needed, and there is nothing to explain.
        () if !figures.needed => Verdict::CannotTell,
        // Most of the need must disappear without contention, and contention must have grown.
        () if figures.closed > MOST && figures.grew => Verdict::Agrees,
        // Contention explains a part of the need, and other causes explain the rest.
        () if figures.closed >= 1.0 - MOST && figures.grew => Verdict::CannotTell,
        // The paper's own figures show a rise. A model that lacks most of this rise cannot contradict its cause.
        () if figures.printed_rise > SAME && figures.simulated_rise < figures.printed_rise / 2.0 => Verdict::CannotTell,
        () => Verdict::Disagrees,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_below_the_error_of_the_cell_proves_nothing() {
        let verdict = |longer: [f64; 2], error| delay_explains(560.0, 520.0, &longer, error);
        assert_eq!(verdict([540.0, 545.0], 0.01), Verdict::Agrees);
        assert_eq!(verdict([540.0, 545.0], 0.09), Verdict::CannotTell);
        assert_eq!(verdict([540.0, 500.0], 0.01), Verdict::CannotTell);
        assert_eq!(verdict([500.0, 510.0], 0.01), Verdict::Disagrees);
        assert_eq!(delay_explains(520.0, 520.0, &[600.0], 0.01), Verdict::CannotTell);
    }

    #[test]
    fn a_model_without_the_printed_rise_cannot_contradict_its_cause() {
        let own = Contention { needed: true, closed: 0.1, grew: true, printed_rise: 0.1, simulated_rise: 0.01 };
        assert_eq!(contention(&own), Verdict::CannotTell);
        assert_eq!(contention(&Contention { simulated_rise: 0.08, ..own }), Verdict::Disagrees);
        assert_eq!(contention(&Contention { printed_rise: 0.0, ..own }), Verdict::Disagrees);
        assert_eq!(contention(&Contention { closed: 0.8, ..own }), Verdict::Agrees);
        assert_eq!(contention(&Contention { closed: 0.5, simulated_rise: 0.08, ..own }), Verdict::CannotTell);
        assert_eq!(contention(&Contention { closed: 0.8, grew: false, ..own }), Verdict::CannotTell);
        assert_eq!(contention(&Contention { needed: false, closed: 0.8, ..own }), Verdict::CannotTell);
    }
}
