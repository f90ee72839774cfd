//! From a job of ours to one of fio: what both have. What fio has not is said.

use std::fmt::Write;

use units::{Bytes, Nanos};
use workload::Drawing;

use super::super::job::Job;
use crate::load_spec::words::{Blocks, Order, Size, Time};
use crate::load_spec::{ArrivalsName, Engine, LoadSpec, PatternName, SyncName};

/// What came of a job of ours.
#[derive(Debug)]
pub struct Exported {
    /// A job of fio.
    pub job: String,
    /// What fio has not, a line each.
    pub said: Vec<String>,
}

/// The job for fio.
pub fn export(job: &Job) -> Exported {
    let mut said = Vec::new();
    if let Some(rounds) = job.rounds {
        said.push(format!("rounds = {rounds}: not converted: fio has no rounds; run the fio job {rounds} times"));
    }
    if job.budget.is_some() {
        said.push("budget: not converted: fio limits only the time of each job".to_owned());
    }
    if !job.targets.is_empty() {
        said.push("targets: not converted: name a directory: fio --directory=PATH JOB.fio".to_owned());
    }
    let mut text = format!("; From {} by diskperf export. Run it: fio --directory=PATH JOB.fio\n", job.text.name);
    text = text.replace(|c: char| c.is_control() && c != '\n', " ");
    if let Some(seed) = job.seed {
        let _ = write!(text, "\n[global]\nrandseed={seed}\n");
    }
    for (index, load) in job.loads.iter().enumerate() {
        // There is a section of that name already.
        let name = if load.name == "global" { "global-" } else { load.name };
        let _ = write!(text, "\n[{name}]\n");
        if index > 0 {
            text += "stonewall\n";
        }
        for (key, value) in settings(load.name, &load.spec, &mut said) {
            let _ = writeln!(text, "{key}={value}");
        }
    }
    Exported { job: text, said }
}

/// What a load is set to, with everything that would be taken where nothing is said: fio takes other things.
fn settings(named: &str, load: &LoadSpec, said: &mut Vec<String>) -> Vec<(&'static str, String)> {
    // Whoever adds a key is told by the compiler that it has to be told to fio, or that it cannot be.
    let LoadSpec {
        pattern,
        bs,
        iodepth,
        jobs,
        direct,
        time,
        rate,
        arrivals,
        reads,
        order,
        stride,
        think,
        fsync,
        sync,
        engine,
        size,
        rounds: _,
        seed: _,
        warm,
    } = load.explicit();
    let mut set = Vec::new();
    let mut put = |key: &'static str, value: &dyn ToString| set.push((key, value.to_string()));
    let blocks = bs.map_or_else(Vec::new, |Blocks(blocks)| blocks);
    let first = blocks.first().map_or(0, |(Size(size), _)| size.0);
    let hole = stride.map_or_else(String::new, |Size(stride)| format!(":{}", stride.0.saturating_sub(first)));
    put(
        "rw",
        &match pattern {
            PatternName::Randread => "randread".to_owned(),
            PatternName::Randwrite => "randwrite".to_owned(),
            PatternName::Randrw => "randrw".to_owned(),
            PatternName::Read => format!("read{hole}"),
            PatternName::Write | PatternName::Commit => format!("write{hole}"),
        },
    );
    match &blocks[..] {
        [(Size(size), _)] => put("bs", &size.0),
        several => {
            let share = |(Size(size), percent): &(Size, Option<u32>)| format!("{}/{}", size.0, percent.unwrap_or(0));
            put("bssplit", &several.iter().map(share).collect::<Vec<_>>().join(":"));
        }
    }
    let (depth, jobs) = (iodepth.unwrap_or(1), jobs.unwrap_or(1));
    put(
        "ioengine",
        &match engine {
            Some(Engine::Uring | Engine::Sqpoll) => "io_uring",
            Some(Engine::Mmap) => "mmap",
            Some(Engine::Null) => "null",
            Some(Engine::Auto) | None if depth > 1 => "io_uring",
            Some(Engine::Posix | Engine::Auto) | None => "psync",
        },
    );
    for (key, count) in [("iodepth", depth), ("numjobs", jobs)] {
        if count > 1 {
            put(key, &count);
        }
    }
    if engine == Some(Engine::Sqpoll) {
        put("sqthread_poll", &1);
    }
    if direct {
        put("direct", &1);
    }
    put("size", &size.map_or(0, |Size(Bytes(size))| size));
    put("runtime", &micros(time));
    if matches!(pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw) {
        put("time_based", &1);
    }
    if let Some(rate) = rate {
        // There each job has it.
        if !rate.is_multiple_of(jobs) {
            said.push(format!("{named}: rate = {rate}: rounded, because fio sets the rate of each of the {jobs} jobs"));
        }
        let each = rate.div_ceil(jobs);
        put(
            "rate_iops",
            // There reads have one, and writes have one. None is none at all.
            &match reads {
                Some(reads) => {
                    let of_reads = (u64::from(each) * u64::from(reads.min(100)) / 100) as u32;
                    format!("{},{}", of_reads.max(1), (each - of_reads).max(1))
                }
                None => each.to_string(),
            },
        );
    }
    if arrivals == Some(ArrivalsName::Poisson) {
        put("rate_process", &"poisson");
    }
    if let Some(reads) = reads {
        put("rwmixread", &reads);
    }
    match order {
        None => {}
        // What fio does of itself.
        Some(Order(Drawing::Permutation)) => {}
        Some(Order(Drawing::Replacement)) => put("norandommap", &1),
        Some(order @ Order(Drawing::Zipf { .. })) => put("random_distribution", &order),
    }
    if think.is_some() {
        put("thinktime", &micros(think));
    }
    if let Some(every) = fsync {
        put("fsync", &every);
    }
    if let Some(sync) = sync {
        put(
            "sync",
            &match sync {
                SyncName::Dsync => "dsync",
                SyncName::Sync => "sync",
            },
        );
    }
    match pattern {
        PatternName::Commit => put("fdatasync", &1),
        PatternName::Write | PatternName::Randwrite | PatternName::Randrw => put("end_fsync", &1),
        PatternName::Read | PatternName::Randread => {}
    }
    if warm {
        put("pre_read", &1);
    }
    for time in [time, think].into_iter().flatten().filter(|Time(Nanos(span))| !span.is_multiple_of(1_000)) {
        said.push(format!("{named}: {time}: rounded to microseconds, the smallest unit of fio"));
    }
    set
}

/// A time for fio, which counts no less than microseconds.
fn micros(time: Option<Time>) -> String {
    format!("{}us", time.map_or(0, |Time(Nanos(span))| span.div_ceil(1_000)))
}
