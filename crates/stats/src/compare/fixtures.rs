//! Made-up results for the tests of comparisons.

use workload::RateBase;

use crate::results::cell::{Cell, Provenance, Rate};
use crate::results::round::Round;

/// A cell whose rounds did these numbers of operations of 4 KiB, each round in one second. Without rounds it has no
/// rate.
pub fn cell(target: &str, program: &str, rates: &[u64]) -> Cell {
    let round = |(ops, round): (&u64, u32)| Round {
        round,
        position: 1,
        bytes: ops * 4096,
        ops: *ops,
        returned_s: 1.0,
        ..Round::default()
    };
    let mean = rates.iter().sum::<u64>() as f64 / rates.len() as f64;
    let rate = Rate {
        per_second: mean,
        base: RateBase::Ops,
        value: mean,
        unit: "ops/sec".to_owned(),
        low: None,
        high: None,
        confidence: 0.95,
        rounds: rates.len() as u32,
        range: None,
    };
    Cell {
        measured: true,
        rate: Some(rate).filter(|_| !rates.is_empty()),
        rounds: rates.iter().zip(1..).map(round).collect(),
        ..Cell::named(Provenance::Measured, "quick", program, program, target)
    }
}
