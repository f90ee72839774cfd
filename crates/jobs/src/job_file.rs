//! A job file: settings of the run, and a `[[load]]` table for each workload. The keys of a table are the options of
//! `diskperf io`.
//!
//! Policy:
//!   1. the command line decides whether data may be destroyed and where results go. These are not keys of the file;
//!   2. an unknown key, a wrong value and keys that contradict each other are refused at their place;
//!   3. a workload has the name that the file gives it, or that of its pattern. No two have the same name;
//!   4. a key with several values makes its table a sweep: a workload for each combination. They have one name, and
//!      take turns;
//!   5. workloads run one after the other, except those of a group, which run at the same time: all of the file
//!      (`together`), or those with the same `group`. `groups` checks them.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use stats::Name;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, ValueDeserializer};
use units::{Bytes, Nanos};
use workload::LONGEST_SCHEDULE;

use crate::error::{JobError, LoadError};
use crate::groups::{self, GROUP, NAME, NamedLoad, START};
use crate::load_spec::{KEYS, LoadSpec};
use crate::load_sweep::{Axis, LoadSweep, MOST_POINTS, PointLoad, SweptKey};
use crate::load_words::Time;
use crate::queue_depth::Host;
use crate::resolved_load::check_rounds;
use crate::source_span::{Source, SourceSpan};

/// The largest job file. Chosen: a load has some hundred bytes.
pub const LARGEST: Bytes = Bytes::mib(1);

/// The longest name of a workload: rows of tables begin with it.
pub(crate) const LONGEST_NAME: usize = 40;

/// Keys of [`LoadSpec`] that a job file has once, for the whole run.
pub(crate) const OF_THE_RUN: [&str; 2] = ["rounds", "seed"];

/// A job file.
#[derive(Clone, Debug)]
pub struct Job {
    /// The text. It is stored with the run, so that `resume` does not depend on the file.
    pub text: Source,
    /// The targets, if the file names some.
    pub targets: Vec<String>,
    /// The number of rounds.
    pub rounds: Option<u32>,
    /// The time after which no further round begins.
    pub budget: Option<Nanos>,
    /// The time for which each target is loaded before the first round.
    pub sustained: Option<Nanos>,
    /// The seed of every random order.
    pub seed: Option<u64>,
    /// The workloads.
    pub loads: Vec<NamedLoad>,
    /// Warnings about workloads that this machine cannot run as they are written.
    pub warnings: Vec<String>,
}

/// A job file: settings of the run, and the workloads.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Targets, as in `diskperf run` [default: the current directory]. Targets on the command line override these.
    #[serde(default)]
    targets: Vec<Name>,
    /// Number of rounds [default: 5]. Each round runs every workload once, in random order.
    rounds: Option<u32>,
    /// Start no round that would end later than this, as in "2min" [default: no limit].
    #[schemars(with = "Option<String>")]
    budget: Option<Time>,
    /// Load each target for this long before the first round, as in "2min" [default: no load].
    #[schemars(with = "Option<String>")]
    sustained: Option<Time>,
    /// Seed of every random order [default: 1].
    seed: Option<u64>,
    /// Run all workloads of the file at the same time [default: one after the other].
    #[serde(default)]
    together: bool,
}

/// The keys above the loads.
pub(crate) const HEAD: [&str; 7] = ["targets", "rounds", "budget", "sustained", "seed", TOGETHER, LOADS];

/// The key that makes all workloads one group.
pub(crate) const TOGETHER: &str = "together";

/// The name of that group. Its row in the tables has the sums of the workloads.
pub(crate) const ALL: &str = "sum";

/// The key of the workloads.
pub(crate) const LOADS: &str = "load";

/// The place of a workload in its group.
#[derive(Default, Deserialize)]
struct GroupAndStart {
    group: Option<String>,
    start: Option<Time>,
}

