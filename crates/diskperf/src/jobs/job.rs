//! A job file of ours: what holds for the whole run, and a table for each load, whose keys are the options of
//! `diskperf io`.
//!
//! Policy:
//!   1. what the file must not decide is no key: whether data may be destroyed, where results go, what is stored. That is
//!      said by whoever runs it;
//!   2. a key that is unknown, a value that is none, keys that contradict each other: each is refused at its place;
//!   3. a load is called by its name, or by its pattern where it has none; no two are called the same.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use clap::Args;
use kernel::name::Shown;
use schemars::JsonSchema;
#[cfg(test)]
use schemars::Schema;
use serde::Deserialize;
#[cfg(test)]
use serde_json::Value;
use stats::Name;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use units::{Bytes, Exit, Nanos};
use workload::Parameter;
use workload::programs::load::Load;

use super::fault::JobFault;
use super::fio;
use super::text::{Spot, Text};
use crate::campaign_error::CampaignError;
use crate::cli::values::MOST_ROUNDS;
use crate::documents::user_files;
use crate::error::Error;
use crate::load_spec::words::Time;
use crate::load_spec::{LoadFault, LoadSpec};
use crate::plan::Row;
use crate::presets::{self, Settings};
use crate::target::{Target, TargetArgument};

/// The largest file that is read. A load has some hundred bytes.
const LARGEST: Bytes = Bytes::mib(1);

/// So long a name may be: a row of a table begins with it.
pub const LONGEST_NAME: usize = 40;

/// Keys of a load that hold for the whole run.
const OF_THE_RUN: [&str; 2] = ["rounds", "seed"];

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// The file as it was read: a run that is gone on with reads it again, whatever has become of the file.
    pub text: Text,
    /// Where it runs; nothing where the command line says that.
    pub targets: Vec<TargetArgument>,
    /// How many rounds.
    pub rounds: Option<u32>,
    /// When no further round begins.
    pub budget: Option<Nanos>,
    /// The seed of every random order.
    pub seed: Option<u64>,
    /// What is run.
    pub loads: Vec<NamedLoad>,
}

/// A load of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLoad {
    /// How it is called.
    pub name: &'static str,
    /// As it is written.
    pub spec: LoadSpec,
    /// What it does, as it can be had here.
    pub load: Load,
}

/// A job file: settings of the run, and the workloads.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Head {
    /// Targets, as in `diskperf run` [default: the current directory]. Targets on the command line override these.
    #[serde(default)]
    targets: Vec<Name>,
    /// Number of rounds [default: 5]. Each round runs every workload once, in random order.
    rounds: Option<u32>,
    /// Start no round that would end later than this, as in "2min" [default: no limit].
    #[schemars(with = "Option<String>")]
    budget: Option<Time>,
    /// Seed of every random order [default: 1].
    seed: Option<u64>,
}

/// The keys above the loads.
const HEAD: [&str; 5] = ["targets", "rounds", "budget", "seed", "load"];

/// The loads, and the name of each.
const LOADS: &str = "load";
const NAME: &str = "name";

/// A table, and the text in which it stands.
struct Sheet<'a> {
    text: &'a Text,
    table: &'a DeTable<'a>,
    /// Where it begins.
    span: Range<usize>,
    /// What it is.
    what: &'static str,
}

/// The text of a job file.
pub fn open(path: &Path) -> Result<Text, Error> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.shown().to_string() };
    let bytes = user_files::bytes(path, LARGEST)?.ok_or(JobFault::TooLarge { name: name.clone(), most: LARGEST })?;
    let text = String::from_utf8(bytes).map_err(|_| JobFault::NoText(name.clone()))?;
    Ok(Text::new(name, text))
}

/// The text of a job file of diskperf. A fio job is refused.
pub fn open_own(path: &Path) -> Result<Text, Error> {
    let text = open(path)?;
    fio::refuse(path, &text.text)?;
    Ok(text)
}

