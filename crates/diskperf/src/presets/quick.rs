//! The main job: what one wants to know first about the storage one stands on, in well under a minute.

use units::Bytes;
use workload::programs::{book, lab, mckusick};

use super::{FILES_PER_SEC, MIB_PER_SECOND, Preset, Settings};
use crate::error::Error;
use crate::plan::Row;
use crate::runner::{Claim, How};
use crate::target::Target;

pub const PRESET: Preset = Preset {
    name: "quick",
    about: "the main job: large files, small files and copying, until durable; well under a minute on most disks",
    rounds: 5,
    discard_first: false,
    must_agree: false,
    how: How { claim: Claim::Durable, timed: true },
    rows,
    findings: super::none,
};

const SIZE: Bytes = Bytes::mib(64);
const COPY: Bytes = Bytes::mib(16);
const COPY_BUFFERS: [u32; 3] = [64, 4096, 65536];

fn rows(settings: &Settings, _: &Target) -> Result<Vec<Row>, Error> {
    let size = settings.size_in_calls(SIZE, 8192)?;
    let classic = mckusick::Classic::ALL.map(|classic| Row::new(classic.program(size), MIB_PER_SECOND));
    let small = lab::SmallFiles { layout: workload::Layout::Consecutive(10), ..lab::SmallFiles::new(1000, 1024) };
    let copies = COPY_BUFFERS.map(|buffer| Row::new(book::copy(COPY.0, buffer, book::Sync::None), MIB_PER_SECOND));
    Ok(classic.into_iter().chain([Row::new(small.program(), FILES_PER_SEC)]).chain(copies).collect())
}
