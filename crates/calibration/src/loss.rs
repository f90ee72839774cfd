//! What a fit makes small: how far simulated cells lie from printed ones, in one number.
//!
//! The mean of the errors of the rates, as logarithms, so that half and twice are equally wrong; the part of each above
//! a tenth counted twice more, so that no cell is given up for the others; and a quarter of the CPU shares' errors.

use classic1983::fitting::Cell;
use stats::compare::replication::Simulated;

/// From here on an error is a large one.
const LARGE: f64 = 0.10;

/// How much more the part above that counts.
const LARGE_WEIGHT: f64 = 2.0;

/// How much a CPU share's error counts, of as many percent of a rate. The paper's own shares of one program vary by
/// more than its rates.
const CPU_WEIGHT: f64 = 0.25;

/// The loss of these cells.
pub fn loss(cells: &[Cell], simulated: &[Simulated]) -> f64 {
    let rates = cells.iter().zip(simulated).map(|(cell, simulated)| rate_error(cell, *simulated).abs());
    let rates = mean(rates.map(|error| error + LARGE_WEIGHT * (error - LARGE).max(0.0)));
    let shares = cells.iter().zip(simulated).filter_map(|(cell, simulated)| cpu_error(cell, *simulated));
    rates + CPU_WEIGHT * mean(shares.map(|error| error.abs() / 100.0))
}

/// An error, and how much the loss grows with it.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// Positive where too much was simulated: of a rate a logarithm, of a CPU share a part of the processor.
    pub error: f64,
    /// What the loss grows by, of the error's size.
    pub weight: f64,
}

/// All errors of these cells.
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

/// By how much the simulated rate is higher, as a logarithm.
pub fn rate_error(cell: &Cell, simulated: Simulated) -> f64 {
    (simulated.kbytes_per_sec / cell.kbytes_per_sec).ln()
}

/// The same in percent of the printed one.
pub fn rate_percent(cell: &Cell, simulated: Simulated) -> f64 {
    100.0 * (simulated.kbytes_per_sec / cell.kbytes_per_sec - 1.0)
}

/// By how many points the simulated CPU share is higher, where one is printed.
pub fn cpu_error(cell: &Cell, simulated: Simulated) -> Option<f64> {
    Some(simulated.cpu_percent - cell.cpu_percent?)
}

/// The mean; 0 of nothing.
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
