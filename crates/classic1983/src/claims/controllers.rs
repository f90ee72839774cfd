//! Claims about controllers and buses: buffers, intelligence, drivers, simultaneous transfers.

use machines::MachineFault;
use workload::programs::classic1983::Classic::Read8192;

use super::lab::Lab;
use super::{
    Claim, SC750, SC780, UDA750, UDA780, Verdict, all_tests, arrow, claim, mean, printed, raises, rate, verdict,
};
use crate::published::Case;
use crate::published::FileSystem::Block8K;
use crate::simulation::{Figure, Setup};
use crate::uncertainty::SAME;

pub(super) fn bandwidth_is_adequate(_: &Lab) -> Result<Claim, MachineFault> {
    Ok(claim(
        6,
        "All systems have more bandwidth than typical applications need.",
        String::new(),
        "applications are not simulated".to_owned(),
        Verdict::CannotTell,
    ))
}

pub(super) fn buffers_smooth_slow_buses(lab: &Lab) -> Result<Claim, MachineFault> {
    let (own, small) = lab.both(&Setup::new(UDA780, Block8K, Read8192, 2), &["controller.buffer_sectors=16"])?;
    Ok(claim(
        6,
        "Buffering smooths the effects of a slow and busy bus.",
        String::new(),
        format!("read_8192 on two drives of the UDA50, 16 -> 52 sectors: {}", arrow(small.rate(), own.rate())),
        raises(small.rate(), own.rate()),
    ))
}

/// Our interpretation of "similar": within a third.
const SIMILAR: f64 = 0.67;

pub(super) fn uda_keeps_up(lab: &Lab) -> Result<Claim, MachineFault> {
    let (uda, sc) = (mean(&lab.measure(&all_tests(UDA750, &[1, 2]))?), mean(&lab.measure(&all_tests(SC750, &[1, 2]))?));
    let sums = [SC750, UDA750].map(|machine| Case::all().map(|case| rate(machine, case)).sum::<f64>());
    Ok(claim(
        6,
        "On the slow UNIBUS, the UDA50 is about as fast as controllers on the faster busses.",
        format!("on the 11/750, mean {:.0} % of the SC750", 100.0 * sums[1] / sums[0]),
        format!("{:.0} %", 100.0 * uda / sc),
        verdict(uda / sc >= SIMILAR),
    ))
}

pub(super) fn fast_buses_need_no_buffer(lab: &Lab) -> Result<Claim, MachineFault> {
    let (one, many) = lab.both(&Setup::new(SC780, Block8K, Read8192, 1), &["controller.buffer_sectors=64"])?;
    Ok(claim(
        6,
        "On a fast bus, one sector of buffer is enough.",
        format!("the SC780 reads {} with one", printed(SC780, Read8192, 1)),
        format!("1 -> 64 sectors: {}", arrow(one.rate(), many.rate())),
        verdict(many.rate() / one.rate() - 1.0 < SAME),
    ))
}

pub(super) fn intelligence_hinders(lab: &Lab) -> Result<Claim, MachineFault> {
    let tests: Vec<Setup> =
        all_tests(UDA780, &[1, 2]).into_iter().filter(|setup| setup.file_system == Block8K).collect();
    let own = lab.measure(&tests)?;
    // The same buffer as the UDA50; otherwise the experiment would judge the buffer. Two drives, as in the paper, so
    // that the driver searches.
    let parts = ["controller=sc780", "controller.configured_drives=2", "controller.buffer_sectors=52"];
    let plain = |rates: &[String]| -> Result<Vec<Figure>, MachineFault> {
        let plain = tests.iter().map(|setup| parts.iter().fold(setup.clone(), |setup, part| setup.with(*part)));
        let plain = plain.map(|setup| rates.iter().fold(setup, |setup, rate| setup.with(rate.clone())));
        lab.measure(&plain.collect::<Vec<Setup>>())
    };
    // The data rate of a controller is not a part of its intelligence. So the plain controller has the rate of the bus
    // in one experiment, and the rate of the UDA50 in the other.
    let machine = lab.load(&tests[0])?;
    let rates = ["to_memory", "from_memory"].map(|direction| {
        let (rate, unit) = machine.value(&format!("controller.{direction}"))?;
        Some(machine.finely(&format!("bus.{direction}"), rate, &unit))
    });
    let counts = |plain: &[Figure]| {
        let is = |than: fn(f64, f64) -> bool| {
            own.iter().zip(plain).filter(|(own, plain)| than(plain.rate(), own.rate())).count()
        };
        (is(|plain, own| plain > own * (1.0 + SAME)), is(|plain, own| plain < own * (1.0 - SAME)))
    };
    let of_the_bus = counts(&plain(&[])?);
    let of_the_uda = counts(&plain(&rates.into_iter().flatten().collect::<Vec<String>>())?);
    let shown = |(higher, lower): (usize, usize)| format!("faster in {higher}, slower in {lower}");
    Ok(claim(
        6,
        "Intelligence in the controller hinders UNIX more than it helps.",
        String::new(),
        format!(
            "RA81s on the UNIBUS of the 11/780, blocks of 8 Kbytes, {} cells: the SC780's plain electronics with as \
             much buffer are {} at the rate of the bus, and {} at that of the UDA50",
            own.len(),
            shown(of_the_bus),
            shown(of_the_uda)
        ),
        hinders(of_the_bus, of_the_uda),
    ))
}