impl Job {
    /// Reads a job file.
    pub fn read(text: &Source, host: &Host) -> Result<Job, JobError> {
        let root = DeTable::parse(&text.text).map_err(|error| {
            let at = text.span(error.span().unwrap_or_default());
            JobError::Syntax { at, what: error.message().replace('\n', ", ") }
        })?;
        let head = Table::head(text, root.get_ref());
        head.check(|key| if HEAD.contains(&key) { Ok(()) } else { Err(None) }, &HEAD.map(str::to_owned))?;
        let Head { targets, rounds, budget, sustained, seed, together } = head.read(|key| key != LOADS)?;
        check_rounds(rounds).map_err(|error| head.bad(error.key, error.why, error.hint))?;
        let (loads, warnings) = head.loads(host, together)?;
        let targets: Option<Vec<String>> = targets.iter().map(Name::text).collect();
        let targets = targets.ok_or_else(|| {
            head.bad("targets", "bytes are not pairs of hexadecimal digits", "write { bytes = \"61ff\" }")
        })?;
        let [budget, sustained] = [budget, sustained].map(|time| time.map(|Time(time)| time));
        Ok(Job { text: text.clone(), targets, rounds, budget, sustained, seed, loads, warnings })
    }

    /// The workloads as they run, by index: one alone, or those of a group at the same time.
    pub fn turns(&self) -> Vec<Vec<usize>> {
        let mut turns: Vec<Vec<usize>> = Vec::new();
        for (index, load) in self.loads.iter().enumerate() {
            let is_of_group = |turn: &&mut Vec<usize>| load.group.is_some() && self.loads[turn[0]].group == load.group;
            match turns.iter_mut().find(is_of_group) {
                Some(turn) => turn.push(index),
                None => turns.push(vec![index]),
            }
        }
        turns
    }

    /// An error about the targets, at their place in the file. `None` if the file names none.
    pub fn at_targets(&self, why: &str, hint: &str) -> Option<JobError> {
        let root = DeTable::parse(&self.text.text).ok().filter(|_| !self.targets.is_empty())?;
        Some(Table::head(&self.text, root.get_ref()).bad("targets", why, hint))
    }

    /// An error in a workload, at its place in the file.
    pub fn at_load(&self, index: usize, error: LoadError) -> JobError {
        let Ok(root) = DeTable::parse(&self.text.text) else { return error.into() };
        let head = Table::head(&self.text, root.get_ref());
        let table = self.loads.get(index).map(|load| load.table);
        match head.tables().ok().and_then(|tables| head.load_table(tables.get(table?)?).ok()) {
            Some(table) => table.contradiction(&error),
            None => error.into(),
        }
    }
}

/// A table of the file.
struct Table<'a> {
    text: &'a Source,
    table: &'a DeTable<'a>,
    /// Its bytes in the text.
    span: Range<usize>,
    /// Its name in errors.
    what: &'static str,
}

