//! A lab of about 2002 that asked what a log-structured file system would change. It measures the raw device, many
//! small files and one large file, and answers its four questions from the figures.

mod answers;
pub mod log_structured;

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use stats::figures::summary::RateUnit;
use units::Bytes;
use workload::programs::lfs;

use super::{FILES_PER_SEC, Preset, SECTOR, Settings, Sizing, groups, raw_device};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::published::lfs as published;
use crate::request::schedule::Schedule;
use crate::targets::{Simulated, Target};

/// The preset.
pub const PRESET: Preset = Preset {
    name: "lfs",
    about: "A course lab of about 2002: raw device, 10000 small files, one large file, and answers to its four \
        questions",
    // Fewer than elsewhere: a round took ten minutes on the lab's disk. Three give a median and an interval.
    schedule: Schedule::fixed(3),
    together: false,
    memory: None,
    sizing: Sizing::Fixed,
    before: Before::Nothing,
    options: MeasureOptions { claim: ClaimedClock::Durable, timed: false, ceiling: false, live: None },
    rows: Some(rows),
    published: published::cells,
    findings: answers::answers,
    presentation: Presentation { layout: Layout::Lfs, groups: &[groups::SMALL_FILES, groups::LARGE_FILE] },
    entry: Some(Entry {
        word: "lfs",
        also: &[],
        brief: "a course lab of about 2002: raw device, small files, one large file",
        says: "bw, smallfb and largefb with the sizes of the lab, and answers to its four questions, next to the \
               published figures.",
        when: "Three rounds by default.",
        advice: "Run it as root for the rows of the raw device.",
    }),
};

/// `MB/sec` of `bw`. The lab does not define its MB; its `largefb` takes 2^20 bytes for one.
const MB_PER_SEC: RateUnit = RateUnit { name: "MB/sec", size: 1_048_576.0 };

/// The unit of `bw -l`; 1000 divided by the rate gives milliseconds.
const READS_PER_SEC: RateUnit = RateUnit { name: "reads/sec", size: 1.0 };

/// The file of `largefb 128`.
const LARGE: Bytes = Bytes::mib(128);

/// The arguments of `smallfb 10000 1024`: files, and bytes of each.
const SMALL: (u32, u32) = (10_000, 1024);

/// The reads of `bw -l 1024`, the middle of the lab's series: 14 seconds on its disk.
const READS: u32 = 1024;

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let size = settings.size_in_calls(LARGE, u64::from(lfs::LARGE_CALL))?;
    let block_bytes = target.block_bytes();
    let mut small = lfs::SmallFiles { block_bytes, ..lfs::SmallFiles::new(SMALL.0, SMALL.1) };
    let mut large = lfs::LargeFile { seed: settings.seed, ..lfs::LargeFile::new(size) };
    if target.simulated().is_some_and(Simulated::is_the_labs) {
        as_the_lab_ran_them(&mut small, &mut large);
    }
    let mut rows: Vec<Row> = raw(target, size, settings.seed).into();
    rows.push(Row::new(small.program(), FILES_PER_SEC));
    rows.push(Row::new(large.program(), MB_PER_SEC));
    Ok(rows)
}

/// Changes the programs to work as the lab's programs did, according to its figures:
///   1. deleting took 25 us per file, so no sync followed;
///   2. no flush file was read before `largefb`, so each phase found the data of the phase before in memory;
///   3. the ancestors of the programs drew random positions with replacement (`random() % n`).
fn as_the_lab_ran_them(small: &mut lfs::SmallFiles, large: &mut lfs::LargeFile) {
    // 1
    small.sync = lfs::SmallSync::Create;
    // 2
    large.as_is = true;
    // 3
    large.order = lfs::LargeOrder::Replacement;
}

/// The rows on the raw device under the target: sequential reads of as many bytes as the large file has, and random
/// reads of single blocks.
fn raw(target: &Target, bytes: u64, seed: u64) -> [Row; 2] {
    let (raw, storage, omitted) = match raw_device(target, bytes) {
        Ok((raw, storage)) => (Some(raw), Some(storage), None),
        Err(reason) => (None, None, Some(reason)),
    };
    let mib = bytes.div_ceil(Bytes::mib(1).0);
    let (mib, block, blocks, direct) = match &storage {
        Some(device) => {
            let blocks = device.bytes / u64::from(device.block_bytes);
            (mib.min(device.bytes / Bytes::mib(1).0), device.block_bytes, blocks, device.direct)
        }
        None => (mib, SECTOR, 1, true),
    };
    let programs = [
        (lfs::raw_bandwidth(mib, direct), MB_PER_SEC),
        (lfs::raw_latency(READS, block, blocks, direct, seed), READS_PER_SEC),
    ];
    programs.map(|(program, unit)| Row { omitted: omitted.clone(), raw: raw.clone(), ..Row::new(program, unit) })
}
