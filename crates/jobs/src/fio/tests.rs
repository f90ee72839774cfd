//! Tests that convert fio jobs to job files and back.

use std::collections::BTreeSet;

use clap::Parser;
use serde_json::Value;
use workload::Mix;

use super::*;
use crate::error::JobError;
use crate::groups::NamedLoad;
use crate::job_file::Job;
use crate::load_spec::{KEYS, LoadSpec};
use crate::load_words::PatternName;
use crate::queue_depth::sample;
use crate::source_span::Source;

fn job(text: &str) -> Result<Job, JobError> {
    Job::read(&Source::new("x.toml", text), &sample())
}

fn import_text(fio: &str) -> Result<Imported, JobError> {
    import(&Source::new("x.fio", fio), sample().limits)
}

/// The job file of a fio job, and the differences.
fn imported(fio: &str) -> (Job, Vec<String>) {
    let imported = import_text(fio).unwrap_or_else(|error| panic!("{fio}: {error}"));
    let job = job(&imported.job).unwrap_or_else(|error| panic!("{}: {error}", imported.job));
    (job, imported.differences)
}

fn refused(fio: &str) -> (String, String) {
    let error = import_text(fio).expect_err(fio);
    (error.to_string(), error.hint().unwrap_or_default())
}

/// fio jobs from users. A test of the program runs them with fio itself.
const SAMPLES: [&str; 5] = [
    include_str!("../../samples/database.fio"),
    include_str!("../../samples/ssd.fio"),
    include_str!("../../samples/log.fio"),
    include_str!("../../samples/sizes.fio"),
    include_str!("../../samples/together.fio"),
];

#[test]
fn imported_jobs_are_the_same_after_export_and_import() {
    for sample in SAMPLES {
        let (job, _) = imported(sample);
        assert!(!job.loads.is_empty());
        let given = export(&job);
        let (again, mut differences) = imported(&given.job);
        assert_eq!(again.loads, job.loads, "{sample}\n{}\n{}", job.text.text, given.job);
        assert_eq!(again.seed, job.seed);
        // fio has no stride and no warm-up that mean the same.
        differences.retain(|line| !line.contains(words::PASSES) && !line.contains(words::AFTER_RAMP));
        assert_eq!(differences, Vec::<String>::new(), "{}", given.job);
        assert_eq!(
            export(&again).job.lines().skip(1).collect::<Vec<_>>(),
            given.job.lines().skip(1).collect::<Vec<_>>()
        );
    }
}

#[test]
fn sections_have_the_same_meaning_as_in_fio() {
    let (job, differences) = imported(
        "[global]\nioengine=libaio\niodepth=16\ndirect=1\nsize=1000m\nruntime=30\n[a b]\nrw=randread\nbs=4k,8k\n\
         [a b]\nstonewall\nrw=randwrite\nbs=4k,8k\nkb_base=1000\nnumjobs=4\nrate_iops=100\nrate_process=poisson\n\
         random_distribution=zipf:1.2\nsync=dsync\nverify=crc32c\n",
    );
    let expected = "[[load]]\nname = 'a-b'\npattern = 'randread'\nbs = '4KiB'\niodepth = 16\ndirect = true\n\
                    time = '30s'\norder = 'permutation'\nengine = 'uring'\nsize = '1000MiB'\n[[load]]\nname = 'a-b-2'\n\
                    pattern = 'randwrite'\nbs = '8000B'\niodepth = 16\njobs = 4\ndirect = true\ntime = '30s'\n\
                    rate = 400\narrivals = 'poisson'\norder = 'zipf:1.2'\nsync = 'dsync'\nengine = 'uring'\n\
                    size = '1000MiB'\n";
    assert_eq!(job.loads, self::job(expected).expect("a job").loads);
    assert_eq!(
        differences,
        [
            "line 2: ioengine=libaio: converted to io_uring",
            "line 7: [a b]: no time_based: each round takes the whole runtime; fio also ends after the size",
            "line 10: [a b]: no time_based: each round takes the whole runtime; fio also ends after the size",
            "line 10: [a b]: the file is written beforehand, as with overwrite=1",
            "line 20: verify=crc32c: not converted: diskperf always checks samples of the data that it reads"
        ]
    );
}

