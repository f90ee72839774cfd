//! fio settings that are not converted, and the reason.

/// Settings that do not change the measurement, or that diskperf always has: workloads take turns, files are synced and
/// removed, and the jobs of a workload are reported together.
pub(super) const NEEDLESS: [&str; 34] = [
    "allrandrepeat",
    "clat_percentiles",
    "create_on_open",
    "create_serialize",
    "description",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "disk_util",
    "end_fsync",
    "eta",
    "fallocate",
    "fixedbufs",
    "fsync_on_close",
    "group_reporting",
    "gtod_reduce",
    "lat_percentiles",
    "log_avg_msec",
    "name",
    "new_group",
    "percentile_list",
    "per_job_logs",
    "randrepeat",
    "refill_buffers",
    "registerfiles",
    "slat_percentiles",
    "thread",
    "unified_rw_reporting",
    "unit_base",
    "unlink",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// The reason for each setting.
pub(super) const REASONS: [(&str, &str); 14] = [
    ("directory", "name the directory on the command line: diskperf run JOB.toml DIRECTORY"),
    ("filename", "name a target on the command line: a directory, file:PATH (only reads) or new:FSTYPE@DEVICE"),
    ("invalidate", "reads always start with a cold page cache; warm = true fills it first"),
    ("io_size", "a round ends after its time, or at the end of the file"),
    ("loops", "set the number of rounds: diskperf run JOB.toml --rounds N"),
    ("nrfiles", "each job has one file"),
    ("number_ios", "a round ends after its time, or at the end of the file"),
    ("numa_cpu_nodes", "use numactl"),
    ("cpus_allowed", "use taskset"),
    ("nice", "use nice"),
    ("verify", "diskperf always checks samples of the data that it reads"),
    ("zero_buffers", "set it on the command line: diskperf run JOB.toml --data zeros"),
    ("exitall", "each load ends on its own"),
    ("flow", "loads do not wait for each other"),
];

/// The reason for all other settings.
pub const NO_SUCH_OPTION: &str = "diskperf has no such option";

/// True for a setting that does not change the measurement, or that diskperf always has.
pub fn has_no_effect(name: &str) -> bool {
    NEEDLESS.contains(&name)
}

/// The reason why a setting of fio is not converted, if it is known.
pub fn reason(name: &str) -> Option<&'static str> {
    REASONS.iter().find(|(known, _)| *known == name).map(|(_, why)| *why)
}
