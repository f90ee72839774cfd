//! The figures of a course lab of about 2002, copied from its printed lines: one disk partition (`hda8`), ext2, each
//! command run once. The lab does not say when its clocks stopped, nor whether anything was in the page cache.

use std::collections::BTreeMap;

use stats::figures::summary;
use stats::{Cell, ParameterValue, Provenance, Rate, RateBase};

/// The name of the lab's disk in cells.
const TARGET: &str = "lab 2002 (hda8)";

/// `bw -b /dev/hda8 N`: the argument, the MB that were counted, MB/sec. Each run counted one more MB than requested.
const BANDWIDTH: [(u64, u64, f64); 5] =
    [(64, 65, 8.27), (128, 129, 7.40), (256, 257, 11.94), (512, 513, 10.15), (768, 769, 9.87)];

/// `bw -l /dev/hda8 N`: the number of reads, and their time in seconds.
const LATENCY: [(u64, f64); 7] =
    [(128, 1.85), (256, 3.63), (512, 7.28), (1024, 14.52), (2048, 27.74), (4096, 55.83), (8192, 110.29)];

/// `smallfb 10000 1024`: the phase, files/sec.
const SMALL_FILES: [(&str, f64); 3] = [("creat", 189.628119), ("read", 1510.076514), ("delete", 39168.530436)];

/// `largefb 128`: the phase, KB/sec of 1000 bytes.
const LARGE_FILE: [(&str, f64); 5] = [
    ("write sequential", 12144.603762),
    ("read sequential", 14002.517408),
    ("write random", 383.754467),
    ("read random", 1914.831526),
    ("read sequential again", 14814.506807),
];

/// All figures of the lab.
pub fn cells() -> Vec<Cell> {
    let number = |name: &str, value: u64| (name.to_owned(), ParameterValue::Number(value));
    let ext2 = || ("file_system".to_owned(), ParameterValue::Word("ext2".to_owned()));
    let mut cells = Vec::new();
    for (asked, counted, rate) in BANDWIDTH {
        // The lab does not say what its MB is: 2^20 here, as in our bw.
        let rate = published(rate, RateBase::Bytes, "MB/sec", 1_048_576.0);
        cells.push(cell("bw -b", "read", [number("asked_mb", asked), number("counted_mb", counted)], rate));
    }
    for (reads, seconds) in LATENCY {
        let rate = published(reads as f64 / seconds, RateBase::Ops, "reads/sec", 1.0);
        cells.push(cell("bw -l", "read", [number("amount", reads)], rate));
    }
    for (phase, rate) in SMALL_FILES {
        let rate = published(rate, RateBase::Files, "files/sec", 1.0);
        cells.push(cell("smallfb", phase, [number("files", 10_000), number("file_bytes", 1024), ext2()], rate));
    }
    for (phase, rate) in LARGE_FILE {
        let rate = published(rate, RateBase::Bytes, "KB/sec", 1000.0);
        cells.push(cell(
            "largefb",
            phase,
            [number("file_bytes", 128 << 20), number("buffer_bytes", 4096), ext2()],
            rate,
        ));
    }
    cells
}

fn published(value: f64, base: RateBase, unit: &str, size: f64) -> Rate {
    Rate {
        per_second: value * size,
        base,
        value,
        unit: unit.to_owned(),
        low: None,
        high: None,
        confidence: summary::CONFIDENCE,
        rounds: 1,
        range: None,
    }
}

fn cell<const N: usize>(program: &str, phase: &str, parameters: [(String, ParameterValue); N], rate: Rate) -> Cell {
    Cell {
        parameters: BTreeMap::from(parameters),
        measured: true,
        rate: Some(rate),
        ..Cell::named(Provenance::Published, "lfs", program, phase, TARGET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twenty_figures_of_the_lab_have_distinct_keys() {
        let cells = cells();
        assert_eq!(cells.len(), 20);
        for (index, cell) in cells.iter().enumerate() {
            assert!(cells[..index].iter().all(|other| other.key() != cell.key()), "{:?}", cell.key());
        }
    }

    /// 1510 files of 1 KiB per second are 12 % of the best raw rate, as the lab's own first answer says.
    #[test]
    fn the_labs_first_answer_follows_from_its_figures() {
        let cells = cells();
        let rate = |program: &str, phase: &str| {
            let found = cells.iter().filter(|cell| cell.program == program && cell.phase == phase);
            found.filter_map(|cell| cell.rate.as_ref()).map(|rate| rate.per_second).fold(0.0, f64::max)
        };
        let share = 100.0 * rate("smallfb", "read") * 1024.0 / rate("bw -b", "read");
        assert!((share - 12.35).abs() < 0.01, "{share}");
    }
}