/// A random workload of diskperf ends after its time, and a sequential one also with its file.
#[test]
fn different_ends_of_a_round_are_listed() {
    for (settings, said) in [
        ("rw=randread\nruntime=60\n", Some("line 1: [a]: no time_based: each round takes the whole runtime")),
        ("rw=randread\nruntime=60\ntime_based=0\n", Some("fio also ends after the size")),
        ("rw=randread\nruntime=60\ntime_based\n", None),
        ("rw=randwrite\noverwrite=1\n", Some("line 1: [a]: no runtime: each round takes")),
        ("rw=read\nruntime=60\ntime_based=1\n", Some("line 1: [a]: time_based: a round also ends at the end")),
        ("rw=read\nruntime=60\n", None),
        ("rw=write\n", None),
    ] {
        let (_, differences) = imported(&format!("[a]\nsize=100m\n{settings}"));
        assert_eq!(differences.len(), said.iter().len(), "{settings}: {differences:?}");
        assert!(said.is_none_or(|said| differences[0].contains(said)), "{settings}: {differences:?}");
    }
}

#[test]
fn fio_defaults_are_written_out() {
    let (job, differences) = imported("[x]\nsize=8m\n[y]\nstonewall\nrw=randrw\niodepth=4\nfilename=/dev/sdz\n");
    let expected = "[[load]]\nname = 'x'\npattern = 'read'\nbs = '4KiB'\ntime = '3600s'\nengine = 'posix'\n\
                    size = '8MiB'\n[[load]]\nname = 'y'\npattern = 'randrw'\nbs = '4KiB'\ntime = '2s'\nreads = 50\n\
                    order = 'permutation'\nengine = 'posix'\nsize = '256MiB'\n";
    assert_eq!(job.loads, self::job(expected).expect("a job").loads);
    let differences = differences.join("\n");
    for words in [
        "line 3: [y]: no runtime: each round takes 2.00 s",
        "line 3: [y]: no size: the file gets 256 MiB",
        "line 6: iodepth=4: not converted: this engine has a queue depth of 1",
        "line 7: filename=/dev/sdz: not converted: name a target",
    ] {
        assert!(differences.contains(words), "{differences}");
    }
}

/// fio 3.33 reads and writes the smaller of the two sizes (tried out).
#[test]
fn filesize_is_the_size_of_the_file() {
    for (settings, bytes, said) in [
        ("filesize=1m\nsize=10m\n", "1MiB", None),
        ("size=10m\nfilesize=1m\n", "1MiB", None),
        ("filesize=1m\n", "1MiB", None),
        ("filesize=10m\nsize=1m\n", "10MiB", Some("line 3: size=1m: not converted: the file gets filesize; ")),
        ("filesize=10m\nsize=50%\n", "10MiB", Some("line 3: size=50%: not converted: the file gets filesize; ")),
        ("filesize=10m\nsize=100%\n", "10MiB", None),
        ("filesize=10m\nsize=1m\ntime_based\nruntime=1\nrw=randread\n", "10MiB", None),
        ("filesize=1m-4m\nsize=10m\n", "10MiB", Some("line 2: filesize=1m-4m: not converted: ")),
    ] {
        let (job, differences) = imported(&format!("[a]\n{settings}"));
        assert_eq!(job.loads[0].spec.size, bytes.parse().ok(), "{settings}");
        assert_eq!(differences.len(), said.iter().len(), "{settings}: {differences:?}");
        assert!(said.is_none_or(|said| differences[0].starts_with(said)), "{settings}: {differences:?}");
    }
    assert!(refused("[a]\nfilesize=1m\nsize=much\n").0.starts_with("x.fio:3:1: size: \"much\" is not a size"));
}