impl Job {
    /// Reads it.
    pub fn read(text: &Text) -> Result<Job, Error> {
        let root = DeTable::parse(&text.text).map_err(|error| {
            let at = text.spot(error.span().unwrap_or_default());
            JobFault::Syntax { at, what: error.message().replace('\n', ", ") }
        })?;
        let head = Sheet { text, table: root.get_ref(), span: 0..0, what: "a job" };
        head.check(|key| if HEAD.contains(&key) { Ok(()) } else { Err(None) }, &HEAD.map(str::to_owned))?;
        let Head { targets, rounds, budget, seed } = head.read(LOADS)?;
        if rounds == Some(0) {
            return Err(head.bad("rounds", "nothing would be measured", "take 1 or more").into());
        }
        if rounds.is_some_and(|rounds| rounds > MOST_ROUNDS) {
            return Err(head
                .bad("rounds", format!("at most {} rounds", units::whole(u64::from(MOST_ROUNDS))), "take fewer")
                .into());
        }
        let missing = || JobFault::Missing {
            at: text.spot(0..0),
            key: "[[load]]".to_owned(),
            hint: "a job has a load at least: [[load]], and below it pattern = \"randread\"",
        };
        let tables = match head.table.get(LOADS).map(Spanned::get_ref) {
            None => return Err(missing().into()),
            Some(DeValue::Array(tables)) if tables.is_empty() => return Err(missing().into()),
            Some(DeValue::Array(tables)) => tables,
            Some(_) => return Err(head.bad(LOADS, "is a list of tables", "write [[load]], with two brackets").into()),
        };
        let mut loads: Vec<NamedLoad> = Vec::new();
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for table in tables {
            let DeValue::Table(inner) = table.get_ref() else {
                return Err(head.bad(LOADS, "is a list of tables", "write [[load]], with two brackets").into());
            };
            let sheet = Sheet { text, table: inner, span: table.span(), what: "a load" };
            let (load, at) = sheet.load()?;
            if let Some(line) = lines.insert(load.name, at.line) {
                return Err(JobFault::SameName { at, name: load.name.to_owned(), line }.into());
            }
            loads.push(load);
        }
        let targets: Option<Vec<String>> = targets.iter().map(Name::text).collect();
        let targets = targets.ok_or_else(|| {
            head.bad("targets", "bytes are not pairs of hexadecimal digits", "write { bytes = \"61ff\" }")
        })?;
        let targets = targets.iter().map(|target| {
            let Ok(target) = target.parse();
            target
        });
        Ok(Job {
            text: text.clone(),
            targets: targets.collect(),
            rounds,
            budget: budget.map(|Time(time)| time),
            seed,
            loads,
        })
    }
}

