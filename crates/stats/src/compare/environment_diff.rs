//! The differences between the environments of two runs: the machine, diskperf itself, the targets and their devices,
//! and the command line.
//!
//! Policy:
//!   1. A value that was not recorded is null. A recorded absence has a word, for example "none".
//!   2. Lists of options show only the options that differ.
//!   3. Some values are never equal twice: seeds of measured runs, numbers of loop devices, temperatures, the memory
//!      that the kernel reserves. They are reported only if they differ by much, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::ParameterValue;

use crate::judge::marks::{Mark, MarkCode};
use crate::name::Name;
use crate::results::cell::{CacheState, Cell};
use crate::results::clock::ClockKind;
use crate::results::document::{Calibration, Conditioned, ImageInfo, RunInfo, TargetInfo};

/// A difference between the environments of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Name of the setting: `kernel`, `mount options`, `file_bytes`, ...
    pub what: String,
    /// Target or programs with this setting; null if it is a setting of the whole run.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub of: Option<String>,
    /// Value in the first run; null if it was not recorded.
    pub then: Option<String>,
    /// Value in the second run; null if it was not recorded.
    pub now: Option<String>,
}

/// Difference of memory sizes that is ignored, as a share: the kernel reserves more or less of it. Guess.
const OF_MEMORY: f64 = 0.01;

/// Difference of fill levels that is reported, in percentage points: no file system is known to become slower by less.
/// Guess.
const FILLED: f64 = 10.0;

/// Factor by which the costs of measuring must differ to be reported.
const BY_MUCH: f64 = 2.0;

/// Options that only control the output, and the seed, which does not affect what is measured.
const NO_MATTER: [&str; 7] = ["-o", "--output", "--store", "--no-store", "--format", "--json", "--seed"];

/// Returns the differences of the machine and of diskperf itself.
pub fn machine(then: &RunInfo, now: &RunInfo) -> Vec<Change> {
    let mut changes = Changes::new(None);
    let text = |text: &str| Some(text.to_owned());
    changes.add_if_changed("diskperf", text(&then.version), text(&now.version));
    changes.add_if_changed("kernel", text(&then.kernel), text(&now.kernel));
    changes.add_if_changed("host", text(&then.host), text(&now.host));
    let hosts = |run: &RunInfo| {
        let names: Vec<&str> = run.hosts.iter().map(|host| host.name.as_str()).collect();
        Some(if names.is_empty() { "one".to_owned() } else { names.join(", ") })
    };
    changes.add_if_changed("hosts", hosts(then), hosts(now));
    changes.add_if_changed("CPUs", Some(then.cpus.to_string()), Some(now.cpus.to_string()));
    let differs = |one: u64, other: u64| one.abs_diff(other) as f64 > OF_MEMORY * one.max(other) as f64;
    if then.memory_bytes.zip(now.memory_bytes).is_none_or(|(one, other)| differs(one, other)) {
        changes.add_if_changed("memory", bytes(then.memory_bytes), bytes(now.memory_bytes));
    }
    let limit = |run: &RunInfo| bytes(run.memory_limit_bytes).or(text("none"));
    changes.add_if_changed("memory limit", limit(then), limit(now));
    changes.add_map(&then.settings, &now.settings);
    changes.all
}

/// Returns the differences of the command line, of the costs of measuring, and of the background load.
pub fn run(then: &RunInfo, now: &RunInfo) -> Vec<Change> {
    let mut changes = Changes::new(None);
    let (one, other) = only(&asked(then), &asked(now), " ");
    changes.add_if_changed("command", one, other);
    changes.add_if_changed("mix", then.mix.clone(), now.mix.clone());
    changes.add_if_changed(
        "phases",
        then.phases.map(|count| count.to_string()),
        now.phases.map(|count| count.to_string()),
    );
    if let (Some(one), Some(other)) = (then.calibration, now.calibration) {
        changes.all.extend(costs(&one, &other));
    }
    let noise = |run: &RunInfo| Some(run.noise.as_ref().map_or("none seen".to_owned(), |noise| noise.text.clone()));
    changes.add_if_changed("noise", noise(then), noise(now));
    changes.all
}

