//! From a job of fio to one of ours.
//!
//! Policy:
//!   1. a section is a load. What fio would do where nothing is said is written down, as it is another thing here;
//!   2. what means the same here is taken; what only concerns how fio reports or cleans up is passed over; everything
//!      else is said, a line each, and is not taken;
//!   3. a value that cannot be read is refused at its place: fio reads half of some;
//!   4. a section that does nothing that can be done here is left out, and that is said; where none is left, it is an
//!      error.

use std::collections::{BTreeMap, BTreeSet};

use units::{Bytes, Nanos};
use workload::Drawing;

use super::super::fault::JobFault;
use super::super::job::{LONGEST_NAME, is_name};
use super::super::text::Text;
use super::sections::{Section, Setting, sections};
use super::units::{KbBase, bytes, nanos, range, whole};
use super::untaken::{NEEDLESS, NOT_HERE, REASONS};
use crate::error::Error;
use crate::load_spec::words::{Blocks, Order, Size, Time};
use crate::load_spec::{ArrivalsName, Engine, LoadSpec, PatternName, SIZE, SyncName, TIME};

/// What came of a job of fio.
#[derive(Debug)]
pub struct Imported {
    /// A job file of ours.
    pub job: String,
    /// What was not taken, a line each.
    pub said: Vec<String>,
}

/// So long may a load take that ends with its file and has no time of its own.
const TO_THE_END: Time = Time(Nanos::from_secs(3600));

/// Nanoseconds of a second, in which times are counted but for pauses, which are counted in microseconds.
const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// Reads a job of fio.
pub fn import(text: &Text) -> Result<Imported, Error> {
    let sections = sections(text)?;
    let mut reading = Reading { text, base: KbBase::Binary, seed: None, said: BTreeSet::new() };
    let mut names = Names::default();
    let mut loads: Vec<(String, &Section<'_>, LoadSpec)> = Vec::new();
    let mut refused = None;
    for section in &sections {
        match reading.load(section) {
            Ok(load) => loads.push((names.name(section), section, load)),
            // 4
            Err(fault @ JobFault::NoMeaning { .. }) => {
                reading.said.insert((section.span.start, format!("[{}]: left out: {fault}", section.name)));
                refused = refused.or(Some(fault));
            }
            Err(other) => return Err(other.into()),
        }
    }
    if loads.is_empty() {
        let nothing = JobFault::Missing {
            at: text.spot(0..0),
            key: "a section".to_owned(),
            hint: "a fio job has a section [NAME] for each workload",
        };
        return Err(refused.unwrap_or(nothing).into());
    }
    let waits = |section: &Section<'_>| section.is_on("stonewall") || section.is_on("wait_for_previous");
    if let Some((.., section, _)) = loads.iter().skip(1).find(|(.., section, _)| !waits(section)) {
        let what = format!(
            "[{}]: fio runs it together with the section before it; diskperf runs one after the other",
            section.name
        );
        reading.said.insert((section.span.start, what));
    }
    let Reading { seed, said, .. } = reading;
    let said: Vec<String> =
        said.into_iter().map(|(at, what)| format!("line {}: {what}", text.spot(at..at).line)).collect();
    let mut job = format!("# From {} by diskperf import.", text.name.replace(char::is_control, " "));
    if !said.is_empty() {
        job += " Differences from the fio job:";
    }
    job.push('\n');
    for line in &said {
        job += &format!("#   {}\n", line.replace(char::is_control, " "));
    }
    if let Some(seed) = seed {
        job += &format!("seed = {seed}\n");
    }
    for (name, section, load) in &loads {
        job += &format!("\n# line {}\n{}", text.spot(section.span.clone()).line, load.table(Some(name)));
    }
    Ok(Imported { job, said })
}

/// The names that are taken, and from which number on others of one name are looked for: all before are taken.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    next: BTreeMap<String, u32>,
}

