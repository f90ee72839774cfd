//! The main preset: first figures about the user's storage, in well under a minute.

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use units::Nanos;
use workload::programs::classic1983::Classic;
use workload::programs::{lfs, small_io, tlpi};

use super::{FILES_PER_SEC, MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings, Sizing, groups};
use crate::error::CampaignError;
use crate::fit::sizes::SizeKind;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::Target;

pub const PRESET: Preset = Preset {
    name: "quick",
    about: "The usual questions: large and small files, random reads, commits, copies; sized to fit into a minute, 16 \
            GiB written and a tenth of the free space",
    schedule: Schedule::fixed(5),
    together: false,
    memory: None,
    sizing: Sizing::FitTime { usual: Nanos::from_secs(60) },
    before: Before::Nothing,
    options: MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling: true, live: None },
    rows: Some(rows),
    published: super::unpublished,
    findings: super::none,
    presentation: Presentation {
        layout: Layout::Plain,
        groups: &[groups::SEQUENTIAL, groups::SINGLE_BLOCKS, groups::SMALL_FILES, groups::COPYING],
    },
    entry: Some(Entry {
        word: "quick",
        also: &["main job"],
        brief: "the usual questions about storage, within a minute",
        says: "Sequential reads, writes and rewrites of large files, random reads, commits, small files, and copies \
               with three buffer sizes. Five rounds. Rates of writes include the final sync.",
        when: "The default: diskperf PATH means diskperf run quick PATH.",
        advice: "Start with it. Files are as large as one minute allows. It writes at most 16 GiB, and its files \
                 occupy at most a tenth of the free space; --max-write sets another limit. Tests that cannot get \
                 enough data in that time are n.m., with the time they need.",
    }),
};

const COPY_BUFFERS: [u32; 3] = [64, 4096, 65536];
const BLOCK: u32 = 4096;
/// Bytes of a small file, as in the lab and in Rosenblum & Ousterhout 1991.
const SMALL: u32 = 1024;
/// The number of directories. Few, so that a few files are distributed like many.
const DIRECTORIES: u16 = 10;

/// Queue depth of random reads: today's drives need it to be busy, and SATA drives take no more.
const DEPTH: u32 = 32;

/// Random reads in a round: every block of the file, unless the time of the round is over before.
const READS: u32 = u32::MAX;

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let sizes = settings.sizes;
    let random = super::random_read(target, sizes.spots, BLOCK, READS, settings.seed).going_by(SizeKind::Spots);
    let deep = super::random_read_deep(target, sizes.spots, BLOCK, (READS, DEPTH), settings.seed);
    let deep = deep.going_by(SizeKind::Spots);
    let classic = super::classic(target, sizes.large, MIB_PER_SECOND).map(|row| row.going_by(SizeKind::Large));
    let commit = Row::new(small_io::commit(sizes.records, BLOCK), OPS_PER_SEC).going_by(SizeKind::Records);
    let layout = workload::Layout::Consecutive(DIRECTORIES);
    let small = lfs::SmallFiles { layout, ..lfs::SmallFiles::new(sizes.files, SMALL) };
    let small = Row::new(small.program(), FILES_PER_SEC).going_by(SizeKind::Files);
    // The bytes of write_4096 cost the same as those of write_8192.
    let classic = classic.map(|row| if row.program.name == Classic::Write4096.name() { row.untried() } else { row });
    let copies = COPY_BUFFERS.map(|buffer| {
        let size_kind = if buffer < BLOCK { SizeKind::SmallCalls } else { SizeKind::Copied };
        let program = tlpi::copy(size_kind.amount(&sizes), buffer, tlpi::Sync::None);
        Row::new(program, MIB_PER_SECOND).going_by(size_kind)
    });
    let timed = [random, commit, deep].map(|row| Row { program: row.program.within(sizes.random), ..row });
    Ok(classic.into_iter().chain(timed).chain([small]).chain(copies).collect())
}
