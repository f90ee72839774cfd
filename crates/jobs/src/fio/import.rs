//! Converts a fio job to a job file.
//!
//! Policy:
//!   1. a section becomes a load, with a key for each default of fio, because those of diskperf differ;
//!   2. settings that mean the same here are converted. Settings that only concern fio's reports or cleaning up are
//!      skipped. All others are listed;
//!   3. a value that cannot be read is refused at its place: fio reads only the beginning of some;
//!   4. a section that diskperf cannot run is left out and listed. If none is left, that is an error;
//!   5. an engine that diskperf lacks is the reason given, whatever else is not supported: no change helps then;
//!   6. sections that do not wait for those before them become a group, which runs at the same time.

use std::collections::BTreeSet;

use units::{Bytes, Nanos};
use workload::Drawing;

use crate::error::{JobError, LoadError};
use crate::job_file::{ALL, TOGETHER};
use crate::job_file_writer::Heading;
use crate::load_spec::{KEYS, LoadSpec, SIZE, TIME};
use crate::load_words::{ArrivalsName, Blocks, Engine, Order, PatternName, Size, Time};
use crate::queue_depth::RingLimits;
use crate::source_span::Source;

use super::grouping::{Names, SectionLoad};
use super::limits::OnlyOne;
use super::section_reader::{Conversion, RemainingSettings};
use super::sections::{Section, Setting, sections};
use super::units::{block, bytes, nanos, range, shares, whole};
use super::unsupported::NO_SUCH_OPTION;
use super::words;

/// A job file.
#[derive(Debug)]
pub struct Imported {
    /// Its text.
    pub job: String,
    /// Differences from the fio job, a line each.
    pub differences: Vec<String>,
}

/// The time of a sequential workload without a runtime: long, so that it ends with its file.
const TO_THE_END: Time = Time(Nanos::from_secs(3600));

/// The default block size of fio.
const BLOCK: u64 = 4096;

/// The setting that is the opposite of `direct`.
const BUFFERED: &str = "buffered";

/// The default units of times in nanoseconds: seconds, and microseconds for pauses.
const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// Converts a fio job to a job file.
pub fn import(text: &Source, limits: RingLimits) -> Result<Imported, JobError> {
    let sections = match sections(text) {
        // 5
        Err(error @ JobError::Variable(_)) => return Err(foreign_engine(text).unwrap_or(error)),
        read => read?,
    };
    let mut conversion = Conversion { text, seed: None, differences: BTreeSet::new() };
    let mut names = Names::default();
    let mut loads: Vec<SectionLoad<'_>> = Vec::new();
    let mut refused = None;
    let mut turn = 0;
    for section in &sections {
        turn += usize::from(section.is_on("stonewall") || section.is_on("wait_for_previous"));
        match conversion.load(section, limits) {
            Ok((spec, delay)) => {
                loads.push(SectionLoad { name: names.name(section), section, spec, delay, turn, group: None })
            }
            // 4
            Err(error @ JobError::Unsupported { .. }) => {
                conversion.differs(section.span.start, format!("[{}]: left out: {error}", section.name));
                refused = refused.or(Some(error));
            }
            Err(other) => return Err(other),
        }
    }
    if loads.is_empty() {
        return Err(refused.unwrap_or(JobError::Missing {
            at: text.span(0..0),
            key: "a section".to_owned(),
            hint: "a fio job has a section [NAME] for each workload",
        }));
    }
    conversion.group(&mut loads, &mut names, limits)?;
    Ok(job_file(conversion, &loads))
}

fn job_file(conversion: Conversion<'_>, loads: &[SectionLoad<'_>]) -> Imported {
    let Conversion { text, seed, differences } = conversion;
    let line = |at: usize| text.span(at..at).line;
    let differences: Vec<String> =
        differences.into_iter().map(|(at, what)| format!("line {}: {what}", line(at))).collect();
    let mut job = format!("# From {} by diskperf import.", text.name.replace(char::is_control, " "));
    if !differences.is_empty() {
        job += " Differences from the fio job:";
    }
    job.push('\n');
    for what in &differences {
        job += &format!("#   {}\n", what.replace(char::is_control, " "));
    }
    if let Some(seed) = seed {
        job += &format!("seed = {seed}\n");
    }
    let is_together = loads.iter().all(|load| load.group.as_deref() == Some(ALL));
    if is_together {
        job += &format!("{TOGETHER} = true\n");
    }
    for SectionLoad { name, section, spec, delay, group, .. } in loads {
        let start = delay.as_ref().map(|(_, start)| *start);
        let group = group.as_deref().filter(|_| !is_together);
        let heading = Heading { name: Some(name), group, start, ..Heading::default() };
        job += &format!("\n# line {}\n{}", line(section.span.start), spec.table(&heading));
    }
    Imported { job, differences }
}

