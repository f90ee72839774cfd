//! Every test once, at its smallest size: shows that diskperf works, not how fast anything is.

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use units::Bytes;
use workload::Mix;
use workload::programs::vaxmix::VaxMix;
use workload::programs::{lfs, small_io, tlpi};

use super::{FILES_PER_SEC, MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings, Sizing, groups};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::Target;

pub const PRESET: Preset = Preset {
    name: "smoke",
    about: "Every test at its smallest size: shows that all work here; its figures mean nothing",
    schedule: Schedule::fixed(2),
    together: false,
    memory: None,
    sizing: Sizing::Fixed,
    before: Before::Nothing,
    options: MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling: false, live: None },
    rows: Some(rows),
    published: super::unpublished,
    findings: super::none,
    presentation: Presentation { layout: Layout::Trial, groups: groups::ALL },
    entry: Some(Entry {
        word: "smoke",
        also: &[],
        brief: "every test at its smallest size",
        says: "Shows that all tests work here. Its figures mean nothing.",
        when: "It takes a few seconds and a few megabytes.",
        advice: "Use it to try diskperf, and to look at the JSON.",
    }),
};

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let size = settings.size_in_calls(Bytes::kib(256), 8192)?;
    let random = super::random_read(target, size, 4096, 20, settings.seed);
    let classic = super::classic(target, size, MIB_PER_SECOND);
    let small = lfs::SmallFiles { layout: workload::Layout::Consecutive(4), ..lfs::SmallFiles::new(40, 1024) };
    let large = lfs::LargeFile { seed: settings.seed, ..lfs::LargeFile::new(size) };
    let mix = VaxMix { name: "local_mix", mix: Mix::local(), bytes: size, accesses: 40, seed: settings.seed };
    let rest = [
        random,
        Row::new(small_io::commit(10, 4096), OPS_PER_SEC),
        Row::new(small.program(), FILES_PER_SEC),
        Row::new(large.program(), MIB_PER_SECOND),
        Row::new(mix.program(), OPS_PER_SEC),
        Row::new(tlpi::copy(10_000, 16, tlpi::Sync::None), MIB_PER_SECOND),
        Row::new(tlpi::copy(size, 4096, tlpi::Sync::Fsync), MIB_PER_SECOND),
        Row::new(tlpi::write(1_000, 256, tlpi::Sync::Osync), MIB_PER_SECOND),
    ];
    Ok(classic.into_iter().chain(rest).collect())
}
