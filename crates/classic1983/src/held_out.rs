//! The errors of held-out cells, as the last `cargo xtask calibrate --holdouts --write` stored them. A fit takes
//! minutes, so `diskperf paper` does not repeat it.

use stats::compare::replication::{Errors, Summary};

/// Returns the errors of cells that were not fitted: fitted with one block size and judged with the other, both ways.
/// The fitted cells may change a setting, but each begins as it was chosen on all cells.
pub fn held_out() -> Summary {
    let figures = include_str!("../../../golden/held-out.txt");
    Summary { rate: errors(figures, "rate"), cpu: errors(figures, "cpu") }
}

/// Reads one kind of errors. Each line has a name and a figure, such as `rate-median 4.81`.
fn errors(figures: &str, kind: &str) -> Errors {
    let figure = |name: &str| -> f64 {
        let lines = figures.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix('-')?.split_once(' '));
        let found = lines.into_iter().find(|(known, _)| *known == name);
        found.and_then(|(_, figure)| figure.parse().ok()).expect("golden/held-out.txt is tested")
    };
    Errors {
        cells: figure("cells") as usize,
        median: figure("median"),
        mean: figure("mean"),
        largest: figure("largest"),
        within_10: figure("within_10") as usize,
        within_20: figure("within_20") as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fitting::Cell;

    #[test]
    fn each_cell_is_held_out_once() {
        let (cells, Summary { rate, cpu }) = (Cell::all(), held_out());
        assert_eq!(rate.cells, cells.len());
        assert_eq!(cpu.cells, cells.iter().filter(|cell| cell.cpu_percent.is_some()).count());
        assert!(rate.median < rate.mean && rate.mean < rate.largest && rate.within_10 <= rate.within_20);
    }
}
