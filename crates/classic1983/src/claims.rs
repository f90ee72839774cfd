//! The claims of the paper's sections 5 and 6, each with printed and simulated figures.
//!
//! Each claim is judged by its own experiment and threshold. If both variants of the experiment give the same result,
//! these tests cannot tell, whatever the paper says.

use machines::{Machine, MachineFault};
use stats::compare::replication::Published;
use workload::programs::classic1983::Classic::{self, Read8192, Write4096, Write8192};

use crate::columns::Column;
use crate::published::Case;
use crate::published::FileSystem::{Block4K, Block8K};
use crate::simulation::{FILE_BYTES, Figure, PHASES, SATURATED, Setup, measure};

/// The verdict about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The simulation confirms the claim.
    Agrees,
    /// The simulation contradicts the claim.
    Disagrees,
    /// Both variants give the same result, or the claim cannot be simulated.
    CannotTell,
}

impl Verdict {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Disagrees => "disagrees",
            Verdict::CannotTell => "these tests cannot tell",
        }
    }
}

/// A claim of the paper.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Section of the paper.
    pub section: u32,
    /// The claim, in our words.
    pub says: &'static str,
    /// The paper's own figures; empty if it gives none.
    pub printed: String,
    /// The simulated figures.
    pub simulated: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// Rates that differ by less than this are equal: about the error of the paper's rounding to tens.
const SAME: f64 = 0.02;

const SC750: &str = "vax750-sc750";
const UDA750: &str = "vax750-uda50";
const SC780: &str = "vax780-sc780";
const UDA780: &str = "vax780-uda50";
const BAD_LEAD: &str = "vax780-sc780-inadequate-lead";
const EARLY: &str = "vax780-sc780-initial-arbitration";

/// The controller requests the bus early enough. No other change.
const ARBITRATION: &str = "bus=sbi";

/// The rotational delay between blocks before and after it was increased (4.2BSD mkfs.c 2.13 and 2.14).
const DELAYS: [&str; 2] = ["file_system.rotational_delay=2ms", "file_system.rotational_delay=4ms"];

/// Two queues: reads are served first.
const READS_FIRST: &str = "controller.queue=reads-first";

/// Judges all claims.
pub fn claims() -> Result<Vec<Claim>, MachineFault> {
    let judges: [fn() -> Result<Claim, MachineFault>; 20] = [
        writes_take_the_750s_cpu,
        writes_saturate_earlier,
        uda_contends_more,
        delay_explains_two_drives,
        memory_explains_the_780,
        allocation_explains_the_780,
        small_lead_loses_turns,
        earlier_arbitration_helps,
        more_delay_was_needed,
        contention_needed_it,
        bandwidth_is_adequate,
        buffers_smooth_slow_buses,
        uda_keeps_up,
        fast_buses_need_no_buffer,
        intelligence_hinders,
        drivers_cost_the_same,
        reads_go_first,
        reads_first_helps_writers,
        one_queue_idles_the_disk,
        simultaneous_transfers_help,
    ];
    judges.into_iter().map(|judge| judge()).collect()
}

fn claim(section: u32, says: &'static str, printed: String, simulated: String, verdict: Verdict) -> Claim {
    Claim { section, says, printed, simulated, verdict }
}

/// Agrees if `to` is higher than `from` by more than `SAME`; disagrees if it is lower by more than that.
fn raises(from: f64, to: f64) -> Verdict {
    match to / from - 1.0 {
        change if change > SAME => Verdict::Agrees,
        change if change < -SAME => Verdict::Disagrees,
        _ => Verdict::CannotTell,
    }
}

fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Agrees } else { Verdict::Disagrees }
}

fn mean(figures: &[Figure]) -> f64 {
    figures.iter().map(Figure::rate).sum::<f64>() / figures.len() as f64
}

fn one(setup: &Setup) -> Result<Figure, MachineFault> {
    Ok(measure(std::slice::from_ref(setup))?[0])
}

/// Measures the setup unchanged, and with all of these changes.
fn both(setup: &Setup, changes: &[&str]) -> Result<(Figure, Figure), MachineFault> {
    let changed = changes.iter().fold(setup.clone(), |setup, change| setup.with(*change));
    let figures = measure(&[setup.clone(), changed])?;
    Ok((figures[0], figures[1]))
}

