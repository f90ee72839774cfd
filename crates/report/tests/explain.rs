//! The printed time breakdown of a cell.

use std::collections::BTreeMap;

use report::explain::{csv, markdown, table};
use report::{Page, Presentation};
use stats::{
    Bottleneck, CacheState, Cell, ClockKind, CpuSeconds, Document, LimitedBy, Mark, MarkCode, ParameterValue,
    Provenance, Rate, RateBase, Round, RunInfo, SCHEMA, State,
};

fn round(returned_s: f64) -> Round {
    Round {
        round: 1,
        position: 1,
        bytes: 64 << 20,
        ops: 8192,
        returned_s,
        cpu_s: CpuSeconds { process: 0.3, user: 0.1, kernel_workers: Some(0.0125), machine: None },
        ..Round::default()
    }
}

fn time(owners: &[(&str, u64)]) -> Option<BTreeMap<String, u64>> {
    Some(owners.iter().map(|(owner, nanos)| ((*owner).to_owned(), *nanos)).collect())
}

/// Two rounds that took 1.5 s together.
fn cell() -> Cell {
    Cell {
        parameters: BTreeMap::from([("file_bytes".to_owned(), ParameterValue::Number(64 << 20))]),
        measured: true,
        rate: Some(Rate {
            per_second: 85.0 * f64::from(1 << 20),
            base: RateBase::Bytes,
            value: 85.0,
            unit: "MiB/s".to_owned(),
            low: None,
            high: None,
            confidence: 0.95,
            rounds: 2,
            range: None,
        }),
        rounds: vec![round(0.5), round(1.0)],
        time: time(&[
            ("device_queue", 0),
            ("device_service", 900_000_001),
            ("dirty_throttling", 0),
            ("flush", 0),
            ("kernel_workers", 0),
            ("ready", 12_345_678),
            ("rest", 187_654_321),
            ("system", 300_000_000),
            ("user", 100_000_000),
        ]),
        limited_by: Some(LimitedBy { what: Bottleneck::Device, evidence: "60 % waiting for vda".to_owned() }),
        state: State { cache: CacheState::Cold, ..State::unknown(ClockKind::Returned) },
        marks: vec![Mark { code: MarkCode::Few, value: None, text: "2 rounds of 5".to_owned() }],
        ..Cell::named(Provenance::Measured, "quick", "read_8192", "read", "here")
    }
}

fn document(cells: Vec<Cell>) -> Document {
    Document {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            version: "0.1.0".to_owned(),
            command: vec!["diskperf".to_owned()],
            preset: Some("quick".to_owned()),
            elapsed_s: 2.0,
            seed: 1,
            rounds: 5,
            kernel: "Linux 6.18".to_owned(),
            host: "here".to_owned(),
            cpus: 2,
            ..RunInfo::default()
        },
        cells,
        errors: Vec::new(),
    }
}

fn explained(cell: Cell) -> String {
    let document = document(vec![cell]);
    table(&document, Presentation::PLAIN, &document.cells.iter().collect::<Vec<_>>(), Page::ENDLESS)
}

