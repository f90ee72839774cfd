//! A machine: a computer composed of parts, from its file and from settings on the command line.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kernel::sys::name::{Shown, original};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::builtin;
use crate::fault::{MachineFault, Place};
use crate::machine_file::MachineFile;
use crate::part::{Field, Part, Source, Value};
use crate::part_kind::Kind;
use crate::quantity::Decimal;

/// A computer to simulate. Not checked yet.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// A description in one line.
    pub about: String,
    /// The beginning of its file.
    pub place: Place,
    /// Its parts: one of each kind, except that there may be several file systems.
    pub parts: Vec<Part>,
}

/// The keys of a machine's file, besides those of its parts.
const KEYS: [&str; 4] = ["about", "like", "file_systems", "settings"];

/// The most file systems of a machine, so that a mistaken list does not run for minutes. Ours have one or two.
const MOST_FILE_SYSTEMS: usize = 16;

/// Maximum length of a chain of `like`, to detect circles. No chain that ends is half as long.
const DEEPEST: u32 = 16;

impl Machine {
    /// Loads a machine by name or from a file. A word with a slash or ending in `.toml` is a path.
    pub fn load(name: &str) -> Result<Machine, MachineFault> {
        load(name, Path::new(""), 0)
    }

    /// All compiled-in machines.
    pub fn all() -> impl Iterator<Item = Machine> {
        let load = |file: &builtin::File| Machine::load(file.name).expect("machines/ is tested");
        builtin::MACHINES.iter().map(load)
    }

    /// Returns the part of that kind.
    pub fn part(&self, kind: Kind) -> Option<&Part> {
        self.parts.iter().find(|part| part.kind == kind)
    }