impl Conversion<'_> {
    /// The workload of a section, and its start among those that run at the same time.
    fn load<'a>(
        &mut self,
        section: &Section<'a>,
        limits: RingLimits,
    ) -> Result<(LoadSpec, Option<(Setting<'a>, Nanos)>), JobError> {
        let mut rest = RemainingSettings::new(section);
        // 5
        if let Some(setting) = rest.find(KEYS.engine.setting()).filter(|setting| is_foreign(setting.value)) {
            return Err(self.no_engine(&setting));
        }
        let (pattern, stride) = self.pattern(section, &mut rest)?;
        let mut load = LoadSpec::new(pattern);
        let is_random = matches!(pattern, PatternName::Randread | PatternName::Randwrite | PatternName::Randrw);
        load.bs = Some(self.blocks(pattern, &mut rest)?);
        let block = load.bs.as_ref().map_or(0, |Blocks(blocks)| blocks[0].0.0.0);
        load.stride = stride.map(|hole| Size(Bytes(block.saturating_add(hole))));
        load.direct = self.direct(&mut rest)?;
        self.queue(&mut load, &mut rest)?;
        load.jobs = self.count(&mut rest, KEYS.jobs.fio)?.filter(|jobs| *jobs != 1);
        self.pace(&mut load, block, &mut rest)?;
        if pattern == PatternName::Randrw {
            let reads = self.reads(&mut rest)?;
            // In fio too, the limits of reads and writes set their shares.
            load.reads = Some(reads).filter(|_| !load.has_two_rates());
        }
        if is_random {
            load.order = self.order(&load, &mut rest)?;
        }
        self.durability(&mut load, &mut rest)?;
        load.think = self.span(&mut rest, KEYS.think.fio, MICROSECOND)?;
        self.burst(&mut load, section, &mut rest)?;
        self.warm(&mut load, &mut rest)?;
        self.overwrite(&load, section, &mut rest)?;
        let size = self.size(section, &mut rest)?;
        load.size = Some(self.whole_blocks(section, size, &load));
        load.time = Some(self.time(section, is_random, &mut rest)?);
        load.warmup = self.span(&mut rest, KEYS.warmup.fio, SECOND)?;
        if let Some(what) = load.warmup.and_then(|_| words::after_ramp(pattern, load.direct)) {
            self.differs(section.span.start, format!("[{}]: ramp_time: {what}", section.name));
        }
        self.seed(&mut rest)?;
        let delay = self.delay(&mut rest)?;
        self.pass_rest(rest);
        match load.check(limits) {
            Ok(()) => Ok((load, delay)),
            Err(JobError::Load(LoadError { key, given, why, .. })) => {
                let at = self.text.span(section.span.clone());
                let what = format!("{key} {given}: {why}").replace("--", "");
                Err(JobError::Unsupported { at, what, hint: "change it in the fio job, or remove the section" })
            }
            Err(other) => Err(other),
        }
    }

    /// The start of a section, if it is delayed. fio draws the delay from a range; here it is the shorter time of the
    /// range.
    fn delay<'a>(&mut self, rest: &mut RemainingSettings<'a>) -> Result<Option<(Setting<'a>, Nanos)>, JobError> {
        let Some(setting) = rest.take(&[words::DELAY]) else { return Ok(None) };
        let read = |text: &str| nanos(text.split('-').next().unwrap_or_default(), SECOND);
        let start = self.value(&setting, read, "is not a time")?;
        if setting.value.is_some_and(|value| value.contains('-')) {
            self.differs(setting.span.start, format!("{}: the shorter time of the range is used", words::DELAY));
        }
        Ok((start > 0).then_some((setting, Nanos(start))))
    }

    /// Direct I/O. In fio, `direct` and `buffered` set one variable, so that the later of the two counts. A section
    /// comes after the defaults that it inherits.
    fn direct(&self, rest: &mut RemainingSettings<'_>) -> Result<bool, JobError> {
        let place = |name: &str| rest.find(name).map(|setting| setting.span.start);
        let is_buffered_later = place(BUFFERED) > place(KEYS.direct.setting());
        let direct = self.switch(rest, KEYS.direct.setting())?;
        let buffered = self.switch(rest, BUFFERED)?;
        Ok(if is_buffered_later { buffered == Some(false) } else { direct == Some(true) })
    }

    /// The percentage of reads. In fio too, the later of `rwmixread` and `rwmixwrite` counts.
    fn reads(&self, rest: &mut RemainingSettings<'_>) -> Result<u32, JobError> {
        let Some(setting) = rest.take(&[KEYS.reads.setting(), words::WRITES]) else { return Ok(50) };
        let share = self.number(&setting)?;
        Ok(if setting.name == words::WRITES { 100u32.saturating_sub(share) } else { share })
    }

    fn no_engine(&self, setting: &Setting<'_>) -> JobError {
        self.unsupported(setting, "diskperf has no such engine", "use psync, io_uring, mmap or null")
    }

    fn warm(&mut self, load: &mut LoadSpec, rest: &mut RemainingSettings<'_>) -> Result<(), JobError> {
        let setting = rest.find(KEYS.warm.setting());
        load.warm = self.switch(rest, KEYS.warm.setting())?.unwrap_or(false);
        if let Some(setting) = setting.filter(|_| load.warm && !load.has_file()) {
            self.pass(&setting, "this workload creates its file");
            load.warm = false;
        }
        // fio then ignores it.
        if load.warm {
            rest.take(&[words::INVALIDATE]);
        }
        Ok(())
    }

    /// Lists a file that fio would not write before the workload overwrites it.
    fn overwrite(
        &mut self,
        load: &LoadSpec,
        section: &Section<'_>,
        rest: &mut RemainingSettings<'_>,
    ) -> Result<(), JobError> {
        if load.has_file() && self.switch(rest, words::OVERWRITE)? != Some(true) && words::overwrites(load) {
            let what = format!("[{}]: the file is written beforehand, as with overwrite=1", section.name);
            self.differs(section.span.start, what);
        }
        Ok(())
    }

    fn seed(&mut self, rest: &mut RemainingSettings<'_>) -> Result<(), JobError> {
        let Some(setting) = rest.take(KEYS.seed.fio) else { return Ok(()) };
        let given = self.value(&setting, whole, "is not a whole number")?;
        if self.seed.is_some_and(|seed| seed != given) {
            self.pass(&setting, "a job file has one seed; the first one is used");
        } else {
            self.seed = Some(given);
        }
        Ok(())
    }

    /// The pattern, and the bytes between two blocks.
    fn pattern(
        &mut self,
        section: &Section<'_>,
        rest: &mut RemainingSettings<'_>,
    ) -> Result<(PatternName, Option<u64>), JobError> {
        // The default of fio.
        let Some(setting) = rest.take(KEYS.pattern.fio) else { return Ok((PatternName::Read, None)) };
        let (word, modifier) = match setting.value.unwrap_or_default().split_once(':') {
            Some((word, modifier)) => (word, Some(modifier)),
            None => (setting.value.unwrap_or_default(), None),
        };
        let pattern = match word {
            "rw" | "readwrite" => {
                let hint = "use randrw, or one section that reads and one that writes";
                return Err(self.unsupported(
                    &setting,
                    "diskperf cannot mix sequential reads and writes in one workload",
                    hint,
                ));
            }
            "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
                let what = format!("[{}] trims; diskperf has no trim workload", section.name);
                return Err(self.unsupported(&setting, &what, "remove the section"));
            }
            _ => words::pattern(word).ok_or_else(|| {
                self.bad(&setting, "is not a pattern of fio", "use read, write, randread, randwrite or randrw")
            })?,
        };
        let Some(modifier) = modifier else { return Ok((pattern, None)) };
        if matches!(pattern, PatternName::Read | PatternName::Write) {
            let hole = bytes(modifier, setting.base);
            let hole = hole.ok_or_else(|| self.bad(&setting, "has no size after the colon", "as in rw=read:4k"))?;
            if hole > 0 {
                self.differs(setting.span.start, format!("{}={word}:{modifier}: {}", setting.name, words::PASSES));
            }
            return Ok((pattern, Some(hole).filter(|hole| *hole > 0)));
        }
        self.pass(&setting, "diskperf draws a new random position for each block");
        Ok((pattern, None))
    }

    /// The block sizes of a section.
    fn blocks(&mut self, pattern: PatternName, rest: &mut RemainingSettings<'_>) -> Result<Blocks, JobError> {
        let (split, span) = (rest.take(&[words::SPLIT]), rest.take(&["bsrange", "blocksize_range"]));
        let size = match rest.take(KEYS.bs.fio) {
            None => BLOCK,
            Some(setting) => {
                let (why, hint) = ("is not a size", "as in bs=4k");
                self.directed(&setting, pattern, |text| block(text, setting.base), BLOCK, (why, hint))?
            }
        };
        let one = vec![(Size(Bytes(size)), None)];
        if let Some(setting) = split {
            let (why, hint) = ("is not a list of sizes with percentages", "as in bssplit=4k/60:64k/40");
            let blocks = self.directed(&setting, pattern, |text| shares(text, setting.base), one, (why, hint))?;
            return Ok(Blocks(blocks));
        }
        if let Some(setting) = span {
            // fio draws any multiple of the smallest size. diskperf has a list of sizes.
            let (low, high) = self.directed(
                &setting,
                pattern,
                |text| range(text, setting.base).filter(|(low, _)| *low > 0),
                (size, size),
                ("is not a range of two sizes", "as in 4k-16k"),
            )?;
            if low == high {
                return Ok(Blocks(vec![(Size(Bytes(low)), None)]));
            }
            let hint = "write bssplit=4k/50:16k/50";
            return Err(self.unsupported(&setting, "diskperf cannot draw block sizes from a range", hint));
        }
        Ok(Blocks(one))
    }

    /// The engine and the queue depth.
    fn queue(&mut self, load: &mut LoadSpec, rest: &mut RemainingSettings<'_>) -> Result<(), JobError> {
        let deep = rest.take(KEYS.iodepth.fio);
        let depth = deep.as_ref().map(|setting| self.number(setting)).transpose()?;
        let depth = depth.filter(|depth| *depth != 1);
        let engine = rest.take(KEYS.engine.fio);
        let polls = self.switch(rest, words::POLLS)?.unwrap_or(false);
        // The default of fio is psync.
        load.engine = Some(match engine.as_ref().and_then(|setting| Some((setting, setting.value?))) {
            None => Engine::Posix,
            Some((setting, other @ ("libaio" | "posixaio"))) => {
                self.differs(setting.span.start, format!("ioengine={other}: converted to io_uring"));
                Engine::Uring
            }
            Some((setting, word)) => words::engine(word, polls).ok_or_else(|| self.no_engine(setting))?,
        });
        if matches!(load.engine, Some(Engine::Uring | Engine::Sqpoll)) {
            load.iodepth = depth;
        } else if depth.is_some() {
            deep.iter().for_each(|setting| self.pass(setting, "this engine has a queue depth of 1"));
        }
        Ok(())
    }

    /// The rate of all jobs together, and the time between starts.
    fn pace(&mut self, load: &mut LoadSpec, block: u64, rest: &mut RemainingSettings<'_>) -> Result<(), JobError> {
        let (bandwidth, process) = (rest.take(&["rate"]), rest.take(KEYS.arrivals.fio));
        let rate = rest.take(KEYS.rate.fio);
        let (pattern, jobs) = (load.pattern, u64::from(load.jobs.unwrap_or(1)));
        let several = load.block().is_none();
        let place = rate.as_ref().map(|setting| setting.span.start);
        let limits = match (rate, bandwidth) {
            (Some(setting), _) => Some((self.limits(&setting, pattern)?, setting, 1)),
            (None, Some(setting)) => {
                let limits = self.limits(&setting, pattern)?;
                let unit = block.max(1);
                if several || !limits.is_whole(pattern, jobs, unit) {
                    self.pass(&setting, "diskperf needs operations per second, and this is not a whole number of them");
                    None
                } else {
                    Some((limits, setting, unit))
                }
            }
            (None, None) => None,
        };
        if let Some((limits, setting, unit)) = limits {
            match limits.rate(pattern, jobs, unit) {
                Ok(rate) => load.rate = rate,
                Err(OnlyOne) => self.pass(&setting, "diskperf limits both reads and writes of a mix, or neither"),
            }
        }
        match process.as_ref().and_then(|setting| setting.value) {
            _ if load.rate.is_none() => {
                process.iter().for_each(|setting| self.pass(setting, "it needs rate or rate_iops"))
            }
            word => {
                let arrivals = word.map_or(Some(ArrivalsName::Constant), words::arrivals);
                load.arrivals = arrivals.or(Some(ArrivalsName::Constant));
                let other = process.iter().filter(|_| arrivals.is_none());
                other.for_each(|setting| self.pass(setting, NO_SUCH_OPTION));
            }
        }
        let is_constant = load.arrivals == Some(ArrivalsName::Constant);
        if let Some(place) = place.filter(|_| several && is_constant) {
            self.differs(place, format!("{}: {}", KEYS.rate.setting(), words::PACED_BY_BYTES));
        }
        Ok(())
    }

    /// The order of random blocks. The default of fio is a permutation, and for several block sizes a random draw.
    fn order(&mut self, load: &LoadSpec, rest: &mut RemainingSettings<'_>) -> Result<Option<Order>, JobError> {
        let has_map = !self.switch(rest, words::NO_MAP)?.unwrap_or(false);
        let is_one = load.bs.as_ref().is_some_and(|Blocks(blocks)| blocks.len() == 1);
        let usual = Order(if has_map && is_one { Drawing::Permutation } else { Drawing::Replacement });
        let Some(setting) = rest.take(KEYS.order.fio) else { return Ok(Some(usual)) };
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
        self.pass(&setting, NO_SUCH_OPTION);
        Ok(Some(usual))
    }

    /// The durability of writes. A sequential write with fdatasync after each block is the pattern commit.
    fn durability(&mut self, load: &mut LoadSpec, rest: &mut RemainingSettings<'_>) -> Result<(), JobError> {
        let writes = !matches!(load.pattern, PatternName::Read | PatternName::Randread);
        let (fsync, sync) = (self.count(rest, KEYS.fsync.fio)?, rest.take(KEYS.sync.fio));
        let data = rest.find(KEYS.fdatasync.setting());
        let every = self.count(rest, KEYS.fdatasync.fio)?.filter(|every| *every > 0);
        if !writes {
            return Ok(());
        }
        load.fsync = fsync.filter(|every| *every > 0);
        load.sync = match sync.as_ref().and_then(|setting| Some((setting, setting.value?))) {
            None | Some((_, "0" | "none")) => None,
            Some((setting, word)) => {
                let sync = words::sync(word);
                Some(sync.ok_or_else(|| self.bad(setting, "is not a value of sync", "use 0, sync or dsync"))?)
            }
        };
        let is_commit = load.pattern == PatternName::Write
            && load.engine == Some(Engine::Posix)
            && load.block().is_some()
            && load.stride.is_none()
            && load.fsync.is_none()
            && load.sync.is_none();
        match (every, data) {
            (Some(1), _) if is_commit => load.pattern = PatternName::Commit,
            (Some(_), Some(setting)) if load.fsync.is_some() => self.pass(&setting, "the workload already uses fsync"),
            (Some(every), _) => load.fdatasync = Some(every),
            _ => {}
        }
        Ok(())
    }

    /// The number of operations between two pauses. In fio too, the queue is never deeper than this.
    fn burst(
        &mut self,
        load: &mut LoadSpec,
        section: &Section<'_>,
        rest: &mut RemainingSettings<'_>,
    ) -> Result<(), JobError> {
        let given = self.count(rest, KEYS.burst.fio)?.filter(|burst| *burst > 0);
        if load.think.is_none() {
            return Ok(());
        }
        load.burst = given.filter(|burst| *burst > 1);
        let burst = load.burst.unwrap_or(1);
        if load.iodepth.is_some_and(|depth| depth > burst) {
            load.iodepth = Some(burst).filter(|burst| *burst > 1);
            let what = format!("[{}]: thinktime: at most {burst} in flight, because a pause follows", section.name);
            self.differs(section.span.start, what);
        }
        Ok(())
    }

    /// A time in this unit; `None` if it is zero.
    fn span(&mut self, rest: &mut RemainingSettings<'_>, names: &[&str], unit: u64) -> Result<Option<Time>, JobError> {
        let Some(setting) = rest.take(names) else { return Ok(None) };
        let span = self.value(&setting, |text| nanos(text, unit), "is not a time")?;
        Ok(Some(Time(Nanos(span))).filter(|_| span > 0))
    }

    /// The size of the file: `filesize`, or `size` without it. Next to `filesize`, `size` is the number of bytes after
    /// which fio ends, if it is smaller and the section is not timed.
    fn size(&mut self, section: &Section<'_>, rest: &mut RemainingSettings<'_>) -> Result<Size, JobError> {
        let (mut size, mut file) = (rest.take(KEYS.size.fio), rest.take(&["filesize"]));
        if let Some(range) = file.take_if(|file| size.is_some() && file.value.is_some_and(|value| value.contains('-')))
        {
            self.pass(&range, "diskperf does not draw the size of a file; the file gets the size");
        }
        let is_percent = |setting: &Setting<'_>| setting.value.is_some_and(|value| value.ends_with('%'));
        if let Some(file) = file {
            let bytes = self.bytes(&file)?;
            if let Some(size) = size.take() {
                let is_less =
                    is_percent(&size) && size.value != Some("100%") || !is_percent(&size) && self.bytes(&size)? < bytes;
                if is_less && !section.is_on(words::TIMED) {
                    self.pass(&size, "the file gets filesize; a round ends after its time, or at the end of the file");
                }
            }
            return Ok(Size(Bytes(bytes)));
        }
        let Some(setting) = size else {
            self.differs(section.span.start, format!("[{}]: no size: the file gets {SIZE}", section.name));
            return Ok(Size(SIZE));
        };
        if is_percent(&setting) {
            self.pass(&setting, &format!("the file gets {SIZE}; set size = \"...\" in the job file"));
            return Ok(Size(SIZE));
        }
        Ok(Size(Bytes(self.bytes(&setting)?)))
    }

    /// The value of a setting, a size above 0.
    fn bytes(&self, setting: &Setting<'_>) -> Result<u64, JobError> {
        self.value(setting, |text| block(text, setting.base), "is not a size")
    }

    /// The size, rounded down to blocks: fio leaves out the rest of a file too.
    fn whole_blocks(&mut self, section: &Section<'_>, Size(size): Size, load: &LoadSpec) -> Size {
        let blocks = load.bs.as_ref().map_or(&[][..], |Blocks(blocks)| blocks);
        let smallest = blocks.iter().map(|(Size(block), _)| block.0).min().unwrap_or(1).max(1);
        let whole = Bytes(size.0 / smallest * smallest);
        if whole != size && whole.0 > 0 {
            let what = format!("[{}]: size: rounded down to whole blocks of {}", section.name, Bytes(smallest));
            self.differs(section.span.start, what);
            return Size(whole);
        }
        Size(size)
    }

    /// The time of a round. Without a runtime, fio ends with the file, and so does a sequential workload of diskperf. A
    /// random one of diskperf always takes the whole time.
    fn time(
        &mut self,
        section: &Section<'_>,
        is_random: bool,
        rest: &mut RemainingSettings<'_>,
    ) -> Result<Time, JobError> {
        let setting = rest.take(KEYS.time.fio);
        let is_timed = self.switch(rest, words::TIMED)?.unwrap_or(false);
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
            self.differs(section.span.start, what);
            return Ok(Time(TIME));
        };
        let difference = match (is_timed, is_random) {
            (true, false) => Some("time_based: a round also ends at the end of the file"),
            (false, true) => Some("no time_based: each round takes the whole runtime; fio also ends after the size"),
            _ => None,
        };
        if let Some(difference) = difference {
            self.differs(section.span.start, format!("[{}]: {difference}", section.name));
        }
        Ok(Time(Nanos(time)))
    }
}

/// True if diskperf cannot replace this engine.
fn is_foreign(engine: Option<&str>) -> bool {
    engine.is_some_and(|word| !["libaio", "posixaio"].contains(&word) && words::engine(word, false).is_none())
}

/// The error for the first line with an engine that diskperf lacks; `None` if there is none.
fn foreign_engine(text: &Source) -> Option<JobError> {
    let mut offset = 0;
    for line in text.text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let setting = line.split([';', '#']).next().unwrap_or_default().trim();
        let engine = setting.split_once('=').filter(|(name, _)| name.trim() == KEYS.engine.setting());
        if engine.is_some_and(|(_, engine)| is_foreign(Some(engine.trim()))) {
            let (at, what) =
                (text.span(start..start + line.trim_end().len()), "diskperf has no such engine".to_owned());
            return Some(JobError::Unsupported { at, what, hint: "use psync, io_uring, mmap or null" });
        }
    }
    None
}

impl Section<'_> {
    /// True if it has this setting, and its value is not 0.
    fn is_on(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.name == name && setting.value != Some("0"))
    }
}
