//! Claims about the processors of the two VAXes: saturation, contention, memory, allocation.

use machines::{Machine, MachineFault};
use workload::programs::classic1983::Classic::{Read8192, Write4096, Write8192};

use super::lab::Lab;
use super::{
    Claim, SC750, SC780, UDA750, Verdict, all_tests, arrow, claim, cpu_ms, figure, is_new, printed, raises, verdict,
};
use crate::published::Case;
use crate::published::FileSystem::Block8K;
use crate::simulation::{Figure, SATURATED, Setup};

pub(super) fn writes_take_the_750s_cpu(lab: &Lab) -> Result<Claim, MachineFault> {
    let mut setups = all_tests(SC750, &[1, 2]);
    setups.extend(all_tests(UDA750, &[1, 2]));
    setups.retain(|setup| is_new(setup.test.classic().unwrap_or(Read8192)));
    let busy = lab.measure(&setups)?.iter().filter(|figure| figure.simulated.cpu_percent >= SATURATED).count();
    let mut in_print = 0;
    for case in Case::all().filter(|case| is_new(case.test)) {
        for machine in [SC750, UDA750] {
            let share = figure(machine, case).cpu_percent;
            in_print += usize::from(share.is_some_and(|share| f64::from(share) >= SATURATED));
        }
    }
    Ok(claim(
        5,
        "Writing new files on the 11/750 is limited by the CPU in some cases.",
        format!("{in_print} of {} cells at {SATURATED} % or more", setups.len()),
        format!("{busy} of {}", setups.len()),
        verdict(busy > 0),
    ))
}

pub(super) fn writes_saturate_earlier(lab: &Lab) -> Result<Claim, MachineFault> {
    let figures = lab.measure(&[Setup::new(SC750, Block8K, Read8192, 2), Setup::new(SC750, Block8K, Write8192, 2)])?;
    // If a processor is not saturated, extrapolate to the rate at which it would be, with the same CPU time per Kbyte.
    let full = |rate: f64, share: f64| rate * 100.0 / share;
    let both = |[read, write]: [(f64, f64); 2]| {
        format!(
            "saturated at {:.0} for reads ({:.0} at {:.0} %), at {:.0} for writes ({:.0} at {:.0} %)",
            full(read.0, read.1),
            read.0,
            read.1,
            full(write.0, write.1),
            write.0,
            write.1
        )
    };
    let case = |test| Case { file_system: Block8K, test, drives: 2 };
    let share = |test| figure(SC750, case(test)).cpu_percent.map_or(f64::NAN, f64::from);
    let in_print = [Read8192, Write8192].map(|test| (printed(SC750, test, 2), share(test)));
    let simulated = [0, 1].map(|index: usize| (figures[index].rate(), figures[index].simulated.cpu_percent));
    let [read, write] = simulated;
    Ok(claim(
        5,
        "Writes saturate the CPU at a lower rate than reads, because they also allocate blocks.",
        both(in_print),
        both(simulated),
        // If writes do not saturate the processor, the question has no answer.
        if write.1 < SATURATED { Verdict::CannotTell } else { raises(full(write.0, write.1), full(read.0, read.1)) },
    ))
}

pub(super) fn uda_contends_more(lab: &Lab) -> Result<Claim, MachineFault> {
    let cases: Vec<Case> = Case::all().filter(|case| case.file_system == Block8K).collect();
    let setups = [UDA750, SC750].map(|machine| cases.iter().map(move |case| Setup::of_case(machine, *case)));
    let figures = lab.measure(&setups.into_iter().flatten().collect::<Vec<Setup>>())?;
    let (uda, sc) = figures.split_at(cases.len());
    // All figures compare the CPU time per Kbyte of the UDA50 with that of the SC750.
    let in_print: Vec<f64> =
        cases.iter().filter_map(|case| Some(cpu_ms(UDA750, *case)? / cpu_ms(SC750, *case)?)).collect();
    let simulated: Vec<f64> = uda.iter().zip(sc).map(|(uda, sc)| uda.cpu_per_kbyte() / sc.cpu_per_kbyte()).collect();
    let slowed = |figures: &[Figure]| {
        let per_kbyte = figures.iter().map(|figure| figure.processor_per_kbyte(simulator::Cause::Slowed));
        per_kbyte.sum::<f64>() / figures.len() as f64
    };
    let slowed = [slowed(sc), slowed(uda)];
    let slow_down = |machine| -> Result<Option<(f64, String)>, MachineFault> {
        Ok(lab.load(&Setup::of_case(machine, cases[0]))?.value("bus.slow_down"))
    };
    let is_assumed = slow_down(SC750)? == slow_down(UDA750)?;
    let note =
        if is_assumed { ": the model assumes that a transfer slows down the CPU equally on every bus" } else { "" };
    Ok(claim(
        5,
        "Per Kbyte, the UDA50 contends with the CPU for memory more than the SC750.",
        format!("CPU time per Kbyte on the 11/750, blocks of 8 Kbytes, UDA50 over SC750: {}", range(&in_print)),
        format!(
            "{}; transfers slow down the CPU by {:.0} us per Kbyte, against {:.0} us{note}",
            range(&simulated),
            1e6 * slowed[1],
            1e6 * slowed[0]
        ),
        contends(is_assumed, slowed),
    ))
}

