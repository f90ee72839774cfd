//! Settings of `predict`: what if the device had another constant?

use units::Nanos;

use super::keys::{self, BUCKET, Form};
use super::read::{NONE, counted};
use super::{DeviceFile, Figure, Origin, Point, law};
use crate::fault::{MachineFault, Place};
use crate::part::Source;
use crate::quantity::{Decimal, Quantity};

impl DeviceFile {
    /// Applies a setting as typed:
    ///   1. `KEY=x0.5` multiplies a number, every time of a table, or every spacing of a gate;
    ///   2. `KEY=none` removes a mechanism: a gate, the flush, the write cache, a bucket or all buckets;
    ///   3. `KEY=2ms` sets a number, or the time of every size.
    ///
    /// Figures that are `n.m.` cannot be set: a law without them would describe another device.
    pub fn set(&mut self, typed: &str) -> Result<(), MachineFault> {
        let bad = |why| MachineFault::BadFigureSetting { typed: typed.to_owned(), why };
        let place = Place::Typed(typed.to_owned());
        let (key, value) = typed.split_once('=').ok_or_else(|| bad("is not KEY=VALUE"))?;
        let (key, value) = (key.trim(), value.trim());
        let keys = self.meant(key, &place)?;
        let origin = Origin { source: Source::Typed, from: typed.to_owned(), samples: None };
        let mut figures = self.figures.clone();
        // 2
        if value == NONE {
            if keys::form(key, "") != Some(Form::Group) {
                return Err(bad("only a mechanism can be none, not a single figure"));
            }
            figures.retain(|known, _| !is_within(known, key));
            figures.insert(key.to_owned(), Figure::None { origin });
        } else {
            let is_gate = key.ends_with("_gate");
            if keys::form(key, "") == Some(Form::Group) && !is_gate {
                return Err(bad("names several figures: set one of them, such as flush.base"));
            }
            for key in keys {
                let figure = figures.get_mut(&key).ok_or_else(|| bad("has no such figure"))?;
                let quantity = match keys::form(&key, self.tokens_of(&key)) {
                    Some(Form::Number(quantity)) => quantity,
                    Some(Form::Table) => Quantity::Time,
                    _ => return Err(bad("is not a number")),
                };
                *figure = changed(figure, quantity, value, &key, &place, &origin)?;
            }
        }
        self.law = law::law(&self.name, &figures, &|_| place.clone())?;
        self.figures = figures;
        Ok(())
    }

    /// Returns the keys of the figures that a setting changes: one figure, both spacings of a gate, or a whole
    /// mechanism.
    fn meant(&self, key: &str, place: &Place) -> Result<Vec<String>, MachineFault> {
        let mut outer = key;
        loop {
            match (self.figures.get(outer), outer.rsplit_once('.')) {
                (Some(Figure::Unmeasured { reason }), _) => {
                    let (place, field, reason) = (place.clone(), outer.to_owned(), reason.clone());
                    return Err(MachineFault::Unmeasured { place, field, reason });
                }
                (Some(Figure::None { .. }), _) => {
                    let why = "the device has no such mechanism";
                    return Err(MachineFault::BadFigureSetting { typed: place.to_string(), why });
                }
                (_, Some((next, _))) => outer = next,
                (_, None) => break,
            }
        }
        let within: Vec<String> =
            self.figures().map(|(known, _)| known).filter(|known| is_within(known, key)).map(str::to_owned).collect();
        if within.is_empty() {
            let mut known: Vec<String> = self.figures().map(|(known, _)| known.to_owned()).collect();
            known.extend(keys::TOP.map(str::to_owned));
            known.sort();
            known.dedup();
            return Err(MachineFault::UnknownField { place: place.clone(), field: key.to_owned(), known });
        }
        Ok(within)
    }

    /// Returns the unit of the tokens in a key's bucket; empty if the key belongs to no bucket.
    fn tokens_of(&self, key: &str) -> &str {
        let bucket = key.split('.').nth(1).unwrap_or_default();
        match self.figures.get(&format!("{BUCKET}.{bucket}.of")) {
            Some(Figure::Word { word, .. }) => word,
            _ => "",
        }
    }
}

/// True if the key is this one, or belongs to its group.
fn is_within(key: &str, group: &str) -> bool {
    key.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the figure with another value.
fn changed(
    figure: &Figure,
    quantity: Quantity,
    value: &str,
    key: &str,
    place: &Place,
    origin: &Origin,
) -> Result<Figure, MachineFault> {
    let bad = |why| MachineFault::BadFigureSetting { typed: place.to_string(), why };
    if let Figure::Unmeasured { reason } = figure {
        return Err(MachineFault::Unmeasured { place: place.clone(), field: key.to_owned(), reason: reason.clone() });
    }
    // 1
    if let Some(factor) = value.strip_prefix('x') {
        let factor =
            Decimal::read(factor).filter(|factor| !factor.is_zero()).ok_or_else(|| bad("is not a factor: x0.5"))?;
        let times = |count: u64| factor.of(count).ok_or_else(|| bad("is too large"));
        let point = |point: &Point| Ok(Point { time: Nanos(times(point.time.0)?), range: None, ..*point });
        return match figure {
            Figure::Number { value, .. } => Ok(Figure::number(times(*value)?, origin.clone())),
            Figure::Table { points, .. } => {
                let points = points.iter().map(point).collect::<Result<_, MachineFault>>()?;
                Ok(Figure::Table { points, origin: origin.clone() })
            }
            _ => Err(bad("is not a number")),
        };
    }
    // 3
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let number = Decimal::read(digits).ok_or_else(|| bad("is neither xFACTOR, none, nor a number with its unit"))?;
    let (place, unit) = (place.clone(), unit.trim());
    if unit.is_empty() {
        return Err(MachineFault::NoUnit { place, field: key.to_owned(), units: quantity.units() });
    }
    let count = counted(key, &place, quantity, number, unit)?;
    match figure {
        Figure::Table { points, .. } => {
            let point = |point: &Point| Point { time: Nanos(count), range: None, ..*point };
            Ok(Figure::Table { points: points.iter().map(point).collect(), origin: origin.clone() })
        }
        _ => Ok(Figure::number(count, origin.clone())),
    }
}