    /// Returns all parts of that kind.
    pub fn parts(&self, kind: Kind) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.kind == kind)
    }

    /// Replaces all parts of a kind.
    fn swap(&mut self, kind: Kind, new: Vec<Part>) {
        let at = self.parts.iter().position(|part| part.kind == kind).unwrap_or(self.parts.len());
        self.parts.retain(|part| part.kind != kind);
        self.parts.splice(at..at, new);
    }

    /// Applies a setting as typed. `drive.rpm=3600` sets a field, in the field's own unit or in the unit that is given.
    /// `drive=ra81` replaces a part and discards its earlier settings.
    pub fn set(&mut self, typed: &str) -> Result<(), MachineFault> {
        let bad = |why| MachineFault::BadSetting { typed: typed.to_owned(), why };
        let place = Place::Typed(typed.to_owned());
        let (key, value) = typed.split_once('=').ok_or_else(|| bad("is not FIELD=VALUE"))?;
        let (key, value) = (key.trim(), value.trim());
        if value.is_empty() {
            return Err(bad("has no value"));
        }
        if key == "file_systems" || key == Kind::FileSystem.key() {
            // A file system that the machine already has keeps the machine's settings for it.
            let named = |name| match self.parts(Kind::FileSystem).find(|part| part.is_called(name)) {
                Some(part) => Ok(part.clone()),
                None => part_named(Kind::FileSystem, name, place.clone(), Path::new(""), 0),
            };
            check_count(value.split('+').count(), &place)?;
            let parts = value.split('+').map(named).collect::<Result<Vec<Part>, MachineFault>>()?;
            check_names(&parts, &place)?;
            self.swap(Kind::FileSystem, parts);
            return Ok(());
        }
        if let Some(kind) = Kind::from_key(key) {
            let part = part_named(kind, value, place, Path::new(""), 0)?;
            self.swap(kind, vec![part]);
            return Ok(());
        }
        let unknown = |place, known| MachineFault::UnknownField { place, field: key.to_owned(), known };
        let dotted = key.split_once('.').and_then(|(kind, rest)| Some((Kind::from_key(kind)?, rest)));
        let Some((kind, rest)) = dotted else { return Err(unknown(place, self.names())) };
        let number = value.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(value.len());
        let (digits, unit) = value.split_at(number);
        let decimal = Decimal::read(digits);
        let unit = Some(unit.trim()).filter(|unit| !unit.is_empty() && decimal.is_some()).map(str::to_owned);
        let value = decimal.map_or_else(|| Value::Word(value.to_owned()), Value::Number);
        // `file_system.4k-1k.block` is a field of one file system, `file_system.block` of all.
        let (one, field) = match rest.rsplit_once('.') {
            Some((one, field)) if kind == Kind::FileSystem => (Some(one), field),
            _ => (None, rest),
        };
        let is_meant = |part: &&mut Part| part.kind == kind && one.is_none_or(|one| part.is_called(one));
        let mut found = false;
        for part in self.parts.iter_mut().filter(is_meant) {
            found = true;
            let is_number = matches!(value, Value::Number(_));
            let unit = unit.clone().or_else(|| part.field(field)?.unit.clone()).filter(|_| is_number);
            let (key, value, from) = (field.to_owned(), value.clone(), typed.to_owned());
            part.set(Field { key, value, unit, source: Source::Typed, from, place: place.clone() });
        }
        if found { Ok(()) } else { Err(unknown(place, self.names())) }
    }

    /// True if a setting that was applied still holds: no later one set its field again or replaced its part. A setting
    /// that chooses a part always holds.
    pub fn has(&self, key: &str, value: &str) -> bool {
        let is_it =
            |typed: &str| typed.split_once('=').is_some_and(|(one, other)| (one.trim(), other.trim()) == (key, value));
        let mut fields = self.parts.iter().flat_map(|part| &part.fields);
        !key.contains('.') || fields.any(|field| field.is_typed() && is_it(&field.from))
    }

    /// Returns the machine with only the file system of this index: what a program needs.
    pub fn with_file_system(&self, index: usize) -> Machine {
        let chosen = self.parts(Kind::FileSystem).nth(index);
        let is_chosen = |part: &Part| chosen.is_some_and(|one| std::ptr::eq(one, part));
        let is_kept = |part: &&Part| part.kind != Kind::FileSystem || is_chosen(part);
        let parts = self.parts.iter().filter(is_kept).cloned().collect();
        Machine { name: self.name.clone(), about: self.about.clone(), place: self.place.clone(), parts }
    }

    /// Returns a number of the machine and its unit, by its dotted name, such as `drive.rpm`.
    pub fn value(&self, name: &str) -> Option<(f64, String)> {
        let (kind, key) = name.split_once('.')?;
        self.part(Kind::from_key(kind)?)?.field(key)?.number()
    }

    /// The fitted numbers: dotted name, value, unit.
    pub fn fitted(&self) -> impl Iterator<Item = (String, f64, String)> {
        self.parts.iter().flat_map(|part| {
            let fitted = part.fields.iter().filter(|field| field.source == Source::Fitted);
            fitted.filter_map(|field| {
                let (value, unit) = field.number()?;
                Some((format!("{}.{}", part.kind, field.key), value, unit))
            })
        })
    }

    /// The dotted names of all fields, sorted.
    pub fn names(&self) -> Vec<String> {
        let names = |part: &Part| -> Vec<String> {
            part.fields.iter().map(|field| format!("{}.{}", part.kind, field.key)).collect()
        };
        let mut names: Vec<String> = self.parts.iter().flat_map(names).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Part {
    /// True if `name` is its id or its display name: `8k-1k` or `8K/1K`.
    pub fn is_called(&self, name: &str) -> bool {
        self.id.eq_ignore_ascii_case(name) || self.name.eq_ignore_ascii_case(name)
    }
}

/// True if a name is the path of a file, and not that of a built-in part or machine.
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// Returns the name of a part or machine: the name as given, or the file's name without its extension.
fn display_name(name: &str) -> String {
    let path = PathBuf::from(original(name));
    let stem = path.file_stem().filter(|_| is_path(name));
    stem.map_or_else(|| name.to_owned(), |stem| stem.shown().into_owned())
}

/// The compiled-in machines that were read: `diskperf paper assumptions` varies them thousands of times.
static READ: [OnceLock<Machine>; builtin::MACHINES.len()] = [const { OnceLock::new() }; builtin::MACHINES.len()];

fn load(name: &str, folder: &Path, depth: u32) -> Result<Machine, MachineFault> {
    if is_path(name) {
        return read(&display_name(name), &MachineFile::open(&folder.join(original(name)))?, depth);
    }
    let Some((file, known)) = builtin::MACHINES.iter().zip(&READ).find(|(file, _)| file.name == name) else {
        let known = builtin::names(builtin::MACHINES);
        return Err(MachineFault::UnknownMachine { name: name.to_owned(), known });
    };
    if let Some(machine) = known.get() {
        return Ok(machine.clone());
    }
    let machine = read(name, &MachineFile::builtin(file), depth)?;
    Ok(known.get_or_init(|| machine).clone())
}

/// Loads a part that is compiled in, or from a file.
fn part_named(kind: Kind, name: &str, place: Place, folder: &Path, depth: u32) -> Result<Part, MachineFault> {
    if depth > DEEPEST {
        return Err(MachineFault::Circle { place });
    }
    let file = if is_path(name) {
        MachineFile::open(&folder.join(original(name)))?
    } else {
        let known = builtin::parts(kind);
        let file = known.iter().find(|file| file.name == name).ok_or_else(|| MachineFault::UnknownPart {
            place,
            kind,
            name: name.to_owned(),
            known: builtin::names(known),
        })?;
        MachineFile::builtin(file)
    };
    let table = file.table()?;
    part(kind, &display_name(name), &file, file.place(0..0), table.get_ref(), depth)
}

fn part(
    kind: Kind,
    id: &str,
    file: &MachineFile,
    place: Place,
    table: &DeTable,
    depth: u32,
) -> Result<Part, MachineFault> {
    Part::read(kind, id, file, place, table, &mut |like, place| part_named(kind, like, place, &file.folder, depth + 1))
}

/// Reads a machine's file, in this order:
///   1. the machine named by `like`;
///   2. its parts: each replaces the inherited part of its kind with all its settings;
///   3. its settings.
fn read(name: &str, file: &MachineFile, depth: u32) -> Result<Machine, MachineFault> {
    let whole = file.table()?;
    let table = whole.get_ref();
    let place = file.place(0..0);
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(value) => match value.get_ref().as_str() {
            Some(text) => Ok(Some(text)),
            None => {
                let (place, field) = (file.place(value.span()), key.to_owned());
                Err(MachineFault::NotText { place, field })
            }
        },
    };
    // 1
    let mut machine = match text("like")? {
        Some(_) if depth > DEEPEST => return Err(MachineFault::Circle { place }),
        Some(like) => load(like, &file.folder, depth + 1)?,
        None => Machine { name: String::new(), about: String::new(), place: place.clone(), parts: Vec::new() },
    };
    name.clone_into(&mut machine.name);
    machine.place = place;
    if let Some(about) = text("about")? {
        about.clone_into(&mut machine.about);
    }
    // 2
    for (key, value) in table {
        let is_known = KEYS.contains(&key.get_ref().as_ref());
        match Kind::from_key(key.get_ref()).filter(|kind| *kind != Kind::FileSystem) {
            Some(kind) => {
                let part = one_part(kind, file, value, depth)?;
                machine.swap(kind, vec![part]);
            }
            None if is_known => {}
            None => {
                let known = KEYS.iter().copied().chain(Kind::ALL.map(Kind::key)).filter(|key| *key != "file_system");
                let known = known.map(str::to_owned).collect();
                let (place, field) = (file.place(key.span()), key.get_ref().to_string());
                return Err(MachineFault::UnknownField { place, field, known });
            }
        }
    }
    if let Some(value) = table.get("file_systems") {
        let Some(list) = value.get_ref().as_array() else {
            return Err(MachineFault::NotAList { place: file.place(value.span()) });
        };
        let place = file.place(value.span());
        check_count(list.len(), &place)?;
        let parts = list.iter().map(|one| one_part(Kind::FileSystem, file, one, depth));
        let parts = parts.collect::<Result<Vec<Part>, MachineFault>>()?;
        check_names(&parts, &place)?;
        machine.swap(Kind::FileSystem, parts);
    }
    // 3
    if let Some(settings) = table.get("settings") {
        settings_of(&mut machine, file, settings)?;
    }
    Ok(machine)
}

