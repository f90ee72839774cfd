//! Presets: named lists of tests with sizes, rounds and states.

mod classic1983;
pub mod command;
pub mod device;
mod groups;
pub mod io;
pub mod job;
pub mod lfs;
mod quick;
mod smoke;
mod tlpi;
pub mod vaxmix;

use kernel::message;
use kernel::observe::block_device::Device;
use kernel::observe::block_source::Storage;
use kernel::sys::name::Shown;
use report::Presentation;
use report::glossary::{Entry, Glossary};
use runner::execution::MeasureOptions;
use serde::{Deserialize, Serialize};
use stats::Cell;
use stats::figures::summary::RateUnit;
use units::{Bytes, Nanos};
use workload::programs::classic1983::Classic;
use workload::programs::load;
use workload::programs::small_io;

use crate::error::CampaignError;
use crate::fit::sizes::Sizes;
use crate::plan::{Before, Raw, Row};
use crate::request::schedule::Schedule;
use crate::targets::{Site, Target};

/// Binary megabytes per second.
pub const MIB_PER_SECOND: RateUnit = RateUnit { name: "MiB/s", size: 1_048_576.0 };

/// Kbytes/sec of Kridle & McKusick 1983: K is 1024, the only reading that fits their byte counts.
pub const KBYTES_PER_SEC: RateUnit = RateUnit { name: "Kbytes/sec", size: 1024.0 };

/// Operations per second.
pub const OPS_PER_SEC: RateUnit = RateUnit { name: "ops/sec", size: 1.0 };

/// Files per second, as `smallfb` prints it.
pub const FILES_PER_SEC: RateUnit = RateUnit { name: "files/sec", size: 1.0 };

/// A named list of tests.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Its rounds.
    pub schedule: Schedule,
    /// The sizing of its tests.
    pub sizing: Sizing,
    /// True if its tests also run on all targets at the same time.
    pub together: bool,
    /// The memory limit of a run, if that is part of the experiment.
    pub memory: Option<Bytes>,
    /// The renewal of diskperf's own file systems before every execution.
    pub before: Before,
    /// The clock that its programs claim, and whether single operations are timed.
    pub options: MeasureOptions,
    /// Its tests on a target; `None` if the user gives the tests.
    pub rows: Option<Rows>,
    /// The published figures of its tests.
    pub published: fn() -> Vec<Cell>,
    /// Sentences computed from its results, and from the published figures.
    pub findings: fn(&[Cell]) -> Vec<String>,
    /// The presentation of its results.
    pub presentation: Presentation,
    /// Its entry in the glossary; `None` if `run` does not know it.
    pub entry: Option<Entry>,
}

/// The sizing of a run's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sizing {
    /// The preset or the user gives the sizes.
    Fixed,
    /// The sizes are as large as fits into a time.
    FitTime {
        /// The time without --budget.
        usual: Nanos,
    },
    /// The preset or the user gives the sizes. The slowest tests, then rounds, are left out until the rest fits into
    /// --budget.
    Thin,
}

/// The published figures of a preset without any.
fn unpublished() -> Vec<Cell> {
    Vec::new()
}

/// A preset without findings.
fn none(_: &[Cell]) -> Vec<String> {
    Vec::new()
}

/// The tests of a preset on a target.
pub type Rows = fn(&Settings, &Target) -> Result<Vec<Row>, CampaignError>;

/// Settings of a preset.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The size of its large files.
    pub size: Option<Bytes>,
    /// The memory limit of the run, if it has one.
    pub memory: Option<Bytes>,
    /// The seed of random orders.
    pub seed: u64,
    /// The sizes of programs that are fitted into a time.
    pub sizes: Sizes,
}

impl Preset {
    /// True if it measures whole devices, in rounds until they are steady. All other presets use a file system.
    pub fn is_of_devices(&self) -> bool {
        self.name == DEVICE.name
    }