impl Names {
    /// What a section is called here: as there, where that is a name, and no other has it.
    fn name(&mut self, section: &Section<'_>) -> String {
        let plain: String = section
            .name
            .chars()
            .map(|c| if is_name(&format!("x{c}")) { c } else { '-' })
            // A place is left for what tells it from others.
            .take(LONGEST_NAME - ROOM_FOR_NUMBER)
            .collect();
        let plain = plain.trim_matches('-');
        let plain = if plain.is_empty() { "load" } else { plain };
        if self.taken.insert(plain.to_owned()) {
            return plain.to_owned();
        }
        let next = self.next.entry(plain.to_owned()).or_insert(2);
        loop {
            let name = format!("{plain}-{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// `-10000`, of as many sections as there are at most.
const ROOM_FOR_NUMBER: usize = 6;

/// What is set, of which each is taken away when it was looked at.
struct Left<'a>(Vec<Setting<'a>>);

impl<'a> Left<'a> {
    /// What was set last under one of these names.
    fn take(&mut self, names: &[&str]) -> Option<Setting<'a>> {
        let is_meant = |setting: &Setting<'_>| names.contains(&setting.name);
        let last = self.0.iter().filter(|setting| is_meant(setting)).max_by_key(|setting| setting.span.start).cloned();
        self.0.retain(|setting| !is_meant(setting));
        last
    }
}

/// A job of fio, as it is read.
struct Reading<'a> {
    text: &'a Text,
    base: KbBase,
    /// The seed, of which there is one for all loads.
    seed: Option<u64>,
    /// What is not taken, with its place.
    said: BTreeSet<(usize, String)>,
}

impl Reading<'_> {
    fn load(&mut self, section: &Section<'_>) -> Result<LoadSpec, JobFault> {
        let mut left = Left(section.settings.clone());
        self.base = match left.take(&["kb_base"]).and_then(|setting| setting.value) {
            Some("1000") => KbBase::Decimal,
            _ => KbBase::Binary,
        };
        let (pattern, stride) = self.pattern(section, &mut left)?;
        let mut load = LoadSpec::of(pattern);
        let is_random = matches!(pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw);
        load.bs = Some(self.blocks(pattern, &mut left)?);
        let block = load.bs.as_ref().map_or(0, |Blocks(blocks)| blocks[0].0.0.0);
        load.stride = stride.map(|hole| Size(Bytes(block.saturating_add(hole))));
        load.direct = self.switch(&mut left, "direct")?.unwrap_or(false);
        if let Some(buffered) = self.switch(&mut left, "buffered")? {
            load.direct = !buffered;
        }
        self.queue(&mut load, &mut left)?;
        load.jobs = self.count(&mut left, &["numjobs"])?.filter(|jobs| *jobs != 1);
        self.pace(&mut load, block, &mut left)?;
        if pattern == PatternName::Randrw {
            let reads = self.count(&mut left, &["rwmixread"])?;
            let writes = self.count(&mut left, &["rwmixwrite"])?;
            load.reads = Some(reads.or(writes.map(|writes| 100u32.saturating_sub(writes))).unwrap_or(50));
        }
        if is_random {
            load.order = self.order(&load, &mut left)?;
        }
        self.durability(&mut load, &mut left)?;
        load.think = self.think(&mut left)?;
        let pre_read = left.0.iter().rfind(|setting| setting.name == "pre_read").cloned();
        load.warm = self.switch(&mut left, "pre_read")?.unwrap_or(false);
        if let Some(setting) = pre_read.filter(|_| load.warm && !load.has_file()) {
            self.say(&setting, "this workload creates its file");
            load.warm = false;
        }
        load.size = Some(self.size(section, &mut left)?);
        load.time = Some(self.time(section, is_random, &mut left)?);
        if let Some(seed) = left.take(&["randseed"]) {
            let given = self.value(&seed, whole, "is not a whole number")?;
            if self.seed.is_some_and(|seed| seed != given) {
                self.say(&seed, "a job file has one seed; the first one is used");
            } else {
                self.seed = Some(given);
            }
        }
        for setting in left.0 {
            self.pass(&setting);
        }
        match load.check() {
            Ok(()) => Ok(load),
            Err(Error::Load(fault)) => {
                let at = self.text.spot(section.span.clone());
                let what = format!("{} {}: {}", fault.key, fault.given, fault.why).replace("--", "");
                Err(JobFault::NoMeaning { at, what, hint: "change it in the fio job, or remove the section" })
            }
            Err(_) => Ok(load),
        }
    }

