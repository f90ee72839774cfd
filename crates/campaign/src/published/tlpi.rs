//! Kerrisk, *The Linux Programming Interface*, 2010: table 13-1, and the figures of table 13-3 from the text of chapter
//! 13. Each figure is the average of 20 runs on Linux 2.6.30, ext2 with blocks of 4096 bytes, 4 GB of memory. The file
//! system was remounted before each.

use std::collections::BTreeMap;

use stats::figures::summary::RateUnit;
use stats::{CacheState, Cell, ClockKind, CpuPercent, ParameterValue, Provenance, Rate, RateBase, State};
use workload::programs::tlpi::{COPY_BUFFERS, COPY_BYTES, WRITE_BYTES};

/// Megabytes per second as the book counts them: a million bytes.
pub const MB_PER_SECOND: RateUnit = RateUnit { name: "MB/s", size: 1e6 };

const TARGET: &str = "TLPI 2010 (ext2, Linux 2.6.30)";

const RUNS: u32 = 20;

/// Table 13-1: elapsed, total CPU, user CPU, system CPU, in hundredths of a second. In the rows of 32, 4096 and 16384
/// bytes, total is not the sum of the other two: each is rounded by itself.
const COPY: [[u64; 4]; 14] = [
    [10743, 10732, 820, 9912],
    [5416, 5389, 413, 4976],
    [3172, 3096, 230, 2866],
    [1559, 1434, 108, 1326],
    [750, 714, 51, 663],
    [376, 368, 26, 341],
    [219, 204, 13, 191],
    [216, 159, 11, 148],
    [206, 175, 10, 165],
    [206, 103, 5, 98],
    [205, 65, 2, 63],
    [205, 38, 1, 38],
    [205, 34, 0, 33],
    [206, 32, 0, 32],
];

/// From table 13-3, page 242: bytes per write with O_SYNC, elapsed time in hundredths of a second.
const WRITE_OSYNC: [(u32, u64); 2] = [(1, 103_000), (4096, 34)];

/// Nanoseconds in a hundredth of a second.
const HUNDREDTH_NS: u64 = 10_000_000;

/// All figures of the book.
pub fn cells() -> Vec<Cell> {
    let copy = COPY_BUFFERS.iter().zip(COPY).map(|(&buffer, [elapsed, total, user, system])| {
        let waiting = elapsed - user - system;
        let owners = [("user", user), ("system", system), ("rest", waiting)];
        Cell {
            cpu_percent: Some(CpuPercent {
                process: 100.0 * total as f64 / elapsed as f64,
                kernel_workers: None,
                machine: None,
            }),
            time: Some(owners.map(|(owner, time)| (owner.to_owned(), time * HUNDREDTH_NS)).into()),
            ..cell("copy", buffer, COPY_BYTES, "none", elapsed)
        }
    });
    let write = WRITE_OSYNC.iter().map(|&(buffer, elapsed)| cell("write", buffer, WRITE_BYTES, "osync", elapsed));
    copy.chain(write).collect()
}

/// A cell with only the elapsed time.
fn cell(program: &str, buffer: u32, bytes: u64, sync: &str, elapsed: u64) -> Cell {
    let per_second = bytes as f64 * 100.0 / elapsed as f64;
    Cell {
        parameters: BTreeMap::from([
            ("buffer_bytes".to_owned(), ParameterValue::Number(u64::from(buffer))),
            ("file_bytes".to_owned(), ParameterValue::Number(bytes)),
            ("file_system".to_owned(), ParameterValue::Word("ext2".to_owned())),
            ("sync".to_owned(), ParameterValue::Word(sync.to_owned())),
        ]),
        measured: true,
        rate: Some(Rate {
            per_second,
            base: RateBase::Bytes,
            value: per_second / MB_PER_SECOND.size,
            unit: MB_PER_SECOND.name.to_owned(),
            low: None,
            high: None,
            confidence: stats::figures::summary::CONFIDENCE,
            rounds: RUNS,
            range: None,
        }),
        state: State { cache: CacheState::Cold, ..State::unknown(ClockKind::Returned) },
        ..Cell::named(Provenance::Published, "tlpi", program, program, TARGET)
    }
}

#[cfg(test)]
mod tests {
    use stats::figures::execution_times::ExecutionTimes;

    use super::*;

    #[test]
    fn the_cells_reproduce_the_printed_table() {
        let cells = cells();
        assert_eq!(cells.len(), 16);
        for (cell, row) in cells.iter().zip(COPY) {
            let execution = ExecutionTimes::from_cell(cell).expect("it was published");
            let columns = [Some(execution.elapsed_s), execution.cpu_s, execution.user_s, execution.system_s];
            assert_eq!(columns.map(|seconds| (100.0 * seconds.expect("all four")).round() as u64), row);
        }
        let write = cells.iter().filter(|cell| cell.program == "write").filter_map(ExecutionTimes::from_cell);
        let elapsed: Vec<f64> = write.map(|execution| (100.0 * execution.elapsed_s).round() / 100.0).collect();
        assert_eq!(elapsed, [1030.0, 0.34]);
    }

    #[test]
    fn time_by_owner_sums_to_the_elapsed_time() {
        for (cell, [elapsed, ..]) in cells().iter().zip(COPY) {
            assert_eq!(cell.time.as_ref().map(|time| time.values().sum()), Some(elapsed * HUNDREDTH_NS));
        }
    }
}
