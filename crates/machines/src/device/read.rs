//! Reads the file of a device.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Nanos;

use super::keys::{self, Form};
use super::{DeviceFile, Figure, MeasuredOn, Origin, Point, law};
use crate::fault::{MachineFault, Place};
use crate::machine_file::MachineFile;
use crate::part::{Source, number};
use crate::quantity::{Decimal, Quantity, Unfit};

/// The keys of a figure.
const FIGURE: [&str; 9] = ["at", "value", "unit", "source", "from", "samples", "low", "high", "reason"];

/// The keys of a file besides its figures.
const PLAIN: [&str; 3] = ["kind", "name", "measured_on"];

/// The kind of device.
pub const LAW: &str = "law";

/// The word for a figure that was not measured.
pub const UNMEASURED: &str = "n.m.";

/// The word for a mechanism that the device does not have.
pub const NONE: &str = "none";

/// Reads a file.
pub fn file(file: &MachineFile) -> Result<DeviceFile, MachineFault> {
    let whole = file.table()?;
    let table = whole.get_ref();
    let start = file.place(0..0);
    let missing = |field: &str| MachineFault::MissingFigure { place: start.clone(), field: field.to_owned() };
    let kind = text(file, table, "kind")?.ok_or_else(|| missing("kind"))?;
    if kind.0 != LAW {
        let (given, place) = kind;
        return Err(MachineFault::NotALaw { place, given });
    }
    let (name, _) = text(file, table, "name")?.ok_or_else(|| missing("name"))?;
    let measured_on = table.get("measured_on").map(|value| measured_on(file, value)).transpose()?;
    let mut reader = Reader { file, figures: BTreeMap::new(), places: BTreeMap::new() };
    for (key, value) in sorted(table).filter(|(key, _)| !PLAIN.contains(&key.get_ref().as_ref())) {
        reader.any(key.get_ref(), file.place(key.span()), value, "")?;
    }
    let Reader { figures, places, .. } = reader;
    // The place of a missing key is that of the group to which it would belong.
    let place = |key: &str| -> Place {
        let mut key = key;
        loop {
            match (places.get(key), key.rsplit_once('.')) {
                (Some(place), _) => return place.clone(),
                (None, Some((outer, _))) => key = outer,
                (None, None) => return start.clone(),
            }
        }
    };
    let law = law::law(&name, &figures, &place)?;
    Ok(DeviceFile { name, measured_on, figures, law })
}

/// The entries of a table in the order of the file.
fn sorted<'a, 'b>(
    table: &'a DeTable<'b>,
) -> impl Iterator<Item = (&'a Spanned<std::borrow::Cow<'b, str>>, &'a Spanned<DeValue<'b>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter()
}

/// Returns a text and its place; `None` if it is not there.
fn text(file: &MachineFile, table: &DeTable, key: &str) -> Result<Option<(String, Place)>, MachineFault> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let place = file.place(value.span());
    match value.get_ref().as_str().filter(|text| !text.trim().is_empty()) {
        Some(text) => Ok(Some((text.to_owned(), place))),
        None => Err(MachineFault::NotText { place, field: key.to_owned() }),
    }
}

fn measured_on(file: &MachineFile, value: &Spanned<DeValue>) -> Result<MeasuredOn, MachineFault> {
    let place = file.place(value.span());
    let field = |key: &str| format!("measured_on.{key}");
    let DeValue::Table(table) = value.get_ref() else {
        let what = "is not a table of host, date and target";
        return Err(MachineFault::BadForm { place, field: "measured_on".to_owned(), what });
    };
    let known = ["host", "date", "target"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref())) {
        let (place, field) = (file.place(key.span()), field(key.get_ref()));
        return Err(MachineFault::UnknownField { place, field, known: known.map(field_name).to_vec() });
    }
    let part = |key: &str| -> Result<String, MachineFault> {
        let missing = || MachineFault::MissingFigure { place: place.clone(), field: field(key) };
        text(file, table, key)?.map(|(text, _)| text).ok_or_else(missing)
    };
    Ok(MeasuredOn { host: part("host")?, date: part("date")?, target: part("target")? })
}

fn field_name(key: &str) -> String {
    format!("measured_on.{key}")
}

/// Reads figures, and keeps their places.
struct Reader<'a> {
    file: &'a MachineFile,
    figures: BTreeMap<String, Figure>,
    places: BTreeMap<String, Place>,
}

