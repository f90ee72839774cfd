//! The claims of the paper's sections 5 and 6, each with printed and simulated figures.
//!
//! Each claim is judged by its own experiment and threshold. If both variants of the experiment give the same result,
//! or if the model contains the answer as an assumption, these tests cannot tell, whatever the paper says.

mod controllers;
mod evolution;
mod lab;
mod processors;
mod queues;

use std::cmp::Ordering;

use machines::MachineFault;
use stats::compare::replication::Published;
use workload::programs::classic1983::Classic::{self, Write4096, Write8192};

use self::lab::{Figures, Lab};
use crate::assumptions::{Variation, variations};
use crate::columns::Column;
use crate::published::Case;
use crate::published::FileSystem::Block8K;
use crate::simulation::{FEW_PHASES, Figure, PHASES, Setup, each};
use crate::uncertainty::{POSITIONS, side};

/// The verdict about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The simulation confirms the claim.
    Agrees,
    /// The simulation contradicts the claim.
    Disagrees,
    /// Both variants give the same result, the model assumes the answer, or the claim cannot be simulated.
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
    /// The variations with another verdict, and that verdict; `None` if none were tried.
    pub depends_on: Option<Vec<(String, Verdict)>>,
}

const SC750: &str = "vax750-sc750";
const UDA750: &str = "vax750-uda50";
const SC780: &str = "vax780-sc780";
const UDA780: &str = "vax780-uda50";
const BAD_LEAD: &str = "vax780-sc780-inadequate-lead";
const EARLY: &str = "vax780-sc780-initial-arbitration";

/// Judges one claim.
type Judge = fn(&Lab) -> Result<Claim, MachineFault>;

/// The judges of all claims, in the order of the paper.
const JUDGES: [Judge; 20] = [
    processors::writes_take_the_750s_cpu,
    processors::writes_saturate_earlier,
    processors::uda_contends_more,
    evolution::delay_explains_two_drives,
    processors::memory_explains_the_780,
    processors::allocation_explains_the_780,
    evolution::small_lead_loses_turns,
    evolution::earlier_arbitration_helps,
    evolution::more_delay_was_needed,
    evolution::contention_needed_it,
    controllers::bandwidth_is_adequate,
    controllers::buffers_smooth_slow_buses,
    controllers::uda_keeps_up,
    controllers::fast_buses_need_no_buffer,
    controllers::intelligence_hinders,
    controllers::drivers_cost_the_same,
    queues::reads_go_first,
    queues::reads_first_helps_writers,
    queues::one_queue_idles_the_disk,
    controllers::simultaneous_transfers_help,
];

/// Judges all claims on the machines as they are.
pub fn claims() -> Result<Vec<Claim>, MachineFault> {
    let figures = Figures::default();
    JUDGES.into_iter().map(|judge| judge(&Lab::new(None, PHASES, &figures))).collect()
}

/// Judges all claims on the machines as they are, and then again with each assumption changed.
pub fn claims_with_certainty() -> Result<Vec<Claim>, MachineFault> {
    let figures = Figures::default();
    JUDGES.into_iter().map(|judge| with_certainty(judge, &figures)).collect()
}

fn with_certainty(judge: Judge, figures: &Figures) -> Result<Claim, MachineFault> {
    let lab = Lab::new(None, PHASES, figures);
    let claim = judge(&lab)?;
    let verdict = |variation: Option<&Variation>| -> Result<Verdict, MachineFault> {
        Ok(judge(&Lab::new(variation, FEW_PHASES, figures))?.verdict)
    };
    let variations = variations(&lab.asked())?;
    let mut verdicts = vec![(POSITIONS.to_owned(), verdict(None)?)];
    let varied = each(&variations, |variation| verdict(Some(variation)));
    for (variation, verdict) in variations.iter().zip(varied) {
        verdicts.push((variation.name(), verdict?));
    }
    verdicts.retain(|(_, verdict)| *verdict != claim.verdict);
    Ok(Claim { depends_on: Some(verdicts), ..claim })
}

