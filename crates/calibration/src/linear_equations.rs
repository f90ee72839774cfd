//! Small systems of linear equations.

/// Solves a system of equations by elimination. Each row has the coefficients and then the right-hand side. There is no
/// pivoting: the rows are normal equations with a raised diagonal, so no pivot is zero.
pub fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let count = rows.len();
    for i in 0..count {
        let pivot = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    (0..count).map(|i| rows[i][count] / rows[i][i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_linear_equations_are_solved() {
        // 2x + y = 5, x + 3y = 10
        assert_eq!(solve(vec![vec![2.0, 1.0, 5.0], vec![1.0, 3.0, 10.0]]), [1.0, 3.0]);
    }
}
