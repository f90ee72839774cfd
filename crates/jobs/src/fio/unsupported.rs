//! fio settings that are not converted, and the reason.

/// The form of a setting on fio's command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It has no value, or 0 or 1.
    Switch,
    /// It always has a value.
    Value,
}

/// Settings that do not change the measurement, or that diskperf always has: workloads take turns, files are synced and
/// removed, and the jobs of a workload are reported together. Their forms are those of fio 3.33.
const NEEDLESS: [(&str, Form); 37] = [
    ("allrandrepeat", Form::Switch),
    ("clat_percentiles", Form::Switch),
    ("create_on_open", Form::Switch),
    ("create_serialize", Form::Switch),
    ("description", Form::Value),
    ("disable_clat", Form::Switch),
    ("disable_lat", Form::Switch),
    ("disable_slat", Form::Switch),
    ("disk_util", Form::Switch),
    ("end_fsync", Form::Switch),
    ("eta", Form::Value),
    ("eta-newline", Form::Value),
    ("fallocate", Form::Value),
    ("fixedbufs", Form::Switch),
    ("fsync_on_close", Form::Switch),
    ("group_reporting", Form::Switch),
    ("gtod_reduce", Form::Switch),
    ("lat_percentiles", Form::Switch),
    ("log_avg_msec", Form::Value),
    ("name", Form::Value),
    ("new_group", Form::Switch),
    ("norandommap", Form::Switch),
    ("per_job_logs", Form::Switch),
    ("percentile_list", Form::Value),
    ("randrepeat", Form::Switch),
    ("refill_buffers", Form::Switch),
    ("registerfiles", Form::Switch),
    ("slat_percentiles", Form::Switch),
    ("thread", Form::Switch),
    ("time_based", Form::Switch),
    ("unified_rw_reporting", Form::Value),
    ("unit_base", Form::Value),
    ("unlink", Form::Switch),
    ("write_bw_log", Form::Value),
    ("write_hist_log", Form::Value),
    ("write_iops_log", Form::Value),
    ("write_lat_log", Form::Value),
];

/// The reason for each setting.
const REASONS: [(&str, &str); 17] = [
    ("directory", "name the directory on the command line: diskperf run JOB.toml DIRECTORY"),
    (
        "filename",
        "name a target on the command line: a directory, file:PATH (only reads; --cold evicts it, as fio does) or \
         new:FSTYPE@DEVICE",
    ),
    ("invalidate", "diskperf evicts its own files before it reads them, and file:PATH only with --cold"),
    ("io_limit", "a round ends after its time, or at the end of the file"),
    ("io_size", "a round ends after its time, or at the end of the file"),
    ("loops", "set the number of rounds: diskperf run JOB.toml --rounds N"),
    ("nr_files", "each job has one file"),
    ("nrfiles", "each job has one file"),
    ("number_ios", "a round ends after its time, or at the end of the file"),
    ("numa_cpu_nodes", "use numactl"),
    ("overwrite", "write and commit create their file; randwrite and randrw overwrite one"),
    ("cpus_allowed", "use taskset"),
    ("nice", "use nice"),
    ("verify", "diskperf always checks samples of the data that it reads"),
    ("zero_buffers", "set it on the command line: diskperf run JOB.toml --data zeros"),
    ("exitall", "each workload ends on its own"),
    ("flow", "workloads do not wait for each other"),
];

/// The reason for all other settings.
pub const NO_SUCH_OPTION: &str = "diskperf has no such option";

/// The form of a setting that does not change the measurement, or that diskperf always has. `None` for other settings.
pub fn without_effect(name: &str) -> Option<Form> {
    NEEDLESS.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
}

/// The reason why a setting of fio is not converted, if it is known.
pub fn reason(name: &str) -> Option<&'static str> {
    REASONS.iter().find(|(known, _)| *known == name).map(|(_, why)| *why)
}