    /// The options of its tests on these targets. Simulated machines have no ceiling.
    pub fn options_on(&self, targets: &[Target]) -> MeasureOptions {
        let ceiling = self.options.ceiling && !targets.iter().all(Target::is_simulated);
        MeasureOptions { ceiling, ..self.options }
    }

    /// Its tests on a target.
    pub fn rows(&self, settings: &Settings, target: &Target) -> Result<Vec<Row>, CampaignError> {
        self.rows.map_or(Ok(Vec::new()), |rows| rows(settings, target))
    }
}

impl Settings {
    /// The size of large files: the requested one, or else `default`. Returns an error if it is not a multiple of
    /// `call`, or if the random order of its blocks would not fit into memory.
    pub fn size_in_calls(&self, default: Bytes, call: u64) -> Result<u64, CampaignError> {
        let size = self.size.unwrap_or(default);
        if size > LARGEST {
            return Err(CampaignError::LargeSize { size, most: LARGEST });
        }
        if !size.0.is_multiple_of(call) {
            return Err(CampaignError::UnevenSize { size, call: Bytes(call) });
        }
        Ok(size.0)
    }
}

/// The four programs of 1983 with a file of `size` bytes. Of a shorter existing file, all whole calls are read.
fn classic(target: &Target, size: u64, unit: RateUnit) -> [Row; 4] {
    Classic::ALL.map(|classic| match &target.site {
        Site::File { bytes, .. } if classic == Classic::Read8192 => {
            let call = u64::from(classic.call_bytes());
            let whole = size.min(*bytes) / call * call;
            Row { omitted: too_small(*bytes, call), ..Row::new(Classic::read_given(whole), unit) }
        }
        _ => Row::new(classic.program(size), unit),
    })
}

/// Random reads of a file of `size` bytes with direct I/O. An existing file is read anywhere.
fn random_read(target: &Target, size: u64, block: u32, reads: u32, seed: u64) -> Row {
    let (program, omitted) = match &target.site {
        Site::File { bytes, .. } => {
            (small_io::random_read_given(*bytes, block, reads, seed), too_small(*bytes, u64::from(block)))
        }
        _ => (small_io::random_read(size, block, reads, seed), None),
    };
    let omitted = omitted.or_else(|| target.refuses_direct()).or_else(|| {
        let logical_block = target.device().and_then(Device::logical_block_bytes)?;
        too_short_for_direct(logical_block, block)
    });
    Row { omitted, ..Row::new(program, OPS_PER_SEC) }
}

/// Returns the reason if direct reads of a block are too short for a device with logical blocks of this size. The
/// alignment that `statx` reports does not tell: ZFS reports its record size, and still takes shorter reads.
fn too_short_for_direct(logical_block: u32, block: u32) -> Option<String> {
    let (needs, block) = (Bytes(logical_block.into()), Bytes(block.into()));
    (!block.0.is_multiple_of(needs.0))
        .then(|| format!("direct I/O takes multiples of {needs} here, a block has {block}"))
}

/// Random reads at queue depth `depth`, if the kernel has io_uring.
fn random_read_deep(target: &Target, size: u64, block: u32, (reads, depth): (u32, u32), seed: u64) -> Row {
    let row = random_read(target, size, block, reads, seed);
    let missing = if target.is_simulated() { None } else { kernel::no_ring() };
    let omitted = row.omitted.or_else(|| missing.map(|missing| missing.to_string()));
    Row { omitted, ..Row::new(load::overlapping(row.program, depth, block), row.unit) }
}

/// Returns the reason if a file of `bytes` bytes is too small for one call.
fn too_small(bytes: u64, call: u64) -> Option<String> {
    (bytes < call).then(|| format!("the file holds {}, less than one call reads", Bytes(bytes)))
}

/// The block size of a loop device of ours, whatever the block size of the disk.
const SECTOR: u32 = 512;

