//! Converts a job file to a fio job. Options that fio lacks are listed.

use std::fmt::Write;

use units::{Bytes, Nanos};
use workload::{Drawing, Rates};

use crate::job_file::Job;
use crate::load_spec::{KEYS, LoadSpec};
use crate::load_words::{ArrivalsName, Blocks, Engine, Order, PatternName, Rate, Size, Time, name};

use super::sections::is_global;
use super::words;

/// A fio job.
#[derive(Debug)]
pub struct Exported {
    /// Its text.
    pub job: String,
    /// Differences from the job file, a line each.
    pub differences: Vec<String>,
}

/// Converts the workloads of a job file to a fio job.
pub fn export(job: &Job) -> Exported {
    let mut differences = of_the_run(job);
    let mut text = format!("; From {} by diskperf export. Run it: fio --directory=PATH JOB.fio\n", job.text.name);
    text = text.replace(|c: char| c.is_control() && c != '\n', " ");
    if let Some(seed) = job.seed {
        let _ = write!(text, "\n[global]\n{}={seed}\n", KEYS.seed.setting());
    }
    let turns = job.turns();
    let in_order = turns.iter().enumerate().flat_map(|(turn, loads)| {
        loads.iter().enumerate().map(move |(place, load)| (turn > 0 && place == 0, &job.loads[*load]))
    });
    for (waits, load) in in_order {
        let name = match (load.name, load.point.as_str()) {
            (name, "") => name.to_owned(),
            (name, point) => format!("{name}-{point}"),
        };
        // fio would not run this section, but use it for defaults.
        let name = if is_global(&name) { format!("load-{name}") } else { name };
        let _ = write!(text, "\n[{name}]\n");
        if waits {
            text += "stonewall\n";
        }
        let mut section = Section::new(&load.spec);
        if load.start > Nanos::ZERO {
            section.time(words::DELAY, Time(load.start));
        }
        for (key, value) in &section.settings {
            let _ = writeln!(text, "{key}={value}");
        }
        differences.extend(section.differences.into_iter().map(|what| format!("{name}: {what}")));
    }
    Exported { job: text, differences }
}

/// Lists the keys above the workloads that fio lacks.
fn of_the_run(job: &Job) -> Vec<String> {
    let mut differences = Vec::new();
    if let Some(rounds) = job.rounds {
        let instead = format!("fio has no rounds; run the fio job {rounds} times");
        differences.push(format!("rounds = {rounds}: not converted: {instead}"));
    }
    if job.budget.is_some() {
        differences.push("budget: not converted: fio limits only the time of each job".to_owned());
    }
    if job.sustained.is_some() {
        differences.push("sustained: not converted: fio has no load before its jobs".to_owned());
    }
    if !job.targets.is_empty() {
        differences.push("targets: not converted: name a directory: fio --directory=PATH JOB.fio".to_owned());
    }
    differences
}

/// A section of a fio job.
#[derive(Default)]
struct Section {
    settings: Vec<(&'static str, String)>,
    differences: Vec<String>,
}

impl Section {
    /// The section of a workload. It has a setting for each default of diskperf, because those of fio differ.
    fn new(load: &LoadSpec) -> Section {
        // Without `..`: a new key does not compile until it is exported.
        let LoadSpec {
            pattern,
            bs,
            iodepth,
            jobs,
            direct,
            time,
            warmup,
            rate,
            arrivals,
            reads,
            order,
            stride,
            think,
            burst,
            fsync,
            fdatasync,
            sync,
            engine,
            size,
            rounds: _,
            seed: _,
            warm,
        } = load.explicit();
        let mut section = Section::default();
        let blocks = bs.map_or_else(Vec::new, |Blocks(blocks)| blocks);
        let (depth, jobs) = (iodepth.unwrap_or(1), jobs.unwrap_or(1));
        section.pattern(pattern, &blocks, stride);
        section.queue(engine.unwrap_or_default(), depth, jobs);
        section.put_if(KEYS.direct.setting(), direct.then_some(1));
        section.put(KEYS.size.setting(), size.map_or(0, |Size(Bytes(size))| size));
        section.time(KEYS.time.setting(), time.unwrap_or(Time(Nanos::ZERO)));
        if let Some(warmup) = warmup {
            section.time(KEYS.warmup.setting(), warmup);
            let what = words::after_ramp(pattern, direct).filter(|_| warmup.0 > Nanos::ZERO);
            section.differences.extend(what.map(|what| format!("warmup = {warmup}: {what}")));
        }
        let is_random = matches!(pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw);
        section.put_if(words::TIMED, is_random.then_some(1));
        if let Some(rate) = rate {
            section.rate(rate, jobs, reads);
        }
        let poisson = arrivals.filter(|arrivals| *arrivals == ArrivalsName::Poisson);
        if let Some(rate) = rate.filter(|_| blocks.len() > 1 && poisson.is_none()) {
            section.differences.push(format!("rate = {rate}: {}", words::PACED_BY_BYTES));
        }
        section.put_if(KEYS.arrivals.setting(), poisson.map(name));
        section.put_if(KEYS.reads.setting(), reads);
        section.order(order);
        if let Some(think) = think {
            section.time(KEYS.think.setting(), think);
        }
        section.put_if(KEYS.burst.setting(), burst);
        section.put_if(KEYS.fsync.setting(), fsync);
        section.put_if(KEYS.fdatasync.setting(), fdatasync);
        section.put_if(KEYS.sync.setting(), sync.map(name));
        section.sync_at_end(pattern);
        section.put_if(words::OVERWRITE, words::overwrites(load).then_some(1));
        section.put_if(KEYS.warm.setting(), warm.then_some(1));
        section
    }