impl Job {
    /// A row for each load, as `io` would run it, called by the load's name.
    pub fn rows(&self, settings: &Settings, target: &Target) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        for (index, NamedLoad { name, load, .. }) in self.loads.iter().enumerate() {
            let load = Load { size: settings.size.or(load.size), ..*load };
            let rows_of_load = presets::io::rows(&load, settings, target).map_err(|error| self.placed(error, index))?;
            for mut row in rows_of_load {
                row.program.name = name;
                row.program.parameters.push(Parameter::new("pattern", load.pattern.name()));
                row.program.phases.iter_mut().for_each(|phase| phase.name = name);
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// What is wrong with its targets, at their place in the file.
    pub fn at_targets(&self, error: Error) -> Error {
        if self.targets.is_empty() || error.exit() != Exit::Usage {
            return error;
        }
        let Ok(root) = DeTable::parse(&self.text.text) else { return error };
        let head = Sheet { text: &self.text, table: root.get_ref(), span: 0..0, what: "a job" };
        head.bad("targets", error.to_string(), error.hint().unwrap_or_default()).into()
    }

    /// What one of its loads cannot be on a target, at its place in the file.
    fn placed(&self, error: CampaignError, index: usize) -> Error {
        let CampaignError::Load(fault) = &error else { return error.into() };
        let Ok(root) = DeTable::parse(&self.text.text) else { return error.into() };
        let tables = root.get_ref().get(LOADS).and_then(|tables| tables.get_ref().as_array());
        let Some((DeValue::Table(table), span)) = tables.and_then(|tables| {
            let table = tables.get(index)?;
            Some((table.get_ref(), table.span()))
        }) else {
            return error.into();
        };
        Sheet { text: &self.text, table, span, what: "a load" }.contradiction(fault).into()
    }
}

impl Sheet<'_> {
    /// Where a key stands, or the table where it is not in it.
    fn spot(&self, key: &str) -> Spot {
        let known = self.table.iter().find(|(known, _)| known.get_ref() == key);
        let span = known.map_or(self.span.clone(), |(known, value)| known.span().start..value.span().end);
        self.text.spot(span)
    }

    fn bad(&self, key: &str, why: impl Into<String>, hint: impl Into<String>) -> JobFault {
        JobFault::BadValue { at: self.spot(key), key: key.to_owned(), why: why.into(), hint: hint.into() }
    }

    /// Refuses the first key of the file's order that is none; some say why.
    fn check(
        &self,
        allows: impl Fn(&str) -> Result<(), Option<&'static str>>,
        known: &[String],
    ) -> Result<(), JobFault> {
        let refused = self.table.keys().filter_map(|key| Some((key, allows(key.get_ref()).err()?)));
        let Some((key, why)) = refused.min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let (at, known) = (self.text.spot(key.span()), known.to_vec());
        Err(JobFault::UnknownKey { at, table: self.what, key: key.get_ref().to_string(), known, why })
    }

    /// What its keys say, but for one of them.
    fn read<'de, T: Deserialize<'de>>(&'de self, without: &str) -> Result<T, JobFault> {
        let mut table = self.table.clone();
        table.remove(without);
        let value = Spanned::new(self.span.clone(), DeValue::Table(table));
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let what = error.message().replace('\n', ", ");
            if let Some(key) = what.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
                let (at, key) = (self.text.spot(self.span.clone()), key.to_owned());
                return JobFault::Missing { at, key, hint: "add a pattern, as in pattern = \"randread\"" };
            }
            let place = error.span().unwrap_or(self.span.clone());
            let holds = |span: Range<usize>| span.start <= place.start && place.end <= span.end;
            let key = self.table.iter().find(|(key, value)| holds(key.span().start..value.span().end));
            let key = key.map_or(LOADS, |(key, _)| key.get_ref());
            let hint = if what.ends_with("expected a string") {
                "write it in quotes, a size or a time with its unit, as in \"4KiB\" or \"10s\"".to_owned()
            } else {
                format!("`diskperf help io` explains {key}")
            };
            JobFault::BadValue { at: self.text.spot(place), key: key.to_owned(), why: what, hint }
        })
    }

    /// The load that it says, and where its name stands.
    fn load(&self) -> Result<(NamedLoad, Spot), Error> {
        let mut known = keys();
        known.push(NAME.to_owned());
        let allows = |key: &str| match OF_THE_RUN.contains(&key) {
            true => Err(Some("it holds for the whole run: write it above the first [[load]]")),
            false if known.iter().any(|known| known == key) => Ok(()),
            false => Err(None),
        };
        self.check(allows, &known)?;
        let spec: LoadSpec = self.read(NAME)?;
        let load = spec.load().map_err(|error| match error {
            Error::Load(fault) => self.contradiction(&fault).into(),
            other => other,
        })?;
        let name = match self.table.get(NAME).map(Spanned::get_ref) {
            None => load.pattern.name(),
            Some(DeValue::String(name)) if is_name(name) => {
                // Programs are called by names that last; a job is read once, and has few.
                &*name.to_string().leak()
            }
            Some(_) => {
                let why = format!("a name has letters, digits, - and _, and at most {LONGEST_NAME} of them");
                return Err(self.bad(NAME, why, "as in name = \"oltp-read\"").into());
            }
        };
        let at = self.spot(if self.table.contains_key(NAME) { NAME } else { "pattern" });
        Ok((NamedLoad { name, spec, load }, at))
    }

    /// What a load cannot be, at the key of which that is said; other keys that it is said of are named with their lines.
    fn contradiction(&self, fault: &LoadFault) -> JobFault {
        let others = fault.why.split("--").skip(1).filter_map(|word| {
            let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(word.len());
            let (key, _) = self.table.get_key_value(word[..end].replace('-', "_").as_str())?;
            Some((key.get_ref().to_string(), self.text.spot(key.span()).line))
        });
        let others: Vec<(String, usize)> = others.filter(|(other, _)| other != fault.key).collect();
        let plain = |text: &str| text.replace("--", "");
        let mut why = plain(&fault.why);
        if !fault.given.is_empty() {
            why = format!("{}: {why}", fault.given);
        }
        for (other, line) in others {
            why += &format!("; {other} is set in line {line}");
        }
        JobFault::BadValue { at: self.spot(fault.key), key: fault.key.to_owned(), why, hint: plain(&fault.hint) }
    }
}