/// Settings that affect every rate.
const OF_EVERY_RATE: [&str; 15] = [
    "hosts",
    "kernel",
    "file system",
    "mount options",
    "device",
    "device model",
    "scheduler",
    "max_sectors_kb",
    "nomerges",
    "nr_requests",
    "read_ahead_kb",
    "rq_affinity",
    "wbt_lat_usec",
    "write cache",
    "tuning",
];

/// The first letters of other such settings: those of the I/O scheduler, of the device's dirty memory, and of memory.
const OF_EVERY_RATE_BEGIN: [&str; 3] = ["iosched/", "bdi/", "vm."];

fn is_of_every_rate(what: &str) -> bool {
    OF_EVERY_RATE.contains(&what) || OF_EVERY_RATE_BEGIN.iter().any(|begin| what.starts_with(begin))
}

/// The largest number of changes that a mark names; the list above the table has all.
const NAMED: usize = 3;

/// Returns the mark of all ratios if a setting that affects every rate changed.
pub fn suspicion(changes: &[Change]) -> Option<Mark> {
    let mut names: Vec<&str> = Vec::new();
    for change in changes.iter().filter(|change| is_of_every_rate(&change.what)) {
        if !names.contains(&change.what.as_str()) {
            names.push(&change.what);
        }
    }
    let rest = names.len().saturating_sub(NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let named = names[..names.len() - rest].join(", ");
    let text = format!("changed between the runs: {named}{more}");
    (!names.is_empty()).then_some(Mark { code: MarkCode::Env, value: None, text })
}

/// Returns the seed if it differs; it affects simulated rates.
pub fn seed(then: &RunInfo, now: &RunInfo) -> Vec<Change> {
    let mut changes = Changes::new(None);
    changes.add_if_changed("seed", Some(then.seed.to_string()), Some(now.seed.to_string()));
    changes.all
}

/// Returns the differences of a target and of its file system and devices. A simulated target is described completely
/// by its argument.
pub fn target(then: &TargetInfo, now: &TargetInfo) -> Vec<Change> {
    let mut changes = Changes::new(Some(now.name.clone()));
    changes.add_if_changed("target", Some(then.argument.clone()), Some(now.argument.clone()));
    changes.add_if_changed("file system", then.file_system.clone(), now.file_system.clone());
    let is_loop = |target: &TargetInfo| target.device.as_ref().is_some_and(|device| device.starts_with("loop"));
    if !(is_loop(then) && is_loop(now)) {
        changes.add_if_changed("device", then.device.clone(), now.device.clone());
    }
    changes.add_if_changed("device model", then.model.clone(), now.model.clone());
    changes.add_if_changed("device size", bytes(then.device_bytes), bytes(now.device_bytes));
    changes.all.extend(settings(then, now));
    changes.add_if_changed("in memory", or(&then.in_memory, "no"), or(&now.in_memory, "no"));
    changes.add_if_changed("image", then.image.as_ref().map(image), now.image.as_ref().map(image));
    if then.image.is_none() || now.image.is_none() {
        changes.add_if_changed("inside of", or(&then.nested_in, "nothing"), or(&now.nested_in, "nothing"));
    }
    changes.add_if_changed("before each program", or(&then.before_each, "nothing"), or(&now.before_each, "nothing"));
    changes.add_if_changed(
        "conditioned",
        then.conditioned.as_ref().map(conditioned),
        now.conditioned.as_ref().map(conditioned),
    );
    if let (Some(one), Some(other)) = (then.fill_percent, now.fill_percent)
        && (one - other).abs() >= FILLED
    {
        let full = |percent: f64| Some(format!("{percent:.0} %"));
        changes.add_if_changed("full", full(one), full(other));
    }
    changes.all
}

fn or(value: &Option<String>, nothing: &str) -> Option<String> {
    Some(value.clone().unwrap_or_else(|| nothing.to_owned()))
}

/// Returns the differences of two targets in the options of their mounts and in the queues of their devices.
pub fn settings(then: &TargetInfo, now: &TargetInfo) -> Vec<Change> {
    let mut changes = Changes::new(Some(now.name.clone()));
    let (one, other) = only(&then.mount_options, &now.mount_options, ",");
    changes.add_if_changed("mount options", one, other);
    changes.add_if_changed("write cache", then.write_cache.clone(), now.write_cache.clone());
    changes.add_if_changed("scheduler", then.scheduler.clone(), now.scheduler.clone());
    let others = |target: &TargetInfo| -> BTreeMap<String, String> {
        let others = target.queue.iter().filter(|(name, _)| !NAMED_APART.contains(&name.as_str()));
        others.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    changes.add_map(&others(then), &others(now));
    changes.add_if_changed("tuning", or(&then.tuning, "as it was found"), or(&now.tuning, "as it was found"));
    changes.all
}

/// Queue attributes that have a field of their own, also in results of earlier versions.
const NAMED_APART: [&str; 2] = ["scheduler", "write_cache"];

/// Settings of the target, not of the workload. For a simulated machine, these are its parts. A setting with a point in
/// its name is a property of a part.
const GROUND: [&str; 7] = ["file_system", "tune", "cpu", "kernel", "bus", "controller", "drive"];

/// True if the setting belongs to the target, whose differences [`target`] reports.
pub(crate) fn is_of_ground(key: &str) -> bool {
    GROUND.contains(&key) || key.contains('.')
}

/// Returns the differences between cells that are compared nevertheless: their settings, and their claims of cache
/// state and clock. Each difference has the names of its programs.
pub fn sizes(pairs: &[(String, &Cell, &Cell)]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (name, then, now) in pairs {
        let keys: BTreeSet<&String> = then.parameters.keys().chain(now.parameters.keys()).collect();
        let mut own = Changes::new(Some(name.clone()));
        for key in keys.into_iter().filter(|key| !is_of_ground(key) && *key != "seed") {
            let value = |cell: &Cell| cell.parameters.get(key).map(|value| setting(key, value));
            own.add_if_changed(key, value(then), value(now));
        }
        // A cell without a rate claims nothing.
        if then.rate.is_some() && now.rate.is_some() {
            own.add_if_changed("cache before", cache(then), cache(now));
            own.add_if_changed("clock stopped", clock(then), clock(now));
            own.add_if_changed("verified", verified(then), verified(now));
        }
        for change in own.all {
            let is_same = |other: &&mut Change| {
                (&other.what, &other.then, &other.now) == (&change.what, &change.then, &change.now)
            };
            match changes.iter_mut().find(is_same) {
                Some(Change { of: Some(names), .. }) => *names += &format!(", {name}"),
                _ => changes.push(change),
            }
        }
    }
    changes
}

/// The differences of one target, of one program, or of the whole run (`None`).
struct Changes {
    of: Option<String>,
    all: Vec<Change>,
}

impl Changes {
    fn new(of: Option<String>) -> Changes {
        Changes { of, all: Vec::new() }
    }

    fn add_if_changed(&mut self, what: &str, then: Option<String>, now: Option<String>) {
        if then != now {
            self.all.push(Change { what: what.to_owned(), of: self.of.clone(), then, now });
        }
    }

    /// Adds each setting that differs. If one side has none, they were not recorded or are not visible.
    fn add_map(&mut self, then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) {
        if then.is_empty() || now.is_empty() {
            return;
        }
        let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        for name in names {
            let value = |settings: &BTreeMap<String, String>| or(&settings.get(name).cloned(), "none");
            self.add_if_changed(name, value(then), value(now));
        }
    }
}

fn cache(cell: &Cell) -> Option<String> {
    let words = match cell.state.cache {
        CacheState::Cold => "cold",
        CacheState::Unverified => "unverified",
        CacheState::Warm => "warm",
        CacheState::Unknown => "unknown",
    };
    Some(words.to_owned())
}

fn verified(cell: &Cell) -> Option<String> {
    Some(cell.state.unverified.as_ref().map_or("yes".to_owned(), |why| format!("no: {why}")))
}

fn clock(cell: &Cell) -> Option<String> {
    let words = match cell.state.clock {
        ClockKind::Returned => "when the last call returned",
        ClockKind::DataDurable => "when data were durable",
        ClockKind::Durable => "when all was durable",
    };
    Some(words.to_owned())
}

fn bytes(bytes: Option<u64>) -> Option<String> {
    bytes.map(|bytes| Bytes(bytes).to_string())
}

fn setting(key: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(number) if key.ends_with("_bytes") => Bytes(*number).to_string(),
        value => value.to_string(),
    }
}

/// Returns the words that only one of two lists has. If a list has no such words, its text is `no` with the words of
/// the other.
fn only(then: &[String], now: &[String], between: &str) -> (Option<String>, Option<String>) {
    let missing = |words: &[String], others: &[String]| {
        let words: Vec<&str> = words.iter().filter(|word| !others.contains(word)).map(String::as_str).collect();
        words.join(between)
    };
    match (missing(then, now), missing(now, then)) {
        (one, other) if one.is_empty() && other.is_empty() => (None, None),
        (one, other) if one.is_empty() => (Some(format!("no {other}")), Some(other)),
        (one, other) if other.is_empty() => (Some(one.clone()), Some(format!("no {one}"))),
        (one, other) => (Some(one), Some(other)),
    }
}

/// Returns the words of the command line that affect the measurement.
fn asked(run: &RunInfo) -> Vec<String> {
    let targets: Vec<&str> = run.targets.iter().map(|target| target.argument.as_str()).collect();
    options(&run.command, &targets)
}

/// Returns the words of a command that affect the measurement, each option with its value. It leaves out the program,
/// the options for output, and the targets, which are compared separately.
fn options(command: &[String], targets: &[&str]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let mut rest = command.iter().skip(1).filter(|word| !targets.contains(&word.as_str())).peekable();
    while let Some(word) = rest.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        let value = rest.next_if(|next| name == word && name.starts_with('-') && !next.starts_with('-'));
        if !NO_MATTER.contains(&name) {
            options.push(value.map_or_else(|| word.clone(), |value| format!("{word} {value}")));
        }
    }
    options
}

