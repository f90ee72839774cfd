//! A part of a computer as written in a file: fields with units and sources. This module does not know their meaning.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fault::{MachineFault, Place};
use crate::machine_file::MachineFile;
use crate::part_kind::Kind;
use crate::quantity::Decimal;

/// The kind of source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A publication.
    Published,
    /// Derived from other facts, or a guess.
    Inferred,
    /// Fitted, so that the simulation comes close to measurements.
    Fitted,
    /// Measured on a device.
    Measured,
    /// Set on the command line.
    Typed,
}

impl Source {
    /// The kinds of sources that the file of a device can name.
    const WRITTEN: [(&str, Source); 4] = [
        ("published", Source::Published),
        ("inferred", Source::Inferred),
        ("fitted", Source::Fitted),
        ("measured", Source::Measured),
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        Source::WRITTEN.into_iter().find(|(_, source)| *source == self).map_or("typed", |(name, _)| name)
    }

    /// Returns the source with that name, as a file names it.
    pub(crate) fn named(name: &str) -> Option<Source> {
        Source::WRITTEN.into_iter().find(|(known, _)| *known == name).map(|(_, source)| source)
    }
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, in the field's unit.
    Number(Decimal),
    /// One of a few words.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Word(word) => f.write_str(word),
        }
    }
}

/// A field: its value and its source.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name within the part, such as `rpm`.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// The unit; `None` for a word.
    pub unit: Option<String>,
    /// The kind of its source.
    pub source: Source,
    /// The source itself: the publication, reason or fit, or the option as typed.
    pub from: String,
    /// The place where it is written.
    pub place: Place,
}

impl Field {
    /// True if it was set on the command line.
    pub fn is_typed(&self) -> bool {
        self.source == Source::Typed
    }

    /// Its number and unit; `None` if it is not a number with a unit.
    pub fn number(&self) -> Option<(f64, String)> {
        match (&self.value, &self.unit) {
            (Value::Number(number), Some(unit)) => Some((number.to_string().parse().ok()?, unit.clone())),
            _ => None,
        }
    }
}

/// A part of a computer.
#[derive(Clone, Debug)]
pub struct Part {
    /// The kind of part.
    pub kind: Kind,
    /// Its name in files and on the command line.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// The sort of a controller, such as `massbus`, or of a file system; `None` for other parts.
    pub sort: Option<String>,
    /// The beginning of its description.
    pub place: Place,
    /// Its fields, in the order of its file.
    pub fields: Vec<Field>,
}

impl Part {
    /// Returns the field with that name.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// Sets a field, or adds it.
    pub fn set(&mut self, field: Field) {
        match self.fields.iter_mut().find(|known| known.key == field.key) {
            Some(known) => *known = field,
            None => self.fields.push(field),
        }
    }

    /// Reads a part from a table, based on the part named by `like`, if there is one. `named` loads that part.
    pub fn read(
        kind: Kind,
        id: &str,
        file: &MachineFile,
        place: Place,
        table: &DeTable,
        named: &mut dyn FnMut(&str, Place) -> Result<Part, MachineFault>,
    ) -> Result<Part, MachineFault> {
        let dotted = |key: &str| format!("{kind}.{key}");
        let plain = |key: &str| -> Result<Option<(String, Place)>, MachineFault> {
            let Some(value) = table.get(key) else { return Ok(None) };
            let place = file.place(value.span());
            match value.get_ref().as_str() {
                Some(text) => Ok(Some((text.to_owned(), place))),
                None => Err(MachineFault::NotText { place, field: dotted(key) }),
            }
        };
        let base = plain("like")?.map(|(like, place)| named(&like, place)).transpose()?;
        let (mut fields, mut name, mut sort) = match base {
            Some(base) => (base.fields, Some(base.name), base.sort),
            None => (Vec::new(), None, None),
        };
        name = plain("name")?.map(|(name, _)| name).or(name);
        let mut is_plain = vec!["like", "name"];
        if matches!(kind, Kind::Controller | Kind::FileSystem) {
            sort = plain("kind")?.map(|(sort, _)| sort).or(sort);
            is_plain.push("kind");
        }
        let name = name.ok_or_else(|| MachineFault::Missing { place: place.clone(), field: dotted("name") })?;
        let mut part = Part { kind, id: id.to_owned(), name, sort, place, fields: std::mem::take(&mut fields) };
        // The table is sorted by name, but output shows the fields in the order of the file.
        let mut written: Vec<_> = table.iter().filter(|(key, _)| !is_plain.contains(&key.get_ref().as_ref())).collect();
        written.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in written {
            part.set(Field::read(kind, file, key.get_ref(), file.place(key.span()), value)?);
        }
        Ok(part)
    }
}

impl Field {
    /// Reads `{ value = 1, unit = "ms", source = "inferred", from = "why" }`. The source is mandatory.
    pub fn read(
        kind: Kind,
        file: &MachineFile,
        key: &str,
        place: Place,
        value: &Spanned<DeValue>,
    ) -> Result<Field, MachineFault> {
        let field = format!("{kind}.{key}");
        let bad = |what| MachineFault::BadForm { place: place.clone(), field: field.clone(), what };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(bad("a value without its unit and its source"));
        };
        for (inner, _) in table {
            if !["value", "unit", "source", "from"].contains(&inner.get_ref().as_ref()) {
                let known = ["value", "unit", "source", "from"].map(str::to_owned).to_vec();
                let (place, field) = (file.place(inner.span()), inner.get_ref().to_string());
                return Err(MachineFault::UnknownField { place, field, known });
            }
        }
        let text = |key: &str| match table.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) if !text.trim().is_empty() => Ok(Some(text.to_string())),
            Some(_) => Err(bad("unit, source and from are text in quotes")),
        };
        let given = table.get("value").ok_or_else(|| bad("has no value"))?;
        let value = match given.get_ref().as_str() {
            Some(word) => Value::Word(word.to_owned()),
            None => Value::Number(number(given.get_ref(), &field, &place)?),
        };
        let word =
            text("source")?.ok_or_else(|| MachineFault::NoSource { place: place.clone(), field: field.clone() })?;
        // The numbers of a computer's parts are not measured.
        let source = Source::named(&word).filter(|source| *source != Source::Measured).ok_or_else(|| {
            let (place, field) = (place.clone(), field.clone());
            MachineFault::UnknownSource { place, field, source_word: word }
        })?;
        let from =
            text("from")?.ok_or_else(|| MachineFault::NoOrigin { place: place.clone(), field: field.clone() })?;
        Ok(Field { key: key.to_owned(), value, unit: text("unit")?, source, from, place })
    }
}

/// Reads a decimal number of a file.
pub(crate) fn number(given: &DeValue, field: &str, place: &Place) -> Result<Decimal, MachineFault> {
    let (place, field) = (place.clone(), field.to_owned());
    let digits = match given {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        _ => {
            let what = "its value is neither a decimal number nor a word";
            return Err(MachineFault::BadForm { place, field, what });
        }
    };
    let why = "is not a plain decimal number of at most 19 digits, 0 or more";
    let given = digits.to_owned();
    Decimal::read(digits).ok_or(MachineFault::Uncountable { place, field, given, why })
}
