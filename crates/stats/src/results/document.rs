//! The document that a run prints with `--format json`, even if the run failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::choice::Choice;
use crate::name::Name;
use crate::results::cell::Cell;
use crate::results::remark::Remark;

/// The name and version of the format.
pub const SCHEMA: &str = "diskperf/1";

/// Everything one command measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// `diskperf/1`.
    pub schema: String,
    /// What was run, where and how.
    pub run: RunInfo,
    /// The figures.
    pub cells: Vec<Cell>,
    /// What went wrong. Empty where the exit status is 0.
    pub errors: Vec<Problem>,
}

/// What was run, where and how: enough to repeat it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    /// The version of diskperf.
    pub version: String,
    /// The command, word by word.
    #[serde(with = "crate::name")]
    #[schemars(with = "Vec<Name>")]
    pub command: Vec<String>,
    /// The preset; null where the command was refused before it was known.
    pub preset: Option<String>,
    /// Seconds since 1970 when it began.
    pub started_unix_s: f64,
    /// How long all of it took, preparation included.
    pub elapsed_s: f64,
    /// The seed of every shuffled order and of the data.
    pub seed: u64,
    /// Rounds that were planned, the discarded ones included.
    pub rounds: u32,
    /// The kernel's name and release.
    pub kernel: String,
    /// The machine's name.
    pub host: String,
    /// Processors that the program could use.
    pub cpus: u64,
    /// Bytes of memory; null where they cannot be seen.
    pub memory_bytes: Option<u64>,
    /// What the run was allowed of it; null where it was not limited.
    pub memory_limit_bytes: Option<u64>,
    /// What one measurement costs: how well short times can be told.
    pub calibration: Option<Calibration>,
    /// What else was at work, in most rounds; null where nothing was seen.
    pub noise: Option<Noise>,
    /// Where it ran.
    pub targets: Vec<TargetInfo>,
    /// Sentences computed from the cells: a preset's conclusions.
    pub findings: Vec<String>,
    /// What happened during the run that the figures do not show; missing if nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// What a comparison of the targets came to; missing where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Box<Choice>>,
    /// Where machines are simulated that are switched on anew for each round: how many ways their platters stood
    /// at the beginning, spread evenly. Null else.
    pub phases: Option<u32>,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
    /// The job file whose loads it measured, as it was when the run began; null where it was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The mix that was derived from a block trace, as `--mix` takes it; null where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// Where it is stored; null where it is not.
    pub store: Option<StoreInfo>,
}

/// Where a run is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreInfo {
    /// How it is called there.
    pub run: String,
    /// The file.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub path: String,
    /// Devices under test that the file lies on too.
    pub under_test: Vec<String>,
    /// Bytes that storing has written before the run ended, between programs, none while a clock ran; null where
    /// nobody counts them.
    pub written_bytes: Option<u64>,
}

/// What measuring itself costs on a real machine, measured before the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What the clock shows in nanoseconds where nothing is done: its quantum, and starting and stopping it.
    pub clock_ns: u64,
    /// What it costs to time one operation, in nanoseconds; null where single operations are not timed.
    pub per_op_ns: Option<f64>,
    /// Of all time that was measured, the percentage in which operations were timed.
    pub tool_percent: Option<f64>,
    /// What this tool's own code took of the CPU while it measured; null where that could not be measured, as it cannot
    /// of rings and of schedules.
    pub own: Option<OwnCost>,
}

/// What the tool's own code takes of the CPU: measured by going the same way once more, without issuing anything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnCost {
    /// Nanoseconds of CPU time for each operation, the mean over all of them.
    pub ns_per_op: f64,
    /// Of the CPU time of the programs that did those operations, the percentage that it was.
    pub cpu_percent: f64,
}

/// What else was at work on the machine while a run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// In words.
    pub text: String,
    /// The figure that tells, of the worst round.
    pub value: f64,
    /// In which rounds.
    pub rounds: Vec<u32>,
}

/// Where programs ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetInfo {
    /// As the cells name it.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub name: String,
    /// As it was asked for.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub argument: String,
    /// Its file system; null for a simulated machine and where it cannot be seen.
    pub file_system: Option<String>,
    /// Its mount options.
    pub mount_options: Vec<String>,
    /// The block device under it; null where there is none to be seen.
    pub device: Option<String>,
    /// What the device's maker calls it; null where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How the kernel orders what waits for the device, as it was found; null where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The device's write cache, as the kernel believes.
    pub write_cache: Option<String>,
    /// Bytes of the device.
    pub device_bytes: Option<u64>,
    /// How full the file system was.
    pub fill_percent: Option<f64>,
    /// What of it lies in memory only, as `tmpfs`, `zram0`; null where nothing is known to.
    pub in_memory: Option<String>,
    /// The file system that the image under it lies in, and its device: `ext4 on vda`; null where it stands on
    /// no image.
    pub nested_in: Option<String>,
    /// The image that was made for it; null where it stands on something that was there before.
    pub image: Option<ImageInfo>,
    /// How the device's queue was tuned while it was measured, as in `scheduler:none+read_ahead_kb:4096`; null
    /// where it was left as it is.
    pub tuning: Option<String>,
    /// How hot the device was before the first round, as `41 C of 70 C`; null where no sensor of it can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<String>,
    /// What was done to the device before the first round, where all of it is overwritten; null else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditioned: Option<Conditioned>,
    /// What was done to its file system before the first round, where it was filled or changed; null where it is as
    /// mkfs made it, or was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// What is done to it before every execution, where a preset wants its file system mounted or made anew.
    pub before_each: Option<String>,
}

/// How a file system was used before it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aged {
    /// How full it was to be, in percent; `fill_percent` is how full it was.
    pub fill: u32,
    /// How often a file was removed, one emptied and written again half as long, and one appended to, and others made
    /// in their place.
    pub churns: u32,
    /// The seed of all that.
    pub seed: u64,
    /// Files that were made.
    pub files_made: u64,
    /// Files that were removed.
    pub files_deleted: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Seconds that it took until all was durable.
    pub elapsed_s: f64,
}

/// How a device was brought into a state that does not depend on who used it before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditioned {
    /// `discard`; null where it was not purged.
    pub purge: Option<String>,
    /// Why it was not.
    pub purge_reason: Option<String>,
    /// Seconds that it took.
    pub purge_s: f64,
    /// Bytes that were then written in order.
    pub written_bytes: u64,
    /// Seconds that it took until they were durable.
    pub written_s: f64,
}

/// The image that a file system stood on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageInfo {
    /// Bytes of its file.
    pub bytes: u64,
    /// Bytes of a block of its file system.
    pub block_bytes: u64,
    /// Whether the loop device passed the page cache of the host file system by.
    pub direct_io: bool,
    /// The file system that its file lay in; null where it cannot be seen.
    pub host_file_system: Option<String>,
    /// The block device under that.
    pub host_device: Option<String>,
    /// Under which name it was kept; null where it is gone.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub kept_as: Option<String>,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Where; null where it concerns the whole run.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub target: Option<String>,
    /// In which program.
    pub program: Option<String>,
    /// In which phase.
    pub phase: Option<String>,
    /// What happened.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}