/// The block device under the target, or the reason if it cannot be read.
fn raw_device(target: &Target, bytes: u64) -> Result<(Raw, Storage), String> {
    let (path, place) = match &target.site {
        Site::Directory { path, place } => (path, place),
        Site::Image { image, .. } => {
            let bytes = image.spec(bytes).file_bytes().0;
            let storage = Storage { bytes, block_bytes: SECTOR, direct: true, in_memory: false, device: None };
            return Ok((Raw::OfImage, storage));
        }
        Site::Device(device) => return Ok((Raw::Node(device.path.clone()), device.storage.clone())),
        Site::Volume(volume) => {
            let node = volume.inspected.node();
            return match Storage::inspect(&node) {
                Ok(Some(storage)) => Ok((Raw::OfImage, storage)),
                _ => Err(format!("{} cannot be read", node.shown())),
            };
        }
        Site::File { .. } => return Err(format!("{target} is a file: it has no raw device")),
        Site::Simulated(_) => return Err(format!("{target} is simulated: it has no raw device to read")),
    };
    let Some(node) = place.device.as_ref().map(|device| device.node()) else {
        let file_system = place.file_system.as_deref().unwrap_or("this file system");
        return Err(format!("no block device is visible under {file_system}"));
    };
    let under = format!("{}, the device under {},", node.shown(), path.shown());
    match Storage::inspect(&node) {
        Ok(Some(storage)) => Ok((Raw::Node(node), storage)),
        Ok(None) => Err(format!("{under} is not a block device")),
        Err(error) => Err(format!("{under} cannot be read, which mostly needs root: {}", message(&error))),
    }
}
/// The largest file: the random order of its 2^28 blocks of 4 KiB takes a GiB of memory.
const LARGEST: Bytes = Bytes(1 << 40);

/// The default experiment on simulated machines.
pub const CLASSIC: &Preset = &classic1983::PRESET;

/// The preset of `io`.
pub const LOAD: &Preset = &io::PRESET;

/// The preset of a command of the user.
pub const COMMAND: &Preset = &command::PRESET;

/// The preset that takes a mix.
pub const VAXMIX: &Preset = &vaxmix::PRESET;

/// The preset of job files.
pub static JOB: &Preset = &job::PRESET;

/// The preset that measures whole devices.
pub const DEVICE: &Preset = &device::PRESET;

/// The presets of `run`, in the order of the help. A new one is a file and a line here.
pub const ALL: &[&Preset] = &[
    &quick::PRESET,
    &classic1983::PRESET,
    &lfs::PRESET,
    &tlpi::PRESET,
    &vaxmix::PRESET,
    &device::PRESET,
    &smoke::PRESET,
];

/// The glossary, with the entries of these presets.
pub const GLOSSARY: Glossary = Glossary::new(&entries());

const fn entries() -> [Entry; ALL.len()] {
    let mut entries = [entry(ALL[0]); ALL.len()];
    let mut index = 0;
    while index < ALL.len() {
        entries[index] = entry(ALL[index]);
        index += 1;
    }
    entries
}

/// The entry of a preset. A preset of the list without one does not compile.
const fn entry(preset: &Preset) -> Entry {
    preset.entry.expect("a preset of `run` has a glossary entry")
}

/// The preset of this name, among those that results may name.
fn named(name: &str) -> Option<&'static Preset> {
    ALL.iter().copied().chain([LOAD, JOB, COMMAND]).find(|preset| preset.name == name)
}

/// The presentation of results of this preset. A preset of another build has the plain table with all groups.
pub fn presentation(preset: Option<&str>) -> Presentation {
    preset.and_then(named).unwrap_or(LOAD).presentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_too_short_for_direct_io_are_not_read() {
        for (logical_block, block, is_read) in [(512, 4096, true), (4096, 4096, true), (16384, 4096, false)] {
            assert_eq!(too_short_for_direct(logical_block, block).is_none(), is_read, "{logical_block} {block}");
        }
        let reason = "direct I/O takes multiples of 16 KiB here, a block has 4 KiB";
        assert_eq!(too_short_for_direct(16384, 4096).as_deref(), Some(reason));
    }
}