/// The verdict from the numbers of cells in which plain electronics are faster and slower: at the rate of the bus, and
/// at that of the intelligent controller. If the two verdicts differ, the data rate decides, not the intelligence.
fn hinders(of_the_bus: (usize, usize), of_the_controller: (usize, usize)) -> Verdict {
    let verdict = |(faster, slower): (usize, usize)| match () {
        () if faster > slower + 1 => Verdict::Agrees,
        () if slower > faster + 1 => Verdict::Disagrees,
        () => Verdict::CannotTell,
    };
    if verdict(of_the_bus) == verdict(of_the_controller) { verdict(of_the_bus) } else { Verdict::CannotTell }
}

/// Maximum difference of the drivers' CPU shares, in points: half the width of the paper's own "10-14%".
const SHARES_APART: f64 = 4.0;

pub(super) fn drivers_cost_the_same(lab: &Lab) -> Result<Claim, MachineFault> {
    let setups = [SC780, UDA780].map(|machine| Setup::new(machine, Block8K, Read8192, 1));
    let figures = lab.measure(&setups)?;
    let share = |figure: &Figure| {
        100.0 * (figure.processor_in(simulator::Cause::Start) + figure.processor_in(simulator::Cause::Interrupt))
    };
    let shares = [share(&figures[0]), share(&figures[1])];
    let interrupt = |setup: &Setup| Ok(lab.load(setup)?.value("controller.driver_interrupt"));
    let costs: Vec<Option<(f64, String)>> = setups.iter().map(interrupt).collect::<Result<_, MachineFault>>()?;
    let is_assumed = costs[0] == costs[1];
    let note = if is_assumed { ": the model assumes that an interrupt costs the same with both" } else { "" };
    Ok(claim(
        6,
        "UNIX spends about the same share of its time in the drivers of the SC780 and of the UDA50.",
        "about 10-14 % in both".to_owned(),
        format!(
            "read_8192 on one drive of the 11/780, blocks of 8 Kbytes: {:.1} % and {:.1} %{note}",
            shares[0], shares[1]
        ),
        cost_the_same(is_assumed, shares),
    ))
}

/// The verdict from the CPU shares of the two drivers, in percent. An assumption of equal costs is not evidence.
fn cost_the_same(is_assumed: bool, [sc, uda]: [f64; 2]) -> Verdict {
    if is_assumed { Verdict::CannotTell } else { verdict((sc - uda).abs() <= SHARES_APART) }
}

pub(super) fn simultaneous_transfers_help(lab: &Lab) -> Result<Claim, MachineFault> {
    let setups = [UDA780, SC780].map(|machine| [1, 2].map(|drives| Setup::new(machine, Block8K, Read8192, drives)));
    let figures = lab.measure(&setups.concat())?;
    let ratio = |pair: &[Figure]| pair[1].rate() / pair[0].rate();
    let (uda, sc) = (ratio(&figures[..2]), ratio(&figures[2..]));
    let in_print = |machine| printed(machine, Read8192, 2) / printed(machine, Read8192, 1);
    Ok(claim(
        6,
        "Two drives gain much more on the UDA50, because it can transfer from two drives at once.",
        format!("two drives over one, read_8192: {:.2} against {:.2}", in_print(UDA780), in_print(SC780)),
        format!("{uda:.2} against {sc:.2}"),
        verdict(uda > 1.0 + SAME && uda > sc + SAME),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_data_path_is_no_lack_of_intelligence() {
        assert_eq!(hinders((6, 1), (5, 2)), Verdict::Agrees);
        assert_eq!(hinders((6, 1), (2, 5)), Verdict::CannotTell);
        assert_eq!(hinders((1, 6), (2, 5)), Verdict::Disagrees);
        assert_eq!(hinders((4, 3), (4, 3)), Verdict::CannotTell);
    }

    #[test]
    fn equal_costs_that_are_assumed_are_no_evidence() {
        assert_eq!(cost_the_same(true, [11.0, 11.0]), Verdict::CannotTell);
        assert_eq!(cost_the_same(false, [11.0, 12.0]), Verdict::Agrees);
        assert_eq!(cost_the_same(false, [11.0, 5.0]), Verdict::Disagrees);
    }
}
