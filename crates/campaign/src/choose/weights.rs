//! Uses of storage, as weights of tests. The weights are printed and can be changed.

use serde::{Deserialize, Serialize};
use stats::compare::target_comparison::{Row, Weighed};

use super::matching::{keys, matching};

/// A use of storage: the tests that resemble it, with their weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Its name.
    pub name: String,
    /// Words for tests, each with its share of the whole.
    pub weights: Vec<(String, f64)>,
    /// True if the user gave the weights.
    pub is_own: bool,
}

/// The uses with a name. The weights are our invention: no publication says which share of its operations each kind has
/// in "a database". They follow from what each use waits for. A database waits for commits and random reads, mail for
/// separate small files that are synced, a build for many small files that are created, read and removed. Media wait
/// for long sequential files, images (disks of virtual machines) for reads and overwrites. 1983 weighs the four
/// programs of Kridle & McKusick equally.
const USES: [(&str, &[(&str, f64)]); 6] = [
    ("database", &[("commit", 0.4), ("randread", 0.4), ("read_8192", 0.1), ("rewrite_8192", 0.1)]),
    ("mail", &[("smallfb.creat", 0.4), ("commit", 0.2), ("smallfb.read", 0.2), ("smallfb.delete", 0.2)]),
    ("build", &[("smallfb.read", 0.4), ("smallfb.creat", 0.4), ("smallfb.delete", 0.1), ("write_8192", 0.1)]),
    ("media", &[("read_8192", 0.7), ("write_8192", 0.3)]),
    ("image", &[("randread", 0.4), ("rewrite_8192", 0.3), ("read_8192", 0.2), ("commit", 0.1)]),
    ("1983", &[("read_8192", 0.25), ("write_4096", 0.25), ("write_8192", 0.25), ("rewrite_8192", 0.25)]),
];

/// Parses the name of a use, or the user's weights: `commit=60,randread=40`.
pub fn parse_use(text: &str) -> Result<Use, String> {
    if let Some((name, weights)) = USES.iter().find(|(name, _)| *name == text) {
        let weights = weights.iter().map(|(word, weight)| ((*word).to_owned(), *weight)).collect();
        return Ok(Use { name: (*name).to_owned(), weights, is_own: false });
    }
    let names = USES.map(|(name, _)| name).join(", ");
    if !text.contains('=') {
        return Err(format!("the uses are {names}; weights of your own as in commit=60,randread=40"));
    }
    let mut weights: Vec<(String, f64)> = Vec::new();
    for part in text.split(',') {
        let (word, weight) = part.split_once('=').ok_or_else(|| format!("{part} is not TEST=WEIGHT"))?;
        let weight =
            weight.trim_end_matches('%').parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight > 0.0);
        let weight = weight.ok_or_else(|| format!("the weight of {word} is not a number above 0"))?;
        if weights.iter().any(|(other, _)| other == word.trim()) {
            return Err(format!("{word} has two weights"));
        }
        weights.push((word.trim().to_owned(), weight));
    }
    let whole: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter_mut().for_each(|(_, weight)| *weight /= whole);
    Ok(Use { name: "your own use".to_owned(), weights, is_own: true })
}

impl Use {
    /// The weight of each row. All rows that a word matches share its weight.
    pub fn weighed(&self, rows: &[Row]) -> Weighed {
        let mut weights = vec![0.0; rows.len()];
        for (word, weight) in &self.weights {
            let measured_rows = measured_rows(word, rows);
            for place in &measured_rows {
                weights[*place] += weight / measured_rows.len() as f64;
            }
        }
        Weighed { name: self.name.clone(), weights, missing: self.missing(rows) }
    }

    /// Words without a test that was measured on every target, with their weights.
    pub fn missing(&self, rows: &[Row]) -> Vec<(String, f64)> {
        self.weights.iter().filter(|(word, _)| measured_rows(word, rows).is_empty()).cloned().collect()
    }
}

/// The rows that a word matches and that have a rate on every target.
fn measured_rows(word: &str, rows: &[Row]) -> Vec<usize> {
    let is_measured = |row: &Row| row.cells.iter().all(|cell| cell.is_some_and(|cell| cell.rate.is_some()));
    matching(word, &keys(rows)).into_iter().filter(|place| is_measured(&rows[*place])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_every_use_sum_to_one() {
        for (name, _) in USES {
            let whole: f64 = parse_use(name).expect(name).weights.iter().map(|(_, weight)| weight).sum();
            assert!((whole - 1.0).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn typed_weights_are_normalized() {
        let own = parse_use("commit=3,randread=1").expect("weights");
        assert_eq!(own.weights, [("commit".to_owned(), 0.75), ("randread".to_owned(), 0.25)]);
        for refused in ["xyzzy", "commit=", "commit=0", "commit=-1", "commit=inf", "commit=1,commit=2", "commit=1,x"] {
            assert!(parse_use(refused).is_err(), "{refused}");
        }
    }
}