/// Returns the printed figure of a machine.
fn figure(machine: &str, case: Case) -> Published {
    Column::judging(machine).map(|column| column.figure(case)).unwrap_or_default()
}

/// Returns the printed rate of a machine with blocks of 8 Kbytes.
fn printed(machine: &str, test: Classic, drives: usize) -> f64 {
    rate(machine, Case { file_system: Block8K, test, drives })
}

/// Returns the printed rate of a machine.
fn rate(machine: &str, case: Case) -> f64 {
    figure(machine, case).kbytes_per_sec.map_or(f64::NAN, f64::from)
}

/// Formats `320 -> 440`.
fn arrow(from: f64, to: f64) -> String {
    format!("{} -> {}", stats::digits::significant(from, 3), stats::digits::significant(to, 3))
}

/// Returns all tests on these numbers of drives, with blocks of 8 Kbytes and of 4.
fn all_tests(machine: &'static str, drives: &[usize]) -> Vec<Setup> {
    let cases = Case::all().filter(|case| drives.contains(&case.drives));
    cases.map(|case| Setup::of_case(machine, case)).collect()
}

/// True for the tests that write a new file.
fn is_new(test: Classic) -> bool {
    matches!(test, Write4096 | Write8192)
}

fn writes_take_the_750s_cpu() -> Result<Claim, MachineFault> {
    let mut setups = all_tests(SC750, &[1, 2]);
    setups.extend(all_tests(UDA750, &[1, 2]));
    setups.retain(|setup| is_new(setup.test.classic().unwrap_or(Read8192)));
    let busy = measure(&setups)?.iter().filter(|figure| figure.simulated.cpu_percent >= SATURATED).count();
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

fn writes_saturate_earlier() -> Result<Claim, MachineFault> {
    let figures = measure(&[Setup::new(SC750, Block8K, Read8192, 2), Setup::new(SC750, Block8K, Write8192, 2)])?;
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

fn uda_contends_more() -> Result<Claim, MachineFault> {
    let figures = measure(&[Setup::new(SC750, Block8K, Write4096, 1), Setup::new(UDA750, Block8K, Write4096, 1)])?;
    let slowed = |figure: &Figure| figure.cpu_in(simulator::Cause::Slowed) / figure.rate();
    let us = |figure: &Figure| format!("{:.0} us", 1e6 * slowed(figure));
    Ok(claim(
        5,
        "Per Kbyte, the UDA50 contends with the CPU for memory more than the SC750.",
        "CPU % and Kbytes/sec of write_4096: 97/370 and 99/380".to_owned(),
        format!("the CPU slows down by {} per Kbyte, against {}", us(&figures[1]), us(&figures[0])),
        raises(slowed(&figures[0]), slowed(&figures[1])),
    ))
}

fn delay_explains_two_drives() -> Result<Claim, MachineFault> {
    let setup = Setup::new(SC780, Block8K, Read8192, 2);
    let longer = (5..=8).map(|delay| setup.with(format!("file_system.rotational_delay={delay}ms")));
    let rates = measure(&longer.collect::<Vec<Setup>>())?.into_iter().map(|figure| figure.rate());
    let (own, best) = (one(&setup)?.rate(), rates.fold(0.0, f64::max));
    Ok(claim(
        5,
        "Two drives on the SC780 are slower than one, because the rotational delay is too short.",
        format!("read_8192 {} with one, {} with two", printed(SC780, Read8192, 1), printed(SC780, Read8192, 2)),
        format!("two drives, 4 ms -> the best of 5 to 8 ms: {}", arrow(own, best)),
        raises(own, best),
    ))
}

fn memory_explains_the_780() -> Result<Claim, MachineFault> {
    let (small, large) = both(&Setup::new(SC780, Block8K, Read8192, 1).with("cpu.memory=2MiB"), &["cpu.memory=8MiB"])?;
    Ok(claim(
        5,
        "The 11/780 is faster because its larger memory holds a larger cache.",
        format!("read_8192 {}", arrow(printed(SC750, Read8192, 1), printed(SC780, Read8192, 1))),
        format!("the 11/780 with 2 -> 8 MiB: {}", arrow(small.rate(), large.rate())),
        raises(small.rate(), large.rate()),
    ))
}

fn allocation_explains_the_780() -> Result<Claim, MachineFault> {
    let own = Setup::new(SC750, Block8K, Write4096, 1);
    let small = own.load()?;
    let number = |machine: &Machine, field: &str| machine.value(field).map_or(f64::NAN, |(value, _)| value);
    let slower = number(&small, "cpu.code") / number(&Setup::new(SC780, Block8K, Write4096, 1).load()?, "cpu.code");
    let (allocate, unit) = small.value("kernel.block_allocate").unwrap_or((f64::NAN, String::new()));
    let quick = small.finely("kernel.block_allocate", allocate / slower, &unit);
    let (slow, fast) = both(&own, &[&quick])?;
    let whole = one(&own.with("cpu=vax-11-780"))?;
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

fn small_lead_loses_turns() -> Result<Claim, MachineFault> {
    let setups = [BAD_LEAD, EARLY].map(|machine| Setup::new(machine, Block8K, Read8192, 1));
    let figures = measure(&setups)?;
    let description = setups[0].describe()?;
    let blocks = FILE_BYTES as f64 / f64::from(description.file_systems[0].block_bytes);
    let turns = |figure: &Figure| {
        let waited = figure.time.waiting[simulator::Activity::Rotation as usize].as_secs_f64();
        waited / description.drive.turn().as_secs_f64() / blocks / f64::from(PHASES)
    };
    Ok(claim(
        5,
        "A search lead that is too short costs an extra revolution between seek and transfer.",
        format!("read_8192 {}", arrow(printed(BAD_LEAD, Read8192, 1), printed(EARLY, Read8192, 1))),
        format!(
            "{}; lost revolutions per block: {:.2} -> {:.2}",
            arrow(figures[0].rate(), figures[1].rate()),
            turns(&figures[0]),
            turns(&figures[1])
        ),
        raises(figures[0].rate(), figures[1].rate()),
    ))
}

fn earlier_arbitration_helps() -> Result<Claim, MachineFault> {
    let setups = all_tests(EARLY, &[1]);
    let early = measure(&setups)?;
    // Change the bus only: the last stage also has another rotational delay and other firmware.
    let late = measure(&setups.iter().map(|setup| setup.with(ARBITRATION)).collect::<Vec<Setup>>())?;
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

fn more_delay_was_needed() -> Result<Claim, MachineFault> {
    // Compare the gain of a longer delay with late bus grants and with grants in time.
    let small: Vec<Setup> = all_tests(EARLY, &[1]).into_iter().filter(|setup| setup.file_system == Block4K).collect();
    let gain = |bus: &[&str]| -> Result<(f64, f64), MachineFault> {
        let with = |delay: &str| -> Result<f64, MachineFault> {
            let setups = small.iter().map(|setup| bus.iter().fold(setup.with(delay), |setup, bus| setup.with(*bus)));
            Ok(mean(&measure(&setups.collect::<Vec<Setup>>())?))
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

fn contention_needed_it() -> Result<Claim, MachineFault> {
    // The need from the previous claim. All tests, because writes move data while the processor works.
    let tests: Vec<Setup> = all_tests(EARLY, &[1]).into_iter().filter(|setup| setup.file_system == Block4K).collect();
    let with = |changes: &[&str]| -> Result<Vec<Figure>, MachineFault> {
        let changed = tests.iter().map(|setup| changes.iter().fold(setup.clone(), |setup, change| setup.with(*change)));
        measure(&changed.collect::<Vec<Setup>>())
    };
    let (before, own) = (with(&[DELAYS[0]])?, with(&[DELAYS[0], ARBITRATION])?);
    let free = with(&[DELAYS[0], ARBITRATION, "bus.slow_down=0percent"])?;
    let long = with(&[DELAYS[1], ARBITRATION])?;
    let slowed = |figures: &[Figure]| {
        let shares = figures.iter().map(|figure| figure.processor_in(simulator::Cause::Slowed));
        100.0 * shares.sum::<f64>() / figures.len() as f64
    };
    let closed = (mean(&free) - mean(&own)) / (mean(&long) - mean(&own));
    Ok(claim(
        5,
        "Contention for memory slowed down the processor.",
        String::new(),
        format!(
            "mean of the tests with blocks of 4 Kbytes, 2 ms apart: slowed down for {:.1} % of the time with late bus \
             requests, and {:.1} % with early ones. Without any contention {}; 4 ms bring {}",
            slowed(&before),
            slowed(&own),
            arrow(mean(&own), mean(&free)),
            stats::digits::significant(mean(&long), 3)
        ),
        match () {
            // If the longer delay brings no gain, it was not needed, and there is nothing to explain.
            () if mean(&long) <= mean(&own) * (1.0 + SAME) => Verdict::CannotTell,
            // Without its cause the need must mostly disappear, and the cause must have grown.
            () => verdict(closed > 0.5 && slowed(&own) > slowed(&before)),
        },
    ))
}

fn bandwidth_is_adequate() -> Result<Claim, MachineFault> {
    Ok(claim(
        6,
        "All systems have more bandwidth than typical applications need.",
        String::new(),
        "applications are not simulated".to_owned(),
        Verdict::CannotTell,
    ))
}

fn buffers_smooth_slow_buses() -> Result<Claim, MachineFault> {
    let (own, small) = both(&Setup::new(UDA780, Block8K, Read8192, 2), &["controller.buffer_sectors=16"])?;
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

fn uda_keeps_up() -> Result<Claim, MachineFault> {
    let (uda, sc) = (mean(&measure(&all_tests(UDA750, &[1, 2]))?), mean(&measure(&all_tests(SC750, &[1, 2]))?));
    let sums = [SC750, UDA750].map(|machine| Case::all().map(|case| rate(machine, case)).sum::<f64>());
    Ok(claim(
        6,
        "On the slow UNIBUS, the UDA50 is about as fast as controllers on the faster busses.",
        format!("on the 11/750, mean {:.0} % of the SC750", 100.0 * sums[1] / sums[0]),
        format!("{:.0} %", 100.0 * uda / sc),
        verdict(uda / sc >= SIMILAR),
    ))
}

fn fast_buses_need_no_buffer() -> Result<Claim, MachineFault> {
    let (one, many) = both(&Setup::new(SC780, Block8K, Read8192, 1), &["controller.buffer_sectors=64"])?;
    Ok(claim(
        6,
        "On a fast bus, one sector of buffer is enough.",
        format!("the SC780 reads {} with one", printed(SC780, Read8192, 1)),
        format!("1 -> 64 sectors: {}", arrow(one.rate(), many.rate())),
        verdict(many.rate() / one.rate() - 1.0 < SAME),
    ))
}

fn intelligence_hinders() -> Result<Claim, MachineFault> {
    let mut tests = Vec::new();
    for drives in [1, 2] {
        tests.extend(Classic::ALL.map(|test| Setup::new(UDA780, Block8K, test, drives)));
    }
    // With the same buffer size as the UDA50; otherwise the experiment would judge the buffer.
    let plain = tests.iter().map(|setup| setup.with("controller=sc780").with("controller.buffer_sectors=52"));
    let plain = measure(&plain.collect::<Vec<Setup>>())?;
    let own = measure(&tests)?;
    let higher = own.iter().zip(&plain).filter(|(own, plain)| plain.rate() > own.rate() * (1.0 + SAME)).count();
    let lower = own.iter().zip(&plain).filter(|(own, plain)| plain.rate() < own.rate() * (1.0 - SAME)).count();
    Ok(claim(
        6,
        "Intelligence in the controller hinders UNIX more than it helps.",
        String::new(),
        format!(
            "RA81s on the UNIBUS of the 11/780 with the SC780's plain electronics and as much buffer: faster in \
                {higher} \
             of {} cells, slower in {lower}",
            own.len()
        ),
        match (higher, lower) {
            (higher, lower) if higher > lower + 1 => Verdict::Agrees,
            (higher, lower) if lower > higher + 1 => Verdict::Disagrees,
            _ => Verdict::CannotTell,
        },
    ))
}

/// Maximum difference of the drivers' CPU shares, in points: half the width of the paper's own "10-14%".
const SHARES_APART: f64 = 4.0;

fn drivers_cost_the_same() -> Result<Claim, MachineFault> {
    let figures = measure(&[Setup::new(SC780, Block8K, Read8192, 1), Setup::new(UDA780, Block8K, Read8192, 1)])?;
    let share = |figure: &Figure| {
        100.0 * (figure.processor_in(simulator::Cause::Start) + figure.processor_in(simulator::Cause::Interrupt))
    };
    let (sc, uda) = (share(&figures[0]), share(&figures[1]));
    Ok(claim(
        6,
        "UNIX spends about the same share of its time in the drivers of the SC780 and of the UDA50.",
        "about 10-14 % in both".to_owned(),
        format!("during reads: {sc:.1} % and {uda:.1} %"),
        verdict((sc - uda).abs() <= SHARES_APART),
    ))
}

fn reads_go_first() -> Result<Claim, MachineFault> {
    // For the tests that both read and write: which queue order is closer to the measurements?
    let cells: Vec<Case> = Case::all().filter(|case| is_new(case.test)).collect();
    let setup = |case: &Case| Setup::of_case(SC780, *case);
    let one = measure(&cells.iter().map(setup).collect::<Vec<Setup>>())?;
    let two = measure(&cells.iter().map(|cell| setup(cell).with(READS_FIRST)).collect::<Vec<Setup>>())?;
    let error = |figures: &[Figure]| {
        let errors =
            cells.iter().zip(figures).map(|(case, figure)| 100.0 * (figure.rate() / rate(SC780, *case) - 1.0).abs());
        errors.sum::<f64>() / cells.len() as f64
    };
    let differ = one.iter().zip(&two).filter(|(one, two)| (two.rate() / one.rate() - 1.0).abs() > SAME).count();
    let (error_one, error_two) = (error(&one), error(&two));
    Ok(claim(
        6,
        "UNIX has separate queues for reads and writes, and serves reads first.",
        "the distributed system has one queue (4.2BSD ufs_disksubr.c 6.1)".to_owned(),
        format!(
            "new files on the SC780: two queues change {differ} of {} cells; the mean error is {error_one:.1} % with \
                one queue and \
             {error_two:.1} % with two",
            cells.len()
        ),
        match error_two - error_one {
            _ if differ == 0 => Verdict::CannotTell,
            farther if farther > 100.0 * SAME => Verdict::Disagrees,
            farther if farther < -100.0 * SAME => Verdict::Agrees,
            _ => Verdict::CannotTell,
        },
    ))
}

fn reads_first_helps_writers() -> Result<Claim, MachineFault> {
    let (one, two) = both(&Setup::new(SC780, Block8K, Write8192, 1), &[READS_FIRST])?;
    Ok(claim(
        6,
        "Serving reads first helps with large new files: maps are read while blocks are written.",
        String::new(),
        format!("write_8192 on one drive of the SC780, one queue -> two: {}", arrow(one.rate(), two.rate())),
        raises(one.rate(), two.rate()),
    ))
}

fn one_queue_idles_the_disk() -> Result<Claim, MachineFault> {
    let (own, first) = both(&Setup::new(UDA780, Block8K, Write8192, 1), &["controller.order=reads-first"])?;
    let [idle, idle_first] = [&own, &first].map(|figure| figure.idle_around_a_read().unwrap_or(f64::NAN));
    Ok(claim(
        6,
        "The single queue of the UDA50 does all writes before it reads a map, so the disk is idle.",
        String::new(),
        format!(
            "write_8192, its queue -> reads first: {}; idle per map read {idle:.1} -> {idle_first:.1} ms",
            arrow(own.rate(), first.rate()),
        ),
        raises(idle_first, idle),
    ))
}

fn simultaneous_transfers_help() -> Result<Claim, MachineFault> {
    let setups = [UDA780, SC780].map(|machine| [1, 2].map(|drives| Setup::new(machine, Block8K, Read8192, drives)));
    let figures = measure(&setups.concat())?;
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
    fn nearly_equal_figures_give_no_verdict() {
        assert_eq!(raises(100.0, 103.0), Verdict::Agrees);
        assert_eq!(raises(100.0, 101.0), Verdict::CannotTell);
        assert_eq!(raises(100.0, 97.0), Verdict::Disagrees);
    }

    #[test]
    fn every_claim_has_a_verdict_and_a_figure() {
        let claims = claims().expect("machines/ is complete");
        assert_eq!(claims.len(), 20);
        for claim in &claims {
            assert!(!claim.simulated.contains("NaN") && !claim.printed.contains("NaN"), "{claim:?}");
        }
        // Verdicts that are visible in the tables themselves: the stages of the SC780, and two drives on the UDA50.
        let agree =
            |says: &str| claims.iter().any(|claim| claim.says.contains(says) && claim.verdict == Verdict::Agrees);
        assert!(agree("search lead") && agree("arbitration for the SBI") && agree("two drives at once"), "{claims:#?}");
    }
}