#[test]
fn the_later_of_direct_and_buffered_counts() {
    for (global, section, is_direct) in [
        ("", "", false),
        ("", "direct=1", true),
        ("", "buffered=0", true),
        ("", "buffered", false),
        ("buffered=1", "direct=1", true),
        ("buffered=0", "direct=0", false),
        ("direct=1", "buffered=1", false),
        ("direct=1", "", true),
        ("", "direct=1\nbuffered=1", false),
        ("", "buffered=1\ndirect=1", true),
        ("direct=1", "direct=0\nbuffered=0", true),
    ] {
        let (job, differences) = imported(&format!("[global]\nsize=8m\n{global}\n[a]\n{section}\n"));
        assert_eq!(job.loads[0].spec.direct, is_direct, "{global}; {section}");
        assert!(differences.is_empty(), "{differences:?}");
    }
}

#[test]
fn commits_strides_and_bandwidths_are_converted() {
    let (job, differences) = imported(
        "[global]\nsize=8m\n[log]\nrw=write\nfdatasync=1\nbs=512\n[far]\nrw=read:60k\nbs=4k\n[slow]\nrw=read\nrate=1m\n\
         [hot]\nrw=write\nthinktime=1500\nfsync=8\npre_read=1\nbssplit=4k/:64k/\n",
    );
    let expected = "together = true\n[[load]]\nname = 'log'\npattern = 'commit'\nbs = '512B'\ntime = '3600s'\n\
                    engine = 'posix'\nsize = '8MiB'\n[[load]]\nname = 'far'\npattern = 'read'\nbs = '4KiB'\n\
                    time = '3600s'\n\
                    stride = '64KiB'\nengine = 'posix'\nsize = '8MiB'\n[[load]]\nname = 'slow'\npattern = 'read'\n\
                    bs = '4KiB'\ntime = '3600s'\nrate = 256\narrivals = 'constant'\nengine = 'posix'\nsize = '8MiB'\n\
                    [[load]]\nname = 'hot'\npattern = 'write'\nbs = '4KiB:50,64KiB:50'\ntime = '3600s'\n\
                    think = '1500us'\nfsync = 8\nengine = 'posix'\nsize = '8MiB'\n";
    assert_eq!(job.loads, self::job(expected).expect("a job").loads);
    assert!(
        differences.iter().any(|line| line.contains("pre_read=1: not converted: this workload creates its file")),
        "{differences:?}"
    );
    assert!(differences.iter().any(|line| line.starts_with("line 8: rw=read:60k: fio starts")), "{differences:?}");
    let given = export(&job).differences;
    assert!(given.iter().any(|line| line.starts_with("far: stride = 64KiB: fio starts")), "{given:?}");
}

/// fio lays out a file that is only written if `overwrite` is on, and any file for the engine mmap.
#[test]
fn files_that_fio_does_not_write_beforehand_are_listed() {
    let (listed, created) = ("line 1: [a]: the file is written beforehand, as with overwrite=1", "write and commit");
    for (settings, said, exported) in [
        ("rw=randwrite", Some(listed), true),
        ("rw=randwrite\noverwrite=0", Some(listed), true),
        ("rw=randwrite\noverwrite=1", None, true),
        ("rw=write:4k", Some(listed), true),
        ("rw=write:4k\noverwrite", None, true),
        ("rw=randwrite\nioengine=mmap", None, false),
        ("rw=randwrite\nioengine=null", None, false),
        ("rw=randrw\noverwrite=1", None, false),
        ("rw=write\noverwrite=0", None, false),
        ("rw=write\noverwrite=1", Some(created), false),
        ("rw=write\nfdatasync=1\noverwrite=1", Some(created), false),
    ] {
        let (job, mut differences) = imported(&format!("[a]\nsize=8m\n{settings}\n"));
        differences.retain(|line| line.contains("overwrite"));
        assert_eq!(differences.len(), said.iter().len(), "{settings}: {differences:?}");
        assert!(said.is_none_or(|said| differences[0].contains(said)), "{settings}: {differences:?}");
        assert_eq!(export(&job).job.contains("\noverwrite=1\n"), exported, "{settings}");
    }
}

