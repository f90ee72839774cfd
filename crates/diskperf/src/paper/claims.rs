//! What the paper claims in its sections 5 and 6, each beside what is printed and what is simulated.
//!
//! A claim is judged by an experiment of its own, by a threshold that stands in its line. Where both ways of the
//! experiment give the same, these tests cannot tell, whatever the paper says.

use workload::programs::mckusick::Classic::{self, Read8192, Write4096, Write8192};

use super::laboratory::{Figure, Setup, measure};
use crate::machines::MachineFault;
use crate::published::vax::RATES;

/// What is to be said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The simulated machines do as it says.
    Agrees,
    /// They do not.
    Disagrees,
    /// They do the same either way, or nothing of it can be simulated.
    CannotTell,
}

impl Verdict {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Disagrees => "disagrees",
            Verdict::CannotTell => "these tests cannot tell",
        }
    }
}

/// An assertion of the paper.
#[derive(Clone, Debug)]
pub struct Claim {
    /// In which section.
    pub section: u32,
    /// What is said, in our words.
    pub says: &'static str,
    /// The paper's own figures for it; empty where it gives none.
    pub printed: String,
    /// The simulated ones.
    pub simulated: String,
    /// What follows.
    pub verdict: Verdict,
}

/// Below this, two rates are the same: about what the paper's rounding to tens leaves open.
const SAME: f64 = 0.02;

const SC750: &str = "vax750-sc750";
const UDA750: &str = "vax750-uda50";
const SC780: &str = "vax780-sc780";
const UDA780: &str = "vax780-uda50";
const BAD_LEAD: &str = "vax780-sc780-inadequate-lead";
const EARLY: &str = "vax780-sc780-initial-arbitration";

/// All of them, judged.
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

/// Agrees where the later is higher than the earlier by more than what is the same, disagrees where it is lower.
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

fn one(setup: &Setup) -> Result<Figure, MachineFault> {
    Ok(measure(std::slice::from_ref(setup))?[0])
}

/// The setup as it is, and with these changes.
fn both(setup: &Setup, changes: &[&str]) -> Result<(Figure, Figure), MachineFault> {
    let changed = changes.iter().fold(setup.clone(), |setup, change| setup.with(*change));
    let figures = measure(&[setup.clone(), changed])?;
    Ok((figures[0], figures[1]))
}

/// A printed rate: table, half, test, configuration, drives.
fn printed(table: usize, half: usize, test: usize, configuration: usize, drives: usize) -> f64 {
    RATES[table].figure(half, test, configuration, drives).kbytes_per_sec.map_or(f64::NAN, f64::from)
}

/// `320 -> 440`
fn arrow(from: f64, to: f64) -> String {
    format!("{} -> {}", report::significant(from, 3), report::significant(to, 3))
}

/// All tests of one drive, or of two, on blocks of eight Kbytes and of four.
fn all_tests(machine: &'static str, drives: &[usize]) -> Vec<Setup> {
    let halves = [0, 1].into_iter();
    let tests = halves.flat_map(|half| Classic::ALL.map(|test| (half, test)));
    tests.flat_map(|(half, test)| drives.iter().map(move |&drives| Setup::of(machine, half, test, drives))).collect()
}

/// From this share on a processor is busy: the least of what the paper calls CPU limited is 96 %, of two programs.
const SATURATED: f64 = 96.0;

