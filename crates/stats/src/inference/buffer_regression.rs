//! Fits a sweep over buffer sizes: the CPU cost of a call, the speed at which the CPU copies, and the rate of the disk.
//! *The Linux Programming Interface* interprets its table 13-1 like this.

use crate::figures::summary::median;

/// A row of a sweep: one execution that copies a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepRow {
    /// Bytes per call.
    pub buffer_bytes: u64,
    /// Bytes copied.
    pub file_bytes: u64,
    /// Seconds until the last call returned.
    pub elapsed_s: f64,
    /// CPU seconds, a part of the elapsed seconds.
    pub cpu_s: f64,
    /// Bytes that the disk moved before the last call returned; `None` if the disk is not visible.
    pub disk_bytes: Option<f64>,
}

impl SweepRow {
    /// Returns the number of read and write pairs. The last read returns no data and has no write, but counts as a
    /// pair.
    pub fn pairs(&self) -> f64 {
        (self.file_bytes / self.buffer_bytes.max(1) + 1) as f64
    }
}

/// The CPU cost of copying: per pair of calls and per byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyCost {
    /// Seconds per pair of calls, a read and a write, without the bytes they move.
    pub pair_s: f64,
    /// Seconds per byte of the file. Each byte is copied twice: from the kernel to the program and back.
    pub byte_s: f64,
    /// Number of rows of the fit.
    pub rows: usize,
    /// The row with the largest residual: its buffer size, and the residual as a share of the row's CPU seconds.
    pub worst: (u64, f64),
}

impl CopyCost {
    /// Returns bytes of the file per CPU second, without the cost of calls.
    pub fn bytes_per_s(&self) -> f64 {
        1.0 / self.byte_s
    }
}

/// Fits `cpu = pairs x pair_s + bytes x byte_s` to the rows, by least squares of the relative errors. A sweep spans
/// three orders of magnitude, and all rows must have the same weight. Returns `None` if the rows do not determine both
/// costs: fewer than three rows, rows of a single size, or negative costs.
pub fn copy_cost(rows: &[SweepRow]) -> Option<CopyCost> {
    let rows: Vec<&SweepRow> = rows.iter().filter(|row| row.cpu_s > 0.0).collect();
    if rows.len() < 3 {
        return None;
    }
    let scaled = rows.iter().map(|row| (row.pairs() / row.cpu_s, row.file_bytes as f64 / row.cpu_s));
    let (mut pp, mut pb, mut bb, mut p, mut b) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (pairs, bytes) in scaled {
        pp += pairs * pairs;
        pb += pairs * bytes;
        bb += bytes * bytes;
        p += pairs;
        b += bytes;
    }
    let determinant = pp * bb - pb * pb;
    // If all rows are multiples of one another, the determinant is only a rounding error.
    if determinant <= 1e-9 * pp * bb {
        return None;
    }
    let pair_s = (p * bb - b * pb) / determinant;
    let byte_s = (b * pp - p * pb) / determinant;
    if pair_s <= 0.0 || byte_s <= 0.0 {
        return None;
    }
    let miss = |row: &&&SweepRow| {
        let fitted = row.pairs() * pair_s + row.file_bytes as f64 * byte_s;
        ((fitted - row.cpu_s) / row.cpu_s).abs()
    };
    let worst = rows.iter().max_by(|one, other| miss(one).total_cmp(&miss(other)))?;
    Some(CopyCost { pair_s, byte_s, rows: rows.len(), worst: (worst.buffer_bytes, miss(&worst)) })
}

/// From this buffer size on, calls cost almost nothing: "near optimal performance is reached" (TLPI, p. 235).
pub const LARGE_BUFFER: u64 = 4096;

/// A copy waits if its CPU time is less than this share of the elapsed time.
pub const WAITS_BELOW: f64 = 0.9;

/// The disk takes part in a copy if it moves at least this share of the bytes meanwhile.
pub const DISK_MOVES: f64 = 0.5;

