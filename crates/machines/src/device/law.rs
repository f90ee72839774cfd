//! Builds a device's law from its figures. This module knows the meaning of the figures, and finds missing and
//! contradictory ones.

use std::collections::{BTreeMap, BTreeSet};

use simulator::description::{
    Bucket, Counts, DeviceLaw, Flush, Gate, Invalid, Latency, LatencyTable, Limits, Tokens, WriteCache,
};
use units::Nanos;

use super::Figure;
use super::keys::{self, BUCKET, Form, TOKENS};
use crate::fault::{MachineFault, Place};

/// Builds the law from these figures:
///   1. every key must be there, and have its form; a group may be `none` or `n.m.` as a whole;
///   2. a mechanism without its figures is not in the law: it costs no time;
///   3. the law must be possible.
///
/// `place` returns where a key is written, or where it should be.
pub fn law(
    name: &str,
    figures: &BTreeMap<String, Figure>,
    place: &dyn Fn(&str) -> Place,
) -> Result<DeviceLaw, MachineFault> {
    let mut law = without_credit(name, figures, place)?;
    let burst = |bucket: &Bucket| figures.get(&format!("{BUCKET}.{}.burst", bucket.name));
    law.buckets.retain(|bucket| !matches!(burst(bucket), Some(Figure::Unmeasured { .. })));
    Ok(law)
}

/// Builds the law as `law` does, but with the buckets whose burst is `n.m.`: they have the smallest one, a token.
pub fn without_credit(
    name: &str,
    figures: &BTreeMap<String, Figure>,
    place: &dyn Fn(&str) -> Place,
) -> Result<DeviceLaw, MachineFault> {
    let figures = Figures { figures, place };
    // 1
    let buckets = figures.check()?;
    // 2
    let whole = DeviceLaw {
        name: name.to_owned(),
        capacity_bytes: figures.number("capacity")?,
        alignment_bytes: figures.small("alignment")?,
        read_latency: figures.table("read_latency"),
        write_latency: figures.table("write_latency"),
        read_gate: figures.gate("read_gate"),
        write_gate: figures.gate("write_gate"),
        flush: figures.flush()?,
        write_cache: figures.write_cache(),
        buckets: buckets.iter().map(|name| figures.bucket(name)).collect::<Result<_, _>>()?,
    };
    // 3
    whole.check().map_err(|invalid| figures.impossible(&invalid, &whole))?;
    Ok(whole)
}

struct Figures<'a> {
    figures: &'a BTreeMap<String, Figure>,
    place: &'a dyn Fn(&str) -> Place,
}

