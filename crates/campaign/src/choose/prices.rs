//! Prices of targets, as the user gives them: `fast=0.10/GiB-month`. Converts units, so that two prices can be
//! compared.

use serde::{Deserialize, Serialize};
use stats::digits::significant;
use stats::{Purpose, Verdict};

/// The price of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The name of the target.
    pub target: String,
    /// The amount of money, in any currency.
    pub amount: f64,
    /// The unit that the amount is for, as typed; empty for the whole target.
    pub per: String,
    /// The unit in bytes, hours or byte-hours; `None` if it is unknown.
    scale: Option<f64>,
}

/// Units of size, in bytes.
const SIZES: [(&str, f64); 8] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("MB", 1e6),
    ("GiB", 1_073_741_824.0),
    ("GB", 1e9),
    ("TiB", 1_099_511_627_776.0),
    ("TB", 1e12),
];

/// Times, in hours. A year has 365.25 days, and a month a twelfth of it.
const TIMES: [(&str, f64); 5] =
    [("hour", 1.0), ("h", 1.0), ("day", 24.0), ("month", 365.25 * 2.0), ("year", 365.25 * 24.0)];

/// Parses a price: `TARGET=AMOUNT`, optionally followed by `/` and a unit.
pub fn parse_price(text: &str) -> Result<Price, String> {
    let form = || format!("{text:?} is not of the form NAME=0.08/GiB-month");
    let (target, price) = text.rsplit_once('=').ok_or_else(form)?;
    let (amount, per) = price.split_once('/').unwrap_or((price, ""));
    let amount = amount.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    let amount = amount.ok_or_else(form)?;
    Ok(Price { target: target.to_owned(), amount, per: per.to_owned(), scale: scale(per) })
}

/// A unit in bytes, hours or byte-hours; `None` if it is unknown.
fn scale(per: &str) -> Option<f64> {
    let of = |units: &[(&str, f64)], word: &str| units.iter().find(|(unit, _)| *unit == word).map(|(_, size)| *size);
    match per.split_once('-') {
        Some((size, time)) => Some(of(&SIZES, size)? * of(&TIMES, time)?),
        None => of(&SIZES, per).or_else(|| of(&TIMES, per)),
    }
}

/// Two flags: the unit contains a size; the unit contains a time. Only prices of the same kind can be compared.
fn kind(per: &str) -> (bool, bool) {
    let has = |units: &[(&str, f64)]| per.split('-').any(|word| units.iter().any(|(unit, _)| *unit == word));
    (has(&SIZES), has(&TIMES))
}

impl Price {
    /// The other price divided by this one; `None` if they are for different things.
    fn ratio(&self, other: &Price) -> Option<f64> {
        if self.per == other.per {
            return Some(other.amount / self.amount);
        }
        let is_alike = kind(&self.per) == kind(&other.per);
        Some((other.amount / other.scale?) / (self.amount / self.scale?)).filter(|_| is_alike)
    }

    /// The price as stored in a document.
    pub fn stored(&self) -> stats::compare::target_comparison::Price {
        stats::compare::target_comparison::Price {
            target: self.target.clone(),
            amount: self.amount,
            per: self.per.clone(),
        }
    }

    fn words(&self) -> String {
        self.stored().words()
    }
}

/// A sentence for each pair of targets with prices: the ratio of the prices and, for a use, the speed for the price.
pub fn remarks(prices: &[Price], names: &[&str], purpose: Option<&Purpose>) -> Vec<String> {
    let price = |name: &str| prices.iter().find(|price| price.target == name);
    let remark = |(first, second): (usize, usize)| {
        let (one, other) = (price(names[first])?, price(names[second])?);
        if one.ratio(other).is_none() {
            let prices = format!("{} {}, {} {}", one.target, one.words(), other.target, other.words());
            return Some(format!("prices for different things are not compared ({prices})"));
        }
        let (one, other) = if one.ratio(other)? < 1.0 { (other, one) } else { (one, other) };
        let ratio = one.ratio(other)?;
        let said = format!(
            "{} costs {}x as much as {} ({} against {})",
            other.target,
            significant(ratio, 3),
            one.target,
            other.words(),
            one.words()
        );
        let of_these = |pair: &&stats::Comparison| {
            [&pair.first, &pair.second].iter().all(|name| [&one.target, &other.target].contains(name))
        };
        let gained = purpose.and_then(|purpose| {
            let pair = purpose.comparisons.iter().find(of_these)?;
            let speed = if pair.second == other.target { pair.ratio? } else { 1.0 / pair.ratio? };
            Some(match pair.verdict() {
                Verdict::Faster | Verdict::Slower => format!(
                    " and is {}x as fast for {}: {}x as much for the price",
                    significant(speed, 3),
                    purpose.name,
                    significant(speed / ratio, 3)
                ),
                Verdict::Same => format!(" and is not faster for {}", purpose.name),
                Verdict::Undecided | Verdict::NotMeasured => {
                    format!("; whether it is faster for {} is undecided", purpose.name)
                }
            })
        });
        Some(said + &gained.unwrap_or_default())
    };
    stats::compare::target_comparison::every_two(names.len()).filter_map(remark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_compared_in_one_unit() {
        let price = |text: &str| parse_price(text).expect(text);
        let ratio = |one: &str, other: &str| price(one).ratio(&price(other));
        assert_eq!(ratio("a=1/GiB-month", "b=1.5/GiB-month"), Some(1.5));
        let tera = ratio("a=0.08/GiB-month", "b=81.92/TiB-month").expect("both are sizes for a time");
        assert!((tera - 1.0).abs() < 1e-9, "{tera}");
        let yearly = ratio("a=1/month", "b=12/year").expect("both are times");
        assert!((yearly - 1.0).abs() < 1e-9, "{yearly}");
        assert_eq!(ratio("a=1/GiB", "b=1/GiB-month"), None);
        assert_eq!(ratio("a=200", "b=100"), Some(0.5));
        assert_eq!(price("/mnt/a=b=3/disk").target, "/mnt/a=b");
        for refused in ["a", "a=", "a=x/GiB", "a=-1", "a=0"] {
            assert!(parse_price(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn the_price_ratio_of_two_targets_is_reported() {
        let prices = [parse_price("a=2/GiB").expect("a price"), parse_price("b=1/GiB").expect("a price")];
        assert_eq!(remarks(&prices, &["a", "b"], None), ["a costs 2.00x as much as b (2/GiB against 1/GiB)"]);
        assert_eq!(remarks(&prices[..1], &["a", "b"], None), Vec::<String>::new());
        let apart = [prices[0].clone(), parse_price("b=1/month").expect("a price")];
        assert_eq!(
            remarks(&apart, &["a", "b"], None),
            ["prices for different things are not compared (a 2/GiB, b 1/month)"]
        );
    }
}