/// fio 3.33 prints the same block sizes (tried out).
#[test]
fn block_sizes_of_reads_and_writes_are_those_of_fio() {
    for (settings, expected) in [
        ("rw=write\nbs=8k", "8KiB"),
        ("rw=read\nbs=8k,", "8KiB"),
        ("rw=write\nbs=8k,", "4KiB"),
        ("rw=write\nbs=8k,,", "4KiB"),
        ("rw=read\nbs=,8k", "4KiB"),
        ("rw=write\nbs=,8k", "8KiB"),
        ("rw=write\nbs=8k\nbssplit=4k/50:64k/50,", "8KiB"),
        ("rw=read\nbs=8k\nbsrange=,4k-64k", "8KiB"),
        // The largest share gets the rest, and the last one of equal shares.
        ("rw=read\nbssplit=4k/33:8k/33:16k/33", "4KiB:33,8KiB:33,16KiB:34"),
        ("rw=read\nbssplit=4k/10:8k/60:16k/20", "4KiB:10,8KiB:70,16KiB:20"),
    ] {
        let (job, _) = imported(&format!("[a]\nsize=8m\n{settings}\n"));
        let sizes = job.loads[0].spec.bs.as_ref().map(ToString::to_string);
        assert_eq!(sizes.as_deref(), Some(expected), "{settings}");
    }
}

#[test]
fn the_later_share_of_a_mix_counts() {
    for (settings, reads) in [
        ("rwmixread=70\nrwmixwrite=60", 40),
        ("rwmixwrite=60\nrwmixread=70", 70),
        ("rwmixwrite=60", 40),
        ("rwmixread=70", 70),
    ] {
        let (job, _) = imported(&format!("[a]\nrw=randrw\nsize=8m\n{settings}\n"));
        assert_eq!(job.loads[0].spec.reads, Some(reads), "{settings}");
    }
}

/// The pattern commit has one block size, and no flag of synchronous writes.
#[test]
fn other_writes_with_fdatasync_stay_writes() {
    for (settings, pattern, fdatasync) in [
        ("bs=4k", PatternName::Commit, None),
        ("sync=0", PatternName::Commit, None),
        ("bssplit=4k/50:64k/50", PatternName::Write, Some(1)),
        ("sync=dsync", PatternName::Write, Some(1)),
    ] {
        let (job, differences) = imported(&format!("[a]\nrw=write\nfdatasync=1\nsize=8m\n{settings}\n"));
        let spec = &job.loads[0].spec;
        assert_eq!((spec.pattern, spec.fdatasync), (pattern, fdatasync), "{settings}");
        assert!(differences.is_empty(), "{settings}: {differences:?}");
    }
}

#[test]
fn a_rate_of_operations_with_several_sizes_is_listed() {
    let fio = "[a]\nrw=randread\nsize=8m\nbssplit=4k/50:64k/50\nrate_iops=9\nruntime=1\ntime_based\n";
    let lists = |differences: &[String]| differences.iter().any(|line| line.contains(PACED_BY_BYTES));
    for (process, expected) in [("", true), ("rate_process=poisson\n", false)] {
        let (job, differences) = imported(&format!("{fio}{process}"));
        let given = export(&job).differences;
        assert_eq!((lists(&differences), lists(&given)), (expected, expected), "{differences:?} {given:?}");
    }
}