impl Figures<'_> {
    fn bad(&self, key: &str, what: &'static str) -> MachineFault {
        MachineFault::BadForm { place: (self.place)(key), field: key.to_owned(), what }
    }

    fn missing(&self, key: &str) -> MachineFault {
        MachineFault::MissingFigure { place: (self.place)(key), field: key.to_owned() }
    }

    /// Checks that every key is there and has its form. Returns the names of the buckets.
    fn check(&self) -> Result<BTreeSet<String>, MachineFault> {
        let mut buckets = BTreeSet::new();
        for (key, figure) in self.figures {
            let mut names = key.split('.');
            let (top, bucket) = (names.next().unwrap_or_default(), names.next().filter(|_| key.starts_with("bucket.")));
            let of = bucket.map_or("", |name| self.word(&format!("{BUCKET}.{name}.of")));
            let form = keys::form(key, of);
            let fits = match (figure, form) {
                (_, None) => {
                    let known = keys::TOP.map(str::to_owned).to_vec();
                    return Err(MachineFault::UnknownField { place: (self.place)(key), field: key.clone(), known });
                }
                (Figure::Unmeasured { .. }, Some(_)) | (Figure::None { .. }, Some(Form::Group)) => true,
                (Figure::Number { .. }, Some(Form::Number(_))) | (Figure::Table { .. }, Some(Form::Table)) => true,
                (Figure::Word { word, .. }, Some(Form::Word(words))) => words.contains(&word.as_str()),
                _ => false,
            };
            if !fits {
                return Err(self.bad(key, "does not have the form of this key"));
            }
            let outer = [top.to_owned(), bucket.map(|name| format!("{BUCKET}.{name}")).unwrap_or_default()];
            if outer.iter().any(|outer| outer != key && self.figures.contains_key(outer)) {
                return Err(self.bad(key, "has figures, but the group is none or n.m."));
            }
            buckets.extend(bucket.map(str::to_owned));
        }
        for top in keys::TOP {
            if self.figures.contains_key(top) || (top == BUCKET && !buckets.is_empty()) {
                continue;
            }
            let inner: Vec<String> = keys::within(top).iter().map(|inner| format!("{top}.{inner}")).collect();
            let is_there = |key: &String| self.figures.contains_key(key);
            match inner.iter().find(|key| !is_there(key)) {
                Some(key) if inner.iter().any(is_there) => return Err(self.missing(key)),
                None if !inner.is_empty() => {}
                _ => return Err(self.missing(top)),
            }
        }
        // A bucket that is none or n.m. as a whole limits nothing.
        buckets.retain(|name| !self.figures.contains_key(&format!("{BUCKET}.{name}")));
        Ok(buckets)
    }

    /// A number that must be there.
    fn number(&self, key: &str) -> Result<u64, MachineFault> {
        match self.figures.get(key) {
            Some(Figure::Number { value, .. }) => Ok(*value),
            Some(_) => Err(self.bad(key, "cannot be n.m.")),
            None => Err(self.missing(key)),
        }
    }

    fn small(&self, key: &str) -> Result<u32, MachineFault> {
        let value = self.number(key)?;
        let (place, field, given) = ((self.place)(key), key.to_owned(), value.to_string());
        let fault = MachineFault::Uncountable { place, field, given, why: "is too large" };
        u32::try_from(value).map_err(|_| fault)
    }

    /// A number; `None` if it is n.m.
    fn known(&self, key: &str) -> Option<u64> {
        match self.figures.get(key) {
            Some(Figure::Number { value, .. }) => Some(*value),
            _ => None,
        }
    }

    fn word(&self, key: &str) -> &str {
        match self.figures.get(key) {
            Some(Figure::Word { word, .. }) => word,
            _ => "",
        }
    }

    fn table(&self, key: &str) -> Option<LatencyTable> {
        let Some(Figure::Table { points, .. }) = self.figures.get(key) else { return None };
        Some(LatencyTable {
            points: points.iter().map(|point| Latency { bytes: point.bytes, time: point.time }).collect(),
        })
    }

    /// A gate with one figure has only that spacing.
    fn gate(&self, key: &str) -> Option<Gate> {
        let (request, byte) = (self.known(&format!("{key}.request")), self.known(&format!("{key}.byte")));
        let gate = Gate { request: Nanos(request.unwrap_or(0)), byte_picos: byte.unwrap_or(0) };
        (request.is_some() || byte.is_some()).then_some(gate)
    }

    /// A device that has no flush completes it at once.
    fn flush(&self) -> Result<Option<Flush>, MachineFault> {
        let drain_bytes_per_second = self.known("flush.drain");
        match self.figures.get("flush") {
            Some(Figure::None { .. }) => Ok(Some(Flush { base: Nanos::ZERO, drain_bytes_per_second: None })),
            Some(_) => Ok(None),
            None if self.known("flush.base").is_none() => {
                Err(self.bad("flush.base", "is n.m.: then the whole flush is n.m."))
            }
            None => Ok(Some(Flush { base: Nanos(self.number("flush.base")?), drain_bytes_per_second })),
        }
    }

    fn write_cache(&self) -> Option<WriteCache> {
        let (bytes, drain) = (self.known("write_cache.size")?, self.known("write_cache.drain")?);
        Some(WriteCache { bytes, drain_bytes_per_second: drain })
    }

    fn bucket(&self, name: &str) -> Result<Bucket, MachineFault> {
        let key = |inner: &str| format!("{BUCKET}.{name}.{inner}");
        let word = |inner: &str| match self.figures.get(&key(inner)) {
            Some(Figure::Word { word, .. }) => Ok(word.as_str()),
            Some(_) => Err(self.bad(&key(inner), "cannot be n.m.")),
            None => Err(self.missing(&key(inner))),
        };
        let limits = word("limits")?;
        let limits = Limits::NAMES.into_iter().find(|(known, _)| *known == limits).map_or(Limits::All, |(_, one)| one);
        let is_bytes = word("of")? == TOKENS[1];
        let rate = self.number(&key("rate"))?;
        let tokens = if is_bytes {
            Tokens::Bytes
        } else {
            let counts = word("counts")?;
            let counts = Counts::NAMES.into_iter().find(|(known, _)| *known == counts);
            // Without a known unit, a request of any size costs one token.
            let unit_bytes = match self.figures.get(&key("unit")) {
                Some(Figure::Unmeasured { .. }) => 0,
                _ => self.small(&key("unit"))?,
            };
            Tokens::Requests { unit_bytes, counts: counts.map_or(Counts::Requests, |(_, one)| one) }
        };
        Ok(Bucket {
            name: name.to_owned(),
            limits,
            tokens,
            milli_tokens_per_second: if is_bytes { rate.saturating_mul(1000) } else { rate },
            burst_tokens: match self.figures.get(&key("burst")) {
                Some(Figure::Unmeasured { .. }) => 1,
                _ => self.number(&key("burst"))?,
            },
        })
    }

    /// Converts an invalid field of the law into a fault with the place where the field is written.
    fn impossible(&self, invalid: &Invalid, law: &DeviceLaw) -> MachineFault {
        // The law does not say which bucket; it is the first that is impossible.
        let field = match invalid.field.split_once('.') {
            Some((BUCKET, inner)) => {
                let alone = |bucket: &Bucket| DeviceLaw { buckets: vec![bucket.clone()], ..law.clone() };
                let wrong = law.buckets.iter().find(|bucket| alone(bucket).check().is_err());
                wrong.map_or(BUCKET.to_owned(), |bucket| format!("{BUCKET}.{}.{inner}", bucket.name))
            }
            _ => invalid.field.to_owned(),
        };
        let (place, what) = ((self.place)(&field), invalid.what.clone().into_owned());
        MachineFault::Impossible { place, what, hint: invalid.hint, field }
    }
}
