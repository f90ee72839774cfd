//! The main job: what one wants to know first about the storage one stands on, in well under a minute.

use units::Bytes;
use workload::programs::{book, lab, modern};

use super::{FILES_PER_SEC, MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings};
use crate::error::Error;
use crate::plan::Row;
use crate::runner::{Claim, How};
use crate::target::Target;

pub const PRESET: Preset = Preset {
    name: "quick",
    about: "the main job: large and small files, single blocks, commits, copying; until durable",
    rounds: 5,
    discard_first: false,
    must_agree: false,
    together: false,
    memory: None,
    how: How { claim: Claim::Durable, timed: true },
    rows,
    findings: super::none,
};

const SIZE: Bytes = Bytes::mib(64);
const COPY: Bytes = Bytes::mib(16);
const COPY_BUFFERS: [u32; 3] = [64, 4096, 65536];

/// Random reads in a round: p99 over five rounds needs 1,000.
const READS: u32 = 2_000;
const BLOCK: u32 = 4096;
/// Commits in a round: a disk of 1983 does about fifty a second, one of today thousands.
const COMMITS: u32 = 200;

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, Error> {
    let size = settings.size_in_calls(SIZE, 8192)?;
    let random = super::random_read(target, size, BLOCK, READS, settings.seed);
    let classic = super::classic(target, size, MIB_PER_SECOND);
    let small = lab::SmallFiles { layout: workload::Layout::Consecutive(10), ..lab::SmallFiles::new(1000, 1024) };
    let copies = COPY_BUFFERS.map(|buffer| Row::new(book::copy(COPY.0, buffer, book::Sync::None), MIB_PER_SECOND));
    let blocks = [random, Row::new(modern::commit(COMMITS, BLOCK), OPS_PER_SEC)];
    Ok(classic.into_iter().chain(blocks).chain([Row::new(small.program(), FILES_PER_SEC)]).chain(copies).collect())
}