    /// What is done, and how much is left out between two blocks.
    fn pattern(&mut self, section: &Section<'_>, left: &mut Left<'_>) -> Result<(PatternName, Option<u64>), JobFault> {
        // fio reads where nothing is said.
        let Some(setting) = left.take(&["rw", "readwrite"]) else { return Ok((PatternName::Read, None)) };
        let (word, modifier) = match setting.value.unwrap_or_default().split_once(':') {
            Some((word, modifier)) => (word, Some(modifier)),
            None => (setting.value.unwrap_or_default(), None),
        };
        let pattern = match word {
            "read" => PatternName::Read,
            "write" => PatternName::Write,
            "randread" => PatternName::Randread,
            "randwrite" => PatternName::Randwrite,
            "randrw" => PatternName::Randrw,
            "rw" | "readwrite" => {
                let hint = "use randrw, or one section that reads and one that writes";
                return Err(self.meaningless(
                    &setting,
                    "diskperf cannot mix sequential reads and writes in one workload",
                    hint,
                ));
            }
            "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
                let what = format!("[{}] trims; diskperf has no trim workload", section.name);
                return Err(self.meaningless(&setting, &what, "remove the section"));
            }
            _ => {
                return Err(self.bad(
                    &setting,
                    "is not a pattern of fio",
                    "use read, write, randread, randwrite or randrw",
                ));
            }
        };
        let Some(modifier) = modifier else { return Ok((pattern, None)) };
        if matches!(pattern, PatternName::Read | PatternName::Write) {
            let hole = bytes(modifier, self.base);
            let hole = hole.ok_or_else(|| self.bad(&setting, "has no size after the colon", "as in rw=read:4k"))?;
            return Ok((pattern, Some(hole).filter(|hole| *hole > 0)));
        }
        self.say(&setting, "diskperf draws a new random position for each block");
        Ok((pattern, None))
    }

    /// The sizes of its blocks; of those of reads and of writes, what the load does.
    fn blocks(&mut self, pattern: PatternName, left: &mut Left<'_>) -> Result<Blocks, JobFault> {
        let (split, span) = (left.take(&["bssplit"]), left.take(&["bsrange", "blocksize_range"]));
        let one = left.take(&["bs", "blocksize"]);
        let base = self.base;
        if let Some(setting) = split {
            let (why, hint) = ("is not a list of sizes with percentages", "as in bssplit=4k/60:64k/40");
            let blocks = self.directed(&setting, pattern, |text| shares(text, base), (why, hint))?;
            return Ok(Blocks(blocks));
        }
        if let Some(setting) = span {
            // fio draws any multiple of the smallest; here the sizes are few, and each is said.
            let (low, high) = self.directed(
                &setting,
                pattern,
                |text| range(text, base).filter(|(low, _)| *low > 0),
                ("is not a range of two sizes", "as in 4k-16k"),
            )?;
            if low == high {
                return Ok(Blocks(vec![(Size(Bytes(low)), None)]));
            }
            let hint = "write bssplit=4k/50:16k/50";
            return Err(self.meaningless(&setting, "diskperf cannot draw block sizes from a range", hint));
        }
        let size = match one {
            // What fio takes where nothing is said.
            None => 4096,
            Some(setting) => {
                self.directed(&setting, pattern, |text| block(text, base), ("is not a size", "as in bs=4k"))?
            }
        };
        Ok(Blocks(vec![(Size(Bytes(size)), None)]))
    }

    /// Of values for reads, for writes and for trims the one for what the load does. Where it does both, both must be the
    /// same, or that of reads is taken and the other said.
    fn directed<T: PartialEq>(
        &mut self,
        setting: &Setting<'_>,
        pattern: PatternName,
        read: impl Fn(&str) -> Option<T>,
        (what, hint): (&'static str, &'static str),
    ) -> Result<T, JobFault> {
        let mut values = setting.value.unwrap_or_default().split(',').map(str::trim);
        let first = values.next().unwrap_or_default();
        let second = values.next().filter(|value| !value.is_empty()).unwrap_or(first);
        let value = |text: &str| read(text).ok_or_else(|| self.bad(setting, what, hint));
        let (reads, writes) = (value(first)?, value(second)?);
        match pattern {
            PatternName::Write | PatternName::Randwrite | PatternName::Commit => Ok(writes),
            PatternName::Randrw if reads != writes => {
                self.say(setting, "diskperf uses the value of the reads for reads and writes");
                Ok(reads)
            }
            _ => Ok(reads),
        }
    }

    /// Who issues its operations, and how many at once.
    fn queue(&mut self, load: &mut LoadSpec, left: &mut Left<'_>) -> Result<(), JobFault> {
        let deep = left.take(&["iodepth"]);
        let read = |text: &str| whole(text).and_then(|number| u32::try_from(number).ok());
        let depth = deep.as_ref().map(|setting| self.value(setting, read, "is not a whole number")).transpose()?;
        let depth = depth.filter(|depth| *depth != 1);
        let engine = left.take(&["ioengine"]);
        let polls = self.switch(left, "sqthread_poll")?.unwrap_or(false);
        // fio calls pread and pwrite where nothing is said.
        load.engine = Some(match engine.as_ref().and_then(|setting| setting.value).unwrap_or("psync") {
            "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Engine::Posix,
            "io_uring" if polls => Engine::Sqpoll,
            "io_uring" => Engine::Uring,
            "mmap" => Engine::Mmap,
            "null" => Engine::Null,
            "libaio" | "posixaio" => {
                let other = engine.iter().map(|setting| (setting.span.start, setting.value.unwrap_or_default()));
                self.said.extend(other.map(|(at, other)| (at, format!("ioengine={other}: converted to io_uring"))));
                Engine::Uring
            }
            _ => {
                let Some(setting) = engine else { return Ok(()) };
                let hint = "use psync, io_uring, mmap or null";
                return Err(self.meaningless(&setting, "diskperf has no such engine", hint));
            }
        });
        if matches!(load.engine, Some(Engine::Uring | Engine::Sqpoll)) {
            load.iodepth = depth;
        } else if depth.is_some() {
            deep.iter().for_each(|setting| self.say(setting, "this engine has a queue depth of 1"));
        }
        Ok(())
    }

    /// When its operations begin, of all jobs together.
    fn pace(&mut self, load: &mut LoadSpec, block: u64, left: &mut Left<'_>) -> Result<(), JobFault> {
        let (bandwidth, process) = (left.take(&["rate"]), left.take(&["rate_process"]));
        let rate = left.take(&["rate_iops"]);
        let rate = match (rate, bandwidth) {
            (Some(setting), _) => Some(self.both_ways(&setting, load.pattern, whole)?),
            (None, Some(setting)) => {
                let base = self.base;
                let bytes = self.both_ways(&setting, load.pattern, |text| bytes(text, base))?;
                if !bytes.is_multiple_of(block.max(1)) || load.bs.as_ref().is_some_and(|Blocks(all)| all.len() > 1) {
                    self.say(&setting, "diskperf needs operations per second, and this is not a whole number of them");
                    None
                } else {
                    Some(bytes / block.max(1))
                }
            }
            (None, None) => None,
        };
        let jobs = u64::from(load.jobs.unwrap_or(1));
        let rate = rate.filter(|rate| *rate > 0).map(|rate| rate.saturating_mul(jobs));
        load.rate = rate.map(|rate| u32::try_from(rate).unwrap_or(u32::MAX));
        match process.as_ref().and_then(|setting| setting.value) {
            _ if load.rate.is_none() => {
                process.iter().for_each(|setting| self.say(setting, "it needs rate or rate_iops"))
            }
            Some("poisson") => load.arrivals = Some(ArrivalsName::Poisson),
            word => {
                load.arrivals = Some(ArrivalsName::Constant);
                let other = process.iter().filter(|_| !matches!(word, None | Some("linear")));
                other.for_each(|setting| self.say(setting, NOT_HERE));
            }
        }
        Ok(())
    }

    /// A rate of all that a load does: there it holds for reads and for writes, each for itself.
    fn both_ways(
        &mut self,
        setting: &Setting<'_>,
        pattern: PatternName,
        read: impl Fn(&str) -> Option<u64>,
    ) -> Result<u64, JobFault> {
        let hint = ("is not a rate", "as in rate_iops=1000");
        let both = [PatternName::Randread, PatternName::Randwrite];
        let ways = if pattern == PatternName::Randrw { &both[..] } else { &[pattern] };
        ways.iter().try_fold(0u64, |sum, way| Ok(sum.saturating_add(self.directed(setting, *way, &read, hint)?)))
    }

    /// In which order blocks are touched. fio touches each once before any is touched again, where nothing is said; of
    /// several sizes they are drawn.
    fn order(&mut self, load: &LoadSpec, left: &mut Left<'_>) -> Result<Option<Order>, JobFault> {
        let has_map = !self.switch(left, "norandommap")?.unwrap_or(false);
        let is_one = load.bs.as_ref().is_some_and(|Blocks(blocks)| blocks.len() == 1);
        let usual = Order(if has_map && is_one { Drawing::Permutation } else { Drawing::Replacement });
        let Some(setting) = left.take(&["random_distribution"]) else { return Ok(Some(usual)) };
        let value = setting.value.unwrap_or_default();
        if value == "random" {
            return Ok(Some(usual));
        }
        if value.starts_with("zipf:") {
            let order = value.parse::<Order>();
            let order = order.map_err(|_| {
                self.bad(&setting, "is not a Zipf distribution", "use at most three decimals, as in zipf:1.2")
            })?;
            return Ok(Some(order));
        }
        self.say(&setting, NOT_HERE);
        Ok(Some(usual))
    }

    /// What its writes wait for. A sequential write with an fdatasync after each is what commits are.
    fn durability(&mut self, load: &mut LoadSpec, left: &mut Left<'_>) -> Result<(), JobFault> {
        let writes = !matches!(load.pattern, PatternName::Read | PatternName::Randread);
        let (fsync, sync) = (self.count(left, &["fsync"])?, left.take(&["sync"]));
        let data = left.0.iter().find(|setting| setting.name == "fdatasync").cloned();
        let every = self.count(left, &["fdatasync"])?.filter(|every| *every > 0);
        if !writes {
            return Ok(());
        }
        load.fsync = fsync.filter(|every| *every > 0);
        let is_commit = load.pattern == PatternName::Write
            && load.engine == Some(Engine::Posix)
            && load.stride.is_none()
            && load.fsync.is_none();
        match (every, data) {
            (Some(1), _) if is_commit => load.pattern = PatternName::Commit,
            (Some(every), Some(setting)) => {
                self.said.insert((setting.span.start, format!("fdatasync={every}: converted to fsync={every}")));
                load.fsync = load.fsync.or(Some(every));
            }
            _ => {}
        }
        load.sync = match sync.as_ref().and_then(|setting| setting.value) {
            None | Some("0" | "none") => None,
            Some("1" | "sync") => Some(SyncName::Sync),
            Some("dsync") => Some(SyncName::Dsync),
            Some(_) => {
                let setting = sync.as_ref().expect("it has a value");
                return Err(self.bad(setting, "is not a value of sync", "use 0, sync or dsync"));
            }
        };
        Ok(())
    }

    fn think(&mut self, left: &mut Left<'_>) -> Result<Option<Time>, JobFault> {
        let Some(setting) = left.take(&["thinktime"]) else { return Ok(None) };
        let span = self.value(&setting, |text| nanos(text, MICROSECOND), "is not a time")?;
        Ok(Some(Time(Nanos(span))).filter(|_| span > 0))
    }

    fn size(&mut self, section: &Section<'_>, left: &mut Left<'_>) -> Result<Size, JobFault> {
        let (size, file) = (left.take(&["size"]), left.take(&["filesize"]));
        let Some(setting) = size.or(file) else {
            self.said.insert((section.span.start, format!("[{}]: no size: the file gets {SIZE}", section.name)));
            return Ok(Size(SIZE));
        };
        if setting.value.is_some_and(|value| value.ends_with('%')) {
            self.say(&setting, &format!("the file gets {SIZE}; set size = \"...\" in the job file"));
            return Ok(Size(SIZE));
        }
        let base = self.base;
        Ok(Size(Bytes(self.value(&setting, |text| bytes(text, base).filter(|size| *size > 0), "is not a size")?)))
    }

    /// How long a round is. fio ends with its size where nothing is said: so do we where the file is gone through in order.
    fn time(&mut self, section: &Section<'_>, is_random: bool, left: &mut Left<'_>) -> Result<Time, JobFault> {
        let setting = left.take(&["runtime", "timeout"]);
        let is_timed = self.switch(left, "time_based")?.unwrap_or(false);
        let time = match &setting {
            None => None,
            Some(setting) => Some(self.value(setting, |text| nanos(text, SECOND), "is not a time")?),
        };
        let Some(time) = time.filter(|time| *time > 0) else {
            if !is_random {
                return Ok(TO_THE_END);
            }
            let what = format!(
                "[{}]: no runtime: each round takes {TIME}, even if it does not reach the whole file",
                section.name
            );
            self.said.insert((section.span.start, what));
            return Ok(Time(TIME));
        };
        if is_timed && !is_random {
            let what = format!("[{}]: time_based: a round also ends at the end of the file", section.name);
            self.said.insert((section.span.start, what));
        }
        Ok(Time(Nanos(time)))
    }

    /// A number that counts something.
    fn count(&mut self, left: &mut Left<'_>, names: &[&str]) -> Result<Option<u32>, JobFault> {
        let Some(setting) = left.take(names) else { return Ok(None) };
        let read = |text: &str| whole(text).and_then(|number| u32::try_from(number).ok());
        self.value(&setting, read, "is not a whole number").map(Some)
    }

    /// Whether something is on. Some are by being there.
    fn switch(&mut self, left: &mut Left<'_>, name: &str) -> Result<Option<bool>, JobFault> {
        let Some(setting) = left.take(&[name]) else { return Ok(None) };
        match setting.value {
            None | Some("1") => Ok(Some(true)),
            Some("0") => Ok(Some(false)),
            Some(_) => Err(self.bad(&setting, "is not a switch", "use 1 or 0")),
        }
    }

    fn value<T>(
        &self,
        setting: &Setting<'_>,
        read: impl Fn(&str) -> Option<T>,
        what: &'static str,
    ) -> Result<T, JobFault> {
        read(setting.value.unwrap_or_default())
            .ok_or_else(|| self.bad(setting, what, "use a whole number, as in 4k or 30"))
    }

    /// Passes over what is not taken, and says so where it means anything.
    fn pass(&mut self, setting: &Setting<'_>) {
        let is_needless = NEEDLESS.contains(&setting.name)
            || matches!(setting.name, "stonewall" | "wait_for_previous")
            || setting.name == "invalidate" && setting.value == Some("1")
            || setting.value == Some("0") && ["verify", "zero_buffers"].contains(&setting.name);
        if !is_needless {
            let reason = REASONS.iter().find(|(name, _)| *name == setting.name).map_or(NOT_HERE, |(_, reason)| reason);
            self.say(setting, reason);
        }
    }

    fn say(&mut self, setting: &Setting<'_>, reason: &str) {
        let value = setting.value.map_or_else(String::new, |value| format!("={value}"));
        self.said.insert((setting.span.start, format!("{}{value}: not converted: {reason}", setting.name)));
    }

    fn bad(&self, setting: &Setting<'_>, why: &str, hint: &str) -> JobFault {
        let (key, why) = (setting.name.to_owned(), format!("{:?} {why}", setting.value.unwrap_or_default()));
        JobFault::BadValue { at: self.text.spot(setting.span.clone()), key, why, hint: hint.to_owned() }
    }

    fn meaningless(&self, setting: &Setting<'_>, what: &str, hint: &'static str) -> JobFault {
        JobFault::NoMeaning { at: self.text.spot(setting.span.clone()), what: what.to_owned(), hint }
    }
}