impl Reader<'_> {
    /// Reads a figure, or the figures of a group. `of` is the unit of the tokens in its bucket.
    fn any(&mut self, key: &str, place: Place, value: &Spanned<DeValue>, of: &str) -> Result<(), MachineFault> {
        let Some(form) = keys::form(key, of) else {
            return Err(MachineFault::UnknownField { place, field: key.to_owned(), known: known(key, of) });
        };
        self.places.insert(key.to_owned(), place.clone());
        let bad = |what| MachineFault::BadForm { place: place.clone(), field: key.to_owned(), what };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(bad("a value without its unit and its source"));
        };
        if form == Form::Group && !table.contains_key("value") {
            let tokens = table.get("of").and_then(|of| of.get_ref().as_table()?.get("value")?.get_ref().as_str());
            let of = tokens.unwrap_or(of).to_owned();
            for (inner, value) in sorted(table) {
                let place = self.file.place(inner.span());
                self.any(&format!("{key}.{}", inner.get_ref()), place, value, &of)?;
            }
            return Ok(());
        }
        let figure = self.figure(key, &place, table, form)?;
        self.figures.insert(key.to_owned(), figure);
        Ok(())
    }

    /// Reads `{ value = 1, unit = "ms", source = "inferred", from = "why" }`.
    fn figure(&self, key: &str, place: &Place, table: &DeTable, form: Form) -> Result<Figure, MachineFault> {
        let bad = |what| MachineFault::BadForm { place: place.clone(), field: key.to_owned(), what };
        for (inner, _) in table {
            if !FIGURE.contains(&inner.get_ref().as_ref()) {
                let (place, field) = (self.file.place(inner.span()), inner.get_ref().to_string());
                return Err(MachineFault::UnknownField { place, field, known: FIGURE.map(str::to_owned).to_vec() });
            }
        }
        let plain = |name: &str| match table.get(name).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) if !text.trim().is_empty() => Ok(Some(text.to_string())),
            Some(_) => Err(bad("unit, source, from and reason are text in quotes")),
        };
        let value = table.get("value").ok_or_else(|| bad("has no value"))?.get_ref();
        if value.as_str() == Some(UNMEASURED) {
            let reason = plain("reason")?.ok_or_else(|| bad("is n.m. without a reason"))?;
            return match table.len() {
                2 => Ok(Figure::Unmeasured { reason }),
                _ => Err(bad("is n.m.: it has a reason and nothing else")),
            };
        }
        if table.contains_key("reason") {
            return Err(bad("only a figure that is n.m. has a reason"));
        }
        let origin = self.origin(key, place, table, &plain)?;
        let only = |allowed: &[&str]| {
            let is_foreign =
                |name: &str| !allowed.contains(&name) && !["value", "source", "from", "samples"].contains(&name);
            table.iter().any(|(inner, _)| is_foreign(inner.get_ref()))
        };
        if value.as_str() == Some(NONE) && matches!(form, Form::Group) {
            return if only(&[]) {
                Err(bad("is none: it has no unit and no range"))
            } else {
                Ok(Figure::None { origin })
            };
        }
        match form {
            Form::Group => Err(bad("is a table of figures, \"none\" or \"n.m.\"")),
            Form::Word(words) => {
                let given = value.as_str().ok_or_else(|| bad("is a word in quotes"))?.to_owned();
                if only(&[]) {
                    return Err(bad("is a word: it has no unit and no range"));
                }
                match words.contains(&given.as_str()) {
                    true => Ok(Figure::Word { word: given, origin }),
                    false => {
                        let (place, field, words) = (place.clone(), key.to_owned(), words.to_vec());
                        Err(MachineFault::WrongWord { place, field, given, words })
                    }
                }
            }
            Form::Number(_) if table.contains_key("at") => Err(bad("is one number, not a table of sizes")),
            Form::Number(quantity) => {
                let unit = self.unit(key, place, quantity, plain("unit")?)?;
                let read = |given: &DeValue| self.count(key, place, quantity, &unit, given);
                let range = match (table.get("low"), table.get("high")) {
                    (None, None) => None,
                    (Some(low), Some(high)) => Some((read(low.get_ref())?, read(high.get_ref())?)),
                    _ => return Err(bad("has only one of low and high")),
                };
                let value = read(value)?;
                match range.is_some_and(|(low, high)| !(low..=high).contains(&value)) {
                    true => Err(bad("is not between its low and its high")),
                    false => Ok(Figure::Number { value, range, origin }),
                }
            }
            Form::Table => {
                let unit = self.unit(key, place, Quantity::Time, plain("unit")?)?;
                self.table(key, place, table, &unit).map(|points| Figure::Table { points, origin })
            }
        }
    }

    /// Reads the source of a figure. A measured one has its number of samples.
    fn origin(
        &self,
        key: &str,
        place: &Place,
        table: &DeTable,
        plain: &dyn Fn(&str) -> Result<Option<String>, MachineFault>,
    ) -> Result<Origin, MachineFault> {
        let (place, field) = (place.clone(), key.to_owned());
        let Some(word) = plain("source")? else { return Err(MachineFault::NoSource { place, field }) };
        let Some(source) = Source::named(&word) else {
            return Err(MachineFault::UnknownSource { place, field, source_word: word });
        };
        let Some(from) = plain("from")? else { return Err(MachineFault::NoOrigin { place, field }) };
        let given = table.get("samples").map(|given| number(given.get_ref(), key, &place)).transpose()?;
        let samples = given.map(|given| Quantity::Count("samples").count(given, "samples")).transpose();
        match (samples, source) {
            (Err(_), _) => Err(MachineFault::BadForm { place, field, what: "samples is a whole number" }),
            (Ok(None), Source::Measured) => {
                Err(MachineFault::BadForm { place, field, what: "is measured, but samples is missing" })
            }
            (Ok(samples), _) => Ok(Origin { source, from, samples }),
        }
    }

    fn unit(&self, key: &str, place: &Place, quantity: Quantity, unit: Option<String>) -> Result<String, MachineFault> {
        let (place, field, units) = (place.clone(), key.to_owned(), quantity.units());
        match unit {
            Some(unit) if units.contains(&unit.as_str()) => Ok(unit),
            Some(unit) => Err(MachineFault::WrongUnit { place, field, unit, units }),
            None => Err(MachineFault::NoUnit { place, field, units }),
        }
    }

    /// Reads a number in the simulator's unit of the quantity.
    fn count(
        &self,
        key: &str,
        place: &Place,
        quantity: Quantity,
        unit: &str,
        given: &DeValue,
    ) -> Result<u64, MachineFault> {
        counted(key, place, quantity, number(given, key, place)?, unit)
    }

    fn table(&self, key: &str, place: &Place, table: &DeTable, unit: &str) -> Result<Vec<Point>, MachineFault> {
        let bad = |what| MachineFault::BadForm { place: place.clone(), field: key.to_owned(), what };
        let list = |name: &str, quantity: Quantity, unit: &str| -> Result<Option<Vec<u64>>, MachineFault> {
            let Some(list) = table.get(name) else { return Ok(None) };
            let list = list.get_ref().as_array().ok_or_else(|| bad("at, value, low and high are lists"))?;
            list.iter()
                .map(|one| self.count(key, place, quantity, unit, one.get_ref()))
                .collect::<Result<_, _>>()
                .map(Some)
        };
        let sizes = list("at", Quantity::Size, "bytes")?.ok_or_else(|| bad("has no sizes: at = [4096, ...]"))?;
        let times = list("value", Quantity::Time, unit)?.unwrap_or_default();
        let ranges = match (list("low", Quantity::Time, unit)?, list("high", Quantity::Time, unit)?) {
            (None, None) => vec![None; sizes.len()],
            (Some(low), Some(high)) if low.len() == high.len() => low.into_iter().zip(high).map(Some).collect(),
            _ => return Err(bad("low and high do not have the same length")),
        };
        if sizes.len() != times.len() || sizes.len() != ranges.len() {
            return Err(bad("its lists do not have the same length"));
        }
        let point = |((bytes, time), range): ((u64, u64), Option<(u64, u64)>)| {
            let bytes = u32::try_from(bytes).map_err(|_| bad("has a size of 4 GiB or more"))?;
            if range.is_some_and(|(low, high)| !(low..=high).contains(&time)) {
                return Err(bad("is not between its low and its high"));
            }
            Ok(Point { bytes, time: Nanos(time), range: range.map(|(low, high)| (Nanos(low), Nanos(high))) })
        };
        sizes.into_iter().zip(times).zip(ranges).map(point).collect()
    }
}