/// Returns an error if a list has more file systems than a machine may have.
fn check_count(count: usize, place: &Place) -> Result<(), MachineFault> {
    if count <= MOST_FILE_SYSTEMS {
        return Ok(());
    }
    let what = format!("{count} file systems; a machine has at most {MOST_FILE_SYSTEMS}");
    let hint = "simulate the others with another file, or one at a time: --set file_system=NAME";
    Err(MachineFault::Impossible { place: place.clone(), field: "file_systems".to_owned(), what, hint })
}

/// Returns an error if two file systems have one name: their results would be the same row.
fn check_names(parts: &[Part], place: &Place) -> Result<(), MachineFault> {
    let is_again = |(index, part): &(usize, &Part)| parts[..*index].iter().any(|other| other.name == part.name);
    let Some((_, part)) = parts.iter().enumerate().find(is_again) else { return Ok(()) };
    let what = format!("two have the name {}", part.name);
    let hint = "give each file system its own name: { name = \"mine\", like = \"8k-1k\" }";
    Err(MachineFault::Impossible { place: place.clone(), field: "file_systems".to_owned(), what, hint })
}

/// Reads a part that is given by name, or as a table in the file itself.
fn one_part(kind: Kind, file: &MachineFile, value: &Spanned<DeValue>, depth: u32) -> Result<Part, MachineFault> {
    let place = file.place(value.span());
    match value.get_ref() {
        DeValue::String(name) => part_named(kind, name, place, &file.folder, depth),
        DeValue::Table(table) => {
            let name = table.get("name").and_then(|name| name.get_ref().as_str()).unwrap_or("own").to_owned();
            part(kind, &name, file, place, table, depth)
        }
        _ => Err(MachineFault::NotAPart { place, kind }),
    }
}