impl Section<'_> {
    fn is_on(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.name == name && setting.value != Some("0"))
    }
}

/// A size of blocks, of which none is empty.
fn block(text: &str, base: KbBase) -> Option<u64> {
    bytes(text, base).filter(|size| *size > 0)
}

/// `4k/60:64k/40`; what has no percentage shares what is left.
fn shares(text: &str, base: KbBase) -> Option<Vec<(Size, Option<u32>)>> {
    let mut all: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = if percent.is_empty() { None } else { Some(whole(percent)?.try_into().ok()?) };
        all.push((block(size, base)?, percent));
    }
    let known: u32 = all.iter().filter_map(|(_, percent)| *percent).fold(0, u32::saturating_add);
    let open = all.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    let mut rest = 100u32.checked_sub(known)?;
    let mut takers = open;
    let all = all.into_iter().map(|(size, percent)| {
        let percent = percent.unwrap_or_else(|| {
            let share = rest / takers.max(1);
            (rest, takers) = (rest - share, takers - 1);
            share
        });
        (Size(Bytes(size)), Some(percent))
    });
    let all: Vec<(Size, Option<u32>)> = all.collect();
    match &all[..] {
        // One size is no share.
        [(size, _)] => Some(vec![(*size, None)]),
        _ => Some(all),
    }
}
