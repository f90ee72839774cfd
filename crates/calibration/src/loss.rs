//! The loss that a fit minimizes: the distance between simulated and printed cells, as one number.
//!
//! It is the sum of three terms. The first is the mean absolute error of the rates, as logarithms, so that half and
//! twice are equally wrong. The second adds twice the part of each error above 10 %, so that no cell is sacrificed for
//! others. The third is a quarter of the mean error of the CPU shares.

use classic1983::fitting::Cell;
use stats::compare::replication::Simulated;

/// Errors above this are large.
const LARGE: f64 = 0.10;

/// Additional weight of the part above `LARGE`.
const LARGE_WEIGHT: f64 = 2.0;

/// Weight of an error of a CPU share, relative to a rate error of the same percentage. The paper's own shares of one
/// program vary more than its rates.
const CPU_WEIGHT: f64 = 0.25;

/// Returns the loss of these cells.
pub fn loss(cells: &[Cell], simulated: &[Simulated]) -> f64 {
    let rates = cells.iter().zip(simulated).map(|(cell, simulated)| rate_error(cell, *simulated).abs());
    let rates = mean(rates.map(|error| error + LARGE_WEIGHT * (error - LARGE).max(0.0)));
    let shares = cells.iter().zip(simulated).filter_map(|(cell, simulated)| cpu_error(cell, *simulated));
    rates + CPU_WEIGHT * mean(shares.map(|error| error.abs() / 100.0))
}

/// An error and its weight in the loss.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// Positive if the simulation is too high. A logarithm for rates, a share of the processor (0 to 1) for CPU shares.
    pub error: f64,
    /// Increase of the loss per unit of the error's size.
    pub weight: f64,
}

/// Returns all errors of these cells: first rates, then CPU shares.
pub fn residuals(cells: &[Cell], simulated: &[Simulated]) -> Vec<Residual> {
    let pairs = || cells.iter().zip(simulated);
    let shares = pairs().filter_map(|(cell, simulated)| cpu_error(cell, *simulated));
    let share_weight = CPU_WEIGHT / shares.clone().count().max(1) as f64;
    let rates = pairs().map(|(cell, simulated)| {
        let error = rate_error(cell, *simulated);
        let weight = if error.abs() > LARGE { 1.0 + LARGE_WEIGHT } else { 1.0 };
        Residual { error, weight: weight / cells.len() as f64 }
    });
    rates.chain(shares.map(|error| Residual { error: error / 100.0, weight: share_weight })).collect()
}

/// Error of the rate, as a logarithm; positive if the simulation is too high.
pub fn rate_error(cell: &Cell, simulated: Simulated) -> f64 {
    (simulated.kbytes_per_sec / cell.kbytes_per_sec).ln()
}

/// Error of the rate, in percent of the printed rate.
pub fn rate_percent(cell: &Cell, simulated: Simulated) -> f64 {
    100.0 * (simulated.kbytes_per_sec / cell.kbytes_per_sec - 1.0)
}

/// Error of the CPU share, in points; `None` if none is printed.
pub fn cpu_error(cell: &Cell, simulated: Simulated) -> Option<f64> {
    Some(simulated.cpu_percent - cell.cpu_percent?)
}

/// Returns the mean; 0 if there are no values.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_errors_count_more_and_cpu_less() {
        let cell = Cell { kbytes_per_sec: 100.0, cpu_percent: Some(50.0), ..Cell::all()[0] };
        let of = |kbytes_per_sec, cpu_percent| loss(&[cell], &[Simulated { kbytes_per_sec, cpu_percent }]);
        assert_eq!(of(100.0, 50.0), 0.0);
        assert!((of(100.0, 54.0) - 0.01).abs() < 1e-12);
        assert!((of(105.0, 50.0) - 1.05f64.ln()).abs() < 1e-12);
        assert!((of(200.0, 50.0) - of(50.0, 50.0)).abs() < 1e-12);
        assert!(of(130.0, 50.0) > 2.0 * 1.3f64.ln() - 0.1);
    }
}