fn settings_of(machine: &mut Machine, file: &MachineFile, settings: &Spanned<DeValue>) -> Result<(), MachineFault> {
    let form = |value: &Spanned<DeValue>, field: &str| MachineFault::NotATable {
        place: file.place(value.span()),
        field: field.to_owned(),
    };
    let settings = settings.get_ref().as_table().ok_or_else(|| form(settings, "settings"))?;
    for (key, fields) in settings {
        let Some(kind) = Kind::from_key(key.get_ref()) else {
            let (place, field) = (file.place(key.span()), key.get_ref().to_string());
            return Err(MachineFault::UnknownField {
                place,
                field,
                known: Kind::ALL.map(|kind| kind.key().to_owned()).to_vec(),
            });
        };
        let table = fields.get_ref().as_table().ok_or_else(|| form(fields, &format!("settings.{kind}")))?;
        for (key, value) in table {
            let (name, place) = (key.get_ref().as_ref(), file.place(key.span()));
            let one = machine.parts(kind).find(|part| kind == Kind::FileSystem && part.is_called(name));
            let one = one.map(|part| part.id.clone());
            let inner = value.get_ref().as_table().filter(|_| one.is_some());
            let fields: Vec<Field> = match inner {
                Some(inner) => inner
                    .iter()
                    .map(|(key, value)| Field::read(kind, file, key.get_ref(), file.place(key.span()), value))
                    .collect::<Result<_, _>>()?,
                None => vec![Field::read(kind, file, name, place, value)?],
            };
            let is_meant = |part: &&mut Part| part.kind == kind && one.as_ref().is_none_or(|one| part.id == *one);
            for part in machine.parts.iter_mut().filter(is_meant) {
                fields.iter().for_each(|field| part.set(field.clone()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;

    /// A list that is too long or has a name twice is refused, with its line.
    #[test]
    fn file_systems_are_few_and_have_different_names() {
        let fault = |list: &str| {
            let text = format!("about = \"mine\"\nlike = \"vax780-sc780\"\nfile_systems = [{list}]\n");
            read("mine", &MachineFile::fuzzed(text), 0).map(drop).map_err(|fault| fault.to_string())
        };
        let named = |count: usize| {
            let one = |index| format!("{{ name = \"fs{index}\", like = \"8k-1k\" }}");
            (0..count).map(one).collect::<Vec<String>>().join(", ")
        };
        assert_eq!(fault(&named(MOST_FILE_SYSTEMS)), Ok(()));
        let said = fault(&named(400)).expect_err("too many");
        assert_eq!(said, "fuzzed.toml:3: file_systems: 400 file systems; a machine has at most 16");
        let said = fault("\"8k-1k\", \"4k-1k\", \"8k-1k\"").expect_err("a name twice");
        assert_eq!(said, "fuzzed.toml:3: file_systems: two have the name 8K/1K");
        let mut machine = Machine::load("vax780-sc780").expect("a machine");
        let said = machine.set("file_systems=8k-1k+8k-1k").map_err(|fault| fault.to_string());
        assert_eq!(said, Err("file_systems=8k-1k+8k-1k: file_systems: two have the name 8K/1K".to_owned()));
    }

    /// The file of a machine or of a part: faults name their place. A valid file can be described, or a fault explains
    /// why not.
    #[test]
    fn fuzz_files() {
        let parts = Kind::ALL.into_iter().filter_map(|kind| builtin::parts(kind).first());
        let mut examples: Vec<&str> = builtin::MACHINES.iter().take(2).chain(parts).map(|file| file.text).collect();
        examples.push(
            "about = \"mine\"\nlike = \"vax780-uda50\"\n[settings.drive]\nrpm = { value = 3600, unit = \
            \"turns/min\", source = \"inferred\", from = \"a guess\" }\n",
        );
        let read = |input: &[u8]| {
            let text = String::from_utf8_lossy(input).into_owned();
            let file = MachineFile::fuzzed(text);
            let machine = read("fuzzed", &file, 0).and_then(|machine| machine.describe(2, 8 << 20).map(drop));
            let part = file.table().and_then(|table| {
                let place = file.place(0..0);
                part(Kind::Drive, "fuzzed", &file, place, table.get_ref(), 0).map(drop)
            });
            let said = [machine, part].map(|outcome| match outcome {
                Ok(()) => "right".to_owned(),
                Err(MachineFault::Unreadable { .. }) => "a path".to_owned(),
                Err(fault) => {
                    let said = fault.to_string();
                    let places = ["fuzzed.toml:", "machines/"];
                    assert!(
                        places.iter().any(|place| said.starts_with(place)) || said.starts_with("there is no"),
                        "{said}"
                    );
                    assert!(said.len() < 1000 + input.len());
                    format!("{said} {:?}", fault.hint())
                }
            });
            said.join("; ")
        };
        let words = &[
            "like = ",
            "about = ",
            "value = ",
            "unit = ",
            "source = ",
            "from = ",
            "\"inferred\"",
            "\"ms\"",
            "[settings.drive]",
            "{",
            "}",
            "\"",
            "\n",
            "0",
            "1e5",
            "0x10",
            "18446744073709551615",
            "file_systems = ",
            "[",
            "]",
            "drive = ",
            "name = ",
        ];
        fuzz(&Subject::new("files of machines", examples, read).fast().with_words(words));
    }
}
