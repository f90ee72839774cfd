//! The document that a run prints with `--format json`, even if the run failed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::target_comparison::Choice;
use crate::name::Name;
use crate::predict::PredictionCheck;
use crate::results::cell::Cell;
use crate::results::remark::Remark;

/// The name and version of the format.
pub const SCHEMA: &str = "diskperf/1";

/// The results of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// `diskperf/1`.
    pub schema: String,
    /// Description of the run: command, machine and targets.
    pub run: RunInfo,
    /// The results, one cell per figure.
    pub cells: Vec<Cell>,
    /// Errors; empty if the exit status is 0.
    pub errors: Vec<Problem>,
}

/// Description of a run, complete enough to repeat it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    /// The version of diskperf.
    pub version: String,
    /// The command line, as a list of words.
    #[serde(with = "crate::name")]
    #[schemars(with = "Vec<Name>")]
    pub command: Vec<String>,
    /// The name that the user gave the run; missing if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The preset; null if the command was refused before its preset was known.
    pub preset: Option<String>,
    /// Start of the run, in seconds since 1970.
    pub started_unix_s: f64,
    /// Duration of the run in seconds, including preparation.
    pub elapsed_s: f64,
    /// Seed of every random order and of the data.
    pub seed: u64,
    /// Number of planned rounds, including discarded ones.
    pub rounds: u32,
    /// The kernel's name and release.
    pub kernel: String,
    /// The machine's name.
    pub host: String,
    /// Number of processors that diskperf could use.
    pub cpus: u64,
    /// Memory of the machine in bytes; null if it is not visible.
    pub memory_bytes: Option<u64>,
    /// Limit of the memory that the run could use, in bytes; null if there was none.
    pub memory_limit_bytes: Option<u64>,
    /// Kernel settings that affect every device, as in `vm.dirty_ratio`; missing if they were not recorded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Cost of measuring, which limits how short a time can be measured.
    pub calibration: Option<Calibration>,
    /// The background load of most rounds; null if there was none.
    pub noise: Option<Noise>,
    /// The targets of the run.
    pub targets: Vec<TargetInfo>,
    /// Conclusions of the preset: sentences computed from the cells.
    pub findings: Vec<String>,
    /// Events during the run that the figures do not show; missing if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The comparison of the targets; missing if none was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Box<Choice>>,
    /// Number of evenly spaced rotational positions in which the platters started, if simulated machines are restarted
    /// for each round. Otherwise null.
    pub phases: Option<u32>,
    /// True if the run was stopped before its end, by Ctrl-C or another signal.
    pub interrupted: bool,
    /// Text of the job file that the run measured, as it was when the run began; missing if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The mix that was derived from a block trace, in the form of `--mix`; missing if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// The recorded block traces, which the results database has; missing if nothing was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceInfo>,
    /// The checked predictions that were made from this run, and those that it checks; missing if there are none. The
    /// results database adds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<PredictionCheck>,
    /// The hosts that measured together, in the order of their ranks; missing if there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostInfo>,
    /// Names of the targets that are one directory on all hosts; missing if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
    /// True if each host read the files that the next one wrote; missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_others: bool,
    /// The place of the run in the results database; null if it is not stored.
    pub store: Option<StoreInfo>,
}

/// One of several hosts that measured together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostInfo {
    /// Name of the host.
    pub name: String,
    /// Random number of its last boot; empty if it is not visible.
    pub boot_id: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// Number of its processors.
    pub cpus: u64,
    /// Number of processors that diskperf could use there. Fewer than `cpus` if the MPI launcher binds its ranks.
    pub allowed_cpus: u64,
    /// Version of diskperf on the host.
    pub version: String,
    /// Monotonic clock of the host minus that of the first one, in nanoseconds.
    pub offset_ns: i64,
    /// Maximum error of `offset_ns`: half of the shortest round trip of a message.
    pub uncertainty_ns: u64,
}

/// The block traces of a test on a target. The counts are medians over the executions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceInfo {
    /// The test.
    pub program: String,
    /// The name of the target.
    pub target: String,
    /// The traced device; empty if there is no trace.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub device: String,
    /// Number of executions with a trace.
    pub executions: u64,
    /// Requests that went to the device and were complete.
    pub requests: u64,
    /// Bytes that they read and wrote.
    pub bytes: u64,
    /// Discards and other commands, which the trace does not contain.
    pub others: u64,
    /// The reason why executions have no trace; null if all have one.
    pub missing: Option<String>,
}

/// The place of a run in a results database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreInfo {
    /// Id of the run in the database.
    pub run: String,
    /// Path of the database.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub path: String,
    /// Devices under test that also contain the database.
    pub under_test: Vec<String>,
    /// Bytes written to store the run, before the run ended. diskperf writes them between programs, never while a clock
    /// runs. Null if they could not be counted.
    pub written_bytes: Option<u64>,
}

/// Cost of measuring on a real machine, measured before the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Clock floor: nanoseconds that the clock shows for an empty program. It includes the resolution of the clock, and
    /// the cost of starting and stopping it.
    pub clock_ns: u64,
    /// Cost of timing one operation, in nanoseconds; null if single operations are not timed.
    pub per_op_ns: Option<f64>,
    /// Time spent on timing single operations, in percent of all measured time.
    pub tool_percent: Option<f64>,
    /// CPU time of diskperf's own code while it measured; null if it could not be measured, as with io_uring, schedules
    /// and pauses.
    pub own: Option<OwnCost>,
}

