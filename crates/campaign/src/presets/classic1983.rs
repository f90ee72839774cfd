//! The experiment of Kridle & McKusick 1983: four programs, three rounds, of which the first is discarded. Their file
//! of eight megabytes was twice the memory of the measured VAX 11/780 (section 4), so that a cache could not hide the
//! disk. Memory has grown since: here it is limited, and the file is large in comparison. `--size 8MiB` gives the
//! original size.

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use units::Bytes;
use workload::programs::classic1983::BYTES_1983;

use super::{KBYTES_PER_SEC, Preset, Settings, Sizing, groups};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::Target;

pub const PRESET: Preset = Preset {
    name: "classic1983",
    about: "The four programs of Kridle & McKusick 1983: memory limited to 64 MiB if possible, a file 20 times that \
            size, three rounds (first discarded), each target alone and all together. --size 8MiB uses the original \
            file size",
    schedule: Schedule::Fixed { rounds: 3, promised: 2, discard_first: true, must_agree: true },
    together: true,
    memory: Some(MEMORY),
    sizing: Sizing::Fixed,
    before: Before::Make,
    options: MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None },
    rows: Some(rows),
    published: super::unpublished,
    findings: super::none,
    presentation: Presentation { layout: Layout::Classic1983, groups: &[groups::SEQUENTIAL] },
    entry: Some(Entry {
        word: "classic1983",
        also: &["1983", "classic"],
        brief: "the four programs of Kridle & McKusick 1983",
        says: "The paper's four programs and its table: Kbytes/sec and CPU until the last call returned. Three rounds, \
               the first discarded. Several targets are measured alone and all at once.",
        when: "The file is 20 times the memory of the run, which diskperf limits to 64 MiB if it can. In 1983, the \
               file was twice the memory.",
        advice: "--size 8MiB uses the original file size, which fits into every cache of today.",
    }),
};

/// The memory limit of a run, for its page cache. Small compared with the bytes that disks move per second, and enough
/// for the programs themselves.
const MEMORY: Bytes = Bytes::mib(64);

/// The size of the file, in multiples of the memory: at most a twentieth of it stays in the page cache.
const MEMORIES: u64 = 20;

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
    let default = settings.memory.map_or(BYTES_1983, |memory| {
        memory.0.saturating_mul(MEMORIES).checked_next_multiple_of(8192).unwrap_or(u64::MAX)
    });
    let size = settings.size_in_calls(Bytes(default), 8192)?;
    Ok(super::classic(target, size, KBYTES_PER_SEC).into())
}
