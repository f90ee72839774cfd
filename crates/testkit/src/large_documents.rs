//! Documents with many results, made from a measured one. Tests check with them that the time to read or print a
//! document grows no faster than its size.

use serde_json::{Value, json};

/// The numbers of items in a document; the number of results is the product of the first three.
#[derive(Clone, Copy, Debug)]
pub struct Many {
    /// The number of programs, each with its own name.
    pub programs: usize,
    /// The number of values of a setting that each program runs with.
    pub settings: usize,
    /// The number of targets of each program.
    pub targets: usize,
    /// The number of rounds of each result; `None` keeps those of the example.
    pub rounds: Option<usize>,
}

impl Many {
    /// One of each, with the rounds of the example.
    pub const ONE: Many = Many { programs: 1, settings: 1, targets: 1, rounds: None };

    /// Returns the number of results.
    pub fn results(self) -> usize {
        self.programs * self.settings * self.targets
    }

    /// Returns a document with these results. They are copies of the measured results of the example, in turn, with new
    /// names of programs, settings and targets.
    pub fn document(self, example: &Value) -> Value {
        let measured =
            example["cells"].as_array().into_iter().flatten().filter(|cell| cell["provenance"] == "measured");
        let examples: Vec<&Value> = measured.collect();
        let mut cells = Vec::new();
        for program in 0..self.programs {
            let one = examples[program % examples.len()];
            for setting in 0..self.settings {
                for target in 0..self.targets {
                    let mut cell = one.clone();
                    if program >= examples.len() {
                        cell["program"] = json!(format!("program{program}"));
                        cell["phase"] = cell["program"].clone();
                    }
                    cell["target"] = json!(format!("target{target}"));
                    cell["parameters"]["size_bytes"] = json!(4096 * (setting + 1));
                    if let Some(rounds) = self.rounds {
                        cell["rounds"] = self::rounds(&one["rounds"], rounds);
                    }
                    cells.push(cell);
                }
            }
        }
        let target = |number: usize| {
            let mut info = example["run"]["targets"][0].clone();
            info["name"] = json!(format!("target{number}"));
            info["argument"] = info["name"].clone();
            info
        };
        let mut document = example.clone();
        document["run"]["targets"] = (0..self.targets).map(target).collect();
        if let Some(rounds) = self.rounds {
            document["run"]["rounds"] = json!(rounds);
        }
        document["cells"] = cells.into();
        document
    }
}

/// Returns this many rounds, copied in turn from the given ones.
fn rounds(like: &Value, count: usize) -> Value {
    let like = like.as_array().expect("rounds");
    let round = |place: usize| {
        let mut round = like[place % like.len()].clone();
        round["round"] = json!(place + 1);
        round
    };
    (0..count).map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_has_a_different_name() {
        let cell = json!({"provenance": "measured", "program": "a", "phase": "b", "target": ".", "parameters": {},
            "rounds": [{"round": 1}]});
        let example = json!({"run": {"targets": [{"name": ".", "argument": "."}], "rounds": 1}, "cells": [cell]});
        let many = Many { programs: 2, settings: 3, targets: 4, rounds: Some(5) };
        let document = many.document(&example);
        let cells = document["cells"].as_array().expect("results");
        let mut names: Vec<String> =
            cells.iter().map(|cell| format!("{} {} {}", cell["program"], cell["target"], cell["parameters"])).collect();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), many.results()), (24, 24));
        assert!(cells.iter().all(|cell| cell["rounds"].as_array().map(Vec::len) == Some(5)));
        assert_eq!(document["run"]["targets"][3]["name"], "target3");
    }
}
