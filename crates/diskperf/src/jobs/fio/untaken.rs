//! What of a job of fio is not taken, and why.

/// Settings that change nothing of what is measured here, or that say what is done anyway: everything takes turns, is
/// made durable and removed, and is reported as a whole.
pub(super) const NEEDLESS: [&str; 35] = [
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
    "exitall",
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

/// Why others are not taken.
pub(super) const REASONS: [(&str, &str); 15] = [
    ("directory", "name it where the job is run: diskperf run JOB.toml DIRECTORY"),
    ("filename", "name where it is run: a folder, file:PATH to read a file, or new:FSTYPE@DEVICE for a device"),
    ("invalidate", "what is read through the page cache begins with nothing of it there; warm = true has it there"),
    ("io_size", "a round ends by its time, or with the file"),
    ("loops", "every load is run in each round: diskperf run JOB.toml --rounds N"),
    ("nrfiles", "each job has one file"),
    ("number_ios", "a round ends by its time, or with the file"),
    ("numa_cpu_nodes", "run it by numactl"),
    ("cpus_allowed", "run it by taskset"),
    ("nice", "run it by nice"),
    ("ramp_time", "every round counts; use --rounds N for a longer run"),
    ("startdelay", "loads run one after the other"),
    ("verify", "diskperf always compares samples of the data that it reads"),
    ("zero_buffers", "name it when you run the job: diskperf run JOB.toml --data zeros"),
    ("flow", "loads run one after the other"),
];

/// Of all others.
pub(super) const NOT_HERE: &str = "nothing here does that";