/// fio runs a section together with those before it, unless it has a stonewall.
#[test]
fn sections_without_a_stonewall_become_a_group() {
    let groups = |fio: &str| {
        let (job, differences) = imported(fio);
        let placed = |load: &NamedLoad| format!("{} {:?} {}", load.name, load.group, load.start);
        let differences: Vec<String> = differences.into_iter().filter(|line| !line.contains("no runtime")).collect();
        (job.loads.iter().map(placed).collect::<Vec<String>>(), job.text.text.contains("together = true"), differences)
    };
    let (all, is_together, differences) =
        groups("[global]\nsize=8m\n[wal]\nrw=write\nfdatasync=1\n[data]\nstartdelay=1500ms\nrw=randrw\n");
    assert_eq!(all, ["wal Some(\"sum\") 0 ns", "data Some(\"sum\") 1.50 s"]);
    assert!(is_together && differences.is_empty(), "{differences:?}");
    let (some, is_together, _) = groups(SAMPLES[4]);
    let expected =
        ["wal Some(\"group\")", "data Some(\"group\")", "scan Some(\"group-2\")", "reader Some(\"group-2\")"];
    assert!(some.iter().zip(expected).all(|(load, start)| load.starts_with(start)), "{some:?}");
    assert!(!is_together);
    // A section that is left out does not separate the others, and an only one has no group.
    let (left, is_together, _) = groups("[global]\nsize=8m\n[a]\n[b]\nrw=trim\n[sum]\n");
    assert_eq!(left, ["a Some(\"group\") 0 ns", "sum Some(\"group\") 0 ns"]);
    assert!(!is_together, "a load has the name of the sum");
    let (one, _, differences) = groups("[a]\nsize=8m\nstartdelay=2-5\nexitall\n");
    assert_eq!(one, ["a None 0 ns"]);
    assert_eq!(
        differences,
        [
            "line 3: startdelay: the shorter time of the range is used",
            "line 3: startdelay=2-5: not converted: only sections that run at the same time have a start",
            "line 4: exitall: not converted: each workload ends on its own",
        ]
    );
    let (apart, _, differences) = groups("[global]\nsize=8m\n[a]\nrw=read\n[b]\nrw=randread\npre_read=1\n");
    assert_eq!(apart, ["a None 0 ns", "b None 0 ns"]);
    assert!(differences[0].starts_with("line 5: [b]: diskperf runs it after the section before it: warm: "));
    let (what, _) = refused("[a]\nsize=8m\nstartdelay=soon\n");
    assert_eq!(what, "x.fio:3:1: startdelay: \"soon\" is not a time");
}

/// In fio, a pause follows each burst, so the queue is never deeper than a burst.
#[test]
fn pauses_cap_the_queue_depth_and_ramps_are_warm_ups() {
    let load = "[a]\nrw=randread\nsize=8m\nruntime=2\ntime_based\nioengine=io_uring\niodepth=8\nramp_time=500ms\n";
    for (settings, burst, depth) in [
        ("", None, Some(8)),
        ("thinktime=5ms\n", None, None),
        ("thinktime=5ms\nthinktime_blocks=4\n", Some(4), Some(4)),
        ("thinktime=5ms\nthinktime_blocks=16\n", Some(16), Some(8)),
        ("thinktime_blocks=16\n", None, Some(8)),
    ] {
        let (job, differences) = imported(&format!("{load}{settings}"));
        let spec = &job.loads[0].spec;
        assert_eq!((spec.burst, spec.iodepth), (burst, depth), "{settings}");
        assert_eq!(spec.warmup.map(|time| time.to_string()).as_deref(), Some("500ms"));
        assert_eq!(differences.is_empty(), depth == Some(8), "{differences:?}");
    }
}

/// fio keeps its place in the file after a ramp.
#[test]
fn a_ramp_before_sequential_accesses_is_listed() {
    for (settings, is_listed, is_cached) in [
        ("rw=read", true, true),
        ("rw=read\ndirect=1", true, false),
        ("rw=write", true, false),
        ("rw=write\nfdatasync=1", true, false),
        ("rw=randread", false, false),
        ("rw=read\nramp_time=0", false, false),
    ] {
        let (job, differences) = imported(&format!("[a]\nsize=8m\nruntime=2\nramp_time=500ms\n{settings}\n"));
        for lines in [&differences, &export(&job).differences] {
            let said = |what: &str| lines.iter().any(|line| line.contains(what));
            assert_eq!((said(words::AFTER_RAMP), said("in the page cache")), (is_listed, is_cached), "{lines:?}");
        }
    }
    let (_, differences) = imported("[a]\nsize=8m\nramp_time=5\n");
    assert!(differences[0].starts_with("line 1: [a]: ramp_time: fio continues"), "{differences:?}");
}

/// All loads of a group are warmed up for the same time.
#[test]
fn shorter_ramps_of_a_group_are_listed() {
    let (_, differences) = imported(
        "[global]\nsize=8m\nrw=randread\nruntime=1\ntime_based\n[a]\nramp_time=5\n[b]\nramp_time=2\n[c]\n[d]\n\
         stonewall\nramp_time=1\n",
    );
    let what = "ramp_time: diskperf runs it for 5s, the longest ramp of its group";
    assert_eq!(differences, [format!("line 8: [b]: {what}"), format!("line 10: [c]: {what}")]);
}

