//! Documents to draw in tests.

use std::collections::BTreeMap;

use stats::{
    CacheState, Cell, Document, HostFigures, Latency, LatencyKind, Mark, MarkCode, ParameterValue, Provenance, Rate,
    RateBase, RateInterval, Round, RunInfo, SCHEMA, TargetInfo,
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
            range: None,
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

/// A workload of the user at three queue depths, with its knee at the second.
pub(super) fn depths(name: &str) -> [Cell; 3] {
    [(1, 100), (8, 800), (64, 801)].map(|(depth, ops)| {
        let mut cell = Cell { preset: "io".to_owned(), ..cell("randread", name, &[ops, ops, ops]) };
        if let Some(rate) = &mut cell.rate {
            (rate.low, rate.high) = (Some(0.99 * rate.per_second), Some(1.01 * rate.per_second));
        }
        cell.parameters.insert("iodepth".to_owned(), ParameterValue::Number(depth));
        cell
    })
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

/// A noisy host with this rate. The median of all hosts is 500.
pub(super) fn host(name: &str, per_second: Option<f64>) -> HostFigures {
    HostFigures {
        name: name.to_owned(),
        per_second,
        of_median: per_second.map(|per_second| per_second / 500.0),
        cpu_percent: None,
        cache: CacheState::Cold,
        warnings: vec!["noise".to_owned()],
    }
}

/// A warning of this kind.
pub(super) fn mark(code: MarkCode) -> Mark {
    Mark { code, value: None, text: format!("as it is <{}>", code.name()) }
}

/// A round of two seconds: eight quarters.
fn round(round: u32, ops: u64) -> Round {
    let quarter = RateInterval { ops: ops / 8, bytes: ops / 8 * 4096, ..RateInterval::default() };
    Round {
        round,
        position: 1,
        bytes: ops * 4096,
        ops,
        returned_s: 2.0,
        intervals: vec![quarter; 8],
        ..Round::default()
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
    let targets = names.into_iter().map(|name| TargetInfo { argument: name.clone(), name, ..TargetInfo::default() });
    let run = RunInfo {
        version: "1".to_owned(),
        preset: Some("quick".to_owned()),
        started_unix_s: 1.0,
        elapsed_s: 1.0,
        seed: 1,
        rounds: 5,
        kernel: "Linux".to_owned(),
        host: "h".to_owned(),
        cpus: 1,
        targets: targets.collect(),
        ..RunInfo::default()
    };
    Document { schema: SCHEMA.to_owned(), run, cells, errors: Vec::new() }
}