/// Converts a number into the simulator's unit of the quantity.
pub fn counted(key: &str, place: &Place, quantity: Quantity, number: Decimal, unit: &str) -> Result<u64, MachineFault> {
    let (place, field, given) = (place.clone(), key.to_owned(), format!("{number} {unit}"));
    quantity.count(number, unit).map_err(|unfit| match unfit {
        Unfit::Unit => MachineFault::WrongUnit { place, field, unit: unit.to_owned(), units: quantity.units() },
        Unfit::TooFine => MachineFault::Uncountable { place, field, given, why: "is finer than its smallest unit" },
        Unfit::TooLarge => MachineFault::Uncountable { place, field, given, why: "is too large" },
    })
}

/// Returns the known keys that the user may have meant by an unknown one.
fn known(key: &str, of: &str) -> Vec<String> {
    let top = key.split('.').next().unwrap_or_default();
    match key.rsplit_once('.') {
        Some((outer, _)) if keys::TOP.contains(&top) && !keys::within(top).is_empty() => {
            let inner = keys::within(top).iter().map(|inner| format!("{outer}.{inner}"));
            inner.filter(|key| keys::form(key, of).is_some()).collect()
        }
        _ => PLAIN.iter().chain(&keys::TOP).map(|key| (*key).to_owned()).collect(),
    }
}
