//! The long-term rates of a block device, as SNIA measures them (Solid State Storage Performance Test Specification
//! 2.0.1): rounds of a fixed time until the rate is steady. The device is only read, or overwritten completely.

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use stats::figures::summary::RateUnit;
use stats::figures::summary::rate_of;
use stats::inference::steady_state;
use stats::{Cell, ParameterValue, Round, Steadiness};
use units::{Bytes, Nanos};
use workload::Program;
use workload::programs::{device, load};

use super::{MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings, Sizing, groups, raw_device};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::{LEAST_DEVICE, Site, Target};

/// Measures a whole device.
pub const PRESET: Preset = Preset {
    name: "device",
    about: "A block device: sequential and random reads, in rounds until the rate is steady; --write conditions and \
            overwrites the whole device",
    schedule: Schedule::UntilSteady { rounds: steady_state::MOST_ROUNDS },
    together: false,
    memory: None,
    sizing: Sizing::Fixed,
    before: Before::Nothing,
    options: MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling: false, live: None },
    rows: Some(rows),
    published: super::unpublished,
    findings,
    presentation: Presentation { layout: Layout::Device, groups: &[groups::SINGLE_BLOCKS, groups::WRITING] },
    entry: Some(Entry {
        word: "device",
        also: &["SNIA"],
        brief: "the steady rate of a block device",
        says: "Sequential and random reads with O_DIRECT, at queue depths 1 and 32. Rounds of a fixed time follow \
               until the rate is steady, at most 25. The table shows the steady rate, and that of the first round.",
        when: "diskperf only reads DEVICE. With --write it overwrites all of it, as the SNIA specifies: discard, write \
               it twice sequentially, and measure writes too.",
        advice: "Reading a device needs root. --write needs --destroy-data and --confirm, and refuses a device in use. \
                 --time and --precondition make it shorter.",
    }),
};

/// Default time of a test in a round. The specification takes a minute; ten seconds are longer than a burst allowance
/// and a drive's own cache last.
const TIME: Nanos = Nanos::from_secs(10);

/// Bytes of a sequential call, as in the specification's throughput test.
const IN_ORDER: u32 = 128 << 10;

/// Bytes of a random read or write.
const BLOCK: u32 = 4096;

/// Queue depth, as in `quick`.
const DEPTH: u32 = 32;

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    rows_of(None, settings, target)
}

/// The tests on a target, for this time in a round.
pub fn rows_of(time: Option<Nanos>, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let (raw, storage, writes) = match &target.site {
        Site::Device(device) => (None, Ok(device.storage.clone()), device.overwriting.is_some()),
        _ => match raw_device(target, LEAST_DEVICE.0) {
            Ok((raw, storage)) => (Some(raw), Ok(storage), false),
            Err(reason) => (None, Err(reason), false),
        },
    };
    let omitted = match &storage {
        Err(reason) => Some(reason.clone()),
        Ok(storage) if !storage.direct => Some(format!("{target} does not support O_DIRECT")),
        Ok(storage) if storage.block_bytes > BLOCK => {
            Some(format!("its blocks of {} are larger than those of the tests", Bytes(storage.block_bytes.into())))
        }
        Ok(_) => None,
    };
    let bytes = storage.map_or(LEAST_DEVICE.0, |storage| storage.bytes);
    let device = device::Device { bytes, time: time.unwrap_or(TIME), seed: settings.seed };
    let row = |program: Program, unit: RateUnit| Row {
        omitted: omitted.clone(),
        raw: raw.clone(),
        ..Row::new(program, unit)
    };
    let deep = |program: Program| {
        let row = row(load::overlapping(program, DEPTH, BLOCK), OPS_PER_SEC);
        let missing = || kernel::no_ring().map(|missing| missing.to_string());
        Row { omitted: row.omitted.clone().or_else(missing), ..row }
    };
    let mut rows = vec![
        row(device.in_order(false, IN_ORDER), MIB_PER_SECOND),
        row(device.at_random(false, BLOCK), OPS_PER_SEC),
        deep(device.at_random(false, BLOCK)),
    ];
    if writes {
        rows.extend([row(device.in_order(true, IN_ORDER), MIB_PER_SECOND), deep(device.at_random(true, BLOCK))]);
    }
    Ok(rows)
}

/// Sentences about the rounds that make each figure, and the rate of the first round.
fn findings(cells: &[Cell]) -> Vec<String> {
    let mut targets: Vec<&str> = cells.iter().map(|cell| cell.target.as_str()).collect();
    targets.dedup();
    let written = targets.into_iter().filter_map(|target| written(cells, target));
    cells.iter().filter_map(settled).chain(written).collect()
}

/// The bytes that the rounds wrote to a device; `None` if they wrote nothing.
fn written(cells: &[Cell], target: &str) -> Option<String> {
    let writes = cells.iter().filter(|cell| cell.target == target && cell.program.ends_with("write"));
    let rounds = writes.flat_map(|cell| &cell.rounds);
    let (bytes, seconds) = rounds.fold((0, 0.0), |(bytes, seconds), round| {
        (bytes + round.bytes, seconds + round.elapsed_s(stats::ClockKind::Durable))
    });
    let time = Nanos((seconds * 1e9) as u64);
    (bytes > 0).then(|| format!("the rounds wrote {} to {target}, in {time}", Bytes(bytes)))
}

fn settled(cell: &Cell) -> Option<String> {
    let rate = cell.rate.as_ref()?;
    let depth = match cell.parameters.get("iodepth") {
        Some(ParameterValue::Number(1)) | None => String::new(),
        Some(depth) => format!(", queue depth {depth}"),
    };
    let name = format!("{}{depth} on {}", cell.program, cell.target);
    let rounds: Vec<u32> = cell.kept().map(|round| round.round).collect();
    let (first, last) = (rounds.first()?, rounds.last()?);
    let per_second = |round: &Round| rate_of(cell, round, rate.base);
    let fresh = cell.rounds.first().and_then(per_second)? * rate.value / rate.per_second;
    let unit = &rate.unit;
    let fresh = format!("fresh {} {unit}", stats::digits::significant(fresh, 3));
    let mean = format!("{} {unit} over rounds {first} to {last}", stats::digits::significant(rate.value, 3));
    let rates: Vec<f64> = cell.rounds.iter().filter_map(per_second).collect();
    Some(match (cell.state.steadiness, steady_state::settling(&rates)) {
        (Steadiness::Steady, steady_state::Settling::Since(index, _)) => {
            let since = cell.rounds.get(index - 1)?.round;
            format!("{name}: steady at round {since}: {mean}; {fresh}")
        }
        (Steadiness::NotMeasured, _) => {
            format!("{name}: steadiness n.m., {}; {fresh}", cell.state.steadiness_reason.as_deref().unwrap_or_default())
        }
        _ => format!("{name}: not steady by round {last}: {mean}; {fresh}"),
    })
}
