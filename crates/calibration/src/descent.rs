//! Descent from the guesses: damped least squares on a linear approximation (Levenberg-Marquardt). The loss is not a
//! sum of squares, so each error is weighted by its weight in the loss, divided by its size.
//!
//! A single rate jumps if a sector is just caught or just missed. Averaged over several starting positions of the
//! platters, and over a change of a few percent, it is smooth enough to have a slope.

use crate::linear_equations::solve;
use crate::loss::Residual;

/// Change of a constant to estimate a slope, as a logarithm.
const SLOPE: f64 = 0.04;

/// Errors below this have a constant weight: half the rounding of rates.
const SMALL: f64 = 0.01;

/// Factors by which the diagonal is raised. The best step of all is taken; of equal ones, the smallest.
const DAMPINGS: [f64; 5] = [3.0, 1.0, 0.3, 0.1, 0.03];

/// Maximum step of a constant, as a logarithm.
const LONGEST: f64 = 0.3;

/// Minimum gain of a step for the descent to continue, as a share of the loss.
const GAIN: f64 = 0.003;

/// Descends from `start` (logarithms) in at most `steps` steps. `errors` returns the errors at a point, `loss` its
/// loss.
pub fn descend(
    start: Vec<f64>,
    steps: usize,
    errors: impl Fn(&[f64]) -> Vec<Residual>,
    loss: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let (mut point, mut least) = (start.clone(), loss(&start));
    for step in 0..steps {
        let here = errors(&point);
        let slopes: Vec<Vec<f64>> = (0..point.len()).map(|index| slope(&point, index, &errors)).collect();
        let found = DAMPINGS.iter().map(|damping| {
            let next: Vec<f64> = point.iter().zip(moves(&here, &slopes, *damping)).map(|(x, by)| x + by).collect();
            (loss(&next), next)
        });
        let Some((better, next)) = found.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        let gained = (least - better) / least;
        if gained > 0.0 {
            (least, point) = (better, next);
        }
        eprintln!("step {}: loss {least:.5}", step + 1);
        if gained < GAIN {
            break;
        }
    }
    point
}

/// Returns the derivatives of all errors with respect to the logarithm of that constant.
fn slope(point: &[f64], index: usize, errors: &impl Fn(&[f64]) -> Vec<Residual>) -> Vec<f64> {
    let at = |by: f64| {
        let mut moved = point.to_vec();
        moved[index] += by;
        errors(&moved)
    };
    at(SLOPE).iter().zip(at(-SLOPE)).map(|(more, less)| (more.error - less.error) / (2.0 * SLOPE)).collect()
}

/// Returns the step that minimizes the weighted squares if errors are linear with these slopes.
fn moves(here: &[Residual], slopes: &[Vec<f64>], damping: f64) -> Vec<f64> {
    let weights: Vec<f64> = here.iter().map(|residual| residual.weight / residual.error.abs().max(SMALL)).collect();
    let sum = |a: &[f64], b: &dyn Fn(usize) -> f64| -> f64 {
        weights.iter().enumerate().map(|(row, weight)| weight * a[row] * b(row)).sum()
    };
    let mut rows: Vec<Vec<f64>> = slopes
        .iter()
        .map(|one| {
            let factors = slopes.iter().map(|other| sum(one, &|row| other[row]));
            factors.chain([-sum(one, &|row| here[row].error)]).collect()
        })
        .collect();
    let mean = rows.iter().enumerate().map(|(i, row)| row[i]).sum::<f64>() / rows.len().max(1) as f64;
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] += damping * (row[i] + 0.01 * mean) + 1e-9;
    }
    solve(rows).into_iter().map(|by| by.clamp(-LONGEST, LONGEST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_smooth_loss_is_found() {
        // Nonlinear errors, and one that cannot be reduced.
        let errors = |point: &[f64]| -> Vec<Residual> {
            let errors = [point[0].exp() - 2.0, (point[0] + point[1]).exp() - 3.0, 0.05];
            errors.map(|error| Residual { error, weight: 1.0 }).into()
        };
        let loss = |point: &[f64]| errors(point).iter().map(|residual| residual.error.abs()).sum::<f64>();
        let found = descend(vec![0.0, 0.0], 40, errors, loss);
        assert!((found[0].exp() - 2.0).abs() < 0.02 && (found[1].exp() - 1.5).abs() < 0.02, "{found:?}");
    }
}