    fn put(&mut self, key: &'static str, value: impl ToString) {
        self.settings.push((key, value.to_string()));
    }

    fn put_if(&mut self, key: &'static str, value: Option<impl ToString>) {
        value.into_iter().for_each(|value| self.put(key, value));
    }

    /// A time, rounded up to the unit of fio.
    fn time(&mut self, key: &'static str, Time(Nanos(span)): Time) {
        self.put(key, format!("{}us", span.div_ceil(1_000)));
        if !span.is_multiple_of(1_000) {
            let time = Time(Nanos(span));
            self.differences.push(format!("{time}: rounded to microseconds, the smallest unit of fio"));
        }
    }

    fn pattern(&mut self, pattern: PatternName, blocks: &[(Size, Option<u32>)], stride: Option<Size>) {
        let first = blocks.first().map_or(0, |(Size(size), _)| size.0);
        let hole = stride.map_or_else(String::new, |Size(stride)| format!(":{}", stride.0.saturating_sub(first)));
        self.put(KEYS.pattern.setting(), words::pattern_name(pattern) + &hole);
        self.differences.extend(stride.map(|stride| format!("stride = {stride}: {}", words::PASSES)));
        match blocks {
            [(Size(size), _)] => self.put(KEYS.bs.setting(), size.0),
            several => {
                let share = |(size, percent): &(Size, Option<u32>)| format!("{}/{}", size.0.0, percent.unwrap_or(0));
                self.put(words::SPLIT, several.iter().map(share).collect::<Vec<_>>().join(":"));
            }
        }
    }

    fn queue(&mut self, engine: Engine, depth: u32, jobs: u32) {
        self.put(KEYS.engine.setting(), words::engine_name(engine, depth));
        self.put_if(KEYS.iodepth.setting(), Some(depth).filter(|depth| *depth > 1));
        self.put_if(KEYS.jobs.setting(), Some(jobs).filter(|jobs| *jobs > 1));
        self.put_if(words::POLLS, (engine == Engine::Sqpoll).then_some(1));
    }

    /// The rate of each job. A mix has one rate for reads and one for writes; 0 would mean no limit.
    fn rate(&mut self, rate: Rate, jobs: u32, reads: Option<u32>) {
        if rate.0.all().iter().any(|rate| !rate.is_multiple_of(jobs)) {
            let what = format!("rate = {rate}: rounded, because fio sets the rate of each of the {jobs} jobs");
            self.differences.push(what);
        }
        let key = KEYS.rate.setting();
        match (rate.0, reads) {
            (Rates::Apart { reads, writes }, _) => {
                self.put(key, format!("{},{}", reads.div_ceil(jobs), writes.div_ceil(jobs)));
            }
            (Rates::All(rate), Some(reads)) => {
                let each = rate.div_ceil(jobs);
                let of_reads = (u64::from(each) * u64::from(reads.min(100)) / 100) as u32;
                self.put(key, format!("{},{}", of_reads.max(1), (each - of_reads).max(1)));
            }
            (Rates::All(rate), None) => self.put(key, rate.div_ceil(jobs)),
        }
    }

    /// The order of random blocks. fio's default is a permutation.
    fn order(&mut self, order: Option<Order>) {
        match order {
            None | Some(Order(Drawing::Permutation)) => {}
            Some(Order(Drawing::Replacement)) => self.put(words::NO_MAP, 1),
            Some(order @ Order(Drawing::Zipf { .. })) => self.put(KEYS.order.setting(), order),
        }
    }

    fn sync_at_end(&mut self, pattern: PatternName) {
        match pattern {
            PatternName::Commit => self.put(KEYS.fdatasync.setting(), 1),
            PatternName::Write | PatternName::Randwrite | PatternName::Randrw => self.put("end_fsync", 1),
            PatternName::Read | PatternName::Randread => {}
        }
    }
}