fn image(image: &ImageInfo) -> String {
    let place = |place: &Option<String>| place.clone().unwrap_or_else(|| "n.m.".to_owned());
    let through = if image.direct_io { "" } else { ", through the page cache there" };
    let (host, device) = (place(&image.host_file_system), place(&image.host_device));
    format!("{}, blocks of {}, in {host} on {device}{through}", Bytes(image.bytes), Bytes(image.block_bytes))
}

fn conditioned(done: &Conditioned) -> String {
    let purge = done.purge.as_deref().unwrap_or("not purged");
    format!("{purge}, {} written", Bytes(done.written_bytes))
}

/// Returns the costs of measuring if they differ by much.
fn costs(then: &Calibration, now: &Calibration) -> Vec<Change> {
    let mut changes = Changes::new(None);
    let is_much = |one: f64, other: f64| one.max(other) > BY_MUCH * one.min(other);
    if is_much(then.clock_ns as f64, now.clock_ns as f64) {
        changes.add_if_changed("clock", Some(format!("{} ns", then.clock_ns)), Some(format!("{} ns", now.clock_ns)));
    }
    // Shares below a tenth of a percent count as a tenth.
    let own = |costs: &Calibration| costs.own.map(|own| own.cpu_percent);
    if let (Some(one), Some(other)) = (own(then), own(now))
        && is_much(one.max(0.1), other.max(0.1))
    {
        let of_cpu = |percent: f64| Some(format!("{percent:.1} % of the CPU"));
        changes.add_if_changed("this tool", of_cpu(one), of_cpu(other));
    }
    changes.all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn of_lists_the_difference_is_told() {
        let told = |then: &str, now: &str| {
            let (then, now) = only(&words(then), &words(now), ",");
            (then.unwrap_or_default(), now.unwrap_or_default())
        };
        let pair = |then: &str, now: &str| (then.to_owned(), now.to_owned());
        assert_eq!(told("rw relatime", "rw noatime"), pair("relatime", "noatime"));
        assert_eq!(told("rw", "rw discard nobarrier"), pair("no discard,nobarrier", "discard,nobarrier"));
        assert_eq!(told("rw discard", "rw"), pair("discard", "no discard"));
        assert_eq!(told("rw", "rw"), pair("", ""));
    }

    #[test]
    fn every_setting_in_which_two_targets_differ_is_listed() {
        let target = |name: &str, options: &[&str], queue: &[(&str, &str)]| TargetInfo {
            name: name.to_owned(),
            mount_options: options.iter().map(|option| (*option).to_owned()).collect(),
            queue: queue.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..TargetInfo::default()
        };
        let said = |one: &TargetInfo, other: &TargetInfo| -> Vec<String> {
            let words = |value: Option<String>| value.unwrap_or_default();
            let changes = settings(one, other).into_iter();
            changes.map(|Change { what, then, now, .. }| format!("{what} {} {}", words(then), words(now))).collect()
        };
        let usual = target("a", &["rw"], &[("nomerges", "0"), ("max_sectors_kb", "1280"), ("rotational", "0")]);
        let left = target("b", &["rw"], &[("nomerges", "2"), ("max_sectors_kb", "64"), ("rotational", "0")]);
        assert_eq!(said(&usual, &left), ["max_sectors_kb 1280 64", "nomerges 0 2"]);
        assert_eq!(said(&usual, &usual), [""; 0]);
        let other = target("c", &["rw", "noatime"], &[("rotational", "0"), ("nomerges", "0"), ("wbt_lat_usec", "0")]);
        let expected = ["mount options no noatime noatime", "max_sectors_kb 1280 none", "wbt_lat_usec none 0"];
        assert_eq!(said(&usual, &other), expected);
        // Earlier versions did not record the queue.
        assert_eq!(said(&usual, &target("d", &["rw"], &[])), [""; 0]);
    }

    #[test]
    fn settings_that_affect_every_rate_are_named_once() {
        let said = |names: &[&str]| {
            let change = |name: &&str| Change { what: (*name).to_owned(), of: None, then: None, now: None };
            suspicion(&names.iter().map(change).collect::<Vec<_>>()).map(|mark| mark.text)
        };
        let expected = |names: &str| Some(format!("changed between the runs: {names}"));
        for name in ["write cache", "rq_affinity", "iosched/fifo_batch", "bdi/max_ratio", "vm.dirty_ratio", "kernel"] {
            assert_eq!(said(&[name, "command", name]), expected(name));
        }
        assert_eq!(said(&["command", "full", "noise"]), None);
        let many = ["vm.dirty_ratio", "iosched/a", "iosched/b", "iosched/c", "tuning"];
        assert_eq!(said(&many), expected("vm.dirty_ratio, iosched/a, iosched/b and 2 more"));
    }

    #[test]
    fn of_a_command_counts_what_it_measures() {
        let options = |command: &str| options(&words(command), &["a=."]);
        assert_eq!(
            options("./diskperf run quick --json a=. -o base.json --seed 7 --size 4MiB --store=x --no-store"),
            ["run", "quick", "--size 4MiB"]
        );
        assert_eq!(options("/usr/bin/diskperf"), [""; 0]);
    }
}