fn claim(section: u32, says: &'static str, printed: String, simulated: String, verdict: Verdict) -> Claim {
    Claim { section, says, printed, simulated, verdict, depends_on: None }
}

/// Agrees if `to` is higher than `from` by more than [`crate::uncertainty::SAME`]; disagrees if it is lower by more
/// than that.
fn raises(from: f64, to: f64) -> Verdict {
    match side(to / from) {
        Ordering::Greater => Verdict::Agrees,
        Ordering::Less => Verdict::Disagrees,
        Ordering::Equal => Verdict::CannotTell,
    }
}

fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Agrees } else { Verdict::Disagrees }
}

fn mean(figures: &[Figure]) -> f64 {
    figures.iter().map(Figure::rate).sum::<f64>() / figures.len() as f64
}

/// Returns the printed figure of a machine, with the CPU share that judges it.
fn figure(machine: &str, case: Case) -> Published {
    let Some(column) = Column::judging(machine) else { return Published::default() };
    let cpu_percent = column.judge_of_cpu(case.drives).figure(case).cpu_percent;
    Published { cpu_percent, ..column.figure(case) }
}

/// Returns the printed rate of a machine with blocks of 8 Kbytes.
fn printed(machine: &str, test: Classic, drives: usize) -> f64 {
    rate(machine, Case { file_system: Block8K, test, drives })
}

/// Returns the printed rate of a machine.
fn rate(machine: &str, case: Case) -> f64 {
    figure(machine, case).kbytes_per_sec.map_or(f64::NAN, f64::from)
}

/// Returns the printed CPU time of a machine per 8 Kbytes, in milliseconds; `None` if the paper does not print it.
fn cpu_ms(machine: &str, case: Case) -> Option<f64> {
    let Published { kbytes_per_sec: Some(rate), cpu_percent: Some(share), .. } = figure(machine, case) else {
        return None;
    };
    Some(ms_per_8k(rate.into(), share.into()))
}

/// CPU time per 8 Kbytes in milliseconds, of a program with this rate in Kbytes per second and this CPU share.
fn ms_per_8k(rate: f64, cpu_percent: f64) -> f64 {
    8.0 * cpu_percent / 100.0 / rate * 1000.0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_equal_figures_give_no_verdict() {
        assert_eq!(raises(100.0, 103.0), Verdict::Agrees);
        assert_eq!(raises(100.0, 101.0), Verdict::CannotTell);
        assert_eq!(raises(100.0, 97.0), Verdict::Disagrees);
    }

    /// The CPU time that the paper's two figures imply: 60 % at 340 Kbytes per second.
    #[test]
    fn cpu_time_per_block_follows_from_rate_and_share() {
        let case = Case { file_system: Block8K, test: Write8192, drives: 1 };
        let ms = [EARLY, SC780].map(|machine| (10.0 * cpu_ms(machine, case).expect("both are printed")).round() / 10.0);
        assert_eq!(ms, [14.1, 16.0]);
        assert_eq!(cpu_ms(BAD_LEAD, case), None);
        // With two drives, the CPU share of table 3 judges.
        assert_eq!(figure(UDA750, Case { drives: 2, ..case }).cpu_percent, Some(96));
    }

    /// Judges a machine by one of its numbers.
    fn finishes_early(lab: &Lab) -> Result<Claim, MachineFault> {
        let setup = Setup::new(SC780, Block8K, Write8192, 1);
        lab.one(&setup)?;
        let (finish, _) = lab.load(&setup)?.value("controller.finish").expect("it has the number");
        Ok(claim(0, "", String::new(), String::new(), verdict(finish < 150.0)))
    }

    #[test]
    fn certainty_names_the_changes_that_give_another_verdict() {
        let claim = with_certainty(finishes_early, &Figures::default()).expect("a machine");
        assert_eq!(claim.verdict, Verdict::Agrees);
        let others = claim.depends_on.expect("changes were tried");
        assert_eq!(others, [("controller.finish=200us (sc780)".to_owned(), Verdict::Disagrees)]);
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