impl<'a> Table<'a> {
    fn head(text: &'a Source, table: &'a DeTable<'a>) -> Table<'a> {
        Table { text, table, span: 0..0, what: "a job" }
    }

    /// The table of a workload.
    fn load_table(&self, value: &'a Spanned<DeValue<'a>>) -> Result<Table<'a>, JobError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(Table { text: self.text, table, span: value.span(), what: "a workload" }),
            _ => Err(self.not_tables()),
        }
    }

    /// The values of `load`.
    fn tables(&self) -> Result<&'a DeArray<'a>, JobError> {
        match self.table.get(LOADS).map(Spanned::get_ref) {
            Some(DeValue::Array(tables)) if !tables.is_empty() => Ok(tables),
            None | Some(DeValue::Array(_)) => Err(JobError::Missing {
                at: self.text.span(0..0),
                key: "[[load]]".to_owned(),
                hint: "add a workload: [[load]], and below it pattern = \"randread\"",
            }),
            Some(_) => Err(self.not_tables()),
        }
    }

    fn not_tables(&self) -> JobError {
        self.bad(LOADS, "is a list of tables", "write [[load]], with two brackets")
    }

    /// The workloads, and their warnings.
    fn loads(&self, host: &Host, together: bool) -> Result<(Vec<NamedLoad>, Vec<String>), JobError> {
        let (mut loads, mut warnings): (Vec<NamedLoad>, Vec<String>) = (Vec::new(), Vec::new());
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        let mut swept = 0;
        for (index, table) in self.tables()?.iter().enumerate() {
            let table = self.load_table(table)?;
            let (points, those) = table.loads_of_table(index, host, together)?;
            let at = table.span_of(if table.table.contains_key(NAME) { NAME } else { "pattern" });
            let name = points[0].name;
            if let Some(line) = lines.insert(name, at.line) {
                return Err(JobError::SameName { at, name: name.to_owned(), line });
            }
            swept += if points.len() > 1 { points.len() } else { 0 };
            if swept > MOST_POINTS {
                return Err(JobError::TooMany { at, what: "workloads in the sweeps of a file", most: MOST_POINTS });
            }
            loads.extend(points);
            warnings.extend(those);
        }
        if let Err(groups::Refusal { load, key, why, hint }) = groups::check(&loads) {
            let table = self.tables()?.get(loads[load].table).map(|table| self.load_table(table)).transpose()?;
            return Err(match table.filter(|_| !(together && key == GROUP)) {
                Some(table) => table.bad(key, why, hint),
                None => self.bad(TOGETHER, why, hint),
            });
        }
        Ok((loads, warnings))
    }

    /// The place of a key, or of the table if it has no such key.
    fn span_of(&self, key: &str) -> SourceSpan {
        let known = self.table.iter().find(|(known, _)| known.get_ref() == key);
        let span = known.map_or(self.span.clone(), |(known, value)| known.span().start..value.span().end);
        self.text.span(span)
    }

    fn bad(&self, key: &str, why: impl Into<String>, hint: impl Into<String>) -> JobError {
        JobError::BadValue { at: self.span_of(key), key: key.to_owned(), why: why.into(), hint: hint.into() }
    }

    /// Refuses the first unknown key of the file, with the reason if there is one.
    fn check(
        &self,
        allows: impl Fn(&str) -> Result<(), Option<&'static str>>,
        known: &[String],
    ) -> Result<(), JobError> {
        let refused = self.table.keys().filter_map(|key| Some((key, allows(key.get_ref()).err()?)));
        let Some((key, why)) = refused.min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let (at, known) = (self.text.span(key.span()), known.to_vec());
        Err(JobError::UnknownKey { at, table: self.what, key: key.get_ref().to_string(), known, why })
    }

    /// Reads the values of these keys.
    fn read<'de, T: Deserialize<'de>>(&'de self, of: impl Fn(&str) -> bool) -> Result<T, JobError> {
        let mut table = self.table.clone();
        let others = self.table.keys().map(|key| &**key.get_ref()).filter(|key| !of(key));
        others.for_each(|key| drop(table.remove(key)));
        let value = Spanned::new(self.span.clone(), DeValue::Table(table));
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let what = error.message().replace('\n', ", ");
            if let Some(key) = what.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
                let (at, key) = (self.text.span(self.span.clone()), key.to_owned());
                return JobError::Missing { at, key, hint: "add a pattern, as in pattern = \"randread\"" };
            }
            let place = error.span().unwrap_or(self.span.clone());
            let holds = |span: Range<usize>| span.start <= place.start && place.end <= span.end;
            let key = self.table.iter().find(|(key, value)| holds(key.span().start..value.span().end));
            let key = key.map_or(LOADS, |(key, _)| key.get_ref());
            let hint = if what.ends_with("expected a string") {
                "write it in quotes, a size or a time with its unit, as in \"4KiB\" or \"10s\"".to_owned()
            } else {
                let own = [TOGETHER, GROUP, START].contains(&key);
                format!("`diskperf {}` explains {key}", if own { "schema job" } else { "help io" })
            };
            JobError::BadValue { at: self.text.span(place), key: key.to_owned(), why: what, hint }
        })
    }

    /// The workloads of this table, and warnings if this machine cannot run them as they are written.
    fn loads_of_table(
        &self,
        table: usize,
        host: &Host,
        together: bool,
    ) -> Result<(Vec<NamedLoad>, Vec<String>), JobError> {
        const OWN: [&str; 3] = [NAME, GROUP, START];
        let mut known = keys();
        known.extend(OWN.map(str::to_owned));
        let allows = |key: &str| match OF_THE_RUN.contains(&key) {
            true => Err(Some("it applies to the whole run: write it above the first [[load]]")),
            false if known.iter().any(|known| known == key) => Ok(()),
            false => Err(None),
        };
        self.check(allows, &known)?;
        let axes = self.axes()?;
        let is_swept = |key: &str| axes.iter().any(|axis| axis.key.name() == key);
        let load: LoadSpec = self.read(|key| !OWN.contains(&key) && !is_swept(key))?;
        let (group, start) = self.group_and_start(together)?;
        if let Some(axis) = axes.first().filter(|_| group.is_some()) {
            let why = "a workload of a group has one value for each key";
            return Err(self.bad(axis.key.name(), why, "write one value, or let the workload run alone"));
        }
        let points = LoadSweep { load, axes }.loads(host).map_err(|error| match error {
            JobError::Load(error) => self.contradiction(&error),
            other => other,
        })?;
        let name = self.name(points[0].load.pattern.name())?;
        let mut warnings: Vec<String> = Vec::new();
        let loads = points.into_iter().map(|PointLoad { name: point, spec, load, warning }| {
            warnings.extend(warning.filter(|warning| !warnings.contains(warning)));
            NamedLoad { name, point, table, spec, load, group, start }
        });
        Ok((loads.collect(), warnings))
    }

    /// The keys with several values, in the order of the file.
    fn axes(&self) -> Result<Vec<Axis>, JobError> {
        let mut swept: Vec<(usize, SweptKey, &str)> = Vec::new();
        for (name, value) in self.table {
            if let (Some(key), DeValue::String(text)) = (SweptKey::named(name.get_ref()), value.get_ref())
                && key.has_several(text)
            {
                swept.push((name.span().start, key, text));
            }
        }
        swept.sort_unstable_by_key(|(at, ..)| *at);
        let axis = |(_, key, text): (usize, SweptKey, &str)| {
            Axis::read(key, text).map_err(|LoadError { why, .. }| {
                let examples = key.examples().map(|example| format!("{} = \"{example}\"", key.name()));
                self.bad(key.name(), format!("{text}: {why}"), format!("write {}", examples.join(" or ")))
            })
        };
        swept.into_iter().map(axis).collect()
    }

    /// The group of this workload, and its start there.
    fn group_and_start(&self, together: bool) -> Result<(Option<&'static str>, Nanos), JobError> {
        let GroupAndStart { group, start } = self.read(|key| [GROUP, START].contains(&key))?;
        let group = match group {
            Some(_) if together => {
                let why = "together = true already runs all workloads at the same time";
                return Err(self.bad(GROUP, why, "leave out group or together"));
            }
            None => together.then_some(ALL),
            Some(group) if is_name(&group) => Some(&*group.leak()),
            Some(_) => return Err(self.bad(GROUP, name_rule(), "as in group = \"database\"")),
        };
        if start.is_some() && group.is_none() {
            let why = "only workloads that run at the same time have a start";
            return Err(self.bad(START, why, "leave it out, or write together = true above the first [[load]]"));
        }
        let start = start.map_or(Nanos::ZERO, |Time(start)| start);
        if start > LONGEST_SCHEDULE {
            let why = format!("a workload starts after at most {}", Time(LONGEST_SCHEDULE));
            return Err(self.bad(START, &why, "use a shorter time"));
        }
        Ok((group, start))
    }

    fn name(&self, pattern: &'static str) -> Result<&'static str, JobError> {
        match self.table.get(NAME).map(Spanned::get_ref) {
            None => Ok(pattern),
            // Leaked, because programs have static names. A process reads one job file.
            Some(DeValue::String(name)) if is_name(name) => Ok(name.to_string().leak()),
            Some(_) => Err(self.bad(NAME, name_rule(), "as in name = \"oltp-read\"")),
        }
    }

    /// An error in this workload, at its key. Other keys that it names get their lines.
    fn contradiction(&self, error: &LoadError) -> JobError {
        let others = error.why.split("--").skip(1).filter_map(|word| {
            let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(word.len());
            let (key, _) = self.table.get_key_value(word[..end].replace('-', "_").as_str())?;
            Some((key.get_ref().to_string(), self.text.span(key.span()).line))
        });
        let others: Vec<(String, usize)> = others.filter(|(other, _)| other != error.key).collect();
        let plain = |text: &str| text.replace("--", "");
        let mut why = plain(&error.why);
        if !error.given.is_empty() {
            why = format!("{}: {why}", error.given);
        }
        for (other, line) in others {
            why += &format!("; {other} is set in line {line}");
        }
        self.bad(error.key, why, plain(&error.hint))
    }
}