#[test]
fn settings_without_an_effect_have_a_true_reason() {
    for (settings, said) in [
        ("rw=randread\nrwmixread=70", Some("rwmixread=70: not converted: it has no effect on this pattern")),
        ("rw=read\nrwmixwrite=30", Some("rwmixwrite=30: not converted: it has no effect on this pattern")),
        ("rw=read\nrandom_distribution=zipf:0.9", Some("zipf:0.9: not converted: it has no effect on this pattern")),
        ("rw=read\nnr_files=4", Some("nr_files=4: not converted: each job has one file")),
        ("rw=read\nio_limit=4m", Some("io_limit=4m: not converted: a round ends after its time")),
        ("rw=read\ncgroup=x", Some("cgroup=x: not converted: diskperf has no such option")),
        ("rw=read\nfilename=big", Some("file:PATH (only reads; --cold evicts it, as fio does)")),
        ("rw=read\ninvalidate=0", Some("invalidate=0: not converted: diskperf evicts its own files before it reads")),
        ("rw=read\ninvalidate=1", None),
        ("rw=read\ninvalidate", None),
        // fio fills the page cache afterwards.
        ("rw=read\ninvalidate=0\npre_read=1", None),
    ] {
        let (_, differences) = imported(&format!("[a]\nsize=8m\nruntime=1\ntime_based=1\n{settings}\n"));
        let differences: Vec<String> = differences.into_iter().filter(|line| !line.contains("time_based")).collect();
        assert_eq!(differences.len(), said.iter().len(), "{settings}: {differences:?}");
        assert!(said.is_none_or(|said| differences[0].contains(said)), "{settings}: {differences:?}");
    }
}

#[test]
fn some_sizes_have_another_base_in_fio() {
    for (sizes, base) in [
        ("4KiB", Some(1000)),
        ("4KiB/60:64KiB/40", Some(1000)),
        ("4KiB,8k", Some(1000)),
        ("8k,4KiB", Some(1000)),
        ("4k:60,64KiB:40", Some(1000)),
        ("4KiB..64k*2", Some(1000)),
        ("4k..64KiB*2", Some(1000)),
        ("1.5GiB", Some(1000)),
        ("1MB", Some(1024)),
        ("4k,8kB", Some(1024)),
        ("4k", None),
        ("4Ki", None),
        ("512B", None),
        ("4k/60:64k/40", None),
        ("4k..64k*2", None),
    ] {
        assert_eq!(other_base(sizes), base, "{sizes}");
    }
}

/// fio has a rate of reads, and one of writes.
#[test]
fn a_mix_has_a_rate_of_reads_and_one_of_writes() {
    for (fio, rate, reads) in [
        ("rate_iops=70,30\nrwmixread=70", Some("70/30"), None),
        ("rate_iops=100\nnumjobs=3", Some("300/300"), None),
        ("rate_iops=10k,1k", Some("10240/1024"), None),
        ("rate_iops=10k\nkb_base=1000", Some("10000/10000"), None),
        ("rate=1m,512k\nbs=4k", Some("256/128"), None),
        ("rate_iops=40,\nrwmixread=70", None, Some(70)),
        ("rate=1m,3k\nbs=4k", None, Some(50)),
        ("rate=1m,3k\nbs=4k\nnumjobs=4", Some("1024/3"), None),
    ] {
        let (job, differences) = imported(&format!("[a]\nrw=randrw\nsize=8m\n{fio}\n"));
        let spec = &job.loads[0].spec;
        assert_eq!((spec.rate.map(|rate| rate.to_string()).as_deref(), spec.reads), (rate, reads), "{fio}");
        assert_eq!(differences.iter().any(|line| line.contains("rate")), rate.is_none(), "{fio}: {differences:?}");
    }
    for (rate, fio) in [("100\nreads = 70", "rate_iops=70,30"), ("'200/31'\njobs = 2", "rate_iops=100,16")] {
        let job = format!("[[load]]\npattern = 'randrw'\nrate = {rate}\n");
        let exported = export(&self::job(&job).expect("a job"));
        assert!(exported.job.contains(&format!("{fio}\n")), "{}", exported.job);
        assert_eq!(exported.differences.iter().any(|line| line.contains("rate = 200/31: rounded")), rate.contains('/'));
    }
}