/// The verdict from the slow-down per Kbyte of the SC750 and of the UDA50. If the model assumes the same slow-down
/// during transfers of both, the difference only shows how long transfers take.
fn contends(is_assumed: bool, [sc, uda]: [f64; 2]) -> Verdict {
    if is_assumed { Verdict::CannotTell } else { raises(sc, uda) }
}

/// Formats `1.01 to 1.11, mean 1.05`.
fn range(ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    format!("{least:.2} to {most:.2}, mean {:.2}", ratios.iter().sum::<f64>() / ratios.len() as f64)
}

pub(super) fn memory_explains_the_780(lab: &Lab) -> Result<Claim, MachineFault> {
    let (small, large) =
        lab.both(&Setup::new(SC780, Block8K, Read8192, 1).with("cpu.memory=2MiB"), &["cpu.memory=8MiB"])?;
    Ok(claim(
        5,
        "The 11/780 is faster because its larger memory holds a larger cache.",
        format!("read_8192 {}", arrow(printed(SC750, Read8192, 1), printed(SC780, Read8192, 1))),
        format!("the 11/780 with 2 -> 8 MiB: {}", arrow(small.rate(), large.rate())),
        raises(small.rate(), large.rate()),
    ))
}

pub(super) fn allocation_explains_the_780(lab: &Lab) -> Result<Claim, MachineFault> {
    let own = Setup::new(SC750, Block8K, Write4096, 1);
    let small = lab.load(&own)?;
    let number = |machine: &Machine, field: &str| machine.value(field).map_or(f64::NAN, |(value, _)| value);
    let slower = number(&small, "cpu.code") / number(&lab.load(&Setup::new(SC780, Block8K, Write4096, 1))?, "cpu.code");
    let (allocate, unit) = small.value("kernel.block_allocate").unwrap_or((f64::NAN, String::new()));
    let quick = small.finely("kernel.block_allocate", allocate / slower, &unit);
    let (slow, fast) = lab.both(&own, &[&quick])?;
    let whole = lab.one(&own.with("cpu=vax-11-780"))?;
    Ok(claim(
        5,
        "The 11/780 writes new files faster because its processor allocates blocks faster.",
        format!("write_4096 {}", arrow(printed(SC750, Write4096, 1), printed(SC780, Write4096, 1))),
        format!(
            "the 11/750 with the allocation speed of the 11/780: {}; with its whole processor {}",
            arrow(slow.rate(), fast.rate()),
            stats::digits::significant(whole.rate(), 3)
        ),
        raises(slow.rate(), fast.rate()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumption_is_no_evidence() {
        assert_eq!(contends(true, [78.0, 245.0]), Verdict::CannotTell);
        assert_eq!(contends(false, [78.0, 245.0]), Verdict::Agrees);
        assert_eq!(contends(false, [245.0, 78.0]), Verdict::Disagrees);
    }

    /// The printed evidence shows a difference: the paper's CPU time per Kbyte is never lower with the UDA50.
    #[test]
    fn the_printed_figures_differ() {
        let case = Case { file_system: Block8K, test: Write8192, drives: 2 };
        let ms = [SC750, UDA750].map(|machine| cpu_ms(machine, case).expect("printed"));
        assert!(ms[1] > 1.1 * ms[0], "{ms:?}");
        assert_eq!(range(&[1.2, 1.0, 1.1]), "1.00 to 1.20, mean 1.10");
    }
}