#[test]
fn every_owner_has_a_bar_and_all_sum_to_the_elapsed_time() {
    let text = explained(cell());
    // 0.9 + 0.0123 + 0.1877 + 0.3 + 0.1 s; the part with the largest remainder is rounded up.
    let parts = [
        ("user", "100.0 ms", "6.7 %"),
        ("system", "300.0 ms", "20.0 %"),
        ("runnable", "12.3 ms", "0.8 %"),
        ("device service", "900.0 ms", "60.0 %"),
        ("unattributed", "187.7 ms", "12.5 %"),
    ];
    let rows = parts.map(|(part, time, share)| {
        let row = text.lines().find(|line| line.starts_with(&format!("  {part} "))).expect(part);
        assert!(row.contains(time) && row.contains(share), "{row}");
        row.matches('#').count()
    });
    assert!(rows[3] > rows[1] && rows[1] > rows[4] && rows[4] > rows[2] && rows[2] > 0, "{text}");
    for words in [
        "Linux 6.18, 2 CPUs\n",
        "read_8192 on here: 85.0 MiB/s* ",
        ", 2 rounds\n",
        "1,500.0 ms  100.0 %\n",
        ": flush, dirty throttling, device queue, kernel threads\n",
        "25.0 ms CPU in kernel threads",
        "bottleneck: device (60 % waiting for vda)\n",
        "* few: 2 rounds of 5\n",
        "any such time is in unattributed: cgroup limit\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= Page::ENDLESS.width()), "{text}");
}

#[test]
fn unmeasured_cells_have_a_reason_and_no_bars() {
    let reason = Some("the program failed: no space".to_owned());
    let text = explained(Cell {
        measured: false,
        reason,
        rate: None,
        time: None,
        limited_by: None,
        rounds: Vec::new(),
        ..cell()
    });
    assert!(text.contains("read_8192 on here\n  n.m.: the program failed: no space\n"), "{text}");
    assert!(!text.contains("elapsed") && !text.contains('#'), "{text}");
}

#[test]
fn unknown_bottlenecks_are_printed_as_not_measured() {
    let limit = LimitedBy { what: Bottleneck::NotMeasured, evidence: "60 % unexplained".to_owned() };
    assert!(explained(Cell { limited_by: Some(limit), ..cell() }).contains("bottleneck: n.m. (60 % unexplained)"));
    assert!(explained(Cell { limited_by: None, ..cell() }).contains("bottleneck: n.m.\n"));
}

#[test]
fn times_that_differ_from_the_rounds_are_noticed() {
    assert!(!explained(cell()).contains("changed after the run"));
    let text = explained(Cell { time: time(&[("user", 1_000_000_000)]), ..cell() });
    assert!(text.contains("the rounds took 1.500000 s, but all parts took 1.000000 s"), "{text}");
}

#[test]
fn simulated_cells_have_the_same_layout() {
    let text = explained(Cell { provenance: Provenance::Simulated, ..cell() });
    assert!(text.contains("read_8192 on here, simulated: 85.0 MiB/s*") && text.contains("60.0 %"), "{text}");
}

#[test]
fn the_csv_contains_every_nanosecond() {
    let document = document(vec![cell(), Cell { measured: false, reason: Some("no, not".to_owned()), ..cell() }]);
    let cells: Vec<&Cell> = document.cells.iter().collect();
    let text = csv(&cells);
    let key = "measured,quick,read_8192,read,here,file_bytes=67108864";
    assert_eq!(text.lines().nth(1), Some(&*format!("{key},user,100000000,device,60 % waiting for vda")));
    assert_eq!(text.lines().last(), Some(&*format!("{key},,,n.m.,\"no, not\"")));
    assert!(!text.contains("quota"), "{text}");
    let owned = text.lines().skip(1).filter_map(|line| line.split(',').nth(7)?.parse::<u64>().ok()).sum::<u64>();
    assert_eq!(owned, 1_500_000_000);
}

#[test]
fn markdown_has_a_row_per_cell() {
    let document = document(vec![cell(), Cell { measured: false, reason: Some("a | b".to_owned()), ..cell() }]);
    let text = markdown(&document, &document.cells.iter().collect::<Vec<_>>());
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(
        rows[2],
        "| read\\_8192 on here | 1.50 s | 6.7 % | 20.0 % | n.m. | 0.8 % | 0.0 % | 0.0 % | n.m. | 60.0 % | 0.0 % | \
         n.m. | 0.0 % | n.m. | 12.5 % | bottleneck: device (60 % waiting for vda) |"
    );
    assert!(rows[3].contains("| n.m. | n.m. |") && rows[3].contains("a \\| b"), "{}", rows[3]);
    assert_eq!(rows[2].replace("\\|", "").matches('|').count(), rows[1].matches('|').count());
}