/// Whether a load can be called so.
pub fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_letter) && !name.starts_with('-')
}

/// The keys of a load: the options of `diskperf io`, without those of the whole run.
fn keys() -> Vec<String> {
    let options = LoadSpec::augment_args(clap::Command::default());
    let keys = options.get_arguments().map(|argument| argument.get_id().to_string());
    keys.filter(|key| !OF_THE_RUN.contains(&key.as_str())).collect()
}

/// The schema of a job file as JSON with the same contents. The program prints the file that was generated from it.
#[cfg(test)]
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Head);
    let mut load = schemars::schema_for!(LoadSpec);
    let properties = |schema: &mut Schema| match schema.ensure_object().get_mut("properties") {
        Some(Value::Object(properties)) => std::mem::take(properties),
        _ => serde_json::Map::new(),
    };
    let mut keys = properties(&mut load);
    OF_THE_RUN.iter().for_each(|key| drop(keys.remove(*key)));
    let name = serde_json::json!({
        "type": "string",
        "pattern": format!("^[A-Za-z0-9_][A-Za-z0-9_-]{{0,{}}}$", LONGEST_NAME - 1),
        "description": "Name of the test in the tables [default: its pattern]."
    });
    keys.insert(NAME.to_owned(), name);
    let definitions = load.ensure_object().remove("$defs");
    load.ensure_object().remove("$schema");
    load.insert("properties".to_owned(), Value::Object(keys));
    let mut head = properties(&mut schema);
    let loads = serde_json::json!({ "type": "array", "minItems": 1, "items": load });
    head.insert(LOADS.to_owned(), loads);
    schema.insert("properties".to_owned(), Value::Object(head));
    schema.insert("required".to_owned(), serde_json::json!([LOADS]));
    schema.insert("title".to_owned(), "Job".into());
    schema.insert(
        "description".to_owned(),
        "A job file of diskperf (TOML): workloads that run one after another.".into(),
    );
    if let Some(Value::Object(definitions)) = definitions {
        match schema.ensure_object().get_mut("$defs") {
            Some(Value::Object(of_head)) => of_head.extend(definitions),
            _ => drop(schema.insert("$defs".to_owned(), Value::Object(definitions))),
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli;

    fn read(text: &str) -> Result<Job, Error> {
        Job::read(&Text::new("x", text))
    }

    const SAMPLE: &str = "targets = ['sim:flat']\nrounds = 3\nbudget = '2min'\nseed = 7\n\n\
                          [[load]]\npattern = 'randread'\nbs = '8KiB'\ndirect = true\nsize = '1GiB'\ntime = '10s'\n\n\
                          [[load]]\nname = 'oltp'\npattern = 'randrw'\nreads = 70\nrate = 100\narrivals = 'poisson'\n\
                          engine = 'posix'\nwarm = true\n";

    #[test]
    fn a_job_is_what_its_file_says() {
        let job = read(SAMPLE).expect("a job");
        assert_eq!((job.rounds, job.budget, job.seed), (Some(3), Some(Nanos::from_secs(120)), Some(7)));
        assert_eq!(job.targets.iter().map(|target| target.typed.as_str()).collect::<Vec<_>>(), ["sim:flat"]);
        assert_eq!(job.loads.iter().map(|load| load.name).collect::<Vec<_>>(), ["randread", "oltp"]);
        assert_eq!((job.loads[0].load.sizes.only(), job.loads[0].load.warm), (Some(8192), false));
        assert!(job.loads[1].load.warm && job.loads[1].load.rate.is_some());
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        let load = |keys: &str| format!("[[load]]\npattern = 'randread'\n{keys}\n");
        for (text, said, hint) in [
            ("rounds = ", "x:1:10: ", "the file is TOML"),
            ("round = 3\n[[load]]", "x:1:1: a job has no key round", "perhaps rounds"),
            ("rounds = 0\n[[load]]", "x:1:1: rounds: nothing would be measured", "take 1 or more"),
            ("budget = '5'\n[[load]]", "x:1:10: budget: unknown or missing unit", "diskperf help io"),
            ("load = 3", "x:1:1: load: is a list of tables", "two brackets"),
            ("[load]\npattern = 'read'", "x:1:2: load: is a list of tables", "two brackets"),
            ("seed = 1", "x:1:1: [[load]] is missing", "a load at least"),
            ("[[load]]\nbs = '4KiB'", "x:1:1: pattern is missing", "pattern = \"randread\""),
            ("[[load]]\npattern = 'sideways'", "x:2:11: pattern: unknown variant `sideways`", "diskperf help io"),
            (&load("iodpeth = 4"), "x:3:1: a load has no key iodpeth", "perhaps iodepth"),
            (&load("destroy_data = true"), "x:3:1: a load has no key destroy_data", "there are: pattern, "),
            (&load("rounds = 4"), "x:3:1: a load has no key rounds", "above the first [[load]]"),
            (&load("bs = '4kb'"), "x:3:6: bs: ambiguous unit kb", ""),
            (&load("bs = 4096"), "x:3:6: bs: invalid type: integer `4096`, expected a string", "in quotes"),
            (&load("iodepth = '4'"), "x:3:11: iodepth: invalid type: string \"4\"", "diskperf help io"),
            (&load("iodepth = -4"), "x:3:11: iodepth: invalid value: integer `-4`", ""),
            (&load("name = 'a b'"), "x:3:1: name: a name has letters", "as in name"),
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
                "x:5:1: the load in line 2 already has the name randread",
                "give one of them another",
            ),
        ] {
            let error = read(text).expect_err(text);
            let (what, tried) = (error.to_string(), error.hint().unwrap_or_default());
            assert!(what.starts_with(said) && tried.contains(hint), "{text}: {what}\n{tried}");
            assert!(matches!(&error, Error::Job(fault) if fault.spot().is_some()), "{text}");
        }
    }

    /// What `diskperf io` takes and a file does not decide: what is said by who runs it.
    const SAID_BY_WHO_RUNS: [&str; 10] =
        ["confirm", "destroy_data", "dry_run", "format", "help", "json", "no_store", "output", "print_job", "store"];

    #[test]
    fn every_option_of_io_is_a_key_and_every_key_an_option() {
        let mut command = cli::command();
        command.build();
        let io = command.find_subcommand("io").expect("it is one");
        let name = |option: &clap::Arg| {
            option.get_long().map_or_else(|| option.get_id().to_string(), |long| long.replace('-', "_"))
        };
        let mut options: BTreeSet<String> = io.get_arguments().map(name).collect();
        for of_the_call in SAID_BY_WHO_RUNS.into_iter().chain(["yes"]) {
            assert!(options.remove(of_the_call), "{of_the_call} is no option of io any more");
        }
        let schema = schema().to_value();
        let names = |value: &Value| value["properties"].as_object().expect("keys").keys().cloned().collect::<Vec<_>>();
        let mut keys: BTreeSet<String> = names(&schema).into_iter().collect();
        assert_eq!(keys, HEAD.map(str::to_owned).into());
        let of_loads = names(&schema["properties"][LOADS]["items"]);
        let mut read: BTreeSet<String> = super::keys().into_iter().collect();
        read.insert(NAME.to_owned());
        assert_eq!(of_loads.iter().cloned().collect::<BTreeSet<_>>(), read);
        keys.extend(of_loads);
        // These two are no options: what names a load, and what holds them.
        assert!(keys.remove(NAME) && keys.remove(LOADS));
        assert_eq!(keys, options);
    }

    #[test]
    fn the_schema_takes_what_is_read() {
        let schema = schema().to_value();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let json = |text: &str| toml::from_str::<Value>(text).expect("TOML");
        let problems: Vec<String> = validator.iter_errors(&json(SAMPLE)).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{problems:?}");
        for bad in [
            "rounds = 3",
            "round = 3\n[[load]]\npattern = 'read'",
            "[[load]]\nname = 'x'",
            "[[load]]\npattern = 'sideways'",
            "[[load]]\npattern = 'read'\nrounds = 1",
            "[[load]]\npattern = 'read'\nname = 'a b'",
            "[[load]]\npattern = 'read'\nbs = 4096",
        ] {
            assert!(read(bad).is_err() && !validator.is_valid(&json(bad)), "{bad}");
        }
    }
}
