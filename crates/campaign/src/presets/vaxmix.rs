//! The indirect approach next to the direct one (Kridle & McKusick 1983, section 3): random accesses of a mix, in
//! transactions per second, and the four programs of the paper. The mixes are ours; the user can give another, or
//! derive one from a trace.

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use stats::Cell;
use units::{Bytes, Nanos};
use workload::programs::classic1983::BYTES_1983;
use workload::programs::vaxmix::{SIMULATED_FILE, VaxMix};
use workload::{Mix, Program};

use super::{KBYTES_PER_SEC, OPS_PER_SEC, Preset, Settings, Sizing, groups};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::Target;

/// Mixes reads and writes as on VAXes.
pub const PRESET: Preset = Preset {
    name: "vaxmix",
    about: "A mix of random accesses, uniform and with locality, in transactions per second, as DEC measured; and the \
        four \
            programs of 1983. --mix and --from-trace set another mix",
    schedule: Schedule::fixed(3),
    together: false,
    memory: None,
    sizing: Sizing::Fixed,
    before: Before::Nothing,
    options: MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling: false, live: None },
    rows: Some(rows),
    published: super::unpublished,
    findings,
    presentation: Presentation { layout: Layout::Plain, groups: &[groups::SEQUENTIAL, groups::MIX] },
    entry: Some(Entry {
        word: "vaxmix",
        also: &["mix", "transactions"],
        brief: "transactions per second of a mix of accesses, next to the programs of 1983",
        says: "The four programs of 1983, and then accesses of several sizes to one file, two thirds of them reads. \
               Their places are uniform (uniform_mix) or have locality (local_mix). Kridle & McKusick 1983 give no \
               parameters of DEC's \"vax mix\"; these are ours.",
        when: "Accesses follow one another, which gives the highest rate. A mix with a rate is repeated at that rate \
               (paced_mix), to measure response times.",
        advice: "--mix sets another mix, --from-trace derives one from a block trace. diskperf paper vaxmix shows \
                 whether the ranking of the controllers of 1983 depends on the method.",
    }),
};

/// The file on a real target: larger than the caches of drives, and written in about a second.
const FILE: Bytes = Bytes::mib(128);

/// The time of a mix in a round, on a real target.
const TIME: Nanos = Nanos::from_secs(2);

/// The accesses of a mix with a rate in a round. Their median needs 20; five more, because they begin at random times.
const PACED_ACCESSES: u64 = 25;

/// The maximum number of accesses on a simulated machine: about a minute on a drive of 1983.
const SIMULATED_ACCESSES: u64 = 2000;

/// The maximum number of accesses per block of 8 KiB. The small files of tests are soon cached completely, so more
/// accesses would show nothing new.
const TOUCHED: u64 = 4;

/// The names of the mixes: two of the preset, then a given mix without its rate and with it.
const UNIFORM: &str = "uniform_mix";
const LOCAL: &str = "local_mix";
const GIVEN: &str = "given_mix";
const PACED: &str = "paced_mix";

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    rows_of(None, settings, target)
}

/// The tests on a target, with this mix instead of the preset's own two.
pub fn rows_of(given: Option<Mix>, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let is_simulated = target.is_simulated();
    let (direct, indirect) = if is_simulated { (Bytes(BYTES_1983), SIMULATED_FILE) } else { (FILE, FILE) };
    let size = settings.size_in_calls(direct, 8192)?;
    let mut rows: Vec<Row> = super::classic(target, size, KBYTES_PER_SEC).into();
    let bytes = settings.size_in_calls(indirect, 8192)?;
    for (name, mix) in mixes(given) {
        let largest = u64::from(mix.largest());
        if largest > bytes {
            return Err(CampaignError::SmallForMix { size: Bytes(bytes), access: Bytes(largest) });
        }
        rows.push(Row::new(program(name, mix, bytes, is_simulated, settings.seed), OPS_PER_SEC));
    }
    Ok(rows)
}

fn mixes(given: Option<Mix>) -> Vec<(&'static str, Mix)> {
    match given {
        None => vec![(UNIFORM, Mix::default()), (LOCAL, Mix::local())],
        Some(mix) if mix.rate().is_some() => vec![(GIVEN, mix.at_rate(None)), (PACED, mix)],
        Some(mix) => vec![(GIVEN, mix)],
    }
}

fn program(name: &'static str, mix: Mix, bytes: u64, is_simulated: bool, seed: u64) -> Program {
    let accesses = (TOUCHED * bytes / 8192).max(1);
    let most = if is_simulated { SIMULATED_ACCESSES } else { u64::MAX };
    let program = VaxMix { name, mix, bytes, accesses: accesses.min(most), seed }.program();
    let paced = mix.rate().map_or(Nanos::ZERO, |rate| Nanos::from_secs(PACED_ACCESSES.div_ceil(rate.into())));
    if is_simulated { program } else { program.within(TIME.max(paced)) }
}

/// The target, and the number of targets if several are measured at the same time.
fn target_label(cell: &Cell) -> String {
    match cell.targets {
        1 => cell.target.clone(),
        several => format!("{}, {several} at once", cell.target),
    }
}

/// The gain from locality on each target on which both mixes were measured.
fn findings(cells: &[Cell]) -> Vec<String> {
    let rate = |cell: &Cell| cell.rate.as_ref().map(|rate| rate.value);
    let pairs = cells.iter().filter(|cell| cell.program == UNIFORM).filter_map(|uniform| {
        let is_twin = |cell: &&Cell| {
            let of = |cell: &Cell| (cell.target.clone(), cell.targets, cell.word("file_system").map(str::to_owned));
            cell.program == LOCAL && of(cell) == of(uniform)
        };
        let local = cells.iter().find(is_twin)?;
        let (uniform_rate, local_rate) = (rate(uniform)?, rate(local)?);
        (uniform_rate > 0.0).then(|| {
            format!(
                "{}: with locality {:.2} times the transactions of uniform places, {} a second after {}.",
                target_label(uniform),
                local_rate / uniform_rate,
                stats::digits::significant(local_rate, 3),
                stats::digits::significant(uniform_rate, 3)
            )
        })
    });
    pairs.collect()
}