/// The rule for names, in words.
fn name_rule() -> String {
    format!("a name has 1 to {LONGEST_NAME} letters, digits, - and _, and no - in front")
}

/// True if a workload can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_letter) && !name.starts_with('-')
}

/// The keys of a workload: the options of `diskperf io`, without those of the whole run.
pub(crate) fn keys() -> Vec<String> {
    let names = KEYS.all().map(|key| key.name);
    names.filter(|name| !OF_THE_RUN.contains(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue_depth::sample;

    fn read(text: &str) -> Result<Job, JobError> {
        Job::read(&Source::new("x", text), &sample())
    }

    const SAMPLE: &str = include_str!("../samples/job.toml");

    #[test]
    fn the_keys_of_a_job_file_are_read() {
        let job = read(SAMPLE).expect("a job");
        assert_eq!((job.rounds, job.budget, job.seed), (Some(3), Some(Nanos::from_secs(120)), Some(7)));
        assert_eq!(job.sustained, Some(Nanos::from_secs(60)));
        assert_eq!(job.targets, ["sim:flat"]);
        assert_eq!(job.loads.iter().map(|load| load.name).collect::<Vec<_>>(), ["randread", "oltp"]);
        assert_eq!((job.loads[0].load.sizes.only(), job.loads[0].load.warm), (Some(8192), false));
        assert!(job.loads[1].load.warm && job.loads[1].load.rate.is_some());
    }

    #[test]
    fn errors_in_job_files_have_line_and_column() {
        let load = |keys: &str| format!("[[load]]\npattern = 'randread'\n{keys}\n");
        for (text, said, hint) in [
            ("rounds = ", "x:1:10: ", "the file is TOML"),
            ("round = 3\n[[load]]", "x:1:1: a job has no key round", "did you mean rounds?"),
            ("rounds = 0\n[[load]]", "x:1:1: rounds: nothing would be measured", "use 1 or more"),
            ("budget = '5'\n[[load]]", "x:1:10: budget: unknown or missing unit", "diskperf help io"),
            ("load = 3", "x:1:1: load: is a list of tables", "two brackets"),
            ("[load]\npattern = 'read'", "x:1:2: load: is a list of tables", "two brackets"),
            ("seed = 1", "x:1:1: [[load]] is missing", "add a workload"),
            ("[[load]]\nbs = '4KiB'", "x:1:1: pattern is missing", "pattern = \"randread\""),
            ("[[load]]\npattern = 'sideways'", "x:2:11: pattern: unknown variant `sideways`", "diskperf help io"),
            (&load("iodpeth = 4"), "x:3:1: a workload has no key iodpeth", "did you mean iodepth?"),
            (&load("destroy_data = true"), "x:3:1: a workload has no key destroy_data", "known keys: pattern, "),
            (&load("rounds = 4"), "x:3:1: a workload has no key rounds", "above the first [[load]]"),
            (&load("bs = '4kb'"), "x:3:6: bs: ambiguous unit kb", ""),
            (&load("bs = 4096"), "x:3:6: bs: invalid type: integer `4096`, expected a string", "in quotes"),
            (&load("iodepth = '4'"), "x:3:11: iodepth: invalid type: string \"4\"", "diskperf help io"),
            (&load("iodepth = -4"), "x:3:11: iodepth: invalid value: integer `-4`", ""),
            (&load("name = 'a b'"), "x:3:1: name: a name has 1 to 40 letters", "as in name"),
            (
                &load("engine = 'posix'\niodepth = 4"),
                "x:4:1: iodepth: 4: engine posix has one operation in flight; engine is set in line 3",
                "leave out engine",
            ),
            (
                &load("direct = true\n# why\nwarm = true"),
                "x:5:1: warm: direct bypasses the page cache",
                "leave out warm or direct",
            ),
            (&load("reads = 30"), "x:3:1: reads: 30: only randrw", ""),
            (
                &(load("") + &load("")),
                "x:5:1: the workload in line 2 already has the name randread",
                "give one of them another",
            ),
        ] {
            let error = read(text).expect_err(text);
            let (what, tried) = (error.to_string(), error.hint().unwrap_or_default());
            assert!(what.starts_with(said) && tried.contains(hint), "{text}: {what}\n{tried}");
            assert!(error.span().is_some(), "{text}");
        }
    }

    #[test]
    fn keys_with_several_values_make_a_sweep() {
        let text = "[[load]]\nname = 'data'\npattern = 'randread'\niodepth = '1,8'\nbs = '4k..64k*4'\n\
                    [[load]]\npattern = 'read'\n";
        let job = read(text).expect("a job");
        let points: Vec<&str> = job.loads.iter().map(|load| load.point.as_str()).collect();
        let expected = ["iodepth1-bs4KiB", "iodepth1-bs16KiB", "iodepth1-bs64KiB", "iodepth8-bs4KiB"];
        assert_eq!((&points[..4], points.len(), points[6]), (&expected[..], 7, ""));
        assert!(job.loads[..6].iter().all(|load| load.name == "data" && load.table == 0));
        assert_eq!((job.loads[6].name, job.loads[6].table, job.turns().len()), ("read", 1, 7));
        assert_eq!(job.loads[3].spec.iodepth, Some(8));
        let of_point = LoadError::new("bs", "64 KiB", "too large", "use less");
        assert!(job.at_load(5, of_point).to_string().starts_with("x:5:1: bs: 64 KiB: too large"));
    }

    #[test]
    fn wrong_sweeps_have_line_and_column() {
        let load = |keys: &str| format!("[[load]]\npattern = 'randread'\n{keys}\n");
        let long = load("jobs = '1..16'\niodepth = '1..16'");
        for (text, said, hint) in [
            (load("bs = '4k..64k'"), "x:3:1: bs: 4k..64k: a range of sizes needs", "bs = \"4k..1M*2\" or bs = "),
            (load("iodepth = '1,x'"), "x:3:1: iodepth: 1,x: \"x\" is not a whole number", "iodepth = \"1..128*2\""),
            (load("size = '1MiB,2MiB'"), "x:3:8: size: ", ""),
            (load("jobs = '1,1000'"), "x:3:1: jobs: 1000: it must be from 1 to 512", ""),
            (load("jobs = '1..32'\niodepth = '1..32'"), "x:4:1: iodepth: 32 x 32 combinations", "sweep fewer"),
            (load("jobs = '1,2'\ngroup = 'g'"), "x:3:1: jobs: a workload of a group has one value", "run alone"),
            (format!("{long}{long}name = 'b'"), "x:9:1: more than 256 workloads in the sweeps", "split the file"),
        ] {
            let error = read(&text).expect_err(&text);
            let (what, tried) = (error.to_string(), error.hint().unwrap_or_default());
            assert!(what.starts_with(said) && tried.contains(hint), "{text}: {what}\n{tried}");
        }
        // Percentages are one value.
        assert_eq!(read(&load("bs = '4k:60,64k:40'")).expect("a mix").loads.len(), 1);
    }

    #[test]
    fn a_job_collects_the_warnings_of_its_workloads() {
        let deep = "[[load]]\npattern = 'randread'\niodepth = 32\n";
        let text = Source::new("x", format!("{deep}{deep}name = 'b'\n[[load]]\npattern = 'read'\n"));
        let job = |no_ring: Option<&str>| {
            let host = Host { no_ring: no_ring.map(str::to_owned), ..sample() };
            Job::read(&text, &host).expect("a job")
        };
        assert_eq!(job(None).warnings, [""; 0]);
        let without = job(Some("io_uring is forbidden"));
        assert_eq!((without.loads.len(), without.warnings.len()), (3, 2));
        assert!(without.warnings.iter().all(|warning| warning.starts_with("io_uring is forbidden; ")));
    }

    #[test]
    fn target_errors_have_line_and_column() {
        let job = read(SAMPLE).expect("a job");
        let error = job.at_targets("not here", "create it").expect("targets");
        assert_eq!(error.to_string(), "x:1:1: targets: not here");
        let of_load = LoadError::new("bs", "1000 B", "--direct takes multiples of 512 B", "use --bs 512B");
        let error = job.at_load(0, of_load.clone());
        assert!(error.to_string().starts_with("x:9:1: bs: 1000 B: direct takes"), "{error}");
        assert!(error.to_string().ends_with("; direct is set in line 10"), "{error}");
        assert_eq!(job.at_load(2, of_load).span(), None);
    }
}
