//! Documents to draw in tests.

use std::collections::BTreeMap;

use stats::{
    Cell, Choice, Comparison, CpuSeconds, Document, Interval, Latency, LatencyKind, Mark, MarkCode, ParameterValue,
    Provenance, Rate, RateBase, Round, TargetInfo, TargetVerdict,
};

/// A cell with a round of two seconds for each of these numbers of operations.
pub(super) fn cell(program: &str, target: &str, ops: &[u64]) -> Cell {
    let mean = ops.iter().sum::<u64>() as f64 / ops.len().max(1) as f64 / 2.0;
    Cell {
        parameters: BTreeMap::from([("file_bytes".to_owned(), ParameterValue::Number(1 << 20))]),
        measured: true,
        rate: Some(Rate {
            per_second: mean,
            base: RateBase::Ops,
            value: mean,
            unit: "ops/sec".to_owned(),
            low: Some(mean * 0.9),
            high: Some(mean * 1.1),
            confidence: 0.95,
            rounds: ops.len() as u32,
        }),
        rounds: ops.iter().zip(1..).map(|(ops, round)| self::round(round, *ops)).collect(),
        cpu_percent: Some(stats::CpuPercent { process: 60.0, kernel_workers: None, machine: None }),
        latency_ns: Some(Latency {
            count: 5000,
            p50: 5_000,
            p90: Some(9_000),
            p99: Some(20_000),
            p999: None,
            max: 4_000_000,
            kind: LatencyKind::Service,
        }),
        time: Some(BTreeMap::from([("system".to_owned(), 3_000), ("device_service".to_owned(), 7_000)])),
        ..Cell::named(Provenance::Measured, "quick", program, program, target)
    }
}

/// A cell that was not measured.
pub(super) fn missing(program: &str, target: &str) -> Cell {
    Cell {
        measured: false,
        reason: Some("nobody could".to_owned()),
        rate: None,
        rounds: Vec::new(),
        cpu_percent: None,
        latency_ns: None,
        time: None,
        ..cell(program, target, &[1])
    }
}

/// A warning of this kind.
pub(super) fn mark(code: MarkCode) -> Mark {
    Mark { code, value: None, text: format!("as it is <{}>", code.name()) }
}

/// A round of two seconds: eight quarters.
fn round(round: u32, ops: u64) -> Round {
    let quarter = Interval { ops: ops / 8, bytes: ops / 8 * 4096, ..Interval::default() };
    Round {
        round,
        position: 1,
        discarded: false,
        bytes: ops * 4096,
        ops,
        returned_s: 2.0,
        data_durable_s: None,
        durable_s: None,
        cpu_s: CpuSeconds::default(),
        parts: Vec::new(),
        intervals: vec![quarter; 8],
        marks: Vec::new(),
    }
}

/// A document with these cells and their targets.
pub(super) fn document(cells: Vec<Cell>) -> Document {
    let mut names: Vec<String> = Vec::new();
    for cell in cells.iter().filter(|cell| !cell.together && cell.provenance != Provenance::Published) {
        if !names.contains(&cell.target) {
            names.push(cell.target.clone());
        }
    }
    let text = r#"{"schema": "diskperf/1", "cells": [], "errors": [], "run": {"version": "1", "command": [],
        "preset": "quick", "started_unix_s": 1.0, "elapsed_s": 1.0, "seed": 1, "rounds": 5,
        "kernel": "Linux", "host": "h",
        "cpus": 1, "memory_bytes": null, "memory_limit_bytes": null, "calibration": null, "noise": null, "targets": [],
        "findings": [], "phases": null, "interrupted": false, "store": null}}"#;
    let mut document: Document = serde_json::from_str(text).expect("a document");
    document.run.targets = names.iter().map(|name| target(name)).collect();
    document.cells = cells;
    document
}

fn target(name: &str) -> TargetInfo {
    let text = r#"{"name": "", "argument": "", "file_system": null, "mount_options": [], "device": null,
        "write_cache": null,
        "device_bytes": null, "fill_percent": null, "in_memory": null, "nested_in": null, "image": null, "tuning": null,
        "before_each": null}"#;
    let target: TargetInfo = serde_json::from_str(text).expect("a target");
    TargetInfo { name: name.to_owned(), argument: name.to_owned(), ..target }
}

/// A comparison of two targets.
pub(super) fn comparison(
    program: &str,
    [first, second]: [&str; 2],
    verdict: TargetVerdict,
    ends: [f64; 3],
) -> Comparison {
    let faster = if ends[1] > 1.0 { second } else { first };
    Comparison {
        program: program.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
        pairs: 8,
        ratio: Some(ends[1]),
        low: Some(ends[0]),
        high: Some(ends[2]),
        confidence: 0.95,
        verdict,
        faster: (verdict == TargetVerdict::Faster).then(|| faster.to_owned()),
        matters: ends[0] > 1.05 || ends[2] < 0.95,
        more_rounds: None,
        why: None,
        marks: Vec::new(),
    }
}

/// A choice with these comparisons.
pub(super) fn choice(comparisons: Vec<Comparison>) -> Choice {
    Choice {
        margin: 0.05,
        decided: true,
        round_s: Some(1.0),
        comparisons,
        stages: Vec::new(),
        purpose: None,
        needs: Vec::new(),
        prices: Vec::new(),
        remarks: Vec::new(),
    }
}