#[test]
fn unsupported_sections_are_left_out_or_refused() {
    let (job, differences) =
        imported("[a]\nrw=trim\nsize=8m\n[b]\nrw=read\nsize=8m\nstonewall\n[c]\nioengine=rados\nsize=8m\n");
    assert_eq!(job.loads.iter().map(|load| load.name).collect::<Vec<_>>(), ["b"]);
    let words = |at: usize, word: &str| assert!(differences[at].contains(word), "{differences:?}");
    words(0, "line 1: [a]: left out: x.fio:2:1: [a] trims");
    words(1, "line 8: [c]: left out: x.fio:9:1: diskperf has no such engine");
    for (fio, what, hint) in [
        ("[a]\nrw=trim\n", "x.fio:2:1: [a] trims", "remove the section"),
        ("[a]\nrw=rw\nsize=1m", "x.fio:2:1: diskperf cannot mix sequential", "randrw"),
        ("[a]\nrw=sideways\n", "x.fio:2:1: rw: \"sideways\" is not a pattern of fio", "randread"),
        ("[a]\nbs=1.5k\n", "x.fio:2:1: bs: \"1.5k\" is not a size", "bs=4k"),
        ("[a]\ndirect=yes\n", "x.fio:2:1: direct: \"yes\" is not a switch", "1 or 0"),
        ("[a]\nruntime=soon\n", "x.fio:2:1: runtime: \"soon\" is not a time", ""),
        ("[global]\nbs=4k\n", "x.fio:1:1: a section is missing", "[NAME]"),
        ("[a]\nbs=4k-8k\n", "x.fio:2:1: bs: \"4k-8k\" is not a size", ""),
        ("[a]\nbsrange=4k-8k\n", "x.fio:2:1: diskperf cannot draw block sizes", "bssplit"),
        ("[a]\nbs=4g\nsize=8g\n", "x.fio:1:1: bs 4GiB: a block has at most", "remove the section"),
        ("include b.fio\n", "x.fio:1:1: include", "lines of that file"),
    ] {
        let (message, advice) = refused(fio);
        assert!(message.starts_with(what) && advice.contains(hint), "{fio}: {message}\n{advice}");
    }
}

#[test]
fn options_unknown_to_fio_are_listed() {
    let job = "targets = ['.']\nrounds = 3\nbudget = '1min'\nsustained = '1min'\nseed = 5\n[[load]]\nname = 'global'\n\
               pattern = 'randread'\ntime = '1500ns'\nrate = 100\njobs = 3\n";
    let exported = export(&self::job(job).expect("a job"));
    let differences = exported.differences.join("\n");
    for word in [
        "rounds = 3: not converted",
        "budget",
        "sustained",
        "--directory=PATH",
        "rate = 100: rounded",
        "1500ns: rounded",
    ] {
        assert!(differences.contains(word), "{differences}");
    }
    assert!(exported.job.contains("[global]\nrandseed=5\n\n[load-global]\n"), "{}", exported.job);
    assert!(exported.job.contains("rate_iops=34\n") && exported.job.contains("runtime=2us\n"), "{}", exported.job);
}

/// fio would take such a section as defaults, and not run it.
#[test]
fn loads_whose_name_begins_with_global_stay_loads() {
    let job = "[[load]]\nname = 'global-scan'\npattern = 'randread'\n[[load]]\nname = 'globals'\npattern = 'write'\n";
    let exported = export(&self::job(job).expect("a job"));
    assert!(exported.job.contains("\n[load-global-scan]\n"), "{}", exported.job);
    let (again, _) = imported(&exported.job);
    assert_eq!(again.loads.iter().map(|load| load.name).collect::<Vec<_>>(), ["load-global-scan", "load-globals"]);
}

