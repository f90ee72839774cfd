//! Linear equations of a few unknowns.

/// The unknowns of as many equations: each row holds its factors and then what they come to. By elimination; the rows
/// are those of normal equations with something added to the diagonal, so that no pivot is zero.
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
    fn two_equations_have_their_solution() {
        // 2x + y = 5, x + 3y = 10
        assert_eq!(solve(vec![vec![2.0, 1.0, 5.0], vec![1.0, 3.0, 10.0]]), [1.0, 3.0]);
    }
}