/// The rate of the disk, as far as the elapsed times of large buffers show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DiskRate {
    /// The copy waited for the disk. Bytes of the file per second.
    Waited(f64),
    /// The copy never waited. CPU time as a share of the elapsed time.
    NeverWaited(f64),
    /// The copy waited, but not for the disk. Share of the bytes that the disk moved meanwhile.
    NotForTheDisk(f64),
    /// The copy waited, and the bytes that the disk moved meanwhile are unknown.
    Unseen,
}

/// Estimates the rate of the disk from the rows with large buffers:
///   1. Only the rows that waited count.
///   2. If the disk did not move the bytes meanwhile, the file came from memory and the program waited for a processor.
///      Then there is no rate.
///   3. The rate is that of the median elapsed time.
///
/// Returns `None` if no row has a large buffer.
pub fn disk_rate(rows: &[SweepRow]) -> Option<DiskRate> {
    let large = || rows.iter().filter(|row| row.buffer_bytes >= LARGE_BUFFER && row.elapsed_s > 0.0);
    // The CPU clock is read just outside the other clock, so it may show a little more.
    let share = |row: &SweepRow| (row.cpu_s / row.elapsed_s).min(1.0);
    let busy = median(&large().map(share).collect::<Vec<f64>>())?;
    // 1.
    let waited: Vec<&SweepRow> = large().filter(|row| share(row) < WAITS_BELOW).collect();
    if waited.is_empty() {
        return Some(DiskRate::NeverWaited(busy));
    }
    // 2.
    let moved = waited.iter().map(|row| Some(row.disk_bytes? / row.file_bytes as f64));
    let Some(moved) = moved.collect::<Option<Vec<f64>>>() else { return Some(DiskRate::Unseen) };
    if let Some(moved) = median(&moved).filter(|&moved| moved < DISK_MOVES) {
        return Some(DiskRate::NotForTheDisk(moved));
    }
    // 3.
    let seconds_per_byte: Vec<f64> = waited.iter().map(|row| row.elapsed_s / row.file_bytes as f64).collect();
    median(&seconds_per_byte).map(|seconds| DiskRate::Waited(1.0 / seconds))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BUFFERS: [u64; 14] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536];

    /// Elapsed and total CPU seconds of table 13-1, and system CPU seconds.
    const BOOK: [(f64, f64, f64); 14] = [
        (107.43, 107.32, 99.12),
        (54.16, 53.89, 49.76),
        (31.72, 30.96, 28.66),
        (15.59, 14.34, 13.26),
        (7.50, 7.14, 6.63),
        (3.76, 3.68, 3.41),
        (2.19, 2.04, 1.91),
        (2.16, 1.59, 1.48),
        (2.06, 1.75, 1.65),
        (2.06, 1.03, 0.98),
        (2.05, 0.65, 0.63),
        (2.05, 0.38, 0.38),
        (2.05, 0.34, 0.33),
        (2.06, 0.32, 0.32),
    ];

    fn row(buffer_bytes: u64, elapsed_s: f64, cpu_s: f64) -> SweepRow {
        SweepRow { buffer_bytes, file_bytes: 100_000_000, elapsed_s, cpu_s, disk_bytes: None }
    }

    fn book() -> Vec<SweepRow> {
        BUFFERS.iter().zip(BOOK).map(|(&buffer, (elapsed, cpu, _))| row(buffer, elapsed, cpu)).collect()
    }

    /// The book's 1-byte row alone gives 107.32 s / 100 million = 1.07 us per pair, its last row 0.32 s for 100 MB, 310
    /// MB/s. The model does not explain the CPU time of the rows of 128 to 512 bytes, and they shift the fit of all
    /// rows to 1.16 us and 265 MB/s. The worst row has a residual of one half.
    #[test]
    fn the_books_own_table() {
        let cost = copy_cost(&book()).expect("14 rows");
        assert!((cost.pair_s - 1.157e-6).abs() < 0.001e-6, "{cost:?}");
        assert!((cost.bytes_per_s() - 265.1e6).abs() < 0.1e6, "{cost:?}");
        assert_eq!((cost.rows, cost.worst.0), (14, 256));
        assert!((cost.worst.1 - 0.53).abs() < 0.01, "{cost:?}");

        let system = book().into_iter().zip(BOOK).map(|(row, (_, _, system))| SweepRow { cpu_s: system, ..row });
        let cost = copy_cost(&system.collect::<Vec<_>>()).expect("14 rows");
        assert!((cost.pair_s - 1.066e-6).abs() < 0.001e-6, "{cost:?}");
    }

    /// 100 million bytes in 2.05 s: 48.8 MB/s, with 1 MB = a million bytes.
    #[test]
    fn the_books_disk() {
        let read = book().into_iter().map(|row| SweepRow { disk_bytes: Some(1e8), ..row });
        let rate = disk_rate(&read.collect::<Vec<_>>());
        let Some(DiskRate::Waited(rate)) = rate else { panic!("the book's copies waited: {rate:?}") };
        assert!((rate / 1e6 - 48.78).abs() < 0.01, "{rate}");
    }

    proptest! {
        #[test]
        fn exact_rows_give_their_costs_back(
            pair_ns in 10.0f64..10_000.0,
            byte_ns in 0.05f64..50.0,
            from in 0usize..11,
        ) {
            let rows: Vec<SweepRow> = BUFFERS[from..]
                .iter()
                .map(|&buffer| {
                    let free = row(buffer, 1.0, 0.0);
                    SweepRow { cpu_s: (free.pairs() * pair_ns + 1e8 * byte_ns) / 1e9, ..free }
                })
                .collect();
            let cost = copy_cost(&rows).expect("the rows determine both");
            // From 1024 bytes on, a call's share of the time can be as small as 10^-5.
            prop_assert!((cost.pair_s * 1e9 / pair_ns - 1.0).abs() < 1e-4, "{:?}", cost);
            prop_assert!((cost.byte_s * 1e9 / byte_ns - 1.0).abs() < 1e-4, "{:?}", cost);
            prop_assert!(cost.worst.1 < 1e-9);
        }

        #[test]
        fn no_rows_panic(
            rows in prop::collection::vec((0u64..70_000, 0u64..1_000_000, 0.0f64..10.0, 0.0f64..10.0), 0..6),
        ) {
            let rows: Vec<SweepRow> = rows
                .into_iter()
                .map(|(buffer_bytes, file_bytes, elapsed_s, cpu_s)| {
                    SweepRow { buffer_bytes, file_bytes, elapsed_s, cpu_s, disk_bytes: Some(0.0) }
                })
                .collect();
            let _ = (copy_cost(&rows), disk_rate(&rows));
        }
    }

    #[test]
    fn too_few_rows_or_rows_of_one_size_determine_nothing() {
        assert_eq!(copy_cost(&book()[..2]), None);
        assert_eq!(copy_cost(&[row(64, 1.0, 1.0); 5]), None);
        assert_eq!(copy_cost(&[]), None);
        assert_eq!(disk_rate(&book()[..5]), None);
    }

    #[test]
    fn costs_that_come_out_negative_are_none() {
        let backwards = [row(64, 9.0, 0.1), row(512, 9.0, 0.5), row(4096, 9.0, 5.0)];
        assert_eq!(copy_cost(&backwards), None);
    }

    #[test]
    fn a_copy_from_memory_tells_nothing_of_the_disk() {
        let rows = [row(4096, 1.0, 0.99), row(65536, 1.0, 0.95)];
        assert_eq!(disk_rate(&rows), Some(DiskRate::NeverWaited(0.97)));
        let disk_bytes = Some(1e6);
        let preempted = [4096, 65536].map(|buffer| SweepRow { disk_bytes, ..row(buffer, 1.0, 0.5) });
        assert_eq!(disk_rate(&preempted), Some(DiskRate::NotForTheDisk(0.01)));
        assert_eq!(disk_rate(&preempted.map(|row| SweepRow { disk_bytes: None, ..row })), Some(DiskRate::Unseen));
        let disk_bytes = Some(1e8);
        let waited = [4096, 65536].map(|buffer| SweepRow { disk_bytes, ..row(buffer, 2.0, 0.5) });
        assert_eq!(disk_rate(&waited), Some(DiskRate::Waited(5e7)));
    }
}
