//! Documents of many results, made of those of a measured one: what reads or prints them must not take a time that
//! grows faster than they do.

use serde_json::{Value, json};

/// How many of each there are; the results are the product of the first three.
#[derive(Clone, Copy, Debug)]
pub struct Many {
    /// Programs, each of another name.
    pub programs: usize,
    /// Values of a setting that each program runs with.
    pub settings: usize,
    /// Targets that each runs on.
    pub targets: usize,
    /// Rounds of each result; those of the example if this is nothing.
    pub rounds: Option<usize>,
}

impl Many {
    /// One of each.
    pub const ONE: Many = Many { programs: 1, settings: 1, targets: 1, rounds: None };

    /// As many results as that.
    pub fn results(self) -> usize {
        self.programs * self.settings * self.targets
    }

    /// A document of so many results, which are in turn those that the example measured: of programs, their settings
    /// and their targets, each with a name of its own.
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

/// So many rounds, like those in turn.
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
    fn every_result_has_another_name() {
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