fn writes_take_the_750s_cpu() -> Result<Claim, MachineFault> {
    let is_new = |test: Classic| matches!(test, Write4096 | Write8192);
    let mut setups = all_tests(SC750, &[1, 2]);
    setups.extend(all_tests(UDA750, &[1, 2]));
    setups.retain(|setup| is_new(setup.test.classic().unwrap_or(Read8192)));
    let busy = measure(&setups)?.iter().filter(|figure| figure.simulated.cpu_percent >= SATURATED).count();
    let mut in_print = 0;
    for half in 0..2 {
        for (configuration, drives) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
            for test in [1, 2] {
                let share = RATES[0].figure(half, test, configuration, drives).cpu_percent;
                in_print += usize::from(share.is_some_and(|share| f64::from(share) >= SATURATED));
            }
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
    let figures = measure(&[Setup::of(SC750, 0, Read8192, 2), Setup::of(SC750, 0, Write8192, 2)])?;
    let (read, write) = (figures[0], figures[1]);
    Ok(claim(
        5,
        "Writes saturate the CPU at a lower rate than reads, as they allocate blocks too.",
        format!("{} at 96 %, {} at 99 %", printed(0, 0, 0, 0, 2), printed(0, 0, 2, 0, 2)),
        format!(
            "{:.0} at {:.0} %, {:.0} at {:.0} %",
            read.rate(),
            read.simulated.cpu_percent,
            write.rate(),
            write.simulated.cpu_percent
        ),
        raises(write.rate(), read.rate()),
    ))
}

fn uda_contends_more() -> Result<Claim, MachineFault> {
    let figures = measure(&[Setup::of(SC750, 0, Write4096, 1), Setup::of(UDA750, 0, Write4096, 1)])?;
    let slowed = |figure: &Figure| figure.cpu_in(simulator::Cause::Slowed) / figure.rate();
    let us = |figure: &Figure| format!("{:.0} us", 1e6 * slowed(figure));
    Ok(claim(
        5,
        "The UDA50 contends with the CPU for memory more than the SC750, for every Kbyte.",
        "CPU % over Kbytes/sec of write_4096: 97/370 against 99/380".to_owned(),
        format!("slowed down for {} a Kbyte against {}", us(&figures[1]), us(&figures[0])),
        raises(slowed(&figures[0]), slowed(&figures[1])),
    ))
}

fn delay_explains_two_drives() -> Result<Claim, MachineFault> {
    let setup = Setup::of(SC780, 0, Read8192, 2);
    let longer = (5..=8).map(|delay| setup.with(format!("file_system.rotational_delay={delay}ms")));
    let rates = measure(&longer.collect::<Vec<Setup>>())?.into_iter().map(|figure| figure.rate());
    let (own, best) = (one(&setup)?.rate(), rates.fold(0.0, f64::max));
    Ok(claim(
        5,
        "Two drives on the SC780 are slower than one as the rotational delay is too short.",
        format!("read_8192 {} with one, {} with two", printed(1, 0, 0, 0, 1), printed(1, 0, 0, 0, 2)),
        format!("two drives, 4 ms -> the best of 5 to 8 ms: {}", arrow(own, best)),
        raises(own, best),
    ))
}

fn memory_explains_the_780() -> Result<Claim, MachineFault> {
    let (small, large) = both(&Setup::of(SC780, 0, Read8192, 1).with("cpu.memory=2MiB"), &["cpu.memory=8MiB"])?;
    Ok(claim(
        5,
        "The 11/780 is faster as its larger memory holds a larger cache.",
        format!("read_8192 {}", arrow(printed(3, 0, 0, 0, 1), printed(3, 0, 0, 1, 1))),
        format!("the 11/780 with 2 -> 8 MiB: {}", arrow(small.rate(), large.rate())),
        raises(small.rate(), large.rate()),
    ))
}

fn allocation_explains_the_780() -> Result<Claim, MachineFault> {
    let (slow, fast) = both(&Setup::of(SC750, 0, Write4096, 1), &["cpu=vax-11-780"])?;
    Ok(claim(
        5,
        "The 11/780 writes new files faster as its processor allocates blocks faster.",
        format!("write_4096 {}", arrow(printed(3, 0, 1, 0, 1), printed(3, 0, 1, 1, 1))),
        format!("the 11/750 with the other processor: {}", arrow(slow.rate(), fast.rate())),
        raises(slow.rate(), fast.rate()),
    ))
}

fn small_lead_loses_turns() -> Result<Claim, MachineFault> {
    let figures = measure(&[Setup::of(BAD_LEAD, 0, Read8192, 1), Setup::of(EARLY, 0, Read8192, 1)])?;
    let turns = |figure: &Figure| {
        let waited = figure.time.waiting[simulator::Activity::Rotation as usize].as_secs_f64();
        // A turn of the Eagle takes 15.15 ms; a file is 1024 blocks of eight Kbytes.
        waited / 0.01515 / 1024.0 / f64::from(super::laboratory::PHASES)
    };
    Ok(claim(
        5,
        "A search lead that is too short costs a whole turn between seek and transfer.",
        format!("read_8192 {}", arrow(printed(4, 0, 0, 0, 1), printed(4, 0, 0, 1, 1))),
        format!(
            "{}; turns waited for a block: {:.2} -> {:.2}",
            arrow(figures[0].rate(), figures[1].rate()),
            turns(&figures[0]),
            turns(&figures[1])
        ),
        raises(figures[0].rate(), figures[1].rate()),
    ))
}

fn earlier_arbitration_helps() -> Result<Claim, MachineFault> {
    let early = measure(&all_tests(EARLY, &[1]))?;
    let late = measure(&all_tests(SC780, &[1]))?;
    let mean = |figures: &[Figure]| figures.iter().map(Figure::rate).sum::<f64>() / figures.len() as f64;
    let higher = early.iter().zip(&late).filter(|(early, late)| late.rate() > early.rate()).count();
    Ok(claim(
        5,
        "Asking for the SBI earlier raised the rates of the SC780.",
        "all 8 rows with one drive rise".to_owned(),
        format!("{higher} of {} rise; in the mean {}", late.len(), arrow(mean(&early), mean(&late))),
        verdict(higher == late.len()),
    ))
}

fn more_delay_was_needed() -> Result<Claim, MachineFault> {
    let (short, long) = both(
        &Setup::of(SC780, 1, Read8192, 1).with("file_system.rotational_delay=2ms"),
        &["file_system.rotational_delay=4ms"],
    )?;
    Ok(claim(
        5,
        "With the faster transfers the blocks of a file had to lie further apart.",
        String::new(),
        format!("blocks of 4 Kbytes, 2 -> 4 ms: {}", arrow(short.rate(), long.rate())),
        raises(short.rate(), long.rate()),
    ))
}

fn contention_needed_it() -> Result<Claim, MachineFault> {
    let short = Setup::of(SC780, 1, Read8192, 1).with("file_system.rotational_delay=2ms");
    let (own, free) = both(&short, &["bus.slow_down=0percent"])?;
    let long = one(&short.with("file_system.rotational_delay=4ms"))?;
    let closed = (free.rate() - own.rate()) / (long.rate() - own.rate());
    Ok(claim(
        5,
        "The reason was contention for memory, which slowed the processor down.",
        String::new(),
        format!(
            "at 2 ms without any contention {}, where 4 ms bring {}",
            arrow(own.rate(), free.rate()),
            report::significant(long.rate(), 3)
        ),
        // Without its cause the effect would be gone, at least for the most part.
        verdict(closed > 0.5),
    ))
}

fn bandwidth_is_adequate() -> Result<Claim, MachineFault> {
    Ok(claim(
        6,
        "All systems have more bandwidth than typical applications need.",
        String::new(),
        "no application is simulated".to_owned(),
        Verdict::CannotTell,
    ))
}

fn buffers_smooth_slow_buses() -> Result<Claim, MachineFault> {
    let block = ["controller.buffer_sectors=16", "controller.fetched_writes=1"];
    let (own, small) = both(&Setup::of(UDA780, 0, Read8192, 2), &block)?;
    Ok(claim(
        6,
        "Buffering smooths the effects of a slow and busy bus.",
        String::new(),
        format!("read_8192 on two drives of the UDA50, 16 -> 52 sectors: {}", arrow(small.rate(), own.rate())),
        raises(small.rate(), own.rate()),
    ))
}

/// Our reading of "similar": within a third.
const SIMILAR: f64 = 0.67;

fn uda_keeps_up() -> Result<Claim, MachineFault> {
    let mean = |figures: Vec<Figure>| figures.iter().map(Figure::rate).sum::<f64>() / figures.len() as f64;
    let (uda, sc) = (mean(measure(&all_tests(UDA750, &[1, 2]))?), mean(measure(&all_tests(SC750, &[1, 2]))?));
    let mut sums = [0.0, 0.0];
    for (configuration, sum) in sums.iter_mut().enumerate() {
        for (half, test) in (0..2).flat_map(|half| (0..4).map(move |test| (half, test))) {
            *sum += printed(0, half, test, configuration, 1) + printed(0, half, test, configuration, 2);
        }
    }
    Ok(claim(
        6,
        "On the slow UNIBUS the UDA50 is about as fast as controllers on the faster busses.",
        format!("on the 11/750 in the mean {:.0} % of the SC750", 100.0 * sums[1] / sums[0]),
        format!("{:.0} %", 100.0 * uda / sc),
        verdict(uda / sc >= SIMILAR),
    ))
}

fn fast_buses_need_no_buffer() -> Result<Claim, MachineFault> {
    let (one, many) = both(&Setup::of(SC780, 0, Read8192, 1), &["controller.buffer_sectors=64"])?;
    Ok(claim(
        6,
        "On a fast bus one sector of buffer is enough.",
        format!("the SC780 reads {} with one", printed(1, 0, 0, 0, 1)),
        format!("1 -> 64 sectors: {}", arrow(one.rate(), many.rate())),
        verdict(many.rate() / one.rate() - 1.0 < SAME),
    ))
}

fn intelligence_hinders() -> Result<Claim, MachineFault> {
    let mut tests = Vec::new();
    for drives in [1, 2] {
        tests.extend(Classic::ALL.map(|test| Setup::of(UDA780, 0, test, drives)));
    }
    // With as much buffer as the UDA50: without it, it would be the buffer that is judged.
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
            "RA81s on the UNIBUS of the 11/780 with the SC780's plain electronics and as much buffer: faster in {higher} \
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

/// Between the drivers' shares of the processor may lie so many points: half of what the paper's own "10-14%" spans.
const SHARES_APART: f64 = 4.0;

fn drivers_cost_the_same() -> Result<Claim, MachineFault> {
    let figures = measure(&[Setup::of(SC780, 0, Read8192, 1), Setup::of(UDA780, 0, Read8192, 1)])?;
    let share = |figure: &Figure| {
        100.0 * (figure.processor_in(simulator::Cause::Start) + figure.processor_in(simulator::Cause::Interrupt))
    };
    let (sc, uda) = (share(&figures[0]), share(&figures[1]));
    Ok(claim(
        6,
        "UNIX spends about the same share of its time in the SC780's driver and in the UDA50's.",
        "about 10-14 % in both".to_owned(),
        format!("while reading: {sc:.1} % and {uda:.1} %"),
        verdict((sc - uda).abs() <= SHARES_APART),
    ))
}

fn reads_go_first() -> Result<Claim, MachineFault> {
    let (one, two) = both(&Setup::of(SC780, 0, Write8192, 2), &["controller.queue=reads-first"])?;
    Ok(claim(
        6,
        "UNIX keeps reads and writes in two queues, and serves the reads first.",
        "the system as it was distributed keeps one (4.2BSD ufs_disksubr.c 6.1)".to_owned(),
        format!("write_8192 on two drives, one queue -> two: {}", arrow(one.rate(), two.rate())),
        raises(one.rate(), two.rate()),
    ))
}

fn reads_first_helps_writers() -> Result<Claim, MachineFault> {
    let (one, two) = both(&Setup::of(SC780, 0, Write8192, 1), &["controller.queue=reads-first"])?;
    Ok(claim(
        6,
        "Reads first is of use where large files are made: new maps are read while blocks are written.",
        String::new(),
        format!("write_8192 on one drive of the SC780, one queue -> two: {}", arrow(one.rate(), two.rate())),
        raises(one.rate(), two.rate()),
    ))
}

fn one_queue_idles_the_disk() -> Result<Claim, MachineFault> {
    let (own, first) = both(&Setup::of(UDA780, 0, Write8192, 1), &["controller.order=reads-first"])?;
    let idle = |figure: &Figure| 100.0 * figure.drives_in(simulator::Activity::Idle);
    Ok(claim(
        6,
        "The UDA50's single queue does all writes before a map is read, which idles the disk.",
        String::new(),
        format!(
            "write_8192, its queue -> reads first: {}; idle {:.1} -> {:.1} % of the time",
            arrow(own.rate(), first.rate()),
            idle(&own),
            idle(&first)
        ),
        raises(own.rate(), first.rate()),
    ))
}

fn simultaneous_transfers_help() -> Result<Claim, MachineFault> {
    let setups = [UDA780, SC780].map(|machine| [1, 2].map(|drives| Setup::of(machine, 0, Read8192, drives)));
    let figures = measure(&setups.concat())?;
    let ratio = |pair: &[Figure]| pair[1].rate() / pair[0].rate();
    let (uda, sc) = (ratio(&figures[..2]), ratio(&figures[2..]));
    let in_print = |configuration| printed(1, 0, 0, configuration, 2) / printed(1, 0, 0, configuration, 1);
    Ok(claim(
        6,
        "As the UDA50 can transfer from two drives at once, two drives gain much more there.",
        format!("two over one, read_8192: {:.2} against {:.2}", in_print(1), in_print(0)),
        format!("{uda:.2} against {sc:.2}"),
        verdict(uda > 1.0 + SAME && uda > sc + SAME),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_tells_nothing() {
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
        // What the tables show by themselves: the stages of the SC780, and two drives on the UDA50.
        let agree =
            |says: &str| claims.iter().any(|claim| claim.says.contains(says) && claim.verdict == Verdict::Agrees);
        assert!(agree("search lead") && agree("SBI earlier") && agree("two drives at once"), "{claims:#?}");
    }
}