/// CPU time of diskperf's own code. It is measured by running the same steps again without issuing operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnCost {
    /// CPU time per operation in nanoseconds, the mean of all operations.
    pub ns_per_op: f64,
    /// CPU time of diskperf's own code, in percent of the CPU time of the programs that issued these operations.
    pub cpu_percent: f64,
}

/// Background load on the machine while a run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Description of the load.
    pub text: String,
    /// The figure that shows the load, from the worst round.
    pub value: f64,
    /// The main kind of load, as in `CPU steal`; missing in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The rounds with a load.
    pub rounds: Vec<u32>,
}

/// A target of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetInfo {
    /// Name of the target in the cells.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub name: String,
    /// The target, as it was typed.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub argument: String,
    /// File system of the target; null if it is not visible, and for the simplest simulated machine (`flat`).
    pub file_system: Option<String>,
    /// Mount options of the file system.
    pub mount_options: Vec<String>,
    /// Block device under the file system; null if none is visible.
    pub device: Option<String>,
    /// Model name of the device; missing if the device reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// I/O scheduler of the device, as it was found; missing if the kernel reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// All attributes of the device's queue, as they were found; those of its scheduler begin with `iosched/`, those of
    /// its dirty memory with `bdi/`. Missing if no queue is visible.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub queue: BTreeMap<String, String>,
    /// The first target that is the same directory; missing if there is none.
    #[serde(with = "crate::name", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Name>")]
    pub same_as: Option<String>,
    /// The device's write cache, as the kernel reports it: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Size of the device in bytes.
    pub device_bytes: Option<u64>,
    /// Fill level of the file system, in percent.
    pub fill_percent: Option<f64>,
    /// The layer of the target that is only in memory, as in `tmpfs` or `zram0`; null if none is known.
    pub in_memory: Option<String>,
    /// File system and device that contain the image under the target, as in `ext4 on vda`; null if there is no image.
    pub nested_in: Option<String>,
    /// The image that was created for the target; null if the target existed before.
    pub image: Option<ImageInfo>,
    /// Settings of the device's queue during the run, as in `scheduler:none+read_ahead_kb:4096`; null if they were not
    /// changed.
    pub tuning: Option<String>,
    /// Temperature of the device before the first round, as in `41 °C (limit 70 °C)`; missing if no sensor is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<String>,
    /// Conditioning of the device before the first round, if all of it is overwritten; otherwise missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditioned: Option<Conditioned>,
    /// Aging of the file system before the first round; missing if the file system was left as mkfs made it, or existed
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// Load of the target before the first round (`--sustained`); otherwise missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// Renewal of the file system before every execution, in words, if the preset asks for it; otherwise null.
    pub before_each: Option<String>,
}

impl TargetInfo {
    /// The target as it was typed, without its name.
    pub fn own_argument(&self) -> &str {
        self.argument.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('=')).unwrap_or(&self.argument)
    }

    /// True if the target was typed as a simulated machine (`sim:NAME`). `diskperf simulate` stores the bare name: the
    /// provenance of its cells identifies a simulation.
    pub fn is_simulated(&self) -> bool {
        self.own_argument().starts_with("sim:")
    }
}

/// Load before the measurement: it uses up burst credits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loaded {
    /// The program that loaded the target.
    pub program: String,
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Measured seconds of the program.
    pub seconds: f64,
}

/// Aging of a file system before the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aged {
    /// Requested fill level in percent; `fill_percent` is the actual one.
    pub fill: u32,
    /// Number of changes. Each change removes a file, rewrites one at half its size, appends to one, and creates others
    /// in their place.
    pub churns: u32,
    /// Seed of the aging.
    pub seed: u64,
    /// Number of files created.
    pub files_made: u64,
    /// Number of files removed.
    pub files_deleted: u64,
    /// Number of bytes written.
    pub written_bytes: u64,
    /// Duration in seconds, until all data were durable.
    pub elapsed_s: f64,
}

/// Conditioning of a device: it brings the device into a state that does not depend on earlier use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditioned {
    /// `discard`; null if the device was not purged.
    pub purge: Option<String>,
    /// Reason why the device was not purged.
    pub purge_reason: Option<String>,
    /// Duration of the purge in seconds.
    pub purge_s: f64,
    /// Number of bytes written sequentially after the purge.
    pub written_bytes: u64,
    /// Seconds until these bytes were durable.
    pub written_s: f64,
}

/// The image that contained a file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageInfo {
    /// Size of the image file in bytes.
    pub bytes: u64,
    /// Block size of the file system in bytes.
    pub block_bytes: u64,
    /// True if the loop device bypassed the page cache of the host file system.
    pub direct_io: bool,
    /// File system that contained the image file; null if it is not visible.
    pub host_file_system: Option<String>,
    /// Block device of that file system.
    pub host_device: Option<String>,
    /// Path of the kept image; null if the image was removed.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub kept_as: Option<String>,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Target of the error; null if the error concerns the whole run.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub target: Option<String>,
    /// Program that failed.
    pub program: Option<String>,
    /// Phase that failed.
    pub phase: Option<String>,
    /// The message.
    pub message: String,
    /// A way to avoid the error.
    pub hint: Option<String>,
}