/// Each key with a value, the other words of a command line with it, and its line in fio, if fio has the key.
const SPELLINGS: [(&str, &str, &str, &str); 26] = [
    ("pattern", "randwrite", "", "rw=randwrite"),
    ("pattern", "commit", "", "rw=write"),
    ("bs", "8KiB", "randread", "bs=8192"),
    ("bs", "4KiB:60,64KiB:40", "randread", "bssplit=4096/60:65536/40"),
    ("iodepth", "4", "randread", "iodepth=4"),
    ("jobs", "3", "randread", "numjobs=3"),
    ("direct", "true", "randread", "direct=1"),
    ("time", "10s", "randread", "runtime=10000000us"),
    ("warmup", "5s", "randread", "ramp_time=5000000us"),
    ("rate", "100", "randread", "rate_iops=100"),
    ("arrivals", "poisson", "randread --rate 100", "rate_process=poisson"),
    ("reads", "70", "randrw", "rwmixread=70"),
    ("order", "zipf:0.99", "randread", "random_distribution=zipf:0.99"),
    ("order", "replacement", "randread", "norandommap=1"),
    ("stride", "1MiB", "read", "rw=read:917504"),
    ("think", "1ms", "randread", "thinktime=1000us"),
    ("burst", "8", "randread --think 1ms", "thinktime_blocks=8"),
    ("fsync", "8", "randwrite", "fsync=8"),
    ("fdatasync", "8", "randwrite", "fdatasync=8"),
    ("sync", "dsync", "randwrite", "sync=dsync"),
    ("engine", "mmap", "randread", "ioengine=mmap"),
    ("engine", "sqpoll", "randread", "sqthread_poll=1"),
    ("size", "1GiB", "randread", "size=1073741824"),
    ("rounds", "3", "randread", ""),
    ("seed", "7", "randread", "randseed=7"),
    ("warm", "true", "randread", "pre_read=1"),
];

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    load: LoadSpec,
}

#[test]
fn each_key_means_the_same_on_the_command_line_in_job_files_in_fio_and_in_json() {
    let tested: BTreeSet<&str> = SPELLINGS.iter().map(|(key, ..)| *key).collect();
    let all: BTreeSet<&str> = KEYS.all().map(|key| key.name).collect();
    assert_eq!(tested, all);
    let json = |load: &LoadSpec| serde_json::to_value(load).expect("JSON");
    // A job file has the rounds and the seed above its loads.
    let load = |job: &Job| LoadSpec { rounds: job.rounds, seed: job.seed, ..job.loads[0].spec.clone() };
    for (key, value, others, fio) in SPELLINGS {
        let line = match (key, value) {
            ("pattern", _) => format!("io {value}"),
            (_, "true") => format!("io {others} --{key}"),
            _ => format!("io {others} --{key} {value}"),
        };
        let Line { load: typed } = Line::try_parse_from(line.split_whitespace()).expect("a line");
        let expected: Value = json(&typed)[key].clone();
        assert_eq!(expected.to_string().trim_matches('"'), value, "{key}");
        assert_eq!(serde_json::from_value::<LoadSpec>(json(&typed)).expect(key), typed);

        let text = typed.job_file(&[], &[], None, None);
        assert!(text.contains(&format!("\n{key} = {expected}")), "{text}");
        let job = job(&text).expect(key);
        assert_eq!(load(&job), typed, "{text}");

        let exported = export(&job).job;
        if fio.is_empty() {
            continue;
        }
        assert!(exported.lines().any(|line| line == fio), "{fio}: {exported}");
        let (again, _) = imported(&exported);
        assert_eq!(json(&load(&again))[key], expected, "{exported}");
    }
}

#[test]
fn a_mix_has_keys_of_a_load_with_the_same_values() {
    for (key, value, ..) in SPELLINGS {
        let mix = format!("{key}={value}").parse::<Mix>();
        assert_eq!(mix.is_ok(), ["bs", "rate", "reads", "order"].contains(&key), "{key}={value}: {mix:?}");
    }
}

/// fio takes names that begin with `global` as defaults, so `export` would have to change such a name.
#[test]
fn no_load_is_named_like_a_section_of_defaults() {
    let (job, _) = imported("[[global]\nrw=read\nsize=8m\n");
    assert_eq!(job.loads[0].name, "load-global");
}
